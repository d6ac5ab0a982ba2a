//! Transport: any stream in any encapsulation is cut into the same units for any chunks; framed payloads survive a
//! round trip.
//!
//! Input: the constants of the encapsulation in 9 bytes; the rest is the stream, and likewise what is framed.

use traceproof_decoder::riscv_etrace::Demultiplexer;
use traceproof_encoder_model::riscv_etrace::{Trace, TraceKind, Transport};
use traceproof_vectors::Place;
use traceproof_vectors::riscv_etrace::{
    Encapsulation, NormalEncapsulation, Padding, Parameters, Policy, SiemensMessaging,
};

/// Kind, width of the source, source (2 bytes, little-endian), bytes of timestamps, width of the type, flags, size of
/// blocks, first block.
const CONSTANTS: usize = 9;

/// Bytes of a payload that is framed: it fits whatever else there is in a packet.
const PAYLOAD: usize = 20;

/// A block of memory has this many bytes more than the input says, unless that is 0: no blocks.
const LEAST_BLOCK: u32 = 31;

/// A fuzz input for this target; `None` when the encapsulation does not fit into the format.
#[must_use]
pub fn input(encapsulation: &Encapsulation, stream: &[u8]) -> Option<Vec<u8>> {
    let constants = match *encapsulation {
        Encapsulation::Normal(normal) => {
            let [low, high] = normal.src_id.to_le_bytes();
            let flags = u8::from(normal.framed)
                | u8::from(normal.synchronised) << 1
                | u8::from(normal.padding == Padding::Arbitrary) << 2;
            let block = match normal.block_bytes {
                0 => 0,
                bytes => u8::try_from(bytes.checked_sub(LEAST_BLOCK)?).ok()?,
            };
            let first = u8::try_from(normal.first_block).ok()?;
            [0, normal.src_id_bits, low, high, normal.timestamp_bytes, normal.type_bits, flags, block, first]
        }
        Encapsulation::Siemens(siemens) => {
            let [low, high] = siemens.source.to_le_bytes();
            [1, siemens.source_bits, low, high, u8::from(siemens.timestamp), 0, 0, 0, 0]
        }
        Encapsulation::Atb => [2, 0, 0, 0, 0, 0, 0, 0, 0],
        _ => return None,
    };
    Some([&constants[..], stream].concat())
}

fn encapsulation(constants: [u8; CONSTANTS]) -> Encapsulation {
    let [kind, bits, low, high, timestamp, packet_type, flags, block, first] = constants;
    let bits = bits % 17;
    let source = u16::from_le_bytes([low, high]) & ((1_u32 << bits) - 1) as u16;
    match kind % 3 {
        0 => Encapsulation::Normal(NormalEncapsulation {
            src_id_bits: bits,
            src_id: source,
            timestamp_bytes: timestamp % 9,
            type_bits: packet_type % 9,
            framed: flags & 1 != 0,
            synchronised: flags & 2 != 0,
            padding: if flags & 4 != 0 { Padding::Arbitrary } else { Padding::Sign },
            block_bytes: if block == 0 { 0 } else { LEAST_BLOCK + u32::from(block) },
            first_block: first.into(),
        }),
        1 => Encapsulation::Siemens(SiemensMessaging {
            source_bits: bits,
            source,
            timestamp: timestamp & 1 != 0,
        }),
        _ => Encapsulation::Atb,
    }
}

/// A unit: its start, its source, and its bytes.
type Unit = (Place, Option<u16>, Vec<u8>);

fn units<'a>(
    demultiplexer: &mut Demultiplexer,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Unit>, Option<Place>) {
    let mut units = Vec::new();
    for chunk in chunks {
        demultiplexer.push(chunk, |unit| units.push((unit.place, unit.source, unit.bytes.to_vec())));
    }
    (units, demultiplexer.finish())
}

/// Cuts the stream whole, byte by byte and after a reset, and compares; then frames it.
///
/// # Panics
///
/// When the results differ, when a byte after the first boundary belongs to no unit or to two, or when a framed payload
/// does not come back as the unit that it was.
pub fn run(data: &[u8]) {
    let Some((constants, stream)) = data.split_first_chunk::<CONSTANTS>() else { return };
    let encapsulation = encapsulation(*constants);
    let parameters = Parameters { encapsulation, ..Parameters::default() };
    let Ok(mut demultiplexer) = Demultiplexer::new(&parameters) else { return };
    let whole = units(&mut demultiplexer, std::iter::once(stream));
    demultiplexer.reset();
    assert_eq!(whole, units(&mut demultiplexer, std::iter::once(stream)), "reset and replay differ");
    demultiplexer.reset();
    assert_eq!(whole, units(&mut demultiplexer, stream.chunks(1)), "cutting the stream changes the units");
    let (found, rest) = whole;
    let mut next = None;
    for (place, _, bytes) in &found {
        assert!(!bytes.is_empty(), "a unit without bytes at {place:?}");
        assert_eq!(place.byte, next.unwrap_or(place.byte), "units leave a gap or overlap");
        next = Some(place.byte + bytes.len() as u64);
    }
    if let Some(place) = rest {
        assert_eq!(place.byte, next.unwrap_or(place.byte), "the unit that is cut off starts elsewhere");
    } else if let Some(next) = next {
        assert_eq!(next, stream.len() as u64, "bytes at the end belong to no unit");
    }
    comes_back(encapsulation, stream);
}

fn comes_back(encapsulation: Encapsulation, bytes: &[u8]) {
    let Ok(mut transport) = Transport::new(&encapsulation, &Policy::default()) else { return };
    let (mut wire, mut frames) = (Vec::new(), Vec::new());
    for payload in bytes.chunks(PAYLOAD) {
        let bits = 8 * u32::try_from(payload.len()).expect("short");
        let trace = Trace { payload, bits, kind: TraceKind::Instruction, timestamp: Some(u64::from(bits)) };
        let frame = transport.framing().frame(&trace).expect("fits");
        frames.push(frame.bytes().to_vec());
        transport.send(&trace, &mut |bytes| wire.extend_from_slice(bytes)).expect("fits");
    }
    let encapsulation = match encapsulation {
        // What the encoder sends starts at a boundary.
        Encapsulation::Normal(normal) => {
            Encapsulation::Normal(NormalEncapsulation { synchronised: true, ..normal })
        }
        other => other,
    };
    let parameters = Parameters { encapsulation, ..Parameters::default() };
    let mut demultiplexer = Demultiplexer::new(&parameters).expect("known");
    let (units, rest) = units(&mut demultiplexer, std::iter::once(&wire[..]));
    assert_eq!(rest, None);
    let received: Vec<Vec<u8>> =
        units.into_iter().filter(|(_, source, _)| source.is_some()).map(|(_, _, bytes)| bytes).collect();
    assert_eq!(received, frames, "framed payloads do not come back");
}
