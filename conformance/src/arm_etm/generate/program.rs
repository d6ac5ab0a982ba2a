//! A random program: a section of A32 code, one of T32 code, and a quiet one to end in.

use traceproof_vectors::arm_etm::Isa;
use traceproof_vectors::{Address32, Program, Section};

use super::{Instruction, Kind};
use crate::generate::Entropy;

/// Code, in order of address.
#[derive(Clone, Debug)]
pub struct GeneratedProgram {
    /// The A32 section.
    pub arm: Vec<Instruction>,
    /// The T32 section.
    pub thumb: Vec<Instruction>,
    /// Where nothing but plain instructions are, in the state of exceptions.
    pub quiet: Vec<Instruction>,
    /// The low and the high table of vectors, A32: an instruction for each vector, in order.
    pub vectors: [Vec<Instruction>; 2],
    /// The state in which execution begins and exceptions are taken.
    pub home: Isa,
}

/// Where the tables of vectors are.
const TABLES: [u32; 2] = [0, 0xffff_0000];

/// Places in a table, that of offset 0x14 included.
const VECTORS: u32 = 8;

/// Where the sections are.
const ARM: u32 = 0x8000;
const THUMB: u32 = 0xa000;
const QUIET: u32 = 0xc000;

/// Instructions at the end of a run.
const QUIET_LENGTH: u32 = 8;

impl GeneratedProgram {
    /// A program with few or many instructions. `m_profile`: the A32 section is never entered.
    #[must_use]
    pub fn generate(entropy: &mut Entropy<'_>, m_profile: bool) -> Self {
        let home = if m_profile { Isa::Thumb } else { Isa::Arm };
        let arm = section(entropy, ARM, Isa::Arm);
        let mut thumb = section(entropy, THUMB, Isa::Thumb);
        if m_profile {
            // As long as the BLX that it replaces, so that nothing moves.
            let exchanges = thumb.iter_mut().filter(|item| item.kind == Kind::Exchange);
            exchanges.for_each(|item| item.kind = Kind::Branch { to: 0, conditional: false, link: true });
        }
        let plain = |address| Instruction { address, isa: home, kind: Kind::Plain };
        let quiet = (0..QUIET_LENGTH).map(|index| plain(QUIET + plain(QUIET).size() * index)).collect();
        Self { arm, thumb, quiet, vectors: TABLES.map(table), home }
    }

    /// The instruction at this place; `None` where no code is.
    #[must_use]
    pub fn at(&self, address: u32, isa: Isa) -> Option<Instruction> {
        let vectors = self.vectors.iter().flatten().filter(|_| isa == Isa::Arm);
        self.section(isa).iter().chain(vectors).find(|item| item.address == address).copied()
    }

    /// The section of a state.
    #[must_use]
    pub fn section(&self, isa: Isa) -> &[Instruction] {
        if isa == Isa::Arm { &self.arm } else { &self.thumb }
    }

    /// Where a direct branch goes: address and state.
    #[must_use]
    pub fn target(&self, instruction: &Instruction) -> (u32, Isa) {
        match (instruction.kind, instruction.isa) {
            (Kind::Branch { to, .. }, isa) => (self.section(isa)[to].address, isa),
            (Kind::Exchange, Isa::Arm) => (THUMB, Isa::Thumb),
            (Kind::Exchange, _) => (ARM, Isa::Arm),
            (_, isa) => (instruction.address, isa),
        }
    }

    /// The bytes, for a decoder.
    ///
    /// # Errors
    ///
    /// If sections overlap, which would be a fault of the generator.
    pub fn code(&self) -> Result<Program, String> {
        let mut program = Program::new();
        let Self { arm, thumb, quiet, vectors: [low, high], .. } = self;
        for (name, section) in
            [("arm", arm), ("thumb", thumb), ("quiet", quiet), ("low", low), ("high", high)]
        {
            let bytes = section.iter().flat_map(|item| item.assemble(self.target(item).0)).collect();
            let section = Section::new(Address32(section[0].address), bytes, name);
            program.insert(section).map_err(|error| error.to_string())?;
        }
        Ok(program)
    }
}

/// Handlers of no more than the instructions from their vector to the end of the table, which lead to anywhere.
fn table(base: u32) -> Vec<Instruction> {
    let item = |index| {
        let kind = match index {
            2 | 7 => Kind::Indirect,
            5 => Kind::Load,
            _ => Kind::Plain,
        };
        Instruction { address: base + 4 * index, isa: Isa::Arm, kind }
    };
    (0..VECTORS).map(item).collect()
}

fn section(entropy: &mut Entropy<'_>, base: u32, isa: Isa) -> Vec<Instruction> {
    let length = 4 + entropy.below(28);
    let mut address = base;
    let mut items = Vec::with_capacity(length + 1);
    for index in 0..=length {
        // Nothing runs over the end.
        let kind = if index == length { Kind::Indirect } else { kind(entropy, length) };
        let instruction = Instruction { address, isa, kind };
        address += instruction.size();
        items.push(instruction);
    }
    items
}

fn kind(entropy: &mut Entropy<'_>, length: usize) -> Kind {
    let to = entropy.below(length);
    match entropy.below(24) {
        0..=3 => Kind::Plain,
        4 => Kind::Conditional,
        5 | 6 => Kind::Branch { to, conditional: true, link: false },
        7 => Kind::Branch { to, conditional: false, link: false },
        8 => Kind::Branch { to, conditional: false, link: true },
        9 => Kind::Exchange,
        10 => Kind::Indirect,
        11 => Kind::LoadPc,
        12 => Kind::PopPc,
        13..=15 => Kind::Load,
        16 | 17 => Kind::Store,
        18 => Kind::LoadDouble,
        19 => Kind::StoreDouble,
        20 | 21 => Kind::LoadMultiple,
        22 => Kind::StoreMultiple,
        _ => entropy.pick(&[Kind::Swap, Kind::StoreExclusive]),
    }
}
