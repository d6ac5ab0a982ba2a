//! Every retired instruction by itself.

use traceproof_vectors::riscv_etrace::{Event, Packet, RiscvEtrace};
use traceproof_vectors::{Address, Fault, Place, Sink};

use super::program_map::{ProgramMap, Region};

/// A sink that cuts every [`Event::Retire`] into single instructions and passes everything on to another sink.
///
/// The instruction boundaries come from the program. Instructions that the map does not know are passed on in one
/// piece.
#[derive(Debug)]
pub struct Instructions<'a, S: ?Sized> {
    map: &'a ProgramMap,
    /// Where the latest lookup was; most have the same answer.
    region: Region,
    sink: &'a mut S,
}

impl<'a, S: Sink<RiscvEtrace> + ?Sized> Instructions<'a, S> {
    /// Cuts along the instructions of `map` and forwards to `sink`.
    #[must_use]
    pub fn new(map: &'a ProgramMap, sink: &'a mut S) -> Self {
        Self { map, region: Region::default(), sink }
    }

    /// Forwards `count` (more than 1) instructions between these addresses one by one.
    ///
    /// A function of its own, so that all it needs is in registers.
    #[inline(never)]
    fn cut(&mut self, place: &Place, mut first: u64, end: u64, mut count: u64) {
        let mask = self.map.mask();
        while let Some(here) = self.region.halfword(first).or_else(|| self.enter_region(first)) {
            let mut lengths = self.map.lengths().window(here);
            if lengths & 3 == 0 {
                break;
            }
            // After the end of contiguous code there is a half-word without an instruction, so all of them are in it.
            while lengths & 3 != 0 {
                let halfwords = lengths & 3;
                let next = first.wrapping_add(2 * halfwords) & mask;
                self.sink
                    .event(*place, &Event::Retire { first: Address(first), end: Address(next), count: 1 });
                first = next;
                count -= 1;
                if count == 1 {
                    self.sink
                        .event(*place, &Event::Retire { first: Address(first), end: Address(end), count });
                    return;
                }
                lengths >>= 2 * halfwords;
            }
        }
        self.sink.event(*place, &Event::Retire { first: Address(first), end: Address(end), count });
    }

    /// The instruction at `address` is in another region than the one before; its index.
    #[cold]
    fn enter_region(&mut self, address: u64) -> Option<usize> {
        self.region = *self.map.region(address)?;
        self.region.halfword(address)
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
