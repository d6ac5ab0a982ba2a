//! What the instructions of generated programs do.

use traceproof_vectors::Address;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::Parameters;

use crate::arm_pft::generate::Reach;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that a trace shows.
    Plain,
    /// SVC, HVC or SMC: an exception that returns to the instruction after it.
    Call,
    /// An exception instead of the instruction, of this type.
    Trap(u16),
    /// A branch whose opcode says where it leads.
    Direct {
        /// Its target.
        to: Address,
        /// The instruction set there.
        isa: InstructionSet,
        /// With link.
        link: bool,
    },
    /// A branch whose opcode does not say where it leads.
    Indirect {
        /// With link.
        link: bool,
        /// Where it can lead.
        reach: Reach,
    },
    /// An exception return.
    ExceptionReturn,
    /// ISB.
    Isb,
    /// WFI, WFE, WFIT or WFET.
    Wait,
    /// TSTART.
    TransactionStart,
    /// TCOMMIT.
    TransactionCommit,
    /// TRCIT.
    Instrumentation,
}

/// An instruction at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where, without Thumb bit.
    pub address: Address,
    /// Its instruction set.
    pub isa: InstructionSet,
    /// Its bytes, 2 or 4.
    pub size: u8,
    /// The opcode; the first halfword is the high one in T32.
    pub opcode: u32,
    /// What it does.
    pub kind: Kind,
    /// Whether it has a condition that can fail: its own, or that of an IT block.
    pub conditional: bool,
    /// Whether it is in an IT block, into which no branch leads.
    pub in_it: bool,
}

impl Instruction {
    /// Whether it is a P0 instruction (sheet 6.4 to 6.6, R_QBGXJ).
    #[must_use]
    pub const fn is_p0(&self, parameters: &Parameters) -> bool {
        match self.kind {
            Kind::Direct { .. } | Kind::Indirect { .. } | Kind::ExceptionReturn => true,
            Kind::Isb | Kind::TransactionStart => true,
            Kind::Wait => parameters.wfx_is_p0,
            _ => false,
        }
    }

    /// The address after it.
    #[must_use]
    pub const fn end(&self) -> Address {
        Address(self.address.0.wrapping_add(self.size as u64) & self.isa.address_mask())
    }

    /// Its bytes in memory: words of A32 and A64, halfwords of T32, little-endian.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let halves = [(self.opcode >> 16) as u16, self.opcode as u16].map(u16::to_le_bytes);
        match (self.isa.is_thumb(), self.size) {
            (false, _) => self.opcode.to_le_bytes().to_vec(),
            (true, 4) => halves.concat(),
            (true, _) => halves[1].to_vec(),
        }
    }
}
