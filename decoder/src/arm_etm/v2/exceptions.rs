//! What a branch address is besides a branch, and which instruction it takes back.

use traceproof_vectors::arm_etm::v2::conventions::TAKEN_BACK_WITHOUT_BIT;
use traceproof_vectors::arm_etm::{ExceptionKind, Isa, VectorBase};

use super::address::InstructionAddress;
use crate::arm_etm::vectors::vector_at;

/// The vector of a data abort.
const DATA_ABORT: u32 = 0x10;

/// What a branch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Only a branch.
    Branch,
    /// Perhaps an exception.
    Possible,
    Exception {
        kind: ExceptionKind,
        /// Its instruction was not executed.
        taken_back: bool,
        /// The data of its instruction mean nothing.
        ignored: bool,
        /// The exception bit is set, and no vector is there.
        suspicious: bool,
    },
}

/// Spec: ETM2-EXC-001 to 005, ETM2-EXC-009, ETM2-EXC-010 (4.5.3, 6.8.1).
pub(super) fn meaning(hivecs: VectorBase, target: InstructionAddress, bit: bool) -> Meaning {
    let vector = match target.isa {
        Isa::Arm => vector_at(hivecs, target.address),
        _ => None,
    };
    match (vector, bit) {
        (None, false) => Meaning::Branch,
        (Some(_), false) if hivecs == VectorBase::Unknown => Meaning::Possible,
        (Some(vector), bit) if hivecs != VectorBase::Unknown => {
            let taken_back = bit || TAKEN_BACK_WITHOUT_BIT.contains(&vector.offset);
            Meaning::Exception {
                kind: vector.kind,
                taken_back,
                ignored: taken_back || vector.offset == DATA_ABORT,
                suspicious: false,
            }
        }
        (vector, _) => Meaning::Exception {
            kind: ExceptionKind::Unknown,
            taken_back: true,
            ignored: true,
            suspicious: vector.is_none(),
        },
    }
}

/// The latest instruction and its transfers, as far as an exception may be about them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    /// Cycle of the latest non-periodic TFO: what was before is not taken back.
    run: u64,
    /// Cycle of the latest TFO that stands for an instruction.
    implied: Option<u64>,
    /// Number and cycle of the latest transfer that was the first one of an instruction.
    first: Option<(u64, u64)>,
}

impl Latest {
    pub(super) const NONE: Self = Self { run: 0, implied: None, first: None };

    /// A TFO packet of this cycle.
    pub(super) fn synchronise(&mut self, cycle: u64, periodic: bool, executes: bool) {
        if !periodic {
            self.run = cycle;
            self.implied = None;
        }
        if executes {
            self.implied = Some(cycle);
        }
    }

    /// A transfer whose packet has the A bit.
    pub(super) fn first_transfer(&mut self, transfer: u64, cycle: u64) {
        self.first = Some((transfer, cycle));
    }

    /// The cycle of the instruction of a branch address, if `status` is that of the latest status with one.
    ///
    /// Spec: ETM2-EXC-002, ETM2-EXC-006 (6.7.1, 6.8.1).
    pub(super) fn instruction(&self, status: Option<u64>) -> Option<u64> {
        status.filter(|&cycle| cycle >= self.run).max(self.implied)
    }

    /// The transfers of this instruction, the next transfer being `next`.
    pub(super) fn transfers(&self, instruction: Option<u64>, next: u64) -> Option<(u64, u64)> {
        let (first, cycle) = self.first?;
        (cycle >= instruction?).then(|| (first, next.saturating_sub(1)))
    }
}
