//! Machine code -> length, what it does to the flow, and which data it transfers.
//!
//! One instruction set is one variant of [`InstructionSet`] and one file with its `decode`.
//!
//! Source: ARM DDI 0406 (ARM Architecture Reference Manual, ARMv7-A and ARMv7-R), chapters A5, A6 and A9; for ARMv7-M and ARMv6-M their
//! encodings are a subset, but for what ARMv8-M and ARMv8.1-M add.

mod a32;
mod advanced_simd;
mod coprocessor;
mod t16;
mod t32;

#[cfg(test)]
mod tests;

/// Which encodings the processor executes.
///
/// Jazelle state has no place here: its instructions cannot be told without knowing the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum InstructionSet {
    /// ARM state: words.
    #[default]
    A32,
    /// Thumb state since ARMv6T2: half-words, of which two can make one instruction.
    T32,
    /// Thumb state before that: every half-word is an instruction. BL and BLX are two, of which the second branches.
    T16,
    /// ThumbEE state.
    ThumbEe,
}

/// What an instruction does to the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Always continues with the next instruction.
    Straight,
    /// IT: straight; makes up to four instructions behind it conditional.
    IfThen,
    /// SVC: straight, but takes its exception.
    SupervisorCall,
    /// SMC: straight, but takes its exception.
    MonitorCall,
    /// HVC: straight, but takes its exception.
    HypervisorCall,
    /// BKPT, HLT: straight, but takes its exception or stops.
    Breakpoint,
    /// UDF, the encodings that stay undefined for ever: straight, but takes its exception.
    Undefined,
    /// WFI, WFE: straight; may be told apart in the trace.
    Wait,
    /// DSB, DMB, also as CP15 operation: straight; may be told apart in the trace.
    DataBarrier,
    /// ISB, also as CP15 operation: straight; may be told apart in the trace.
    InstructionBarrier,
    /// A branch whose target is a constant: B, BL, BLX (immediate), CBZ, CBNZ, ENTERX, LEAVEX; the loops of ARMv8.1-M.
    DirectBranch,
    /// A branch whose target is not: BX, BLX (register), BXJ, TBB, TBH, and whatever loads or computes the PC.
    IndirectBranch,
    /// An indirect branch that restores the status too: RFE, ERET, LDM with PC and S, data processing with PC and S.
    ExceptionReturn,
    /// No instruction: no bytes.
    Missing,
}

impl Class {
    /// Goes elsewhere if it is executed.
    #[inline]
    #[must_use]
    pub const fn is_branch(self) -> bool {
        matches!(self, Self::DirectBranch | Self::IndirectBranch | Self::ExceptionReturn)
    }
}

/// Which way data go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Access {
    /// No data.
    #[default]
    None,
    /// From memory.
    Load,
    /// To memory.
    Store,
    /// SWP, SWPB: one from memory, then one to memory.
    Swap,
    /// MCR, MCRR and their like: from registers to a coprocessor.
    ToCoprocessor,
    /// MRC, MRRC and their like: from a coprocessor to registers.
    FromCoprocessor,
}

/// The data that an instruction transfers if it is executed.
///
/// LDM, STM and their like transfer a word for each register, LDRD and STRD two words; 64-bit registers of floating point and
/// Advanced SIMD are two words each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Transfers {
    /// Which way.
    pub access: Access,
    /// How many transfers of `size` bytes; 0 where there are none, or where only the coprocessor knows (LDC, STC).
    pub count: u8,
    /// Bytes of one transfer: 1, 2 or 4; 0 where there are none.
    pub size: u8,
}

impl Transfers {
    /// No data.
    pub const NONE: Self = Self { access: Access::None, count: 0, size: 0 };

    /// Words between memory and registers.
    const fn words(load: bool, count: u8) -> Self {
        Self::memory(load, count, 4)
    }

    const fn memory(load: bool, count: u8, size: u8) -> Self {
        Self { access: if load { Access::Load } else { Access::Store }, count, size }
    }

    /// Words between a coprocessor and registers.
    const fn coprocessor(read: bool, count: u8) -> Self {
        Self { access: if read { Access::FromCoprocessor } else { Access::ToCoprocessor }, count, size: 4 }
    }
}

/// One instruction, as far as trace cares.
///
/// What is UNPREDICTABLE or UNDEFINED has the class of what its encoding would be, or is straight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does to the flow.
    pub class: Class,
    /// Bytes: 2 or 4; 0 if [`Class::Missing`].
    pub length: u8,
    /// Leaves a return address in LR: BL, BLX, HBL, HBLP.
    pub link: bool,
    /// Its own encoding makes it conditional: a condition code other than AL, CBZ, CBNZ. An IT block can make others so.
    pub conditional: bool,
    /// The instruction set at the target of a direct branch; otherwise that of the instruction.
    pub target_set: InstructionSet,
    /// Bytes from the instruction to the target of a direct branch.
    pub offset: i32,
    /// Bits 1:0 of the target of a direct branch are cleared: BLX from Thumb to ARM state.
    pub aligned: bool,
    /// Its data.
    pub transfers: Transfers,
}

impl Instruction {
    /// Where no instruction is.
    pub const MISSING: Self =
        Self { length: 0, class: Class::Missing, ..Self::straight(InstructionSet::A32, 0) };

    const fn straight(set: InstructionSet, length: u8) -> Self {
        Self {
            class: Class::Straight,
            length,
            link: false,
            conditional: false,
            target_set: set,
            offset: 0,
            aligned: false,
            transfers: Transfers::NONE,
        }
    }

    const fn class(self, class: Class) -> Self {
        Self { class, ..self }
    }

    const fn transfers(self, transfers: Transfers) -> Self {
        Self { transfers, ..self }
    }

    const fn link(self) -> Self {
        Self { link: true, ..self }
    }

    const fn conditional(self) -> Self {
        Self { conditional: true, ..self }
    }

    /// A direct branch.
    const fn branch(self, offset: i32) -> Self {
        Self { class: Class::DirectBranch, offset, ..self }
    }

    /// Where a direct branch at `address` goes, if it is taken; addresses have 32 bits.
    #[inline]
    #[must_use]
    pub const fn target(&self, address: u64) -> u64 {
        let target = address.wrapping_add_signed(self.offset as i64) & 0xffff_ffff;
        if self.aligned { target & !3 } else { target }
    }
}

impl InstructionSet {
    /// Every instruction set.
    pub const ALL: [Self; 4] = [Self::A32, Self::T32, Self::T16, Self::ThumbEe];

    /// Instructions lie at multiples of so many bytes.
    #[must_use]
    pub const fn alignment(self) -> u64 {
        match self {
            Self::A32 => 4,
            Self::T32 | Self::T16 | Self::ThumbEe => 2,
        }
    }

    /// The instruction at the start of `code`, which is little-endian and may go on behind the instruction. `previous` is the
    /// half-word in front of it: BL of [`InstructionSet::T16`] needs it.
    #[must_use]
    pub fn decode(self, code: &[u8], previous: Option<u16>) -> Instruction {
        let half =
            |at: usize| code.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes);
        let (first, second) = (half(0), half(2));
        match (self, first, second) {
            (Self::A32, Some(low), Some(high)) => a32::decode(u32::from(high) << 16 | u32::from(low)),
            (Self::T16, Some(first), _) => t16::decode_before_t32(first, previous),
            (Self::T32 | Self::ThumbEe, Some(first), _) if !t32::is_wide(first) => t16::decode(first, self),
            (Self::T32 | Self::ThumbEe, Some(first), Some(second)) => {
                t32::decode(u32::from(first) << 16 | u32::from(second), self)
            }
            _ => Instruction::MISSING,
        }
    }
}

/// Whether the bits of `code` under `mask` are `value`.
const fn is(code: u32, mask: u32, value: u32) -> bool {
    code & mask == value
}

/// The `width` bits of `code` from `first` on.
const fn field(code: u32, first: u32, width: u32) -> u32 {
    code >> first & ((1 << width) - 1)
}

/// Sign-extends a value of `width` bits.
const fn sign(value: u32, width: u32) -> i32 {
    ((value << (32 - width)) as i32) >> (32 - width)
}

/// How many of the 16 bits are set.
const fn registers(list: u32) -> u8 {
    (list & 0xffff).count_ones() as u8
}
