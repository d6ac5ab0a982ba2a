//! Bytes -> packets: section 9.1 and D-09 to D-16 of the sheet, faults of packets, chunks.

use traceproof_vectors::arm_pft::{CycleCount, ExceptionInformation, Packet, Reason};
use traceproof_vectors::{Fault, Place};

use super::*;
use crate::arm_pft::{Listener, PacketReader, dissect};

/// Packets in words, and faults as `class@packet:byte.bit`.
#[derive(Default)]
struct Words(Vec<String>);

impl Listener for Words {
    fn packet(&mut self, _: Place, packet: &Packet) {
        self.0.push(word(packet));
    }

    fn lost(&mut self, fault: &Fault) {
        let Place { packet, byte, bit } = fault.place;
        self.0.push(format!("{}@{packet}:{byte}.{bit}", fault.class));
    }

    fn cut(&mut self, fault: &Fault) {
        self.lost(fault);
    }
}

/// `+cycles/bytes`, `!reserved`.
fn count(count: Option<CycleCount>) -> String {
    count.map_or(String::new(), |CycleCount { value, bytes, reserved }| {
        format!("+{value}/{bytes}{}", if reserved == 0 { String::new() } else { format!("!{reserved:x}") })
    })
}

fn exception(exception: Option<ExceptionInformation>) -> String {
    exception.map_or(String::new(), |ExceptionInformation { number, alt_isa, non_secure, hyp, reserved }| {
        let hyp = hyp.map_or("", |hyp| if hyp { ":H" } else { ":h" });
        let reserved = if reserved == 0 { String::new() } else { format!("!{reserved:x}") };
        let (alt, ns) = (if alt_isa { ":A" } else { "" }, if non_secure { ":NS" } else { "" });
        format!(":{number}{alt}{ns}{hyp}{reserved}")
    })
}

fn word(packet: &Packet) -> String {
    match *packet {
        Packet::AlignmentSync { zeros } => format!("A{zeros}"),
        Packet::InstructionSync {
            address,
            reason,
            non_secure,
            alt_isa,
            hyp,
            reserved,
            cycle_count,
            context_id,
        } => {
            let reason = match reason {
                Reason::Periodic => 0,
                Reason::TraceEnabled => 1,
                Reason::Overflow => 2,
                Reason::DebugExit => 3,
            };
            let flags = [(non_secure, ":NS"), (alt_isa, ":A"), (hyp, ":H")];
            let flags: String = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
            let reserved = if reserved == 0 { String::new() } else { format!("!{reserved:x}") };
            let context = context_id.map_or(String::new(), |id| format!("#{id:x}"));
            format!("I{reason}@{:x}{flags}{reserved}{}{context}", address.0, count(cycle_count))
        }
        Packet::Atoms { atoms, cycle_count } => format!("{atoms}{}", count(cycle_count)),
        Packet::BranchAddress { address, exception: information, cycle_count } => {
            format!("B{:x}/{}{}{}", address.bits, address.bytes, exception(information), count(cycle_count))
        }
        Packet::WaypointUpdate { address, information, even } => {
            let information = information.map_or(String::new(), |byte| format!(":{byte:x}"));
            format!("W{:x}/{}{information}{}", address.bits, address.bytes, if even { "!" } else { "" })
        }
        Packet::Trigger => "trigger".into(),
        Packet::ContextId { value } => value.map_or("cid".into(), |value| format!("cid{value:x}")),
        Packet::Vmid(vmid) => format!("vmid{vmid:x}"),
        Packet::Timestamp { clock_change, value, cycle_count } => {
            let change = if clock_change { "R" } else { "" };
            format!("T{:x}/{}{change}{}", value.bits, value.bytes, count(cycle_count))
        }
        Packet::ExceptionReturn => "eret".into(),
        Packet::Ignore => "ignore".into(),
    }
}

/// What is read from the wire in chunks of so many bytes.
fn read(reader: PacketReader, wire: &[u8], chunk: usize) -> String {
    let (mut reader, mut words) = (reader, Words::default());
    wire.chunks(chunk).for_each(|chunk| reader.push(chunk, &mut words));
    reader.finish(&mut words);
    reader.finish(&mut words);
    words.0.join(" ")
}

/// What is read after an A-sync (6 bytes, packet 0), the same for every chunk size, with and without fast
/// path.
fn packets(parameters: &Parameters, text: &str) -> String {
    let wire = bytes(&format!("{ALIGN} {text}"));
    let reader = || PacketReader::new(parameters).expect("possible");
    let whole = read(reader(), &wire, wire.len());
    for chunk in 1..wire.len() {
        assert_eq!(read(reader(), &wire, chunk), whole, "{text} by {chunk}");
    }
    assert_eq!(read(reader().without_fast_path(), &wire, 3), whole, "{text}");
    let units = dissect(&wire, parameters);
    let covered = units.iter().fold(0, |end, unit| {
        assert_eq!(unit.bytes.start, end, "{text}");
        let bits: u64 = unit.fields.iter().map(|field| u64::from(field.width)).sum();
        assert_eq!(bits, 8 * (unit.bytes.end - end), "{text}: {:?}", unit.fields);
        unit.bytes.end
    });
    assert_eq!(covered, wire.len() as u64, "{text}");
    whole.strip_prefix("A5").expect("an A-sync").trim_start().into()
}

fn all(parameters: &Parameters, rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(packets(parameters, text), *expected, "{text}");
    }
}

fn ts48() -> Parameters {
    Parameters::v1_0()
}

/// Rows 2 to 16 of 9.1.
#[test]
fn syncs_and_atoms() {
    all(
        &Parameters::default(),
        &[
            ("08 00 80 00 00 21", "I1@8000"),
            ("08 07 00 01 00 09", "I0@10007:NS"),
            ("08 35 12 00 00 6d", "I3@1235:NS:A"),
            ("84", "E"),
            ("86", "N"),
            ("8a", "EN"),
            ("8c", "NE"),
            ("96", "ENN"),
            ("a8", "ENEE"),
            ("bc", "NNNE"),
            ("c8", "EENEE"),
            ("f0", "NNEEE"),
        ],
    );
    let longest = "08 fc ff ff ff 29 fc ff ff ff 7f dd cc bb aa";
    all(
        &counting(4),
        &[
            ("08 28 63 03 c0 49 f0 17 78 56 34 12", "I2@c0036328:NS+380/2#12345678"),
            (longest, "I1@fffffffc:NS+4294967295/5#aabbccdd"),
        ],
    );
    all(&counting(1), &[("08 28 63 03 c0 2b 94 42", "I1@c0036328:NS:H+5/1#42")]);
}

/// Rows 17 to 25 of 9.1, D-10, D-11.
#[test]
fn cycle_counts() {
    all(
        &counting(4),
        &[
            ("80", "E+0/1"),
            ("82", "N+0/1"),
            ("84", "E+1/1"),
            ("be", "N+15/1"),
            ("bc", "E+15/1"),
            ("c0 01", "E+16/2"),
            ("f2 17", "N+380/2"),
            ("fc 7f", "E+2047/2"),
            ("c0 80 01", "E+2048/3"),
            ("fc ff 7f", "E+262143/3"),
            ("c0 80 80 01", "E+262144/4"),
            ("fc ff ff 7f", "E+33554431/4"),
            ("c0 80 80 80 01", "E+33554432/5"),
            ("fc ff ff ff 7f", "E+4294967295/5"),
            ("fc ff ff ff ff 84", "E+4294967295/5!4 E+1/1"),
            ("c0 00", "E+0/2"),
            ("09 00", "B4/1+0/1"),
            ("09 3c", "B4/1+15/1"),
            ("09 40 01", "B4/1+16/2"),
            ("09 7c ff 7f", "B4/1+262143/3"),
            ("09 c3 80 80 80 81", "B4/1+33554432/5!87"),
            ("08 00 80 00 00 21 80 00 00 00 00 80 84", "I1@8000+0/1#0 E+0/1 E+1/1"),
            ("08 00 80 00 00 21 03 00 00 00 00", "I1@8000+0/1!83#0"),
            ("08 00 80 00 00 01 00 00 00 00", "I0@8000#0"),
            ("6e 00 00 00 00 00 00 00 00 00 80", "cid0 A5"),
        ],
    );
}

/// Rows 26 to 47 of 9.1, D-09.
#[test]
fn branches() {
    all(
        &Parameters::default(),
        &[
            ("09", "B4/1"),
            ("81 01", "B40/2"),
            ("ff 3f", "Bfff/2"),
            ("81 c0 01", "B3000/3"),
            ("81 80 80 20", "B2000000/4"),
            ("81 80 80 c0 08", "B44000000/5"),
            ("f9 ac d1 91 11", "B891a2b3c/5"),
            ("f3 d9 a2 a3 22", "B112345679/5"),
            ("89 40 01", "B4/2:0:NS"),
            ("85 80 40 14", "B2/3:10"),
            ("85 40 93 00", "B2/2:9:NS:h"),
            ("8b 40 87 20", "B5/2:3:NS:H"),
            ("81 80 80 80 48 02", "B40000000/5:1"),
            ("81 80 80 80 88 84", "B440000000/5 E"),
            ("89 40 9e 1f", "B4/2:511:h"),
            ("85 40 b4 c0", "B2/2:10:h!e0"),
            ("c1 00 80 00", "B20/2 reserved-encoding@2:8.0"),
        ],
    );
    all(
        &counting(0),
        &[
            ("8d 80 fe ff 4f 1d 40 fa 01", "B7fffc006/5:14:NS+4000/3"),
            ("ff ff ff ff 4f 9d 00 7c ff ff ff 7f", "B7fffffff/5:14:NS:h+4294967295/5"),
        ],
    );
}

/// Rows 48 to 65 of 9.1, D-16.
#[test]
fn the_others() {
    all(
        &Parameters::default(),
        &[
            ("72 09", "W4/1"),
            ("72 08", "W4/1!"),
            ("72 f9 8e 82 80 0e", "W700043bc/5"),
            ("72 91 80 84 80 10", "W80008008/5"),
            ("72 91 80 84 80 50 40", "W80008008/5:40"),
            ("72 89 40 84", "W1004/2 E"),
            ("72 89 80 40 84", "W80004/3 E"),
            ("3c 05", "vmid5"),
            ("42 cc 97 c6 ce af 90 80 80 00", "T82f9d18bcc/9"),
            ("42 c8 19", "Tcc8/2"),
            ("42 ff ff ff ff ff ff ff ff ff", "Tffffffffffffffff/9"),
            ("42 80 80 80 80 80 80 80 01 0c", "T2000000000000/8 trigger"),
            ("42 80 80 80 80 80 80 80 80 01", "T100000000000000/9"),
            ("0c", "trigger"),
            ("76", "eret"),
            ("66", "ignore"),
            ("6e", "cid"),
        ],
    );
    all(&context(1), &[("6e 42", "cid42")]);
    all(&context(2), &[("6e 34 12", "cid1234")]);
    all(&context(4), &[("6e 3f 16 00 00", "cid163f")]);
    all(
        &ts48(),
        &[
            ("42 9c 84 80 80 80 80 00", "T21c/7"),
            ("42 1d", "T1d/1"),
            ("42 ff ff ff ff ff ff 3f", "Tffffffffffff/7"),
            ("42 ff ff ff ff ff ff ff 84", "T3ffffffffffff/7 E"),
        ],
    );
    all(
        &counting(0),
        &[
            ("46 49 00", "T49/1R+0/1"),
            ("42 ff ff ff ff ff ff ff ff ff 7c ff ff ff 7f", "Tffffffffffffffff/9+4294967295/5"),
        ],
    );
}

/// PFT-PKT-003 to PFT-PKT-008, PFT-ERR-001 to PFT-ERR-005, PFT-ERR-021 to PFT-ERR-023.
#[test]
fn what_cannot_be_read() {
    all(
        &Parameters::default(),
        &[
            ("00 00 00 00 80 84 00 00 00 00 00 80 84", "reserved-encoding@1:6.0 A5 E"),
            ("84 00 00 00 00 00 84 00 00 00 00 00 00 80 84", "E reserved-encoding@2:7.0 A6 E"),
            ("80", "reserved-encoding@1:6.0"),
            ("82 00 00 00 00 00 80 86", "reserved-encoding@1:6.0 A5 N"),
            ("04 84", "reserved-encoding@1:6.0"),
            ("84 10 00 00 00 00 00 80 84", "E reserved-encoding@2:7.0 A5 E"),
            ("7e", "reserved-encoding@1:6.0"),
            ("81 40", "truncated@1:6.0"),
            ("84 42 80", "E truncated@2:7.0"),
            ("84 00 00", "E truncated@2:7.0"),
            ("00 00 00 00 00 80 00 00 00 00 00 80 84", "A5 A5 E"),
        ],
    );
    for zeros in [16, 20, 21, 1000] {
        let wire = format!("{} 80 84", "00 ".repeat(zeros));
        assert_eq!(packets(&Parameters::default(), &wire), format!("A{zeros} E"));
    }
    let wire = bytes("84 00 00 80 00 00 00 00 80 42 00 00 00 00 00 00 80 84");
    let reader = || PacketReader::new(&Parameters::default()).expect("possible");
    for chunk in 1..wire.len() {
        assert_eq!(read(reader(), &wire, chunk), "A6 E", "before the first A-sync nothing is wrong");
    }
    assert_eq!(read(reader(), &[0; 9], 9), "", "no A-sync at all");
}

#[test]
fn parameters_that_no_ptm_has_are_refused() {
    assert!(PacketReader::new(&context(3)).is_err());
    assert!(dissect(&bytes(ALIGN), &context(3)).is_empty());
}
