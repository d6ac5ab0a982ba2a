//! What `explain` shows of a stream: the fields of the transport, then those of the packet, each bit once.

mod packets;
mod transport;

use traceproof_decoder::riscv_etrace::{Content, Deframer, dissect};
use traceproof_encoder_model::riscv_etrace::{Framing, Multiplexer};
use traceproof_vectors::riscv_etrace::{
    Encapsulation, NormalEncapsulation, Packet, Padding, Parameters, PayloadAlignment, RiscvEtrace,
    SiemensMessaging,
};
use traceproof_vectors::{Dissection, Entry, Fault, FaultClass, Field, Place};

use super::{Scenario, decode, encode, retirement};
use crate::generate::Entropy;
use crate::generate::case::damaged;
use transport::{Transport, Unit};

/// Another `srcID` than the one that is followed.
const OTHER: u16 = 0x2a;

/// Sends the execution by several transports, and takes the streams apart: whole, cut off, entered in the middle, and
/// with a byte changed.
///
/// # Errors
///
/// A unit that is elsewhere, a field that the stream does not have, or a packet that the decoder does not read.
pub(super) fn judge(scenario: &Scenario, entropy: &[u8]) -> Result<(), String> {
    let sent = encode(scenario, retirement(scenario)).map_err(|failure| failure.to_string())?;
    of_stream(scenario, &sent.wire)?;
    let entropy = &mut Entropy::new(entropy);
    let mut other = scenario.clone();
    other.policy.flow = entropy.byte() & 3;
    other.parameters.encapsulation = transport(entropy, &scenario.parameters);
    if is_arbitrary(&other.parameters.encapsulation) {
        other.policy.payload_alignment = PayloadAlignment::Before;
    }
    let Ok(sent) = encode(&other, retirement(&other)) else {
        // The packets of these parameters are too long for it.
        return Ok(());
    };
    let wire = of_stream(&other, &sent.wire).map(|()| sent.wire)?;
    let cut = entropy.below(wire.len());
    of_bytes(&wire[..cut], &other.parameters)?;
    let seed = entropy.word();
    (seed..seed.saturating_add(3))
        .try_for_each(|seed| of_bytes(&damaged(&wire, seed), &other.parameters).map(drop))?;
    entered(&wire, &other.parameters)?;
    shared(&other, &wire, entropy)
}

const fn is_arbitrary(encapsulation: &Encapsulation) -> bool {
    matches!(encapsulation, Encapsulation::Normal(NormalEncapsulation { padding: Padding::Arbitrary, .. }))
}

/// Any transport that can carry what is traced.
fn transport(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Encapsulation {
    let source = parameters.data.and_then(|data| data.source);
    let least = source.map_or(0, |source| 16 - source.leading_zeros() as u8);
    let types: &[u8] = if parameters.data.is_some() && source.is_none() { &[1, 3, 8] } else { &[0, 2, 5] };
    match entropy.below(6) {
        0 if parameters.data.is_none() => Encapsulation::Atb,
        1 => {
            let source_bits = entropy.pick(&[6, 8, 11]).max(least);
            let other = u16::from(source == Some(0x15));
            Encapsulation::Siemens(SiemensMessaging { source_bits, source: 0x15 + other, timestamp: true })
        }
        _ => {
            let src_id_bits = entropy.pick(&[0, 3, 6, 8, 13, 16]).max(least);
            let src_id = if src_id_bits == 0 { 0 } else { 5 + u16::from(source == Some(5)) };
            Encapsulation::Normal(NormalEncapsulation {
                src_id_bits,
                src_id,
                timestamp_bytes: entropy.pick(&[0, 1, 3, 8]),
                type_bits: entropy.pick(types),
                padding: entropy.pick(&[Padding::Sign, Padding::Arbitrary]),
                block_bytes: entropy.pick(&[0, 64, 100]),
                first_block: entropy.pick(&[0, 17]),
                ..NormalEncapsulation::default()
            })
        }
    }
}

/// A stream of the encoder model has the packets of the decoder, in their places.
fn of_stream(scenario: &Scenario, wire: &[u8]) -> Result<(), String> {
    let units = of_bytes(wire, &scenario.parameters)?;
    let received = decode(scenario, wire).map_err(|failure| failure.to_string())?;
    let read = units.iter().filter_map(|unit| match &unit.packet {
        Some(Ok(packet)) => Some((unit.place, packet)),
        _ => None,
    });
    let reported = received.entries.iter().filter_map(|(place, entry)| match entry {
        Entry::Packet(packet) => Some((*place, packet)),
        _ => None,
    });
    let faults = units.iter().any(|unit| matches!(unit.packet, Some(Err(_))));
    if read.eq(reported) && !faults {
        Ok(())
    } else {
        Err(format!("{wire:02x?} of {:?} is taken apart as {units:x?}", scenario.parameters.encapsulation))
    }
}

/// Judges the units of a stream, whatever it is.
fn of_bytes(wire: &[u8], parameters: &Parameters) -> Result<Vec<Dissection<RiscvEtrace>>, String> {
    let transport = Transport::new(parameters);
    let framing = Framing::new(&parameters.encapsulation, 0, PayloadAlignment::Before)
        .map_err(|refusal| refusal.to_string())?;
    let units = dissect(wire, parameters);
    let mut expected = transport.units(wire);
    for unit in &units {
        let said = expected.next().is_some_and(|there| {
            let length = framing.packet_length(wire[there.start]);
            let bytes = there.end - there.start;
            let is_long = if there.is_shorter { length > bytes } else { length == bytes };
            is_long && says(unit, &there, wire, parameters)
        });
        if !said {
            return Err(format!("{unit:x?} of {wire:02x?}, {:?}", parameters.encapsulation));
        }
    }
    if expected.next().is_some() {
        return Err(format!("{} units of {wire:02x?}, {:?}", units.len(), parameters.encapsulation));
    }
    deframed(wire, &transport, parameters)?;
    Ok(units)
}

/// Whether a dissection is that of the unit.
fn says(found: &Dissection<RiscvEtrace>, unit: &Unit, wire: &[u8], parameters: &Parameters) -> bool {
    let header = Place { packet: unit.index, byte: unit.start as u64, bit: 0 };
    let (before, after) = found.fields.split_at(unit.fields.len().min(found.fields.len()));
    let place = if unit.payload.is_some() { place_of(unit.index, unit.payload_bit) } else { header };
    let fault = |class, place| found.packet == Some(Err(Fault::new(class, place)));
    let is_right = match &found.packet {
        None => unit.carries_nothing() && !unit.is_cut_off,
        Some(Ok(packet)) => {
            unit.payload.is_some()
                && unit.is_data == matches!(packet, Packet::Data(_))
                && packets::say(packet, after, parameters)
                && is_filled(packet, after, unit)
        }
        Some(Err(_)) if unit.is_cut_off => fault(FaultClass::Truncated, header),
        Some(Err(_)) if unit.is_cut || unit.is_untimed => fault(FaultClass::Framing, header),
        Some(Err(_)) if unit.is_short => fault(FaultClass::Truncated, header),
        Some(Err(_)) if unit.is_unknown => {
            fault(FaultClass::ReservedEncoding, place_of(unit.index, unit.type_bit))
        }
        Some(Err(fault)) => {
            unit.payload.is_some() && fault.place.packet == unit.index && fault.place >= place
        }
    };
    found.bytes == (unit.start as u64..unit.end as u64)
        && found.place == place
        && before == unit.fields
        && (after.is_empty() || unit.payload.is_some())
        && follows(after, unit, wire)
        && is_right
}

const fn place_of(packet: u64, bit: u64) -> Place {
    Place { packet, byte: bit / 8, bit: (bit % 8) as u8 }
}

/// The fields of a packet have one bit after the other; what did not travel are copies of the last one that did.
fn follows(fields: &[Field], unit: &Unit, wire: &[u8]) -> bool {
    let end = unit.payload.unwrap_or_default();
    let bit = |bit: u64| wire[(bit / 8) as usize] >> (bit % 8) & 1;
    let mut next = unit.payload_bit;
    fields.iter().all(|field| {
        let value = (0..field.width.min(64))
            .fold(0, |value, at| value | u64::from(bit((next + u64::from(at)).min(end - 1))) << at);
        let received = end.saturating_sub(next).min(field.width.into());
        let is_right = field.bit == next
            && (1..=64).contains(&field.width)
            && u64::from(field.received) == received
            && field.value == value;
        next += u64::from(field.width);
        is_right
    })
}

/// Fewer bits than a byte are left over, and of a payload that is not whole bytes those of another one.
fn is_filled(packet: &Packet, fields: &[Field], unit: &Unit) -> bool {
    let width: u64 = fields.iter().map(|field| u64::from(field.width)).sum();
    let received = unit.payload.unwrap_or_default() - unit.payload_bit;
    matches!(packet, Packet::StandardSupport(_)) || received <= width.next_multiple_of(8) + 7
}

/// What the deframer says of the units.
fn deframed(wire: &[u8], transport: &Transport, parameters: &Parameters) -> Result<(), String> {
    let mut deframer = Deframer::new(parameters).map_err(|refusal| refusal.to_string())?;
    let mut expected = transport.units(wire);
    let mut wrong = None;
    deframer.push(wire, |found| {
        let said = expected.next().is_some_and(|unit| {
            let content = match found.content() {
                Ok(Content::Null) => unit.is_null,
                Ok(Content::OtherSource) => unit.is_other,
                Ok(Content::Instruction(_)) => unit.payload.is_some() && !unit.is_data,
                Ok(Content::Data(_)) => unit.is_data && (unit.payload.is_some() || unit.is_unwanted),
                Err(_) => unit.is_cut || unit.is_untimed || unit.is_short || unit.is_unknown,
            };
            content
                && found.bytes() == (unit.start as u64..unit.end as u64)
                && found.header.length() == wire[unit.start] & 0x1f
                && found.header.flow() == wire[unit.start] >> 5 & 3
                && found.header.extend() == (wire[unit.start] >= 0x80)
                && found.header.is_null() == unit.is_null
                && (unit.is_shorter
                    || unit.is_null
                    || unit.is_untimed
                    || unit.says("srcID").unwrap_or(0) == u64::from(found.source_id()))
                && (unit.is_shorter || unit.says("timestamp") == found.timestamp())
                && (unit.payload.is_none() || found.payload_place() == place_of(unit.index, unit.payload_bit))
        });
        if !said && wrong.is_none() {
            wrong = Some(format!("{found:x?} of {wire:02x?}, {:?}", parameters.encapsulation));
        }
    });
    wrong.map_or(Ok(()), Err)
}

/// A stream that is entered at an unknown place is read from the first unit after enough null bytes on.
///
/// Spec: RVET-ENCAP-013, RVET-ENCAP-016 (EN 2.3).
fn entered(wire: &[u8], parameters: &Parameters) -> Result<(), String> {
    let Encapsulation::Normal(normal) = parameters.encapsulation else { return Ok(()) };
    let normal = NormalEncapsulation { block_bytes: 0, ..normal };
    let here = Parameters { encapsulation: Encapsulation::Normal(normal), ..parameters.clone() };
    let normal = NormalEncapsulation { synchronised: false, ..normal };
    let anywhere = Parameters { encapsulation: Encapsulation::Normal(normal), ..parameters.clone() };
    let nulls = 31 + usize::from(normal.timestamp_bytes) + usize::from(normal.src_id_bits / 8);
    let before = [vec![0x7f, 0x01], vec![0; nulls]].concat();
    let all = [&before, wire].concat();
    let unread = |bytes: usize| Dissection {
        place: Place::default(),
        bytes: 0..bytes as u64,
        fields: Vec::new(),
        packet: None,
    };
    let shift = before.len() as u64;
    let mut expected = vec![unread(before.len())];
    expected.extend(dissect(wire, &here).into_iter().map(|mut unit| {
        unit.place.byte += shift;
        unit.bytes = unit.bytes.start + shift..unit.bytes.end + shift;
        unit.fields.iter_mut().for_each(|field| field.bit += 8 * shift);
        if let Some(Err(fault)) = &mut unit.packet {
            fault.place.byte += shift;
        }
        unit
    }));
    let units = dissect(&all, &anywhere);
    if units != expected {
        return Err(format!("{all:02x?} of {normal:?} is taken apart as {units:x?}"));
    }
    // Without them nothing is read.
    let few = &all[..before.len() - 1];
    if dissect(few, &anywhere) == [unread(few.len())] && dissect(&[], &anywhere).is_empty() {
        Ok(())
    } else {
        Err(format!("{few:02x?} of {normal:?} is taken apart as {:x?}", dissect(few, &anywhere)))
    }
}

/// Two sources on one stream: each decoder reads its own. Spec: RVET-ENCAP-007, RVET-ENCAP-020 (EN 2).
fn shared(scenario: &Scenario, wire: &[u8], entropy: &mut Entropy<'_>) -> Result<(), String> {
    let mut second = scenario.clone();
    match &mut second.parameters.encapsulation {
        Encapsulation::Normal(normal) if normal.src_id_bits >= 6 => normal.src_id = OTHER,
        Encapsulation::Siemens(siemens) => siemens.source = OTHER,
        _ => return Ok(()),
    }
    if scenario.parameters.data.is_some_and(|data| data.source.is_some()) {
        return Ok(());
    }
    let sent = encode(&second, retirement(&second)).map_err(|failure| failure.to_string())?;
    let mut multiplexer =
        Multiplexer::new(&scenario.parameters.encapsulation, 2).map_err(|refusal| refusal.to_string())?;
    let mut common = Vec::new();
    for (source, bytes) in [wire, &sent.wire].into_iter().enumerate() {
        let (now, later) = bytes.split_at(entropy.below(bytes.len()));
        multiplexer.push(source, now);
        let waiting = multiplexer.waiting(source);
        if waiting != now.len() {
            return Err(format!("{waiting} of {} bytes of source {source} wait", now.len()));
        }
        while multiplexer.take(source, &mut common) {}
        multiplexer.push(source, later);
    }
    while multiplexer.take(0, &mut common) | multiplexer.take(1, &mut common) {}
    let nulls = |bytes: &[u8]| bytes.iter().rev().take_while(|&&byte| byte & 0x1f == 0).count();
    for (source, (scenario, bytes)) in [(scenario, wire), (&second, &sent.wire)].into_iter().enumerate() {
        let units = of_bytes(&common, &scenario.parameters)?;
        let alone = dissect(bytes, &scenario.parameters);
        let packets = |units: &[Dissection<RiscvEtrace>]| -> Vec<Packet> {
            units.iter().filter_map(|unit| unit.packet.and_then(Result::ok)).collect()
        };
        if packets(&units) != packets(&alone) || multiplexer.waiting(source) > nulls(bytes) {
            return Err(format!("{common:02x?} holds {bytes:02x?} and is taken apart as {units:x?}"));
        }
    }
    Ok(())
}
