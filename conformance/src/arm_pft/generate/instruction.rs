//! What the instructions of generated programs do.

use traceproof_vectors::Address32;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::Parameters;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that a trace shows.
    Plain,
    /// WFI or WFE.
    Wait,
    /// SVC, SMC, HVC or an undefined instruction: the exception of this number follows, if the condition
    /// passes.
    Call(u16),
    /// BKPT: an exception instead of the instruction.
    Breakpoint,
    /// A branch to an instruction of the same section and instruction set.
    Branch {
        /// Index of the target in its section.
        to: usize,
        /// With link.
        link: bool,
    },
    /// BLX (immediate): to an instruction in the other instruction set.
    Exchange {
        /// Its target.
        to: super::Place,
    },
    /// A branch to a place that its opcode does not say.
    Indirect {
        /// With link.
        link: bool,
        /// Where it can lead.
        reach: Reach,
    },
    /// An exception return by opcode.
    ExceptionReturn,
    /// ISB.
    Isb,
    /// DMB or DSB.
    Barrier,
    /// ENTERX or LEAVEX: the next instruction is of this set.
    Switch(InstructionSet),
}

/// Where an indirect branch can lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To A32 and T32 code.
    Any,
    /// To code of the same instruction set.
    SameSet,
    /// Forward in the same section: table branches.
    Forward,
    /// Into Jazelle state, or as [`Any`](Self::Any).
    Jazelle,
}

/// An instruction at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where, without Thumb bit.
    pub address: Address32,
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
    /// Whether it is a waypoint (2.2; PFT-CFG-008 for barriers, PFT-WPT-022).
    #[must_use]
    pub const fn is_waypoint(&self, parameters: &Parameters) -> bool {
        match self.kind {
            Kind::Plain | Kind::Wait | Kind::Call(_) | Kind::Breakpoint => false,
            Kind::Barrier => parameters.barrier_waypoints,
            _ => true,
        }
    }

    /// Whether it is a branch, so that flow can change there.
    #[must_use]
    pub const fn is_branch(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Plain | Kind::Wait | Kind::Call(_) | Kind::Breakpoint | Kind::Isb | Kind::Barrier
        )
    }

    /// The address after it.
    #[must_use]
    pub const fn end(&self) -> Address32 {
        Address32(self.address.0.wrapping_add(self.size as u32))
    }

    /// Its bytes in memory: words of A32, halfwords of T32, little-endian.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let halves = [(self.opcode >> 16) as u16, self.opcode as u16].map(u16::to_le_bytes);
        match (self.isa, self.size) {
            (InstructionSet::A32, _) => self.opcode.to_le_bytes().to_vec(),
            (_, 4) => halves.concat(),
            _ => halves[1].to_vec(),
        }
    }
}
