//! A byte stream taken apart bit by bit, for display.

use alloc::vec::Vec;
use core::ops::Range;

use traceproof_vectors::riscv_etrace::{Packet, Parameters, RiscvEtrace};
use traceproof_vectors::{Dissection, Fault, FaultClass, Field, Place};

use super::bits::Observer;
use super::data::DataDissector;
use super::encapsulation::{Content, Deframer, Layout, Unit};
use super::packet::PacketReader;

/// Dissects a stream: every transport unit, every field, and each packet or its fault.
///
/// The fields are those of the transport (`length`, `flow`, `extend`, `srcID`, `timestamp`, `type`, as far as there are
/// such), then those of the packet by their names in ET 7; differentially coded bits have their raw value. The place of
/// a dissection is the first bit of the payload, or of the header where no payload is read. Modes that a support packet
/// announces hold for the packets after it. It does not cover what packets mean in the flow.
///
/// A unit of another source, or of data trace that the parameters do not have, has the fields of the transport and no
/// packet. A field of more than 64 bits is given in two pieces, the low one first. What precedes the synchronisation
/// sequence in a stream that is entered anywhere is one unit without fields.
///
/// Empty when the parameters are refused.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters) -> Vec<Dissection<RiscvEtrace>> {
    let mut dissections = Vec::new();
    dissect_each(wire, parameters, &mut |dissection| dissections.push(dissection));
    dissections
}

/// As [`dissect`], one unit after the other: memory does not grow with the stream.
pub fn dissect_each(wire: &[u8], parameters: &Parameters, each: &mut dyn FnMut(Dissection<RiscvEtrace>)) {
    let (Ok(mut reader), Ok(mut deframer)) = (PacketReader::new(parameters), Deframer::new(parameters))
    else {
        return;
    };
    let layout = *deframer.layout();
    let mut data = DataDissector::new(parameters);
    let mut none_yet = true;
    deframer.push(wire, |unit| {
        if core::mem::take(&mut none_yet) && unit.place.byte > 0 {
            each(unread(0..unit.place.byte));
        }
        let fields = transport_fields(&layout, unit.place, wire, unit.bytes().end);
        each(dissect_unit(unit, fields, &mut reader, data.as_mut()));
    });
    let cut_off = deframer.finish().map(|(_, place)| place);
    if none_yet && let skipped @ 1.. = cut_off.map_or(wire.len() as u64, |place| place.byte) {
        each(unread(0..skipped));
    }
    if let Some(place) = cut_off {
        each(Dissection {
            place,
            bytes: place.byte..wire.len() as u64,
            fields: transport_fields(&layout, place, wire, wire.len() as u64),
            packet: Some(Err(Fault::new(FaultClass::Truncated, place))),
        });
    }
}

/// What comes before any boundary between units is known.
fn unread(bytes: Range<u64>) -> Dissection<RiscvEtrace> {
    Dissection { place: Place::default(), bytes, fields: Vec::new(), packet: None }
}

fn dissect_unit(
    unit: &Unit,
    mut fields: Vec<Field>,
    reader: &mut PacketReader,
    data: Option<&mut DataDissector>,
) -> Dissection<RiscvEtrace> {
    let place = unit.payload_place();
    let first_bit = place.byte * 8 + u64::from(place.bit);
    let (place, packet) = match (unit.content(), data) {
        (Ok(Content::Instruction(payload)), data) => {
            let mut collector =
                Collector { fields: &mut fields, first_bit, received: payload.received_bits() };
            let read = reader.read_observed(place, payload, &mut collector);
            if let (Ok(packet), Some(data)) = (&read, data) {
                data.instruction_packet(packet);
            }
            (place, Some(read))
        }
        (Ok(Content::Data(payload)), Some(data)) => {
            let mut collector =
                Collector { fields: &mut fields, first_bit, received: payload.received_bits() };
            (place, Some(data.read(place, payload, &mut collector).map(Packet::Data)))
        }
        (Ok(_), _) => (unit.place, None),
        (Err(fault), _) => (unit.place, Some(Err(fault))),
    };
    Dissection { place, bytes: unit.bytes(), fields, packet }
}

/// The fields before the payload of the unit from `place` to `end`, as far as they are there.
fn transport_fields(layout: &Layout, place: Place, wire: &[u8], end: u64) -> Vec<Field> {
    let mut fields = Vec::new();
    let bytes = wire.get(place.byte as usize..end as usize).unwrap_or_default();
    layout.fields(place, bytes, &mut |field| fields.push(field));
    fields
}

struct Collector<'a> {
    fields: &'a mut Vec<Field>,
    /// Of the payload, counted from the start of the stream.
    first_bit: u64,
    /// Bits of the payload that travelled.
    received: u32,
}

impl Observer for Collector<'_> {
    fn field(&mut self, name: &'static str, bit: u32, width: u32, value: u64) {
        let received = self.received.saturating_sub(bit).min(width);
        self.fields.push(Field { name, bit: self.first_bit + u64::from(bit), width, received, value });
    }
}
