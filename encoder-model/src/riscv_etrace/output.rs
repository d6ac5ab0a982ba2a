//! Where packets become bytes, or are lost.

use traceproof_vectors::EncoderSink;
use traceproof_vectors::riscv_etrace::{Compression, Packet, RiscvEtrace};

use super::encapsulation::Frame;
use super::packet::Layout;
use super::wire;

/// The way out of the encoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    layout: Layout,
    compression: Compression,
    /// The transport takes packets.
    takes: bool,
    /// It has lost some since the latest report of a loss.
    lost: bool,
}

impl Output {
    pub(super) const fn new(layout: Layout, compression: Compression) -> Self {
        Self { layout, compression, takes: true, lost: false }
    }

    /// The transport changes; whether packets were lost that must be reported now.
    ///
    /// Spec: RVET-ENC-046, RVET-ENC-078 (ET 9.3, 7.5).
    pub(super) fn transport(&mut self, takes: bool) -> bool {
        self.takes = takes;
        takes && core::mem::take(&mut self.lost)
    }

    /// Sends a packet.
    pub(super) fn send(&mut self, packet: &Packet, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        if !self.takes {
            self.lost = true;
            return;
        }
        sink.packet(packet);
        // Parameters whose packets could be longer than a frame are refused at `begin`.
        if let Some(frame) = Frame::new(wire::payload(&self.layout, packet, self.compression).bytes()) {
            sink.wire(frame.bytes());
        }
    }
}
