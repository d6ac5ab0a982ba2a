//! ETMv3: every byte belongs to one unit.

use traceproof_decoder::arm_etm::dissect;
use traceproof_decoder::arm_etm::v3::{Listener, PacketReader};
use traceproof_vectors::arm_etm::{ArmEtm, Packet, Parameters};
use traceproof_vectors::{Dissection, Fault, FaultClass, Place, Program};

use super::{carries, expected, same, unexpected};
use crate::generate::tiles;

/// What the packet reader finds, by its fast path where it can.
#[derive(Default)]
struct Heard {
    packets: Vec<(Place, Packet)>,
    faults: Vec<Fault>,
    /// The records of triggers of a bare port.
    triggers: Vec<Place>,
    is_cut: bool,
}

impl Listener for Heard {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.packets.push((place, *packet));
    }

    fn lost(&mut self, fault: &Fault) {
        self.faults.push(*fault);
    }

    fn trigger(&mut self, place: Place) {
        self.triggers.push(place);
    }

    fn end(&mut self, _: Place, cut_record: Option<&Fault>, cut_packet: bool) {
        self.faults.extend(cut_record);
        self.is_cut = cut_packet;
    }
}

/// Judges the units of a stream.
pub(super) fn judge(wire: &[u8], parameters: &Parameters, program: &Program) -> Result<(), String> {
    let mut reader = PacketReader::new(parameters).map_err(|refusal| refusal.to_string())?;
    let mut heard = Heard::default();
    reader.push(wire, &mut heard);
    reader.finish(&mut heard);
    let units = dissect(wire, parameters, program);
    let mut found = Heard::default();
    let (mut end, mut index) = (0, 0);
    for (number, unit) in units.iter().enumerate() {
        let follows = unit.place == Place { packet: index, byte: unit.bytes.start, bit: 0 }
            && (parameters.bare_port || unit.bytes.start == end || shares_zero(&units, number, wire));
        if !follows || !is_right(unit, &mut found, wire, parameters)? {
            return Err(unexpected(unit, wire));
        }
        (end, index) = (unit.bytes.end, index + u64::from(!is_aside(unit)));
    }
    let is_whole =
        if parameters.bare_port { covers(&units, wire, parameters) } else { end == wire.len() as u64 };
    let same = (&found.packets, &found.faults) == (&heard.packets, &heard.faults)
        && (found.triggers, found.is_cut) == (heard.triggers, heard.is_cut);
    if is_whole && same { Ok(()) } else { Err(format!("{wire:02x?} is taken apart as {units:x?}")) }
}

/// Of a bare port every byte of the trace belongs to a unit, but for the zeros after the first one of an A-sync.
fn covers(units: &[Dissection<ArmEtm>], wire: &[u8], parameters: &Parameters) -> bool {
    let mut units = units.iter().filter(|unit| unit.fields.iter().any(|field| field.name != "TRACECTL"));
    let mut unit = units.next();
    (0..wire.len() as u64).filter(|&at| is_trace(at, wire, parameters)).all(|at| {
        while unit.is_some_and(|unit| unit.bytes.end <= at) {
            unit = units.next();
        }
        unit.is_some_and(|unit| unit.bytes.contains(&at)) || wire[at as usize] == 0
    })
}

/// The byte at fault may begin an A-sync.
fn shares_zero(units: &[Dissection<ArmEtm>], number: usize, wire: &[u8]) -> bool {
    let Some([before, unit]) = number.checked_sub(1).and_then(|first| units.get(first..=number)) else {
        return false;
    };
    let zero = usize::try_from(unit.bytes.start).ok().and_then(|at| wire.get(at)) == Some(&0);
    let is_sync = matches!(unit.packet, Some(Ok(Packet::AlignmentSync { .. })) | None);
    zero && is_sync && matches!(before.packet, Some(Err(_))) && unit.bytes.start + 1 == before.bytes.end
}

/// Units that no packet is in: what was skipped, and marks of a bare port.
fn is_aside(unit: &Dissection<ArmEtm>) -> bool {
    matches!(unit.fields.as_slice(), [field] if matches!(field.name, "skipped" | "TRACECTL"))
}

/// Whether the unit is what it says; it is added to what was found.
fn is_right(
    unit: &Dissection<ArmEtm>,
    found: &mut Heard,
    wire: &[u8],
    parameters: &Parameters,
) -> Result<bool, String> {
    let bytes = unit.bytes.end - unit.bytes.start;
    if is_aside(unit) {
        let field = &unit.fields[0];
        let is_whole = (field.bit, field.value) == (8 * unit.bytes.start, 0)
            && u64::from(field.width) == 8 * bytes
            && field.received == field.width;
        let is_mark = field.name == "TRACECTL";
        match unit.packet {
            None if is_mark => found.triggers.push(unit.place),
            Some(Err(fault)) if is_mark => found.faults.push(fault),
            None => {}
            Some(_) => return Ok(false),
        }
        let expected = match unit.packet {
            None if is_mark => 2,
            Some(_) => 1,
            None => bytes,
        };
        return Ok(is_whole && bytes == expected && (!is_mark || parameters.bare_port));
    }
    if parameters.bare_port {
        if !unit.fields.iter().all(|field| field.bit / 8 % 2 == 1 && carries(field, wire)) {
            return Ok(false);
        }
    } else {
        tiles(unit, wire)?;
    }
    let Some(packet) = unit.packet else {
        // Only the last unit is cut off.
        let is_last = !found.is_cut;
        found.is_cut = true;
        return Ok(is_last);
    };
    let packet = match packet {
        Ok(packet) => packet,
        Err(fault) => {
            found.faults.push(fault);
            let is_last = parameters.bare_port
                || fault.place.byte + 1 == unit.bytes.end
                || (fault.class == FaultClass::Framing && fault.place.byte == unit.bytes.start);
            return Ok(fault.place.packet == unit.place.packet && is_last);
        }
    };
    found.packets.push((unit.place, packet));
    let carriers = unit.bytes.clone().filter(|&at| is_trace(at, wire, parameters));
    let places: Vec<_> = carriers.map(|at| (at, None)).collect();
    Ok(expected(&packet, parameters, &places).is_some_and(|fields| same(&unit.fields, &fields)))
}

/// Whether the byte at this offset is one of the trace.
fn is_trace(at: u64, wire: &[u8], parameters: &Parameters) -> bool {
    let control = || usize::try_from(at).ok()?.checked_sub(1).and_then(|control| wire.get(control)).copied();
    !parameters.bare_port || (at % 2 == 1 && control() == Some(0))
}
