//! Every retired instruction by itself.

use traceproof_vectors::riscv_etrace::{Event, Packet, RiscvEtrace};
use traceproof_vectors::{Fault, Place, Sink};

use super::program_map::ProgramMap;

/// A sink that cuts every [`Event::Retire`] into single instructions and hands everything on to another sink.
///
/// The instruction boundaries come from the program. Instructions that the map does not know are handed on in one piece.
#[derive(Debug)]
pub struct Instructions<'a, S: ?Sized> {
    map: &'a ProgramMap,
    sink: &'a mut S,
}

impl<'a, S: Sink<RiscvEtrace> + ?Sized> Instructions<'a, S> {
    /// Cuts along the instructions of `map` and hands on to `sink`.
    #[must_use]
    pub fn new(map: &'a ProgramMap, sink: &'a mut S) -> Self {
        Self { map, sink }
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
            Event::Retire { first, end, count } => cut(self.map, self.sink, place, (first, end, count)),
            _ => self.sink.event(place, event),
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.sink.fault(fault);
    }
}

/// Hands on `count` instructions between these addresses one by one.
///
/// A function of its own, because a sink that nothing else refers to can be kept in registers.
fn cut<S>(map: &ProgramMap, sink: &mut S, place: Place, (mut first, end, mut count): (u64, u64, u64))
where
    S: Sink<RiscvEtrace> + ?Sized,
{
    let mask = map.mask();
    while count > 1
        && let Some(here) = map.halfword(first)
    {
        let mut lengths = map.lengths().window(here);
        if lengths & 3 == 0 {
            break;
        }
        // Behind the end of contiguous code there is a half-word without an instruction, so all of them are in it.
        while count > 1 && lengths & 3 != 0 {
            let halfwords = lengths & 3;
            let next = first.wrapping_add(2 * halfwords) & mask;
            sink.event(place, &Event::Retire { first, end: next, count: 1 });
            (first, count) = (next, count - 1);
            lengths >>= 2 * halfwords;
        }
    }
    if count > 0 {
        sink.event(place, &Event::Retire { first, end, count });
    }
}
