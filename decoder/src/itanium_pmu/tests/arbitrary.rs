//! Arbitrary logs in arbitrary chunks; their dissections.

use proptest::prelude::*;
use traceproof_vectors::itanium_pmu::{
    DataEarQualifier, DataEarThresholds, EarReadPrivilege, EarReplacement, FreezeTiming, Ia32Counting,
    IbrLowBits, LatencyOverflow, LatencyThreshold, LongSyllable, Packet,
};

use super::*;
use crate::itanium_pmu::dissect;

fn feed<'a>(decoder: &mut Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Log<ItaniumPmu> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}

prop_compose! {
    fn parameters()(strict: bool, bits: [bool; 10]) -> Parameters {
        let [a, b, c, d, e, f, g, h, i, j] = bits.map(usize::from);
        Parameters {
            strict,
            ia32_counting: Ia32Counting::ALL[a],
            latency_overflow: LatencyOverflow::ALL[b],
            ear_replacement: EarReplacement::ALL[c],
            long_syllable: LongSyllable::ALL[d],
            freeze: FreezeTiming::ALL[e],
            ibr_low_bits: IbrLowBits::ALL[f],
            data_ear_thresholds: DataEarThresholds::ALL[g],
            data_ear_qualifier: DataEarQualifier::ALL[h],
            latency_threshold: LatencyThreshold::ALL[i],
            ear_read_privilege: EarReadPrivilege::ALL[j],
        }
    }
}

/// Records that are mostly right, with few bits in their values.
fn any_record() -> impl Strategy<Value = Vec<u8>> {
    let value = || {
        prop_oneof![any::<u64>(), (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a & b & a >> 7), Just(1_u64)]
    };
    let class_and_index = || {
        (0..6_u64, 0..18_u64).prop_map(|(class, index)| class << 8 | if class > 3 { 0 } else { index } << 16)
    };
    prop_oneof![
        1 => Just(reset()),
        8 => (1..4_u64, class_and_index(), value()).prop_map(|(kind, register, value)| {
            record(kind | register, if kind == 3 { 0 } else { value })
        }),
        3 => (any::<u64>(), value()).prop_map(|(low, ip)| record(4 | low & 0x01ff_ffff_ffff_5f00, ip)),
        2 => (0..6_u64, value()).prop_map(|(kind, address)| record(5 | kind << 8, address)),
        1 => (6..10_u64, any::<u64>(), value()).prop_map(|(kind, low, value)| match kind {
            6 => record(6 | low << 32, value),
            7 => record(7 | (low & 1) << 8, value),
            8 => record(8 | low << 32, 0),
            _ => record(9 | (1 + low % 3) << 8, 0),
        }),
        2 => any::<u64>().prop_map(|low| record(10 | low & 0xff0f_7f00, 0)),
        2 => Just(cycle()),
        1 => (12..15_u64, 0..8_u64).prop_map(|(kind, bits)| {
            record(kind | (bits & [7, 1, 0][kind as usize - 12]) << 8, 0)
        }),
        1 => any::<[u64; 2]>().prop_map(|[low, high]| record(low, high)),
    ]
}

proptest! {
    #[test]
    fn cuts_and_resets_change_nothing(
        parameters in parameters(),
        records in proptest::collection::vec(any_record(), 0..80),
        noise in proptest::collection::vec(any::<u8>(), 0..20),
        cut in 1..40_usize,
    ) {
        let wire = [records.concat(), noise].concat();
        let mut decoder = Decoder::new(&parameters);
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        for size in [cut, 1] {
            decoder.reset();
            let pieces = feed(&mut decoder, wire.chunks(size));
            prop_assert_eq!(&whole.entries, &pieces.entries);
        }
        let places: Vec<u64> = whole.entries.iter().map(|(place, _)| place.packet).collect();
        prop_assert!(places.is_sorted());
        let mut again = Log::default();
        decoder.finish(&mut again);
        prop_assert!(again.entries.is_empty());
    }

    #[test]
    fn plain_noise_is_survived(
        parameters in parameters(),
        wire in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut decoder = Decoder::new(&parameters);
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        decoder.reset();
        let pieces = feed(&mut decoder, wire.chunks(7));
        prop_assert_eq!(&whole.entries, &pieces.entries);
    }

    #[test]
    fn the_dissector_reads_the_same_packets_in_the_same_places(
        parameters in parameters(),
        records in proptest::collection::vec(any_record(), 0..40),
        noise in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let wire = [records.concat(), noise].concat();
        let whole = decode(&parameters, &wire);
        let units = dissect(&wire, &parameters, &Program::new());
        prop_assert_eq!(units.len(), wire.len().div_ceil(16));
        let read: Vec<Packet> = units.iter().filter_map(|unit| unit.packet?.ok()).collect();
        prop_assert_eq!(whole.packets().copied().collect::<Vec<_>>(), read);
        for unit in &units {
            let mut next = unit.bytes.start * 8;
            for field in &unit.fields {
                prop_assert_eq!(field.bit, next);
                next += u64::from(field.width);
                let bits = (0..field.width).map(|index| field.bit + u64::from(index));
                let value = bits.rev().fold(0, |value, bit| {
                    value << 1 | u64::from(wire[(bit / 8) as usize] >> (bit % 8) & 1)
                });
                prop_assert_eq!(value, field.value, "{:?}", field);
            }
            if unit.packet.is_some_and(|packet| packet.is_ok()) {
                prop_assert_eq!(next, unit.bytes.end * 8);
            }
        }
    }
}

/// `name:bit+width=value`, bits counted within the record; `!` before records without a packet.
fn format_units(wire: &[u8]) -> Vec<String> {
    let units = dissect(wire, &Parameters::default(), &Program::new());
    let format_unit = |unit: &traceproof_vectors::Dissection<ItaniumPmu>| {
        let mark = if unit.packet.is_some_and(|packet| packet.is_ok()) { "" } else { "!" };
        let fields = unit.fields.iter().map(|field| {
            format!(" {}:{}+{}={:x}", field.name, field.bit - unit.place.byte * 8, field.width, field.value)
        });
        core::iter::once(mark.into()).chain(fields).collect()
    };
    units.iter().map(format_unit).collect()
}

#[test]
fn every_bit_has_a_name_and_a_place() {
    let wire = [
        write("PMC4", 0x0250_3028),
        record(4 | (2 | 4 | 3 << 4) << 8 | 0x123 << 16, 0x40),
        record(5 | 1 << 8, 0x70),
        instruction_tlb_miss(0x60, 1),
        data_cache_miss(0x2d),
        occurrence(0x6c, 1, 2),
        read("PMC13", 2),
        Vec::from([11, 0]),
    ];
    assert_eq!(
        format_units(&wire.concat()),
        [
            " record:0+8=1 class:8+8=0 index:16+8=4 0:24+40=0 plm:64+4=8 ev:68+1=0 oi:69+1=1 pm:70+1=0 ig:71+1=0 es:72+7=30 ig:79+1=0 \
             umask:80+4=0 threshold:84+3=5 ig:87+1=0 ism:88+2=2 ig:90+38=0",
            " record:0+8=4 slot:8+2=2 retired:10+1=1 squashed:11+1=0 itype:12+3=3 0:15+1=0 enco:16+41=123 0:57+7=0 IP:64+64=40",
            " record:0+8=5 kind:8+8=1 0:16+48=0 address:64+64=70",
            " record:0+8=7 resolution:8+8=1 0:16+48=0 IP:64+64=60",
            " record:0+8=8 0:8+24=0 latency:32+32=2d 0:64+64=0",
            " record:0+8=a es:8+7=6c 0:15+1=0 umask:16+4=1 0:20+4=0 count:24+8=2 0:32+32=0 0:64+64=0",
            "! record:0+8=2 class:8+8=0 index:16+8=d 0:24+40=0 ta:64+1=0",
            "!",
        ]
    );
}
