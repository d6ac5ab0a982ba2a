//! Arbitrary streams in arbitrary chunks; their dissections.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Packet, Parameters, VectorBase};
use traceproof_vectors::{Decoder as _, Dissection, Entry, Log, Program};

use super::{ALIGN, arm, bytes, data, plain};
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
        minor in 0..6_u8,
        flags in any::<[bool; 12]>(),
        bare_port in prop::bool::weighted(0.2),
        context_id_bytes in prop_oneof![Just(0_u8), Just(1), Just(2), Just(4)],
        timestamp_bits in prop_oneof![Just(48_u8), Just(64)],
        hivecs in prop_oneof![Just(VectorBase::Low), Just(VectorBase::High), Just(VectorBase::Unknown)],
    ) -> Parameters {
        let [data_value, data_address, monitor_cprt, cycle_accurate, alternative, single, only, stamps, gray, vmid, hyp, m] =
            flags;
        Parameters {
            architecture: Architecture::V3,
            minor,
            data_value,
            data_address,
            monitor_cprt,
            cycle_accurate,
            context_id_bytes,
            alternative_branches: alternative && minor >= 4,
            thumb32_single: single,
            data_only: only && minor >= 1,
            timestamps: stamps && minor >= 5,
            timestamp_bits,
            timestamp_gray: gray,
            vmid: vmid && minor >= 5,
            virtualization: hyp && minor >= 5,
            m_profile: m && minor >= 4,
            bare_port,
            hivecs,
            ..Parameters::default()
        }
    }
}

/// Pieces of packets, and now and then noise.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let texts = [
        "84",
        "88",
        "c4",
        "82",
        "bc",
        "13",
        "93 11",
        "93 81 81 40",
        "93 81 81 80 0c",
        "a5 82 82 80 18",
        "8d 80 80 80 48 3d",
        "8d 80 80 80 cd",
        "a5 42 1c",
        "08 21 00 80 00 00",
        "08 01 04 80 00 00",
        "08 a1 00 80 00 00 09",
        "70 05 21 01 80 00 00",
        "04 05",
        "54",
        "58",
        "74 80 82 80 80 02",
        "24 01",
        "44",
        "26 04 12",
        "02",
        "22 04",
        "50",
        "62",
        "66",
        "6a",
        "7a 04",
        "6e 01",
        "0c",
        "42 05",
        "46 80 80 80 80 80 80 80 80 ff",
        "3c 01",
        "76",
        "7e",
    ];
    let texts: Vec<Vec<u8>> = texts.iter().map(|text| bytes(text)).collect();
    prop_oneof![
        30 => proptest::sample::select(texts),
        2 => Just(bytes(ALIGN)),
        1 => proptest::collection::vec(any::<u8>(), 1..4),
        1 => Just(Vec::from([0; 9])),
    ]
}

proptest! {
    #[test]
    fn cuts_and_resets_change_nothing(
        parameters in parameters(),
        pieces in proptest::collection::vec(piece(), 0..80),
        cut in 1..9_usize,
        with_code in any::<bool>(),
    ) {
        let mut wire = bytes(ALIGN);
        wire.extend(pieces.concat());
        if parameters.bare_port {
            wire = wire.iter().flat_map(|byte| [byte % 31 / 30, *byte]).collect();
        }
        let program = if with_code { arm(&[0xe320_f000, 0xe12f_ff1e, 0xeaff_fffc]) } else { Program::new() };
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &program).expect("supported");
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        for size in [cut, 1] {
            decoder.reset();
            let pieces = feed(&mut decoder, wire.chunks(size));
            prop_assert_eq!(&whole.entries, &pieces.entries);
        }
        let mut slow = Decoder::default().without_fast_path();
        slow.begin(&parameters, &program).expect("supported");
        prop_assert_eq!(&whole.entries, &feed(&mut slow, wire.chunks(wire.len())).entries);
        // The dissector reads the same packets, in the same places.
        let units = dissect(&wire, &parameters, &Program::new());
        let read: Vec<_> =
            units.iter().filter_map(|unit| Some((unit.place, unit.packet?.ok()?))).collect();
        let reported: Vec<(_, Packet)> = whole
            .entries
            .iter()
            .filter_map(|(place, entry)| match entry {
                Entry::Packet(packet) => Some((*place, *packet)),
                _ => None,
            })
            .collect();
        prop_assert_eq!(reported, read);
        for unit in &units {
            prop_assert!(unit.bytes.end <= wire.len() as u64);
            for field in unit.fields.iter().filter(|field| field.width <= 8 && field.name != "TRACECTL" && field.name != "skipped") {
                let byte = wire[(field.bit / 8) as usize];
                let carried = u64::from(byte >> (field.bit % 8)) & ((1 << field.width) - 1);
                prop_assert_eq!(carried, field.value, "{:?}", field);
            }
        }
    }

    #[test]
    fn plain_noise_is_survived(
        parameters in parameters(),
        noise in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut wire = bytes(ALIGN);
        wire.extend(noise);
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &Program::new()).expect("supported");
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        decoder.reset();
        let pieces = feed(&mut decoder, wire.chunks(7));
        prop_assert_eq!(&whole.entries, &pieces.entries);
        let mut slow = Decoder::default().without_fast_path();
        slow.begin(&parameters, &Program::new()).expect("supported");
        prop_assert_eq!(&whole.entries, &feed(&mut slow, wire.chunks(wire.len())).entries);
    }
}

/// `name:byte.bit+width=value` of every field, `!` before units with a fault, `P` before packets.
fn format_units(parameters: &Parameters, text: &str) -> Vec<String> {
    let words = |unit: &Dissection<ArmEtm>| {
        let mark = match unit.packet {
            Some(Ok(_)) => "P",
            Some(Err(_)) => "!",
            None => "-",
        };
        let fields = unit.fields.iter().map(|field| {
            let (byte, bit) = (field.bit / 8, field.bit % 8);
            format!(" {}:{byte}.{bit}+{}={:x}", field.name, field.width, field.value)
        });
        core::iter::once(String::from(mark)).chain(fields).collect()
    };
    dissect(&bytes(text), parameters, &Program::new()).iter().map(words).collect()
}

#[test]
fn every_bit_has_a_name_and_a_place() {
    assert_eq!(
        format_units(&plain(), "66 00 00 00 00 00 80 c8 8d 80 80 80 48 3d 72 13 00 00 00 00 00 80 93"),
        [
            "- skipped:0.0+8=0",
            "P zeros:1.0+40=0 end:6.0+8=80",
            "P P-header:7.0+8=c8",
            "P 1:8.0+1=1 address:8.1+6=6 c:8.7+1=1 address:9.0+7=0 c:9.7+1=1 address:10.0+7=0 c:10.7+1=1 \
             address:11.0+7=0 c:11.7+1=1 address:12.0+3=0 state:12.3+3=1 E:12.6+1=1 c:12.7+1=0 NS:13.0+1=1 \
             Exception[3:0]:13.1+4=e Cancel:13.5+1=1 AltISA:13.6+1=0 c:13.7+1=0",
            "! header:14.0+8=72",
            "- skipped:15.0+8=0",
            "P zeros:16.0+40=0 end:21.0+8=80",
            "- 1:22.0+1=1 address:22.1+6=9 c:22.7+1=1",
        ]
    );
    assert_eq!(
        format_units(&data(), &format!("{ALIGN} 2a 04 34 12 64 7f 08 21 00 80 00 00"))[1..],
        [
            "P header:6.0+2=2 SS:6.2+2=2 0:6.4+1=0 A:6.5+1=1 0:6.6+2=0 address:7.0+7=4 c:7.7+1=0 value:8.0+8=34 value:9.0+8=12",
            "P header:10.0+2=0 SS:10.2+2=1 0:10.4+1=0 TT:10.5+2=3 0:10.7+1=0 value:11.0+8=7f",
            "P header:12.0+8=8 1:13.0+1=1 Hyp:13.1+1=0 AltISA:13.2+1=0 NS:13.3+1=0 J:13.4+1=0 reason:13.5+2=1 LSiP:13.7+1=0 \
             address:14.0+8=0 address:15.0+8=80 address:16.0+8=0 address:17.0+8=0",
        ]
    );
}
