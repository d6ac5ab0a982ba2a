//! When synchronisation is due (ETMSYNCFR, 4.11).

use traceproof_vectors::arm_pft::{Packet, Policy};

/// The A-sync that is sent. Spec: PFT-PKT-004 (4.5.1).
pub(super) const ALIGNMENT_SYNC: Packet = Packet::AlignmentSync { zeros: 5 };

/// Which parts of a synchronisation are still to come, always in the order A, I, T (PFT-ENC-057).
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// Bytes between two A-syncs; 0 = any number. Spec: PFT-CFG-015.
    period: u64,
    spacing: u8,
    alignment: bool,
    instruction: bool,
    timestamp: bool,
    /// Instruction packets that come before the next part.
    wait: u8,
    /// Bytes from the latest A-sync on.
    bytes: u64,
    /// Something else was sent in this step.
    content: bool,
}

impl Schedule {
    pub(super) fn new(policy: &Policy) -> Self {
        Self {
            period: policy.sync_period.into(),
            spacing: policy.sync_spacing,
            alignment: false,
            instruction: false,
            timestamp: false,
            wait: 0,
            bytes: 0,
            content: false,
        }
    }

    /// A packet of so many bytes was sent.
    pub(super) fn note(&mut self, packet: &Packet, bytes: usize) {
        match packet {
            Packet::AlignmentSync { .. } => {
                self.alignment = false;
                self.bytes = 0;
                self.wait = self.spacing;
            }
            Packet::InstructionSync { .. } => {
                self.instruction = false;
                self.wait = self.spacing;
            }
            Packet::Atoms { .. }
            | Packet::BranchAddress { .. }
            | Packet::WaypointUpdate { .. }
            | Packet::ContextId { .. }
            | Packet::Vmid(_)
            | Packet::ExceptionReturn => {
                self.wait = self.wait.saturating_sub(1);
                self.content = true;
            }
            Packet::Timestamp { .. } | Packet::Trigger | Packet::Ignore => self.content = true,
        }
        self.bytes += bytes as u64;
    }

    /// A whole synchronisation is due.
    pub(super) const fn request(&mut self, timestamp: bool) {
        self.alignment = true;
        self.instruction = true;
        self.timestamp = timestamp;
    }

    /// An A-sync is due before tracing starts.
    pub(super) const fn require_alignment(&mut self) {
        self.alignment = true;
    }

    /// Where tracing stops, the I-sync of the next start takes the place of the periodic one.
    pub(super) const fn skip_instruction_sync(&mut self) {
        self.instruction = false;
    }

    /// Whether the period is over; a step in which nothing but synchronisation is sent does not end it.
    pub(super) const fn has_expired(&self) -> bool {
        self.period > 0 && self.bytes >= self.period && self.content
    }

    pub(super) const fn end_step(&mut self) {
        self.content = false;
    }

    pub(super) const fn is_alignment_due(&self) -> bool {
        self.alignment
    }

    /// Whether the periodic I-sync is due, whatever it waits for.
    pub(super) const fn is_instruction_due(&self) -> bool {
        self.instruction
    }

    /// Whether the full timestamp is due, whatever it waits for.
    pub(super) const fn is_timestamp_due(&self) -> bool {
        self.timestamp
    }

    /// As many instruction packets stand between two parts as the policy wants.
    pub(super) const fn is_spaced(&self) -> bool {
        self.wait == 0
    }

    pub(super) const fn timestamp_is_sent(&mut self) {
        self.timestamp = false;
    }
}
