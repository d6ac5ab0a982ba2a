//! Where packets become bytes, or are lost.

use traceproof_vectors::EncoderSink;
use traceproof_vectors::riscv_etrace::{Compression, Packet, RiscvEtrace};

use super::encapsulation::{Trace, TraceKind};
use super::packet::Layout;
use super::transport::Transport;
use super::wire;

/// The way out of the encoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    layout: Layout,
    compression: Compression,
    transport: Transport,
    /// Time of the item that packets are about, for transports with timestamps.
    time: u64,
    /// The transport takes packets.
    takes: bool,
    /// It has lost some since the latest report of a loss.
    lost: bool,
}

impl Output {
    pub(super) const fn new(layout: Layout, compression: Compression, transport: Transport) -> Self {
        Self { layout, compression, transport, time: 0, takes: true, lost: false }
    }

    /// Packets from now on are about something that happened at `time`.
    pub(super) const fn at(&mut self, time: u64) {
        self.time = time;
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
        let payload = wire::payload(&self.layout, packet, self.compression);
        let trace = Trace {
            payload: payload.bytes(),
            bits: payload.bits(),
            kind: TraceKind::Instruction,
            timestamp: Some(self.time),
        };
        sink.packet(packet);
        let sent = self.transport.send(&trace, &mut |bytes| sink.wire(bytes));
        debug_assert!(
            sent.is_ok(),
            "parameters whose packets could be longer than a frame are refused at `begin`"
        );
    }
}
