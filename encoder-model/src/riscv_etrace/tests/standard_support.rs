//! The standard support packet: worked examples to the byte, what an encoder puts into it, and what cannot travel.

use crate::riscv_etrace::{Defect, Encoder, write_packets, write_payload};
use traceproof_vectors::riscv_etrace::{
    Compression, DataLayout, DataOptions, DataParameters, Encapsulation, Modes, NormalEncapsulation, Packet,
    Parameters, Policy, QualStatus, ReportedAddress, StandardSupport, Step, Stimulus, SyncMode, Version,
};
use traceproof_vectors::{Address, Encoder as _, Refusal};

use super::bench::{enable, encode, hex, path, payloads, small_program};

fn later() -> Parameters {
    Parameters { version: Version::V2_0_5, ..Parameters::default() }
}

const OFF: StandardSupport = StandardSupport {
    ienable: true,
    encoder_mode: 0,
    qual_status: QualStatus::NoChange,
    sijump: false,
    implicit_return: false,
    branch_predictor: false,
    jump_target_cache: false,
    implicit_except: false,
    full_iaddress: false,
    resync_disabled: false,
    iret_ext: false,
    time_width: 0,
    f0s_width: 0,
    return_stack_size: 0,
    call_counter_size: 0,
    bpred_size: 0,
    cache_size: 0,
    denable: false,
    dloss: false,
    mmacas_ext: false,
    noaddr: false,
    nodata: false,
    full_daddress: false,
    full_data: false,
    other: 0,
};

/// Y02.
const RETURNS: StandardSupport =
    StandardSupport { implicit_return: true, iret_ext: true, return_stack_size: 3, ..OFF };

/// Y04.
const EVERYTHING: StandardSupport = StandardSupport {
    sijump: true,
    implicit_return: true,
    branch_predictor: true,
    jump_target_cache: true,
    iret_ext: true,
    time_width: 4,
    f0s_width: 1,
    return_stack_size: 4,
    call_counter_size: 2,
    bpred_size: 5,
    cache_size: 6,
    ..OFF
};

#[track_caller]
fn bytes(support: StandardSupport, vendor_bits: u8, compression: Compression, expected: &str) {
    let parameters = Parameters { vendor_bits, ..later() };
    let packet = Packet::StandardSupport(support);
    let payload = write_payload(&packet, &parameters, Modes::default(), compression);
    assert_eq!(payload, Ok(hex(expected)), "{support:?}");
}

/// Y01 to Y09. RVET5-PKT-001, RVET5-PKT-009, RVET5-PKT-010.
#[test]
fn worked_examples() {
    let short = Compression::Minimal;
    bytes(OFF, 0, short, "1f");
    bytes(RETURNS, 0, short, "1f 04 c1 00");
    bytes(RETURNS, 0, Compression::Mandatory, "1f 04 c1 00 00 00");
    bytes(EVERYTHING, 0, short, "1f 1e 19 a5 06");
    bytes(StandardSupport { qual_status: QualStatus::EndedRep, ..OFF }, 0, short, "9f 00");
    let lost = StandardSupport { qual_status: QualStatus::TraceLost, denable: true, dloss: true, ..OFF };
    bytes(lost, 0, short, "1f 01 00 00 18");
    let data = StandardSupport { denable: true, mmacas_ext: true, nodata: true, full_data: true, ..OFF };
    bytes(data, 0, short, "1f 00 00 00 a8 fe");
    bytes(StandardSupport { other: 0b10_1010, ..RETURNS }, 6, short, "1f 04 c1 00 00 a8");
    let predictor = StandardSupport { branch_predictor: true, resync_disabled: true, bpred_size: 4, ..OFF };
    bytes(predictor, 0, short, "1f 88 00 80 00");
}

/// Each field alone, counted by hand: the number of its lowest bit.
#[test]
fn fields_are_where_the_table_has_them() {
    let none = StandardSupport { ienable: false, ..OFF };
    let fields = [
        (4, OFF),
        (5, StandardSupport { encoder_mode: 1, ..none }),
        (7, StandardSupport { qual_status: QualStatus::EndedRep, ..none }),
        (9, StandardSupport { sijump: true, ..none }),
        (10, StandardSupport { implicit_return: true, ..none }),
        (11, StandardSupport { branch_predictor: true, ..none }),
        (12, StandardSupport { jump_target_cache: true, ..none }),
        (13, StandardSupport { implicit_except: true, ..none }),
        (14, StandardSupport { full_iaddress: true, ..none }),
        (15, StandardSupport { resync_disabled: true, ..none }),
        (16, StandardSupport { iret_ext: true, ..none }),
        (17, StandardSupport { time_width: 1, ..none }),
        (20, StandardSupport { f0s_width: 1, ..none }),
        (22, StandardSupport { return_stack_size: 1, ..none }),
        (25, StandardSupport { call_counter_size: 1, ..none }),
        (29, StandardSupport { bpred_size: 1, ..none }),
        (32, StandardSupport { cache_size: 1, ..none }),
        (35, StandardSupport { denable: true, ..none }),
        (36, StandardSupport { dloss: true, ..none }),
        (37, StandardSupport { mmacas_ext: true, ..none }),
        (38, StandardSupport { noaddr: true, ..none }),
        (39, StandardSupport { nodata: true, ..none }),
        (40, StandardSupport { full_daddress: true, ..none }),
        (41, StandardSupport { full_data: true, ..none }),
        (42, StandardSupport { other: 1, ..none }),
    ];
    // Two vendor bits: the sign is never the bit in question.
    let parameters = Parameters { vendor_bits: 2, ..later() };
    for (bit, support) in fields {
        let packet = Packet::StandardSupport(support);
        let payload = write_payload(&packet, &parameters, Modes::default(), Compression::Mandatory);
        let mut expected = 0b1111_u64.to_le_bytes()[..6].to_vec();
        expected[bit / 8] |= 1 << (bit % 8);
        assert_eq!(payload, Ok(expected), "{support:?}");
    }
}

/// Modes, sizes and the resynchronisation timer of an encoder, in its first packet: Y04, and Y09 without a timer.
#[test]
fn encoders_announce_what_they_are() {
    let timer = Policy { sync_mode: SyncMode::Packets, sync_max: 20, ..Policy::default() };
    let modes = Modes {
        sijump: true,
        implicit_return: true,
        branch_prediction: true,
        jump_target_cache: true,
        ..Modes::default()
    };
    let everything = Parameters {
        iret_ext: true,
        notime_p: false,
        time_width_p: 64,
        f0s_width_p: 1,
        return_stack_size_p: 4,
        call_counter_size_p: 2,
        bpred_size_p: 5,
        cache_size_p: 6,
        sijump_p: true,
        modes,
        ..later()
    };
    let modes = Modes { branch_prediction: true, ..Modes::default() };
    let predictor = Parameters { bpred_size_p: 4, modes, ..later() };
    let vendor = Parameters { vendor_bits: 6, ..later() };
    let other = Policy { other: 0b10_1010, ..timer.clone() };
    for (parameters, policy, first) in [
        (&everything, &timer, "1f 1e 19 a5 06"),
        (&predictor, &Policy::default(), "1f 88 00 80 00"),
        (&vendor, &other, "1f 00 00 00 00 a8"),
    ] {
        let log = encode(&small_program(), parameters, policy, &[enable(true)]);
        assert_eq!(payloads(&log.wire).first(), Some(&hex(first)));
    }
}

/// The packet at the end (Y05), and one whenever modes change: full addresses are bit 14.
#[test]
fn every_support_packet_is_a_standard_one() {
    let timer = Policy { sync_mode: SyncMode::Packets, sync_max: 20, ..Policy::default() };
    let full = Step::Stimulus(Stimulus::Modes(Modes { full_address: true, ..Modes::default() }));
    let steps = [vec![enable(true)], path(&[0x1000, 0x1004]), vec![full], path(&[0x1008])].concat();
    let log = encode(&small_program(), &later(), &timer, &steps);
    let expected = ["1f", "73 00 04", "1f 40", "12 20", "9f 40"].map(hex);
    assert_eq!(payloads(&log.wire), expected);
    assert!(!log.packets().any(|packet| matches!(packet, Packet::Support { .. })));
}

#[test]
fn data_trace_has_its_bits_always() {
    let encapsulation = NormalEncapsulation { type_bits: 1, ..NormalEncapsulation::default() };
    let options = DataOptions { no_data: true, full_data: true, ..DataOptions::default() };
    let data = DataParameters { layout: DataLayout::MmaCas, options, ..DataParameters::default() };
    let parameters =
        Parameters { data: Some(data), encapsulation: Encapsulation::Normal(encapsulation), ..later() };
    let timer = Policy { sync_mode: SyncMode::Packets, sync_max: 20, ..Policy::default() };
    let steps = [Step::Stimulus(Stimulus::DataEnable(true)), enable(true)];
    let log = encode(&small_program(), &parameters, &timer, &steps);
    let data = StandardSupport { denable: true, mmacas_ext: true, nodata: true, full_data: true, ..OFF };
    let expected = [StandardSupport { ienable: false, ..data }, data].map(Packet::StandardSupport);
    assert_eq!(log.packets().take(2).copied().collect::<Vec<_>>(), expected);
}

/// Lists of packets: what a packet announces is in force after it.
#[test]
fn lists_follow_what_packets_announce() {
    let address = |address| Packet::Address {
        address,
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    let start =
        Packet::Start { branch: true, privilege: 3, time: None, context: None, address: Address(0x1000) };
    let full = Packet::StandardSupport(StandardSupport { full_iaddress: true, ..OFF });
    let delta = address(ReportedAddress::Delta(4));
    let absolute = address(ReportedAddress::Full(0x1008));
    let list = |packets: &[Packet]| write_packets(packets, &later(), &Policy::default());
    assert!(list(&[start, delta, full, absolute]).is_ok());
    let wrong = list(&[full, start, delta]).map_err(|error| (error.index, error.field, error.defect));
    assert_eq!(wrong, Err((2, "address", Defect::WrongAddressMode)));
}

#[test]
fn what_cannot_travel_is_refused() {
    let refused = |support, parameters: &Parameters| {
        let packet = Packet::StandardSupport(support);
        write_payload(&packet, parameters, Modes::default(), Compression::Minimal)
            .map_err(|error| (error.field, error.defect))
    };
    for (support, field) in [
        (StandardSupport { encoder_mode: 4, ..OFF }, "encoder_mode"),
        (StandardSupport { time_width: 8, ..OFF }, "time_width"),
        (StandardSupport { f0s_width: 4, ..OFF }, "f0s_width"),
        (StandardSupport { return_stack_size: 8, ..OFF }, "return_stack_size"),
        (StandardSupport { call_counter_size: 16, ..OFF }, "call_counter_size"),
        (StandardSupport { bpred_size: 8, ..OFF }, "bpred_size"),
        (StandardSupport { cache_size: 8, ..OFF }, "cache_size"),
        (StandardSupport { other: 1, ..OFF }, "other"),
    ] {
        assert_eq!(refused(support, &later()), Err((field, Defect::TooWide)));
    }
    // Each version has its own support packet.
    assert_eq!(refused(OFF, &Parameters::default()), Err(("payload", Defect::Unexpected)));
    let earlier = Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: QualStatus::NoChange,
        ioptions: 0,
        denable: false,
        dloss: false,
        doptions: 0,
    };
    let error = write_payload(&earlier, &later(), Modes::default(), Compression::Minimal);
    assert_eq!(error.map_err(|error| (error.field, error.defect)), Err(("payload", Defect::Unexpected)));
}

#[test]
fn vendor_bits_must_fit() {
    let begin = |vendor_bits, other| {
        let parameters = Parameters { vendor_bits, ..later() };
        Encoder::default().begin(&parameters, &Policy { other, ..Policy::default() })
    };
    assert_eq!(begin(6, 0x3f), Ok(()));
    assert_eq!(begin(64, u64::MAX), Ok(()));
    assert_eq!(begin(6, 0x40), Err(Refusal::invalid("other", "must fit vendor_bits")));
    assert_eq!(begin(0, 1), Err(Refusal::invalid("other", "must fit vendor_bits")));
}
