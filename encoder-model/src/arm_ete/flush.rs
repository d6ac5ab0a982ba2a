//! Packets of what is held.

use traceproof_vectors::arm_ete::Packet;

use super::cycles;
use super::field::{longest, padded};
use super::unit::TraceUnit;

impl TraceUnit {
    /// All that is held. During an overflow it stays.
    pub(super) fn flush(&mut self) {
        if self.is_operative() {
            self.flush_p0();
            self.flush_events();
        }
    }

    /// All but events.
    pub(super) fn flush_p0(&mut self) {
        if !self.is_operative() {
            return;
        }
        self.flush_q();
        self.flush_atoms();
        self.flush_cancel();
        self.flush_commits();
    }

    pub(super) fn flush_atoms(&mut self) {
        while let Some(atoms) = self.held.atoms.take() {
            self.push(Packet::Atoms(atoms));
        }
    }

    /// Spec: ETE-HYCXR-001, ETE-PKT-CAN-001.
    pub(super) fn flush_cancel(&mut self) {
        let count = core::mem::take(&mut self.held.cancel);
        if count > 0 {
            self.flush_atoms();
            let count = padded(count.into(), longest::WORD, &self.policy);
            self.push(Packet::Cancel1 { count, mispredict: false });
        }
    }

    /// Spec: ETE-SMLVB-001, ETE-PKT-EVT-001.
    pub(super) fn flush_events(&mut self) {
        let events = core::mem::take(&mut self.held.events);
        if events > 0 {
            self.push(Packet::Event(events));
        }
    }

    /// One more atom, perhaps a packet.
    pub(super) fn hold_atom(&mut self, taken: bool) {
        self.flush_cancel();
        self.flush_events();
        self.held.atoms.push(taken);
        if let Some(atoms) = self.held.atoms.take_full() {
            self.push(Packet::Atoms(atoms));
        }
    }

    /// A packet that is a P0 element: commits may still be merged with those after it.
    pub(super) fn send_p0(&mut self, packet: Packet) {
        self.flush_atoms();
        self.flush_cancel();
        self.flush_events();
        self.push(packet);
    }

    /// P0 elements are to be committed. Commits are merged until a cycle count is due.
    ///
    /// Spec: ETE-QNLYJ-001, ETE-GWQGS-001, ETE-VNYMN-001.
    pub(super) fn owe(&mut self, elements: u32) {
        if elements == 0 {
            return;
        }
        self.flush_cancel();
        self.flush_events();
        self.held.owed += elements;
        self.held.merged = self.held.merged.saturating_add(1);
        if self.cycles.is_due() {
            self.send_commits(true);
        } else if self.held.merged >= self.policy.merged_commits {
            self.send_commits(false);
        }
    }

    /// The Commit of what is owed. No cycle count was due when it was generated, and none is requested later.
    ///
    /// Spec: ETE-GWQGS-001, ETE-BMVKB-001.
    pub(super) fn flush_commits(&mut self) {
        self.send_commits(false);
    }

    /// The Commit of what is owed, with its cycle count if it is `counted`.
    ///
    /// Spec: ETE-ENC-CMT-001, ETE-ENC-CMT-002, ETE-PKT-CMT-001.
    fn send_commits(&mut self, counted: bool) {
        let elements = core::mem::take(&mut self.held.owed);
        self.held.merged = 0;
        if elements == 0 {
            return;
        }
        self.flush_atoms();
        self.depth = self.depth.saturating_sub(elements);
        if !counted {
            self.push_commit(elements);
        } else if self.parameters.commopt {
            self.push_commit(elements);
            self.cycle_count(0);
        } else {
            self.cycle_count(elements);
        }
    }

    pub(super) fn push_commit(&mut self, elements: u32) {
        let count = padded(elements.into(), longest::WORD, &self.policy);
        self.push(Packet::Commit(count));
    }

    /// A Commit without packet of its own; perhaps a cycle count belongs to it.
    ///
    /// Spec: ETE-BZQWX-001, ETE-GDTBW-001.
    pub(super) fn implied_commit(&mut self) {
        if self.cycles.is_due() {
            self.flush_atoms();
            self.cycle_count(0);
        }
    }

    /// Spec: ETE-BMVKB-001, ETE-TYNZR-001.
    fn cycle_count(&mut self, commit: u32) {
        let count = self.cycles.take();
        self.timestamps.note_count();
        let packet = cycles::packet(commit, count, &self.parameters, &self.policy);
        self.push(packet);
    }
}
