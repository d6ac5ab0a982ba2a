//! Worked examples of single packets, to the byte.

use crate::riscv_etrace::{write_packets, write_payload};
use traceproof_vectors::riscv_etrace::{
    Compression, Modes, Packet, Parameters, Policy, QualStatus, ReportedAddress, Xlen,
};

use super::bench::hex;
use traceproof_vectors::Address;

fn start(branch: bool, privilege: u8, address: u64) -> Packet {
    Packet::Start { branch, privilege, time: None, context: None, address: Address(address) }
}

fn with_context(packet: Packet, value: u64) -> Packet {
    match packet {
        Packet::Start { branch, privilege, time, address, .. } => {
            Packet::Start { branch, privilege, time, context: Some(value), address }
        }
        Packet::Trap { branch, privilege, time, ecause, interrupt, thaddr, address, tval, .. } => {
            let context = Some(value);
            Packet::Trap { branch, privilege, time, context, ecause, interrupt, thaddr, address, tval }
        }
        other => other,
    }
}

fn exception(ecause: u64, thaddr: bool, privilege: u8, address: Option<u64>, tval: u64) -> Packet {
    let (branch, time, context, interrupt, tval) = (true, None, None, false, Some(tval));
    Packet::Trap {
        branch,
        privilege,
        time,
        context,
        ecause,
        interrupt,
        thaddr,
        address: address.map(Address),
        tval,
    }
}

fn interrupt(ecause: u64, address: Option<u64>) -> Packet {
    let (branch, privilege, time, context, interrupt, thaddr, tval) = (true, 3, None, None, true, true, None);
    Packet::Trap {
        branch,
        privilege,
        time,
        context,
        ecause,
        interrupt,
        thaddr,
        address: address.map(Address),
        tval,
    }
}

fn support(ienable: bool, qual_status: QualStatus, ioptions: u32) -> Packet {
    let (encoder_mode, denable, dloss, doptions) = (0, false, false, 0);
    Packet::Support { ienable, encoder_mode, qual_status, ioptions, denable, dloss, doptions }
}

/// Flags: `n`otify, `u`pdiscon.
fn flag(flags: &str, flag: char) -> bool {
    flags.contains(flag)
}

fn address_only(address: ReportedAddress, flags: &str, depth: Option<u32>) -> Packet {
    Packet::Address {
        address,
        notify: flag(flags, 'n'),
        updiscon: flag(flags, 'u'),
        irreport: depth.is_some(),
        irdepth: depth.unwrap_or(0),
        irets: 0,
    }
}

fn delta(delta: i64, flags: &str) -> Packet {
    address_only(ReportedAddress::Delta(delta), flags, None)
}

fn full(address: u64, flags: &str) -> Packet {
    address_only(ReportedAddress::Full(address), flags, None)
}

fn branches_at(
    branches: u8,
    branch_map: u32,
    address: Option<ReportedAddress>,
    updiscon: bool,
    depth: Option<u32>,
) -> Packet {
    let (irreport, irdepth) = (depth.is_some(), depth.unwrap_or(0));
    Packet::Branch { branches, branch_map, address, notify: false, updiscon, irreport, irdepth, irets: 0 }
}

fn branches(branches: u8, branch_map: u32, delta: i64) -> Packet {
    branches_at(branches, branch_map, Some(ReportedAddress::Delta(delta)), false, None)
}

fn full_map(branch_map: u32) -> Packet {
    branches_at(0, branch_map, None, false, None)
}

fn count(branch_count: u32, branch_fmt: u8, delta: Option<i64>) -> Packet {
    let (notify, updiscon, irreport, irdepth) = (false, false, false, 0);
    let address = delta.map(ReportedAddress::Delta);
    Packet::BranchCount { branch_count, branch_fmt, address, notify, updiscon, irreport, irdepth, irets: 0 }
}

fn index(index: u32, branches: u8, branch_map: u32, depth: Option<u32>) -> Packet {
    Packet::JumpTargetIndex {
        index,
        branches,
        branch_map,
        irreport: depth.is_some(),
        irdepth: depth.unwrap_or(0),
        irets: 0,
    }
}

#[track_caller]
fn check(parameters: &Parameters, rows: &[(&str, Packet, &str)]) {
    for (id, packet, bytes) in rows {
        let payload = write_payload(packet, parameters, parameters.modes, Compression::Minimal);
        assert_eq!(payload, Ok(hex(bytes)), "{id}");
        let framed = [&[hex(bytes).len() as u8][..], &hex(bytes)].concat();
        assert_eq!(write_packets(&[*packet], parameters, &Policy::default()), Ok(framed), "{id}, framed");
    }
}

#[test]
fn format_3() {
    use QualStatus::{EndedNtr, EndedRep, NoChange, TraceLost};
    let denable = Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: NoChange,
        ioptions: 0,
        denable: true,
        dloss: false,
        doptions: 0,
    };
    check(
        &Parameters::default(),
        &[
            ("X01", start(true, 3, 0x8000_0000), "73 00 00 00 e0"),
            ("X02", start(false, 0, 0x2000_0104), "03 41 00 00 08"),
            ("X03", start(true, 3, 0x1000), "73 00 04"),
            ("X04", start(false, 3, 0x1008), "63 02 04"),
            ("X05", exception(2, true, 3, Some(0x8000_0040), 0x1234), "77 11 04 00 00 48 23 01"),
            ("X06", interrupt(7, Some(0x8000_0040)), "f7 1b 04 00 00 f8"),
            ("X07", exception(12, false, 0, Some(0x4000_0000), 0x4000_0000), "17 06 00 00 00 04 00 00 00 04"),
            ("X08", Packet::Context { privilege: 1, time: None, context: None }, "1b"),
            ("X11", support(true, NoChange, 0), "1f"),
            ("X12", support(true, NoChange, 4), "1f 04"),
            ("X13", support(true, EndedRep, 0), "5f"),
            ("X14", support(true, EndedNtr, 0), "df 00"),
            ("X15", support(true, TraceLost, 0), "9f 00"),
            ("X16", support(false, EndedRep, 0), "4f"),
            ("X17", support(true, NoChange, 0x18), "1f 18"),
            ("X18", denable, "1f 20"),
        ],
    );
}

#[test]
fn format_3_without_handler_addresses() {
    let parameters =
        Parameters { modes: Modes { implicit_exception: true, ..Modes::default() }, ..Parameters::default() };
    check(
        &parameters,
        &[
            ("X09", exception(5, true, 3, None, 0xffff_fffc), "f7 92"),
            ("X10", interrupt(11, None), "f7 fd"),
            // Only `thaddr` = 1 leaves the address out: X07 again.
            ("X07", exception(12, false, 0, Some(0x4000_0000), 0x4000_0000), "17 06 00 00 00 04 00 00 00 04"),
        ],
    );
}

#[test]
fn format_3_with_context_and_time() {
    let wide = Parameters {
        xlen: Xlen::Rv64,
        iaddress_width_p: 64,
        ecause_width_p: 6,
        nocontext_p: false,
        context_width_p: 32,
        ..Parameters::default()
    };
    check(
        &wide,
        &[
            (
                "X20",
                with_context(start(true, 1, 0xffff_ffff_8000_0000), 0x1234),
                "33 1a 09 00 00 00 00 00 e0",
            ),
            ("X21", with_context(start(true, 3, 0x8000_0000), 0), "73 00 00 00 00 00 00 00 20"),
            ("X22", Packet::Context { privilege: 0, time: None, context: Some(0x1235) }, "4b 8d 04"),
        ],
    );
    let timed = Parameters { context_width_p: 16, notime_p: false, time_width_p: 32, ..wide };
    let packet = Packet::Start {
        branch: true,
        privilege: 3,
        time: Some(0x1122_3344),
        context: Some(0xbeef),
        address: Address(0x8000_0010),
    };
    check(&timed, &[("X23", packet, "73 a2 19 91 88 77 5f 04 00 00 20")]);
}

#[test]
fn formats_2_and_1() {
    check(
        &Parameters::default(),
        &[
            ("X30", delta(0, ""), "02"),
            ("X31", delta(4, ""), "0a"),
            ("X32", delta(-4, ""), "fa"),
            ("X33", delta(0x910, ""), "22 12"),
            ("X34", delta(-0x204, ""), "fa fb"),
            ("X35", delta(0x910, "n"), "22 12 00 00 fe"),
            ("X36", delta(0x910, "u"), "22 12 00 00 fc"),
            ("X37", delta(-0x204, "n"), "fa fb ff ff 01"),
            ("X38", delta(-0x204, "u"), "fa fb ff ff 03"),
            ("X39", delta(2, "nu"), "06 00 00 00 02"),
            ("X42", delta(-0x8000_0000, ""), "02 00 00 00 ff"),
            ("X43", delta(0x20, ""), "42"),
            ("X44", branches(1, 0, 0xab0), "05 58 05"),
            ("X45", branches(1, 1, 0), "85 00"),
            ("X46", branches(2, 0b10, -0x10c), "09 e9 fd"),
            ("X47", branches(3, 0b011, 0x148), "8d 91 02"),
            ("X48", branches(7, 0x55, -2), "9d ea"),
            ("X49", branches(8, 0xaa, 0), "21 55"),
            ("X50", branches(16, 0x8001, 2), "c1 00 40 00 40"),
            ("X51", branches(31, 0x5555_5555, 0x40), "fd aa aa aa 2a 08"),
            ("X52", full_map(0), "01"),
            ("X53", full_map(0x7fff_ffff), "81"),
            // "Only branch #8 not taken", counted from 0.
            ("X54", full_map(0x100), "01 80 00"),
        ],
    );
}

#[test]
fn formats_2_and_1_with_other_addresses() {
    let full_address =
        Parameters { modes: Modes { full_address: true, ..Modes::default() }, ..Parameters::default() };
    check(
        &full_address,
        &[
            ("X40", full(0x8000_0100, ""), "02 02 00 00 ff"),
            ("X41", full(0x8000_0100, "u"), "02 02 00 00 03"),
        ],
    );
    let wide = Parameters { xlen: Xlen::Rv64, iaddress_width_p: 64, ..Parameters::default() };
    check(
        &wide,
        &[
            ("X55", delta(-4, ""), "fa"),
            // ET 12: a return to 0x80001a88 with 0x80001178 reported last, and three maps.
            ("ET 12 return", delta(0x910, ""), "22 12"),
            ("ET 12 one branch", branches(1, 0, 0xab0), "05 58 05"),
            ("ET 12 three branches", branches(3, 3, 0x148), "8d 91 02"),
            ("ET 12 two branches", branches(2, 2, -0x10c), "09 e9 fd"),
            (
                "ET 12 two branches, flag set",
                branches_at(2, 2, Some(ReportedAddress::Delta(-0x10c)), true, None),
                "09 e9 fd ff ff ff ff ff ff 03",
            ),
        ],
    );
    let words = Parameters { iaddress_lsb_p: 2, ..Parameters::default() };
    check(
        &words,
        &[("X56", delta(0x910, ""), "12 09"), ("X57", start(true, 3, 0x8000_0000), "73 00 00 00 f0")],
    );
}

#[test]
fn implicit_return_fields() {
    let parameters = Parameters { return_stack_size_p: 3, ..Parameters::default() };
    let reported = |delta, depth| address_only(ReportedAddress::Delta(delta), "", depth);
    check(
        &parameters,
        &[
            ("X60", reported(0x100, None), "02 02"),
            ("X61", reported(0x100, Some(2)), "02 02 00 00 28"),
            ("X62", reported(-0x100, None), "02 fe"),
            ("X63", reported(-0x100, Some(2)), "02 fe ff ff 27"),
            (
                "X64",
                branches_at(1, 1, Some(ReportedAddress::Delta(0x10)), true, Some(1)),
                "85 08 00 00 00 05",
            ),
        ],
    );
}

#[test]
fn format_0() {
    let both = Parameters { f0s_width_p: 1, cache_size_p: 5, bpred_size_p: 4, ..Parameters::default() };
    check(
        &both,
        &[
            ("X70", count(0, 0, None), "00"),
            ("X71", count(1000, 0, None), "40 1f"),
            ("X72", count(5, 2, Some(0x20)), "28 00 00 00 10 02"),
            ("X73", count(5, 3, Some(-0x20)), "28 00 00 00 18 fe"),
            ("X74", count(0xffff_ffff, 2, Some(0)), "f8 ff ff ff 17"),
            ("X75", index(0x13, 0, 0, None), "9c 00"),
            ("X76", index(0x1f, 2, 0b10, None), "fc 42"),
            ("X77", index(3, 3, 0b101, None), "1c a3"),
            ("X78", index(3, 3, 0b110, None), "1c c3"),
        ],
    );
    let cache = Parameters { cache_size_p: 5, ..Parameters::default() };
    check(&cache, &[("X79", index(0x13, 0, 0, None), "4c")]);
    let predictor = Parameters { bpred_size_p: 4, ..Parameters::default() };
    check(&predictor, &[("X80", count(0, 0, None), "00")]);
    let returns = Parameters {
        f0s_width_p: 1,
        cache_size_p: 4,
        return_stack_size_p: 2,
        call_counter_size_p: 3,
        ..Parameters::default()
    };
    check(
        &returns,
        &[
            ("X81", index(5, 0, 0, Some(3)), "2c 70"),
            ("X82", index(5, 1, 1, None), "ac f0"),
            ("X83", index(5, 1, 1, Some(1)), "ac 50"),
        ],
    );
}

/// ET 13, with the settings that reproduce its bytes. The printed bytes of S04 are an erratum.
#[test]
fn examples_of_the_specification() {
    let parameters = Parameters {
        iaddress_width_p: 40,
        iaddress_lsb_p: 0,
        ecause_width_p: 5,
        nocontext_p: false,
        context_width_p: 32,
        modes: Modes { full_address: true, ..Modes::default() },
        ..Parameters::default()
    };
    let mapped = |branches, map, address| {
        branches_at(branches, map, Some(ReportedAddress::Full(address)), false, None)
    };
    check(
        &parameters,
        &[
            ("S01", mapped(1, 0, 0x8000_0104), "05 04 01 00 80 00"),
            ("S02", full(0x8000_010c, ""), "32 04 00 00 02"),
            (
                "S03",
                with_context(exception(2, false, 3, Some(0x8000_0222), 0), 0),
                "77 00 00 00 00 81 88 00 00 20",
            ),
            ("S04", with_context(start(true, 3, 0x8000_01b0), 0), "73 00 00 00 00 d8 00 00 40"),
            ("S05", mapped(15, 0x5555, 0x8000_01a2), "bd aa aa 68 00 00 20"),
            ("S06", with_context(interrupt(7, Some(0x8000_01b0)), 0), "77 00 00 00 80 33 6c 00 00 20"),
            ("S07", support(true, QualStatus::NoChange, 4), "1f 04"),
            ("S08", with_context(start(true, 3, 0x2001_0522), 0), "73 00 00 00 00 91 82 00 10"),
        ],
    );
}

#[test]
fn mandatory_compression_keeps_full_lengths_elsewhere() {
    let write = |packet: Packet, parameters: &Parameters| {
        write_payload(&packet, parameters, Modes::default(), Compression::Mandatory).expect("it is encodable")
    };
    let parameters = Parameters::default();
    // 38 bits, top bit 0.
    assert_eq!(write(start(true, 3, 0x1000), &parameters), hex("73 00 04 00 00"));
    // 38 bits, top bit 1: filled with the sign.
    assert_eq!(write(start(true, 3, 0x8000_0000), &parameters), hex("73 00 00 00 e0"));
    // 19 bits.
    assert_eq!(write(support(true, QualStatus::NoChange, 0), &parameters), hex("1f 00 00"));
    // Formats 1 and 2 as ever.
    assert_eq!(write(delta(4, ""), &parameters), hex("0a"));
    assert_eq!(write(full_map(0), &parameters), hex("01"));
    // 37 bits.
    let both = Parameters { f0s_width_p: 1, cache_size_p: 5, bpred_size_p: 4, ..parameters };
    assert_eq!(write(count(1000, 0, None), &both), hex("40 1f 00 00 00"));
}

#[test]
fn lists_follow_the_modes_that_support_packets_announce() {
    let parameters = Parameters::default();
    let handler = interrupt(11, None);
    // ioptions 2 is implicit exception.
    let list = [support(true, QualStatus::NoChange, 2), handler, support(true, QualStatus::NoChange, 0)];
    let wire = write_packets(&list, &parameters, &Policy::default());
    assert_eq!(wire, Ok(hex("02 1f 02 02 f7 fd 01 1f")));
    let error = write_packets(&[list[0], list[1], list[2], handler], &parameters, &Policy::default());
    assert_eq!(error.map_err(|error| (error.index, error.field)), Err((3, "address")));
}
