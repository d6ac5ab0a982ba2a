//! A capture taken apart bit by bit, for people.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{ArmEtm, Packet, Parameters};
use traceproof_vectors::{Dissection, Fault, Field, Place};

use super::listener::{Consequence, FifoByte, Listener};
use super::port::Port;

/// Takes a capture apart: every record, then every packet whose last byte it carries.
///
/// * A record has the field `PIPESTAT`; of TR also `replaced PIPESTAT`; of a TFO value `TFO`, `N[6:4]` and `N[3:0]`, each
///   in the record that carried it; and `skipped` for FIFO bytes that belong to nothing. It is a unit without packet, or with
///   the fault that its statuses and its place in the stream gave.
/// * A packet has the fields of Table 6.2 (`C`, `A`, `TT`, `SS`) or of a TFO packet header (`L`, `RR`, `J`), then `address`, `value`
///   and `context_id` in as many parts as travelled apart, low part first, and `c` for the continue bits. A header that cannot
///   be used is `header`. The unit's `bytes` reach from the first to the last byte that carried it, with everything between.
/// * A packet that the capture cuts off is a unit without packet: that is no fault.
///
/// Nothing is said about what packets mean in the flow. Empty when the parameters are refused.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters) -> Vec<Dissection<ArmEtm>> {
    let Ok(mut port) = Port::new(parameters) else { return Vec::new() };
    let mut collector = Collector::default();
    port.push(wire, &mut collector);
    port.finish(&mut collector);
    collector.flush();
    collector.units
}

#[derive(Default)]
struct Collector {
    units: Vec<Dissection<ArmEtm>>,
    record: Option<Dissection<ArmEtm>>,
    /// Packets that end in the record.
    packets: Vec<Dissection<ArmEtm>>,
    open: Option<Open>,
    /// Index of the packet that is open or comes next.
    index: u64,
}

/// The packet that is being read.
#[derive(Default)]
struct Open {
    first: u64,
    /// Of its latest byte.
    last: u64,
    fields: Vec<Field>,
}

impl Collector {
    fn flush(&mut self) {
        self.units.extend(self.record.take());
        self.units.append(&mut self.packets);
    }

    /// Ends the packet that is being read; tells whether there is one.
    fn close(&mut self, packet: Option<Result<Packet, Fault>>) -> bool {
        let Some(Open { first, last, fields }) = self.open.take() else { return false };
        let place = Place { packet: self.index, byte: first, bit: 0 };
        self.index += 1;
        self.packets.push(Dissection { place, bytes: first..last + 1, fields, packet });
        true
    }
}

impl Listener for Collector {
    fn trigger(&mut self, _: Place, _: u64) {}

    fn instruction(&mut self, _: Place, _: u64, _: bool, _: bool) {}

    fn packet(&mut self, _: Place, _: u64, packet: &Packet) {
        self.close(Some(Ok(*packet)));
    }

    fn fault(&mut self, fault: &Fault, consequence: Consequence) {
        let is_told = consequence == Consequence::Lost && self.close(Some(Err(*fault)));
        if !is_told && let Some(record) = &mut self.record {
            record.packet = Some(Err(*fault));
        }
    }

    fn end(&mut self, _: Place, _: Option<u64>) {
        self.close(None);
    }

    fn record(&mut self, place: Place, size: u64) {
        self.flush();
        let bytes = place.byte..place.byte + size;
        self.record = Some(Dissection { place, bytes, fields: Vec::new(), packet: None });
    }

    fn pins(&mut self, name: &'static str, offset: u64, first: u8, width: u8, value: u8) {
        if let Some(record) = &mut self.record {
            let (bit, width) = (8 * offset + u64::from(first), u32::from(width));
            record.fields.push(Field { name, bit, width, received: width, value: u64::from(value) });
        }
    }

    fn field(&mut self, name: &'static str, byte: FifoByte, first: u8, width: u8) {
        let open = self.open.get_or_insert_with(|| Open { first: byte.low, ..Open::default() });
        open.last = byte.high.unwrap_or(byte.low);
        let Some(high) = byte.high else {
            open.fields.push(field(name, byte.low, first, width, byte.value));
            return;
        };
        // Two halves of a byte that travelled apart.
        let end = first + width;
        if first < 4 {
            open.fields.push(field(name, byte.low, first, end.min(4) - first, byte.value & 0xf));
        }
        if end > 4 {
            let first = first.max(4) - 4;
            open.fields.push(field(name, high, first, end - 4 - first, byte.value >> 4));
        }
    }
}

/// The field in the bits `first` and up of `carrier`, which is at `offset`.
fn field(name: &'static str, offset: u64, first: u8, width: u8, carrier: u8) -> Field {
    let value = u64::from(carrier >> first) & ((1 << width) - 1);
    let width = u32::from(width);
    Field { name, bit: 8 * offset + u64::from(first), width, received: width, value }
}
