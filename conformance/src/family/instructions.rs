//! Instructions and clocks in the events of a family.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::{Program, Protocol};

use crate::elf::Machine;

/// The part of a family whose events are about executed instructions.
#[derive(Debug)]
pub struct Instructions<P: Protocol> {
    /// The machine that executes them under these parameters.
    pub machine: fn(&P::Parameters) -> Machine,
    /// The instructions that an event reports; `None` if it reports none.
    pub run: fn(&P::Event) -> Option<Run>,
    /// What an event says of clocks; `None` if nothing.
    pub clock: fn(&P::Event) -> Option<Clock>,
}

/// Instructions that were executed one after the other at consecutive addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Address of the first one; `None` where the trace does not carry it.
    pub first: Option<u64>,
    /// Address after the last one; `None` = [`Run::end_in`] finds it.
    pub end: Option<u64>,
    /// How many.
    pub count: u64,
    /// How they are encoded.
    pub encoding: Encoding,
}

/// How instructions are encoded, which determines their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// RISC-V: 16-bit parcels.
    Riscv,
    /// An instruction set of ARM.
    Arm(InstructionSet),
}

/// A clock of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// So many cycles more.
    Cycles(u64),
    /// The number of this cycle.
    Cycle(u64),
    /// The value of the timestamp.
    Time(u64),
}

impl Run {
    /// One instruction.
    #[must_use]
    pub const fn one(first: Option<u64>, encoding: Encoding) -> Self {
        Self { first, end: None, count: 1, encoding }
    }

    /// The address after the last instruction; `None` where it depends on code that the program lacks.
    #[must_use]
    pub fn end_in(&self, program: &Program) -> Option<u64> {
        if self.end.is_some() {
            return self.end;
        }
        let mut address = self.first?;
        for _ in 0..self.count {
            address = address.wrapping_add(self.encoding.length(program, address)?);
        }
        Some(address)
    }

    /// Calls `each` with the address of every instruction; returns how many have no known address.
    pub fn addresses(&self, program: &Program, each: &mut dyn FnMut(u64)) -> u64 {
        let Some(first) = self.first else { return self.count };
        let (mut address, bytes) = (first, self.end.map(|end| end.wrapping_sub(first)));
        // If all are of the same length, the code is not needed.
        let same = [2, 4]
            .into_iter()
            .find(|length| self.count.checked_mul(*length) == bytes)
            .or_else(|| self.encoding.only_length());
        // The code from the latest address that was looked up.
        let (mut code, mut offset) = (&[][..], 0);
        for number in 1..=self.count {
            each(address);
            let length = same.or_else(|| {
                if code.len() < offset + 2 {
                    (code, offset) = (program.bytes_at(address)?, 0);
                }
                self.encoding.length_of(code.get(offset..)?)
            });
            let Some(length) = length else {
                return self.count - number;
            };
            offset = offset.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
            address = address.wrapping_add(length);
        }
        0
    }
}

impl Encoding {
    /// As text: `riscv`, `a32`, `t32`, …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Riscv => "riscv",
            Self::Arm(set) => set.name(),
        }
    }

    /// Whether instructions are written as half-words.
    #[must_use]
    pub const fn has_half_words(self) -> bool {
        matches!(self, Self::Arm(InstructionSet::T32 | InstructionSet::T32Ee))
    }

    /// Bytes of the instruction at this address; `None` where the program has no code for it, or in Jazelle state.
    #[must_use]
    pub fn length(self, program: &Program, address: u64) -> Option<u64> {
        self.only_length().or_else(|| self.length_of(program.bytes_at(address)?))
    }

    /// The length, where all instructions have the same.
    const fn only_length(self) -> Option<u64> {
        match self {
            Self::Arm(InstructionSet::A32 | InstructionSet::A64) => Some(4),
            _ => None,
        }
    }

    /// Bytes of the instruction that this code begins with.
    fn length_of(self, code: &[u8]) -> Option<u64> {
        let half = match code {
            [low, high, ..] => u16::from_le_bytes([*low, *high]),
            _ => return None,
        };
        match self {
            Self::Arm(InstructionSet::A32 | InstructionSet::A64) => self.only_length(),
            Self::Arm(InstructionSet::T32 | InstructionSet::T32Ee) => {
                Some(if half >> 11 >= 0b11101 { 4 } else { 2 })
            }
            Self::Arm(InstructionSet::Jazelle) => None,
            Self::Riscv => riscv_length(half),
        }
    }
}

/// By the lowest bits, as the RISC-V base encoding has them; `None` for encodings of more than 64 bits.
const fn riscv_length(half: u16) -> Option<u64> {
    match half & 0x7f {
        low if low & 0x3 != 0x3 => Some(2),
        low if low & 0x1f != 0x1f => Some(4),
        low if low & 0x3f == 0x1f => Some(6),
        0x3f => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::Section;

    fn program(bytes: &[u8]) -> Program {
        let mut program = Program::new();
        program.insert(Section::new(0x1000, bytes.to_vec(), "")).expect("free");
        program
    }

    fn addresses(run: &Run, program: &Program) -> (Vec<u64>, u64) {
        let mut found = Vec::new();
        let unknown = run.addresses(program, &mut |address| found.push(address));
        (found, unknown)
    }

    /// addi (4 bytes), c.nop (2), addi (4).
    #[test]
    fn addresses_follow_the_lengths_of_the_code() {
        let code = program(&[0x13, 0, 0, 0, 1, 0, 0x13, 0, 0, 0]);
        let run = Run { first: Some(0x1000), end: Some(0x100a), count: 3, encoding: Encoding::Riscv };
        assert_eq!(addresses(&run, &code), (vec![0x1000, 0x1004, 0x1006], 0));
        assert_eq!(addresses(&run, &Program::new()), (vec![0x1000], 2));
        assert_eq!(Run { end: None, ..run }.end_in(&code), Some(0x100a));
        assert_eq!(Run { end: None, count: 4, ..run }.end_in(&code), None, "there is no code after it");
    }

    #[test]
    fn instructions_of_one_length_need_no_code() {
        let a64 = Encoding::Arm(InstructionSet::A64);
        let run = Run { first: Some(0x8000), end: Some(0x8008), count: 2, encoding: a64 };
        assert_eq!(addresses(&run, &Program::new()), (vec![0x8000, 0x8004], 0));
        assert_eq!(addresses(&Run { first: None, ..run }, &Program::new()), (vec![], 2));
    }

    /// A6.3.1 of the ARMv7-M manual: 0b11101, 0b11110 and 0b11111 begin instructions of 32 bits.
    #[test]
    fn t32_has_two_lengths() {
        let t32 = Encoding::Arm(InstructionSet::T32);
        for (half, length) in [(0xe7fe_u16, 2), (0xe800, 4), (0xf7ff, 4), (0xffff, 4), (0xbf00, 2)] {
            assert_eq!(t32.length(&program(&half.to_le_bytes()), 0x1000), Some(length), "{half:#x}");
        }
    }

    #[test]
    fn riscv_has_lengths_of_up_to_eight_bytes() {
        for (half, length) in
            [(0x0001, Some(2)), (0x0013, Some(4)), (0x001f, Some(6)), (0x003f, Some(8)), (0x007f, None)]
        {
            assert_eq!(riscv_length(half), length, "{half:#x}");
        }
    }
}
