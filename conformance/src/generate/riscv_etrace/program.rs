//! Random programs.

use traceproof_vectors::{Program, ProgramError, Section};

use super::{Instruction, Kind};
use crate::generate::Entropy;

/// A straight list of instructions, the last few of which serve as trap handlers.
#[derive(Clone, Debug)]
pub struct GeneratedProgram {
    /// Address of the first instruction.
    pub base: u64,
    /// The instructions with their addresses, in address order and without gaps.
    pub instructions: Vec<(u64, Instruction)>,
}

/// Most instructions of a program; keeps every target in reach of the shortest branch (`c.beqz`, 256 bytes).
const MOST: usize = 48;

impl GeneratedProgram {
    /// Makes a program of up to 48 instructions at `base`.
    pub(super) fn generate(entropy: &mut Entropy<'_>, base: u64, compressed: bool) -> Self {
        let length = 4 + entropy.below(MOST - 3);
        let mut shapes: Vec<(usize, bool, usize)> = (0..length)
            .map(|_| (entropy.below(64), compressed && entropy.chance(96), entropy.below(length)))
            .collect();
        // Every call must have an instruction behind it to return to.
        if let Some((weight, ..)) = shapes.last_mut() {
            *weight = 0;
        }
        let mut addresses = Vec::with_capacity(length);
        let mut address = base;
        for &(weight, short, _) in &shapes {
            addresses.push(address);
            let kind = kind(weight, 0);
            address += if short && Instruction::can_compress(kind) { 2 } else { 4 };
        }
        let instructions = shapes
            .iter()
            .zip(&addresses)
            .map(|(&(weight, short, target), &address)| {
                let target = addresses.get(target).copied().unwrap_or(base);
                // Offsets count from the instruction itself, those of indirect jumps from the 4-byte one before it.
                let indirect = matches!(kind(weight, 0), Kind::IndirectJump(_) | Kind::IndirectCall(_));
                let from = if indirect { address.wrapping_sub(4) } else { address };
                #[allow(clippy::cast_possible_truncation, reason = "programs are shorter than 256 bytes")]
                let kind = kind(weight, target.wrapping_sub(from).cast_signed() as i32);
                (address, Instruction { kind, compressed: short && Instruction::can_compress(kind) })
            })
            .collect();
        Self { base, instructions }
    }

    /// The code as the contract wants it.
    ///
    /// # Errors
    ///
    /// When the code does not fit into the address space.
    pub fn code(&self) -> Result<Program, ProgramError> {
        let bytes = self.instructions.iter().flat_map(|(_, instruction)| instruction.bytes()).collect();
        let mut program = Program::new();
        program.insert(Section { address: self.base, bytes, name: String::from("generated") })?;
        Ok(program)
    }

    /// The instruction at an address.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<Instruction> {
        let index = self.instructions.binary_search_by_key(&address, |&(address, _)| address).ok()?;
        self.instructions.get(index).map(|&(_, instruction)| instruction)
    }
}

/// Chooses a kind. Small weights are plain instructions, so that shrinking leaves straight code.
const fn kind(weight: usize, offset: i32) -> Kind {
    match weight {
        0..=21 => Kind::Plain,
        22..=23 => Kind::UpperImmediate,
        24..=38 => Kind::Branch(offset),
        39..=43 => Kind::Jump(offset),
        44..=47 => Kind::Call(offset),
        48..=52 => Kind::IndirectJump(offset),
        53..=54 => Kind::IndirectCall(offset),
        55..=58 => Kind::Return,
        59 => Kind::CoroutineSwap,
        60..=61 => Kind::TrapReturn,
        _ => Kind::EnvironmentCall,
    }
}
