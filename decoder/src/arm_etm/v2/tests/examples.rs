//! The worked examples LM-01 to LM-16 and E2-01 to E2-05.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v2::Pipestat;
use traceproof_vectors::arm_etm::{CompressedAddress, Isa, Packet, Parameters};

use super::{ENABLED, bytes, cycle, data_summary, decode, format_log, packets, play, port, summary};

fn default() -> Parameters {
    Parameters::default()
}

fn value_only() -> Parameters {
    Parameters { data_address: false, ..default() }
}

fn address_only() -> Parameters {
    Parameters { data_value: false, ..default() }
}

/// Records from a table of PIPESTAT codes and TRACEPKT.
fn table(rows: &[(u8, u8)]) -> Vec<u8> {
    let status = |code| Pipestat::from_code(code).expect("four bits");
    rows.iter().flat_map(|&(code, packet)| cycle(&default(), status(code), u16::from(packet))).collect()
}

#[test]
fn lm_01_placeholder_with_full_address() {
    let address = Some(CompressedAddress { bits: 0x8000_1234, bytes: 5 });
    assert_eq!(
        packets(&default(), ENABLED, "74 b4 a4 80 80 08"),
        [Packet::LoadMissOccurred { more: false, first: true, tag: 1, address }]
    );
    assert_eq!(data_summary(&default(), "DE 74 b4 a4 80 80 08; drain"), "#0@6[0x80001234]=miss1 #0!end");
}

#[test]
fn lm_02_compressed_placeholders() {
    for (placeholder, address, tag) in [
        ("78 38", "0x80001238", 2),
        ("78 b8 25", "0x800012b8", 2),
        ("7c b4 a4 01", "0x80005234", 3),
        ("7c b4 a4 80 02", "0x80401234", 3),
        ("74 34", "0x80001234", 1),
    ] {
        let script = alloc::format!("DE 22 b4 a4 80 80 08; drain; DE {placeholder}; drain");
        let expected = alloc::format!("#0@6[0x80001234]=0 #1@12[{address}]=miss{tag} #1!end");
        assert_eq!(data_summary(&default(), &script), expected);
    }
}

#[test]
fn lm_03_placeholders_of_one_byte() {
    for more in [false, true] {
        for tag in 0..4 {
            let header = 0x50 | tag << 2 | u8::from(more) << 7;
            // A branch address ends the group where another packet has to follow.
            let group = if more { alloc::format!("{header:02x} 01") } else { alloc::format!("{header:02x}") };
            let placeholder = Packet::LoadMissOccurred { more, first: false, tag, address: None };
            assert_eq!(packets(&default(), ENABLED, &group).first(), Some(&placeholder));
        }
    }
    for (tag, header) in ["70", "74", "78", "7c"].into_iter().enumerate() {
        let placeholder =
            Packet::LoadMissOccurred { more: false, first: true, tag: tag as u8, address: None };
        assert_eq!(packets(&value_only(), ENABLED, header), [placeholder]);
    }
}

#[test]
fn lm_04_miss_data() {
    for (wire, tag, ss, value) in [
        ("2c ef be ad de", 1, 3, 0xdead_beef),
        ("40", 2, 0, 0),
        ("64 7f", 3, 1, 0x7f),
        ("68 34 12", 3, 2, 0x1234),
        ("24 ff", 1, 1, 0xff),
        ("28 00 01", 1, 2, 0x100),
        ("2c 00 00 01 00", 1, 3, 0x1_0000),
        ("04 55", 0, 1, 0x55),
        ("2c 05 00 00 00", 1, 3, 5),
    ] {
        let data = Packet::LoadMissData { more: false, tag, ss, value };
        assert_eq!(packets(&default(), ENABLED, wire), [data], "{wire}");
    }
}

#[test]
fn lm_05_data_return_out_of_order() {
    assert_eq!(
        data_summary(
            &default(),
            "DE 74 80 a0 80 80 00; drain; DE 78 c0 40; drain; DW 44 55; drain; DW 2c 01 00 fe ca; drain"
        ),
        "#0@6[0x1000]=miss1 #1@12[0x2040]=miss2 #1<-55@15 #0<-cafe0001@17"
    );
}

#[test]
fn lm_06_64_bit_load() {
    assert_eq!(
        data_summary(
            &default(),
            "DE f4 80 82 80 80 02 | 54; drain; DW ac 44 33 22 11 | 2c 88 77 66 55; drain"
        ),
        "#0@6[0x20000100]=miss1 #1@6[0x20000104]=high1 #0<-11223344@13 #1<-55667788@13"
    );
    // One half is zero and needs no byte.
    assert_eq!(
        data_summary(&default(), "DE d8 | 58; drain; DW c0 | 44 80; drain"),
        "#0@6=miss2 #1@6=high2 #0<-0@8 #1<-80@8"
    );
}

#[test]
fn lm_07_miss_in_the_middle_of_an_lsm() {
    assert_eq!(
        data_summary(
            &default(),
            "DE 26 80 80 80 80 03 0a; drain; DW 54; DW 06 0c; drain; DW 6a; DW 24 0b; drain"
        ),
        "#0@6[0x30000000]=a #1@13[0x30000004]=miss1 #2@14[0x30000008]=c #3@16[0x3000000c]=vnt #1<-b@17"
    );
    assert_eq!(
        data_summary(&default(), "DE 26 80 80 80 80 03 0a; drain; DW d8 58; drain"),
        "#0@6[0x30000000]=a #1@13[0x30000004]=miss2 #2@13[0x30000008]=high2 #1!end #2!end"
    );
}

#[test]
fn lm_08_miss_data_share_a_cycle() {
    assert_eq!(
        data_summary(
            &default(),
            "DE 26 80 80 80 80 03 01; drain; DE 54; DE a4 99 26 10 42; drain; DE 54; DE a4 99 93 01; drain"
        ),
        "#0@6[0x30000000]=1 #1@13[0x30000004]=miss1 #1<-99@14 #2@14[0x30000010]=42 \
         #3@19[0x30000014]=miss1 #3<-99@20 branch20:Arm:8124"
    );
}

#[test]
fn lm_09_trace_is_switched_off_before_the_data_return() {
    let wire = table(&[
        (7, 0x01),
        (0, 0x20),
        (1, 0x00),
        (0, 0x80),
        (1, 0x00),
        (4, 0x00),
        (4, 0x74),
        (4, 0x80),
        (4, 0x82),
        (4, 0x80),
        (4, 0x80),
        (4, 0x02),
        (4, 0x26),
        (4, 0x40),
        (4, 0x42),
        (5, 0x2c),
        (4, 0x01),
        (4, 0x00),
        (4, 0xfe),
        (4, 0xca),
    ]);
    let expected = "E1 E2 E3 E4 sync0:enabled:Arm:8000 #0@2[0x20000100]=miss1 #1@4[0x20000140]=42 \
                    #0<-cafe0001@15";
    assert_eq!(format_log(&decode(&default(), &wire)), expected);

    // The same through every port, with the timing of that port.
    let script = alloc::format!(
        "TFO {ENABLED}; IE; DE 74 80 82 80 80 02; IE; DE 26 40 42; drain; DW 2c 01 00 fe ca; drain"
    );
    assert_eq!(play(&default(), &script), wire);
    assert_eq!(
        summary(&port(16), &script),
        "E1 E2 E3 sync0:enabled:Arm:8000 E4 #0@2[0x20000100]=miss1 #1@4[0x20000140]=42 #0<-cafe0001@8"
    );
    assert_eq!(summary(&port(4), &script), expected.replace("@15", "@31"));
}

#[test]
fn lm_10_64_bit_miss_trigger_and_branch() {
    let mut rows = Vec::from([(7, 0x01)]);
    let sync = bytes("20 00 80 00 00");
    rows.extend(sync.into_iter().map(|byte| (4, byte)));
    rows.push((1, 0x22));
    rows.extend(bytes("80 80 80 80 02").into_iter().map(|byte| (4, byte)));
    let first = rows.len() as u64;
    assert_eq!(first, 12);
    rows.extend([
        (0, 0x5a),
        (1, 0xf8),
        (6, 0x50),
        (2, 0x80),
        (1, 0x02),
        (4, 0x58),
        (4, 0xc4),
        (4, 0x01),
        (4, 0xc0),
        (4, 0x93),
        (4, 0x01),
    ]);
    assert_eq!(
        format_log(&decode(&default(), &table(&rows))),
        "sync0:enabled:Arm:8000 E6 #0@6[0x20000000]=0 E12 E13 TR14 E14 N15 E16 #1@13[0x20000100]=miss2 \
         #2@13[0x20000104]=high2 #1<-1@16 #2<-0@16 branch16:Arm:8124"
    );
}

#[test]
fn lm_11_data_without_placeholder_at_the_start() {
    assert_eq!(
        data_summary(
            &default(),
            "DW 28 11 11; drain; DE 74 80 80 81 80 00; drain; DW 24 77; drain; DW 24 88; drain"
        ),
        "ignored1@6 #0@9[0x4000]=miss1 #0<-77@15 ignored1@17"
    );
}

#[test]
fn lm_12_tag_is_used_again_after_an_overflow() {
    assert_eq!(
        data_summary(
            &default(),
            "DE 74 80 a0 80 80 00; drain; TFO 40 00 80 00 00; drain; DE 74 80 a0 81 80 00; drain; \
             DW 24 99; drain; DW 24 98; drain"
        ),
        "#0@6[0x1000]=miss1 sync12:overflow:Arm:8000 #0!superseded #1@18[0x5000]=miss1 #1<-99@24 ignored1@26"
    );
}

#[test]
fn lm_13_data_are_lost_in_a_tfo() {
    assert_eq!(
        data_summary(
            &default(),
            "DE 78 80 a0 80 80 00; drain; TD; TFO 20 00 90 00 00; IE; drain; TFO 00 10 90 00 00; IE; drain"
        ),
        "#0@6[0x1000]=miss2 sync13:enabled:Arm:9000 sync19:periodic:Arm:9010 #0!end"
    );
}

#[test]
fn lm_14_neighbours_with_the_same_tag() {
    assert_eq!(
        data_summary(&default(), "DE 54; TFO 20 00 80 00 00; drain; DE 54; drain"),
        "#0@6=miss1 sync7:enabled:Arm:8000 #0!superseded #1@13=miss1 #1!end"
    );
    // Greedy: the third one is a new miss, which supersedes both halves of the first.
    assert_eq!(
        data_summary(&default(), "DE 54; DE 54; DE 54; drain"),
        "#0@6=miss1 #1@7=high1 suspicious@3:17.0 #0!superseded #1!superseded #2@8=miss1 #2!end"
    );
}

#[test]
fn lm_15_incomplete_64_bit_data() {
    assert_eq!(
        data_summary(&default(), "DE dc | 5c; drain; DW 64 01; drain; DE 06 0c; drain"),
        "#0@6=miss3 #1@6=high3 #0<-1@8 suspicious@4:21.0 #1!incomplete #2@10=c"
    );
}

#[test]
fn lm_16_only_values_or_only_addresses() {
    assert_eq!(data_summary(&value_only(), "DE 7c; DW 6c 78 56 34 12; drain"), "#0@6=miss3 #0<-12345678@7");
    assert_eq!(
        data_summary(&address_only(), "DE 7c 80 80 81 80 00; drain; DE 22 04; drain"),
        "#0@6[0x4000]=off #1@12[0x4004]=off"
    );
    // Data that come nevertheless are read by their size, and belong to nothing.
    assert_eq!(
        data_summary(&address_only(), "DE 5c; DW 68 34 12; DE 22 04; drain"),
        "#0@6=off suspicious@2:15.0 ignored3@7 #1@8[0x4/0x7f]=off"
    );
}

#[test]
fn e2_01_normal_data() {
    assert_eq!(
        data_summary(
            &default(),
            "DE 22 80 80 80 80 04; drain; DE 2a 04 34 12; DE 02; DE 2e f8 ac d1 91 01 ef be ad de; drain; \
             DE aa 04 34 12 01; drain"
        ),
        "#0@6[0x40000000]=0 #1@12[0x40000004]=1234 #2@13[0x40000008]=0 #3@14[0x12345678]=deadbeef \
         #4@27[0x12345604]=1234 branch27:Arm:8000"
    );
}

#[test]
fn e2_02_context_id() {
    for (size, wire, expected) in [
        (1, "6e 42", "context6:42"),
        (2, "ee 34 12 | 01", "context6:1234 branch6:Arm:8000"),
        (4, "6e d4 c3 b2 a1", "context6:a1b2c3d4"),
    ] {
        // The first synchronisation says something about the Context ID too; its packet is as much longer.
        let parameters = Parameters { context_id_bytes: size, ..default() };
        let zeros = ["00"; 4][..usize::from(size)].join(" ");
        let script = alloc::format!("TFO 20 {zeros} 00 80 00 00; drain; DE {wire}; drain");
        let cycle = 6 + size;
        let expected = expected.replace('6', &alloc::format!("{cycle}"));
        assert_eq!(
            summary(&parameters, &script),
            alloc::format!("sync0:enabled:Arm:8000:context=0 E{cycle} {expected}")
        );
    }
}

#[test]
fn e2_03_branch_addresses() {
    let java = Parameters { minor: 1, tfo_jazelle: true, ..default() };
    for (state, base, target, wire) in [
        (Isa::Arm, 0x8100_u32, 0x8124_u32, "13"),
        (Isa::Arm, 0x8100, 0x9124, "93 11"),
        (Isa::Arm, 0x8124, 0x0040_8124, "93 81 81 01"),
        (Isa::Arm, 0x8124, 0x1000_8124, "93 81 81 40"),
        (Isa::Arm, 0x8124, 0x8000_8124, "93 81 81 80 0c"),
        (Isa::Thumb, 0x8100, 0x8124, "25"),
        (Isa::Thumb, 0x8124, 0x8000_8124, "a5 82 82 80 18"),
        (Isa::Thumb, 0x4000_0000, 0xc0ff_ee12, "93 dc ff 87 1c"),
        (Isa::Arm, 0x4000_0000, 0xc0ff_ee10, "89 ee ff 83 0e"),
        (Isa::Jazelle, 0x8100, 0x8123, "47"),
        (Isa::Jazelle, 0x4000_0000, 0x1234_5678, "f1 d9 a2 a3 22"),
    ] {
        let [a, b, c, d] = base.to_le_bytes();
        let (header, thumb) = match state {
            Isa::Arm => (0x20, 0),
            Isa::Thumb | Isa::ThumbEe => (0x20, 1),
            Isa::Jazelle => (0x30, 0),
        };
        let script = alloc::format!(
            "TFO {header:02x} {:02x} {b:02x} {c:02x} {d:02x}; drain; DE {wire}; drain",
            a | thumb
        );
        assert_eq!(
            summary(&java, &script),
            alloc::format!("sync0:enabled:{state:?}:{base:x} E6 branch6:{state:?}:{target:x}")
        );
    }
    // Five bytes carry the state too.
    assert_eq!(
        data_summary(&default(), "DE 93 dc ff 87 1c; drain; DE 15; drain; DE 89 ee ff 83 0e; drain"),
        "branch6:Thumb:c0ffee12 branch11:Thumb:c0ffee14 branch12:Arm:c0ffee10"
    );
}

#[test]
fn e2_04_trace_fifo_offset_of_21_bytes() {
    // 21 bytes of which nothing is known, then the packet.
    let mut wire = cycle(&default(), Pipestat::Td, 0x53);
    let context = Parameters { context_id_bytes: 1, ..default() };
    for byte in core::iter::repeat_n(0x10, 21).chain(bytes("00 07 25 81 00 00")) {
        wire.extend(cycle(&context, Pipestat::Wt, u16::from(byte)));
    }
    assert_eq!(format_log(&decode(&context, &wire)), "sync0:periodic:Thumb:8124:context=7 E0");
    // With an LSM in progress.
    assert_eq!(summary(&default(), "TFO a0 00 80 00 00 09; drain"), "sync0:enabled:Arm:8010:lsm=8000 E0");
}

#[test]
fn e2_05_partial_lsm() {
    assert_eq!(
        data_summary(&default(), "DE 26 88 80 80 80 05 22; drain; DW 06 33; drain"),
        "#0@6[0x50000008]=22 #1@13[0x5000000c]=33"
    );
    assert_eq!(
        data_summary(&default(), "DE 26 84 80 80 80 05 11; drain; DW 06 22; drain; DW 6a; drain"),
        "#0@6[0x50000004]=11 #1@13[0x50000008]=22 #2@15[0x5000000c]=vnt"
    );
}
