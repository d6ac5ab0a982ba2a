//! Loss after a fault in logs of the Itanium performance monitor.

use super::Event;
use crate::{FaultClass, Recovery};

/// Records have one size and are independent: a record at fault loses no other. What happens before a reset needs one.
pub(super) const fn recovery(class: FaultClass) -> Recovery {
    match class {
        FaultClass::Truncated
        | FaultClass::NotSynchronised
        | FaultClass::UnsupportedMode
        | FaultClass::Framing => Recovery::SynchronisationLost,
        FaultClass::Overlong
        | FaultClass::ReservedEncoding
        | FaultClass::IllegalInState
        | FaultClass::MissingOutcome
        | FaultClass::LeftoverOutcome
        | FaultClass::UnexpectedDiscontinuity
        | FaultClass::MissingAddress
        | FaultClass::InvalidReference
        | FaultClass::NoCode
        | FaultClass::Limit
        | FaultClass::Contradiction
        | FaultClass::Suspicious => Recovery::GoesOn,
    }
}

/// What is worked out only of a log that is followed from a reset on.
pub(super) const fn is_synchronised_by(event: &Event) -> bool {
    !matches!(event, Event::InstructionEar { .. } | Event::DataEar { .. } | Event::Notice { .. })
}
