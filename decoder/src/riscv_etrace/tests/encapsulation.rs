//! The transport: every width, every place, other sources, entry anywhere.
//!
//! Expected values come from the worked examples, from hand, or from [`Travel::bytes`], which writes a packet down as one
//! string of bits exactly as EN 2.1 words it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::riscv_etrace::{
    Encapsulation, NormalEncapsulation, Padding, Parameters, RiscvEtrace, SiemensMessaging,
};
use traceproof_vectors::{Decoder as _, Fault, FaultClass, Field, Log, Place, Program, Refusal};

use super::{JUMP, NOP, bytes, decode, frame, program, story_of};
use crate::riscv_etrace::{Content, Decoder, Deframer, Demultiplexer, Payload, ProgramMap, dissect};

fn parameters(encapsulation: Encapsulation) -> Parameters {
    Parameters { encapsulation, ..Parameters::default() }
}

fn normal(normal: NormalEncapsulation) -> Parameters {
    parameters(Encapsulation::Normal(normal))
}

fn siemens(source: u16) -> Parameters {
    parameters(Encapsulation::Siemens(SiemensMessaging { source, ..SiemensMessaging::default() }))
}

/// A unit in words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    packet: u64,
    byte: u64,
    content: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Null,
    Instruction(Carried),
    Data(Carried),
    OtherSource(u16, Option<u64>),
    Faulty(FaultClass),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Carried {
    source: u16,
    timestamp: Option<u64>,
    /// First bit of the payload, counted from that of the header.
    first_bit: u64,
    bits: Vec<bool>,
}

fn units(parameters: &Parameters, chunks: &[&[u8]]) -> (Vec<Seen>, Option<Place>) {
    let mut deframer = Deframer::new(parameters).expect("supported");
    let mut seen = Vec::new();
    for chunk in chunks {
        deframer.push(chunk, |unit| {
            let carried = |payload: &Payload| {
                let place = unit.payload_place();
                assert_eq!(place.packet, unit.place.packet);
                Carried {
                    source: unit.source_id(),
                    timestamp: unit.timestamp(),
                    first_bit: 8 * (place.byte - unit.place.byte) + u64::from(place.bit),
                    bits: (0..payload.received_bits()).map(|bit| payload.bits(bit, 1) != 0).collect(),
                }
            };
            let content = match unit.content() {
                Ok(Content::Null) => What::Null,
                Ok(Content::Instruction(payload)) => What::Instruction(carried(payload)),
                Ok(Content::Data(payload)) => What::Data(carried(payload)),
                Ok(Content::OtherSource) => What::OtherSource(unit.source_id(), unit.timestamp()),
                Err(fault) => What::Faulty(fault.class),
            };
            seen.push(Seen { packet: unit.place.packet, byte: unit.place.byte, content });
        });
    }
    (seen, deframer.finish().map(|(_, place)| place))
}

fn bits_of(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 != 0)).collect()
}

/// The only unit of an example: source, timestamp, first payload bit, payload as sign-extended number.
fn example(parameters: &Parameters, wire: &str) -> (bool, u16, Option<u64>, u64, i64) {
    let (seen, end) = units(parameters, &[&bytes(wire)]);
    assert_eq!(end, None, "{wire}");
    let [Seen { content, .. }] = seen.as_slice() else { panic!("{wire}: {seen:?}") };
    let (data, Carried { source, timestamp, first_bit, bits }) = match content {
        What::Instruction(carried) => (false, carried.clone()),
        What::Data(carried) => (true, carried.clone()),
        other => panic!("{wire}: {other:?}"),
    };
    let top = *bits.last().expect("a payload is not empty");
    let value =
        (0..64).rev().fold(0_i64, |value, bit| value << 1 | i64::from(*bits.get(bit).unwrap_or(&top)));
    (data, source, timestamp, first_bit, value)
}

#[test]
fn worked_examples() {
    let plain = NormalEncapsulation::default();
    let one = NormalEncapsulation { src_id_bits: 8, src_id: 0x0a, ..plain };
    // N01, N02
    assert_eq!(example(&normal(plain), "02 22 12"), (false, 0, None, 8, 0x1222));
    assert_eq!(example(&normal(one), "02 0a 22 12"), (false, 0x0a, None, 16, 0x1222));
    // N03: filled to whole bytes, and packed bit by bit
    let typed = normal(NormalEncapsulation { type_bits: 1, ..one });
    assert_eq!(example(&typed, "03 0a 44 24 00"), (false, 0x0a, None, 17, 0x1222));
    assert_eq!(example(&typed, "02 0a 44 24"), (false, 0x0a, None, 17, 0x1222));
    // N04
    assert_eq!(example(&siemens(5), "03 85 22 12"), (false, 5, None, 16, 0x1222));
    // N05
    let timed = normal(NormalEncapsulation { timestamp_bytes: 2, ..one });
    assert_eq!(example(&timed, "a2 0a 34 12 22 12"), (false, 0x0a, Some(0x1234), 32, 0x1222));
    // N06, N07, N08
    let odd = NormalEncapsulation { src_id_bits: 12, src_id: 0xabc, ..plain };
    assert_eq!(example(&normal(odd), "03 bc 2a 22 01"), (false, 0xabc, None, 20, 0x1222));
    let odd_typed = normal(NormalEncapsulation { type_bits: 1, ..odd });
    assert_eq!(example(&odd_typed, "03 bc 5a 7f ff"), (true, 0xabc, None, 21, -0x0406));
    let four = normal(NormalEncapsulation { src_id_bits: 4, src_id: 9, ..plain });
    assert_eq!(example(&four, "02 29 00"), (false, 9, None, 12, 0x02));
    // N09
    let only_timed = normal(NormalEncapsulation { timestamp_bytes: 4, ..plain });
    assert_eq!(example(&only_timed, "81 04 03 02 01 1f"), (false, 0, Some(0x0102_0304), 40, 0x1f));
    // N12, N13, N14
    assert_eq!(example(&siemens(1), "06 81 32 04 00 00 02"), (false, 1, None, 16, 0x02_0000_0432));
    let value = 0x0020_0000_68aa_aabd;
    assert_eq!(example(&siemens(0xa), "08 8a bd aa aa 68 00 00 20"), (false, 0xa, None, 16, value));
    let (data, source, _, first_bit, low) = example(&siemens(5), "0a 85 73 00 00 00 00 91 82 00 10");
    assert_eq!((data, source, first_bit, low), (false, 5, 16, 0x0082_9100_0000_0073));
}

#[test]
fn null_packets() {
    // N10; flow bits do not matter.
    for parameters in [Parameters::default(), siemens(0)] {
        let (seen, end) = units(&parameters, &[&bytes("00 80 e0 60")]);
        let expected: Vec<Seen> = (0..4).map(|byte| Seen { packet: 0, byte, content: What::Null }).collect();
        assert_eq!((seen, end), (expected, None));
    }
    // N11: 32 x idle and alignment in front of a packet, where `srcID` has a byte.
    let entering =
        normal(NormalEncapsulation { src_id_bits: 8, src_id: 1, synchronised: false, ..Default::default() });
    let mut wire = alloc::vec![0; 32];
    wire.extend(bytes("80 01 01 1f"));
    let (seen, _) = units(&entering, &[&wire]);
    let places: Vec<(u64, u64, bool)> =
        seen.iter().map(|unit| (unit.packet, unit.byte, unit.content == What::Null)).collect();
    assert_eq!(places, [(0, 32, true), (0, 33, false)]);
    // One null byte less does not do: the header might be the last byte of a unit.
    assert_eq!(units(&entering, &[wire.get(2..).expect("long")]), (Vec::new(), None));
}

/// N15, N16, N17: (ATBYTES, ATDATA) of a 32-bit bus, bytes little end first.
#[test]
fn atb_beats() {
    let atb = parameters(Encapsulation::Atb);
    for (beats, payload) in [
        (&[(3, 0x0004_3205_u32), (1, 0x0000_0200)][..], "32 04 00 00 02"),
        (&[(3, 0xaaaa_bd07), (3, 0x2000_0068)], "bd aa aa 68 00 00 20"),
        (&[(3, 0x0000_7309), (3, 0x8291_0000), (1, 0x0000_1000)], "73 00 00 00 00 91 82 00 10"),
    ] {
        let beats: Vec<Vec<u8>> = beats
            .iter()
            .map(|&(atbytes, atdata)| atdata.to_le_bytes().into_iter().take(atbytes + 1).collect())
            .collect();
        let chunks: Vec<&[u8]> = beats.iter().map(Vec::as_slice).collect();
        let (seen, end) = units(&atb, &chunks);
        let bits = bits_of(&bytes(payload));
        let carried = Carried { source: 0, timestamp: None, first_bit: 8, bits };
        assert_eq!(seen, [Seen { packet: 0, byte: 0, content: What::Instruction(carried) }]);
        assert_eq!(end, None);
    }
}

#[test]
fn units_that_cannot_be_read() {
    let faults = |parameters: &Parameters, wire: &str| -> Vec<(FaultClass, u64, u64, u8)> {
        let mut deframer = Deframer::new(parameters).expect("supported");
        let mut faults = Vec::new();
        deframer.push(&bytes(wire), |unit| {
            faults.extend(
                unit.content()
                    .err()
                    .map(|Fault { class, place, .. }| (class, place.packet, place.byte, place.bit)),
            );
        });
        faults
    };
    // A timestamp where there are none; the unit behind it is whole.
    let plain = NormalEncapsulation::default();
    assert_eq!(faults(&normal(plain), "81 02 01 02"), [(FaultClass::Framing, 0, 0, 0)]);
    let source = NormalEncapsulation { src_id_bits: 8, src_id: 1, ..plain };
    assert_eq!(faults(&normal(source), "01 01 02 81 02 02"), [(FaultClass::Framing, 1, 3, 0)]);
    // Source and type fill the byte: no payload. Of another source it is none of our business.
    assert_eq!(faults(&siemens(5), "01 84 01 85 02 85 1f"), [(FaultClass::Truncated, 1, 2, 0)]);
    // The type does not even fit in.
    let wide = normal(NormalEncapsulation { src_id_bits: 7, src_id: 3, type_bits: 2, ..plain });
    assert_eq!(faults(&wide, "01 03 02 03 3e"), [(FaultClass::Truncated, 0, 0, 0)]);
    // Padding alone is no payload either.
    let arbitrary = NormalEncapsulation { padding: Padding::Arbitrary, type_bits: 1, ..plain };
    assert_eq!(faults(&normal(arbitrary), "01 3e 02 3e 00"), [(FaultClass::Truncated, 0, 0, 0)]);
    // Types that mean nothing: at the type, which is not where the payload is.
    assert_eq!(faults(&siemens(5), "02 45 1f 02 c5 1f"), [(FaultClass::ReservedEncoding, 0, 1, 6)]);
    let three = normal(NormalEncapsulation { src_id_bits: 12, src_id: 0xabc, type_bits: 3, ..plain });
    assert_eq!(faults(&three, "03 bc 2a 22 01"), [(FaultClass::ReservedEncoding, 0, 2, 4)]);
}

#[test]
fn faults_of_packets_are_where_their_bits_are() {
    let code = program(&[(0x1000, &[NOP, NOP, NOP, JUMP]), (0x2000, &[NOP; 4])]);
    let tell = |parameters: &Parameters, wire: &str| {
        story_of(&ProgramMap::new(&code, parameters), &decode(parameters, &code, &bytes(wire)))
    };
    // `branch` = 0 at a nop (`63 00 04`), source 5: payload from byte 2 on.
    assert_eq!(tell(&siemens(5), "04 85 63 00 04"), "suspicious@0:2.4 P3 1000");
    // The same behind 12 bits of source: bit 4 of the payload is bit 0 of byte 3.
    let odd = normal(NormalEncapsulation { src_id_bits: 12, src_id: 0xabc, ..Default::default() });
    assert_eq!(tell(&odd, "04 bc 3a 06 40 00"), "suspicious@0:3.0 P3 1000");
    // What concerns a packet as a whole is at its first bit: byte 2, bit 4. Packets of others count.
    assert_eq!(tell(&odd, "02 bd 0a 00 02 bc aa 00"), "not-synchronised@1:6.4");
    // Cut off: at the header.
    assert_eq!(tell(&odd, "04 bc 3a 07 40 00 04 bc"), "P3 1000 truncated@1:6.0");
}

#[test]
fn padding_that_is_no_sign() {
    let code = program(&[(0x1000, &[NOP, NOP, NOP, JUMP])]);
    // Type 0 in front of `73 00 04`, then of `0a`, and seven ones behind each.
    let wire = bytes("04 e6 00 08 fe 02 14 fe");
    let typed = NormalEncapsulation { type_bits: 1, ..Default::default() };
    let tell = |padding| {
        let parameters = normal(NormalEncapsulation { padding, ..typed });
        story_of(&ProgramMap::new(&code, &parameters), &decode(&parameters, &code, &wire))
    };
    assert_eq!(tell(Padding::Arbitrary), "P3 1000 1004");
    // Read as sign it belongs to the address, which is then odd in a way: no code is there.
    assert_ne!(tell(Padding::Sign), tell(Padding::Arbitrary));
}

#[test]
fn fields_of_the_transport() {
    let show = |parameters: &Parameters, wire: &str| -> Vec<Vec<(&'static str, u64, u32, u64)>> {
        let tuple = |field: &Field| (field.name, field.bit, field.width, field.value);
        dissect(&bytes(wire), parameters)
            .iter()
            .map(|unit| unit.fields.iter().map(tuple).take_while(|field| field.0 != "format").collect())
            .collect()
    };
    let odd = NormalEncapsulation {
        src_id_bits: 12,
        src_id: 0xabc,
        timestamp_bytes: 2,
        type_bits: 1,
        ..Default::default()
    };
    // A null packet, then 0xabc, 0x1234, data (1); then another source, cut off inside the timestamp.
    let fields = show(&normal(odd), "80 a3 bc 4a 23 51 7f ff 81 bb 4a");
    let header = |byte: u64, length, flow, extend| {
        [
            ("length", 8 * byte, 5, length),
            ("flow", 8 * byte + 5, 2, flow),
            ("extend", 8 * byte + 7, 1, extend),
        ]
    };
    assert_eq!(fields[0], header(0, 0, 0, 1));
    assert_eq!(fields[1][..3], header(1, 3, 1, 1));
    assert_eq!(fields[1][3..], [("srcID", 16, 12, 0xabc), ("timestamp", 28, 16, 0x1234), ("type", 44, 1, 1)]);
    assert_eq!(fields[2][..3], header(8, 1, 0, 1));
    assert_eq!(fields[2][3..], [("srcID", 72, 12, 0xabb)]);
    let units = dissect(&bytes("80 a3 bc 4a 23 51 7f ff 81 bb 4a"), &normal(odd));
    assert_eq!(units[1].packet, None, "data trace");
    assert_eq!((units[1].place, units[1].bytes.clone()), (Place { packet: 0, byte: 1, bit: 0 }, 1..8));

    // The fields of a packet that starts in the middle of a byte.
    let four = normal(NormalEncapsulation { src_id_bits: 4, src_id: 9, ..Default::default() });
    let [unit] = &dissect(&bytes("02 29 00"), &four)[..] else { panic!("one unit") };
    assert_eq!(unit.place, Place { packet: 0, byte: 1, bit: 4 });
    let field =
        |name| unit.fields.iter().find(|field| field.name == name).map(|field| (field.bit, field.received));
    assert_eq!(field("format"), Some((12, 2)));
    assert_eq!(field("address"), Some((14, 10)));

    // What is dropped before synchronisation is shown as one unit without fields.
    let entering = normal(NormalEncapsulation { synchronised: false, ..Default::default() });
    let mut wire = bytes("12 34");
    wire.resize(33, 0);
    wire.extend(bytes("01 1f"));
    let units = dissect(&wire, &entering);
    assert_eq!(units.iter().map(|unit| unit.bytes.clone()).collect::<Vec<_>>(), [0..33, 33..35]);
    assert!(units[0].fields.is_empty() && units[0].packet.is_none());
    assert_eq!(dissect(&wire[..20], &entering).len(), 1);
    let cut = dissect(&wire[..34], &entering);
    assert_eq!(cut.iter().map(|unit| unit.bytes.clone()).collect::<Vec<_>>(), [0..33, 33..34]);
}

#[test]
fn impossible_widths_are_refused() {
    let begin = |encapsulation| Decoder::default().begin(&parameters(encapsulation), &Program::new());
    let plain = NormalEncapsulation::default();
    for (name, wrong) in [
        ("src_id_bits", NormalEncapsulation { src_id_bits: 17, ..plain }),
        ("src_id", NormalEncapsulation { src_id_bits: 4, src_id: 16, ..plain }),
        ("src_id", NormalEncapsulation { src_id: 1, ..plain }),
        ("timestamp_bytes", NormalEncapsulation { timestamp_bytes: 9, ..plain }),
        ("type_bits", NormalEncapsulation { type_bits: 255, ..plain }),
    ] {
        let refusal = begin(Encapsulation::Normal(wrong));
        assert!(matches!(refusal, Err(Refusal::Invalid { .. })), "{name}: {refusal:?}");
    }
    let wrong = SiemensMessaging { source: 64, ..SiemensMessaging::default() };
    assert!(matches!(begin(Encapsulation::Siemens(wrong)), Err(Refusal::Invalid { .. })));
    assert_eq!(begin(Encapsulation::Atb), Ok(()));
}

/// A packet and how it travels.
#[derive(Clone, Debug)]
struct Travel {
    flow: u8,
    source: u16,
    timestamp: Option<u64>,
    packet_type: u64,
    /// Whole bytes.
    payload: Vec<u8>,
    /// Redundant sign bits are dropped bit by bit instead of byte by byte (#149).
    packed: bool,
    /// In front of the packet.
    nulls: Vec<bool>,
}

impl Travel {
    /// The bits of the payload that are to travel.
    fn payload_bits(&self) -> Vec<bool> {
        let mut bits = bits_of(&self.payload);
        while self.packed && bits.len() > 1 && bits[bits.len() - 1] == bits[bits.len() - 2] {
            bits.pop();
        }
        bits
    }

    /// Spec: RVET-ENCAP-001 to 004 (EN 2.1).
    fn bytes(&self, normal: &NormalEncapsulation) -> Vec<u8> {
        let number = |value: u64, width: u32| (0..width).map(move |bit| value >> bit & 1 != 0);
        let source_bits = u32::from(normal.src_id_bits);
        let payload = self.payload_bits();
        let counted = (source_bits % 8 + u32::from(normal.type_bits) + payload.len() as u32).div_ceil(8);
        let mut bits: Vec<bool> = number(u64::from(counted), 5).collect();
        bits.extend(number(self.flow.into(), 2));
        bits.push(self.timestamp.is_some());
        bits.extend(number(self.source.into(), source_bits));
        if let Some(timestamp) = self.timestamp {
            bits.extend(number(timestamp, 8 * u32::from(normal.timestamp_bytes)));
        }
        bits.extend(number(self.packet_type, normal.type_bits.into()));
        bits.extend(&payload);
        let top = payload[payload.len() - 1];
        let pad = if normal.padding == Padding::Sign { top } else { !top };
        while !bits.len().is_multiple_of(8) {
            bits.push(pad);
        }
        bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect()
    }

    fn content(&self, normal: &NormalEncapsulation) -> What {
        if self.source != normal.src_id {
            return What::OtherSource(self.source, self.timestamp);
        }
        let mut bits = self.payload_bits();
        let source_bits = u64::from(normal.src_id_bits);
        let timestamp = if self.timestamp.is_some() { 8 * u64::from(normal.timestamp_bytes) } else { 0 };
        let first_bit = 8 + source_bits + timestamp + u64::from(normal.type_bits);
        // Padding cannot be told from sign bits.
        while normal.padding == Padding::Sign && !(first_bit as usize + bits.len()).is_multiple_of(8) {
            bits.push(bits[bits.len() - 1]);
        }
        let carried = Carried { source: self.source, timestamp: self.timestamp, first_bit, bits };
        match self.packet_type {
            0 => What::Instruction(carried),
            1 => What::Data(carried),
            _ => What::Faulty(FaultClass::ReservedEncoding),
        }
    }
}

/// A stream and what is in it.
fn compose(normal: &NormalEncapsulation, packets: &[Travel]) -> (Vec<u8>, Vec<Seen>) {
    let (mut wire, mut expected) = (Vec::new(), Vec::new());
    for (packet, travel) in (0..).zip(packets) {
        for &alignment in &travel.nulls {
            expected.push(Seen { packet, byte: wire.len() as u64, content: What::Null });
            wire.push(if alignment { 0x80 } else { 0 });
        }
        expected.push(Seen { packet, byte: wire.len() as u64, content: travel.content(normal) });
        wire.extend(travel.bytes(normal));
    }
    (wire, expected)
}

prop_compose! {
    fn widths()(
        src_id_bits in 0..=16_u8,
        source in any::<u16>(),
        timestamp_bytes in 0..=8_u8,
        type_bits in 0..=8_u8,
        arbitrary in any::<bool>(),
    ) -> NormalEncapsulation {
        NormalEncapsulation {
            src_id_bits,
            src_id: (u32::from(source) & ((1 << src_id_bits) - 1)) as u16,
            timestamp_bytes,
            type_bits,
            padding: if arbitrary { Padding::Arbitrary } else { Padding::Sign },
            ..NormalEncapsulation::default()
        }
    }
}

fn travel(normal: NormalEncapsulation) -> impl Strategy<Value = Travel> {
    let payload = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..=29),
        proptest::collection::vec(prop_oneof![Just(0_u8), Just(0xff)], 1..=29),
    ];
    (
        0..4_u8,
        0..4_u16,
        any::<Option<u64>>(),
        0..3_u64,
        payload,
        any::<bool>(),
        any::<[bool; 3]>(),
        0..4_usize,
    )
        .prop_map(move |(flow, other, timestamp, packet_type, payload, packed, nulls, null)| {
            let timestamp = timestamp.filter(|_| normal.timestamp_bytes > 0);
            let timestamp_mask = u64::MAX >> (64 - 8 * u32::from(normal.timestamp_bytes.max(1)));
            let source_mask = ((1_u32 << normal.src_id_bits) - 1) as u16;
            Travel {
                flow,
                // Ours is the most frequent one.
                source: (normal.src_id ^ other.saturating_sub(1)) & source_mask,
                timestamp: timestamp.map(|timestamp| timestamp & timestamp_mask),
                packet_type: packet_type & ((1 << normal.type_bits) - 1),
                payload,
                // What is packed cannot be told from arbitrary padding.
                packed: packed && normal.padding == Padding::Sign,
                nulls: nulls.into_iter().take(null).collect(),
            }
        })
}

fn stream() -> impl Strategy<Value = (NormalEncapsulation, Vec<Travel>)> {
    widths().prop_flat_map(|normal| (Just(normal), proptest::collection::vec(travel(normal), 0..8)))
}

#[test]
fn every_combination_of_widths() {
    for src_id_bits in 0..=16_u8 {
        for timestamp_bytes in 0..=8_u8 {
            for type_bits in 0..=8_u8 {
                let src_id = (0xb6d5_u32 & ((1 << src_id_bits) - 1)) as u16;
                let normal = NormalEncapsulation {
                    src_id_bits,
                    src_id,
                    timestamp_bytes,
                    type_bits,
                    ..NormalEncapsulation::default()
                };
                let travel = |timestamp, payload: &[u8]| Travel {
                    flow: 2,
                    source: src_id,
                    timestamp,
                    packet_type: 0,
                    payload: payload.to_vec(),
                    packed: false,
                    nulls: alloc::vec![true],
                };
                let stamp =
                    0x8877_6655_4433_2211 & (u64::MAX >> (64 - 8 * u32::from(timestamp_bytes.max(1))));
                let packets = [
                    travel(None, &[0x22, 0x12]),
                    travel((timestamp_bytes > 0).then_some(stamp), &[0x9a; 29]),
                    travel(None, &[0x80]),
                ];
                let (wire, expected) = compose(&normal, &packets);
                assert_eq!(units(&self::normal(normal), &[&wire]), (expected, None), "{normal:?}");
            }
        }
    }
}

/// Payloads of a short run, and what they mean to a decoder.
const RUN: [&str; 4] = ["1f", "73 00 04", "1a 00 00 00", "5f"];

proptest! {
    #[test]
    fn units_are_what_was_sent((normal, packets) in stream(), cut in 1..50_usize) {
        let parameters = self::normal(normal);
        let (wire, expected) = compose(&normal, &packets);
        prop_assert_eq!(units(&parameters, &[&wire]), (expected.clone(), None));
        let chunks: Vec<&[u8]> = wire.chunks(cut).collect();
        prop_assert_eq!(units(&parameters, &chunks), (expected.clone(), None));
        let chunks: Vec<&[u8]> = wire.chunks(1).collect();
        prop_assert_eq!(units(&parameters, &chunks), (expected, None));
    }

    #[test]
    fn a_stream_may_end_anywhere((normal, packets) in stream()) {
        let parameters = self::normal(normal);
        let (wire, expected) = compose(&normal, &packets);
        let starts: Vec<u64> = expected.iter().map(|unit| unit.byte).chain([wire.len() as u64]).collect();
        for end in 0..wire.len() {
            let complete = starts.iter().skip(1).filter(|&&next| next <= end as u64).count();
            let (seen, cut_off) = units(&parameters, &[&wire[..end]]);
            prop_assert_eq!(&seen[..], &expected[..complete]);
            let place = expected.get(complete).filter(|unit| unit.byte < end as u64);
            let place = place.map(|unit| Place { packet: unit.packet, byte: unit.byte, bit: 0 });
            prop_assert_eq!(cut_off, place);
            // One chunk per byte, and the decoder, say the same.
            let chunks: Vec<&[u8]> = wire[..end].chunks(1).collect();
            prop_assert_eq!(units(&parameters, &chunks), (seen, cut_off));
            let log = decode(&parameters, &Program::new(), &wire[..end]);
            let last = log.faults().find(|fault| Some(fault.place) == place && fault.class == FaultClass::Truncated);
            prop_assert_eq!(last.is_some(), place.is_some());
        }
    }

    /// Enough null bytes, then packets; entered at every offset.
    #[test]
    fn streams_are_entered_behind_the_first_synchronisation_sequence(
        (normal, packets) in stream(),
        further in proptest::collection::vec(any::<bool>(), 1..4),
        cut in 1..50_usize,
    ) {
        let (before, _) = compose(&normal, &packets);
        let enough = 31 + usize::from(normal.timestamp_bytes) + usize::from(normal.src_id_bits / 8);
        let mut nulls = alloc::vec![0; enough];
        nulls.extend(further.iter().map(|&alignment| if alignment { 0x80 } else { 0 }));
        let (after, expected) = compose(&normal, &packets);
        let wire = [&before[..], &nulls, &after].concat();
        let entering = self::normal(NormalEncapsulation { synchronised: false, ..normal });
        for start in 0..=before.len() + further.len() {
            let (seen, end) = units(&entering, &[&wire[start..]]);
            prop_assert_eq!(end, None);
            // Nothing of what comes before; then every unit, null packets at least behind the run.
            let behind = (before.len() + nulls.len() - start) as u64;
            let (early, late): (Vec<_>, Vec<_>) = seen.iter().cloned().partition(|unit| unit.byte < behind);
            prop_assert!(early.iter().all(|unit| unit.content == What::Null), "{early:?}");
            let moved: Vec<Seen> =
                expected.iter().map(|unit| Seen { byte: unit.byte + behind, ..unit.clone() }).collect();
            prop_assert_eq!(late, moved);
            let chunks: Vec<&[u8]> = wire[start..].chunks(cut).collect();
            prop_assert_eq!(units(&entering, &chunks), (seen, end));
        }
    }

    /// Whatever the transport, the execution is the same.
    #[test]
    fn the_decoder_does_not_see_the_transport((normal, others) in stream(), packed in any::<bool>()) {
        let code = program(&[(0x1000, &[NOP; 8])]);
        let map = ProgramMap::new(&code, &Parameters::default());
        let mut packets = Vec::new();
        let mut noise = others.into_iter().filter(|travel| travel.packet_type == 1 || travel.source != normal.src_id);
        for payload in RUN {
            packets.extend(noise.next());
            packets.push(Travel {
                flow: 1,
                source: normal.src_id,
                timestamp: (normal.timestamp_bytes > 0).then_some(7),
                packet_type: 0,
                payload: bytes(payload),
                packed: packed && normal.padding == Padding::Sign,
                nulls: Vec::new(),
            });
        }
        let parameters = self::normal(normal);
        let expected = story_of(&map, &decode(&Parameters::default(), &code, &frame(&RUN)));
        prop_assert_eq!(&expected, "P3 1000 1004 1008 100c end");
        let (wire, _) = compose(&normal, &packets);
        prop_assert_eq!(story_of(&map, &decode(&parameters, &code, &wire)), expected);
    }

    #[test]
    fn every_source_has_a_stream_of_its_own((normal, packets) in stream(), cut in 1..50_usize) {
        let (wire, expected) = compose(&normal, &packets);
        let mut demultiplexer = Demultiplexer::new(&self::normal(normal)).expect("supported");
        let mut streams = BTreeMap::<Option<u16>, Vec<u8>>::new();
        let mut places = Vec::new();
        for chunk in wire.chunks(cut) {
            demultiplexer.push(chunk, |unit| {
                places.push((unit.place.packet, unit.place.byte));
                streams.entry(unit.source).or_default().extend(unit.bytes);
            });
        }
        prop_assert_eq!(demultiplexer.finish(), None);
        prop_assert_eq!(places, expected.iter().map(|unit| (unit.packet, unit.byte)).collect::<Vec<_>>());
        let nulls = packets.iter().map(|packet| packet.nulls.len()).sum::<usize>();
        prop_assert_eq!(streams.remove(&None).map_or(0, |nulls| nulls.len()), nulls);
        for (source, stream) in streams {
            let own: Vec<u8> = packets
                .iter()
                .filter(|packet| Some(packet.source) == source)
                .flat_map(|packet| packet.bytes(&normal))
                .collect();
            prop_assert_eq!(stream, own);
        }
    }

    #[test]
    fn noise_is_survived(
        normal in widths(),
        synchronised in any::<bool>(),
        wire in proptest::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(0)], 0..200),
        cut in 1..40_usize,
    ) {
        let parameters = self::normal(NormalEncapsulation { synchronised, ..normal });
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &program(&[(0x1000, &[NOP; 8])])).expect("supported");
        let mut run = |chunks: &mut dyn Iterator<Item = &[u8]>| {
            decoder.reset();
            let mut log: Log<RiscvEtrace> = Log::default();
            chunks.for_each(|chunk| decoder.push(chunk, &mut log));
            decoder.finish(&mut log);
            log.entries
        };
        let whole = run(&mut core::iter::once(&wire[..]));
        prop_assert_eq!(&whole, &run(&mut wire.chunks(cut)));
        prop_assert_eq!(&whole, &run(&mut wire.chunks(1)));
        // Every byte is in one dissection.
        let mut next = 0;
        for unit in dissect(&wire, &parameters) {
            prop_assert_eq!(unit.bytes.start, next);
            next = unit.bytes.end;
        }
        prop_assert_eq!(next, wire.len() as u64);
    }
}
