//! One line of `stimulus`.

use serde::{Deserialize, Serialize};

use super::ContextText;
use crate::arm::{ExceptionLevel, InstructionSet};
use crate::arm_ete::{P0Kind, Packet};
use crate::case::Location;

/// One line of `stimulus`: one step with one signal, or `repeat` equal ones. A line without signal is idle.
///
/// `timestamp` (0 at first), `isa` (A64 at first) and the parts of `context` (`el1 non-secure vmid=0 context=0` at
/// first) stay in force until a later line changes them. `isa` and `context` are those of the next instruction, after
/// what the line says. A line with nothing but `context` is a change of context by a system instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StimulusEntry {
    /// Cycles since the step before; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u32>,
    /// The timestamp counter from this step on.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub timestamp: Option<u64>,
    /// Instruction set of the next instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isa: Option<InstructionSet>,
    /// Context of the next instruction: the parts that change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextText>,
    /// The trace unit is enabled with ViewInst active; the next instruction is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable: Option<Location>,
    /// The trace unit is disabled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disable: bool,
    /// ViewInst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_inst: Option<bool>,
    /// The P0 instruction here is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<Location>,
    /// The P0 instruction here is not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_taken: Option<Location>,
    /// What that instruction is; `direct` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<P0Kind>,
    /// It is a branch with link.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// It lies in a region of branch broadcasting.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub broadcast: bool,
    /// Instructions since the P0 instruction or exception before. Only Q elements count them. If absent 1 for a P0
    /// instruction (itself), 0 for an exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u32>,
    /// Where execution goes on: target of that branch, handler of the exception, or the place after `cancel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Location>,
    /// An exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionEntry>,
    /// So many of the oldest P0 elements are resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<u32>,
    /// So many of the youngest P0 elements were speculated wrongly; execution goes on at `to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<u32>,
    /// The youngest atom has the other outcome; execution goes on here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mispredict: Option<Location>,
    /// The youngest P0 element is an indirect one that went here instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Location>,
    /// An outer transaction was entered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transaction_start: bool,
    /// It took effect.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transaction_commit: bool,
    /// It failed; execution goes on here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_failure: Option<Location>,
    /// A timestamp is requested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timestamp_request: bool,
    /// A trace unit event, 0 to 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u8>,
    /// TRCIT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrumentation: Option<InstrumentationEntry>,
    /// Whether Q elements are permitted from here on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q_region: Option<bool>,
    /// A periodic synchronization is wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sync_request: bool,
    /// The trace bus asks for all that is held.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flush: bool,
    /// A region in which tracing is prohibited begins.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prohibited_entry: bool,
    /// It ends; the next instruction is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prohibited_exit: Option<Location>,
    /// Debug state is left; the next instruction is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_exit: Option<Location>,
    /// `true`: the buffer is full; `false`: there is space again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow: Option<bool>,
    /// A packet that is sent as it is (ETMv4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert: Option<Packet>,
    /// So many steps; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
}

/// An exception; `to` of the same line is its handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExceptionEntry {
    /// TYPE.
    pub number: u16,
    /// The preferred return address; absent for PE Reset only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns_to: Option<Location>,
    /// A fault is pending (ETMv4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fault_pending: bool,
}

/// A value that TRCIT writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstrumentationEntry {
    /// The exception level.
    pub exception_level: ExceptionLevel,
    /// The value.
    #[serde(with = "crate::notation::hex")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub value: u64,
}
