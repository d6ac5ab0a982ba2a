//! Which faults of a log are judged: not those that the subject does not claim, and no repetitions.

use std::marker::PhantomData;

use traceproof_vectors::{Capabilities, FaultClass, FaultDetail, Place, Recovery};

use crate::family::FamilyRules;

/// What of faults is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultClaims {
    pub(crate) detail: FaultDetail,
    pub(super) warnings: bool,
}

impl FaultClaims {
    pub(crate) const fn of(claims: &Capabilities) -> Self {
        Self { detail: claims.faults, warnings: claims.warnings }
    }
}

/// Goes through one side of a comparison and leaves out the faults that are not judged.
pub(crate) struct FaultFilter<P> {
    claims: FaultClaims,
    /// The fault that cost synchronisation, until there is synchronisation again.
    lost: Option<(FaultClass, Place)>,
    protocol: PhantomData<P>,
}

impl<P: FamilyRules> FaultFilter<P> {
    pub(crate) const fn new(claims: FaultClaims) -> Self {
        Self { claims, lost: None, protocol: PhantomData }
    }

    pub(crate) fn event(&mut self, event: &P::Event) {
        if P::is_synchronised_by(event) {
            self.lost = None;
        }
    }

    /// Whether the next fault is judged. `expected` is the class of the fault that it would be compared with; it counts
    /// for a subject that does not state classes.
    pub(crate) fn takes(&mut self, class: FaultClass, place: Place, expected: Option<FaultClass>) -> bool {
        if class.is_warning() && !self.claims.warnings || self.repeats(class, place) {
            return false;
        }
        let class = expected.filter(|_| self.claims.detail == FaultDetail::Flag).unwrap_or(class);
        if P::recovery(class) == Recovery::SynchronisationLost {
            self.lost = Some((class, place));
        }
        true
    }

    /// Whether the fault repeats, for a dropped packet, the fault that lost synchronisation.
    fn repeats(&self, class: FaultClass, place: Place) -> bool {
        let Some((lost, from)) = self.lost else { return false };
        match self.claims.detail {
            FaultDetail::Flag => true,
            FaultDetail::Class => class == lost || class == FaultClass::NotSynchronised,
            // The same fault twice at one place is no packet that is dropped.
            FaultDetail::Place => (class == lost || class == FaultClass::NotSynchronised) && place > from,
        }
    }
}
