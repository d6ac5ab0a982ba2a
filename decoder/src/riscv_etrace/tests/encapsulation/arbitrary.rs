//! Any widths, any packets, any cut, any place to enter.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::riscv_etrace::{NormalEncapsulation, Padding, Parameters, RiscvEtrace};
use traceproof_vectors::{Decoder as _, FaultClass, Log, Place, Program};

use super::{Carried, Seen, What, bits_of, normal, units};
use crate::riscv_etrace::tests::{NOP, bytes, decode, frame, program, summary_of};
use crate::riscv_etrace::{Decoder, Demultiplexer, ProgramMap, dissect};

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
    /// Before the packet.
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
        // Padding cannot be distinguished from sign bits.
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
                // What is packed cannot be distinguished from arbitrary padding.
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
            // One chunk per byte, and the decoder, give the same.
            let chunks: Vec<&[u8]> = wire[..end].chunks(1).collect();
            prop_assert_eq!(units(&parameters, &chunks), (seen, cut_off));
            let log = decode(&parameters, &Program::new(), &wire[..end]);
            let last = log.faults().find(|fault| Some(fault.place) == place && fault.class == FaultClass::Truncated);
            prop_assert_eq!(last.is_some(), place.is_some());
        }
    }

    /// Enough null bytes, then packets; entered at every offset.
    #[test]
    fn streams_are_entered_after_the_first_synchronisation_sequence(
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
            // Nothing of what comes before; then every unit, null packets at least after the run.
            let start_of_units = (before.len() + nulls.len() - start) as u64;
            let (early, late): (Vec<_>, Vec<_>) = seen.iter().cloned().partition(|unit| unit.byte < start_of_units);
            prop_assert!(early.iter().all(|unit| unit.content == What::Null), "{early:?}");
            let moved: Vec<Seen> =
                expected.iter().map(|unit| Seen { byte: unit.byte + start_of_units, ..unit.clone() }).collect();
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
        let expected = summary_of(&map, &decode(&Parameters::default(), &code, &frame(&RUN)));
        prop_assert_eq!(&expected, "P3 1000 1004 1008 100c end");
        let (wire, _) = compose(&normal, &packets);
        prop_assert_eq!(summary_of(&map, &decode(&parameters, &code, &wire)), expected);
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
