//! A byte stream taken apart bit by bit, for people.

use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Parameters, RiscvEtrace};
use traceproof_vectors::{Dissection, Fault, FaultClass, Field, Place};

use super::bits::Observer;
use super::encapsulation::{Deframer, Header, Unit};
use super::packet::PacketReader;

/// Takes a stream apart: every transport unit, every field, and what each packet is or why it is none.
///
/// The fields are those of the transport header (`length`, `flow`, `extend`), then those of the packet by
/// their names in ET 7; differentially coded bits have their raw value. The place of a dissection is the first bit
/// of the payload, or of the header where there is no payload. Modes that a support packet announces hold for the packets
/// behind it. Nothing is said about what packets mean in the flow.
///
/// Empty when the parameters are refused.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters) -> Vec<Dissection<RiscvEtrace>> {
    let (Ok(mut reader), Ok(mut deframer)) = (PacketReader::new(parameters), Deframer::new(parameters))
    else {
        return Vec::new();
    };
    let mut dissections = Vec::new();
    deframer.push(wire, |unit| dissections.push(dissect_unit(unit, &mut reader)));
    if let Some((header, place)) = deframer.finish() {
        dissections.push(Dissection {
            place,
            bytes: place.byte..wire.len() as u64,
            fields: header_fields(header, place).into(),
            packet: Some(Err(Fault { class: FaultClass::Truncated, place, address: None })),
        });
    }
    dissections
}

fn dissect_unit(unit: &Unit, reader: &mut PacketReader) -> Dissection<RiscvEtrace> {
    let mut fields = Vec::from(header_fields(unit.header, unit.place));
    let (place, packet) = match unit.payload() {
        Ok(Some(payload)) => {
            let place = unit.payload_place();
            let received = payload.received_bits();
            let mut collector = Collector { fields: &mut fields, first_bit: place.byte * 8, received };
            (place, Some(reader.read_observed(place, payload, &mut collector)))
        }
        Ok(None) => (unit.place, None),
        Err(fault) => (unit.place, Some(Err(fault))),
    };
    Dissection { place, bytes: unit.bytes(), fields, packet }
}

/// Spec: RVET-ENCAP-001 (EN 2.1.1).
fn header_fields(header: Header, place: Place) -> [Field; 3] {
    let field = |name, first, width, value| Field {
        name,
        bit: place.byte * 8 + first,
        width,
        received: width,
        value: u64::from(value),
    };
    [
        field("length", 0, 5, header.length()),
        field("flow", 5, 2, header.flow()),
        field("extend", 7, 1, u8::from(header.extend())),
    ]
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
