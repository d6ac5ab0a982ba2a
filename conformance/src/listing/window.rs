//! A part of a trace: everything is decoded, for later packets depend on earlier ones, and the part is listed.

use std::ops::Range;

use traceproof_vectors::{Fault, Place, Sink};

use crate::family::FamilyRules;
use crate::stream::StreamSink;

/// What is listed; `None` = no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Results of packets with these indices.
    pub packets: Option<Range<u64>>,
    /// Results of packets that begin at these bytes of the stream.
    pub bytes: Option<Range<u64>>,
    /// Only instructions that touch these addresses, and faults.
    pub addresses: Option<Range<u64>>,
}

/// Forwards what is in a window.
#[derive(Debug)]
pub struct Windowed<S> {
    window: Window,
    sink: S,
    /// A packet after the window was delivered.
    past: bool,
    first_packet: Option<Place>,
}

impl Window {
    fn holds(&self, place: Place) -> bool {
        let within = |range: &Option<Range<u64>>, value| range.as_ref().is_none_or(|it| it.contains(&value));
        within(&self.packets, place.packet) && within(&self.bytes, place.byte)
    }

    fn ends_before(&self, place: Place) -> bool {
        let after = |range: &Option<Range<u64>>, value| range.as_ref().is_some_and(|it| value >= it.end);
        after(&self.packets, place.packet) || after(&self.bytes, place.byte)
    }

    fn has<P: FamilyRules>(&self, event: &P::Event) -> bool {
        let Some(addresses) = &self.addresses else { return true };
        let run = P::INSTRUCTIONS.and_then(|instructions| (instructions.run)(event));
        run.is_some_and(|run| {
            let Some(first) = run.first else { return false };
            let last = run.end.map_or(first, |end| end.wrapping_sub(1));
            first < addresses.end && last >= addresses.start
        })
    }
}

impl<S> Windowed<S> {
    /// Forwards to a sink.
    pub const fn new(window: Window, sink: S) -> Self {
        Self { window, sink, past: false, first_packet: None }
    }

    /// The sink, and the place of the first packet of the stream.
    pub fn into_parts(self) -> (S, Option<Place>) {
        (self.sink, self.first_packet)
    }
}

impl<P: FamilyRules, S: Sink<P>> Sink<P> for Windowed<S> {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.first_packet.get_or_insert(place);
        self.past |= self.window.ends_before(place);
        if self.window.addresses.is_none() && self.window.holds(place) {
            self.sink.packet(place, packet);
        }
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        if self.window.holds(place) && self.window.has::<P>(event) {
            self.sink.event(place, event);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        if self.window.holds(fault.place) {
            self.sink.fault(fault);
        }
    }
}

impl<P: FamilyRules, S: StreamSink<P>> StreamSink<P> for Windowed<S> {
    fn follows_bytes(&self) -> bool {
        self.sink.follows_bytes()
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.sink.bytes(bytes);
    }

    /// Where events wait until they are committed, those of the window may come any time later.
    fn is_done(&self) -> bool {
        self.sink.is_done() || (self.past && !P::RESOLVES_SPECULATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::riscv_etrace::{Event, RiscvEtrace};
    use traceproof_vectors::{Address, FaultClass, Log};

    fn place(packet: u64) -> Place {
        Place { packet, byte: 10 * packet, bit: 0 }
    }

    /// Packet `n` reports the instructions at 0x100 * n to 0x100 * n + 8.
    fn windowed(window: Window) -> Vec<u64> {
        let mut sink = Windowed::new(window, Log::<RiscvEtrace>::default());
        for packet in 0..5 {
            let first = 0x100 * packet;
            let event = Event::Retire { first: Address(first), end: Address(first + 8), count: 2 };
            sink.event(place(packet), &event);
        }
        sink.fault(&Fault::new(FaultClass::Truncated, place(5)));
        sink.into_parts().0.entries.iter().map(|(place, _)| place.packet).collect()
    }

    #[test]
    fn windows_are_of_packets_bytes_or_addresses() {
        assert_eq!(windowed(Window::default()), [0, 1, 2, 3, 4, 5]);
        assert_eq!(windowed(Window { packets: Some(1..3), ..Window::default() }), [1, 2]);
        assert_eq!(windowed(Window { bytes: Some(11..40), ..Window::default() }), [2, 3]);
        let addresses = |range| windowed(Window { addresses: Some(range), ..Window::default() });
        assert_eq!(addresses(0x107..0x200), [1, 5], "faults are always listed");
        assert_eq!(addresses(0x108..0x201), [2, 5]);
    }

    #[test]
    fn reading_ends_after_the_window() {
        use traceproof_vectors::riscv_etrace::{Packet, ReportedAddress};
        let address = ReportedAddress::Delta(4);
        let packet =
            Packet::Address { address, notify: false, updiscon: true, irreport: false, irdepth: 0, irets: 0 };
        let mut sink = Windowed::new(Window { packets: Some(1..2), ..Window::default() }, Nothing);
        for (index, done) in [(0, false), (1, false), (2, true)] {
            Sink::<RiscvEtrace>::packet(&mut sink, place(index), &packet);
            assert_eq!(StreamSink::<RiscvEtrace>::is_done(&sink), done, "packet {index}");
        }
        assert_eq!(sink.into_parts().1, Some(place(0)));
    }

    struct Nothing;

    impl Sink<RiscvEtrace> for Nothing {
        fn packet(&mut self, _: Place, _: &traceproof_vectors::riscv_etrace::Packet) {}
        fn event(&mut self, _: Place, _: &Event) {}
        fn fault(&mut self, _: &Fault) {}
    }

    impl StreamSink<RiscvEtrace> for Nothing {
        fn follows_bytes(&self) -> bool {
            false
        }
        fn bytes(&mut self, _: &[u8]) {}
        fn is_done(&self) -> bool {
            false
        }
    }
}
