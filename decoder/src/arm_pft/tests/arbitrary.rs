//! Arbitrary streams in arbitrary chunks.

use proptest::prelude::*;

use super::*;
use crate::arm_pft::dissect;

fn program() -> Program {
    let main = [NOP, 0x0a00_0002, 0xeb00_0003, NOP, 0xe12f_ff33, LOOP, NOP, 0xfa00_0038, 0xf57f_f05f, BX_LR];
    let spaces = ["secure", "non-secure", "context=0x42"];
    let mut program = with_thumb(
        arm(&[(0, &[NOP, NOP, LOOP]), (0x18, &[0xe25e_f004]), (0x8000, &main)]),
        0x8100,
        &[0xbf00, 0xf000, 0xf801, 0x4770, 0xf3bf, 0x8f1f, 0xe7f8],
    );
    for (at, space) in spaces.iter().enumerate().take(2) {
        let words = [NOP, LOOP, BX_LR];
        let bytes = words.iter().skip(at).flat_map(|word| word.to_le_bytes()).collect();
        program
            .insert(Section::new(0x9000, bytes, "").in_space(space.parse().expect("a space")))
            .expect("clear");
    }
    program
}

prop_compose! {
    fn parameters()(
        minor in 0..2_u8,
        flags in any::<[bool; 8]>(),
        context_id_bytes in prop_oneof![Just(0_u8), Just(1), Just(2), Just(4)],
        return_stack_depth in 1..4_u8,
    ) -> Parameters {
        let [cycle_accurate, wide, binary, return_stack, hyp, vmid, barriers, m] = flags;
        let virtualization = hyp && minor == 1 && !m;
        Parameters {
            minor,
            cycle_accurate,
            context_id_bytes,
            timestamp_bits: if wide && minor == 1 { 64 } else { 48 },
            timestamp_binary: binary && minor == 1,
            return_stack,
            return_stack_depth,
            vmid: vmid && virtualization,
            virtualization,
            barrier_waypoints: barriers,
            m_profile: m,
            ..Parameters::default()
        }
    }
}

/// Pieces of packets, and now and then noise.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let texts = [
        "84",
        "86",
        "c4",
        "c4 80 85 8b 01",
        "fc ff ff ff ff",
        "b2",
        "8c",
        "09",
        "01",
        "81 01",
        "89 80 82 80 10",
        "8d 80 40 1c",
        "89 40 9e 1f",
        "81 80 80 80 48 02",
        "72 01",
        "72 83 01",
        "72 81 82 82 80 50 40",
        "6e 42",
        "6e 42 00 00 00",
        "3c 05",
        "42 9c 84 80 80 80 80 00",
        "46 05",
        "46 ff 81 d5 aa fe 83 c1",
        "42 80 ff d5 aa fe 83 c1 93 f1",
        "0c",
        "76",
        "66",
        "08 00 80 00 00 21",
        "08 00 90 00 00 29 41",
        "08 01 81 00 00 01 94 41",
        "08 00 80 00 00 01",
        ALIGN,
        "00 00",
        "04",
        "f3 d9 a2 a3 22",
    ];
    prop_oneof![
        8 => proptest::sample::select(texts.to_vec()).prop_map(bytes),
        2 => Just(bytes(&format!("{ALIGN} {ON}"))),
        1 => proptest::collection::vec(any::<u8>(), 1..4),
    ]
}

fn run(decoder: &mut Decoder, wire: &[u8], chunk: usize) -> Log<ArmPft> {
    let mut log = Log::default();
    wire.chunks(chunk).for_each(|chunk| decoder.push(chunk, &mut log));
    decoder.finish(&mut log);
    log
}

proptest! {
    #[test]
    fn neither_chunks_nor_the_fast_path_matter(
        parameters in parameters(),
        pieces in proptest::collection::vec(piece(), 0..40),
        chunk in 1..50_usize,
        steps in prop_oneof![Just(1 << 20), 0..4_u64],
    ) {
        let mut wire = bytes(&format!("{ALIGN} {ON}"));
        wire.extend(pieces.concat());
        let (mut fast, mut slow) = (Decoder::default(), Decoder::default().without_fast_path());
        for decoder in [&mut fast, &mut slow] {
            decoder.set_limits(&limited(steps));
            decoder.begin(&parameters, &program()).expect("possible");
        }
        let whole = run(&mut fast, &wire, wire.len());
        fast.reset();
        prop_assert_eq!(&run(&mut fast, &wire, chunk).entries, &whole.entries);
        let slow = run(&mut slow, &wire, chunk);
        prop_assert_eq!(&slow.entries, &whole.entries);
        let mut place = Place::default();
        for (next, _) in whole.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Packet(_))) {
            prop_assert!(place.packet == 0 || *next > place);
            place = *next;
        }
    }

    #[test]
    fn a_dissection_holds_every_bit_once(
        parameters in parameters(),
        pieces in proptest::collection::vec(piece(), 0..40),
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
        let packets: Vec<_> = units.iter().filter_map(|unit| unit.packet.as_ref()?.as_ref().ok()).collect();
        prop_assert!(log.packets().eq(packets));
        let is_packet = |entry: &Entry<ArmPft>| matches!(entry, Entry::Packet(_));
        let places = log.entries.iter().filter(|(_, entry)| is_packet(entry)).map(|(place, _)| *place);
        let of_units = units.iter().filter(|unit| matches!(unit.packet, Some(Ok(_)))).map(|unit| unit.place);
        prop_assert!(places.eq(of_units));
    }

    #[test]
    fn any_bytes_end(parameters in parameters(), noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut wire = bytes(&format!("{ALIGN} {ON}"));
        wire.extend(noise);
        let mut decoder = Decoder::default();
        decoder.begin(&parameters, &program()).expect("possible");
        run(&mut decoder, &wire, 13);
    }
}
