//! Atoms that wait for a packet (4.2).

use traceproof_vectors::arm_pft::{Atoms, Packet};

/// Atoms of which no packet was made yet, oldest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldAtoms {
    executed: [bool; Atoms::MOST as usize],
    count: u8,
    most: u8,
}

impl HeldAtoms {
    /// `most` in one packet.
    pub(super) const fn new(most: u8) -> Self {
        Self { executed: [false; Atoms::MOST as usize], count: 0, most }
    }

    /// One more; whether they fill a packet now.
    ///
    /// Spec: PFT-ENC-007 (4.2).
    pub(super) fn push(&mut self, executed: bool) -> bool {
        if let Some(place) = self.executed.get_mut(usize::from(self.count)) {
            *place = executed;
            self.count += 1;
        }
        self.count >= self.most
    }

    /// The packet of those that are held, if there are any.
    pub(super) fn take(&mut self) -> Option<Packet> {
        let held = self.executed.get(..usize::from(self.count)).unwrap_or_default();
        let atoms = Atoms::new(held)?;
        self.count = 0;
        Some(Packet::Atoms { atoms, cycle_count: None })
    }
}
