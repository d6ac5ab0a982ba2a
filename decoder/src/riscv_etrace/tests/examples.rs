//! Worked examples: every row read back field by field.

use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Modes, Packet, Parameters, QualStatus, ReportedAddress, Xlen};
use traceproof_vectors::{Address, FaultClass, Place};

use super::bytes;
use crate::riscv_etrace::{PacketReader, Payload, dissect};
use ReportedAddress::{Delta, Full};

/// Name, packet, bits before compression, payload.
pub(super) type Row = (&'static str, Packet, u32, &'static str);

/// Every row is read as it stands, with every redundant byte that it may have, and with one too many.
pub(super) fn check(parameters: &Parameters, rows: &[Row]) {
    for &(name, packet, width, payload) in rows {
        let canonical = bytes(payload);
        let fill = if canonical.last().expect("not empty") & 0x80 != 0 { 0xff } else { 0 };
        let longest = width.div_ceil(8) as usize;
        assert!(canonical.len() <= longest, "{name}");
        for length in canonical.len()..=longest + 1 {
            let mut extended = canonical.clone();
            extended.resize(length, fill);
            let Some(payload) = Payload::new(&extended) else { continue };
            let read = read(parameters, &payload);
            if length <= longest {
                assert_eq!(read, Ok(packet), "{name} with {length} bytes");
            } else {
                assert_eq!(read, Err((FaultClass::Overlong, width)), "{name} with {length} bytes");
            }
        }
        // Whatever is missing is a copy of the top bit: shorter payloads are other packets, or faulty ones.
        for length in 1..canonical.len() {
            let _ = read(parameters, &Payload::new(&canonical[..length]).expect("not empty"));
        }
        dissects(parameters, name, &canonical, width);
    }
}

pub(super) fn read(parameters: &Parameters, payload: &Payload) -> Result<Packet, (FaultClass, u32)> {
    let mut reader = PacketReader::new(parameters).expect("possible parameters");
    reader
        .read(Place::default(), payload)
        .map_err(|fault| (fault.class, fault.place.byte as u32 * 8 + u32::from(fault.place.bit)))
}

/// The fields of the dissection lie one after the other and are as wide as the packet.
fn dissects(parameters: &Parameters, name: &str, payload: &[u8], width: u32) {
    let wire: Vec<u8> = core::iter::once(payload.len() as u8).chain(payload.iter().copied()).collect();
    let units = dissect(&wire, parameters);
    let [unit] = units.as_slice() else { panic!("{name}: one unit") };
    let mut bit = 0;
    for field in &unit.fields {
        assert_eq!(field.bit, bit, "{name}: {}", field.name);
        bit += u64::from(field.width);
    }
    assert_eq!(bit, 8 + u64::from(width), "{name}");
    let received: u32 = unit.fields.iter().map(|field| field.received).sum();
    assert_eq!(received, (wire.len() as u32 * 8).min(8 + width), "{name}");
}

/// Set A of the worked examples.
fn set_a() -> Parameters {
    Parameters::default()
}

fn start(branch: bool, privilege: u8, address: u64) -> Packet {
    Packet::Start { branch, privilege, time: None, context: None, address: Address(address) }
}

fn support(ienable: bool, qual_status: QualStatus, ioptions: u32) -> Packet {
    let (encoder_mode, denable, dloss, doptions) = (0, false, false, 0);
    Packet::Support { ienable, encoder_mode, qual_status, ioptions, denable, dloss, doptions }
}

fn address(address: ReportedAddress, notify: bool, updiscon: bool) -> Packet {
    Packet::Address { address, notify, updiscon, irreport: false, irdepth: 0, irets: 0 }
}

fn returning(address: ReportedAddress, depth: Option<u32>) -> Packet {
    let (irreport, irdepth) = (depth.is_some(), depth.unwrap_or(0));
    Packet::Address { address, notify: false, updiscon: false, irreport, irdepth, irets: 0 }
}

fn branch(branches: u8, branch_map: u32, address: Option<ReportedAddress>) -> Packet {
    let (notify, updiscon, irreport, irdepth) = (false, false, false, 0);
    Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth, irets: 0 }
}

fn count(branch_count: u32, branch_fmt: u8, address: Option<ReportedAddress>) -> Packet {
    let (notify, updiscon, irreport, irdepth) = (false, false, false, 0);
    Packet::BranchCount { branch_count, branch_fmt, address, notify, updiscon, irreport, irdepth, irets: 0 }
}

fn target(index: u32, branches: u8, branch_map: u32, depth: Option<u32>) -> Packet {
    let (irreport, irdepth) = (depth.is_some(), depth.unwrap_or(0));
    Packet::JumpTargetIndex { index, branches, branch_map, irreport, irdepth, irets: 0 }
}

fn trap(privilege: u8, ecause: u64, thaddr: bool, address: Option<u64>, tval: Option<u64>) -> Packet {
    let (branch, time, context, interrupt) = (true, None, None, tval.is_none());
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

#[test]
fn synchronisation_packets() {
    use QualStatus::{EndedNtr, EndedRep, NoChange, TraceLost};
    let data = Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: NoChange,
        ioptions: 0,
        denable: true,
        dloss: false,
        doptions: 0,
    };
    check(
        &set_a(),
        &[
            ("X01", start(true, 3, 0x8000_0000), 38, "73 00 00 00 e0"),
            ("X02", start(false, 0, 0x2000_0104), 38, "03 41 00 00 08"),
            ("X03", start(true, 3, 0x1000), 38, "73 00 04"),
            ("X04", start(false, 3, 0x1008), 38, "63 02 04"),
            ("X05", trap(3, 2, true, Some(0x8000_0040), Some(0x1234)), 76, "77 11 04 00 00 48 23 01"),
            ("X06", trap(3, 7, true, Some(0x8000_0040), None), 44, "f7 1b 04 00 00 f8"),
            (
                "X07",
                trap(0, 12, false, Some(0x4000_0000), Some(0x4000_0000)),
                76,
                "17 06 00 00 00 04 00 00 00 04",
            ),
            ("X08", Packet::Context { privilege: 1, time: None, context: None }, 6, "1b"),
            ("X11", support(true, NoChange, 0), 19, "1f"),
            ("X12", support(true, NoChange, 4), 19, "1f 04"),
            ("X13", support(true, EndedRep, 0), 19, "5f"),
            ("X14", support(true, EndedNtr, 0), 19, "df 00"),
            ("X15", support(true, TraceLost, 0), 19, "9f 00"),
            ("X16", support(false, EndedRep, 0), 19, "4f"),
            ("X17", support(true, NoChange, 0x18), 19, "1f 18"),
            ("X18", data, 19, "1f 20"),
        ],
    );
    let implicit = Modes { implicit_exception: true, ..Modes::default() };
    check(
        &Parameters { modes: implicit, ..set_a() },
        &[
            ("X09", trap(3, 5, true, None, Some(0xffff_fffc)), 45, "f7 92"),
            ("X10", trap(3, 11, true, None, None), 13, "f7 fd"),
        ],
    );
}

#[test]
fn wide_synchronisation_packets() {
    let wide = Parameters {
        xlen: Xlen::Rv64,
        iaddress_width_p: 64,
        ecause_width_p: 6,
        nocontext_p: false,
        context_width_p: 32,
        ..set_a()
    };
    let start = |privilege, time, context, address| Packet::Start {
        branch: true,
        privilege,
        time,
        context: Some(context),
        address,
    };
    check(
        &wide,
        &[
            (
                "X20",
                start(1, None, 0x1234, Address(0xffff_ffff_8000_0000)),
                102,
                "33 1a 09 00 00 00 00 00 e0",
            ),
            ("X21", start(3, None, 0, Address(0x8000_0000)), 102, "73 00 00 00 00 00 00 00 20"),
            ("X22", Packet::Context { privilege: 0, time: None, context: Some(0x1235) }, 38, "4b 8d 04"),
        ],
    );
    check(
        &Parameters { context_width_p: 16, notime_p: false, time_width_p: 32, ..wide },
        &[(
            "X23",
            start(3, Some(0x1122_3344), 0xbeef, Address(0x8000_0010)),
            118,
            "73 a2 19 91 88 77 5f 04 00 00 20",
        )],
    );
}

#[test]
fn address_packets() {
    check(
        &set_a(),
        &[
            ("X30", address(Delta(0), false, false), 36, "02"),
            ("X31", address(Delta(4), false, false), 36, "0a"),
            ("X32", address(Delta(-4), false, false), 36, "fa"),
            ("X33", address(Delta(0x910), false, false), 36, "22 12"),
            ("X34", address(Delta(-0x204), false, false), 36, "fa fb"),
            ("X35", address(Delta(0x910), true, false), 36, "22 12 00 00 fe"),
            ("X36", address(Delta(0x910), false, true), 36, "22 12 00 00 fc"),
            ("X37", address(Delta(-0x204), true, false), 36, "fa fb ff ff 01"),
            ("X38", address(Delta(-0x204), false, true), 36, "fa fb ff ff 03"),
            ("X39", address(Delta(2), true, true), 36, "06 00 00 00 02"),
            ("X42", address(Delta(-0x8000_0000), false, false), 36, "02 00 00 00 ff"),
            ("X43", address(Delta(0x20), false, false), 36, "42"),
        ],
    );
    let full = Modes { full_address: true, ..Modes::default() };
    check(
        &Parameters { modes: full, ..set_a() },
        &[
            ("X40", address(Full(0x8000_0100), false, false), 36, "02 02 00 00 ff"),
            ("X41", address(Full(0x8000_0100), false, true), 36, "02 02 00 00 03"),
        ],
    );
    let wide = Parameters { xlen: Xlen::Rv64, iaddress_width_p: 64, ..set_a() };
    check(&wide, &[("X55", address(Delta(-4), false, false), 68, "fa")]);
    check(
        &Parameters { iaddress_lsb_p: 2, ..set_a() },
        &[
            ("X56", address(Delta(0x910), false, false), 35, "12 09"),
            ("X57", start(true, 3, 0x8000_0000), 37, "73 00 00 00 f0"),
        ],
    );
}

#[test]
fn branch_packets() {
    check(
        &set_a(),
        &[
            ("X44", branch(1, 0, Some(Delta(0xab0))), 42, "05 58 05"),
            ("X45", branch(1, 1, Some(Delta(0))), 42, "85 00"),
            ("X46", branch(2, 0b10, Some(Delta(-0x10c))), 44, "09 e9 fd"),
            ("X47", branch(3, 0b011, Some(Delta(0x148))), 44, "8d 91 02"),
            ("X48", branch(7, 0x55, Some(Delta(-2))), 48, "9d ea"),
            ("X49", branch(8, 0xaa, Some(Delta(0))), 56, "21 55"),
            ("X50", branch(16, 0x8001, Some(Delta(2))), 72, "c1 00 40 00 40"),
            ("X51", branch(31, 0x5555_5555, Some(Delta(0x40))), 72, "fd aa aa aa 2a 08"),
            ("X52", branch(0, 0, None), 38, "01"),
            ("X53", branch(0, 0x7fff_ffff, None), 38, "81"),
            ("X54", branch(0, 1 << 8, None), 38, "01 80 00"),
        ],
    );
}

#[test]
fn implicit_return_fields() {
    let updiscon = Packet::Branch {
        branches: 1,
        branch_map: 1,
        address: Some(Delta(0x10)),
        notify: false,
        updiscon: true,
        irreport: true,
        irdepth: 1,
        irets: 0,
    };
    check(
        &Parameters { return_stack_size_p: 3, ..set_a() },
        &[
            ("X60", returning(Delta(0x100), None), 40, "02 02"),
            ("X61", returning(Delta(0x100), Some(2)), 40, "02 02 00 00 28"),
            ("X62", returning(Delta(-0x100), None), 40, "02 fe"),
            ("X63", returning(Delta(-0x100), Some(2)), 40, "02 fe ff ff 27"),
            ("X64", updiscon, 46, "85 08 00 00 00 05"),
        ],
    );
}

#[test]
fn extension_packets() {
    let both = Modes { jump_target_cache: true, branch_prediction: true, ..Modes::default() };
    let extended = Parameters { f0s_width_p: 1, cache_size_p: 5, bpred_size_p: 4, modes: both, ..set_a() };
    check(
        &extended,
        &[
            ("X70", count(0, 0, None), 37, "00"),
            ("X71", count(1000, 0, None), 37, "40 1f"),
            ("X72", count(5, 2, Some(Delta(0x20))), 71, "28 00 00 00 10 02"),
            ("X73", count(5, 3, Some(Delta(-0x20))), 71, "28 00 00 00 18 fe"),
            ("X74", count(u32::MAX, 2, Some(Delta(0))), 71, "f8 ff ff ff 17"),
            ("X75", target(0x13, 0, 0, None), 14, "9c 00"),
            ("X76", target(0x1f, 2, 0b10, None), 17, "fc 42"),
            ("X77", target(3, 3, 0b101, None), 17, "1c a3"),
            ("X78", target(3, 3, 0b110, None), 17, "1c c3"),
        ],
    );
    check(
        &Parameters { f0s_width_p: 0, bpred_size_p: 0, ..extended.clone() },
        &[("X79", target(0x13, 0, 0, None), 13, "4c")],
    );
    check(
        &Parameters { f0s_width_p: 0, cache_size_p: 0, ..extended.clone() },
        &[("X80", count(0, 0, None), 36, "00")],
    );
    check(
        &Parameters { cache_size_p: 4, return_stack_size_p: 2, call_counter_size_p: 3, ..extended },
        &[
            ("X81", target(5, 0, 0, Some(3)), 19, "2c 70"),
            ("X82", target(5, 1, 1, None), 20, "ac f0"),
            ("X83", target(5, 1, 1, Some(1)), 20, "ac 50"),
        ],
    );
}

/// Examples printed in ET 13, where S04 is misprinted.
#[test]
fn examples_of_the_specification() {
    let printed = Parameters {
        iaddress_width_p: 40,
        iaddress_lsb_p: 0,
        nocontext_p: false,
        context_width_p: 32,
        ecause_width_p: 5,
        modes: Modes { full_address: true, ..Modes::default() },
        ..Parameters::default()
    };
    let start = |address| Packet::Start { branch: true, privilege: 3, time: None, context: Some(0), address };
    let trap = |ecause, thaddr, address, tval: Option<u64>| Packet::Trap {
        branch: true,
        privilege: 3,
        time: None,
        context: Some(0),
        ecause,
        interrupt: tval.is_none(),
        thaddr,
        address: Some(address),
        tval,
    };
    check(
        &printed,
        &[
            ("S01", branch(1, 0, Some(Full(0x8000_0104))), 51, "05 04 01 00 80 00"),
            ("S02", address(Full(0x8000_010c), false, false), 45, "32 04 00 00 02"),
            ("S03", trap(2, false, Address(0x8000_0222), Some(0)), 126, "77 00 00 00 00 81 88 00 00 20"),
            ("S04", start(Address(0x8000_01b0)), 79, "73 00 00 00 00 d8 00 00 40"),
            ("S05", branch(15, 0x5555, Some(Full(0x8000_01a2))), 65, "bd aa aa 68 00 00 20"),
            ("S06", trap(7, true, Address(0x8000_01b0), None), 86, "77 00 00 00 80 33 6c 00 00 20"),
            ("S07", support(true, QualStatus::NoChange, 4), 19, "1f 04"),
            ("S08", start(Address(0x2001_0522)), 79, "73 00 00 00 00 91 82 00 10"),
        ],
    );
}

#[test]
fn partial_compression_is_as_good_as_any() {
    let expected = Ok(address(Delta(4), false, false));
    for payload in ["0a", "0a 00", "0a 00 00 00 00"] {
        let payload = Payload::new(&bytes(payload)).expect("in range");
        assert_eq!(read(&set_a(), &payload), expected);
    }
}

#[test]
fn modes_announced_by_support_packets_hold_for_what_follows() {
    // X12 announces full address mode, X40 needs it; X11 takes it back.
    let wire = bytes("02 1f 04 05 02 02 00 00 ff 01 1f 01 fa");
    let packets: Vec<_> = dissect(&wire, &set_a()).into_iter().map(|unit| unit.packet).collect();
    assert_eq!(
        packets,
        [
            Some(Ok(support(true, QualStatus::NoChange, 4))),
            Some(Ok(address(Full(0x8000_0100), false, false))),
            Some(Ok(support(true, QualStatus::NoChange, 0))),
            Some(Ok(address(Delta(-4), false, false))),
        ]
    );
}

#[test]
fn a_dissection_names_every_field_of_every_unit() {
    let wire = bytes("00 02 22 12 03 01");
    let units = dissect(&wire, &set_a());
    let names = |unit: usize| -> Vec<_> {
        units[unit].fields.iter().map(|f| (f.name, f.bit, f.width, f.received, f.value)).collect()
    };
    let header = [("length", 0, 5, 5, 0), ("flow", 5, 2, 2, 0), ("extend", 7, 1, 1, 0)];
    assert_eq!((names(0), &units[0].packet), (header.to_vec(), &None));
    assert_eq!(
        names(1)[3..],
        [
            ("format", 16, 2, 2, 2),
            ("address", 18, 31, 14, 0x488),
            ("notify", 49, 1, 0, 0),
            ("updiscon", 50, 1, 0, 0),
            ("irreport", 51, 1, 0, 0),
        ]
    );
    assert_eq!((units[1].place, units[1].bytes.clone()), (Place { packet: 0, byte: 2, bit: 0 }, 1..4));
    let cut = units[2].packet.expect("a packet").expect_err("cut off");
    assert_eq!((cut.class, cut.place), (FaultClass::Truncated, Place { packet: 1, byte: 4, bit: 0 }));
    assert_eq!(units[2].bytes, 4..6);
    assert_eq!(units.len(), 3);
}
