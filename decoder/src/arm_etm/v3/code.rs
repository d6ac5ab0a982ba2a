//! The code that the flow goes over.

use traceproof_vectors::Program;
use traceproof_vectors::arm_etm::Isa;

use super::address::InstructionAddress;
use crate::arm::{Class, Instruction, InstructionSet, ProgramMap, Stops};

/// A program, decoded for each instruction set when the flow first enters it.
#[derive(Clone, Debug)]
pub(super) struct Code {
    program: Program,
    a32: Option<ProgramMap>,
    t32: Option<ProgramMap>,
    thumb_ee: Option<ProgramMap>,
}

impl Code {
    pub(super) fn new(program: &Program) -> Self {
        Self { program: program.clone(), a32: None, t32: None, thumb_ee: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.program.sections().is_empty()
    }

    /// The instruction there; `None` in Java state, too.
    #[inline]
    pub(super) fn at(&mut self, place: InstructionAddress) -> Option<Instruction> {
        let (map, set) = match place.isa {
            Isa::Arm => (&mut self.a32, InstructionSet::A32),
            Isa::Thumb => (&mut self.t32, InstructionSet::T32),
            Isa::ThumbEe => (&mut self.thumb_ee, InstructionSet::ThumbEe),
            Isa::Jazelle => return None,
        };
        let map = match map {
            Some(map) => map,
            None => map.insert(decode(&self.program, set)),
        };
        map.instruction(set, place.address.into())
    }
}

#[cold]
fn decode(program: &Program, set: InstructionSet) -> ProgramMap {
    ProgramMap::new(program, &[set], Stops::default())
}

/// Where an executed instruction leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To the instruction behind it.
    On,
    To(InstructionAddress),
    /// Only the trace knows.
    Somewhere,
}

/// Where `instruction` at `place` leads if it is executed.
#[inline]
pub(super) fn leads(instruction: &Instruction, place: InstructionAddress) -> Leads {
    match instruction.class {
        Class::DirectBranch => {
            let isa = match instruction.target_set {
                InstructionSet::A32 => Isa::Arm,
                InstructionSet::T32 | InstructionSet::T16 => Isa::Thumb,
                InstructionSet::ThumbEe => Isa::ThumbEe,
            };
            Leads::To(InstructionAddress { address: instruction.target(place.address.into()) as u32, isa })
        }
        Class::IndirectBranch | Class::ExceptionReturn => Leads::Somewhere,
        _ => Leads::On,
    }
}
