//! Loss after a fault in ETMv1, ETMv2 and ETMv3.

use super::Event;
use crate::{FaultClass, Recovery};

/// What cannot be read loses synchronisation; what the code cannot resolve loses the flow; of two statements that
/// contradict each other the later one, or the one in the trace, is used.
pub(super) const fn recovery(class: FaultClass) -> Recovery {
    match class {
        FaultClass::Contradiction | FaultClass::Suspicious => Recovery::GoesOn,
        FaultClass::MissingOutcome
        | FaultClass::LeftoverOutcome
        | FaultClass::UnexpectedDiscontinuity
        | FaultClass::MissingAddress
        | FaultClass::InvalidReference
        | FaultClass::NoCode => Recovery::FlowLost,
        FaultClass::Truncated
        | FaultClass::Overlong
        | FaultClass::ReservedEncoding
        | FaultClass::IllegalInState
        | FaultClass::NotSynchronised
        | FaultClass::UnsupportedMode
        | FaultClass::Limit
        | FaultClass::Framing => Recovery::SynchronisationLost,
    }
}

/// Triggers, timestamps, Context IDs and statuses without address are reported before synchronisation, too.
pub(super) const fn is_synchronised_by(event: &Event) -> bool {
    matches!(
        event,
        Event::Synchronisation { .. }
            | Event::InstructionSync { .. }
            | Event::Branch { .. }
            | Event::BranchTo { .. }
    )
}
