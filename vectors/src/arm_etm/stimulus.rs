//! The inputs of the macrocell from processor and filters in one cycle.

use alloc::vec::Vec;

use super::Isa;
use crate::Address32;

/// One processor cycle. A macrocell ignores what its architecture does not have. The default is a cycle in which
/// nothing happens and nothing is traced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stimulus {
    /// Level of TraceEnable: instructions are traced.
    pub trace_enable: bool,
    /// Level of ViewData: transfers of traced instructions are traced.
    pub view_data: bool,
    /// Level: the processor is in debug state.
    pub debug: bool,
    /// The processor is reset: data that it waited for never arrive.
    pub reset: bool,
    /// The trigger occurs.
    pub trigger: bool,
    /// Level: Non-secure state (ETMv3).
    pub non_secure: bool,
    /// Level: Hyp mode (ETMv3.5).
    pub hyp: bool,
    /// Level: the timestamp counter, natural binary (ETMv3.5).
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub timestamp: u64,
    /// The timestamp event: a timestamp is wanted (ETMv3.5).
    pub timestamp_event: bool,
    /// A clock frequency changed (ETMv3.5).
    pub clock_change: bool,
    /// The VMID register is written with this value (ETMv3.5).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub vmid: Option<u8>,
    /// ARMv7-M: automatic stacking of an exception begins; the transfers from here to the next instruction are its
    /// own (ETMv3.4).
    pub exception_entry: bool,
    /// The instruction that completes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub instruction: Option<Instruction>,
    /// Data transfers, in order: of this instruction, or of an earlier LSM.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub transfers: Vec<Transfer>,
    /// Data of earlier load misses that arrive.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub returns: Vec<MissReturn>,
    /// The Context ID register is written with this value.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub context_id: Option<u32>,
}

/// An instruction that completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instruction {
    /// Where it is.
    pub address: Address32,
    /// The state it is in.
    #[cfg_attr(feature = "serde", serde(default))]
    pub isa: Isa,
    /// Its condition passed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub executed: bool,
    /// A folded direct branch that completes before it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub phantom: Option<Phantom>,
    /// It branches, or an exception is taken: after it, or in its place (see [`Exception`]).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub branch: Option<BranchTarget>,
    /// It is an exception return (ETMv3: an exception exit packet).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub exception_return: bool,
    /// It is a Thumb instruction of 32 bits: two atoms unless
    /// [`thumb32_single`](super::Parameters::thumb32_single).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub thumb32: bool,
}

/// A predicted direct branch that completes in the cycle of the next instruction (6.1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phantom {
    /// Where it is.
    pub address: Address32,
    /// It is taken.
    #[cfg_attr(feature = "serde", serde(default))]
    pub taken: bool,
}

/// Where an instruction branches to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BranchTarget {
    /// The target.
    pub address: Address32,
    /// The state there.
    #[cfg_attr(feature = "serde", serde(default))]
    pub isa: Isa,
    /// A direct branch: its target follows from the code, and is output in branch broadcast mode only.
    #[cfg_attr(feature = "serde", serde(default))]
    pub direct: bool,
    /// It is an exception; ETMv3 outputs its number. In ETMv1 and ETMv2 `address` is then the vector.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub exception: Option<Exception>,
}

/// An exception that is taken. Security state and Hyp mode after it are those of the next cycle.
///
/// In ETMv1 and ETMv2 the number only selects the kind: 8 reset, 9 undefined instruction, 10 SVC, 11 prefetch abort, 12
/// data abort (precise), 4 imprecise data abort, 14 IRQ, 15 FIQ. The instruction of the cycle is the one that is
/// interrupted: the SVC, which is executed; the load or store that is aborted, with the transfers that are traced for
/// it; otherwise one that is not executed, marked `executed` all the same, because its condition was not tested. `cancel`
/// and `resume` mean nothing there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exception {
    /// Exception number, 9 bits (M profile) or 4; see [`ExceptionInformation`](super::v3::ExceptionInformation).
    pub number: u16,
    /// The instruction before it did not complete.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub cancel: bool,
    /// M profile: how many transfers of a paused LSM are done.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub resume: Option<u8>,
}

/// One data transfer: a word or less, or two words in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transfer {
    /// Where, as the instruction requested it (ETM-GEN-009). Of no meaning for coprocessor transfers.
    #[cfg_attr(feature = "serde", serde(default))]
    pub address: Address32,
    /// How.
    pub access: Access,
    /// The value before sign extension (ETM-GEN-008); of two words, the one with the lower address in bits \[31:0\]
    /// (ETM-GEN-010). Of no meaning for misses.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub value: u64,
    /// Two words at once.
    #[cfg_attr(feature = "serde", serde(default))]
    pub wide: bool,
    /// Bytes of the access: 1, 2 or 4 (ETMv1; later architectures do not output it). 4 for words and for coprocessor
    /// transfers.
    #[cfg_attr(feature = "serde", serde(default = "word", skip_serializing_if = "is_word"))]
    pub size: u8,
    /// Which of its instruction's transfers it is.
    #[cfg_attr(feature = "serde", serde(default))]
    pub position: Position,
    /// The access is big-endian (ETMv3).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub big_endian: bool,
    /// The store of a store-exclusive that fails (ETMv3.0 and later; its value is traced as 0).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub failed: bool,
}

const WORD: u8 = 4;

#[cfg(feature = "serde")]
const fn word() -> u8 {
    WORD
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_word(size: &u8) -> bool {
    *size == WORD
}

impl Transfer {
    /// The only transfer of its instruction, a word, little-endian.
    #[must_use]
    pub const fn new(address: u32, access: Access, value: u64) -> Self {
        Self {
            address: Address32(address),
            access,
            value,
            wide: false,
            size: WORD,
            position: Position::Only,
            big_endian: false,
            failed: false,
        }
    }
}

/// How a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Access {
    /// A store.
    Store,
    /// A load whose data are there.
    Hit,
    /// A load whose data come later, as the [`MissReturn`] of this number. Numbers of outstanding misses differ.
    Miss(u32),
    /// A coprocessor register transfer.
    Coprocessor,
}

/// Which of an instruction's transfers one is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Position {
    /// The only one.
    #[default]
    Only,
    /// The first one of an LSM, which is the latest instruction.
    First,
    /// Neither first nor last of an LSM.
    Middle,
    /// The last one of an LSM.
    Last,
}

/// The data of a load miss arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissReturn {
    /// The number that [`Access::Miss`] gave it.
    pub miss: u32,
    /// The value; of two words, the one with the lower address in bits \[31:0\].
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub value: u64,
}
