//! Random programs: a section of A32 code, one of 16-bit Thumb code, and both tables of exception vectors.
//!
//! This assembler knows nothing of how decoders classify instructions.

use traceproof_vectors::arm_etm::Isa;
use traceproof_vectors::{Address32, Program, Section};

use crate::generate::Entropy;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that a trace shows.
    Plain,
    /// The same, if a condition passes (A32 only; Thumb: plain).
    Conditional,
    /// A branch to the instruction of this index in the same section. Link in Thumb state: the second half of BL, after
    /// its [`LinkPrefix`](Self::LinkPrefix).
    Branch {
        /// Index of the target.
        to: usize,
        /// Only if a condition passes.
        conditional: bool,
        /// With link.
        link: bool,
    },
    /// The first half of a Thumb BL to the same place.
    LinkPrefix {
        /// Index of the target.
        to: usize,
    },
    /// An indirect branch, to be encoded in one of several ways.
    Indirect(u8),
    /// Data transfers.
    Access(Access),
    /// SVC: an exception.
    Svc,
}

/// What an instruction transfers, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The encoding.
    pub code: u32,
    /// Transfers, words of 64-bit items counted one by one.
    pub count: u32,
    /// Bytes of each.
    pub size: u8,
    /// The last `count - loads` are stores.
    pub loads: u32,
    /// What follows in memory: the same place again (SWP), or the next one.
    pub step: u32,
    /// It loads PC.
    pub branches: bool,
    /// A coprocessor register transfer.
    pub coprocessor: bool,
    /// Two words at once.
    pub wide: bool,
    /// Only if a condition passes.
    pub conditional: bool,
}

const fn access(code: u32, count: u32, size: u8, loads: u32) -> Access {
    Access {
        code,
        count,
        size,
        loads,
        step: 4,
        branches: false,
        coprocessor: false,
        wide: false,
        conditional: false,
    }
}

/// As the ARM Architecture Reference Manual encodes them.
const ARM_ACCESSES: [Access; 19] = [
    access(0xe591_0000, 1, 4, 1),                                 // ldr r0, [r1]
    access(0xe581_0000, 1, 4, 0),                                 // str r0, [r1]
    access(0xe5d1_0000, 1, 1, 1),                                 // ldrb r0, [r1]
    access(0xe5c1_0000, 1, 1, 0),                                 // strb r0, [r1]
    access(0xe1d1_00b0, 1, 2, 1),                                 // ldrh r0, [r1]
    access(0xe1c1_00b0, 1, 2, 0),                                 // strh r0, [r1]
    access(0xe1d1_00d0, 1, 1, 1),                                 // ldrsb r0, [r1]
    access(0xe1d1_00f0, 1, 2, 1),                                 // ldrsh r0, [r1]
    Access { wide: true, ..access(0xe1c1_20d0, 2, 4, 2) },        // ldrd r2, r3, [r1]
    Access { wide: true, ..access(0xe1c1_20f0, 2, 4, 0) },        // strd r2, r3, [r1]
    access(0xe891_001c, 3, 4, 3),                                 // ldm r1, {r2-r4}
    access(0xe92d_40f0, 5, 4, 0),                                 // push {r4-r7, lr}
    Access { step: 0, ..access(0xe102_0091, 2, 4, 1) },           // swp r0, r1, [r2]
    Access { step: 0, ..access(0xe142_0091, 2, 1, 1) },           // swpb r0, r1, [r2]
    Access { branches: true, ..access(0xe591_f000, 1, 4, 1) },    // ldr pc, [r1]
    Access { branches: true, ..access(0xe8bd_8010, 2, 4, 2) },    // pop {r4, pc}
    Access { conditional: true, ..access(0x0591_0000, 1, 4, 1) }, // ldreq r0, [r1]
    Access { coprocessor: true, ..access(0xee11_0f10, 1, 4, 1) }, // mrc p15, 0, r0, c1, c0, 0
    Access { coprocessor: true, ..access(0xee01_0f10, 1, 4, 0) }, // mcr p15, 0, r0, c1, c0, 0
];

const THUMB_ACCESSES: [Access; 9] = [
    access(0x6808, 1, 4, 1),                              // ldr r0, [r1]
    access(0x6008, 1, 4, 0),                              // str r0, [r1]
    access(0x7808, 1, 1, 1),                              // ldrb r0, [r1]
    access(0x7008, 1, 1, 0),                              // strb r0, [r1]
    access(0x8808, 1, 2, 1),                              // ldrh r0, [r1]
    access(0x8008, 1, 2, 0),                              // strh r0, [r1]
    access(0xc91c, 3, 4, 3),                              // ldmia r1!, {r2-r4}
    access(0xb510, 2, 4, 0),                              // push {r4, lr}
    Access { branches: true, ..access(0xbd10, 2, 4, 2) }, // pop {r4, pc}
];

/// bx lr; mov pc, lr; add pc, r0, r1
const ARM_INDIRECT: [u32; 3] = [0xe12f_ff1e, 0xe1a0_f00e, 0xe080_f001];
/// bx lr; mov pc, lr; bx r1
const THUMB_INDIRECT: [u32; 3] = [0x4770, 0x46f7, 0x4708];

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
    /// Bytes: 4 in ARM state, 2 in Thumb state.
    #[must_use]
    pub const fn size(&self) -> u32 {
        if matches!(self.isa, Isa::Arm) { 4 } else { 2 }
    }

    /// Whether its condition may fail.
    #[must_use]
    pub const fn is_conditional(&self) -> bool {
        match self.kind {
            Kind::Conditional => matches!(self.isa, Isa::Arm),
            Kind::Branch { conditional, .. } => conditional,
            Kind::Access(access) => access.conditional,
            Kind::Plain | Kind::LinkPrefix { .. } | Kind::Indirect(_) | Kind::Svc => false,
        }
    }

    /// The bytes, given where a direct branch goes.
    fn assemble(&self, target: u32) -> Vec<u8> {
        let bytes = match self.isa {
            Isa::Arm => self.a32(target),
            _ => self.t16(target),
        }
        .to_le_bytes();
        bytes[..self.size() as usize].to_vec()
    }

    fn a32(&self, target: u32) -> u32 {
        let words = target.wrapping_sub(self.address).wrapping_sub(8) >> 2 & 0x00ff_ffff;
        match self.kind {
            Kind::Plain | Kind::LinkPrefix { .. } => 0xe1a0_0000, // mov r0, r0
            Kind::Conditional => 0x01a0_0000,                     // moveq r0, r0
            Kind::Branch { conditional, link, .. } => {
                (if conditional { 0 } else { 0xe000_0000 }) | 0x0a00_0000 | u32::from(link) << 24 | words
            }
            Kind::Indirect(form) => ARM_INDIRECT[usize::from(form) % ARM_INDIRECT.len()],
            Kind::Access(access) => access.code,
            Kind::Svc => 0xef00_0000, // svc 0
        }
    }

    fn t16(&self, target: u32) -> u32 {
        let offset = target.wrapping_sub(self.address).wrapping_sub(4);
        match self.kind {
            Kind::Plain | Kind::Conditional => 0x46c0, // mov r8, r8
            Kind::LinkPrefix { .. } => 0xf000 | offset >> 12 & 0x7ff,
            // The offset counts from the first half.
            Kind::Branch { link: true, .. } => 0xf800 | offset.wrapping_add(2) >> 1 & 0x7ff,
            Kind::Branch { conditional: true, .. } => 0xd000 | offset >> 1 & 0xff, // beq
            Kind::Branch { .. } => 0xe000 | offset >> 1 & 0x7ff,
            Kind::Indirect(form) => THUMB_INDIRECT[usize::from(form) % THUMB_INDIRECT.len()],
            Kind::Access(access) => access.code,
            Kind::Svc => 0xdf00, // svc 0
        }
    }
}

/// Code, in order of address.
#[derive(Clone, Debug)]
pub struct GeneratedProgram {
    /// The A32 section.
    pub arm: Vec<Instruction>,
    /// The Thumb section.
    pub thumb: Vec<Instruction>,
    /// The low and the high table of vectors, A32: an instruction for each vector, in order.
    pub vectors: [Vec<Instruction>; 2],
}

/// Where the tables of vectors are.
const TABLES: [u32; 2] = [0, 0xffff_0000];

/// Places in a table, that of offset 0x14 included.
const VECTORS: u32 = 8;

/// Where the sections are: far enough apart for branch addresses of five packets.
const ARM: u32 = 0x8000;
const THUMB: u32 = 0x1000_a000;

impl GeneratedProgram {
    /// A program with few or many instructions.
    #[must_use]
    pub fn generate(entropy: &mut Entropy<'_>) -> Self {
        let thumb = if entropy.chance(64) { THUMB } else { ARM + 0x2000 };
        Self {
            arm: section(entropy, ARM, Isa::Arm),
            thumb: section(entropy, thumb, Isa::Thumb),
            vectors: TABLES.map(|base| table(entropy, base)),
        }
    }

    /// The section of a state.
    #[must_use]
    pub fn section(&self, isa: Isa) -> &[Instruction] {
        if isa == Isa::Arm { &self.arm } else { &self.thumb }
    }

    /// The instruction at this place; `None` where no code is.
    #[must_use]
    pub fn at(&self, address: u32, isa: Isa) -> Option<Instruction> {
        let vectors = self.vectors.iter().flatten().filter(|_| isa == Isa::Arm);
        self.section(isa).iter().chain(vectors).find(|item| item.address == address).copied()
    }

    /// Where a direct branch goes.
    #[must_use]
    pub fn target(&self, instruction: &Instruction) -> u32 {
        match instruction.kind {
            Kind::Branch { to, .. } | Kind::LinkPrefix { to } => self.section(instruction.isa)[to].address,
            _ => instruction.address,
        }
    }

    /// The bytes, for a decoder.
    ///
    /// # Errors
    ///
    /// If sections overlap, which would be a fault of the generator.
    pub fn code(&self) -> Result<Program, String> {
        let mut program = Program::new();
        let [low, high] = &self.vectors;
        for (name, section) in [("arm", &self.arm), ("thumb", &self.thumb), ("low", low), ("high", high)] {
            let bytes = section.iter().flat_map(|item| item.assemble(self.target(item))).collect();
            let section = Section::new(Address32(section[0].address), bytes, name);
            program.insert(section).map_err(|error| error.to_string())?;
        }
        Ok(program)
    }
}

fn section(entropy: &mut Entropy<'_>, base: u32, isa: Isa) -> Vec<Instruction> {
    let length = 4 + entropy.below(28);
    let mut items: Vec<Instruction> = Vec::with_capacity(length + 1);
    while items.len() <= length {
        let kind = match items.last().map(|item| item.kind) {
            Some(Kind::LinkPrefix { to }) => Kind::Branch { to, conditional: false, link: true },
            // Nothing runs over the end.
            _ if items.len() == length => Kind::Indirect(0),
            _ => match kind(entropy, length, isa) {
                Kind::LinkPrefix { .. } if items.len() + 1 == length => Kind::Plain,
                other => other,
            },
        };
        let address = base + items.len() as u32 * Instruction { address: 0, isa, kind }.size();
        items.push(Instruction { address, isa, kind });
    }
    items
}

/// Handlers of no more than the instructions from their vector to the end of the table, which lead to anywhere.
fn table(entropy: &mut Entropy<'_>, base: u32) -> Vec<Instruction> {
    let item = |index| {
        let kind = match entropy.below(4) {
            _ if index + 1 == VECTORS => Kind::Indirect(0),
            0 => Kind::Indirect(entropy.byte()),
            1 => Kind::Access(entropy.pick(&ARM_ACCESSES)),
            2 => Kind::Conditional,
            _ => Kind::Plain,
        };
        Instruction { address: base + 4 * index, isa: Isa::Arm, kind }
    };
    (0..VECTORS).map(item).collect()
}

fn kind(entropy: &mut Entropy<'_>, length: usize, isa: Isa) -> Kind {
    let to = entropy.below(length);
    match entropy.below(17) {
        16 => Kind::Svc,
        0..=2 => Kind::Plain,
        3 => Kind::Conditional,
        4 | 5 => Kind::Branch { to, conditional: true, link: false },
        6 => Kind::Branch { to, conditional: false, link: false },
        7 if isa == Isa::Arm => Kind::Branch { to, conditional: false, link: true },
        7 => Kind::LinkPrefix { to },
        8 => Kind::Indirect(entropy.byte()),
        _ if isa == Isa::Arm => Kind::Access(entropy.pick(&ARM_ACCESSES)),
        _ => Kind::Access(entropy.pick(&THUMB_ACCESSES)),
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
        // b . ; beq .
        assert_eq!(at(0x8000, Isa::Thumb, branch(false, false)).assemble(0x8000), [0xfe, 0xe7]);
        assert_eq!(at(0x8000, Isa::Thumb, branch(true, false)).assemble(0x8000), [0xfe, 0xd0]);
        // bl . ; bl .+4
        let prefix = |target| at(0x8000, Isa::Thumb, Kind::LinkPrefix { to: 0 }).assemble(target);
        let suffix = |target| at(0x8002, Isa::Thumb, branch(false, true)).assemble(target);
        assert_eq!([prefix(0x8000), suffix(0x8000)].concat(), [0xff, 0xf7, 0xfe, 0xff]);
        assert_eq!([prefix(0x8004), suffix(0x8004)].concat(), [0x00, 0xf0, 0x00, 0xf8]);
    }

    /// No section ends between the halves of a BL.
    #[test]
    fn halves_stay_together() {
        for seed in 0..200 {
            let program = GeneratedProgram::generate(&mut Entropy::new(&crate::generate::seeded(seed, 200)));
            for pair in program.thumb.windows(2) {
                if let Kind::LinkPrefix { to } = pair[0].kind {
                    assert_eq!(pair[1].kind, Kind::Branch { to, conditional: false, link: true });
                }
            }
            let last = program.thumb.last().expect("an instruction").kind;
            assert!(matches!(last, Kind::Indirect(_)), "{last:?}");
        }
    }
}
