//! A program's instructions, decoded once.

use alloc::vec::Vec;

use traceproof_vectors::{MemorySpace, Program};

use super::instruction::{Instruction, Isa};

/// Every half-word of a program, read as the start of an instruction.
#[derive(Clone, Debug)]
pub(super) struct CodeMap {
    sections: Vec<Section>,
    /// The section of the latest hit; executions stay in one for long.
    latest: usize,
}

#[derive(Clone, Debug)]
struct Section {
    address: u64,
    instructions: Vec<Option<Instruction>>,
}

impl CodeMap {
    pub(super) fn new(program: &Program, isa: Isa) -> Self {
        let program = &*program.seen_in(MemorySpace::ANY);
        let sections = program
            .sections()
            .iter()
            .map(|section| {
                // Instructions are 2-byte aligned, sections need not be.
                let odd = (section.address.0 & 1) as usize;
                let bytes = section.bytes.get(odd..).unwrap_or(&[]);
                let starts = (0..bytes.len()).step_by(2);
                Section {
                    address: section.address.wrapping_add(odd as u64).0,
                    instructions: starts
                        .map(|at| read(program, section.address.0, odd + at, bytes, at, isa))
                        .collect(),
                }
            })
            .collect();
        Self { sections, latest: 0 }
    }

    /// The instruction at `address`.
    #[inline]
    pub(super) fn at(&mut self, address: u64) -> Option<Instruction> {
        if let Some(section) = self.sections.get(self.latest)
            && let Some(found) = section.at(address)
        {
            return found;
        }
        let index = self.sections.partition_point(|section| section.address <= address).checked_sub(1)?;
        let found = self.sections.get(index)?.at(address)?;
        self.latest = index;
        found
    }
}

impl Section {
    /// `None` outside of the section, `Some(None)` where no instruction can be read.
    #[inline]
    fn at(&self, address: u64) -> Option<Option<Instruction>> {
        let offset = address.wrapping_sub(self.address);
        if offset & 1 != 0 {
            return None;
        }
        self.instructions.get(usize::try_from(offset / 2).ok()?).copied()
    }
}

/// Reads an instruction that may reach over the end of its section into the next one.
fn read(
    program: &Program,
    section: u64,
    offset: usize,
    bytes: &[u8],
    at: usize,
    isa: Isa,
) -> Option<Instruction> {
    let here = bytes.get(at..)?;
    if here.len() >= 4 {
        return Instruction::read(here, isa);
    }
    let mut joined = [0; 4];
    let mut length = 0;
    let start = section.wrapping_add(offset as u64);
    for (index, byte) in joined.iter_mut().enumerate() {
        let Some(&value) = program.bytes_at(start.wrapping_add(index as u64)).and_then(<[u8]>::first) else {
            break;
        };
        *byte = value;
        length += 1;
    }
    Instruction::read(joined.get(..length)?, isa)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn instructions_may_reach_over_section_ends() {
        let mut program = Program::new();
        for (address, bytes) in [(0x1000, vec![0x01, 0x00, 0x13, 0x00]), (0x1004, vec![0x00, 0x00])] {
            program
                .insert(traceproof_vectors::Section::new(address, bytes, ""))
                .expect("they do not overlap");
        }
        let mut map = CodeMap::new(&program, Isa::default());
        assert_eq!(map.at(0x1000).map(|found| found.halfwords), Some(1));
        assert_eq!(map.at(0x1002).map(|found| found.halfwords), Some(2));
        assert_eq!(map.at(0x1001), None);
        assert_eq!(map.at(0x1006), None);
        assert_eq!(map.at(0xffe), None);
    }
}
