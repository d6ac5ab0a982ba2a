//! A program in which any instruction can follow any other.
//!
//! It has a ring of branches, each before an instruction of some kind, so that any number of outcomes can precede it;
//! every pair of an instruction that does not jump freely and another one; and islands at many distances, so that
//! differences of addresses have every length and sign.

use std::collections::BTreeMap;

use traceproof_vectors::riscv_etrace::{Parameters, TrapVectors};
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
    /// Where it goes if it is bound, or is the second one of an upper immediate and a jump.
    pub(super) target: u64,
    pub(super) form: Form,
}

/// What an instruction is besides its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Usual,
    /// `auipc`.
    Upper,
    /// A jump relative to the `auipc` before it.
    Sequential,
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
    /// `auipc` before a jump that is relative to it.
    pub(super) sequential: Vec<u64>,
}

/// Handlers of a table of vectors.
pub(super) fn handlers(parameters: &Parameters) -> usize {
    1 << parameters.ecause_width_p.min(4)
}

/// Pairs of `auipc` and a jump, and the place of each.
fn add_sequential(shapes: &mut Vec<Shape>, rng: &mut Rng, cells: usize) -> Vec<usize> {
    let kinds = [Kind::IndirectJump, Kind::IndirectCall, Kind::OtherIndirect];
    let pairs = kinds.into_iter().cycle().take(6).map(|kind| {
        let at = shapes.len();
        shapes.push(Shape { form: Form::Upper, ..Shape::new(Kind::Plain, 0) });
        shapes.push(Shape { form: Form::Sequential, ..Shape::new(kind, 2 * rng.below(cells)) });
        shapes.push(Shape::new(Kind::IndirectJump, 0));
        at
    });
    pairs.collect()
}

/// An instruction before addresses are known.
#[derive(Clone, Copy)]
struct Shape {
    kind: Kind,
    short: bool,
    target: usize,
    form: Form,
}

impl Shape {
    const fn new(kind: Kind, target: usize) -> Self {
        Self { kind, short: false, target, form: Form::Usual }
    }
}

impl Code {
    /// # Errors
    ///
    /// When there is no room for the handlers at `trap_vectors`.
    pub(super) fn generate(rng: &mut Rng, parameters: &Parameters) -> Result<Self, String> {
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
            shapes.push(Shape::new(Kind::Branch, 2 * other));
            let target = 2 * rng.below(cells);
            shapes.push(Shape {
                short: short && kind.can_be_short() && rng.chance(128),
                ..Shape::new(kind, target)
            });
        }
        // The last cell goes on into the exit.
        shapes.push(Shape::new(Kind::IndirectJump, 0));
        let mut pairs = Vec::new();
        for first in Kind::BOUND {
            for second in Kind::ALL {
                let at = shapes.len();
                pairs.push(((first, second), at));
                let small = |kind: Kind, rng: &mut Rng| short && kind.can_be_short() && rng.chance(128);
                shapes.push(Shape { short: small(first, rng), ..Shape::new(first, at + 1) });
                let target = 2 * rng.below(cells);
                shapes.push(Shape { short: small(second, rng), ..Shape::new(second, target) });
                shapes.push(Shape::new(Kind::IndirectJump, 0));
            }
        }
        let sequential =
            if parameters.sijump_p { add_sequential(&mut shapes, rng, cells) } else { Vec::new() };
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
            sequential: Vec::new(),
        };
        if let Some(vectors) = parameters.trap_vectors {
            code.add_handlers(rng, parameters, vectors)?;
        }
        let addresses = code.place(base, &shapes);
        code.ring = addresses.iter().take(2 * cells).step_by(2).copied().collect();
        let at = |index: usize| addresses.get(index).copied().unwrap_or(base);
        code.pairs = pairs.into_iter().map(|(pair, index)| (pair, at(index))).collect();
        code.sequential = sequential.into_iter().map(at).collect();
        code.add_islands(base, parameters);
        if code.ring.iter().any(|place| !code.instructions.contains_key(place)) {
            return Err(format!("the handlers at `trap_vectors` are where code is needed, at {base:#x}"));
        }
        Ok(code)
    }

    /// An instruction of any kind at each vector.
    fn add_handlers(
        &mut self,
        rng: &mut Rng,
        parameters: &Parameters,
        vectors: TrapVectors,
    ) -> Result<(), String> {
        let count = if vectors.vectored { handlers(parameters) } else { 1 };
        let mut shapes: Vec<Shape> = (0..count)
            .map(|at| {
                let kind = rng.pick(&Kind::ALL).unwrap_or(Kind::Plain);
                Shape::new(kind, at + 1)
            })
            .collect();
        shapes.push(Shape::new(Kind::IndirectJump, 0));
        self.place(vectors.base.0, &shapes);
        let end = vectors.base.0.checked_add(4 * shapes.len() as u64);
        if self.instructions.is_empty() || end.is_none_or(|end| end > parameters.address_mask()) {
            return Err(String::from("the handlers at `trap_vectors` do not fit the address space"));
        }
        Ok(())
    }

    /// A few instructions at each power of two from the base on, above and below.
    fn add_islands(&mut self, base: u64, parameters: &Parameters) {
        for power in 11..u32::from(parameters.iaddress_width_p) {
            for island in [base.wrapping_add(1 << power), base.wrapping_sub(1 << power)] {
                let island = (island & parameters.address_mask()).wrapping_add(u64::from(power) * 4);
                let kinds = [Kind::Plain, Kind::Branch, Kind::Plain, Kind::IndirectJump];
                let shapes: Vec<Shape> = kinds.into_iter().map(|kind| Shape::new(kind, 3)).collect();
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
            bytes.extend(match shape.form {
                Form::Usual => machine_code(shape.kind, shape.short, offset),
                Form::Upper => 0x0000_0317_u32.to_le_bytes().to_vec(),
                Form::Sequential => relative_jump(shape.kind, offset.wrapping_add(4)),
            });
            let size = if shape.short { 2 } else { 4 };
            placed.push((address, Instruction { kind: shape.kind, size, target, form: shape.form }));
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

/// `jalr` with this offset from what `auipc x6` gave.
#[allow(clippy::cast_possible_truncation, reason = "the offset is less than 2 KiB in either direction")]
fn relative_jump(kind: Kind, offset: u64) -> Vec<u8> {
    let rd = match kind {
        Kind::IndirectCall => 1,
        Kind::OtherIndirect => 7,
        _ => 0,
    };
    ((offset as u32) << 20 | 6 << 15 | rd << 7 | 0x67).to_le_bytes().to_vec()
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
