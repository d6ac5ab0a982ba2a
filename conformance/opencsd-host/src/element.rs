//! OpenCSD's generic elements: the same for every protocol.

use serde::{Deserialize, Serialize};

/// A generic element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// Offset of the packet that it came of, in bytes from the start of the trace.
    pub byte: u32,
    /// The source, by trace stream id.
    pub source: u8,
    /// What happened.
    pub kind: ElementKind,
    /// Cycles, where the element counts some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u32>,
    /// Timestamp, where the element has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
    /// The library's own words, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What happened. Numbers that are not explained are the library's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after the library's")]
pub enum ElementKind {
    /// Waiting for synchronisation, at the start or after a loss (`unsync_info_t`).
    NoSync { reason: u32 },
    /// Trace begins, or resumes after a gap: 0 normal, 1 overflow, 2 exit from debug state.
    TraceOn { reason: u32 },
    /// No more trace (`unsync_info_t`).
    EndOfTrace { reason: u32 },
    /// The processor's context, new or changed.
    Context(Context),
    /// Consecutive instructions from `start` up to, not including, `end`.
    Range { isa: Isa, start: u64, end: u64, instructions: u32, last: LastInstruction },
    /// Instructions in a range without the path through them.
    RangeWithoutPath { isa: Isa, start: u64, end: u64, instructions: u32 },
    /// There is no memory at this address.
    NoMemory { address: u64 },
    /// The address is not known.
    AddressUnknown,
    /// An exception; the preferred return address if it is known.
    Exception { number: u32, return_address: Option<u64>, data_marker: bool },
    /// A return from an exception.
    ExceptionReturn,
    /// A timestamp; the clock frequency changed if the flag is set.
    Timestamp { frequency_change: bool },
    /// Cycles of their own.
    CycleCount,
    /// A trigger (`kind` 1), or a numbered event (`kind` 2).
    Event { kind: u16, number: u16 },
    /// A marker for a timestamp that follows, or of another kind (`trace_sync_marker_t`).
    Marker { kind: u32 },
    /// A transaction: 0 trace begins inside one, 1 start, 2 commit, 3 failure.
    Transaction { kind: u32 },
    /// A value that software wrote.
    Instrumentation { exception_level: u8, value: u64 },
    /// Another kind (`ocsd_gen_trc_elem_t`).
    Other { kind: u32 },
}

/// Instruction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "names of instruction sets")]
pub enum Isa {
    Arm,
    Thumb,
    Aarch64,
    ThumbEe,
    Jazelle,
    Custom,
    Unknown,
}

/// Security states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "names of states")]
pub enum Security {
    Secure,
    NonSecure,
    Root,
    Realm,
}

/// The processor's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Instruction set.
    pub isa: Isa,
    /// Security state.
    pub security: Security,
    /// Exception level, if known.
    pub exception_level: Option<u8>,
    /// Context ID, if known.
    pub context_id: Option<u32>,
    /// VMID, if known.
    pub vmid: Option<u32>,
}

/// The last instruction of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastInstruction {
    /// It executed: its condition passed.
    pub executed: bool,
    /// It is conditional.
    pub conditional: bool,
    /// Its size in bytes.
    pub size: u8,
    /// Its type: 0 other, 1 direct branch, 2 indirect branch, 3 ISB, 4 DSB or DMB, 5 WFI or WFE, 6 TSTART.
    pub kind: u32,
    /// Its subtype: 0 none, 1 branch with link, 2 v8 return, 3 v8 exception return, 4 v7 implied return.
    pub subtype: u32,
}
