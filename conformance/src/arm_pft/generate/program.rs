//! A random program: sections of A32, T32 and T32EE code, near and far from each other, and vectors.

use std::collections::BTreeMap;

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::Parameters;
use traceproof_vectors::{Address32, Program, Section};

use super::encoding::{self, Form};
use super::happenings::Happenings;
use super::{Instruction, Kind};
use crate::generate::Entropy;

mod draft;

use draft::{Draft, Drafter};

/// An instruction of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the section.
    pub section: usize,
    /// Index in the section.
    pub index: usize,
}

/// Code.
#[derive(Clone, Debug)]
pub struct GeneratedProgram {
    /// Instructions in order of address, section by section.
    pub sections: Vec<Vec<Instruction>>,
    /// The section with vectors, where exceptions are taken to.
    pub vectors: usize,
    places: BTreeMap<u32, Place>,
    /// Sections are cut into two at these offsets, as images of several files are.
    cuts: Vec<usize>,
}

/// Plain instructions of a block of more than 4096 bytes (4.5.5).
const LONG: usize = 1030;

impl GeneratedProgram {
    /// A program with few or many instructions. M profile: T32 only.
    #[must_use]
    pub(super) fn generate(
        entropy: &mut Entropy<'_>,
        parameters: &Parameters,
        happenings: &Happenings,
    ) -> Self {
        let base = entropy.pick(&[0x8000_u32, 0x1_0000, 0x1000_0000, 0x7fff_0000, 0xffe0_0000]);
        let thumb = base + entropy.pick(&[0x1000, 0x1002, 0x2_0006, 0x10_0000]);
        let far = entropy.pick(&[0x4000_0000_u32, 0x2_0000, 0xc000_0000]).wrapping_add(base) & 0xffff_f000;
        let far = if far.abs_diff(base) < 0x20_0000 { 0x5000_0000 } else { far };
        let vectors = entropy.pick(&[0_u32, 0xffff_0000, 0x20_0000]);
        let a32 = if parameters.m_profile { InstructionSet::T32 } else { InstructionSet::A32 };
        let vector_set = entropy.pick(&[a32, InstructionSet::T32]);
        let mut plan = vec![
            (base, vec![(a32, size(entropy))]),
            (thumb, vec![(InstructionSet::T32, size(entropy))]),
            (vectors, vec![(vector_set, 8)]),
            (far, vec![(entropy.pick(&[InstructionSet::T32, a32]), size(entropy))]),
        ];
        if happenings.thumb_ee {
            let (set, ee) = (InstructionSet::T32, InstructionSet::T32Ee);
            plan.push((thumb + 0x800, vec![(set, 3), (ee, size(entropy)), (set, 4)]));
        }
        let mut drafter = Drafter::new(entropy, parameters, happenings);
        let mut drafts: Vec<(u32, Vec<Draft>)> =
            plan.into_iter().map(|(base, regions)| (base, drafter.section(&regions))).collect();
        if happenings.long_block {
            drafts.push((far + 0x10_0000, drafter.long_block(a32, LONG)));
        }
        let cuts = drafts.iter().map(|_| 2 * entropy.below(40)).collect();
        Self::assemble(&drafts, cuts, entropy)
    }

    /// A32 and T32 code with all of ARMv7's Virtualization Extensions, and without Jazelle state or T32EE code.
    #[must_use]
    pub(crate) fn aarch32(entropy: &mut Entropy<'_>) -> Self {
        let parameters = Parameters { virtualization: true, ..Parameters::default() };
        let quiet = Happenings::generate(&mut Entropy::new(&[]), &parameters);
        Self::generate(entropy, &parameters, &quiet)
    }

    /// Addresses follow from sizes; targets are chosen then, where the encoding reaches them.
    fn assemble(drafts: &[(u32, Vec<Draft>)], cuts: Vec<usize>, entropy: &mut Entropy<'_>) -> Self {
        let mut sections: Vec<Vec<Instruction>> =
            drafts.iter().map(|(base, drafts)| lay(*base, drafts)).collect();
        for section in 0..sections.len() {
            for index in 0..sections[section].len() {
                let form = drafts[section].1[index].form;
                let (kind, opcode) = encode(&sections, Place { section, index }, form, entropy);
                sections[section][index].kind = kind;
                sections[section][index].opcode = opcode;
            }
        }
        let places = sections
            .iter()
            .enumerate()
            .flat_map(|(section, items)| {
                let place =
                    move |(index, item): (usize, &Instruction)| (item.address.0, Place { section, index });
                items.iter().enumerate().map(place)
            })
            .collect();
        Self { sections, vectors: 2, places, cuts }
    }

    /// The instruction of a place.
    #[must_use]
    pub fn at(&self, place: Place) -> &Instruction {
        &self.sections[place.section][place.index]
    }

    /// The instruction of an instruction set that lies at an address.
    #[must_use]
    pub fn find(&self, address: Address32, isa: InstructionSet) -> Option<&Instruction> {
        self.place(address).map(|place| self.at(place)).filter(|item| item.isa == isa)
    }

    /// What lies at an address.
    #[must_use]
    pub fn place(&self, address: Address32) -> Option<Place> {
        self.places.get(&address.0).copied()
    }

    /// Where a branch leads whose opcode says it, and what follows ENTERX, LEAVEX and all other instructions.
    #[must_use]
    pub fn destination(&self, item: &Instruction) -> (Address32, InstructionSet) {
        match (item.kind, self.place(item.address)) {
            (Kind::Branch { to, .. }, Some(place)) => {
                let to = &self.sections[place.section][to];
                (to.address, to.isa)
            }
            (Kind::Exchange { to }, _) => (self.at(to).address, self.at(to).isa),
            (Kind::Switch(isa), _) => (item.end(), isa),
            _ => (item.end(), item.isa),
        }
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
            let middle = Address32(first.address.0.wrapping_add(bytes.len() as u32));
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

fn size(entropy: &mut Entropy<'_>) -> usize {
    4 + entropy.below(28)
}

/// The instructions at their places, still without targets.
fn lay(base: u32, drafts: &[Draft]) -> Vec<Instruction> {
    let mut address = base;
    let mut items = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let &Draft { isa, form, kind, conditional, in_it } = draft;
        let size = form.size();
        items.push(Instruction {
            address: Address32(address),
            isa,
            size,
            opcode: 0,
            kind,
            conditional,
            in_it,
        });
        address += u32::from(size);
    }
    items
}

/// The opcode, and the kind with a target that the encoding reaches.
fn encode(sections: &[Vec<Instruction>], at: Place, form: Form, entropy: &mut Entropy<'_>) -> (Kind, u32) {
    let items = &sections[at.section];
    let item = items[at.index];
    let opcode = |to: &Instruction| form.encode(item.address.0, to.address.0);
    match item.kind {
        Kind::Branch { to, link } => {
            let fits = |&to: &usize| {
                items.get(to).is_some_and(|to| to.isa == item.isa && !to.in_it && opcode(to).is_some())
            };
            let nearby = (at.index + 2..items.len()).chain((0..=at.index).rev());
            let found = Some(to % items.len()).filter(fits).or_else(|| nearby.clone().find(fits));
            let encoded = found.and_then(|to| Some((Kind::Branch { to, link }, opcode(&items[to])?)));
            encoded.unwrap_or_else(|| plain(item.size, item.isa))
        }
        Kind::Exchange { .. } => {
            let section = if item.isa == InstructionSet::A32 { 1 } else { 0 };
            let start = entropy.below(sections[section].len());
            let mut order = (start..sections[section].len()).chain(0..start);
            let to = order.find(|&index| {
                let to = &sections[section][index];
                to.isa != item.isa && !to.in_it && opcode(to).is_some()
            });
            let encoded = to.and_then(|index| {
                Some((Kind::Exchange { to: Place { section, index } }, opcode(&sections[section][index])?))
            });
            encoded.unwrap_or_else(|| plain(item.size, item.isa))
        }
        kind => (kind, opcode(&item).unwrap_or_default()),
    }
}

/// Instead of a branch that reaches nothing.
fn plain(size: u8, isa: InstructionSet) -> (Kind, u32) {
    let opcode = match (isa, size) {
        (InstructionSet::A32, _) => encoding::A32_PLAIN[0],
        (_, 2) => encoding::T32_PLAIN[0],
        _ => encoding::T32_PLAIN[6],
    };
    (Kind::Plain, opcode)
}
