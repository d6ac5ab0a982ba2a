//! The buffer of a trace unit, and the bytes that a capture misses.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use traceproof_vectors::{EncoderSink, Protocol};

/// Bytes on their way out.
#[derive(Debug)]
pub(crate) struct Fifo {
    size: usize,
    port_bytes: usize,
    bytes: VecDeque<u8>,
    /// Bytes that the capture still misses.
    lost: u64,
    /// What leaves in this step.
    leaving: Vec<u8>,
}

impl Fifo {
    /// Holds `size` bytes, of which `port_bytes` leave in each step; 0 = any number. The capture misses the first `lost`
    /// bytes.
    pub(crate) fn new(size: u16, port_bytes: u16, lost: u64) -> Self {
        let limit = |bytes: u16| if bytes == 0 { usize::MAX } else { bytes.into() };
        Self {
            size: limit(size),
            port_bytes: limit(port_bytes),
            bytes: VecDeque::new(),
            lost,
            leaving: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes all the bytes or none.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.size.saturating_sub(self.bytes.len());
        if fits {
            self.bytes.extend(bytes);
        }
        fits
    }

    /// Takes all the bytes, which leave at once. Whether they fit, which they do.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> bool {
        self.bytes.extend(bytes);
        true
    }

    /// What the port takes in a step leaves.
    pub(crate) fn end_step<P: Protocol>(&mut self, sink: &mut dyn EncoderSink<P>) {
        self.drain(self.port_bytes, sink);
    }

    /// Everything leaves.
    pub(crate) fn empty<P: Protocol>(&mut self, sink: &mut dyn EncoderSink<P>) {
        self.drain(usize::MAX, sink);
    }

    fn drain<P: Protocol>(&mut self, count: usize, sink: &mut dyn EncoderSink<P>) {
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
