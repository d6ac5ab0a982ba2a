//! A handful of A32 and T32 instructions, and their bytes.
//!
//! This assembler knows nothing of how decoders classify instructions.

use traceproof_vectors::arm_etm::Isa;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that a trace shows.
    Plain,
    /// The same, if a condition passes (A32 only; Thumb: plain).
    Conditional,
    /// A branch to a place in the same section and state.
    Branch {
        /// Index of the target in its section.
        to: usize,
        /// Only if a condition passes.
        conditional: bool,
        /// With link.
        link: bool,
    },
    /// BLX to the start of the other state's section.
    Exchange,
    /// BX: an indirect branch to any place.
    Indirect,
    /// A load of a word into PC.
    LoadPc,
    /// A load of two words, the second one into PC.
    PopPc,
    /// A load of one word.
    Load,
    /// A store of one word.
    Store,
    /// A load of two words in one transfer.
    LoadDouble,
    /// A store of two words in one transfer.
    StoreDouble,
    /// A load of several words.
    LoadMultiple,
    /// A store of several words.
    StoreMultiple,
    /// A load and a store at the same place (A32 only; Thumb: a store of several words).
    Swap,
    /// A store that may fail.
    StoreExclusive,
}

/// An instruction at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where.
    pub address: u32,
    /// The state it is for.
    pub isa: Isa,
    /// What it does.
    pub kind: Kind,
}

impl Instruction {
    /// Bytes: 2 or 4.
    #[must_use]
    pub const fn size(&self) -> u32 {
        if matches!(self.isa, Isa::Arm) || self.is_thumb32() { 4 } else { 2 }
    }

    /// Whether it is a 32-bit Thumb instruction.
    #[must_use]
    pub const fn is_thumb32(&self) -> bool {
        matches!(self.isa, Isa::Thumb)
            && match self.kind {
                Kind::Branch { link, .. } => link,
                Kind::Exchange
                | Kind::LoadPc
                | Kind::LoadDouble
                | Kind::StoreDouble
                | Kind::StoreExclusive => true,
                _ => false,
            }
    }

    /// Transfers that it makes: none, one, or several as an LSM.
    #[must_use]
    pub const fn transfers(&self) -> usize {
        match self.kind {
            Kind::Load
            | Kind::Store
            | Kind::LoadPc
            | Kind::LoadDouble
            | Kind::StoreDouble
            | Kind::StoreExclusive => 1,
            Kind::PopPc | Kind::Swap => 2,
            Kind::LoadMultiple | Kind::StoreMultiple => 3,
            _ => 0,
        }
    }

    /// The bytes, given where a direct branch goes.
    #[must_use]
    pub fn assemble(&self, target: u32) -> Vec<u8> {
        match self.isa {
            Isa::Arm => self.a32(target).to_le_bytes().to_vec(),
            _ => self.t32(target),
        }
    }

    fn a32(&self, target: u32) -> u32 {
        let offset = target.wrapping_sub(self.address).wrapping_sub(8);
        let words = offset >> 2 & 0x00ff_ffff;
        match self.kind {
            Kind::Plain => 0xe1a0_0000,       // mov r0, r0
            Kind::Conditional => 0x01a0_0000, // moveq r0, r0
            Kind::Branch { conditional, link, .. } => {
                let condition = if conditional { 0x0000_0000 } else { 0xe000_0000 };
                condition | 0x0a00_0000 | u32::from(link) << 24 | words
            }
            Kind::Exchange => 0xfa00_0000 | (offset >> 1 & 1) << 24 | words, // blx target
            Kind::Indirect => 0xe12f_ff1e,                                   // bx lr
            Kind::LoadPc => 0xe591_f000,                                     // ldr pc, [r1]
            Kind::PopPc => 0xe8bd_8010,                                      // pop {r4, pc}
            Kind::Load => 0xe591_0000,                                       // ldr r0, [r1]
            Kind::Store => 0xe581_0000,                                      // str r0, [r1]
            Kind::LoadDouble => 0xe1c1_20d0,                                 // ldrd r2, r3, [r1]
            Kind::StoreDouble => 0xe1c1_20f0,                                // strd r2, r3, [r1]
            Kind::LoadMultiple => 0xe891_001c,                               // ldm r1, {r2-r4}
            Kind::StoreMultiple => 0xe881_001c,                              // stm r1, {r2-r4}
            Kind::Swap => 0xe102_0091,                                       // swp r0, r1, [r2]
            Kind::StoreExclusive => 0xe182_0f91,                             // strex r0, r1, [r2]
        }
    }

    fn t32(&self, target: u32) -> Vec<u8> {
        let offset = target.wrapping_sub(self.address).wrapping_sub(4);
        let narrow = |half: u16| half.to_le_bytes().to_vec();
        let wide = |first: u16, second: u16| [first.to_le_bytes(), second.to_le_bytes()].concat();
        let upper = |offset: u32| 0xf000 | (offset >> 12 & 0x7ff) as u16;
        match self.kind {
            Kind::Plain | Kind::Conditional => narrow(0x46c0), // mov r8, r8
            Kind::Branch { link: true, .. } => {
                // The ranges are short: J1 and J2 are 1.
                wide(upper(offset), 0xf800 | (offset >> 1 & 0x7ff) as u16)
            }
            Kind::Branch { conditional: true, .. } => narrow(0xd000 | (offset >> 1 & 0xff) as u16), // beq
            Kind::Branch { .. } => narrow(0xe000 | (offset >> 1 & 0x7ff) as u16),
            Kind::Exchange => {
                // The base is PC rounded down to a word.
                let offset = target.wrapping_sub((self.address & !3).wrapping_add(4));
                wide(upper(offset), 0xe800 | (offset >> 1 & 0x7fe) as u16)
            }
            Kind::Indirect => narrow(0x4770),             // bx lr
            Kind::LoadPc => wide(0xf8d1, 0xf000),         // ldr.w pc, [r1]
            Kind::PopPc => narrow(0xbd10),                // pop {r4, pc}
            Kind::Load => narrow(0x6808),                 // ldr r0, [r1]
            Kind::Store => narrow(0x6008),                // str r0, [r1]
            Kind::LoadDouble => wide(0xe9d1, 0x2300),     // ldrd r2, r3, [r1]
            Kind::StoreDouble => wide(0xe9c1, 0x2300),    // strd r2, r3, [r1]
            Kind::LoadMultiple => narrow(0xc91c),         // ldmia r1!, {r2-r4}
            Kind::StoreMultiple => narrow(0xc11c),        // stmia r1!, {r2-r4}
            Kind::Swap => narrow(0xb510),                 // push {r4, lr}
            Kind::StoreExclusive => wide(0xe842, 0x1000), // strex r0, r1, [r2]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the encodings of the ARM Architecture Reference Manual, as an assembler writes them.
    #[test]
    fn branches_are_what_an_assembler_writes() {
        let at = |address, isa, kind| Instruction { address, isa, kind };
        let branch = |conditional, link| Kind::Branch { to: 0, conditional, link };
        // b . ; bl .+0x10 ; beq .-8
        assert_eq!(at(0x8000, Isa::Arm, branch(false, false)).assemble(0x8000), [0xfe, 0xff, 0xff, 0xea]);
        assert_eq!(at(0x8000, Isa::Arm, branch(false, true)).assemble(0x8010), [0x02, 0, 0, 0xeb]);
        assert_eq!(at(0x8008, Isa::Arm, branch(true, false)).assemble(0x8000), [0xfc, 0xff, 0xff, 0x0a]);
        // blx .+0xa
        assert_eq!(at(0x8000, Isa::Arm, Kind::Exchange).assemble(0x800a), [0x00, 0, 0, 0xfb]);
        // b . ; beq . ; bl . ; bl .+4
        assert_eq!(at(0x8000, Isa::Thumb, branch(false, false)).assemble(0x8000), [0xfe, 0xe7]);
        assert_eq!(at(0x8000, Isa::Thumb, branch(true, false)).assemble(0x8000), [0xfe, 0xd0]);
        assert_eq!(at(0x8000, Isa::Thumb, branch(false, true)).assemble(0x8000), [0xff, 0xf7, 0xfe, 0xff]);
        assert_eq!(at(0x8000, Isa::Thumb, branch(false, true)).assemble(0x8004), [0x00, 0xf0, 0x00, 0xf8]);
        // blx .+6 from a half-word address: base is 0x8004.
        assert_eq!(at(0x8002, Isa::Thumb, Kind::Exchange).assemble(0x8008), [0x00, 0xf0, 0x02, 0xe8]);
    }
}
