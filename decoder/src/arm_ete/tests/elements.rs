//! Packets -> elements -> what takes effect: rows D-01 to D-23 and D-32 to D-36 of the additions.

use core::ops::ControlFlow;

use traceproof_vectors::arm_ete::Packet;

use super::super::element::CodePoint;
use super::super::history::History;
use super::super::{Listener, PacketReader};
use super::*;

/// The addresses that travelled, in order; of IS1 with `t`.
struct Addresses {
    history: History,
    texts: Vec<String>,
}

impl Listener for Addresses {
    fn packet(&mut self, _: Place, packet: &Packet) -> ControlFlow<()> {
        let field = match *packet {
            Packet::TargetAddress { address, .. } | Packet::SourceAddress(address) => Some(address),
            Packet::Q { address, .. } | Packet::Exception { address, .. } => address,
            _ => None,
        };
        if let Some(field) = field {
            let CodePoint { address, sub_isa } = self.history.take_address(field);
            let isa = if sub_isa == traceproof_vectors::arm_ete::SubIsa::Is1 { "t" } else { "" };
            self.texts.push(format!("{address:x}{isa}"));
        }
        ControlFlow::Continue(())
    }

    fn lost(&mut self, fault: &Fault) {
        panic!("{fault}");
    }

    fn cut(&mut self, fault: &Fault) {
        panic!("{fault}");
    }
}

/// D-11 to D-15, rows 42 to 52 of 10.1.
#[test]
fn addresses_are_those_of_the_history() {
    for (text, expected) in [
        ("9a 01 09 00 00 | 91 | 92 | 90", "1204 1000 1000 1000"),
        ("06 1d 95 01 | 9a 00 20 00 00 | 91 | 92", "1004 4000 1004 1004"),
        ("b4 05 | 91 | a1 03 | b1", "1014 1000 1014 1000"),
        (
            "85 00 02 08 08 00 00 ff ff 31 | 9a 04 02 08 08 | 95 84 01 | 96 05",
            "ffff000008080400 ffff000008080410 ffff000008080210 ffff00000808020at",
        ),
        ("96 81 10 | 95 01 | 96 00", "1002t 1004 1000t"),
        ("06 1d 95 ff 10", "21fc"),
        ("95 21", "1084"),
        ("95 81 10", "2004"),
        ("9a 21 7f 34 12", "1234fe84"),
        ("9b 21 ff 34 12", "1234ff42t"),
        ("9d 21 02 34 12 78 56 bc 9a", "9abc567812340484"),
        ("9e 21 81 34 12 00 00 80 ff", "ff80000012348142t"),
        ("a0 05", "1000"),
        ("a5 86 1c 03", "3818"),
        ("b4 48", "1120"),
        ("b5 c8 22", "2290t"),
        ("a2 ff 01", "0"),
    ] {
        let mut addresses = Addresses { history: History::new(&c1()), texts: Vec::new() };
        let mut reader = PacketReader::new(&c1()).expect("possible");
        reader.push(&bytes(&format!("{ALIGN} 82 00 08 00 00 31 {text}")), &mut addresses);
        reader.finish(&mut addresses);
        assert_eq!(addresses.texts[1..].join(" "), expected, "{text}");
    }
}

/// D-01 to D-05.
#[test]
fn implied_commits_take_the_oldest() {
    let branches = branches();
    let story = |maxspec, text: &str| story(&c0(maxspec), &branches, text);
    let expected = format!("Info On 1ns64{}", " 1000E".repeat(21));
    assert_eq!(story(3, &format!("{P} d4")), expected);
    assert_eq!(story(2, &format!("{P} f7 f7 35")), "Info On 1ns64 1000E");
    assert_eq!(story(2, &format!("{P} f7 f7 35 2d 01")), "Info On 1ns64 1000E 1000N");
    let unseen = "01 04 02 04 82 00 08 00 00 31";
    assert_eq!(story(8, &format!("{unseen} f7 f7 2d 03")), "Info On 1ns64 1000E");
    assert_eq!(story(8, &format!("{unseen} f7 f7 2d 02")), "Info On 1ns64");
    assert_eq!(story(3, &format!("{unseen} f7 f7 f7 f7")), "Info On 1ns64 1000E");
    assert_eq!(story(3, &format!("{unseen} f7 f7 f7")), "Info On 1ns64");
    // All that is committed at once where there is no speculation.
    assert_eq!(story(0, &format!("{P} f7 f6")), "Info On 1ns64 1000E 1000N");
}

#[test]
fn a_cancel_crosses_a_trace_info() {
    let again = "82 00 08 00 00 31";
    let wire = format!("f7 f7 {ALIGN} 01 04 02 {again} f7 2e 02 {again} f7 2d 02");
    assert_eq!(after_p(&c0(8), &branches(), &wire), "1000E Info 1ns64 1000E");
    // What was not seen takes context and address along.
    let wire = format!("01 04 02 04 {again} f7 2e 02 f7 {again} f7 2d 03");
    assert_eq!(story(&c0(8), &branches(), &wire), "Info On 1ns64 1ns64 1000E");
}

/// D-06, D-07, D-10, rows 22 to 30 of 10.1: with the threshold 0x10.
#[test]
fn cycle_counts_come_with_commits() {
    let branches = branches();
    for (maxspec, text, expected) in [
        (4, "f7 f7 0d c5", "1000E +21=21"),
        (4, "f7 0d cf", "1000E +31=31"),
        (8, "f7 0e 01 00", "1000E +16=16"),
        (8, "0e 00 00", "+16=16"),
        (8, "f7 0f 00", "+?=0"),
        (8, "f7 0f 01", "1000E +?=0"),
        (8, "f7 f7 f7 f7 0c 3a", "1000E 1000E 1000E 1000E +26=26"),
        (8, "f7 f7 f7 1b 0e 00 05", "1000E 1000E 1000E +19=19 +21=40"),
        (8, "0e 00 05 0f 00 0e 00 01", "+21=21 +?=0 +17=17"),
    ] {
        let story = story(&c0(maxspec), &branches, &format!("{P_COUNTING} {text}"));
        assert_eq!(story, format!("Info On 1ns64 {expected}"), "{text}");
    }
    for (text, expected) in
        [("10", "+16=16"), ("13", "+19=19"), ("0d f3", "+19=19"), ("0f", "+?=0"), ("0e 84 09", "+1172=1172")]
    {
        let story = story(&c1(), &branches, &format!("{P_COUNTING} {text}"));
        assert_eq!(story, format!("Info On 1ns64 {expected}"), "{text}");
    }
    // Without INFO.CC there is no threshold; 0 cycles are UNKNOWN.
    assert_eq!(story(&c1(), &branches, "01 0c 02 10 12 10"), "Info +2=2 +?=0");
}

#[test]
fn trace_info_says_what_it_says() {
    let log = log_within(&DecoderLimits::default(), &c0(2000), &Program::new(), "01 0d 41 ac 0a 80 02");
    let events: Vec<_> = log.events().copied().collect();
    let expected = Event::TraceInfo {
        cycle_counting: true,
        cycle_threshold: 0x100,
        speculation: 1324,
        transactional: true,
    };
    assert_eq!(events, [expected]);
}

/// Rows 32 to 34 of 10.1, I_XYDNP, I_HVWCN.
#[test]
fn cancels_and_mispredicts_take_the_youngest() {
    for (text, expected) in [
        ("f7 f7 f7 2e 03 f6 2d 01", "1000N"),
        ("f7 f7 2f 01 2d 01", "1000N"),
        ("f7 31 2d 02", "1000E 1000N"),
        ("32 2d 02", "1000E 1000N"),
        ("33 2d 01", "1000E"),
        ("f7 33 2d 02", "1000E 1000E"),
        ("f6 30 30 2d 01", "1000N"),
        ("f7 35 2d 01", "1000N"),
        ("f7 36 2d 02", "1000E 1000N"),
        ("f7 37 2d 01", "1000N"),
        ("f7 f7 39 2d 01", "1000N"),
        ("fb 38 f7 2d 02", "1000N 1004E"),
        ("fb 3b 2d 01", "1000N"),
        ("f7 9a 01 08 00 00 30 2d 01 f7 2d 01", "1000N 1004E"),
        ("f7 9a 02 08 00 00 2d 01 f6 2d 01", "1000E 1008N"),
        // So does an UNKNOWN one of a PE Reset that is cancelled.
        ("f7 06 40 70 34 f7 2d 02", "1000N 1004E"),
        // An exception between them keeps its address.
        ("f7 06 1d 90 30 2d 02", "1000N Exc14@1000"),
    ] {
        assert_eq!(after_p(&c0(8), &branches(), text), expected, "{text}");
    }
}

/// I_MDSCN, A23: of a committed atom.
#[test]
fn mispredicts_can_come_late() {
    for (text, expected) in [
        ("f6 2d 01 30 f7 2d 01", "1000N Mis 1000E"),
        ("f7 2d 01 30 f7 2d 01", "1000E Mis 1004E"),
        ("f7 2d 01 30 30 f7 2d 01", "1000E Mis Mis 1000E"),
        ("f7 2d 01 9a 02 08 00 00 30 f7 2d 01", "1000E Mis 1004E"),
        ("f7 2d 01 06 1d 90 2d 01 30 90 f7 2d 01", "1000E Exc14@1000 Mis 1000E"),
        ("30", ""),
        // It refers to the atom that is held.
        ("f7 2d 01 f7 30 2d 01", "1000E 1000N"),
        // What is unknown stays so.
        ("04 f7 2d 01 90 30 f7 2d 01", "On"),
    ] {
        assert_eq!(after_p(&c0(8), &branches(), text), expected, "{text}");
    }
    assert_eq!(after_p(&c1(), &branches(), "31 f7"), "1000E Mis 1004E");
    assert_eq!(after_p(&c1(), &branches(), "f7 33 f7"), "1000E 1000N Mis 1000E");
}

/// D-18, D-16, D-17, A12, and 6.1: what is kept.
#[test]
fn what_is_no_p0_element_keeps_its_place() {
    for (text, expected) in [
        ("06 1d 82 01 08 00 00 30 | 80 | 2d 01", "0ns64 1000? Exc14@1004 0ns64"),
        ("06 5c 82 01 08 00 00 30 | 2d 01", "0ns64 Exc14@1004"),
        ("06 01 95 01 | 90 f6 2d 02", "Exc0@? 1004N"),
        ("06 01 70 | 2d 01", "Exc0@?"),
        ("f7 71 09 01 05 00 00 00 00 00 00 00 02 05 2d 01", "1000E Ev0 Iel1=5 T5b"),
        ("f7 71 f7 02 05 2e 01 72 2d 01", "1000E Ev0 T5b Ev1"),
        ("f7 71 f7 02 05 2e 02 72", "Ev0 T5b Ev1"),
        ("f7 71 02 05 88 81 30 04 09 00 01 00 00 00 00 00 00 00 00 03", "Ev0 T5b Iel0=1 Dis"),
        ("f7 2d 01 f7 71 00 05 90 f7 2d 01", "1000E Ev0 Ovf"),
        ("7f", "Ev0 Ev1 Ev2 Ev3"),
        ("70 79", "Ev0 Ev3"),
    ] {
        assert_eq!(after_p(&c0(8), &branches(), text), expected, "{text}");
    }
    // D-21: before any Trace Info; other packets mean nothing there.
    let early = "7f f7 2d 05 80 88 02 05 00 03 09 02 07 00 00 00 00 00 00 00 0a 01 00 71";
    assert_eq!(story(&c0(8), &branches(), early), "Ev0 Ev1 Ev2 Ev3 Dis Iel2=7 Info Ev0");
}

/// D-19, D-20, D-34, D-36, R_VWJVC, R_JNWJY.
#[test]
fn timestamps() {
    let unmarked = Parameters { timestamp_markers: false, ..c1() };
    for (text, expected) in [
        ("02 92 cb 81 80 ff ff ff ff ff", "T18446744073441142162"),
        ("02 92 cb 81 80 ff ff ff ff ff 02 05", "T18446744073441142162 T18446744073441142149"),
        ("02 d7 df 01 01 00 02 05", "T28631 Info T5"),
        ("02 c0 a1 c5 97 80 80 00", "T49369280"),
        ("03 85 01 00", "T133/0"),
        ("03 00 ff ff 3f", "T?/1048575"),
        ("02 00", "T?"),
    ] {
        assert_eq!(after_p(&unmarked, &branches(), text), expected, "{text}");
    }
    let restart = format!("88 00 05 {ALIGN} 01 00 02 05");
    assert_eq!(after_p(&c1(), &branches(), &restart), "Mark Ovf Info T5b");
    assert_eq!(after_p(&c1(), &branches(), "88 02 05 02 06"), "Mark T5m T6b");
    let text = "f7 88 f7 88 02 05 2e 01 2d 01";
    assert_eq!(after_p(&c0(8), &branches(), text), "1000E Mark Mark T5m");
}

/// D-22, D-23, A14, 8.3.
#[test]
fn transactions() {
    let not_p0 = Parameters { commtrans: true, ..c0(8) };
    for (text, expected) in [
        ("f7 f7 0a f6 f7 3c 2d 01", "1000N"),
        ("f7 | 0a | f7 | 2d 01 | 06 31 70 | 9a 00 08 00 00", "1000E"),
        ("f7 | 0a | f7 | 2d 01 | 06 31 70 | 9a 00 08 00 00 | f7 | 2d 03", "1000E Start Fail 1000E"),
        ("0a 2d 01 f7 71 2d 01 0b", "Start 1000E Ev0 Commit"),
        ("0a 2d 01 f7 81 30 88 71 0e 01 05 06 31 70 90 f7", "Start 0ns64 Mark Ev0 +5=5 Fail"),
        ("0a 2d 01 f7 2d 01 06 01 70 2d 01", "Start Fail Exc0@?"),
        ("0a 2d 01 71 f7 72 00 03", "Start Ev0 Ev1 Fail Dis"),
        ("0a 2d 01 f7 2d 01 30 0b", "Start 1000N Commit"),
        ("f7 2d 01 0a 2d 01 30 0b f7 2d 01", "1000E Start Mis Commit 1000E"),
        ("0b 06 31 70", "Commit Fail"),
        ("0a 2d 01 0a 2d 01 0b", "Start Start Commit"),
    ] {
        assert_eq!(after_p(&c0(8), &branches(), text), expected, "{text}");
    }
    assert_eq!(after_p(&not_p0, &branches(), "f7 f7 0a f6 f7 3a 2d 01"), "1000N");
    assert_eq!(after_p(&not_p0, &branches(), "f7 0a f7 2d 02 0b"), "1000E Start 1000E Commit");
    assert_eq!(after_p(&c1(), &branches(), "0a f7 0b"), "Start 1000E Commit");
    // T of the first Trace Info; of a later one it means nothing.
    let open = "01 01 40 04 82 00 08 00 00 31";
    assert_eq!(story(&c1(), &branches(), &format!("{open} f7")), "Info");
    assert_eq!(story(&c1(), &branches(), &format!("{open} f7 0b")), "Info On 1ns64 1000E Commit");
    assert_eq!(after_p(&c1(), &branches(), "01 01 40 f7"), "Info 1000E");
}

/// D-32, D-33.
#[test]
fn contexts() {
    let text = "81 f1 04 03 02 01 05 00 00 00 | 81 31 | 81 b1 06 00 00 00 | 01 00 | 81 31 | 80";
    let expected = "1ns64v1020304c5 1ns64v1020304c5 1ns64v1020304c6 Info 1ns64 1ns64";
    assert_eq!(after_p(&c1(), &branches(), text), expected);
    let text = "80 | 01 00 | 80 | 81 32 | 81 2a | 81 1b | 81 11 | 81 39";
    let expected = "1ns64 Info 0s32 2ns64 2realm32 3root64 1s64 1realm64";
    assert_eq!(after_p(&c1(), &branches(), text), expected);
}
