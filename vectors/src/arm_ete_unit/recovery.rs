//! Loss after a fault in the log of a trace unit.

use super::Event;
use crate::{FaultClass, Recovery};

/// Records have one size and are independent: a record at fault loses no other, and what contradicts is taken as it is.
/// A log may begin anywhere.
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

/// Every event: nothing needs a certain record first.
pub(super) const fn is_synchronised_by(_: &Event) -> bool {
    true
}
