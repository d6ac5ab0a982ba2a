//! Atoms on their way into a packet (sheet 5.10, 7.10).

use traceproof_vectors::arm_ete::Atoms;

use super::atom_headers::atom_header;

/// Atoms of which no packet was made yet, oldest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldAtoms {
    /// 1 = E; the oldest is bit 0.
    taken: u32,
    count: u8,
    /// The most of one packet, 1 to 24.
    most: u8,
}

impl HeldAtoms {
    pub(super) const fn new(most: u8) -> Self {
        Self { taken: 0, count: 0, most }
    }

    /// One more. There must be room, which there is after [`take_full`](Self::take_full).
    pub(super) const fn push(&mut self, taken: bool) {
        self.taken |= (taken as u32) << self.count;
        self.count += 1;
    }

    /// A packet, once later atoms cannot make it longer.
    pub(super) fn take_full(&mut self) -> Option<Atoms> {
        if self.count >= self.most { self.take() } else { None }
    }

    /// The format that covers most of the oldest atoms; `None` if there are none.
    ///
    /// Spec: ETE-ENC-ATM-001, ETE-ENC-ATM-002 (sheet 7.10).
    pub(super) fn take(&mut self) -> Option<Atoms> {
        let atoms = (1..=self.count.min(self.most))
            .rev()
            .filter_map(|count| Atoms::from_bits(self.taken, count))
            .find(|atoms| atom_header(*atoms).is_some())?;
        self.taken >>= atoms.len();
        self.count -= atoms.len() as u8;
        Some(atoms)
    }

    /// The youngest atoms, as far as a Mispredict or Cancel packet carries them: `EE`, `E` or `N`, and no more than
    /// `most`.
    ///
    /// Spec: ETE-PKT-MIS-001, ETE-PKT-CAN-002, ETE-PKT-CAN-003 (sheet 7.10).
    pub(super) fn take_youngest(&mut self, most: u8) -> Option<Atoms> {
        let youngest = self.count.checked_sub(1)?;
        let is_taken = |index: u8| self.taken >> index & 1 == 1;
        let count = match youngest.checked_sub(1) {
            Some(before) if most >= 2 && is_taken(youngest) && is_taken(before) => 2,
            _ => 1,
        };
        let from = self.count - count;
        let atoms = Atoms::from_bits(self.taken >> from, count);
        self.taken &= (1 << from) - 1;
        self.count = from;
        atoms
    }

    /// Whether the youngest one is an E atom.
    pub(super) const fn ends_taken(&self) -> bool {
        self.count > 0 && self.taken >> (self.count - 1) & 1 == 1
    }
}
