//! A program in which any instruction can follow any other.
//!
//! It has a ring of branches, each before an instruction of some kind, so that any number of outcomes can precede it;
//! every pair of an instruction that does not jump freely and another one; and islands at many distances, so that
//! differences of addresses have every length and sign.

use std::collections::BTreeMap;

use traceproof_vectors::riscv_etrace::Parameters;
use traceproof_vectors::{Program, Section};

use super::rng::Rng;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Plain,
    Branch,
    Jump,
    Call,
    OtherJump,
    IndirectJump,
    IndirectCall,
    OtherIndirect,
    Swap,
    Return,
    TrapReturn,
}

impl Kind {
    pub(super) const ALL: [Self; 11] = [
        Self::Plain,
        Self::Branch,
        Self::Jump,
        Self::Call,
        Self::OtherJump,
        Self::IndirectJump,
        Self::IndirectCall,
        Self::OtherIndirect,
        Self::Swap,
        Self::Return,
        Self::TrapReturn,
    ];

    /// Those after which only one instruction can come, or two.
    pub(super) const BOUND: [Self; 5] = [Self::Plain, Self::Branch, Self::Jump, Self::Call, Self::OtherJump];

    /// Spec: RVET-ING-001, RVET-ING-011.
    pub(super) const fn itype(self, taken: bool, width: u8) -> u8 {
        match (self, width) {
            (Self::Plain, _) => 0,
            (Self::TrapReturn, _) => 3,
            (Self::Branch, _) => 4 + taken as u8,
            (Self::Jump | Self::Call | Self::OtherJump, 3) => 0,
            (_, 3) => 6,
            (Self::IndirectCall, _) => 8,
            (Self::Call, _) => 9,
            (Self::IndirectJump, _) => 10,
            (Self::Jump, _) => 11,
            (Self::Swap, _) => 12,
            (Self::Return, _) => 13,
            (Self::OtherIndirect, _) => 14,
            (Self::OtherJump, _) => 15,
        }
    }

    /// Whether a 2-byte form is used where there are such.
    const fn can_be_short(self) -> bool {
        matches!(self, Self::Plain | Self::IndirectJump | Self::IndirectCall | Self::Return)
    }
}

/// An instruction at its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) kind: Kind,
    pub(super) size: u64,
    /// Where it goes if it is bound.
    pub(super) target: u64,
}

/// The program and its places.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) program: Program,
    pub(super) instructions: BTreeMap<u64, Instruction>,
    /// Places of each kind.
    pub(super) by_kind: BTreeMap<Kind, Vec<u64>>,
    /// First instructions of pairs.
    pub(super) pairs: BTreeMap<(Kind, Kind), u64>,
    /// The branches of the ring.
    pub(super) ring: Vec<u64>,
    /// First instructions of islands.
    pub(super) islands: Vec<u64>,
}

/// An instruction before addresses are known.
struct Shape {
    kind: Kind,
    short: bool,
    target: usize,
}

impl Code {
    pub(super) fn generate(rng: &mut Rng, parameters: &Parameters) -> Self {
        let short = parameters.iaddress_lsb_p <= 1;
        let mut shapes = Vec::new();
        let cells = 2 * Kind::ALL.len();
        for cell in 0..cells {
            // Changes of level need more of these; every kind keeps a cell.
            let kind = match Kind::ALL.get(cell % Kind::ALL.len()) {
                Some(kind) if cell % 4 != 3 => *kind,
                _ => Kind::TrapReturn,
            };
            let mut other = rng.below(cells);
            if other == cell {
                other = (cell + 1) % cells;
            }
            shapes.push(Shape { kind: Kind::Branch, short: false, target: 2 * other });
            let target = 2 * rng.below(cells);
            shapes.push(Shape { kind, short: short && kind.can_be_short() && rng.chance(128), target });
        }
        // The last cell goes on into the exit.
        shapes.push(Shape { kind: Kind::IndirectJump, short: false, target: 0 });
        let mut pairs = Vec::new();
        for first in Kind::BOUND {
            for second in Kind::ALL {
                let at = shapes.len();
                pairs.push(((first, second), at));
                let small = |kind: Kind, rng: &mut Rng| short && kind.can_be_short() && rng.chance(128);
                shapes.push(Shape { kind: first, short: small(first, rng), target: at + 1 });
                let target = 2 * rng.below(cells);
                shapes.push(Shape { kind: second, short: small(second, rng), target });
                shapes.push(Shape { kind: Kind::IndirectJump, short: false, target: 0 });
            }
        }
        // Where addresses have 32 bits the top one is set, so that addresses look negative.
        let width = u32::from(parameters.iaddress_width_p);
        let base = if width >= 32 { 0x8000_0000 } else { 1 << (width - 1) };
        let mut code = Self {
            program: Program::new(),
            instructions: BTreeMap::new(),
            by_kind: BTreeMap::new(),
            pairs: BTreeMap::new(),
            ring: Vec::new(),
            islands: Vec::new(),
        };
        let addresses = code.place(base, &shapes);
        code.ring = addresses.iter().take(2 * cells).step_by(2).copied().collect();
        let at = |index: usize| addresses.get(index).copied().unwrap_or(base);
        code.pairs = pairs.into_iter().map(|(pair, index)| (pair, at(index))).collect();
        code.add_islands(base, parameters);
        code
    }

    /// A few instructions at each power of two from the base on, above and below.
    fn add_islands(&mut self, base: u64, parameters: &Parameters) {
        for power in 11..u32::from(parameters.iaddress_width_p) {
            for island in [base.wrapping_add(1 << power), base.wrapping_sub(1 << power)] {
                let island = (island & parameters.address_mask()).wrapping_add(u64::from(power) * 4);
                let kinds = [Kind::Plain, Kind::Branch, Kind::Plain, Kind::IndirectJump];
                let shapes: Vec<Shape> =
                    kinds.into_iter().map(|kind| Shape { kind, short: false, target: 3 }).collect();
                let free = self.program.bytes_at(island).is_none() && island.checked_add(16).is_some();
                if free && island + 16 <= parameters.address_mask() {
                    let before = self.instructions.len();
                    self.place(island, &shapes);
                    if self.instructions.len() > before {
                        self.islands.push(island);
                    }
                }
            }
        }
    }

    /// Puts the shapes there and gives their addresses; nothing where other code is.
    fn place(&mut self, base: u64, shapes: &[Shape]) -> Vec<u64> {
        let mut addresses = Vec::with_capacity(shapes.len());
        let mut address = base;
        for shape in shapes {
            addresses.push(address);
            address += if shape.short { 2 } else { 4 };
        }
        let mut bytes = Vec::new();
        let mut placed = Vec::new();
        for (shape, &address) in shapes.iter().zip(&addresses) {
            let target = addresses.get(shape.target).copied().unwrap_or(base);
            let offset = target.wrapping_sub(address);
            bytes.extend(machine_code(shape.kind, shape.short, offset));
            let size = if shape.short { 2 } else { 4 };
            placed.push((address, Instruction { kind: shape.kind, size, target }));
        }
        if self.program.insert(Section::new(base, bytes, "generated")).is_ok() {
            for (address, instruction) in placed {
                self.by_kind.entry(instruction.kind).or_default().push(address);
                self.instructions.insert(address, instruction);
            }
        }
        addresses
    }
}

/// The low bits of an offset, which is less than 4 KiB in either direction.
#[allow(clippy::cast_possible_truncation, reason = "the pieces of immediates are masked")]
fn machine_code(kind: Kind, short: bool, offset: u64) -> Vec<u8> {
    let o = offset as u32;
    let jal = |rd: u32| {
        (o >> 20 & 1) << 31
            | (o >> 1 & 0x3ff) << 21
            | (o >> 11 & 1) << 20
            | (o >> 12 & 0xff) << 12
            | rd << 7
            | 0x6f
    };
    let jalr = |rd: u32, rs1: u32| rs1 << 15 | rd << 7 | 0x67;
    if short {
        let word: u16 = match kind {
            Kind::IndirectJump => 0x8302,
            Kind::IndirectCall => 0x9302,
            Kind::Return => 0x8082,
            _ => 0x0001,
        };
        return word.to_le_bytes().to_vec();
    }
    let word = match kind {
        Kind::Plain => 0x0000_0013,
        // beq a0, a1
        Kind::Branch => {
            (o >> 12 & 1) << 31
                | (o >> 5 & 0x3f) << 25
                | 11 << 20
                | 10 << 15
                | (o >> 1 & 0xf) << 8
                | (o >> 11 & 1) << 7
                | 0x63
        }
        Kind::Jump => jal(0),
        Kind::Call => jal(1),
        Kind::OtherJump => jal(7),
        Kind::IndirectJump => jalr(0, 6),
        Kind::IndirectCall => jalr(1, 6),
        Kind::OtherIndirect => jalr(7, 6),
        Kind::Swap => jalr(1, 5),
        Kind::Return => jalr(0, 1),
        Kind::TrapReturn => 0x3020_0073,
    };
    word.to_le_bytes().to_vec()
}
