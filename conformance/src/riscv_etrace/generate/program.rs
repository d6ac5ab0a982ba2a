//! Random programs.

use traceproof_vectors::{Program, ProgramError, Section};

use super::{Instruction, Kind};
use crate::generate::Entropy;

/// A straight list of instructions, any of which may serve as trap handler.
#[derive(Clone, Debug)]
pub struct GeneratedProgram {
    /// Address of the first instruction.
    pub base: u64,
    /// The instructions with their addresses, in address order and without gaps.
    pub instructions: Vec<(u64, Instruction)>,
}

/// Most instructions of a program; keeps every target in reach of the shortest branch (`c.beqz`, 256 bytes).
const MOST: usize = 48;

/// What a program is rich in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// A bit of everything.
    Mixed,
    /// Consecutive branches, for branch maps and predictions.
    Branches,
    /// Nested calls, for implicit returns.
    Calls,
    /// Uninferable jumps, for the jump target cache, many of them sequentially inferable.
    Jumps,
}

impl Flavour {
    /// How many of 64 instructions are of each kind, in the order of [`KINDS`].
    const fn shares(self) -> [u8; KINDS.len()] {
        match self {
            Self::Mixed => [22, 2, 15, 5, 4, 5, 2, 4, 1, 2, 2],
            Self::Branches => [26, 1, 31, 1, 1, 1, 0, 1, 0, 1, 1],
            Self::Calls => [18, 1, 8, 1, 16, 1, 3, 13, 1, 1, 1],
            Self::Jumps => [22, 10, 8, 3, 2, 10, 5, 2, 1, 1, 0],
        }
    }
}

/// The kinds, with targets still open. Plain ones come first, so that small numbers mean straight code.
const KINDS: [Kind; 11] = [
    Kind::Plain,
    Kind::UpperImmediate,
    Kind::Branch(0),
    Kind::Jump(0),
    Kind::Call(0),
    Kind::IndirectJump(0),
    Kind::IndirectCall(0),
    Kind::Return,
    Kind::CoroutineSwap,
    Kind::TrapReturn,
    Kind::EnvironmentCall,
];

/// An instruction before addresses are known: its target is an index.
#[derive(Clone, Copy)]
struct Shape {
    instruction: Instruction,
    target: usize,
}

impl GeneratedProgram {
    /// Makes a program of up to 48 instructions at `base`.
    pub(super) fn generate(entropy: &mut Entropy<'_>, base: u64, compressed: bool, flavour: Flavour) -> Self {
        let length = 4 + entropy.below(MOST - 3);
        let mut shapes = Vec::with_capacity(length);
        let mut before = Kind::Plain;
        for index in 0..length {
            let kind = if index + 1 == length {
                // Nothing falls off the end.
                Kind::IndirectJump(0)
            } else if before == Kind::UpperImmediate && entropy.chance(192) {
                entropy.pick(&[Kind::IndirectJump(0), Kind::IndirectCall(0)])
            } else {
                kind(flavour, entropy.below(64))
            };
            let short = compressed && entropy.chance(96) && Instruction::can_compress(kind);
            let target = target(entropy, kind, index, length);
            shapes.push(Shape { instruction: Instruction { kind, compressed: short }, target });
            before = kind;
        }
        Self { base, instructions: place(&shapes, base) }
    }

    /// The code as the contract wants it.
    ///
    /// # Errors
    ///
    /// When the code does not fit into the address space.
    pub fn code(&self) -> Result<Program, ProgramError> {
        let bytes = self.instructions.iter().flat_map(|(_, instruction)| instruction.bytes()).collect();
        let mut program = Program::new();
        program.insert(Section::new(self.base, bytes, String::from("generated")))?;
        Ok(program)
    }

    /// The instruction at an address.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<Instruction> {
        let index = self.instructions.binary_search_by_key(&address, |&(address, _)| address).ok()?;
        self.instructions.get(index).map(|&(_, instruction)| instruction)
    }
}

/// The kind that the `weight`-th of 64 instructions has.
fn kind(flavour: Flavour, weight: usize) -> Kind {
    let mut left = weight;
    for (kind, share) in KINDS.into_iter().zip(flavour.shares()) {
        match left.checked_sub(usize::from(share)) {
            Some(rest) => left = rest,
            None => return kind,
        }
    }
    Kind::Plain
}

/// The index of the instruction that the one at `index` leads to. Most inferable jumps go forward: a loop of them would
/// end the execution, because its iterations cannot be counted.
fn target(entropy: &mut Entropy<'_>, kind: Kind, index: usize, length: usize) -> usize {
    let anywhere = entropy.below(length);
    let ahead = length - 1 - index;
    if matches!(kind, Kind::Jump(_)) && anywhere <= index && ahead > 0 && !entropy.chance(64) {
        index + 1 + anywhere % ahead
    } else {
        anywhere
    }
}

/// Gives every instruction its address, and the jumps their offsets.
fn place(shapes: &[Shape], base: u64) -> Vec<(u64, Instruction)> {
    let addresses: Vec<u64> = shapes
        .iter()
        .scan(base, |next, shape| {
            let address = *next;
            *next += shape.instruction.size();
            Some(address)
        })
        .collect();
    let offset = |from: u64, target: usize| {
        let to = addresses.get(target).copied().unwrap_or(base);
        #[allow(clippy::cast_possible_truncation, reason = "programs are shorter than 256 bytes")]
        let offset = to.wrapping_sub(from).cast_signed() as i32;
        offset
    };
    let instruction = |address: u64, shape: &Shape| {
        // Offsets count from the instruction itself, those of indirect jumps from the 4-byte one before it.
        let before = address.wrapping_sub(4);
        let kind = match shape.instruction.kind {
            Kind::Branch(_) => Kind::Branch(offset(address, shape.target)),
            Kind::Jump(_) => Kind::Jump(offset(address, shape.target)),
            Kind::Call(_) => Kind::Call(offset(address, shape.target)),
            Kind::IndirectJump(_) => Kind::IndirectJump(offset(before, shape.target)),
            Kind::IndirectCall(_) => Kind::IndirectCall(offset(before, shape.target)),
            kind => kind,
        };
        Instruction { kind, ..shape.instruction }
    };
    shapes.iter().zip(&addresses).map(|(shape, &address)| (address, instruction(address, shape))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavours_share_out_64_instructions() {
        for flavour in [Flavour::Mixed, Flavour::Branches, Flavour::Calls, Flavour::Jumps] {
            let shares = flavour.shares();
            assert_eq!(shares.iter().copied().map(u32::from).sum::<u32>(), 64, "{flavour:?}");
            assert_eq!(kind(flavour, 0), Kind::Plain);
        }
        assert_eq!(kind(Flavour::Mixed, 22), Kind::UpperImmediate);
        assert_eq!(kind(Flavour::Mixed, 63), Kind::EnvironmentCall);
    }

    /// Without entropy: straight code, and at its end a jump.
    #[test]
    fn the_simplest_program() {
        let program = GeneratedProgram::generate(&mut Entropy::new(&[]), 0x1000, true, Flavour::Mixed);
        let kinds: Vec<Kind> =
            program.instructions.iter().map(|&(_, instruction)| instruction.kind).collect();
        assert_eq!(kinds, [Kind::Plain, Kind::Plain, Kind::Plain, Kind::IndirectJump(-8)]);
    }
}
