//! Where packets become bytes, or are lost.

use traceproof_vectors::EncoderSink;
use traceproof_vectors::riscv_etrace::{Compression, DataOptions, Packet, Policy, RiscvEtrace, Timestamps};

use super::lanes::Lanes;
use super::packet::Layout;
use super::wire;

/// The output of the encoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    layout: Layout,
    compression: Compression,
    timestamps: Timestamps,
    lanes: Lanes,
    /// Time of the item that packets are about, for transports with timestamps.
    time: u64,
    /// The transport takes packets.
    takes: bool,
    /// It has lost some since the latest report of a loss.
    lost: bool,
}

impl Output {
    pub(super) const fn new(layout: Layout, policy: &Policy, lanes: Lanes) -> Self {
        let (compression, timestamps) = (policy.compression, policy.timestamps);
        Self { layout, compression, timestamps, lanes, time: 0, takes: true, lost: false }
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

    /// Options of data trace that shape its packets from here on.
    pub(super) const fn data_options(&mut self, options: DataOptions) {
        if let Some(fields) = &mut self.layout.data {
            fields.options = options;
        }
    }

    /// Spec: RVET-ENCAP-008 (EN 2.1.1): every packet may have one or not.
    const fn has_timestamp(&self, packet: &Packet) -> bool {
        match self.timestamps {
            Timestamps::Always => true,
            Timestamps::Synchronisation => matches!(packet, Packet::Start { .. } | Packet::Trap { .. }),
            Timestamps::Never => false,
        }
    }

    /// Sends a packet; whether the transport took it.
    pub(super) fn send(&mut self, packet: &Packet, sink: &mut dyn EncoderSink<RiscvEtrace>) -> bool {
        if !self.takes {
            self.lost |= !matches!(packet, Packet::Data(_));
            return false;
        }
        let payload = wire::payload(&self.layout, packet, self.compression);
        let time = self.has_timestamp(packet).then_some(self.time);
        sink.packet(packet);
        let sent = self.lanes.send(packet, &payload, time, &mut |bytes| sink.wire(bytes));
        debug_assert!(
            sent.is_ok(),
            "parameters whose packets could be longer than a frame are refused at `begin`"
        );
        true
    }
}
