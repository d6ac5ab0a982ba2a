//! Which faults of a log are judged: not those that the subject does not claim, and no repetitions.

use std::marker::PhantomData;

use traceproof_vectors::{Capabilities, FaultClass, FaultDetail, Place, Recovery};

use crate::JudgedProtocol;

/// What of faults is judged.
#[derive(Clone, Copy, Debug)]
pub struct FaultClaims {
    /// How precise faults are.
    pub detail: FaultDetail,
    /// Whether warnings are.
    pub warnings: bool,
}

impl FaultClaims {
    /// What a subject claims.
    #[must_use]
    pub const fn of(claims: &Capabilities) -> Self {
        Self { detail: claims.faults, warnings: claims.warnings }
    }
}

/// Goes through one side of a comparison and leaves out the faults that are not judged.
pub struct FaultFilter<P> {
    claims: FaultClaims,
    /// The fault that cost synchronisation, until there is synchronisation again.
    lost: Option<(FaultClass, Place)>,
    protocol: PhantomData<P>,
}

impl<P: JudgedProtocol> FaultFilter<P> {
    /// At the beginning of a stream.
    #[must_use]
    pub const fn new(claims: FaultClaims) -> Self {
        Self { claims, lost: None, protocol: PhantomData }
    }

    /// An event on the way.
    pub fn event(&mut self, event: &P::Event) {
        if P::is_synchronised_by(event) {
            self.lost = None;
        }
    }

    /// Whether the next fault is judged. `expected` is the class of the fault that it would be compared with; it counts
    /// for a subject that does not state classes.
    pub fn takes(&mut self, class: FaultClass, place: Place, expected: Option<FaultClass>) -> bool {
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
