//! A program as the crate's instruction database.

use riscv_etrace::binary::Binary;
use riscv_etrace::binary::error::NoInstruction;
use riscv_etrace::instruction::{Instruction, Kind, base};
use traceproof_vectors::riscv_etrace::Xlen;
use traceproof_vectors::{MemorySpace, Program};

type Known = Instruction<Option<Kind>>;

/// Every instruction of a program, decoded once by the crate, found by index: its fastest legal use.
#[derive(Clone, Debug)]
pub struct Code {
    /// First address, and what starts at every half-word from there on.
    sections: Vec<(u64, Vec<Option<Known>>)>,
}

impl Code {
    /// Decodes a program.
    #[must_use]
    pub fn new(program: &Program, xlen: Xlen) -> Self {
        let base = match xlen {
            Xlen::Rv32 => base::Set::Rv32I,
            Xlen::Rv64 => base::Set::Rv64I,
        };
        let sections = program
            .seen_in(MemorySpace::ANY)
            .sections()
            .iter()
            .map(|section| {
                let extract = |offset| {
                    let bytes = section.bytes.get(offset..)?;
                    Known::extract(bytes, &base).map(|(instruction, _)| instruction)
                };
                (section.address.0, (0..section.bytes.len()).step_by(2).map(extract).collect())
            })
            .collect();
        Self { sections }
    }
}

impl Binary<Option<Kind>> for Code {
    type Error = NoInstruction;

    fn get_insn(&mut self, address: u64) -> Result<Known, NoInstruction> {
        let after = self.sections.partition_point(|(first, _)| *first <= address);
        let (first, instructions) =
            after.checked_sub(1).and_then(|index| self.sections.get(index)).ok_or(NoInstruction)?;
        let offset = address - first;
        if offset & 1 != 0 {
            return Err(NoInstruction);
        }
        let index = usize::try_from(offset >> 1).map_err(|_| NoInstruction)?;
        instructions.get(index).copied().flatten().ok_or(NoInstruction)
    }
}
