//! The transport: every width, every place, other sources, entry anywhere.
//!
//! Expected values come from the worked examples, from hand, or from [`Travel::bytes`], which writes a packet down as
//! one string of bits exactly as EN 2.1 describes it.

use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{
    Encapsulation, NormalEncapsulation, Padding, Parameters, SiemensMessaging,
};
use traceproof_vectors::{Decoder as _, Fault, FaultClass, Field, Place, Program, Refusal};

use super::{JUMP, NOP, bytes, decode, program, summary_of};
use crate::riscv_etrace::{Content, Decoder, Deframer, Payload, ProgramMap, dissect};

mod arbitrary;

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
    // N11: 32 x idle and alignment before a packet, where `srcID` has a byte.
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
    // A timestamp where there are none; the unit after it is whole.
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
    let decoded = |parameters: &Parameters, wire: &str| {
        summary_of(&ProgramMap::new(&code, parameters), &decode(parameters, &code, &bytes(wire)))
    };
    // `branch` = 0 at a nop (`63 00 04`), source 5: payload from byte 2 on.
    assert_eq!(decoded(&siemens(5), "04 85 63 00 04"), "suspicious@0:2.4 P3 1000");
    // The same after 12 bits of source: bit 4 of the payload is bit 0 of byte 3.
    let odd = normal(NormalEncapsulation { src_id_bits: 12, src_id: 0xabc, ..Default::default() });
    assert_eq!(decoded(&odd, "04 bc 3a 06 40 00"), "suspicious@0:3.0 P3 1000");
    // What concerns a packet as a whole is at its first bit: byte 2, bit 4. Packets of others count.
    assert_eq!(decoded(&odd, "02 bd 0a 00 02 bc aa 00"), "not-synchronised@1:6.4");
    // Cut off: at the header.
    assert_eq!(decoded(&odd, "04 bc 3a 07 40 00 04 bc"), "P3 1000 truncated@1:6.0");
}

#[test]
fn padding_that_is_no_sign() {
    let code = program(&[(0x1000, &[NOP, NOP, NOP, JUMP])]);
    // Type 0 before `73 00 04`, then of `0a`, and seven ones after each.
    let wire = bytes("04 e6 00 08 fe 02 14 fe");
    let typed = NormalEncapsulation { type_bits: 1, ..Default::default() };
    let decoded = |padding| {
        let parameters = normal(NormalEncapsulation { padding, ..typed });
        summary_of(&ProgramMap::new(&code, &parameters), &decode(&parameters, &code, &wire))
    };
    assert_eq!(decoded(Padding::Arbitrary), "P3 1000 1004");
    // Read as sign it belongs to the address, which is then odd in a way: no code is there.
    assert_ne!(decoded(Padding::Sign), decoded(Padding::Arbitrary));
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
