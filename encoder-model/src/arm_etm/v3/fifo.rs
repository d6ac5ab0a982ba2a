//! The FIFO and what follows it: a formatter, or the bare trace port.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use traceproof_vectors::EncoderSink;
use traceproof_vectors::arm_etm::{ArmEtm, Parameters, Policy};

/// TRACECTL of a record that is no trace. Spec: ETM3-MISC-007 (TPIU).
const CONTROL: u8 = 1;
/// TRACEDATA of a record that is a trigger to be captured: the trigger packet.
const TRIGGER: u8 = 0x0c;
/// TRACEDATA of a record that is nothing.
const DISABLED: u8 = 0x01;

/// Output bytes. Per cycle: any number of [`append`](Self::append), one [`end_cycle`](Self::end_cycle).
#[derive(Debug)]
pub(super) struct Fifo {
    size: usize,
    port_bytes: usize,
    bare: bool,
    bytes: VecDeque<u8>,
    /// Bytes (of a bare port, records) that the capture still misses.
    lost: u64,
    /// What leaves in this cycle.
    leaving: Vec<u8>,
}

impl Fifo {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            size: policy.fifo_size.into(),
            port_bytes: policy.port_bytes.into(),
            bare: parameters.bare_port,
            bytes: VecDeque::with_capacity(policy.fifo_size.into()),
            lost: policy.capture_from,
            leaving: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes that fit.
    pub(super) fn free(&self) -> usize {
        self.size.saturating_sub(self.bytes.len())
    }

    /// Places bytes after what is there. The caller has checked [`free`](Self::free).
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// A trigger passes everything that waits.
    pub(super) fn trigger(&mut self) {
        self.leave(CONTROL, TRIGGER);
    }

    /// Ends the cycle. On a bare port a cycle in which nothing leaves makes a record that marks it.
    pub(super) fn end_cycle(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        self.drain(self.port_bytes);
        if self.bare && self.leaving.is_empty() && self.lost == 0 {
            self.leave(CONTROL, DISABLED);
        }
        self.deliver(sink);
    }

    /// Everything leaves.
    pub(super) fn empty(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        self.drain(usize::MAX);
        self.deliver(sink);
    }

    fn drain(&mut self, count: usize) {
        for _ in 0..count {
            let Some(byte) = self.bytes.pop_front() else { break };
            self.leave(0, byte);
        }
    }

    fn leave(&mut self, control: u8, data: u8) {
        if self.lost > 0 {
            self.lost -= 1;
            return;
        }
        if self.bare {
            self.leaving.push(control);
        }
        self.leaving.push(data);
    }

    fn deliver(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        if !self.leaving.is_empty() {
            sink.wire(&self.leaving);
            self.leaving.clear();
        }
    }
}
