//! What faults cost in E-Trace.

use super::Event;
use crate::{FaultClass, Recovery};

/// Spec: RVET-DEC-047 (ET 7.5): a decoder that cannot go on waits for a synchronisation packet.
///
/// Instruction trace and data trace are synchronised each for itself, and a fault in a packet of one does not affect
/// the other. Data trace that has lost synchronisation has no base before a full value.
pub(super) const fn recovery(class: FaultClass) -> Recovery {
    match class {
        FaultClass::Contradiction | FaultClass::Suspicious => Recovery::GoesOn,
        FaultClass::Truncated
        | FaultClass::Overlong
        | FaultClass::ReservedEncoding
        | FaultClass::IllegalInState
        | FaultClass::NotSynchronised
        | FaultClass::UnsupportedMode
        | FaultClass::MissingOutcome
        | FaultClass::LeftoverOutcome
        | FaultClass::UnexpectedDiscontinuity
        | FaultClass::MissingAddress
        | FaultClass::InvalidReference
        | FaultClass::NoCode
        | FaultClass::Limit
        | FaultClass::Framing => Recovery::SynchronisationLost,
    }
}

/// A context packet and a time have no position in the flow, and data trace goes on without it.
pub(super) const fn is_synchronised_by(event: &Event) -> bool {
    matches!(event, Event::Retire { .. } | Event::Trap { .. } | Event::Context { precise: true, .. })
}
