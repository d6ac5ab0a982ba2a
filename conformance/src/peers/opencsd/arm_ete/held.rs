//! Which P0 elements are uncommitted at the end of a stream.

use std::collections::VecDeque;

use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::Parameters;

use super::super::etmv4::Body;

/// The P0 elements that are uncommitted, by the offset of their packets, counted by the library's packets: its decoder
/// keeps them to itself.
#[derive(Debug)]
pub(super) struct Held<'a> {
    parameters: &'a Parameters,
    /// From before the start of decoding.
    unseen: u32,
    elements: VecDeque<u64>,
    /// Offset of the first Trace Info.
    start: Option<u64>,
}

impl<'a> Held<'a> {
    pub(super) const fn new(parameters: &'a Parameters) -> Self {
        Self { parameters, unseen: 0, elements: VecDeque::new(), start: None }
    }

    /// What comes from this offset on waits for an uncommitted one.
    pub(super) fn oldest(&self) -> Option<u64> {
        match self.start {
            Some(start) if self.unseen > 0 => Some(start + 1),
            _ => self.elements.front().copied(),
        }
    }

    /// Takes a packet.
    pub(super) fn packet(&mut self, byte: u64, body: &Body) {
        let is_m = self.parameters.profile == Profile::Microcontroller;
        match body {
            Body::TraceInfo { speculation, .. } if self.start.is_none() => {
                self.unseen = *speculation;
                self.start = Some(byte);
            }
            Body::Atoms { atoms } => self.add(byte, atoms.len()),
            Body::UnnumberedDataSyncMarker { atoms } => self.add(byte, (*atoms).into()),
            Body::Exception { .. } | Body::PeReset | Body::SourceAddress { .. } | Body::Q { .. } => {
                self.add(byte, 1);
            }
            Body::FunctionReturn => self.add(byte, 1),
            Body::ExceptionReturn if is_m => self.add(byte, 1),
            Body::TransactionStart if !self.parameters.commtrans => self.add(byte, 1),
            Body::Cancel { count, atoms, .. } => {
                self.add(byte, atoms.len());
                let left = self.elements.len().saturating_sub(*count as usize);
                self.elements.truncate(left);
            }
            Body::Commit { count } => self.commit(*count),
            Body::CycleCount { commit: Some(count), .. } => self.commit(*count),
            Body::Discard | Body::Overflow => {
                self.unseen = 0;
                self.elements.clear();
            }
            _ => {}
        }
    }

    fn add(&mut self, byte: u64, count: usize) {
        self.elements.extend(std::iter::repeat_n(byte, count));
        let depth = u32::try_from(self.elements.len()).unwrap_or(u32::MAX).saturating_add(self.unseen);
        self.commit(depth.saturating_sub(self.parameters.maxspec));
    }

    fn commit(&mut self, count: u32) {
        let seen = count.saturating_sub(self.unseen) as usize;
        self.unseen = self.unseen.saturating_sub(count);
        self.elements.drain(..seen.min(self.elements.len()));
    }
}
