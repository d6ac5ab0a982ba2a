//! Machine code -> length, what it does to the flow, and which data it transfers.
//!
//! One instruction set is one variant of [`InstructionSet`] and one file with its `decode`.
//!
//! Source: ARM DDI 0406 (ARM Architecture Reference Manual, ARMv7-A and ARMv7-R), chapters A5, A6 and A9; for ARMv7-M
//! and ARMv6-M their encodings are a subset, but for what ARMv8-M and ARMv8.1-M add. A64: ARM DDI 0487, C4 and C6.2.

mod a32;
mod a64;
mod advanced_simd;
mod coprocessor;
mod t16;
mod t32;

#[cfg(test)]
mod tests;

use traceproof_vectors::arm;
use traceproof_vectors::arm::{
    Barrier, CodeAddress, ExceptionCall, FlowInstruction, InstructionClass, ReturnSource, TargetSource,
    WaitFor,
};

/// Which encodings the processor executes.
///
/// Jazelle state has no place here: its instructions cannot be identified without knowing the machine.
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
    /// AArch64 state: words.
    A64,
}

/// Where the flow goes on after an instruction that is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// At the next instruction in memory.
    Next,
    /// At [`Instruction::target`].
    Target,
    /// Only the trace determines it.
    Elsewhere,
    /// There is no instruction.
    Missing,
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
/// LDM, STM and their like transfer a word for each register, LDRD and STRD two words; 64-bit registers of floating
/// point and Advanced SIMD are two words each.
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
    /// What it is to the flow.
    pub class: InstructionClass,
    /// Bytes: 2 or 4; 0 where there is no instruction.
    pub length: u8,
    /// Its own encoding makes it conditional: a condition code other than AL, CBZ, CBNZ. An IT block can make others
    /// so.
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
    pub const MISSING: Self = Self { length: 0, ..Self::straight(InstructionSet::A32, 0) };

    const fn straight(set: InstructionSet, length: u8) -> Self {
        Self {
            class: InstructionClass::Other,
            length,
            conditional: false,
            target_set: set,
            offset: 0,
            aligned: false,
            transfers: Transfers::NONE,
        }
    }

    const fn class(self, class: InstructionClass) -> Self {
        Self { class, ..self }
    }

    /// An indirect branch.
    const fn indirect(self, link: bool, source: TargetSource) -> Self {
        self.class(InstructionClass::IndirectBranch { link, source })
    }

    const fn exception_return(self, source: ReturnSource) -> Self {
        self.class(InstructionClass::ExceptionReturn(source))
    }

    const fn call(self, call: ExceptionCall) -> Self {
        self.class(InstructionClass::ExceptionCall(call))
    }

    const fn barrier(self, barrier: Barrier) -> Self {
        self.class(InstructionClass::Barrier(barrier))
    }

    const fn wait(self, wait: WaitFor) -> Self {
        self.class(InstructionClass::Wait(wait))
    }

    const fn transfers(self, transfers: Transfers) -> Self {
        Self { transfers, ..self }
    }

    const fn conditional(self) -> Self {
        Self { conditional: true, ..self }
    }

    /// A direct branch.
    const fn branch(self, link: bool, offset: i32) -> Self {
        Self { class: InstructionClass::DirectBranch { link }, offset, ..self }
    }

    /// Whether there is no instruction.
    #[inline]
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        self.length == 0
    }

    /// Where the flow goes on if it is executed, exceptions apart.
    #[inline]
    #[must_use]
    pub const fn destination(&self) -> Destination {
        match self.class {
            _ if self.is_missing() => Destination::Missing,
            InstructionClass::DirectBranch { .. }
            | InstructionClass::StateChange
            | InstructionClass::LowOverheadLoop => Destination::Target,
            InstructionClass::IndirectBranch { .. } | InstructionClass::ExceptionReturn(_) => {
                Destination::Elsewhere
            }
            _ => Destination::Next,
        }
    }

    /// The target of a branch at `address`, if it is taken and its target is in the opcode. Addresses have 32 bits but
    /// in A64.
    #[inline]
    #[must_use]
    pub const fn target(&self, address: u64) -> u64 {
        let target = address.wrapping_add_signed(self.offset as i64);
        let target = match self.target_set {
            InstructionSet::A64 => target,
            _ => target & 0xffff_ffff,
        };
        if self.aligned { target & !3 } else { target }
    }

    /// The same in the words that all families share; `None` where there is no instruction.
    #[must_use]
    pub fn in_words(&self, address: u64) -> Option<FlowInstruction> {
        let words = FlowInstruction::new(self.class, self.length).with_condition(self.conditional);
        match self.destination() {
            Destination::Missing => None,
            Destination::Target => {
                Some(words.with_target(CodeAddress::new(self.target_set.state(), self.target(address))))
            }
            Destination::Next | Destination::Elsewhere => Some(words),
        }
    }
}

impl InstructionSet {
    /// Every instruction set.
    pub const ALL: [Self; 5] = [Self::A32, Self::T32, Self::T16, Self::ThumbEe, Self::A64];

    /// The encodings of a state of the processor; `None` of Jazelle state.
    #[must_use]
    pub const fn of(state: arm::InstructionSet) -> Option<Self> {
        match state {
            arm::InstructionSet::A32 => Some(Self::A32),
            arm::InstructionSet::T32 => Some(Self::T32),
            arm::InstructionSet::T32Ee => Some(Self::ThumbEe),
            arm::InstructionSet::Jazelle => None,
            arm::InstructionSet::A64 => Some(Self::A64),
        }
    }

    /// The state of the processor that executes these encodings.
    #[must_use]
    pub const fn state(self) -> arm::InstructionSet {
        match self {
            Self::A32 => arm::InstructionSet::A32,
            Self::T32 | Self::T16 => arm::InstructionSet::T32,
            Self::ThumbEe => arm::InstructionSet::T32Ee,
            Self::A64 => arm::InstructionSet::A64,
        }
    }

    /// Instructions lie at multiples of so many bytes.
    #[must_use]
    pub const fn alignment(self) -> u64 {
        match self {
            Self::A32 | Self::A64 => 4,
            Self::T32 | Self::T16 | Self::ThumbEe => 2,
        }
    }

    /// The instruction at the start of `code`, which is little-endian and may go on after the instruction. `previous`
    /// is the half-word before it: BL of [`InstructionSet::T16`] needs it.
    #[must_use]
    pub fn decode(self, code: &[u8], previous: Option<u16>) -> Instruction {
        let half =
            |at: usize| code.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes);
        let (first, second) = (half(0), half(2));
        match (self, first, second) {
            (Self::A32, Some(low), Some(high)) => a32::decode(u32::from(high) << 16 | u32::from(low)),
            (Self::A64, Some(low), Some(high)) => a64::decode(u32::from(high) << 16 | u32::from(low)),
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
