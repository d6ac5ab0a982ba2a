//! What happens to the performance monitor: register accesses, instructions, memory accesses, misses, cycles.

use super::{DataTlbLevel, InstructionTlbResolution, Register};
use crate::Address;

/// One item of what happens. What belongs to a cycle comes before its [`Cycle`](Stimulus::Cycle).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Stimulus {
    /// The processor is reset.
    Reset,
    /// Software writes a register, at whatever privilege level. Of PSR and PMV too: this is how privilege level and
    /// instruction set change.
    Write {
        /// Which.
        register: Register,
        /// All 64 bits that are written, ignored ones included.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u64,
    },
    /// Software reads a register. Reads of PMDs obey the privilege level in force, reads of other registers do not.
    Read(Register),
    /// An instruction is fetched and issued.
    Instruction(Instruction),
    /// The latest instruction accesses memory.
    Access(Access),
    /// A cache or TLB misses.
    Miss(Miss),
    /// An event occurs that does not follow from the rest.
    Occurrence(Occurrence),
    /// The cycle ends: counters and event address registers take what happened since the last one, as PMC\[0\], PSR and
    /// their configuration are now.
    Cycle,
}

/// An instruction on its way through the pipeline. Its tags are made from the registers as they are when it is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instruction {
    /// IP: address of the bundle, or of the IA-32 instruction.
    pub ip: Address,
    /// Slot of the bundle, 0 to 2.
    #[cfg_attr(feature = "serde", serde(default))]
    pub slot: u8,
    /// Type of the syllable.
    pub itype: SyllableType,
    /// `enco{40:0}`: the syllable, bit 0 = qualifying predicate's least significant bit. 41 bits; 0 of IA-32
    /// instructions.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub enco: u64,
    /// It retires at the end of the cycle; `false` on a wrong path.
    #[cfg_attr(feature = "serde", serde(default = "yes"))]
    pub retired: bool,
    /// Its qualifying predicate is 0.
    #[cfg_attr(feature = "serde", serde(default))]
    pub squashed: bool,
}

#[cfg(feature = "serde")]
const fn yes() -> bool {
    true
}

/// Type of a syllable, which template and slot give. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum SyllableType {
    /// Memory. Instructions of type A in an M slot are M.
    M = 0,
    /// Integer. Instructions of type A in an I slot are I.
    I = 1,
    /// Floating point.
    F = 2,
    /// Branch.
    B = 3,
    /// The long syllable of an MLX bundle: L and X together, in slot 2, with the encoding there.
    X = 4,
    /// No syllable but an IA-32 instruction.
    #[cfg_attr(feature = "serde", serde(rename = "IA32"))]
    Ia32 = 5,
}

impl SyllableType {
    /// Every type, in the order of their codes.
    pub const ALL: [Self; 6] = [Self::M, Self::I, Self::F, Self::B, Self::X, Self::Ia32];
}

/// A memory access of the latest instruction, or one that it causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Access {
    /// What kind.
    pub kind: AccessKind,
    /// The one address that is compared (MD-9: no size).
    pub address: Address,
}

/// Kind of a memory access. The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum AccessKind {
    /// Any load.
    Load = 0,
    /// Any store.
    Store = 1,
    /// A semaphore operation.
    Semaphore = 2,
    /// A line prefetch.
    Lfetch = 3,
    /// The register stack engine works because of the instruction.
    Rse = 4,
    /// The hardware walker reads the virtual hash page table because of the instruction.
    Vhpt = 5,
}

impl AccessKind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Self; 6] =
        [Self::Load, Self::Store, Self::Semaphore, Self::Lfetch, Self::Rse, Self::Vhpt];
}

/// A miss that event address registers can capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Miss {
    /// A fetch misses the L1 instruction cache. It is tagged as an instruction at `ip` would be now.
    InstructionCache {
        /// IP of the fetch.
        ip: Address,
        /// Clocks.
        latency: u32,
    },
    /// A fetch misses the instruction TLB. It is tagged as an instruction at `ip` would be now.
    InstructionTlb {
        /// IP of the fetch.
        ip: Address,
        /// Who resolved it.
        resolution: InstructionTlbResolution,
    },
    /// The latest access, a load, misses the L1 data cache.
    DataCache {
        /// Clocks.
        latency: u32,
    },
    /// The latest access misses the first-level data TLB.
    DataTlb {
        /// Where it was resolved; never [`DataTlbLevel::None`].
        level: DataTlbLevel,
    },
}

/// Occurrences of an event in this cycle. They belong to the latest instruction or access, as the event's qualifier
/// requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Occurrence {
    /// Event select code.
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex8"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub es: u8,
    /// Unit mask.
    #[cfg_attr(feature = "serde", serde(default))]
    pub umask: u8,
    /// How often; several records of one event in one cycle add up.
    pub count: u8,
}
