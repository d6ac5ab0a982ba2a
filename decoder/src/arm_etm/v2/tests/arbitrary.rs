//! Arbitrary captures in arbitrary chunks; their dissections.

use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::arm_etm::v2::Cycle;
use traceproof_vectors::arm_etm::{ArmEtm, Packet, Parameters, VectorBase};
use traceproof_vectors::{Decoder as _, Entry, Log, Program};

use super::{bytes, play, port};
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
        minor in 0..2_u8,
        port_width in prop_oneof![Just(4_u8), Just(8), Just(16)],
        flags in any::<[bool; 4]>(),
        context_id_bytes in prop_oneof![Just(0_u8), Just(1), Just(2), Just(4)],
        fifo_latency in 0..2_u8,
        hivecs in prop_oneof![Just(VectorBase::Low), Just(VectorBase::High), Just(VectorBase::Unknown)],
        tfo_jazelle in any::<bool>(),
    ) -> Parameters {
        let [data_value, data_address, monitor_cprt, cycle_accurate] = flags;
        Parameters {
            minor,
            port_width,
            data_value,
            data_address,
            monitor_cprt,
            context_id_bytes,
            cycle_accurate,
            fifo_latency,
            hivecs,
            tfo_jazelle: tfo_jazelle && minor >= 1,
            ..Parameters::default()
        }
    }
}

/// A status and TRACEPKT; often one that synchronises, or delivers a legal header.
fn pins() -> impl Strategy<Value = (u8, u16)> {
    let headers = bytes("74 54 f8 58 24 44 2c 02 26 aa 6a 6e 93 01 20 00 80");
    prop_oneof![
        6 => (0..16_u8, proptest::sample::select(headers)).prop_map(|(status, header)| (status, u16::from(header))),
        3 => (Just(1_u8), any::<u16>()),
        2 => Just((7, 0x0001)),
        1 => (Just(7_u8), any::<u16>()),
        3 => (Just(4_u8), Just(0)),
        1 => (any::<u8>(), any::<u16>()),
    ]
}

fn wire(parameters: &Parameters, pins: &[(u8, u16)]) -> Vec<u8> {
    let size = Cycle::size(parameters);
    let mut wire = Vec::new();
    for &(status, packet) in pins {
        let [low, high] = packet.to_le_bytes();
        let low = if parameters.port_width == 4 && status < 0xf0 { low & 0xf } else { low };
        wire.extend(&[status, low, high][..size]);
    }
    wire
}

proptest! {
    #[test]
    fn cuts_and_resets_change_nothing(
        parameters in parameters(),
        pins in proptest::collection::vec(pins(), 0..300),
        noise in proptest::collection::vec(any::<u8>(), 0..3),
        cut in 1..9_usize,
    ) {
        let mut wire = wire(&parameters, &pins);
        wire.extend(noise);
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &Program::new()).expect("supported");
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        for size in [cut, 1] {
            decoder.reset();
            let pieces = feed(&mut decoder, wire.chunks(size));
            prop_assert_eq!(&whole.entries, &pieces.entries);
        }
        // The dissector reads the same packets, in the same places.
        let units = dissect(&wire, &parameters, &Program::new());
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
        decoder.begin(&parameters, &Program::new()).expect("supported");
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        decoder.reset();
        let pieces = feed(&mut decoder, wire.chunks(7));
        prop_assert_eq!(&whole.entries, &pieces.entries);
    }
}

/// `name:byte.bit+width=value` of every unit, `!` before units with a fault, `P` before packets.
fn format_units(parameters: &Parameters, wire: &[u8]) -> Vec<alloc::string::String> {
    let units = dissect(wire, parameters, &Program::new());
    let words = |unit: &traceproof_vectors::Dissection<ArmEtm>| {
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
    let wire = play(&port(8), "TFO 20 00 80 00 00; drain; DE a4 99 72");
    let reported = format_units(&port(8), &wire);
    assert_eq!(reported[0], "- PIPESTAT:0.0+4=7 TFO:1.0+1=1 N[6:4]:1.1+3=0 N[3:0]:1.4+4=0");
    assert_eq!(reported[1], "- PIPESTAT:2.0+4=4");
    assert_eq!(
        reported[6],
        "P J:3.4+1=0 RR:3.5+2=1 L:3.7+1=0 address:5.0+8=0 address:7.0+8=80 address:9.0+8=0 address:11.0+8=0"
    );
    // The record whose bytes end a packet precedes it.
    let wire = play(&port(8), "TFO 20 00 80 00 00; drain; DE a4 99 72; drain");
    let reported = format_units(&port(8), &wire);
    assert_eq!(
        reported[7..],
        [
            "- PIPESTAT:12.0+4=1",
            "- PIPESTAT:14.0+4=4",
            "P SS:13.2+2=1 TT:13.5+2=1 C:13.7+1=1 value:15.0+8=99",
            "- PIPESTAT:16.0+4=4",
            "! header:17.0+8=72",
        ]
    );

    let reported = format_units(&port(4), &play(&port(4), "TFO 20 00 80 00 00; drain; DE 91; drain"));
    assert_eq!(reported[0], "- PIPESTAT:0.0+4=7 TFO:1.0+1=1 N[6:4]:1.1+3=0");
    assert_eq!(reported[2], "- PIPESTAT:4.0+4=4 N[3:0]:5.0+4=0");
    // Bits [6:4] travel in another record than bits [3:1].
    let last = reported.last().expect("units");
    assert_eq!(last, "- address:27.1+3=0 address:29.0+3=1 c:29.3+1=1");
}
