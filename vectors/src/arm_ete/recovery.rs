//! What faults cost in ETE and ETMv4.

use super::Event;
use crate::{FaultClass, Recovery};

/// Packets are read without the code: what cannot be read, and commits or cancels of more than there is, cost
/// synchronisation; what the code cannot answer costs the flow only.
///
/// Spec: ETE-DEC-ERR-001, ETE-DEC-DEPTH-003, ETE-DEC-RS-005, ETE-DEC-ERR-005, ETE-DEC-ISA-001, ETE-DEC-ISA-007.
pub(super) const fn recovery(class: FaultClass) -> Recovery {
    match class {
        FaultClass::IllegalInState | FaultClass::Suspicious => Recovery::GoesOn,
        FaultClass::UnsupportedMode
        | FaultClass::MissingOutcome
        | FaultClass::LeftoverOutcome
        | FaultClass::UnexpectedDiscontinuity
        | FaultClass::MissingAddress
        | FaultClass::InvalidReference
        | FaultClass::NoCode
        | FaultClass::Limit => Recovery::FlowLost,
        FaultClass::Truncated
        | FaultClass::Overlong
        | FaultClass::ReservedEncoding
        | FaultClass::NotSynchronised
        | FaultClass::Contradiction
        | FaultClass::Framing => Recovery::SynchronisationLost,
    }
}

/// Before the first Trace Info only what needs no state is reported (sheet 8.1).
pub(super) const fn is_synchronised_by(event: &Event) -> bool {
    matches!(event, Event::TraceInfo { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_cost() {
        let of = |recovery| {
            FaultClass::ALL.into_iter().filter(|class| super::recovery(*class) == recovery).count()
        };
        assert_eq!(Recovery::ALL.map(of), [6, 8, 2]);
        assert_eq!(recovery(FaultClass::ReservedEncoding), Recovery::SynchronisationLost);
        assert_eq!(recovery(FaultClass::Contradiction), Recovery::SynchronisationLost);
        assert_eq!(recovery(FaultClass::Limit), Recovery::FlowLost);
        assert_eq!(recovery(FaultClass::IllegalInState), Recovery::GoesOn);
        assert!(!is_synchronised_by(&Event::Event { number: 0 }));
    }
}
