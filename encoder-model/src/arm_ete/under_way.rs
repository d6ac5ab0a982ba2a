//! What is under way in a trace unit: a Q element, synchronization, a transaction.

use traceproof_vectors::arm_ete::{Packet, State};

use super::pipeline::nowhere;

/// A Q element that is not complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingQ {
    /// The stimulus permits Q elements.
    pub(super) permitted: bool,
    /// P0 instructions that it replaces.
    pub(super) blocks: u8,
    /// Instructions of these.
    pub(super) instructions: u32,
    pub(super) next: State,
}

impl Default for PendingQ {
    fn default() -> Self {
        Self { permitted: false, blocks: 0, instructions: 0, next: nowhere() }
    }
}

impl PendingQ {
    /// It is lost.
    pub(super) fn lose(&mut self) {
        *self = Self { permitted: self.permitted, ..Self::default() };
    }
}

/// When synchronization is due, and what of it is still missing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Synchronization {
    /// It was requested.
    pub(super) due: bool,
    /// Bytes from the latest A-sync on.
    pub(super) bytes: u64,
    /// No Context element was sent since Trace Info.
    pub(super) context: bool,
    /// No Target Address element was sent since Trace Info.
    pub(super) address: bool,
    /// P0 elements before the first Context since Trace Info, if there was one.
    pub(super) context_at: u64,
    /// P0 elements before the first Target Address since Trace Info, if there was one.
    pub(super) address_at: u64,
    /// P0 elements that come before they do.
    pub(super) spacing: u8,
    /// P0 elements before the latest Trace Info.
    pub(super) info_at: u64,
}

impl Synchronization {
    /// A packet of so many bytes was sent.
    pub(super) fn note(&mut self, packet: &Packet, bytes: usize) {
        if matches!(packet, Packet::AlignmentSync { .. }) {
            self.bytes = 0;
            self.due = false;
        }
        self.bytes += bytes as u64;
    }
}

/// An outer transaction of the processing element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    /// A Transaction Start element was sent for it: P0 elements before it.
    pub(super) started_at: Option<u64>,
    /// It was entered before its latest Start.
    pub(super) restarted: bool,
}
