//! What faults cost in PFT.

use super::Event;
use crate::{FaultClass, Recovery};

/// Packets are read without the code: what cannot be read costs synchronisation, and what the code cannot answer costs
/// the flow only. What contradicts the state or the configuration is reported, and the packet is believed or dropped.
///
/// Spec: PFT-ERR-002 to PFT-ERR-010, PFT-ERR-014 to PFT-ERR-018, PFT-ERR-024, PFT-DEC-014.
pub(super) const fn recovery(class: FaultClass) -> Recovery {
    match class {
        FaultClass::IllegalInState | FaultClass::Contradiction | FaultClass::Suspicious => Recovery::GoesOn,
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
        | FaultClass::Framing => Recovery::SynchronisationLost,
    }
}

/// Nothing else is reported before the first I-sync (B.3.1 stage 2, PFT-DEC-002).
pub(super) const fn is_synchronised_by(event: &Event) -> bool {
    matches!(event, Event::TraceOn { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_cost() {
        let of = |recovery| {
            FaultClass::ALL.into_iter().filter(|class| super::recovery(*class) == recovery).count()
        };
        assert_eq!(Recovery::ALL.map(of), [5, 8, 3]);
        assert_eq!(recovery(FaultClass::ReservedEncoding), Recovery::SynchronisationLost);
        assert_eq!(recovery(FaultClass::InvalidReference), Recovery::FlowLost);
        assert_eq!(recovery(FaultClass::Contradiction), Recovery::GoesOn);
        assert!(!is_synchronised_by(&Event::Trigger));
    }
}
