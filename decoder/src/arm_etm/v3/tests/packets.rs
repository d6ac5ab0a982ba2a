//! Fields of packets; which bytes are none.

use alloc::format;
use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v3::{ExceptionInformation, InByteException, VariableField};
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters, Reason};

use super::{ALIGN, bytes, data, packets, plain, read, wrong};
use traceproof_vectors::Address32;

fn cycle_accurate() -> Parameters {
    Parameters { cycle_accurate: true, minor: 5, ..plain() }
}

fn alternative() -> Parameters {
    Parameters { alternative_branches: true, minor: 4, ..plain() }
}

fn branch(bits: u64, bytes: u8) -> Packet {
    Packet::BranchAddress(CompressedAddress { bits, bytes })
}

fn sync(reason: Reason, address: Option<u32>) -> Packet {
    Packet::InstructionSync {
        cycle_count: None,
        context_id: None,
        reason,
        jazelle: false,
        non_secure: false,
        alt_isa: false,
        hyp: false,
        address: address.map(Address32),
        under_lsm: None,
    }
}

#[test]
fn e3_01_the_start_of_a_capture() {
    let parameters = Parameters { timestamps: true, ..cycle_accurate() };
    let mut start = sync(Reason::TraceEnabled, Some(0xc000_caa1));
    if let Packet::InstructionSync { cycle_count, .. } = &mut start {
        // 0x02 + (0x1d << 7) + (0x44 << 14) + (1 << 21) = 3 214 978
        *cycle_count = Some(VariableField { bits: 3_214_978, bytes: 4 });
    }
    let stamp = VariableField { bits: 0x49 | 0x58 << 7 | 0x44 << 14, bytes: 3 };
    assert_eq!(
        packets(&parameters, "70 82 9d c4 01 21 a1 ca 00 c0 84 42 c9 d8 44 bc"),
        [
            start,
            Packet::PHeader(0x84),
            Packet::Timestamp { clock_change: false, value: stamp },
            Packet::PHeader(0xbc)
        ]
    );
}

#[test]
fn e3_04_branches_of_five_bytes() {
    // Byte 5 with its state bits stands above the other 27 bits.
    for parameters in [plain(), alternative()] {
        for (text, low, fifth) in [
            ("d7 ba 86 db 0d", 0x2b | 0x3a << 6 | 0x06 << 13 | 0x5b << 20, 0x0d),
            ("f7 9f e9 b4 1b", 0x3b | 0x1f << 6 | 0x69 << 13 | 0x34 << 20, 0x1b),
            ("f1 d9 a2 a3 22", 0x38 | 0x59 << 6 | 0x22 << 13 | 0x23 << 20, 0x22),
        ] {
            assert_eq!(packets(&parameters, text), [branch(low | fifth << 27, 5)], "{text}");
        }
    }
}

#[test]
fn e3_05_p_headers() {
    let all: Vec<_> = (0x80..=0xfe).step_by(2).collect();
    let legal = |parameters: &Parameters| {
        let is_legal = |byte: &&u8| wrong(parameters, &format!("{byte:02x}")).is_empty();
        all.iter().filter(is_legal).copied().collect::<Vec<u8>>()
    };
    let formats: Vec<u8> = (0x80..=0xfc).step_by(4).collect();
    let sorted = |more: &[u8]| {
        let mut codes = formats.clone();
        codes.extend(more);
        codes.sort_unstable();
        codes
    };
    assert_eq!(legal(&plain()), sorted(&[0x82, 0x86, 0x8a, 0x8e]));
    assert_eq!(legal(&cycle_accurate()), sorted(&[0x82, 0x86, 0x8a, 0x8e, 0x92, 0x96]));
    assert_eq!(wrong(&cycle_accurate(), "84 9a"), "reserved-encoding@2:7.0");
}

fn exception(number: u16) -> ExceptionInformation {
    ExceptionInformation { number, ..ExceptionInformation::default() }
}

#[test]
fn e3_06_exceptions() {
    let leads = |bits, bytes, information| Packet::ExceptionBranch {
        address: CompressedAddress { bits, bytes },
        information,
    };
    // ARM 0x18: 6 words; byte 5 is 0b01_001_000, of which bit 6 is not in `bits`.
    let irq = ExceptionInformation { cancel: true, non_secure: true, ..exception(14) };
    assert_eq!(packets(&plain(), "8d 80 80 80 48 3d"), [leads(6 | 0x08 << 27, 5, irq)]);
    // Thumb 0x8124 >> 1 = 0x4092: low 6 bits 0x12, the next six 0x02; bit 6 of byte 2 announces.
    assert_eq!(packets(&alternative(), "a5 42 1c"), [leads(0x12 | 0x02 << 6, 2, exception(14))]);
    let fault = ExceptionInformation { hyp: Some(false), ..exception(19) };
    assert_eq!(packets(&alternative(), "81 84 40 86 01"), [leads(0x04 << 6, 3, fault)]);
    let irq8 = ExceptionInformation { hyp: Some(false), resume: Some(3), ..exception(24) };
    assert_eq!(packets(&alternative(), "81 84 40 90 81 43"), [leads(0x04 << 6, 3, irq8)]);
    let skipped = ExceptionInformation { resume: Some(3), ..exception(5) };
    assert_eq!(packets(&alternative(), "81 84 40 8a 43"), [leads(0x04 << 6, 3, skipped)]);
    // Hyp, AltISA; the third byte is byte 2 whatever its bit 6 is.
    let hyp = ExceptionInformation { alt_isa: true, hyp: Some(true), resume: Some(7), ..exception(3) };
    assert_eq!(packets(&plain(), "8d 80 80 80 48 c6 a0 07"), [leads(6 | 0x08 << 27, 5, hyp)]);
    for text in ["8d 80 80 80 48 c6 a0 87", "8d 80 80 80 48 c6 a0 c7"] {
        assert_eq!(wrong(&plain(), text), "overlong@1:13.0", "{text}");
    }
    assert_eq!(wrong(&plain(), "8d 80 80 80 48 c6 c7"), "overlong@1:12.0");
}

#[test]
fn exceptions_inside_byte_five_are_those_of_arm_state_and_the_original_encoding() {
    let in_byte = Packet::InByteExceptionBranch {
        address: CompressedAddress { bits: 6 | 5 << 27, bytes: 5 },
        exception: InByteException { code: 1, cancel: true },
    };
    // 0b1_1_001_101
    assert_eq!(packets(&plain(), "8d 80 80 80 cd | 03"), [in_byte, branch(1, 1)]);
    assert_eq!(wrong(&alternative(), "8d 80 80 80 cd"), "reserved-encoding@1:10.0");
    // After a branch to Thumb state, and after an I-sync in it; then to ARM state again.
    assert_eq!(wrong(&plain(), "8d 80 80 80 10 8d 80 80 80 cd"), "reserved-encoding@2:15.0");
    assert_eq!(wrong(&plain(), "08 21 01 80 00 00 8d 80 80 80 cd"), "reserved-encoding@2:16.0");
    assert_eq!(wrong(&plain(), "08 31 00 80 00 00 8d 80 80 80 cd"), "reserved-encoding@2:16.0");
    assert_eq!(wrong(&plain(), "8d 80 80 80 10 8d 80 80 80 08 8d 80 80 80 cd"), "");
}

#[test]
fn e3_07_the_same_bytes_in_both_encodings() {
    assert_eq!(packets(&plain(), "93 81 81 40"), [branch(0x09 | 0x01 << 6 | 0x01 << 13 | 0x40 << 20, 4)]);
    assert_eq!(wrong(&alternative(), "93 81 81 40"), "cut@10");
}

#[test]
fn branch_addresses_of_one_to_four_bytes() {
    for parameters in [plain(), alternative()] {
        for (text, bits, length) in [
            ("13", 0x09, 1),
            ("7f", 0x3f, 1),
            ("93 11", 0x09 | 0x11 << 6, 2),
            ("93 81 81 01", 0x09 | 1 << 6 | 1 << 13 | 1 << 20, 4),
            ("b7 fd d6 01", 0x1b | 0x7d << 6 | 0x56 << 13 | 1 << 20, 4),
        ] {
            assert_eq!(packets(&parameters, text), [branch(bits, length)], "{text}");
        }
    }
    assert_eq!(packets(&plain(), "93 51"), [branch(0x09 | 0x51 << 6, 2)]);
    assert_eq!(
        packets(&alternative(), "93 81 81 c0 08"),
        [branch(0x09 | 1 << 6 | 1 << 13 | 0x40 << 20 | 8 << 27, 5)]
    );
    // Byte 5 without a state pattern, or with bit 7.
    for fifth in 0..=u8::MAX {
        let reported = wrong(&alternative(), &format!("93 81 81 80 {fifth:02x} 00"));
        let legal = fifth & 0x80 == 0 && fifth & 0x38 != 0;
        assert_eq!(reported.starts_with("reserved-encoding@1:10.0"), !legal, "{fifth:#04x}: {reported}");
    }
}

#[test]
fn e3_08_out_of_order_pair() {
    let address = Some(CompressedAddress { bits: 0x2000_0100, bytes: 5 });
    let placeholder = |first, address| Packet::LoadMissOccurred { more: false, first, tag: 1, address };
    let datum = |value| Packet::LoadMissData { more: false, tag: 1, ss: 3, value };
    assert_eq!(
        packets(&data(), "74 80 82 80 80 02 | 54 | 2c 44 33 22 11 | 2c 88 77 66 55"),
        [placeholder(true, address), placeholder(false, None), datum(0x1122_3344), datum(0x5566_7788)]
    );
}

#[test]
fn e3_09_data() {
    let normal =
        |address, ss, value| Packet::NormalData { more: false, first: true, address, ss, value: Some(value) };
    let address = |bits, bytes| Some(CompressedAddress { bits, bytes });
    assert_eq!(packets(&data(), "22 04 50"), [normal(address(4, 1), 0, 0), Packet::StoreFailed]);
    // Bit 4 of byte 5 is bit 32.
    assert_eq!(packets(&data(), "26 f8 ac d1 91 11 ab"), [normal(address(0x1_1234_5678, 5), 1, 0xab)]);
    let not_traced = Packet::ValueNotTraced { more: false, first: true, address: address(0x100, 2) };
    assert_eq!(packets(&data(), "7a 80 02"), [not_traced]);
    assert_eq!(packets(&data(), "6a"), [Packet::ValueNotTraced { more: false, first: false, address: None }]);
    // Every header, in every mode: what follows is a branch.
    for (data_address, data_value) in [(true, true), (true, false), (false, true)] {
        let parameters = Parameters { data_address, data_value, ..data() };
        for ss in 0..4_usize {
            let length = if data_value { [0, 1, 2, 4][ss] } else { 0 };
            for first in [false, true] {
                let header = 2 | ss << 2 | usize::from(first) << 5;
                let address = if first && data_address { "85 06" } else { "" };
                let value = ["55"; 4][..length].join(" ");
                let reported = packets(&parameters, &format!("{header:02x} {address} {value} 13"));
                assert_eq!(reported.len(), 2, "{header:#04x} {parameters:?}");
                let Packet::NormalData { address: of, value: with, .. } = reported[0] else {
                    panic!("{reported:?}")
                };
                assert_eq!(
                    of,
                    (first && data_address).then_some(CompressedAddress { bits: 0x305, bytes: 2 })
                );
                assert_eq!(
                    with,
                    data_value.then(|| 0x5555_5555_u64 as u32 & ((1_u64 << (8 * length)) - 1) as u32)
                );
                assert_eq!(reported[1], branch(9, 1));
            }
        }
    }
    for bit in 5..8 {
        let fifth = 1_u8 << bit;
        assert_eq!(wrong(&data(), &format!("22 80 80 80 80 {fifth:02x}")), "overlong@1:11.0");
    }
}

#[test]
fn e3_10_timestamps() {
    let with = |timestamp_bits| Parameters { timestamps: true, timestamp_bits, minor: 5, ..plain() };
    let stamp = |bits, bytes| Packet::Timestamp { clock_change: false, value: VariableField { bits, bytes } };
    assert_eq!(
        packets(&with(64), "42 bd 9a c3 ce af 90 80 80 00 | 42 df 1e"),
        [stamp(0x82_f9d0_cd3d, 9), stamp(0xcf5f & 0x3fff, 2)]
    );
    assert_eq!(packets(&with(48), "42 bc b5 e2 b3 c5 c6 04"), [stamp(0x1234_5678_9abc, 7)]);
    // The last byte has no continue bit: 8 bits of value, or 6.
    assert_eq!(
        packets(&with(64), "42 80 80 80 80 80 80 80 80 ff | 13"),
        [stamp(0xff << 56, 9), branch(9, 1)]
    );
    assert_eq!(packets(&with(48), "42 80 80 80 80 80 80 ff | 13"), [stamp(0x3f << 42, 7), branch(9, 1)]);
    let changed = Packet::Timestamp { clock_change: true, value: VariableField { bits: 5, bytes: 1 } };
    assert_eq!(packets(&with(64), "46 05"), [changed]);
}

#[test]
fn e3_11_data_only_synchronisation() {
    let parameters = Parameters { data_only: true, context_id_bytes: 1, minor: 1, ..data() };
    let reported = packets(&parameters, "08 07 21 | 66");
    let Packet::InstructionSync { context_id, reason, address, .. } = reported[0] else {
        panic!("{reported:?}")
    };
    assert_eq!((context_id, reason, address), (Some(7), Reason::TraceEnabled, None));
    assert_eq!(reported[1], Packet::Ignore);
}

#[test]
fn an_i_sync_with_everything_is_nineteen_bytes_after_its_header() {
    let parameters = Parameters { context_id_bytes: 4, ..cycle_accurate() };
    let text = "70 ff ff ff ff 0f | d4 c3 b2 a1 | df | 00 80 00 00 | 89 80 80 80 08";
    let expected = Packet::InstructionSync {
        cycle_count: Some(VariableField { bits: 0xffff_ffff, bytes: 5 }),
        context_id: Some(0xa1b2_c3d4),
        reason: Reason::Overflow,
        jazelle: true,
        non_secure: true,
        alt_isa: true,
        hyp: true,
        address: Some(Address32(0x8000)),
        under_lsm: Some(CompressedAddress { bits: 4 | 8 << 27, bytes: 5 }),
    };
    assert_eq!(packets(&parameters, text), [expected]);
    for (broken, class) in [
        ("70 ff ff ff ff 1f", "overlong@1:11.0"),
        ("70 ff ff ff ff 8f", "overlong@1:11.0"),
        ("04 ff ff ff ff 1f", "overlong@1:11.0"),
        ("70 00 d4 c3 b2 a1 de", "reserved-encoding@1:12.0"),
        ("08 d4 c3 b2 a1 a1 00 80 00 00 08", "reserved-encoding@1:16.0"),
        // No exception inside byte 5, no exception information, no state pattern.
        ("08 d4 c3 b2 a1 a1 00 80 00 00 89 80 80 80 88", "reserved-encoding@1:20.0"),
        ("08 d4 c3 b2 a1 a1 00 80 00 00 89 80 80 80 48", "reserved-encoding@1:20.0"),
        ("08 d4 c3 b2 a1 a1 00 80 00 00 89 80 80 80 00", "reserved-encoding@1:20.0"),
    ] {
        assert_eq!(wrong(&parameters, broken), class, "{broken}");
    }
    let other = Parameters { context_id_bytes: 0, ..alternative() };
    assert_eq!(wrong(&other, "08 a1 00 80 00 00 89 40"), "reserved-encoding@1:13.0");
}

#[test]
fn context_ids_and_vmids() {
    for (context_id_bytes, text, value) in
        [(1, "6e 42", 0x42), (2, "6e 34 12", 0x1234), (4, "6e d4 c3 b2 a1", 0xa1b2_c3d4)]
    {
        let parameters = Parameters { context_id_bytes, ..plain() };
        assert_eq!(packets(&parameters, text), [Packet::ContextId { more: false, value }]);
    }
    assert_eq!(wrong(&plain(), "6e"), "illegal-in-state@1:6.0");
    assert_eq!(packets(&Parameters { vmid: true, minor: 5, ..plain() }, "3c 80"), [Packet::Vmid(0x80)]);
}

#[test]
fn headers_that_a_version_or_configuration_does_not_have() {
    let reported = |parameters: &Parameters| -> Vec<(u8, alloc::string::String)> {
        let headers = (0..=u8::MAX).filter(|byte| byte & 1 == 0 && *byte != 0);
        let faults = headers.map(|byte| (byte, wrong(parameters, &format!("{byte:02x}"))));
        faults.filter(|(_, fault)| fault.contains("@1:6.0")).collect()
    };
    let of = |parameters: &Parameters, class: &str| -> Vec<u8> {
        reported(parameters)
            .into_iter()
            .filter(|(_, fault)| fault.starts_with(class))
            .map(|(byte, _)| byte)
            .collect()
    };
    let always = bytes("10 12 14 16 18 1a 1c 1e 30 32 34 36 38 3a 3e 4a 4e 52 56 5a 5e 72");
    let p_headers: Vec<u8> = (0x92..=0xfe).step_by(4).collect();
    let with = |more: &str| {
        let mut codes = always.clone();
        codes.extend(bytes(more));
        codes.extend(&p_headers);
        codes.sort_unstable();
        codes
    };
    let everything =
        Parameters { minor: 5, timestamps: true, vmid: true, m_profile: true, context_id_bytes: 1, ..data() };
    assert_eq!(of(&everything, "reserved-encoding"), with(""));
    assert_eq!(of(&everything, "illegal-in-state"), bytes("04 70"));
    assert_eq!(of(&Parameters { minor: 4, ..plain() }, "reserved-encoding"), with("3c 42 46"));
    assert_eq!(of(&plain(), "reserved-encoding"), with("3c 42 46 76 7e"));
    let data_headers = "02 06 0a 0e 22 26 2a 2e 54 58 5c 62 6a 74 78 7a 7c";
    let values = "20 24 28 2c 40 44 48 4c 50 60 64 68 6c";
    let sorted = |text: &str| {
        let mut codes = bytes(text);
        codes.sort_unstable();
        codes
    };
    assert_eq!(of(&plain(), "illegal-in-state"), sorted(&format!("{data_headers} {values} 04 6e 70")));
    let nothing = Parameters { minor: 5, ..plain() };
    assert_eq!(
        of(&nothing, "illegal-in-state"),
        sorted(&format!("{data_headers} {values} 04 6e 70 3c 42 46 7e"))
    );
    let addresses = Parameters { data_value: false, ..data() };
    assert_eq!(of(&addresses, "illegal-in-state"), sorted(&format!("{values} 04 6e 70")));
}

#[test]
fn alignment_is_found_and_checked() {
    let first = |wire: &str| {
        let reported = read(&plain(), &bytes(wire), 3);
        reported.packets.first().map(|(place, packet)| (place.packet, place.byte, *packet))
    };
    let aligned = |byte, zeros| Some((0, byte, Packet::AlignmentSync { zeros }));
    assert_eq!(first(&format!("{ALIGN} 84")), aligned(0, 5));
    assert_eq!(first("13 80 00 00 00 80 00 00 00 00 00 00 80"), aligned(6, 6));
    assert_eq!(first("00 00 00 00 80 84 84"), None);
    // Inside the stream.
    assert_eq!(packets(&plain(), "00 00 00 00 00 00 00 80"), [Packet::AlignmentSync { zeros: 7 }]);
    assert_eq!(wrong(&plain(), "13 00 00 00 00 80"), "framing@2:7.0");
    assert_eq!(wrong(&plain(), "00 00 00 00 00 84"), "framing@1:6.0");
    // The byte at fault can be the first one of an A-sync, and bytes that are skipped are no packet.
    let reported =
        read(&plain(), &bytes(&format!("{ALIGN} 08 00 00 00 00 00 80 13 | 10 11 12 {ALIGN} 13")), 100);
    let places: Vec<_> = reported.packets.iter().map(|(place, _)| (place.packet, place.byte)).collect();
    assert_eq!(reported.words, ["reserved-encoding@1:7.0", "reserved-encoding@4:14.0"]);
    assert_eq!(places, [(0, 0), (2, 7), (3, 13), (5, 17), (6, 23)]);
}

#[test]
fn a_bare_port_has_two_bytes_for_each_cycle() {
    let parameters = Parameters { bare_port: true, ..plain() };
    let mut wire: Vec<u8> = bytes(ALIGN).iter().flat_map(|byte| [0, *byte]).collect();
    // Both triggers and an empty cycle inside a branch packet.
    wire.extend(bytes("00 93 01 00 01 02 01 01 00 11 01 fe 00 0c"));
    for chunk in [1, 2, 3, 100] {
        let reported = read(&parameters, &wire, chunk);
        assert_eq!(reported.words, ["TR@14", "TR@16", "TR@22"]);
        let packets: Vec<_> = reported.packets.iter().map(|(place, packet)| (place.byte, *packet)).collect();
        assert_eq!(
            packets,
            [
                (1, Packet::AlignmentSync { zeros: 5 }),
                (13, branch(0x09 | 0x11 << 6, 2)),
                (25, Packet::Trigger)
            ]
        );
    }
    // A record of which something cannot be; then one that is cut off.
    wire.extend(bytes("02 84 00"));
    let reported = read(&parameters, &wire, 100);
    assert_eq!(reported.words[3..], ["framing@3:26.0", "truncated@28"]);
    wire.truncate(14);
    wire.extend(bytes("80 11"));
    wire.extend(bytes(ALIGN).iter().flat_map(|byte| [0, *byte]));
    let reported = read(&parameters, &wire, 100);
    assert_eq!(reported.words, ["framing@1:14.0"]);
    assert_eq!(reported.packets.last().map(|(place, _)| (place.packet, place.byte)), Some((2, 17)));
}
