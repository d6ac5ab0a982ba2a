//! The encapsulation: worked examples, formulas, null packets, several sources.

use crate::riscv_etrace::{
    Defect, Encoder, Framing, Hart, Multiplexer, Retirement, Trace, TraceKind, Transport, write_packets,
};
use proptest::prelude::*;
use traceproof_vectors::riscv_etrace::{
    Cycle, Encapsulation, Idle, LastNull, NormalEncapsulation, Packet, Padding, Parameters, PayloadAlignment,
    Policy, QualStatus, Retire, RiscvEtrace, SiemensMessaging, Step, Stimulus,
};
use traceproof_vectors::{Address, Encoder as _, Log, Program, Refusal, Section};

use super::bench::hex;

use PayloadAlignment::{After, Before};
use TraceKind::{Data, Instruction};

const PLAIN: NormalEncapsulation = NormalEncapsulation {
    src_id_bits: 0,
    src_id: 0,
    timestamp_bytes: 0,
    type_bits: 0,
    framed: false,
    padding: Padding::Sign,
    synchronised: true,
    block_bytes: 0,
    first_block: 0,
};

fn normal(src_id_bits: u8, src_id: u16, timestamp_bytes: u8, type_bits: u8) -> Encapsulation {
    Encapsulation::Normal(NormalEncapsulation { src_id_bits, src_id, timestamp_bytes, type_bits, ..PLAIN })
}

fn siemens(source: u16) -> Encapsulation {
    Encapsulation::Siemens(SiemensMessaging { source, ..SiemensMessaging::default() })
}

/// A payload of which all bits matter.
fn trace(payload: &[u8], kind: TraceKind, timestamp: Option<u64>) -> Trace<'_> {
    Trace { payload, bits: 8 * payload.len() as u32, kind, timestamp }
}

/// Name, encapsulation, `flow`, timestamp, kind, payload, packet.
type Example = (&'static str, Encapsulation, u8, Option<u64>, TraceKind, &'static str, &'static str);

/// The worked examples N01 to N09 and N12 to N17.
#[test]
fn packets_are_framed_bit_by_bit() {
    let cases: [Example; 14] = [
        ("N01", normal(0, 0, 0, 0), 0, None, Instruction, "22 12", "02 22 12"),
        ("N02", normal(8, 0x0a, 0, 0), 0, None, Instruction, "22 12", "02 0a 22 12"),
        ("N03", normal(8, 0x0a, 0, 1), 0, None, Instruction, "22 12", "03 0a 44 24 00"),
        ("N05", normal(8, 0x0a, 2, 0), 1, Some(0x1234), Instruction, "22 12", "a2 0a 34 12 22 12"),
        ("N06", normal(12, 0xabc, 0, 0), 0, None, Instruction, "22 12", "03 bc 2a 22 01"),
        ("N07", normal(12, 0xabc, 0, 1), 0, None, Data, "fa fb", "03 bc 5a 7f ff"),
        ("N08", normal(4, 9, 0, 0), 0, None, Instruction, "02", "02 29 00"),
        ("N09", normal(0, 0, 4, 0), 0, Some(0x0102_0304), Instruction, "1f", "81 04 03 02 01 1f"),
        ("N12", siemens(1), 0, None, Instruction, "32 04 00 00 02", "06 81 32 04 00 00 02"),
        ("N13", siemens(0xa), 0, None, Instruction, "bd aa aa 68 00 00 20", "08 8a bd aa aa 68 00 00 20"),
        (
            "N14",
            siemens(5),
            0,
            None,
            Instruction,
            "73 00 00 00 00 91 82 00 10",
            "0a 85 73 00 00 00 00 91 82 00 10",
        ),
        ("N15", Encapsulation::Atb, 0, None, Instruction, "32 04 00 00 02", "05 32 04 00 00 02"),
        ("N16", Encapsulation::Atb, 0, None, Instruction, "bd aa aa 68 00 00 20", "07 bd aa aa 68 00 00 20"),
        (
            "N17",
            Encapsulation::Atb,
            0,
            None,
            Instruction,
            "73 00 00 00 00 91 82 00 10",
            "09 73 00 00 00 00 91 82 00 10",
        ),
    ];
    for (id, encapsulation, flow, timestamp, kind, payload, expected) in cases {
        let framing = Framing::new(&encapsulation, flow, Before).expect("it is possible");
        let frame = framing.frame(&trace(&hex(payload), kind, timestamp)).expect("it fits");
        assert_eq!(frame.bytes(), hex(expected), "{id}");
        assert_eq!(framing.packet_length(frame.bytes()[0]), frame.bytes().len(), "{id}");
    }
    // N04 is N12 to N14 with another payload: source 5 and type 2 in one byte.
    let framing = Framing::new(&siemens(5), 0, Before).expect("it is possible");
    let frame = framing.frame(&trace(&[0x22, 0x12], Instruction, None)).expect("it fits");
    assert_eq!(frame.bytes(), hex("03 85 22 12"));
    // Data trace has type 3, and a timestamp of 16 bits is between source and type.
    let timed = SiemensMessaging { source: 5, timestamp: true, ..SiemensMessaging::default() };
    let framing = Framing::new(&Encapsulation::Siemens(timed), 0, Before).expect("it is possible");
    let frame = framing.frame(&trace(&[0x22], Data, Some(0x8001))).expect("it fits");
    // 000101, 0x8001, 11, 0x22 from bit 0: 0x45 has bits 1 and 0 of the time on top.
    assert_eq!(frame.bytes(), hex("82 45 00 e0 22"));
}

/// N03, second form; the payload has 14 significant bits.
#[test]
fn significant_bits_alone_may_travel() {
    let framing = Framing::new(&normal(8, 0x0a, 0, 1), 0, After).expect("it is possible");
    let packed = Trace { payload: &[0x22, 0x12], bits: 14, kind: Instruction, timestamp: None };
    assert_eq!(framing.frame(&packed).expect("it fits").bytes(), hex("02 0a 44 24"));
    // 16 bits and the type need a third byte.
    assert_eq!(framing.frame(&Trace { bits: 16, ..packed }).expect("it fits").bytes(), hex("03 0a 44 24 00"));
}

#[test]
fn arbitrary_padding_leaks_nothing() {
    let padding = Padding::Arbitrary;
    let encapsulation = Encapsulation::Normal(NormalEncapsulation { type_bits: 1, padding, ..PLAIN });
    let framing = Framing::new(&encapsulation, 0, Before).expect("it is possible");
    assert_eq!(
        framing.frame(&trace(&[0xfb], Instruction, None)).expect("it fits").bytes(),
        [0x02, 0xf6, 0x01]
    );
    assert_eq!(
        Framing::new(&normal(0, 0, 0, 1), 0, Before)
            .expect("it is possible")
            .frame(&trace(&[0xfb], Instruction, None))
            .expect("it fits")
            .bytes(),
        [0x02, 0xf6, 0xff]
    );
    assert!(matches!(
        Framing::new(&encapsulation, 0, After),
        Err(Refusal::Invalid { parameter: "payload_alignment", .. })
    ));
}

#[test]
fn what_does_not_fit_is_refused() {
    let frame = |encapsulation: Encapsulation, alignment, trace: &Trace<'_>| {
        let framing = Framing::new(&encapsulation, 0, alignment).expect("it is possible");
        framing.frame(trace).map(|frame| frame.bytes().len())
    };
    let zeros = [0; 32];
    let payload = |bytes: usize| trace(&zeros[..bytes], Instruction, None);
    assert_eq!(frame(normal(0, 0, 0, 0), Before, &payload(31)), Ok(32));
    assert_eq!(frame(normal(16, 0, 8, 0), Before, &payload(31)), Ok(34));
    assert_eq!(frame(normal(0, 0, 0, 0), Before, &payload(32)), Err(Defect::TooLong));
    assert_eq!(frame(normal(0, 0, 0, 1), Before, &payload(31)), Err(Defect::TooLong));
    assert_eq!(frame(normal(12, 0, 0, 4), Before, &payload(30)), Ok(33));
    assert_eq!(frame(normal(12, 0, 0, 5), Before, &payload(30)), Err(Defect::TooLong));
    // 248 - 5 - 4 bits.
    let bits = |bits| Trace { bits, ..payload(31) };
    assert_eq!(frame(normal(12, 0, 0, 5), After, &bits(239)), Ok(33));
    assert_eq!(frame(normal(12, 0, 0, 5), After, &bits(240)), Err(Defect::TooLong));
    assert_eq!(frame(normal(0, 0, 0, 0), Before, &payload(0)), Err(Defect::Missing));
    let data = Trace { kind: Data, ..payload(1) };
    assert_eq!(frame(normal(0, 0, 0, 0), Before, &data), Err(Defect::Unexpected));
}

/// The bytes of packets with the payload `02` and a policy.
fn stream(encapsulation: Encapsulation, policy: &Policy, packets: usize) -> Result<Vec<u8>, Refusal> {
    let mut transport = Transport::new(&encapsulation, policy)?;
    let mut wire = Vec::new();
    for _ in 0..packets {
        transport
            .send(&trace(&[2], Instruction, None), &mut |bytes| wire.extend_from_slice(bytes))
            .expect("it fits");
    }
    Ok(wire)
}

/// N10 and N11, and the same for other widths.
#[test]
fn null_packets_precede_normal_ones() {
    let idle = |null_packets, sync_period| Idle { null_packets, sync_period, last: LastNull::Alignment };
    let policy = |idle| Policy { idle, ..Policy::default() };
    assert_eq!(stream(normal(0, 0, 0, 0), &Policy::default(), 2), Ok(hex("01 02 01 02")));
    assert_eq!(stream(normal(0, 0, 0, 0), &policy(idle(1, 0)), 2), Ok(hex("80 01 02 80 01 02")));
    assert_eq!(stream(normal(0, 0, 0, 0), &policy(idle(3, 0)), 1), Ok(hex("00 00 80 01 02")));
    let sequence = |idles: usize| [vec![0; idles], vec![0x80]].concat();
    let packet = hex("01 09 02");
    // N11: S = 1.
    let expected = [&sequence(32), &packet[..], &packet, &sequence(32), &packet].concat();
    assert_eq!(stream(normal(8, 9, 0, 0), &policy(idle(0, 2)), 3), Ok(expected));
    let run = |encapsulation| {
        let wire = stream(encapsulation, &policy(idle(0, 1)), 1).expect("it is possible");
        wire.iter().take_while(|&&byte| byte == 0).count()
    };
    assert_eq!(run(normal(0, 0, 0, 0)), 31);
    assert_eq!(run(normal(15, 0, 2, 1)), 31 + 2 + 1);
    assert_eq!(run(normal(16, 0, 8, 0)), 31 + 8 + 2);
    assert_eq!(run(siemens(0)), 31);
    // Longer gaps are not cut short, and gaps between sequences stay.
    let expected = [&sequence(69), &hex("01 02")[..], &sequence(69), &hex("01 02")].concat();
    assert_eq!(stream(normal(0, 0, 0, 0), &policy(idle(70, 2)), 2), Ok(expected));
}

#[test]
fn flow_is_only_in_null_packets_of_framed_streams() {
    let idle = Idle { null_packets: 2, ..Idle::default() };
    let policy = Policy { idle, flow: 2, ..Policy::default() };
    let framed = Encapsulation::Normal(NormalEncapsulation { framed: true, ..PLAIN });
    assert_eq!(stream(normal(0, 0, 0, 0), &policy, 1), Ok(hex("00 80 41 02")));
    assert_eq!(stream(framed, &policy, 1), Ok(hex("40 c0 41 02")));
    let last = Policy { idle: Idle { last: LastNull::Idle, ..idle }, ..policy };
    assert_eq!(stream(framed, &last, 1), Ok(hex("40 40 41 02")));
    assert_eq!(stream(Encapsulation::Atb, &last, 1), Ok(hex("40 40 41 02")));
    for unframed in [normal(0, 0, 0, 0), siemens(0)] {
        assert!(matches!(stream(unframed, &last, 1), Err(Refusal::Invalid { parameter: "idle", .. })));
    }
    let too_wide = Policy { flow: 4, ..Policy::default() };
    assert!(matches!(stream(framed, &too_wide, 1), Err(Refusal::Invalid { parameter: "flow", .. })));
}

/// Two `nop` at 0x1000, retired at times 0x1122 and 0x1133; the whole encoder after it.
fn encode(parameters: &Parameters, policy: &Policy) -> Vec<u8> {
    let mut program = Program::new();
    let bytes = vec![0x13, 0, 0, 0, 0x13, 0, 0, 0];
    program.insert(Section::new(0x1000, bytes, "")).expect("it is free");
    let retire = |address, time| Step::Retire(Retire { address, privilege: 3, time, ..Retire::default() });
    let halted = Stimulus::Cycle(Cycle { halted: true, ..Cycle::default() });
    let steps = [
        Step::Stimulus(Stimulus::Enable(true)),
        retire(Address(0x1000), 0x1122),
        retire(Address(0x1004), 0x1133),
        Step::Stimulus(halted),
    ];
    let mut encoder = Encoder::default();
    encoder.begin(parameters, policy).expect("it is possible");
    let mut log = Log::<RiscvEtrace>::default();
    let mut hart = Hart::new(&program, parameters, Retirement::Blocks { max_halfwords: 8 });
    hart.run(steps, &mut |stimulus| encoder.step(stimulus, &mut log)).expect("it is an execution");
    encoder.finish(&mut log);
    log.wire
}

/// The packets are `1f`, `73 00 04`, `0a`, `5f` (X46 and around).
#[test]
fn timestamps_are_those_of_the_instructions() {
    // No packet has a `time` field, but the transport carries the time.
    let set = |encapsulation| Parameters { encapsulation, retires_p: 4, ..Parameters::default() };
    let two = set(normal(0, 0, 2, 0));
    assert_eq!(
        encode(&two, &Policy::default()),
        hex("81 00 00 1f 83 22 11 73 00 04 81 33 11 0a 81 33 11 5f")
    );
    // Cut to one byte, after 4 bits of source.
    let one = set(normal(4, 9, 1, 0));
    assert_eq!(
        encode(&one, &Policy { payload_alignment: After, ..Policy::default() }),
        hex("82 09 f0 01 83 29 32 07 40 82 39 a3 00 82 39 f3 05")
    );
}

#[test]
fn packets_alone_have_no_timestamp() {
    let packet = Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: QualStatus::NoChange,
        ioptions: 0,
        denable: false,
        dloss: false,
        doptions: 0,
    };
    let parameters = Parameters { encapsulation: normal(8, 3, 2, 0), ..Parameters::default() };
    assert_eq!(write_packets(&[packet], &parameters, &Policy::default()), Ok(hex("01 03 1f")));
}

#[test]
fn sources_are_interleaved_packet_by_packet() {
    let set = |src_id| Parameters { encapsulation: normal(8, src_id, 2, 0), ..Parameters::default() };
    let idle = Idle { sync_period: 2, ..Idle::default() };
    let policy = Policy { idle, ..Policy::default() };
    let wires = [encode(&set(1), &policy), encode(&set(2), &Policy::default())];
    let mut multiplexer = Multiplexer::new(&normal(8, 0, 2, 0), 2).expect("it is possible");
    let mut wire = Vec::new();
    // Byte by byte in, whole packets out.
    for index in 0..wires[0].len().max(wires[1].len()) {
        for (source, bytes) in wires.iter().enumerate() {
            multiplexer.push(source, bytes.get(index..=index).unwrap_or(&[]));
            multiplexer.take(source, &mut wire);
        }
    }
    assert_eq!((multiplexer.waiting(0), multiplexer.waiting(1), multiplexer.waiting(2)), (0, 0, 0));
    // All of source 2 is shorter than the synchronisation sequence (N = 31 + 2 + 1) before source 1.
    let sequence = [vec![0; 34], vec![0x80]].concat();
    let expected = [
        &hex("81 02 00 00 1f 83 02 22 11 73 00 04 81 02 33 11 0a 81 02 33 11 5f")[..],
        &sequence,
        &hex("81 01 00 00 1f 83 01 22 11 73 00 04"),
        &sequence,
        &hex("81 01 33 11 0a 81 01 33 11 5f"),
    ];
    assert_eq!(wire, expected.concat());
    assert!(Multiplexer::new(&Encapsulation::Atb, 2).is_err());
}

/// Bits as text would be: least significant first.
fn push(bits: &mut Vec<bool>, value: u64, width: u32) {
    bits.extend((0..width).map(|bit| value >> bit & 1 == 1));
}

proptest! {
    /// RVET-ENCAP-001 to 006: length formulas and order, against a bit string that is put together naively.
    #[test]
    fn packets_are_the_bit_string_of_their_fields(
        (src_id_bits, src_id) in (0_u8..=16).prop_flat_map(|bits| (Just(bits), 0..=(1_u32 << bits) - 1)),
        timestamp_bytes in 0_u8..=8,
        timestamp in proptest::option::of(any::<u64>()),
        type_bits in 0_u8..=8,
        flow in 0_u8..=3,
        payload in proptest::collection::vec(any::<u8>(), 1..=33),
        data in any::<bool>(),
    ) {
        let encapsulation = normal(src_id_bits, src_id as u16, timestamp_bytes, type_bits);
        let framing = Framing::new(&encapsulation, flow, Before).expect("it is possible");
        let kind = if data && type_bits > 0 { Data } else { Instruction };
        let framed = framing.frame(&trace(&payload, kind, timestamp));
        let (source, types) = (usize::from(src_id_bits), usize::from(type_bits));
        let length = (types + 8 * payload.len() + source % 8).div_ceil(8);
        prop_assert_eq!(framed.is_err(), length > 31);
        let Ok(frame) = framed else { return Ok(()) };
        let timestamp = timestamp.filter(|_| timestamp_bytes > 0);
        let total = 1 + source / 8 + timestamp.map_or(0, |_| usize::from(timestamp_bytes)) + length;
        prop_assert_eq!(frame.bytes().len(), total);
        prop_assert_eq!(framing.packet_length(frame.bytes()[0]), total);

        let mut bits = Vec::new();
        push(&mut bits, length as u64, 5);
        push(&mut bits, flow.into(), 2);
        push(&mut bits, timestamp.is_some().into(), 1);
        push(&mut bits, src_id.into(), src_id_bits.into());
        if let Some(timestamp) = timestamp {
            push(&mut bits, timestamp, 8 * u32::from(timestamp_bytes));
        }
        push(&mut bits, u64::from(kind == Data), type_bits.into());
        for &byte in &payload {
            push(&mut bits, byte.into(), 8);
        }
        let top = *bits.last().expect("there is a payload");
        bits.resize(8 * total, top);
        let bytes: Vec<u8> =
            bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |value, &bit| value << 1 | u8::from(bit))).collect();
        prop_assert_eq!(frame.bytes(), bytes);
    }
}
