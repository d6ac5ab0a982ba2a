//! Where the processor is, as far as the trace determines it.

use alloc::format;
use alloc::string::String;

use traceproof_vectors::arm_etm::{Isa, Packet};
use traceproof_vectors::{FaultClass, Program};

use crate::arm::{Destination, Instruction, InstructionSet, ProgramMap, Stops};

/// Follows the code from address to address.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    code: ProgramMap,
    has_code: bool,
    next: Next,
    /// The branch address output last; `None` as long as not all of its bits are known.
    base: Option<Base>,
    /// Missing code was reported since an address was known.
    reported: bool,
}

/// The next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    At(u32, InstructionSet),
    /// In Java state, somewhere.
    Java,
    /// After an executed indirect branch without BE or BD.
    Owed,
    Unknown,
}

/// A branch address as it travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Base {
    bits: u32,
    jazelle: bool,
}

/// Where an instruction is and what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    /// `None` where it is not known.
    pub(super) address: Option<u32>,
    pub(super) isa: Isa,
    /// `None` where no code is known.
    pub(super) instruction: Option<Instruction>,
    /// What is wrong about it.
    pub(super) fault: Option<FaultClass>,
}

impl Here {
    const NOWHERE: Self = Self { address: None, isa: Isa::Arm, instruction: None, fault: None };
}

/// The target of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) address: u32,
    pub(super) isa: Isa,
}

/// Half-words before ARMv6T2: the processors of ETMv1 know no other Thumb.
const THUMB: InstructionSet = InstructionSet::T16;

impl Flow {
    /// For people: the next instruction, and the address that branch addresses refer to.
    pub(super) fn shown(&self) -> (String, String) {
        let next = match self.next {
            Next::At(address, set) => format!("{address:#x} {set:?}"),
            Next::Java => "in Java state".into(),
            Next::Owed => "a branch address has to supply it".into(),
            Next::Unknown => "unknown".into(),
        };
        let base = self.base.map_or_else(|| "unknown".into(), |base| format!("{:#x}", base.bits));
        (next, base)
    }

    pub(super) fn new(program: &Program) -> Self {
        Self {
            code: ProgramMap::new(program, &[InstructionSet::A32, THUMB], Stops::default()),
            has_code: !program.sections().is_empty(),
            next: Next::Unknown,
            base: None,
            reported: false,
        }
    }

    /// Resets to the start of a stream.
    pub(super) fn reset(&mut self) {
        self.forget();
        self.reported = false;
    }

    /// The position becomes unknown.
    pub(super) fn forget(&mut self) {
        self.forget_next();
        self.base = None;
    }

    /// The next instruction is not known.
    pub(super) fn forget_next(&mut self) {
        self.next = Next::Unknown;
    }

    /// Missing code is reported once until an address is known again; returns whether it is reported now.
    pub(super) fn report_missing_code(&mut self) -> bool {
        !core::mem::replace(&mut self.reported, true)
    }

    /// Goes over an instruction.
    #[inline]
    pub(super) fn step(&mut self, executed: bool) -> Here {
        let (address, set) = match self.next {
            Next::At(address, set) => (address, set),
            Next::Java => return Here { isa: Isa::Jazelle, ..Here::NOWHERE },
            Next::Unknown => return Here::NOWHERE,
            Next::Owed => {
                self.next = Next::Unknown;
                return Here { fault: Some(FaultClass::MissingAddress), ..Here::NOWHERE };
            }
        };
        let here = Here { address: Some(address), isa: state(set), ..Here::NOWHERE };
        let found = self.code.instruction(set, address.into());
        let Some(instruction) = found.filter(|instruction| !instruction.is_missing()) else {
            self.next = Next::Unknown;
            let is_reported = self.has_code && self.report_missing_code();
            return Here { fault: is_reported.then_some(FaultClass::NoCode), ..here };
        };
        self.next = match instruction.destination() {
            Destination::Target if executed => {
                Next::At(instruction.target(address.into()) as u32, of_v1(instruction.target_set))
            }
            Destination::Elsewhere if executed => Next::Owed,
            _ => Next::At(address.wrapping_add(instruction.length.into()), set),
        };
        Here { instruction: Some(instruction), ..here }
    }

    /// A branch address was output: where it leads, if all bits are known. Spec: ETM1-PKT-008, ETM1-PKT-010 (5.5.4,
    /// 5.8.1).
    pub(super) fn output(&mut self, packet: &Packet) -> Option<Target> {
        self.base = match *packet {
            Packet::FullBranchAddress { address, jazelle, .. } => Some(Base { bits: address.0, jazelle }),
            Packet::BranchAddress(address) => self.base.map(|base| {
                let above = u32::MAX << (7 * u32::from(address.bytes)).min(28);
                Base { bits: base.bits & above | address.bits as u32, ..base }
            }),
            _ => self.base,
        };
        let Base { bits, jazelle } = self.base?;
        Some(match (jazelle, bits & 1) {
            (true, _) => Target { address: bits, isa: Isa::Jazelle },
            (false, 0) => Target { address: bits, isa: Isa::Arm },
            (false, _) => Target { address: bits & !1, isa: Isa::Thumb },
        })
    }

    /// The next instruction is there.
    pub(super) fn go(&mut self, target: Target) {
        self.reported = false;
        self.next = match target.isa {
            Isa::Jazelle => Next::Java,
            Isa::Arm => Next::At(target.address, InstructionSet::A32),
            Isa::Thumb | Isa::ThumbEe => Next::At(target.address, THUMB),
        };
    }
}

/// Thumb state of these architectures is that before ARMv6T2, after BLX from ARM state too.
const fn of_v1(set: InstructionSet) -> InstructionSet {
    match set {
        InstructionSet::T32 => THUMB,
        set => set,
    }
}

const fn state(set: InstructionSet) -> Isa {
    match set {
        // No processor of these architectures has A64.
        InstructionSet::A32 | InstructionSet::A64 => Isa::Arm,
        InstructionSet::T32 | InstructionSet::T16 | InstructionSet::ThumbEe => Isa::Thumb,
    }
}
