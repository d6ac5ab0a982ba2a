//! Bytes of single packets: 9.1 of the sheet, D-09, D-10 and D-16 of its additions.

use crate::arm_pft::address::{compress, fewest_bytes};
use crate::arm_pft::{UnencodablePacket, write_packet};
use traceproof_vectors::Address32;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    Atoms, CompressedAddress, CycleCount, ExceptionInformation, Packet, Parameters, Reason, VariableField,
};

use super::hex;

use InstructionSet::{A32, Jazelle, T32, T32Ee};

fn plain() -> Parameters {
    Parameters::default()
}

fn with_ids(context_id_bytes: u8) -> Parameters {
    Parameters { context_id_bytes, ..plain() }
}

fn accurate(context_id_bytes: u8) -> Parameters {
    Parameters { cycle_accurate: true, context_id_bytes, ..plain() }
}

fn gray() -> Parameters {
    Parameters { timestamp_bits: 48, timestamp_binary: false, ..plain() }
}

fn bytes(packet: Packet, parameters: &Parameters) -> String {
    hex(&write_packet(&packet, parameters).expect("encodable"))
}

fn refused(packet: Packet, parameters: &Parameters) -> &'static str {
    let Err(UnencodablePacket { field }) = write_packet(&packet, parameters) else {
        panic!("{packet:?} was written");
    };
    field
}

/// I-sync with the reason and, from its letters, `n`, `x`, `h`: NS, AltISA, Hyp.
fn sync(address: u32, reason: Reason, flags: &str, count: Option<u32>, context_id: Option<u32>) -> Packet {
    Packet::InstructionSync {
        address: Address32(address),
        reason,
        non_secure: flags.contains('n'),
        alt_isa: flags.contains('x'),
        hyp: flags.contains('h'),
        reserved: 0,
        cycle_count: count.map(CycleCount::new),
        context_id,
    }
}

fn atoms(text: &str, count: Option<u32>) -> Packet {
    Packet::Atoms { atoms: text.parse().expect("atoms"), cycle_count: count.map(CycleCount::new) }
}

fn branch(address: CompressedAddress) -> Packet {
    Packet::BranchAddress { address, exception: None, cycle_count: None }
}

/// From `base`, in as few bytes as the address needs.
fn near(isa: InstructionSet, base: u32, address: u32) -> CompressedAddress {
    compress(isa, address, fewest_bytes(isa, address, base))
}

fn far(isa: InstructionSet, address: u32) -> CompressedAddress {
    compress(isa, address, 5)
}

fn information(number: u16, non_secure: bool, hyp: Option<bool>) -> ExceptionInformation {
    ExceptionInformation { number, non_secure, hyp, ..ExceptionInformation::default() }
}

fn exception(address: CompressedAddress, number: u16, non_secure: bool, hyp: Option<bool>) -> Packet {
    Packet::BranchAddress {
        address,
        exception: Some(information(number, non_secure, hyp)),
        cycle_count: None,
    }
}

fn timestamp(bits: u64, bytes: u8, count: Option<u32>) -> Packet {
    Packet::Timestamp {
        clock_change: false,
        value: VariableField { bits, bytes },
        cycle_count: count.map(CycleCount::new),
    }
}

fn update(address: CompressedAddress) -> Packet {
    Packet::WaypointUpdate { address, information: None, even: false }
}

/// Spec: PFT-PKT-004, 009 to 018; 9.1 rows 1 to 7.
#[test]
fn synchronisation_packets() {
    use Reason::{DebugExit, Overflow, Periodic, TraceEnabled};
    assert_eq!(bytes(Packet::AlignmentSync { zeros: 5 }, &plain()), "00 00 00 00 00 80");
    for (packet, parameters, expected) in [
        (sync(0x8000, TraceEnabled, "", None, None), plain(), "08 00 80 00 00 21"),
        (sync(0x1_0007, Periodic, "n", None, None), plain(), "08 07 00 01 00 09"),
        (sync(0x1235, DebugExit, "nx", None, None), plain(), "08 35 12 00 00 6d"),
        (
            sync(0xc003_6328, Overflow, "n", Some(380), Some(0x1234_5678)),
            accurate(4),
            "08 28 63 03 c0 49 f0 17 78 56 34 12",
        ),
        (sync(0xc003_6328, TraceEnabled, "nh", Some(5), Some(0x42)), accurate(1), "08 28 63 03 c0 2b 94 42"),
        (
            sync(0xffff_fffc, TraceEnabled, "n", Some(u32::MAX), Some(0xaabb_ccdd)),
            accurate(4),
            "08 fc ff ff ff 29 fc ff ff ff 7f dd cc bb aa",
        ),
        (sync(0x8000, Periodic, "", None, Some(0)), accurate(4), "08 00 80 00 00 01 00 00 00 00"),
        // D-11: no count is longer than it needs to be.
        (sync(0x8000, TraceEnabled, "", Some(0), Some(0)), accurate(4), "08 00 80 00 00 21 80 00 00 00 00"),
    ] {
        assert_eq!(bytes(packet, &parameters), expected);
    }
}

/// Spec: PFT-PKT-020 to 025; 9.1 rows 8 to 25.
#[test]
fn atom_packets() {
    for (text, expected) in [
        ("E", "84"),
        ("N", "86"),
        ("EN", "8a"),
        ("NE", "8c"),
        ("ENN", "96"),
        ("ENEE", "a8"),
        ("NNNE", "bc"),
        ("EENEE", "c8"),
        ("NNEEE", "f0"),
    ] {
        assert_eq!(bytes(atoms(text, None), &plain()), expected, "{text}");
    }
    for (text, count, expected) in [
        ("E", 0, "80"),
        ("N", 0, "82"),
        ("E", 1, "84"),
        ("N", 15, "be"),
        ("E", 16, "c0 01"),
        ("N", 380, "f2 17"),
        ("E", 2047, "fc 7f"),
        ("E", 2048, "c0 80 01"),
        ("E", u32::MAX, "fc ff ff ff 7f"),
    ] {
        assert_eq!(bytes(atoms(text, Some(count)), &accurate(0)), expected, "{text} {count}");
    }
}

/// Spec: PFT-PKT-033 to 042; 9.1 rows 26 to 36 and 45.
#[test]
fn branch_packets() {
    for (address, expected) in [
        (near(A32, 0x8000, 0x8010), "09"),
        (near(A32, 0x8000, 0x8100), "81 01"),
        (near(A32, 0x8000, 0xbffc), "ff 3f"),
        (near(A32, 0x8000, 0xc000), "81 c0 01"),
        (near(A32, 0, 0x0800_0000), "81 80 80 20"),
        (near(A32, 0, 0x1000_0000), "81 80 80 c0 08"),
        (near(T32, 0x1_0000, 0x1_0010), "11"),
        (far(T32, 0x1234_5678), "f9 ac d1 91 11"),
        (far(A32, 0x1234_5678), "bd d6 e8 c8 08"),
        (far(Jazelle, 0x1234_5679), "f3 d9 a2 a3 22"),
        (far(T32, 0x1_0006), "87 80 84 80 10"),
    ] {
        assert_eq!(bytes(branch(address), &plain()), expected);
    }
    let thumb_ee = ExceptionInformation { alt_isa: true, ..ExceptionInformation::default() };
    let packet =
        Packet::BranchAddress { address: far(T32Ee, 0x2000), exception: Some(thumb_ee), cycle_count: None };
    assert_eq!(bytes(packet, &plain()), "81 c0 80 80 50 40");
    let counted = Packet::BranchAddress {
        address: near(A32, 0x8000, 0x8010),
        exception: None,
        cycle_count: Some(CycleCount::new(15)),
    };
    assert_eq!(bytes(counted, &accurate(0)), "09 3c");
}

/// Spec: PFT-PKT-043 to 050; 9.1 rows 37 to 47.
#[test]
fn exceptions_in_branch_packets() {
    for (packet, expected) in [
        (exception(compress(A32, 0x8010, 2), 0, true, None), "89 40 01"),
        (exception(compress(A32, 8, 2), 10, false, None), "85 40 14"),
        (exception(near(A32, 0x8000, 8), 10, false, None), "85 80 40 14"),
        (exception(compress(T32, 0x1_0004, 2), 9, false, None), "85 40 12"),
        (exception(compress(T32, 0x1_0004, 2), 9, true, Some(false)), "85 40 93 00"),
        (exception(compress(A32, 0x14, 2), 3, true, Some(true)), "8b 40 87 20"),
        (exception(far(A32, 0xffff_0018), 14, true, None), "8d 80 fe ff 4f 1d"),
        (exception(far(A32, 0), 1, false, None), "81 80 80 80 48 02"),
        (exception(compress(A32, 0x10, 3), 16, false, Some(false)), "89 80 40 80 01"),
        (exception(compress(A32, 0x10, 3), 511, false, Some(false)), "89 80 40 9e 1f"),
    ] {
        assert_eq!(bytes(packet, &plain()), expected);
    }
    let longest = Packet::BranchAddress {
        address: far(A32, 0xffff_fffc),
        exception: Some(information(14, true, Some(false))),
        cycle_count: Some(CycleCount::new(u32::MAX)),
    };
    assert_eq!(bytes(longest, &accurate(0)), "ff ff ff ff 4f 9d 00 7c ff ff ff 7f");
    let interrupt = Packet::BranchAddress {
        address: far(A32, 0xffff_0018),
        exception: Some(information(14, true, None)),
        cycle_count: Some(CycleCount::new(4000)),
    };
    assert_eq!(bytes(interrupt, &accurate(0)), "8d 80 fe ff 4f 1d 40 fa 01");
}

/// Spec: PFT-PKT-052 to 060; 9.1 rows 48 to 54, 63 to 65.
#[test]
fn other_packets() {
    for (packet, parameters, expected) in [
        (update(near(A32, 0x8000, 0x8010)), plain(), "72 09"),
        (update(far(A32, 0xc001_0ef0)), plain(), "72 f9 8e 82 80 0e"),
        (update(far(T32, 0x1_0010)), plain(), "72 91 80 84 80 10"),
        (Packet::ContextId { value: Some(0x42) }, with_ids(1), "6e 42"),
        (Packet::ContextId { value: Some(0x1234) }, with_ids(2), "6e 34 12"),
        (Packet::ContextId { value: Some(0x163f) }, with_ids(4), "6e 3f 16 00 00"),
        (Packet::ContextId { value: None }, plain(), "6e"),
        (Packet::Vmid(5), plain(), "3c 05"),
        (Packet::Trigger, plain(), "0c"),
        (Packet::ExceptionReturn, Parameters::v1_0(), "76"),
        (Packet::Ignore, plain(), "66"),
    ] {
        assert_eq!(bytes(packet, &parameters), expected);
    }
    let sixth =
        |information| Packet::WaypointUpdate { address: far(T32Ee, 0x2000), information, even: false };
    assert_eq!(bytes(sixth(Some(0x40)), &plain()), "72 81 c0 80 80 50 40");
    let even = Packet::WaypointUpdate { address: near(A32, 0, 0x10), information: None, even: true };
    assert_eq!(bytes(even, &plain()), "72 08");
    let bit_6 = update(CompressedAddress { bits: 1 << 12 | 4, bytes: 2 });
    assert_eq!(bytes(bit_6, &plain()), "72 89 40");
}

/// Spec: PFT-PKT-059 to 065; 9.1 rows 55 to 62; the coding is tested with the writer of timestamps.
#[test]
fn timestamp_packets() {
    for (packet, parameters, expected) in [
        (timestamp(0x21c, 7, None), gray(), "42 9c 84 80 80 80 80 00"),
        (timestamp(0x1d, 1, None), gray(), "42 1d"),
        (timestamp((1 << 48) - 1, 7, None), gray(), "42 ff ff ff ff ff ff 3f"),
        (timestamp(562_537_008_076, 9, None), plain(), "42 cc 97 c6 ce af 90 80 80 00"),
        (timestamp(0xcc8, 2, None), plain(), "42 c8 19"),
        (timestamp(u64::MAX, 9, None), plain(), "42 ff ff ff ff ff ff ff ff ff"),
        (timestamp(u64::MAX, 9, Some(u32::MAX)), accurate(0), "42 ff ff ff ff ff ff ff ff ff 7c ff ff ff 7f"),
    ] {
        assert_eq!(bytes(packet, &parameters), expected);
    }
    let changed = Packet::Timestamp {
        clock_change: true,
        value: VariableField { bits: 0x49, bytes: 1 },
        cycle_count: Some(CycleCount::new(0)),
    };
    assert_eq!(bytes(changed, &accurate(0)), "46 49 00");
    assert_eq!(bytes(timestamp(0xff << 42, 7, None), &gray()), "42 80 80 80 80 80 80 ff");
}

/// The highest bit of so many bytes, and the next one. Spec: PFT-PKT-040, 041; D-09.
#[test]
fn as_few_address_bytes_as_change() {
    for (isa, lowest, end) in [(A32, 2, "08"), (T32, 1, "10"), (Jazelle, 0, "20")] {
        let at = |bit: u32| bytes(branch(near(isa, 0, 1 << (bit + lowest))), &plain());
        assert_eq!(at(5), "41");
        assert_eq!([at(6), at(11)], ["81 01", "81 20"]);
        assert_eq!([at(12), at(18)], ["81 c0 00", "81 80 20"]);
        assert_eq!([at(19), at(25)], ["81 80 c0 00", "81 80 80 20"]);
        assert_eq!(at(26), format!("81 80 80 c0 {end}"));
    }
    let base = 0xffff_fffc;
    for (address, expected) in [
        (0xffff_ff00, "01"),
        (0xffff_c000, "81 00"),
        (0xffe0_0000, "81 80 00"),
        (0xf000_0000, "81 80 80 00"),
        (0, "81 80 80 80 08"),
    ] {
        assert_eq!(bytes(branch(near(A32, base, address)), &plain()), expected);
    }
}

/// Reserved bits travel as the packet says. Spec: PFT-PKT-067, 068; PFT-ERR-014.
#[test]
fn wrong_bits_can_be_written() {
    let count = |reserved, bytes| Some(CycleCount { value: 0, bytes, reserved });
    let sync = |reserved, cycle_count| Packet::InstructionSync {
        address: Address32(0x8000),
        reason: Reason::TraceEnabled,
        non_secure: false,
        alt_isa: false,
        hyp: false,
        reserved,
        cycle_count,
        context_id: None,
    };
    assert_eq!(bytes(sync(0x91, None), &plain()), "08 00 80 00 00 b0");
    assert_eq!(bytes(sync(0, count(0x83, 1)), &accurate(0)), "08 00 80 00 00 21 03");
    let address = compress(A32, 0, 2);
    let branch = |exception, cycle_count| Packet::BranchAddress { address, exception, cycle_count };
    assert_eq!(bytes(branch(None, count(0x87, 5)), &accurate(0)), "81 00 c3 80 80 80 80");
    let odd = ExceptionInformation { hyp: Some(false), reserved: 0xe0, ..ExceptionInformation::default() };
    assert_eq!(bytes(branch(Some(odd), None), &plain()), "81 40 a0 c0");
    let atoms = Packet::Atoms { atoms: Atoms::one(true), cycle_count: count(4, 5) };
    assert_eq!(bytes(atoms, &accurate(0)), "c0 80 80 80 80");
    let end = CompressedAddress { bits: 1 << 34, bytes: 5 };
    assert_eq!(bytes(super::packets::branch(end), &plain()), "81 80 80 80 80");
}

#[test]
fn what_has_no_bytes_is_refused() {
    let address = |bits, bytes| CompressedAddress { bits, bytes };
    let counted = |value, bytes, reserved| Packet::Atoms {
        atoms: Atoms::one(true),
        cycle_count: Some(CycleCount { value, bytes, reserved }),
    };
    let information = |number, hyp, reserved| Packet::BranchAddress {
        address: address(0, 2),
        exception: Some(ExceptionInformation { number, hyp, reserved, ..ExceptionInformation::default() }),
        cycle_count: None,
    };
    for (packet, parameters, field) in [
        (Packet::AlignmentSync { zeros: 4 }, plain(), "zeros"),
        (Packet::AlignmentSync { zeros: u64::MAX }, plain(), "zeros"),
        (sync(0, Reason::Periodic, "", Some(0), None), accurate(0), "cycle_count"),
        (sync(0, Reason::TraceEnabled, "", None, None), accurate(0), "cycle_count"),
        (sync(0, Reason::TraceEnabled, "", None, None), with_ids(1), "context_id"),
        (sync(0, Reason::TraceEnabled, "", None, Some(0x100)), with_ids(1), "context_id"),
        (atoms("EE", Some(1)), accurate(0), "atoms"),
        (atoms("E", None), accurate(0), "cycle_count"),
        (atoms("E", Some(1)), plain(), "cycle_count"),
        (counted(16, 1, 0), accurate(0), "cycle_count"),
        (counted(0, 0, 0), accurate(0), "cycle_count"),
        (counted(0, 6, 0), accurate(0), "cycle_count"),
        (counted(0, 1, 1), accurate(0), "cycle_count"),
        (counted(0, 4, 4), accurate(0), "cycle_count"),
        (branch(address(1 << 6, 1)), plain(), "address"),
        (branch(address(1 << 12, 2)), plain(), "address"),
        (branch(address(1 << 33, 5)), plain(), "address"),
        (branch(address(0, 0)), plain(), "address"),
        (branch(address(0, 6)), plain(), "address"),
        (exception(address(0, 1), 0, true, None), plain(), "exception"),
        (information(16, None, 0), plain(), "number"),
        (information(512, Some(true), 0), plain(), "number"),
        (information(0, None, 0x40), plain(), "reserved"),
        (update(address(1 << 6, 1)), plain(), "address"),
        (update(address(1 << 13, 2)), plain(), "address"),
        (
            Packet::WaypointUpdate { address: address(0, 4), information: Some(0), even: false },
            plain(),
            "information",
        ),
        (Packet::ContextId { value: Some(0) }, plain(), "value"),
        (Packet::ContextId { value: None }, with_ids(1), "value"),
        (timestamp(0, 0, None), plain(), "value"),
        (timestamp(0, 10, None), plain(), "value"),
        (timestamp(0, 8, None), gray(), "value"),
        (timestamp(1 << 50, 7, None), gray(), "value"),
        (timestamp(1 << 7, 1, None), plain(), "value"),
        (timestamp(0, 1, None), accurate(0), "cycle_count"),
    ] {
        assert_eq!(refused(packet, &parameters), field, "{packet:?}");
    }
}
