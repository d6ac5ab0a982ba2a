//! Follows short packets without building a [`Packet`](traceproof_vectors::riscv_etrace::Packet) for it.

use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{Place, Sink};

use super::short_packets::ShortPacket;
use crate::riscv_etrace::flow::Flow;
use crate::riscv_etrace::flow::reports::Reported;

impl Flow {
    /// Whether the next report can be followed as it is: nothing is missing, pending or open.
    #[inline(always)]
    pub(in crate::riscv_etrace) fn is_following(&self) -> bool {
        // While refusing, nothing is synchronised.
        !self.start_of_trace && self.provisional.is_none() && !self.chain.is_open()
    }

    /// [`packet`](Self::packet) for formats 1 and 2 while [following](Self::is_following). Inlined, so that the packet
    /// need not be in memory.
    #[inline(always)]
    pub(in crate::riscv_etrace) fn short_packet<S>(
        &mut self,
        place: Place,
        packet: &ShortPacket,
        sink: &mut S,
    ) where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let (count, map) = packet.outcomes();
        self.walker.outcomes.append(map, count);
        let reported = match packet.reported() {
            None => {
                self.last_before_synchronisation = false;
                Reported { address: None, notify: false, updiscon: false, definite: false, depth: None }
            }
            Some(reported) => Reported {
                address: Some(self.resolve(reported.address())),
                notify: reported.notify(),
                updiscon: reported.updiscon(),
                definite: false,
                depth: self.reported_depth(reported.irreport(), reported.returns()),
            },
        };
        if let Err(trouble) = self.approach(place, Some(reported), sink) {
            self.fail(trouble, place, sink);
        }
    }
}
