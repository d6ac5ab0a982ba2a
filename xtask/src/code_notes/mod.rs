//! `decode --disassemble` and `--source-lines`: what instructions are, and what source they were made of.

mod disassembler;
mod lines;

use clap::Args;
use traceproof_conformance::family::{Encoding, FamilyRules};
use traceproof_conformance::listing::CodeNotes;

use crate::exit::Failure;
use crate::files::Target;
use disassembler::Disassembler;
use lines::SourceLines;

/// What to write beside executed instructions.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Noting {
    /// List each executed instruction with its code and text, under its range. Stands for `--layer instructions`.
    #[arg(long)]
    disassemble: bool,
    /// Name file and line of the source of executed instructions, from the debug information of --elf. Stands for
    /// `--layer instructions`.
    #[arg(long)]
    source_lines: bool,
}

impl Noting {
    /// Whether anything is wanted.
    pub(crate) const fn is_given(self) -> bool {
        self.disassemble || self.source_lines
    }

    /// What is known of the code of a family with these parameters.
    pub(crate) fn notes<P: FamilyRules>(
        self,
        parameters: &P::Parameters,
        target: &Target,
    ) -> Result<Option<Notes>, Failure> {
        if !self.is_given() {
            return Ok(None);
        }
        let machine = P::INSTRUCTIONS.map(|instructions| (instructions.machine)(parameters));
        let wanted = machine.filter(|_| self.disassemble);
        let disassembler = wanted.map(Disassembler::new).transpose()?;
        let mut lines = SourceLines::default();
        if self.source_lines {
            for path in &target.elf {
                lines.add(path).map_err(|error| Failure::file(path, error))?;
            }
            if lines.is_empty() {
                let hint = "--source-lines: no debug information; name an ELF file that was compiled with -g by --elf";
                return Err(Failure::usage(hint));
            }
        }
        Ok(Some(Notes { disassembler, lines }))
    }
}

/// A disassembler, if it is wanted, and the lines of the source.
#[derive(Debug)]
pub(crate) struct Notes {
    disassembler: Option<Disassembler>,
    lines: SourceLines,
}

impl CodeNotes for Notes {
    fn text(&self, encoding: Encoding, address: u64, bytes: &[u8]) -> Option<String> {
        self.disassembler.as_ref()?.text(encoding, address, bytes)
    }

    fn line(&self, address: u64) -> Option<String> {
        self.lines.find(address)
    }

    fn lists_instructions(&self) -> bool {
        self.disassembler.is_some()
    }
}
