//! What is sent together with what comes next, or before it.

use traceproof_vectors::arm_ete::Policy;

use super::atoms::HeldAtoms;

/// Elements of which no packet was made yet, in the order in which their packets leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) atoms: HeldAtoms,
    /// P0 elements of a Cancel that perhaps shares its packet with a Mispredict.
    pub(super) cancel: u32,
    /// P0 elements that are to be committed.
    pub(super) owed: u32,
    /// Commits that are merged in `owed`.
    pub(super) merged: u16,
    /// Trace unit events, by bit.
    pub(super) events: u8,
    /// Those that occurred during an overflow.
    pub(super) lost_events: u8,
    /// An A-sync was sent since tracing was enabled.
    pub(super) aligned: bool,
}

impl Held {
    pub(super) const fn new(policy: &Policy) -> Self {
        Self {
            atoms: HeldAtoms::new(policy.atoms_per_packet),
            cancel: 0,
            owed: 0,
            merged: 0,
            events: 0,
            lost_events: 0,
            aligned: false,
        }
    }
}
