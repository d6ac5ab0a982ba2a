//! Arbitrary streams in arbitrary chunks.

use proptest::prelude::*;
use traceproof_vectors::arm::Profile;

use super::*;
use crate::arm_ete::dissect;

fn program() -> Program {
    let main = [NOP, LOOP_IF, 0x9400_0006, NOP, BLR, ISB, 0x1400_0002, 0xb400_0040, NOP, RET, LOOP];
    let arm = [0xe320_f000, 0x0a00_0000, 0xfa00_0000, 0xe12f_ff33, 0xe12f_ff1e];
    let mut program = words(&[(0x1000, &main), (0, &[NOP, RET]), (0x2000, &arm)]);
    let thumb = [0xbf00_u16, 0xf000, 0xf801, 0x4770, 0xf3bf, 0x8f6f, 0xbf08, 0xe7f8, 0x6808, 0xe7f6];
    let code = thumb.iter().flat_map(|half| half.to_le_bytes()).collect();
    program.insert(Section::new(0x3000, code, "")).expect("free");
    for (space, word) in [("secure", NOP), ("non-secure el1", LOOP_IF), ("context=0x5", RET)] {
        let code = [word, LOOP_IF].iter().flat_map(|word| word.to_le_bytes()).collect();
        let section = Section::new(0x4000, code, "").in_space(space.parse().expect("a space"));
        let _ = program.insert(section);
    }
    program
}

prop_compose! {
    fn parameters()(
        version in proptest::sample::select(Version::ALL.to_vec()),
        flags in any::<[bool; 12]>(),
        maxspec in prop_oneof![Just(0_u32), 1..6_u32, Just(u32::MAX)],
        q in 0..3_u8,
    ) -> Parameters {
        let ete = version.is_ete();
        let [commopt, commtrans, markers, ite, tme, wfx, counting, stack, loads, stores, data, m] = flags;
        Parameters {
            commopt,
            commtrans,
            maxspec,
            timestamp_markers: markers && version >= Version::Etmv4_6 && version != Version::Ete1_0,
            instrumentation: ite && ete,
            transactions: tme && ete,
            wfx_is_p0: wfx,
            cycle_counting: counting,
            return_stack: stack,
            load_is_p0: loads && !ete,
            store_is_p0: stores && !ete,
            data_trace: data && !ete,
            profile: if m && !ete { Profile::Microcontroller } else { Profile::Application },
            q_elements: [QElements::None, QElements::Count, QElements::Any][usize::from(q)],
            vmid_bytes: if wfx { 4 } else { 0 },
            context_id_bytes: if ete || tme { 4 } else { 0 },
            ..Parameters { version, ..Parameters::default() }
        }
    }
}

/// Pieces of packets, and now and then noise.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let texts = [
        "f7",
        "f6",
        "fb",
        "d9",
        "c3",
        "e2",
        "dd",
        "d4",
        "30",
        "31",
        "33",
        "34",
        "36",
        "39",
        "2e 01",
        "2e 03",
        "2f 01",
        "2d 01",
        "2d 02",
        "2d 05",
        "0c 12",
        "0d f3",
        "0e 02 05",
        "0f 01",
        "10",
        "15",
        "90",
        "91",
        "92",
        "95 01",
        "96 02",
        "9a 00 08 00 00",
        "9b 00 30 00 00",
        "9d 00 08 00 00 00 00 00 00",
        "82 00 08 00 00 31",
        "82 00 10 00 00 20",
        "83 00 30 00 00 20",
        "82 00 20 00 00 31",
        "82 00 20 00 00 11",
        "81 31",
        "81 20",
        "81 b1 05 00 00 00",
        "80",
        "06 1d 95 02",
        "06 5c 90",
        "06 21 95 01",
        "06 01 70",
        "06 1d",
        "06 91 30",
        "06 31 70",
        "0a",
        "0b",
        "b4 02",
        "b0",
        "ac 03",
        "ac 09",
        "af",
        "a0 02",
        "02 05",
        "03 85 01 05",
        "88",
        "71",
        "7f",
        "09 01 05 00 00 00 00 00 00 00",
        "04",
        "01 00",
        "01 04 01",
        "01 09 01 10",
        "01 0d 41 02 10",
        "00 03",
        "00 05",
        "05",
        "07",
        "08",
        "2b",
        "25",
        "42",
        "6d 05",
        "68 92 05 13",
        "70",
        "00 00",
    ];
    prop_oneof![
        12 => proptest::sample::select(texts.to_vec()).prop_map(bytes),
        6 => proptest::sample::select(vec!["f7", "f6", "d9", "2d 01", "e2"]).prop_map(bytes),
        2 => Just(bytes(&format!("{ALIGN} {P}"))),
        1 => Just(bytes(ALIGN)),
        1 => proptest::collection::vec(any::<u8>(), 1..4),
    ]
}

use alloc::vec;

fn run(decoder: &mut Decoder, wire: &[u8], chunk: usize) -> Log<ArmEte> {
    let mut log = Log::default();
    wire.chunks(chunk).for_each(|chunk| decoder.push(chunk, &mut log));
    decoder.finish(&mut log);
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn neither_chunks_nor_the_fast_path_matter(
        parameters in parameters(),
        pieces in proptest::collection::vec(piece(), 0..60),
        chunk in 1..50_usize,
        steps in prop_oneof![3 => Just(1 << 20), 1 => 0..6_u64],
        speculation in prop_oneof![3 => Just(1 << 16), 1 => 0..9_u32],
    ) {
        let mut wire = bytes(&format!("{ALIGN} {P}"));
        wire.extend(pieces.concat());
        let (mut fast, mut slow) = (Decoder::default(), Decoder::default().without_fast_path());
        for decoder in [&mut fast, &mut slow] {
            decoder.set_limits(&DecoderLimits::default().with_steps(steps).with_speculation(speculation));
            decoder.begin(&parameters, &program()).expect("possible");
        }
        let whole = run(&mut fast, &wire, wire.len());
        fast.reset();
        prop_assert_eq!(&run(&mut fast, &wire, chunk).entries, &whole.entries);
        let slow = run(&mut slow, &wire, chunk);
        prop_assert_eq!(&slow.entries, &whole.entries);
        let mut place = None;
        for (next, _) in whole.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Packet(_))) {
            prop_assert!(place < Some(next.byte));
            place = Some(next.byte);
        }
    }

    #[test]
    fn a_dissection_holds_every_bit_once(
        parameters in parameters(),
        pieces in proptest::collection::vec(piece(), 0..60),
    ) {
        let wire = pieces.concat();
        let mut bit = 0;
        let units = dissect(&wire, &parameters);
        for unit in &units {
            for field in &unit.fields {
                prop_assert_eq!(field.bit, bit);
                bit += u64::from(field.width);
            }
            prop_assert_eq!(8 * unit.bytes.end, bit);
        }
        prop_assert_eq!(bit, 8 * wire.len() as u64);
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &Program::new()).expect("possible");
        let log = run(&mut decoder, &wire, 7);
        let contradicts = |fault: &Fault| fault.class == traceproof_vectors::FaultClass::Contradiction;
        if !log.faults().any(contradicts) {
            let packets: Vec<_> = units.iter().filter_map(|unit| unit.packet.as_ref()?.as_ref().ok()).collect();
            prop_assert!(log.packets().eq(packets));
        }
    }

    #[test]
    fn any_bytes_end(parameters in parameters(), noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut wire = bytes(&format!("{ALIGN} {P}"));
        wire.extend(noise);
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &program()).expect("possible");
        run(&mut decoder, &wire, 13);
    }
}
