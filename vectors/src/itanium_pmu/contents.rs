//! What a register holds, field by field.

use core::fmt;

use super::{Register, RegisterClass};
use crate::Address;

/// The fields of one register. Field names are those of the layouts; widths and bits stand at the fields, `{h:l}` =
/// bits h to l of the register, 0 = least significant. Ignored bits are no fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Contents {
    /// PMC\[0\].
    OverflowStatus {
        /// `{0}`: all event monitoring is off.
        #[cfg_attr(feature = "serde", serde(default))]
        fr: bool,
        /// `{7:4}`, not shifted: bit n for PMD\[n\].
        #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex8"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        overflow: u8,
    },
    /// PMC\[1\] to PMC\[3\]: no fields.
    NoFields(Register),
    /// PMC\[4\] to PMC\[7\].
    CounterConfiguration {
        /// Which.
        register: Register,
        /// `{3:0}`: bit k enables privilege level k.
        #[cfg_attr(feature = "serde", serde(default))]
        plm: u8,
        /// `{4}`: external notification of overflow.
        #[cfg_attr(feature = "serde", serde(default))]
        ev: bool,
        /// `{5}`: overflow freezes and interrupts.
        #[cfg_attr(feature = "serde", serde(default))]
        oi: bool,
        /// `{6}`: privileged monitor, started by PSR.pp instead of PSR.up.
        #[cfg_attr(feature = "serde", serde(default))]
        pm: bool,
        /// `{14:8}`: event select.
        #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex8"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        es: u8,
        /// `{19:16}`.
        #[cfg_attr(feature = "serde", serde(default))]
        umask: u8,
        /// `{22:20}` of PMC\[4\] and PMC\[5\], `{21:20}` of PMC\[6\] and PMC\[7\].
        #[cfg_attr(feature = "serde", serde(default))]
        threshold: u8,
        /// `{25:24}`: bit 0 blocks IA-64, bit 1 blocks IA-32.
        #[cfg_attr(feature = "serde", serde(default))]
        ism: u8,
    },
    /// PMC\[8\] and PMC\[9\].
    OpcodeMatch {
        /// Which.
        register: Register,
        /// `{63}`: syllables of type M.
        #[cfg_attr(feature = "serde", serde(default))]
        m: bool,
        /// `{62}`: type I.
        #[cfg_attr(feature = "serde", serde(default))]
        i: bool,
        /// `{61}`: type F.
        #[cfg_attr(feature = "serde", serde(default))]
        f: bool,
        /// `{60}`: type B.
        #[cfg_attr(feature = "serde", serde(default))]
        b: bool,
        /// `{59:33}`, 27 bits: encoding bits {40:27} and {12:0}.
        #[cfg_attr(feature = "serde", serde(rename = "match", with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u32,
        /// `{29:3}`, 27 bits: 1 = not compared.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        mask: u32,
    },
    /// PMC\[10\].
    InstructionEarConfiguration {
        /// `{3:0}`.
        #[cfg_attr(feature = "serde", serde(default))]
        plm: u8,
        /// `{6}`.
        #[cfg_attr(feature = "serde", serde(default))]
        pm: bool,
        /// `{7}`: TLB misses instead of cache misses.
        #[cfg_attr(feature = "serde", serde(default))]
        tlb: bool,
        /// `{19:16}`: latency threshold, or classes of TLB misses.
        #[cfg_attr(feature = "serde", serde(default))]
        umask: u8,
        /// `{25:24}`.
        #[cfg_attr(feature = "serde", serde(default))]
        ism: u8,
    },
    /// PMC\[11\].
    DataEarConfiguration {
        /// `{3:0}`.
        #[cfg_attr(feature = "serde", serde(default))]
        plm: u8,
        /// `{6}`.
        #[cfg_attr(feature = "serde", serde(default))]
        pm: bool,
        /// `{7}`: TLB misses instead of cache misses.
        #[cfg_attr(feature = "serde", serde(default))]
        tlb: bool,
        /// `{19:16}`: latency threshold, or classes of TLB misses.
        #[cfg_attr(feature = "serde", serde(default))]
        umask: u8,
        /// `{25:24}`.
        #[cfg_attr(feature = "serde", serde(default))]
        ism: u8,
        /// `{28}`: pass tags, the data address range check is off.
        #[cfg_attr(feature = "serde", serde(default))]
        pt: bool,
    },
    /// PMC\[12\].
    TraceBufferConfiguration {
        /// `{3:0}`.
        #[cfg_attr(feature = "serde", serde(default))]
        plm: u8,
        /// `{6}`.
        #[cfg_attr(feature = "serde", serde(default))]
        pm: bool,
        /// `{7}`.
        #[cfg_attr(feature = "serde", serde(default))]
        tar: bool,
        /// `{9:8}`: 0 none, 1 not taken, 2 taken, 3 all branches.
        #[cfg_attr(feature = "serde", serde(default))]
        tm: u8,
        /// `{11:10}`: 1 wrong target, 2 right target, 3 all.
        #[cfg_attr(feature = "serde", serde(default))]
        ptm: u8,
        /// `{13:12}`: 1 wrong path, 2 right path, 3 all.
        #[cfg_attr(feature = "serde", serde(default))]
        ppm: u8,
        /// `{14}`.
        #[cfg_attr(feature = "serde", serde(default))]
        bpt: bool,
        /// `{15}`.
        #[cfg_attr(feature = "serde", serde(default))]
        bac: bool,
    },
    /// PMC\[13\].
    InstructionRangeCheck {
        /// `{0}`: tag all, the instruction address range check is off.
        ta: bool,
    },
    /// PMD\[4\] to PMD\[7\].
    Counter {
        /// Which.
        register: Register,
        /// `{31:0}`.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        count: u32,
    },
    /// PMD\[0\].
    InstructionEarLine {
        /// `{0}`: a record was captured.
        v: bool,
        /// `{1}`: how the miss was resolved; undefined unless PMC\[10\].tlb = 1.
        tlb: Known<InstructionTlbResolution>,
        /// `{63:5}`, not shifted: address of the line of 32 bytes.
        line: Address,
    },
    /// PMD\[1\].
    InstructionEarLatency {
        /// `{11:0}`: clocks; undefined unless PMC\[10\].tlb = 0.
        latency: Known<u16>,
    },
    /// PMD\[2\].
    DataEarAddress {
        /// `{63:0}`.
        address: Address,
    },
    /// PMD\[3\].
    DataEarLatency {
        /// `{11:0}`: clocks; undefined unless PMC\[11\].tlb = 0.
        latency: Known<u16>,
        /// `{63:62}`: undefined unless PMC\[11\].tlb = 1.
        level: Known<DataTlbLevel>,
    },
    /// PMD\[17\].
    DataEarInstruction {
        /// `{0}`: a record was captured.
        v: bool,
        /// `{3:2}`.
        slot: u8,
        /// `{63:4}`, not shifted.
        bundle: Address,
    },
    /// PMD\[8\] to PMD\[15\].
    BranchTraceEntry {
        /// Which.
        register: Register,
        /// `{0}`: a branch, else a target.
        b: bool,
        /// `{1}`: of a branch, mispredicted; of a target, that there is one.
        mp: bool,
        /// `{3:2}`: of a branch, 3 = not taken.
        slot: u8,
        /// `{63:4}`, not shifted.
        address: Address,
    },
    /// PMD\[16\].
    BranchTraceIndex {
        /// `{2:0}`: the entry that is written next.
        bbi: u8,
        /// `{3}`: every entry was written.
        full: bool,
    },
    /// An even IBR or DBR.
    BreakpointAddress {
        /// Which.
        register: Register,
        /// `{63:0}`.
        addr: Address,
    },
    /// An odd IBR.
    InstructionBreakpointMask {
        /// Which.
        register: Register,
        /// `{55:0}`: 1 = compared.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        mask: u64,
        /// `{59:56}`.
        #[cfg_attr(feature = "serde", serde(default))]
        plm: u8,
        /// `{63}`.
        #[cfg_attr(feature = "serde", serde(default))]
        x: bool,
    },
    /// An odd DBR.
    DataBreakpointMask {
        /// Which.
        register: Register,
        /// `{55:0}`: 1 = compared.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        mask: u64,
        /// `{59:56}`.
        #[cfg_attr(feature = "serde", serde(default))]
        plm: u8,
        /// `{62}`.
        #[cfg_attr(feature = "serde", serde(default))]
        w: bool,
        /// `{63}`.
        #[cfg_attr(feature = "serde", serde(default))]
        r: bool,
    },
    /// PSR, of which only these bits matter; the others are neither fields nor ignored bits.
    ProcessorStatus {
        /// `{2}`: starts monitors with pm = 0.
        #[cfg_attr(feature = "serde", serde(default))]
        up: bool,
        /// `{14}`: external interrupts are delivered.
        #[cfg_attr(feature = "serde", serde(default))]
        i: bool,
        /// `{20}`: PMD reads at a privilege level other than 0 give 0.
        #[cfg_attr(feature = "serde", serde(default))]
        sp: bool,
        /// `{21}`: starts monitors with pm = 1.
        #[cfg_attr(feature = "serde", serde(default))]
        pp: bool,
        /// `{24}`: debug breakpoints are enabled.
        #[cfg_attr(feature = "serde", serde(default))]
        db: bool,
        /// `{33:32}`: current privilege level.
        #[cfg_attr(feature = "serde", serde(default))]
        cpl: u8,
        /// `{34}`: IA-32 instruction set.
        #[cfg_attr(feature = "serde", serde(default))]
        is: bool,
    },
    /// PMV (cr73), of which only these bits matter.
    InterruptVector {
        /// `{7:0}`.
        #[cfg_attr(feature = "serde", serde(default))]
        vector: u8,
        /// `{16}`: masked, no interrupt is pended.
        #[cfg_attr(feature = "serde", serde(default))]
        m: bool,
    },
    /// A register with nothing in it that the specification defines: an event address register or a trace buffer
    /// register while PMC\[0\].fr = 0 (lenient decoding only).
    Undefined(Register),
    /// A register that the processor does not implement.
    Unimplemented(Register),
}

impl Contents {
    /// The register that this is the contents of.
    #[must_use]
    pub const fn register(&self) -> Register {
        match *self {
            Self::OverflowStatus { .. } => Register::pmc(0),
            Self::InstructionEarConfiguration { .. } => Register::pmc(10),
            Self::DataEarConfiguration { .. } => Register::pmc(11),
            Self::TraceBufferConfiguration { .. } => Register::pmc(12),
            Self::InstructionRangeCheck { .. } => Register::pmc(13),
            Self::InstructionEarLine { .. } => Register::pmd(0),
            Self::InstructionEarLatency { .. } => Register::pmd(1),
            Self::DataEarAddress { .. } => Register::pmd(2),
            Self::DataEarLatency { .. } => Register::pmd(3),
            Self::DataEarInstruction { .. } => Register::pmd(17),
            Self::BranchTraceIndex { .. } => Register::pmd(16),
            Self::ProcessorStatus { .. } => Register { class: RegisterClass::Psr, index: 0 },
            Self::InterruptVector { .. } => Register { class: RegisterClass::Pmv, index: 0 },
            Self::NoFields(register)
            | Self::CounterConfiguration { register, .. }
            | Self::OpcodeMatch { register, .. }
            | Self::Counter { register, .. }
            | Self::BranchTraceEntry { register, .. }
            | Self::BreakpointAddress { register, .. }
            | Self::InstructionBreakpointMask { register, .. }
            | Self::DataBreakpointMask { register, .. }
            | Self::Undefined(register)
            | Self::Unimplemented(register) => register,
        }
    }
}

/// A value, or that the specification leaves it undefined. Undefined is a value of its own, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Known<T> {
    /// Not defined here: any bits may be read.
    Undefined,
    /// Defined.
    Value(T),
}

impl<T> Known<T> {
    /// The value, if it is defined.
    #[must_use]
    pub fn value(self) -> Option<T> {
        match self {
            Self::Undefined => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Known<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.pad("undefined"),
            Self::Value(value) => value.fmt(f),
        }
    }
}

/// How an instruction TLB miss was resolved. The number is PMD\[0\].tlb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum InstructionTlbResolution {
    /// By the hardware walker of the virtual hash page table.
    Vhpt = 0,
    /// By software.
    Software = 1,
}

/// Where a data TLB miss was resolved. The number is PMD\[3\].level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum DataTlbLevel {
    /// Nothing was captured.
    None = 0,
    /// In the second-level data TLB.
    L2 = 1,
    /// By the hardware walker of the virtual hash page table.
    Vhpt = 2,
    /// By software.
    Software = 3,
}
