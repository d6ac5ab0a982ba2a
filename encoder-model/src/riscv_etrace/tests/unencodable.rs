//! Packets that cannot travel are named, never bent.

use crate::riscv_etrace::{Defect, UnencodablePacket, write_packets, write_payload};
use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{Compression, Modes, Packet, Parameters, Policy, ReportedAddress};

#[track_caller]
fn refused(packet: Packet, parameters: &Parameters, field: &'static str, defect: Defect) {
    let error = write_payload(&packet, parameters, parameters.modes, Compression::Minimal);
    assert_eq!(error, Err(UnencodablePacket { index: 0, field, defect }), "{packet:?}");
}

fn start(privilege: u8, context: Option<u64>, address: u64) -> Packet {
    Packet::Start { branch: true, privilege, time: None, context, address: Address(address) }
}

fn address(address: ReportedAddress, irdepth: u32) -> Packet {
    Packet::Address { address, notify: false, updiscon: false, irreport: false, irdepth, irets: 0 }
}

fn branch(branches: u8, branch_map: u32, address: Option<ReportedAddress>, notify: bool) -> Packet {
    Packet::Branch {
        branches,
        branch_map,
        address,
        notify,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    }
}

#[test]
fn values_must_fit() {
    let set = &Parameters::default();
    refused(start(4, None, 0x1000), set, "privilege", Defect::TooWide);
    refused(start(3, None, 0x1_0000_0000), set, "address", Defect::TooWide);
    refused(start(3, None, 0x1001), set, "address", Defect::Unaligned);
    refused(start(3, Some(0), 0x1000), set, "context", Defect::Unexpected);
    refused(address(ReportedAddress::Delta(3), 0), set, "address", Defect::Unaligned);
    refused(address(ReportedAddress::Delta(0x8000_0000), 0), set, "address", Defect::TooWide);
    refused(address(ReportedAddress::Full(0x1000), 0), set, "address", Defect::WrongAddressMode);
    refused(address(ReportedAddress::Delta(0), 1), set, "irdepth", Defect::Unexpected);
    let full = Parameters { modes: Modes { full_address: true, ..Modes::default() }, ..set.clone() };
    refused(address(ReportedAddress::Delta(0), 0), &full, "address", Defect::WrongAddressMode);
    let context = Parameters { nocontext_p: false, context_width_p: 8, ..set.clone() };
    refused(start(3, None, 0x1000), &context, "context", Defect::Missing);
    refused(start(3, Some(0x100), 0x1000), &context, "context", Defect::TooWide);
}

#[test]
fn branches_and_address_must_agree() {
    let set = &Parameters::default();
    let here = Some(ReportedAddress::Delta(0));
    refused(branch(0, 0, here, false), set, "address", Defect::Unexpected);
    refused(branch(1, 0, None, false), set, "address", Defect::Missing);
    refused(branch(0, 0, None, true), set, "notify", Defect::Unexpected);
    refused(branch(32, 0, here, false), set, "branches", Defect::TooWide);
    refused(branch(3, 0b1000, here, false), set, "branch_map", Defect::TooWide);
    refused(branch(0, 0x8000_0000, None, false), set, "branch_map", Defect::TooWide);
    // Two outcomes travel in three bits, and all of them are the packet's.
    assert!(
        write_payload(&branch(2, 0b111, here, false), set, Modes::default(), Compression::Minimal).is_ok()
    );
}

#[test]
fn format_0_needs_its_option() {
    let count = |branch_fmt, address| Packet::BranchCount {
        branch_count: 0,
        branch_fmt,
        address,
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    let index = |index, branch_map| Packet::JumpTargetIndex {
        index,
        branches: 0,
        branch_map,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    refused(count(0, None), &Parameters::default(), "subformat", Defect::Unexpected);
    refused(index(0, 0), &Parameters::default(), "subformat", Defect::Unexpected);
    let set = &Parameters { f0s_width_p: 1, cache_size_p: 4, bpred_size_p: 4, ..Parameters::default() };
    refused(count(1, Some(ReportedAddress::Delta(0))), set, "branch_fmt", Defect::Reserved);
    refused(count(2, None), set, "address", Defect::Missing);
    refused(count(0, Some(ReportedAddress::Delta(0))), set, "address", Defect::Unexpected);
    refused(index(16, 0), set, "index", Defect::TooWide);
    refused(index(0, 1), set, "branch_map", Defect::TooWide);
}

#[test]
fn frames_hold_31_bytes() {
    // 5 + 4 + 64 + 64 + 16 + 2 + 63 + 64 bits, with a top bit that does not compress.
    let parameters = Parameters {
        iaddress_width_p: 64,
        ecause_width_p: 16,
        privilege_width_p: 4,
        nocontext_p: false,
        context_width_p: 64,
        notime_p: false,
        time_width_p: 64,
        ..Parameters::default()
    };
    let trap = Packet::Trap {
        branch: true,
        privilege: 3,
        time: Some(0),
        context: Some(0),
        ecause: 2,
        interrupt: false,
        thaddr: true,
        address: Some(Address(0x1000)),
        tval: Some(1 << 62),
    };
    let payload = write_payload(&trap, &parameters, Modes::default(), Compression::Minimal);
    assert_eq!(payload.map(|payload| payload.len()), Ok(282_usize.div_ceil(8)));
    let framed = write_packets(&[trap], &parameters, &Policy::default());
    assert_eq!(framed, Err(UnencodablePacket { index: 0, field: "payload", defect: Defect::TooLong }));
}

#[test]
fn impossible_choices_of_the_transport_are_refused() {
    let parameters = Parameters::default();
    let policy = Policy { flow: 4, ..Policy::default() };
    let framed = write_packets(&[start(3, None, 0x1000)], &parameters, &policy);
    assert_eq!(framed.map_err(|error| error.defect), Err(Defect::UnsupportedEncapsulation));
}
