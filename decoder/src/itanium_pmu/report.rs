//! Passes the results of one record to the sink.

use traceproof_vectors::itanium_pmu::{Event, ItaniumPmu, Packet};
use traceproof_vectors::{Fault, FaultClass, Place, Sink};

/// Where results of one record go.
pub(super) struct Report<'a, S: ?Sized> {
    pub(super) sink: &'a mut S,
    pub(super) place: Place,
}

impl<S: Sink<ItaniumPmu> + ?Sized> Report<'_, S> {
    pub(super) fn packet(&mut self, packet: Packet) {
        self.sink.packet(self.place, &packet);
    }

    pub(super) fn event(&mut self, event: Event) {
        self.sink.event(self.place, &event);
    }

    /// A fault at `bit` of the record, 0 to 127.
    pub(super) fn fault(&mut self, class: FaultClass, bit: u8) {
        let byte = self.place.byte + u64::from(bit / 8);
        let place = Place { byte, bit: bit % 8, ..self.place };
        self.sink.fault(&Fault::new(class, place));
    }
}
