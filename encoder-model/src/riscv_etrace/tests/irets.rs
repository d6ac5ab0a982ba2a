//! Packets with `irets`: worked examples to the byte, and what cannot travel.

use crate::riscv_etrace::{Defect, write_payload};
use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{Compression, Modes, Packet, Parameters, ReportedAddress, Version};

use super::bench::hex;

fn parameters() -> Parameters {
    Parameters {
        version: Version::V2_0_5,
        iret_ext: true,
        f0s_width_p: 1,
        cache_size_p: 5,
        bpred_size_p: 4,
        ..Parameters::default()
    }
}

/// How a report ends: `irets` with the flag `irreport`, and `updiscon`.
#[derive(Clone, Copy)]
struct End(Option<u8>, bool);

const PLAIN: End = End(None, false);

const fn count(irets: u8) -> End {
    End(Some(irets), false)
}

fn address(delta: i64, End(count, updiscon): End) -> Packet {
    Packet::Address {
        address: ReportedAddress::Delta(delta),
        notify: false,
        updiscon,
        irreport: count.is_some(),
        irdepth: 0,
        irets: count.unwrap_or(0),
    }
}

fn index(branches: u8, branch_map: u32, End(count, _): End) -> Packet {
    Packet::JumpTargetIndex {
        index: 9,
        branches,
        branch_map,
        irreport: count.is_some(),
        irdepth: 0,
        irets: count.unwrap_or(0),
    }
}

fn encoded(packet: Packet, parameters: &Parameters) -> Result<Vec<u8>, (&'static str, Defect)> {
    write_payload(&packet, parameters, Modes::default(), Compression::Minimal)
        .map_err(|error| (error.field, error.defect))
}

#[track_caller]
fn bytes(packet: Packet, expected: &str) {
    assert_eq!(encoded(packet, &parameters()), Ok(hex(expected)), "{packet:?}");
}

/// Y10 to Y16. RVET5-PKT-011 to 014.
#[test]
fn addresses() {
    bytes(address(4, PLAIN), "0a");
    bytes(address(-4, PLAIN), "fa");
    bytes(address(0x100, count(3)), "02 02 00 00 38");
    bytes(address(0x100, count(9)), "02 02 00 00 98 00");
    bytes(address(-0x10, count(0)), "e2 ff ff ff 07");
    bytes(address(8, count(255)), "12 00 00 00 f8");
    bytes(address(0x40, End(Some(1), true)), "82 00 00 00 14");
    bytes(address(0x40, End(None, true)), "82 00 00 00 fc");
}

/// Y13 in the layout of version 2.0, and 8 bits whatever there is to count.
#[test]
fn the_width_does_not_depend_on_sizes() {
    let stack = |iret_ext| Parameters { iret_ext, return_stack_size_p: 3, ..parameters() };
    let packet = address(0x100, count(9));
    assert_eq!(encoded(packet, &stack(true)), Ok(hex("02 02 00 00 98 00")));
    let old = Packet::Address {
        address: ReportedAddress::Delta(0x100),
        notify: false,
        updiscon: false,
        irreport: true,
        irdepth: 9,
        irets: 0,
    };
    assert_eq!(encoded(old, &stack(false)), Ok(hex("02 02 00 00 98")));
}

/// Y17 to Y21.
#[test]
fn branches_and_indices() {
    let mapped = Packet::Branch {
        branches: 2,
        branch_map: 2,
        address: Some(ReportedAddress::Delta(0x20)),
        notify: false,
        updiscon: false,
        irreport: true,
        irdepth: 0,
        irets: 2,
    };
    bytes(mapped, "09 41 00 00 00 28");
    let predicted = Packet::BranchCount {
        branch_count: 5,
        branch_fmt: 2,
        address: Some(ReportedAddress::Delta(0x40)),
        notify: false,
        updiscon: false,
        irreport: true,
        irdepth: 0,
        irets: 1,
    };
    bytes(predicted, "28 00 00 00 10 04 00 00 c0 00");
    bytes(index(0, 0, count(1)), "4c 60");
    bytes(index(1, 1, PLAIN), "4c e1");
    bytes(index(1, 1, count(0)), "4c 21");
}

/// Y22, and packets that version 2.0.5 leaves as they were (RVET5-PKT-015): X02 and X31 of version 2.0.
#[test]
fn other_packets_are_unchanged() {
    let timed = Parameters { notime_p: false, time_width_p: 16, ..parameters() };
    let start =
        |time| Packet::Start { branch: true, privilege: 3, time, context: None, address: Address(0x1000) };
    assert_eq!(encoded(start(Some(0x1234)), &timed), Ok(hex("73 1a 09 00 04")));
    bytes(start(None), "73 00 04");
    let full_map = Packet::Branch {
        branches: 0,
        branch_map: 0,
        address: None,
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    bytes(full_map, "01");
    let alone = Packet::BranchCount {
        branch_count: 20,
        branch_fmt: 0,
        address: None,
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    // 0, subformat 0, 20 from bit 3 on.
    bytes(alone, "a0 00");
}

#[test]
fn what_cannot_travel_is_refused() {
    let with = |irreport, irdepth, irets| Packet::Address {
        address: ReportedAddress::Delta(4),
        notify: false,
        updiscon: false,
        irreport,
        irdepth,
        irets,
    };
    let unexpected = |field| Err((field, Defect::Unexpected));
    assert_eq!(encoded(with(true, 1, 0), &parameters()), unexpected("irdepth"));
    assert_eq!(encoded(with(false, 0, 1), &parameters()), unexpected("irets"));
    let old = Parameters { iret_ext: false, return_stack_size_p: 3, ..parameters() };
    assert_eq!(encoded(with(true, 0, 1), &old), unexpected("irets"));
    assert_eq!(encoded(with(true, 16, 0), &old), Err(("irdepth", Defect::TooWide)));
    assert!(encoded(with(true, 15, 0), &old).is_ok());
}
