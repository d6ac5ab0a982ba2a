//! A stream taken apart bit by bit, for display.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use traceproof_vectors::arm_etm::{ArmEtm, Packet, Parameters};
use traceproof_vectors::{Dissection, Fault, Field, Place};

use super::listener::Listener;
use super::packet::PacketReader;

/// Dissects a stream: every packet, and the bytes between packets that belong to none.
///
/// * A packet has the fields of its header (`A`, `SS`, `TT`, `R`; otherwise `header`, `P-header`), then those of its
///   other bytes, in as many parts as travelled apart, low part first: `address`, `value`, `context_id`, `cycles`,
///   `timestamp`, those of the information byte and of exception information by name; `c` for the continue bits, `E`
///   for "exception information follows", `state` for the state pattern of byte 5. An A-sync has `zeros` (on a bare
///   port only the first) and `end`.
/// * What cannot be used is a unit with a fault.
/// * Bytes that belong to no packet are a unit with the field `skipped`; the trigger of a bare port, one with
///   `TRACECTL`.
/// * A packet that the stream cuts off is a unit without packet: that is no fault.
///
/// It does not cover what packets mean in the flow. Empty when the parameters are refused.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters) -> Vec<Dissection<ArmEtm>> {
    let Ok(mut reader) = PacketReader::new(parameters) else { return Vec::new() };
    let mut collector = Collector::default();
    reader.push(wire, &mut collector);
    reader.finish(&mut collector);
    collector.units
}

#[derive(Default)]
struct Collector {
    units: Vec<Dissection<ArmEtm>>,
    /// Of the packet that is being read.
    fields: Vec<Field>,
    /// Index of the packet that is being read or comes next.
    index: u64,
}

impl Collector {
    /// Ends the packet that is being read, if there is one.
    fn close(&mut self, packet: Option<Result<Packet, Fault>>) {
        let (Some(first), Some(last)) = (self.fields.first(), self.fields.last()) else { return };
        let bytes = first.bit / 8..(last.bit + u64::from(last.width)).div_ceil(8);
        let place = Place { packet: self.index, byte: bytes.start, bit: 0 };
        self.index += 1;
        self.units.push(Dissection { place, bytes, fields: core::mem::take(&mut self.fields), packet });
    }

    /// A unit with one field that is no packet.
    fn aside(&mut self, name: &'static str, bytes: Range<u64>, fault: Option<Fault>) {
        let width = u32::try_from(8 * (bytes.end - bytes.start)).unwrap_or(u32::MAX);
        let fields = vec![Field { name, bit: 8 * bytes.start, width, received: width, value: 0 }];
        let place = Place { packet: self.index, byte: bytes.start, bit: 0 };
        self.units.push(Dissection { place, bytes, fields, packet: fault.map(Err) });
    }
}

impl Listener for Collector {
    const TAKES_FIELDS: bool = true;

    fn packet(&mut self, _: Place, packet: &Packet) {
        self.close(Some(Ok(*packet)));
    }

    fn lost(&mut self, fault: &Fault) {
        if self.fields.is_empty() {
            let byte = fault.place.byte;
            self.aside("TRACECTL", byte..byte + 1, Some(*fault));
        } else {
            self.close(Some(Err(*fault)));
        }
    }

    fn trigger(&mut self, place: Place) {
        self.aside("TRACECTL", place.byte..place.byte + 2, None);
    }

    fn end(&mut self, _: Place, cut_record: Option<&Fault>, _: bool) {
        self.close(None);
        if let Some(fault) = cut_record {
            let byte = fault.place.byte;
            self.aside("TRACECTL", byte..byte + 1, Some(*fault));
        }
    }

    fn field(&mut self, name: &'static str, offset: u64, first: u8, width: u32, value: u64) {
        let bit = 8 * offset + u64::from(first);
        self.fields.push(Field { name, bit, width, received: width, value });
    }

    fn skipped(&mut self, bytes: Range<u64>) {
        self.aside("skipped", bytes, None);
    }
}
