//! Passes retired instructions to the sink.

use traceproof_vectors::riscv_etrace::{Event, RiscvEtrace};
use traceproof_vectors::{Address, Place, Sink};

/// `count` instructions from the address `first` up to the address `end`.
pub(super) const fn retired(first: u64, end: u64, count: u64) -> Event {
    Event::Retire { first: Address(first), end: Address(end), count }
}

/// Joins consecutive instructions into one event.
pub(super) struct Report<'a, S: ?Sized> {
    pub(super) sink: &'a mut S,
    pub(super) place: Place,
    first: u64,
    end: u64,
    count: u64,
}

impl<'a, S: Sink<RiscvEtrace> + ?Sized> Report<'a, S> {
    pub(super) fn new(place: Place, sink: &'a mut S) -> Self {
        Self { sink, place, first: 0, end: 0, count: 0 }
    }

    /// `count` instructions retired, from the address `first` up to the address `end`.
    #[inline]
    pub(super) fn add(&mut self, first: u64, end: u64, count: u64) {
        if count == 0 {
            return;
        }
        if self.count > 0 && self.end == first {
            self.count += count;
        } else {
            self.flush();
            (self.first, self.count) = (first, count);
        }
        self.end = end;
    }

    /// Reports what is joined so far.
    #[inline]
    pub(super) fn flush(&mut self) {
        if self.count > 0 {
            let &mut Self { first, end, count, .. } = self;
            self.sink.event(self.place, &retired(first, end, count));
            self.count = 0;
        }
    }
}
