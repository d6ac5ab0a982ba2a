//! Every retired instruction by itself.

use traceproof_vectors::riscv_etrace::{Event, Packet, RiscvEtrace};
use traceproof_vectors::{Fault, Place, Sink};

use super::program_map::ProgramMap;
use super::report::retired;
use super::starts::Starts;

/// A sink that cuts every [`Event::Retire`] into single instructions and passes everything on to another sink.
///
/// The instruction boundaries come from the program. Instructions that the map does not know are passed on in one
/// piece.
#[derive(Debug)]
pub struct Instructions<'a, S: ?Sized> {
    map: &'a ProgramMap,
    /// Those of the latest lookup; most have the same answer.
    starts: &'a Starts,
    sink: &'a mut S,
}

static NO_STARTS: Starts = Starts::NONE;

impl<'a, S: Sink<RiscvEtrace> + ?Sized> Instructions<'a, S> {
    /// Cuts along the instructions of `map` and forwards to `sink`.
    #[must_use]
    pub fn new(map: &'a ProgramMap, sink: &'a mut S) -> Self {
        Self { map, starts: &NO_STARTS, sink }
    }

    /// Forwards `count` (more than 1) instructions between these addresses one by one.
    ///
    /// A function of its own, so that all it needs is in registers.
    #[inline(never)]
    fn cut(&mut self, place: &Place, first: u64, end: u64, count: u64) {
        match self.starts.between(first, end, count) {
            Some(starts) => forward(starts, place, self.sink),
            None => self.cut_elsewhere(place, first, end, count),
        }
    }

    /// [`cut`](Self::cut) where the latest lookup does not help.
    #[cold]
    fn cut_elsewhere(&mut self, place: &Place, first: u64, end: u64, count: u64) {
        if let Some(starts) = self.map.starts(first) {
            self.starts = starts;
        }
        match self.starts.between(first, end, count) {
            Some(starts) => forward(starts, place, self.sink),
            None => self.cut_by_lengths(place, first, end, count),
        }
    }

    /// [`cut`](Self::cut) from instruction to instruction, as far as there are any.
    fn cut_by_lengths(&mut self, place: &Place, mut first: u64, end: u64, mut count: u64) {
        while count > 1
            && let Some(here) = self.map.locate(first)
        {
            let next = first.wrapping_add(self.map.slot(here).length.into()) & self.map.mask();
            self.sink.event(*place, &retired(first, next, 1));
            first = next;
            count -= 1;
        }
        self.sink.event(*place, &retired(first, end, count));
    }
}

/// Forwards the instructions at all but the last of these addresses, each of which ends at the next one.
///
/// A function of its own, because only of references that are parameters does the compiler know that they lead to
/// different places. So it can have in registers what the sink counts.
#[inline(never)]
fn forward<S>(addresses: &[u64], place: &Place, sink: &mut S)
where
    S: Sink<RiscvEtrace> + ?Sized,
{
    for (&first, &end) in addresses.iter().zip(addresses.iter().skip(1)) {
        sink.event(*place, &retired(first, end, 1));
    }
}

impl<S: Sink<RiscvEtrace> + ?Sized> Sink<RiscvEtrace> for Instructions<'_, S> {
    #[inline]
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.sink.packet(place, packet);
    }

    #[inline]
    fn event(&mut self, place: Place, event: &Event) {
        match *event {
            Event::Retire { first, end, count } if count > 1 => self.cut(&place, first.0, end.0, count),
            _ => self.sink.event(place, event),
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.sink.fault(fault);
    }
}
