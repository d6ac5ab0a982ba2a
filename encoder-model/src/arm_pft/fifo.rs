//! The FIFO, and the bytes that a capture misses.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use traceproof_vectors::EncoderSink;
use traceproof_vectors::arm_pft::{ArmPft, Policy};

/// Bytes on their way out.
#[derive(Debug)]
pub(super) struct Fifo {
    size: usize,
    port_bytes: usize,
    bytes: VecDeque<u8>,
    /// Bytes that the capture still misses.
    lost: u64,
    /// What leaves in this step.
    leaving: Vec<u8>,
}

impl Fifo {
    pub(super) fn new(policy: &Policy) -> Self {
        let limit = |bytes: u16| if bytes == 0 { usize::MAX } else { bytes.into() };
        Self {
            size: limit(policy.fifo_bytes),
            port_bytes: limit(policy.port_bytes),
            bytes: VecDeque::new(),
            lost: policy.capture_from,
            leaving: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes all the bytes or none. Spec: 4.8 (reading `pft-overflow-cuts-no-packet`).
    pub(super) fn append(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.size.saturating_sub(self.bytes.len());
        if fits {
            self.bytes.extend(bytes);
        }
        fits
    }

    /// What the port takes in a step leaves.
    pub(super) fn end_step(&mut self, sink: &mut dyn EncoderSink<ArmPft>) {
        self.drain(self.port_bytes, sink);
    }

    /// Everything leaves.
    pub(super) fn empty(&mut self, sink: &mut dyn EncoderSink<ArmPft>) {
        self.drain(usize::MAX, sink);
    }

    fn drain(&mut self, count: usize, sink: &mut dyn EncoderSink<ArmPft>) {
        let count = count.min(self.bytes.len());
        for byte in self.bytes.drain(..count) {
            if self.lost > 0 {
                self.lost -= 1;
            } else {
                self.leaving.push(byte);
            }
        }
        if !self.leaving.is_empty() {
            sink.wire(&self.leaving);
            self.leaving.clear();
        }
    }
}
