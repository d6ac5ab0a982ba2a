//! Worked examples, field by field.

use traceproof_vectors::riscv_etrace::ReportedAddress::Delta;
use traceproof_vectors::riscv_etrace::{
    Modes, Packet, Parameters, QualStatus, ReportedAddress, StandardSupport, Version,
};
use traceproof_vectors::{Address, FaultClass};

use super::super::bytes;
use super::super::examples::{check, read};
use super::{later, stack};
use crate::riscv_etrace::{Payload, dissect};

/// `ienable` and the `qual_status` that is 0.
const ENABLED: StandardSupport = StandardSupport {
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
    StandardSupport { implicit_return: true, iret_ext: true, return_stack_size: 3, ..ENABLED };

fn standard(parameters: &Parameters, payload: &str) -> Result<Packet, (FaultClass, u32)> {
    read(parameters, &Payload::new(&bytes(payload)).expect("1 to 31 bytes"))
}

/// Y01 to Y09.
#[test]
fn standard_support_packets() {
    let everything = StandardSupport {
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
        ..ENABLED
    };
    let lost = StandardSupport { qual_status: QualStatus::TraceLost, denable: true, dloss: true, ..ENABLED };
    let data = StandardSupport { denable: true, mmacas_ext: true, nodata: true, full_data: true, ..ENABLED };
    let predictor =
        StandardSupport { branch_predictor: true, resync_disabled: true, bpred_size: 4, ..ENABLED };
    for (id, packet, payload) in [
        ("Y01", ENABLED, "1f"),
        ("Y02", RETURNS, "1f 04 c1 00"),
        ("Y03", RETURNS, "1f 04 c1 00 00 00"),
        ("Y04", everything, "1f 1e 19 a5 06"),
        ("Y05", StandardSupport { qual_status: QualStatus::EndedRep, ..ENABLED }, "9f 00"),
        ("Y06", lost, "1f 01 00 00 18"),
        ("Y07", data, "1f 00 00 00 a8 fe"),
        ("Y09", predictor, "1f 88 00 80 00"),
    ] {
        assert_eq!(standard(&later(), payload), Ok(Packet::StandardSupport(packet)), "{id}");
    }
    let vendor = Parameters { vendor_bits: 6, ..later() };
    let packet = StandardSupport { other: 0b10_1010, ..RETURNS };
    assert_eq!(standard(&vendor, "1f 04 c1 00 00 a8"), Ok(Packet::StandardSupport(packet)), "Y08");
}

/// RVET5-DEC-003: vendor bits that are not declared, and any number of bytes more, mean nothing.
#[test]
fn what_follows_is_ignored() {
    for payload in ["1f 04 c1 00 00 a8", "1f 04 c1 00 00 54", "1f 04 c1 00 00 00 12 34 56 78 9a bc de f0"] {
        assert_eq!(standard(&later(), payload), Ok(Packet::StandardSupport(RETURNS)), "{payload}");
    }
    // Of two declared bits more than those travel; of 64 only some, and the rest copies the top one.
    let two = Parameters { vendor_bits: 2, ..later() };
    let packet = StandardSupport { other: 0b10, ..RETURNS };
    assert_eq!(standard(&two, "1f 04 c1 00 00 a8"), Ok(Packet::StandardSupport(packet)));
    let many = Parameters { vendor_bits: 64, ..later() };
    let packet = StandardSupport { other: 0xffff_ffff_ffff_ffea, ..RETURNS };
    assert_eq!(standard(&many, "1f 04 c1 00 00 a8"), Ok(Packet::StandardSupport(packet)));
    let packet = StandardSupport { other: 0x0123_4567_89ab_cdef, ..RETURNS };
    // 42 bits, then the value: 0x0123456789abcdef << 2 from byte 5 on.
    let payload = "1f 04 c1 00 00 bc 37 af 26 9e 15 8d 04 00";
    assert_eq!(standard(&many, payload), Ok(Packet::StandardSupport(packet)));
}

/// RVET5-DEC-001: the same bytes mean something else in version 2.0, and nothing shows it.
#[test]
fn the_layout_is_that_of_the_version() {
    let old = |ioptions, qual_status| Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status,
        ioptions,
        denable: false,
        dloss: false,
        doptions: 0,
    };
    let new = |packet| Ok(Packet::StandardSupport(packet));
    use QualStatus::{EndedRep, NoChange, TraceLost};
    for (payload, before, after) in [
        ("1f", old(0, NoChange), ENABLED),
        ("9f 00", old(0, TraceLost), StandardSupport { qual_status: EndedRep, ..ENABLED }),
        ("5f", old(0, EndedRep), StandardSupport { encoder_mode: 2, ..ENABLED }),
        ("1f 01", old(1, NoChange), StandardSupport { qual_status: TraceLost, ..ENABLED }),
    ] {
        assert_eq!(standard(&Parameters::default(), payload), Ok(before), "{payload}");
        assert_eq!(standard(&later(), payload), new(after), "{payload}");
    }
}

/// Width and position of every field.
#[test]
fn every_field_is_dissected() {
    let parameters = Parameters { vendor_bits: 6, ..later() };
    let wire = bytes("06 1f 04 c1 00 00 a8");
    let units = dissect(&wire, &parameters);
    let [unit] = units.as_slice() else { panic!("one unit") };
    let fields: alloc::vec::Vec<_> = unit
        .fields
        .iter()
        .skip(3)
        .map(|field| (field.name, field.bit - 8, field.width, field.value))
        .collect();
    assert_eq!(
        fields,
        [
            ("format", 0, 2, 3),
            ("subformat", 2, 2, 3),
            ("ienable", 4, 1, 1),
            ("encoder_mode", 5, 2, 0),
            ("qual_status", 7, 2, 0),
            ("sijump", 9, 1, 0),
            ("implicit_return", 10, 1, 1),
            ("branch_predictor", 11, 1, 0),
            ("jump_target_cache", 12, 1, 0),
            ("implicit_except", 13, 1, 0),
            ("full_iaddress", 14, 1, 0),
            ("resync_disabled", 15, 1, 0),
            ("iret_ext", 16, 1, 1),
            ("time_width", 17, 3, 0),
            ("f0s_width", 20, 2, 0),
            ("return_stack_size", 22, 3, 3),
            ("call_counter_size", 25, 4, 0),
            ("bpred_size", 29, 3, 0),
            ("cache_size", 32, 3, 0),
            ("denable", 35, 1, 0),
            ("dloss", 36, 1, 0),
            ("mmacas_ext", 37, 1, 0),
            ("noaddr", 38, 1, 0),
            ("nodata", 39, 1, 0),
            ("full_daddress", 40, 1, 0),
            ("full_data", 41, 1, 0),
            ("other", 42, 6, 0b10_1010),
        ]
    );
}

fn address(delta: i64, updiscon: bool, irets: Option<u8>) -> Packet {
    let (irreport, irets) = (irets.is_some(), irets.unwrap_or(0));
    let address = Delta(delta);
    Packet::Address { address, notify: false, updiscon, irreport, irdepth: 0, irets }
}

/// Y10 to Y17: 8 bits whatever the stack and the mode are.
#[test]
fn irets_after_addresses() {
    let counter = Parameters { return_stack_size_p: 0, call_counter_size_p: 5, ..stack() };
    let none = Parameters { return_stack_size_p: 0, ..stack() };
    let map = |irets| Packet::Branch {
        branches: 2,
        branch_map: 0b10,
        address: Some(Delta(0x20)),
        notify: false,
        updiscon: false,
        irreport: true,
        irdepth: 0,
        irets,
    };
    for parameters in [stack(), counter, none] {
        check(
            &parameters,
            &[
                ("Y10", address(4, false, None), 44, "0a"),
                ("Y11", address(-4, false, None), 44, "fa"),
                ("Y12", address(0x100, false, Some(3)), 44, "02 02 00 00 38"),
                ("Y13", address(0x100, false, Some(9)), 44, "02 02 00 00 98 00"),
                ("Y14", address(-0x10, false, Some(0)), 44, "e2 ff ff ff 07"),
                ("Y15", address(8, false, Some(255)), 44, "12 00 00 00 f8"),
                ("Y16", address(0x40, true, Some(1)), 44, "82 00 00 00 14"),
                ("Y16 without", address(0x40, true, None), 44, "82 00 00 00 fc"),
                ("Y17", map(2), 52, "09 41 00 00 00 28"),
            ],
        );
    }
    // The field is `irdepth` while the extension is absent, also in version 2.0.5.
    let depth = Packet::Address {
        address: Delta(0x100),
        notify: false,
        updiscon: false,
        irreport: true,
        irdepth: 9,
        irets: 0,
    };
    check(&Parameters { iret_ext: false, ..stack() }, &[("Y13 with irdepth", depth, 40, "02 02 00 00 98")]);
}

/// Y18 to Y21.
#[test]
fn irets_of_format_0() {
    let (f0s_width_p, cache_size_p, bpred_size_p) = (1, 5, 4);
    let modes = Modes { branch_prediction: true, jump_target_cache: true, ..Modes::default() };
    let parameters = Parameters { f0s_width_p, cache_size_p, bpred_size_p, modes, ..stack() };
    let index = |branches, branch_map, irets: Option<u8>| Packet::JumpTargetIndex {
        index: 9,
        branches,
        branch_map,
        irreport: irets.is_some(),
        irdepth: 0,
        irets: irets.unwrap_or(0),
    };
    let count = Packet::BranchCount {
        branch_count: 5,
        branch_fmt: 2,
        address: Some(Delta(0x40)),
        notify: false,
        updiscon: false,
        irreport: true,
        irdepth: 0,
        irets: 1,
    };
    check(
        &parameters,
        &[
            ("Y18", count, 79, "28 00 00 00 10 04 00 00 c0 00"),
            ("Y19", index(0, 0, Some(1)), 22, "4c 60"),
            ("Y20", index(1, 1, None), 23, "4c e1"),
            ("Y21", index(1, 1, Some(0)), 23, "4c 21"),
        ],
    );
}

/// Y22; packets without address have no `irets` either (RVET5-PKT-015).
#[test]
fn other_packets_are_as_before() {
    let timed = Parameters { notime_p: false, time_width_p: 16, ..stack() };
    let (branch, privilege, context, time) = (true, 3, None, Some(0x1234));
    let start = Packet::Start { branch, privilege, time, context, address: Address(0x1000) };
    check(&timed, &[("Y22", start, 54, "73 1a 09 00 04")]);
    let full = Packet::Branch {
        branches: 0,
        branch_map: 0x7fff_ffff,
        address: None::<ReportedAddress>,
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    check(&stack(), &[("full map", full, 38, "81 ff")]);
    assert_eq!(stack().version, Version::V2_0_5);
}
