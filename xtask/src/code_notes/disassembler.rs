//! Instructions as text: RISC-V by the crate `disc-v`, the instruction sets of ARM by Capstone.

use std::fmt;

#[cfg(feature = "disassembly-arm")]
use capstone::prelude::*;
use traceproof_conformance::elf::{Architecture, Machine};
use traceproof_conformance::family::Encoding;

use crate::exit::Failure;

/// A disassembler of the instruction sets of a machine.
pub(super) enum Disassembler {
    Riscv(disc_v::Isa),
    #[cfg(feature = "disassembly-arm")]
    Arm(Box<Arm>),
}

#[cfg(feature = "disassembly-arm")]
pub(super) struct Arm {
    a32: Capstone,
    t32: Capstone,
    a64: Capstone,
}

impl fmt::Debug for Disassembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disassembler").finish_non_exhaustive()
    }
}

impl Disassembler {
    /// For a machine, if this program was built with its disassembler.
    pub(super) fn new(machine: Machine) -> Result<Self, Failure> {
        match machine.architecture {
            Architecture::Riscv => {
                Ok(Self::Riscv(if machine.bits == 32 { disc_v::Isa::Rv32 } else { disc_v::Isa::Rv64 }))
            }
            #[cfg(feature = "disassembly-arm")]
            Architecture::Arm | Architecture::Aarch64 => Arm::new()
                .map(|arm| Self::Arm(Box::new(arm)))
                .map_err(|error| Failure::usage(format!("--disassemble: {error}"))),
            architecture => Err(Failure::usage(format!(
                "--disassemble: this program was built without a disassembler of {architecture}; in a checkout: \
                 cargo install --path xtask --features disassembly-arm"
            ))),
        }
    }

    /// The instruction that these bytes are.
    pub(super) fn text(&self, encoding: Encoding, address: u64, bytes: &[u8]) -> Option<String> {
        match (self, encoding) {
            (Self::Riscv(isa), Encoding::Riscv) => {
                disc_v::decode_bytes(*isa, address, bytes).map(|instruction| instruction.to_string())
            }
            #[cfg(feature = "disassembly-arm")]
            (Self::Arm(arm), Encoding::Arm(set)) => arm.text(set, address, bytes),
            _ => None,
        }
    }
}

#[cfg(feature = "disassembly-arm")]
impl Arm {
    fn new() -> CsResult<Self> {
        use capstone::arch::{arm, arm64};
        Ok(Self {
            a32: Capstone::new().arm().mode(arm::ArchMode::Arm).build()?,
            t32: Capstone::new().arm().mode(arm::ArchMode::Thumb).build()?,
            a64: Capstone::new().arm64().mode(arm64::ArchMode::Arm).build()?,
        })
    }

    fn text(
        &self,
        set: traceproof_vectors::arm::InstructionSet,
        address: u64,
        bytes: &[u8],
    ) -> Option<String> {
        use traceproof_vectors::arm::InstructionSet;
        let engine = match set {
            InstructionSet::A32 => &self.a32,
            InstructionSet::T32 | InstructionSet::T32Ee => &self.t32,
            InstructionSet::A64 => &self.a64,
            InstructionSet::Jazelle => return None,
        };
        let instructions = engine.disasm_count(bytes, address, 1).ok()?;
        let instruction = instructions.first().filter(|it| it.len() == bytes.len())?;
        let (mnemonic, operands) = (instruction.mnemonic()?, instruction.op_str().unwrap_or_default());
        Some(format!("{mnemonic} {operands}").trim_end().to_owned())
    }
}
