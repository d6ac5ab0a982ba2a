//! ETMv1 and ETMv2: records, and the packets that end in them.

use traceproof_decoder::arm_etm::v2::{Carrier, FifoByte};
use traceproof_decoder::arm_etm::{dissect, v1, v2};
use traceproof_vectors::arm_etm::v2::Cycle;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Event, Packet, Parameters};
use traceproof_vectors::{DecoderLimits, Dissection, Fault, Field, Place, Program};

use super::statuses::Statuses;
use super::{Capture, carries, expected, same, unexpected};

/// What the port finds, in the order of units.
#[derive(Default)]
struct Heard {
    units: Vec<Outline>,
    record: Option<Outline>,
    /// Packets that end in the record.
    ended: Vec<Outline>,
    /// Bytes of the FIFO of the packet that is being read, and its fields.
    open: Vec<FifoByte>,
    fields: usize,
    index: u64,
}

/// A record or a packet.
#[derive(Debug)]
struct Outline {
    place: Place,
    end: u64,
    packet: Option<Result<Packet, Fault>>,
    /// Of a packet.
    carriers: Vec<FifoByte>,
    fields: usize,
    is_record: bool,
}

impl Heard {
    fn begin(&mut self, place: Place, size: u64) {
        self.flush();
        let (end, carriers) = (place.byte + size, Vec::new());
        self.record = Some(Outline { place, end, packet: None, carriers, fields: 0, is_record: true });
    }

    fn flush(&mut self) {
        self.units.extend(self.record.take());
        self.units.append(&mut self.ended);
    }

    fn take(&mut self, byte: FifoByte) {
        self.fields += 1;
        if self.open.last() != Some(&byte) {
            self.open.push(byte);
        }
    }

    /// Whether a packet was being read.
    fn close(&mut self, packet: Option<Result<Packet, Fault>>) -> bool {
        let carriers = std::mem::take(&mut self.open);
        let fields = std::mem::take(&mut self.fields);
        let (Some(first), Some(last)) = (carriers.first(), carriers.last()) else { return false };
        let place = Place { packet: self.index, byte: first.low, bit: 0 };
        let end = last.high.unwrap_or(last.low) + 1;
        self.index += 1;
        self.ended.push(Outline { place, end, packet, carriers, fields, is_record: false });
        true
    }

    fn wrong(&mut self, fault: &Fault, ends_packet: bool) {
        if ends_packet && self.close(Some(Err(*fault))) {
            return;
        }
        if let Some(record) = &mut self.record {
            record.packet = Some(Err(*fault));
        }
    }
}

impl v1::Listener for Heard {
    fn event(&mut self, _: Place, _: &Event) {}

    fn packet(&mut self, _: Place, packet: &Packet) {
        self.close(Some(Ok(*packet)));
    }

    fn fault(&mut self, fault: &Fault, consequence: v1::Consequence) {
        self.wrong(fault, consequence == v1::Consequence::GivenUp);
    }

    fn dropped(&mut self) {
        self.close(None);
    }

    fn record(&mut self, place: Place, size: u64) {
        self.begin(place, size);
    }

    fn field(&mut self, _: &'static str, byte: FifoByte, _: u8, _: u8) {
        self.take(byte);
    }
}

impl v2::Listener for Heard {
    fn trigger(&mut self, _: Place, _: u64) {}

    fn instruction(&mut self, _: Place, _: u64, _: bool, _: bool) {}

    fn packet(&mut self, _: Carrier, packet: &Packet) {
        self.close(Some(Ok(*packet)));
    }

    fn fault(&mut self, fault: &Fault, consequence: v2::Consequence) {
        self.wrong(fault, consequence == v2::Consequence::Lost);
    }

    fn end(&mut self, _: Place, _: Option<u64>) {
        self.close(None);
    }

    fn record(&mut self, place: Place, size: u64) {
        self.begin(place, size);
    }

    fn field(&mut self, _: &'static str, byte: FifoByte, _: u8, _: u8) {
        self.take(byte);
    }
}

fn read(wire: &[u8], parameters: &Parameters, program: &Program) -> Result<Vec<Outline>, String> {
    let refused = |refusal: traceproof_vectors::Refusal| refusal.to_string();
    let mut heard = Heard::default();
    if parameters.architecture == Architecture::V1 {
        let limits = DecoderLimits::default();
        let mut port = v1::Port::new(parameters, program, &limits).map_err(refused)?;
        port.push(wire, &mut heard);
        port.finish(&mut heard);
    } else {
        let mut port = v2::Port::new(parameters).map_err(refused)?;
        port.push(wire, &mut heard);
        port.finish(&mut heard);
    }
    heard.flush();
    Ok(heard.units)
}

/// Judges the units of a capture.
pub(super) fn judge(
    wire: &[u8],
    parameters: &Parameters,
    program: &Program,
    capture: Capture,
) -> Result<(), String> {
    let outlines = read(wire, parameters, program)?;
    let units = dissect(wire, parameters, program);
    if units.len() != outlines.len() {
        return Err(format!("{} units instead of {} of {wire:02x?}", units.len(), outlines.len()));
    }
    let size = Cycle::size(parameters) as u64;
    let mut statuses = Statuses::new(parameters, capture);
    // Of the next record.
    let mut next = 0;
    let mut taken = vec![0; wire.len()];
    for (unit, outline) in units.iter().zip(&outlines) {
        let is_as_read = unit.place == outline.place
            && unit.bytes == (outline.place.byte..outline.end)
            && unit.packet == outline.packet;
        let fields = if outline.is_record {
            let follows = unit.bytes.start == next && unit.bytes.end == (next + size).min(wire.len() as u64);
            next = unit.bytes.end;
            follows && statuses.say(unit, wire)
        } else {
            says(unit, outline, parameters)
        };
        if !is_as_read || !fields || !unit.fields.iter().all(|field| takes(field, wire, &mut taken)) {
            return Err(unexpected(unit, wire));
        }
    }
    if next != wire.len() as u64 {
        return Err(format!("records up to {next} of {wire:02x?}"));
    }
    statuses.finish(units.iter().any(|unit| matches!(unit.packet, Some(Ok(_)))), wire)
}

/// A field has its own bits and their value.
fn takes(field: &Field, wire: &[u8], taken: &mut [u8]) -> bool {
    let Some(taken) = usize::try_from(field.bit / 8).ok().and_then(|at| taken.get_mut(at)) else {
        return false;
    };
    let mask = ((1_u32 << field.width.min(8)) - 1) as u8;
    let mask = mask.checked_shl((field.bit % 8) as u32).unwrap_or(0);
    let is_free = *taken & mask == 0;
    *taken |= mask;
    is_free && carries(field, wire)
}

/// Whether the fields of a packet say what it says; those of one that could not be read are there.
fn says(unit: &Dissection<ArmEtm>, outline: &Outline, parameters: &Parameters) -> bool {
    match unit.packet {
        Some(Ok(packet)) => {
            let places: Vec<_> = outline.carriers.iter().map(|byte| (byte.low, byte.high)).collect();
            expected(&packet, parameters, &places).is_some_and(|fields| same(&unit.fields, &fields))
        }
        _ => unit.fields.len() >= outline.fields,
    }
}
