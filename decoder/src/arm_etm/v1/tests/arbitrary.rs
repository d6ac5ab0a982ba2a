//! Arbitrary captures in arbitrary chunks; their dissections.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::arm_etm::v1::Cycle;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Event, Packet, Parameters, VectorBase};
use traceproof_vectors::{Decoder as _, Dissection, Entry, Log, Program};

use super::{BX, LDR, MOV, arm, etm, wire as records};
use crate::arm_etm::{Decoder, dissect};

fn feed<'a>(decoder: &mut Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Log<ArmEtm> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}

prop_compose! {
    fn parameters()(
        minor in 0..4_u8,
        port_width in prop_oneof![Just(4_u8), Just(8), Just(16)],
        flags in any::<[bool; 4]>(),
        context_id_bytes in prop_oneof![Just(0_u8), Just(1), Just(2), Just(4)],
        fifo_latency in 0..2_u8,
        hivecs in prop_oneof![Just(VectorBase::Low), Just(VectorBase::High), Just(VectorBase::Unknown)],
    ) -> Parameters {
        let [data_value, data_address, monitor_cprt, cycle_accurate] = flags;
        Parameters {
            architecture: Architecture::V1,
            minor,
            port_width,
            data_value,
            data_address,
            monitor_cprt,
            context_id_bytes,
            cycle_accurate,
            fifo_latency,
            hivecs,
            ..Parameters::default()
        }
    }
}

/// Runs of records: a restart, a branch, an instruction with data, drained bytes, noise.
fn run() -> impl Strategy<Value = Vec<(u8, u16)>> {
    let one = |status: u8, packet: u16| vec![(status, packet)];
    prop_oneof![
        2 => Just([(0xc, 0x80), (0, 0x80), (0, 0x82), (3, 0x80), (3, 0x10)].to_vec()),
        3 => (0..4_u8, 0..2_u8, any::<u8>()).prop_map(|(low, high, byte)| {
            [(0xc, u16::from(byte)), (low, 0x80), (high, 0)].to_vec()
        }),
        2 => any::<[u8; 3]>().prop_map(|[first, low, high]| {
            [(4, 0), (0xb & low | 3, u16::from(first)), (0xb & high | 3, 1)].to_vec()
        }),
        2 => any::<u16>().prop_map(move |packet| one(1, packet)),
        2 => (0..4_u8, any::<u16>()).prop_map(move |(status, packet)| one(status, packet)),
        2 => any::<u16>().prop_map(move |packet| one(3, packet)),
        1 => (0..8_u16).prop_map(move |status| one(6, status)),
        1 => (0..16_u8, any::<u16>()).prop_map(move |(status, packet)| one(status, packet)),
        1 => (any::<u8>(), any::<u16>()).prop_map(move |(status, packet)| one(status, packet)),
    ]
}

fn wire(parameters: &Parameters, runs: &[Vec<(u8, u16)>]) -> Vec<u8> {
    let size = Cycle::size(parameters);
    let mut wire = Vec::new();
    for &(status, packet) in runs.iter().flatten() {
        let [low, high] = packet.to_le_bytes();
        let low = if parameters.port_width == 4 && status < 0xf0 { low & 0xf } else { low };
        wire.extend(&[status, low, high][..size]);
    }
    wire
}

/// ldr, ldm, bx, and straight code at 0x8000.
fn program() -> Program {
    arm(&[LDR, 0xe891_003c, MOV, BX, 0xe5d1_0000, 0xeaff_fff9])
}

proptest! {
    #[test]
    fn cuts_and_resets_change_nothing(
        parameters in parameters(),
        runs in proptest::collection::vec(run(), 0..120),
        noise in proptest::collection::vec(any::<u8>(), 0..3),
        cut in 1..9_usize,
    ) {
        let mut wire = wire(&parameters, &runs);
        wire.extend(noise);
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &program()).expect("supported");
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        for size in [cut, 1] {
            decoder.reset();
            let pieces = feed(&mut decoder, wire.chunks(size));
            prop_assert_eq!(&whole.entries, &pieces.entries);
        }
        // Transfers of BD are reported after its address, at the places of their own packets.
        let held = |entry: &Entry<ArmEtm>| matches!(entry, Entry::Event(Event::Transfer { .. }));
        let packets: Vec<u64> =
            whole.entries.iter().filter(|(_, entry)| !held(entry)).map(|(place, _)| place.packet).collect();
        prop_assert!(packets.is_sorted(), "{:?}", whole.entries);
        // Every status is reported once, in the order of the records.
        let cycles: Vec<u64> = whole
            .events()
            .filter_map(|event| match event {
                Event::InstructionAt { cycle, .. } => Some(*cycle),
                _ => None,
            })
            .collect();
        prop_assert!(cycles.is_sorted_by(|a, b| a < b), "{:?}", cycles);
    }

    #[test]
    fn the_dissector_reads_the_same_packets_in_the_same_places(
        parameters in parameters(),
        runs in proptest::collection::vec(run(), 0..60),
    ) {
        let wire = wire(&parameters, &runs);
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &program()).expect("supported");
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        let units = dissect(&wire, &parameters, &program());
        let read: Vec<Packet> = units.iter().filter_map(|unit| unit.packet?.ok()).collect();
        prop_assert_eq!(whole.packets().copied().collect::<Vec<_>>(), read);
        let read = units.iter().filter(|unit| matches!(unit.packet, Some(Ok(_)))).map(|unit| unit.place);
        let reported = whole.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Packet(_)));
        prop_assert!(reported.map(|(place, _)| *place).eq(read));
        for unit in &units {
            prop_assert!(unit.bytes.end <= wire.len() as u64);
            for field in &unit.fields {
                let byte = wire[(field.bit / 8) as usize];
                let carried = u64::from(byte >> (field.bit % 8)) & ((1 << field.width) - 1);
                prop_assert_eq!(carried, field.value, "{:?}", field);
            }
        }
    }

    #[test]
    fn plain_noise_is_survived(
        parameters in parameters(),
        wire in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &program()).expect("supported");
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        decoder.reset();
        let pieces = feed(&mut decoder, wire.chunks(7));
        prop_assert_eq!(&whole.entries, &pieces.entries);
    }
}

/// `name:byte.bit+width=value` of every unit, `!` before units with a fault, `P` before packets.
fn format_units(parameters: &Parameters, wire: &[u8]) -> Vec<alloc::string::String> {
    let units = dissect(wire, parameters, &Program::new());
    let words = |unit: &Dissection<ArmEtm>| {
        let mark = match unit.packet {
            Some(Ok(_)) => "P",
            Some(Err(_)) => "!",
            None => "-",
        };
        let fields = unit.fields.iter().map(|field| {
            let (byte, bit) = (field.bit / 8, field.bit % 8);
            alloc::format!(" {}:{byte}.{bit}+{}={:x}", field.name, field.width, field.value)
        });
        core::iter::once(alloc::string::String::from(mark)).chain(fields).collect()
    };
    units.iter().map(words).collect()
}

#[test]
fn every_bit_has_a_name_and_a_place() {
    let wire = records(&etm(), "BE* a5; A1 82; TR 00; WT* 85; BE* 85; TR 04; TD 01");
    assert_eq!(
        format_units(&etm(), &wire),
        [
            "- PIPESTAT:0.0+3=4 TRACESYNC:0.3+1=1 skipped:1.0+8=a5",
            "- APO[1:0]:2.0+2=1 0:2.2+1=0 TRACESYNC:2.3+1=0 skipped:3.0+8=82",
            "- PIPESTAT:4.0+3=6 TRACESYNC:4.3+1=0 APO[3:2]:5.0+2=0 0:5.2+1=0",
            "- PIPESTAT:6.0+3=3 TRACESYNC:6.3+1=1",
            "- PIPESTAT:8.0+3=4 TRACESYNC:8.3+1=1",
            // The mark in record 4 cuts it off.
            "! address:7.0+7=5 c:7.7+1=1",
            "- PIPESTAT:10.0+3=6 TRACESYNC:10.3+1=0 replaced PIPESTAT:11.0+3=4",
            "! PIPESTAT:12.0+3=7 TRACESYNC:12.3+1=0 keep:13.0+1=1",
        ]
    );
}
