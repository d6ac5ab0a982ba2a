//! A random program: sections of A64 code, at addresses near the limits of their forms, and of A32 and T32 code.

use std::collections::BTreeMap;

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::Parameters;
use traceproof_vectors::{Address, Program, Section};

use super::{Instruction, Kind};
use crate::arm_pft::generate as pft;
use crate::arm_pft::generate::Place;
use crate::generate::Entropy;

mod a64;

use a64::Form;

/// Code.
#[derive(Clone, Debug)]
pub struct GeneratedProgram {
    /// Instructions in order of address, section by section.
    pub sections: Vec<Vec<Instruction>>,
    /// The section that exceptions are taken to.
    pub handlers: usize,
    places: BTreeMap<u64, Place>,
    /// Sections are cut into two at these offsets, as images of several files are.
    cuts: Vec<usize>,
}

/// Where A64 sections begin, or end: near the borders of 32, 48, 52 and 64 bits, and in both halves.
const BASES: [u64; 8] = [
    0x2_0000_1000,
    0x0000_ffff_ffff_f000,
    0xffff_0000_0808_0400,
    0x000f_ffff_ffff_e000,
    0x1_ffff_ffc0,
    0xffff_8000_1234_0000,
    0x0055_aa00_0001_ff80,
    0x00ff_0000_0000_0000,
];

impl GeneratedProgram {
    /// A program with few or many instructions.
    #[must_use]
    pub(super) fn generate(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Self {
        let only_aarch32 = parameters.address_bytes == 4;
        let both = entropy.chance(64);
        let mut sections = Vec::new();
        if !only_aarch32 {
            sections = aarch64(entropy, parameters);
        }
        let handlers = if only_aarch32 { 2 } else { 1 };
        if only_aarch32 || both {
            sections.extend(aarch32(&pft::GeneratedProgram::aarch32(entropy)));
        }
        let cuts = sections.iter().map(|_| 2 * entropy.below(40)).collect();
        Self::of(sections, handlers, cuts)
    }

    /// Sections of instructions; that of the handlers; where sections are cut.
    pub(super) fn of(sections: Vec<Vec<Instruction>>, handlers: usize, cuts: Vec<usize>) -> Self {
        let places = sections.iter().enumerate().flat_map(|(section, items)| {
            let place =
                move |(index, item): (usize, &Instruction)| (item.address.0, Place { section, index });
            items.iter().enumerate().map(place)
        });
        let places = places.collect();
        Self { sections, handlers, places, cuts }
    }

    /// The instruction of a place.
    #[must_use]
    pub fn at(&self, place: Place) -> &Instruction {
        &self.sections[place.section][place.index]
    }

    /// What lies at an address.
    #[must_use]
    pub fn place(&self, address: Address) -> Option<Place> {
        self.places.get(&address.0).copied()
    }

    /// The bytes, for a decoder.
    ///
    /// # Errors
    ///
    /// If sections overlap, which would be a fault of the generator.
    pub fn code(&self) -> Result<Program, String> {
        let mut program = Program::new();
        for (index, (items, cut)) in self.sections.iter().zip(&self.cuts).enumerate() {
            let Some(first) = items.first() else { continue };
            let mut bytes: Vec<u8> = items.iter().flat_map(Instruction::bytes).collect();
            let rest = bytes.split_off((*cut).min(bytes.len()));
            let middle = first.address.wrapping_add(bytes.len() as u64);
            for (part, (address, bytes)) in [(first.address, bytes), (middle, rest)].into_iter().enumerate() {
                if !bytes.is_empty() {
                    let section = Section::new(address, bytes, format!("code{index}.{part}"));
                    program.insert(section).map_err(|error| error.to_string())?;
                }
            }
        }
        Ok(program)
    }
}

/// A section of the program, that of the handlers, and others.
fn aarch64(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Vec<Vec<Instruction>> {
    let first = entropy.below(BASES.len());
    let step = entropy.pick(&[1, 3, 5, 7]);
    let count = 3 + entropy.below(2);
    let mut sections = Vec::new();
    for index in 0..count {
        let length = 4 + entropy.below(32);
        let base = match index {
            // Up to the last address of all.
            2 if entropy.chance(64) => 0_u64.wrapping_sub(4 * length as u64),
            _ => BASES[(first + step * index) % BASES.len()],
        };
        sections.push(section(entropy, parameters, base, length));
    }
    sections
}

fn section(entropy: &mut Entropy<'_>, parameters: &Parameters, base: u64, length: usize) -> Vec<Instruction> {
    let place = |index: usize| Address(base.wrapping_add(4 * index as u64));
    let instruction = |index: usize, form: Form, entropy: &mut Entropy<'_>| {
        let (opcode, kind, conditional) = match form {
            Form::Fixed(opcode, kind) => (opcode, kind, false),
            Form::Branch(branch) => {
                let wanted = entropy.below(length);
                let found = (wanted..length).chain(0..wanted).find_map(|to| {
                    let to = place(to);
                    Some((branch.encode(place(index), to)?, a64::direct(to, branch.link), branch.conditional))
                });
                found.unwrap_or((a64::PLAIN[0], Kind::Plain, false))
            }
        };
        let (address, isa) = (place(index), InstructionSet::A64);
        Instruction { address, isa, size: 4, opcode, kind, conditional, in_it: false }
    };
    let mut items = Vec::with_capacity(length);
    // Where the transactions that are open here are committed, the outer one first.
    let mut ends: Vec<usize> = Vec::new();
    for index in 0..length - 1 {
        let form = match ends.last() {
            Some(end) if *end == index => {
                ends.pop();
                a64::COMMIT
            }
            Some(_) if entropy.chance(224) => a64::within_transaction(entropy),
            _ => a64::some(entropy, parameters),
        };
        if matches!(form, Form::Fixed(_, Kind::TransactionStart)) {
            let end = index + 1 + entropy.below(8);
            ends.extend(Some(end).filter(|end| *end < *ends.last().unwrap_or(&(length - 1))));
        }
        items.push(instruction(index, form, entropy));
    }
    let form = a64::last(entropy);
    items.push(instruction(length - 1, form, entropy));
    items
}

/// The sections of an A32 and T32 program.
fn aarch32(program: &pft::GeneratedProgram) -> Vec<Vec<Instruction>> {
    let instruction = |item: &pft::Instruction| {
        let (to, isa) = program.destination(item);
        let direct = |link| Kind::Direct { to: Address(to.0.into()), isa, link };
        let kind = match item.kind {
            pft::Kind::Branch { link, .. } => direct(link),
            pft::Kind::Exchange { .. } => direct(true),
            pft::Kind::Indirect { link, reach } => Kind::Indirect { link, reach },
            pft::Kind::ExceptionReturn => Kind::ExceptionReturn,
            pft::Kind::Isb => Kind::Isb,
            pft::Kind::Wait => Kind::Wait,
            // An undefined instruction.
            pft::Kind::Call(9) => Kind::Trap(3),
            pft::Kind::Call(_) => Kind::Call,
            pft::Kind::Breakpoint => Kind::Trap(0xb),
            pft::Kind::Plain | pft::Kind::Barrier | pft::Kind::Switch(_) => Kind::Plain,
        };
        let address = Address(item.address.0.into());
        let pft::Instruction { isa, size, opcode, conditional, in_it, .. } = *item;
        Instruction { address, isa, size, opcode, kind, conditional, in_it }
    };
    program.sections.iter().map(|items| items.iter().map(instruction).collect()).collect()
}
