//! The judge against hand-made logs: each way to agree and each way to differ.

use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::judge::{self, Expectation};
use traceproof_conformance::verdict::Divergence;
use traceproof_vectors::case::{Expected, ExpectedFault};
use traceproof_vectors::riscv_etrace::{
    Epc, Event, Packet, Parameters, Policy, ReportedAddress, RiscvEtrace, StopReason,
};
use traceproof_vectors::{
    Address, Capabilities, Fault, FaultClass, FaultDetail, Layer, Log, Place, Recovery, Sink,
};

type Result = std::result::Result<(), Box<Divergence>>;

const BOTH: [Layer; 2] = [Layer::Packets, Layer::Events];

fn address(delta: i64) -> Packet {
    let address = ReportedAddress::Delta(delta);
    Packet::Address { address, notify: false, updiscon: false, irreport: false, irdepth: 0, irets: 0 }
}

fn retire(first: u64, count: u64) -> Event {
    Event::Retire { first: Address(first), end: Address(first + 4 * count), count }
}

const fn trap(epc: Epc) -> Event {
    Event::Trap { interrupt: false, cause: 2, tval: Some(0), epc }
}

const STOP: Event = Event::Stop { reason: StopReason::Ended };

/// Packet `packet` starts at byte ten times its index.
const fn at(packet: u64) -> Place {
    Place { packet, byte: 10 * packet, bit: 0 }
}

fn expect(class: FaultClass, packet: u64) -> Expected<RiscvEtrace> {
    Expected::Fault(ExpectedFault { class, packet, byte: 10 * packet, bit: 0 })
}

fn events(events: &[Event]) -> Vec<Expected<RiscvEtrace>> {
    events.iter().copied().map(Expected::Event).collect()
}

enum Item {
    Packet(Packet),
    Event(Event),
    Fault(FaultClass),
}

use Item::{Event as E, Fault as F, Packet as P};

/// A log with the index of the packet of each entry.
fn log(entries: Vec<(u64, Item)>) -> Log<RiscvEtrace> {
    let mut log = Log::default();
    for (packet, entry) in entries {
        match entry {
            P(entry) => log.packet(at(packet), &entry),
            E(entry) => log.event(at(packet), &entry),
            F(class) => log.fault(&Fault::new(class, at(packet))),
        }
    }
    log
}

fn judged(expected: &[Expected<RiscvEtrace>], got: Vec<(u64, Item)>) -> Result {
    judged_by(expected, got, FaultDetail::Place)
}

fn judged_by(expected: &[Expected<RiscvEtrace>], got: Vec<(u64, Item)>, detail: FaultDetail) -> Result {
    judged_for(expected, got, &claims(&BOTH).with_faults(detail))
}

fn judged_for(expected: &[Expected<RiscvEtrace>], got: Vec<(u64, Item)>, claims: &Capabilities) -> Result {
    judge::decoding(Expectation { packets: None, events: Some(expected) }, &log(got), claims)
}

fn claims(layers: &[Layer]) -> Capabilities {
    Capabilities::new(layers.iter().copied()).with_warnings(true)
}

fn difference(result: Result) -> (usize, String, String, Option<u64>) {
    let divergence = result.expect_err("they differ");
    let side = |text: Option<&str>| text.unwrap_or("nothing").to_owned();
    let place = divergence.place.map(|place| place.packet);
    (divergence.index, side(divergence.expected()), side(divergence.got()), place)
}

fn differs(result: Result, index: usize, expected: &str, got: &str, packet: Option<u64>) {
    assert_eq!(difference(result), (index, expected.to_owned(), got.to_owned(), packet));
}

#[test]
fn cuts_carry_no_meaning() {
    let expected = events(&[retire(0x1000, 3), STOP]);
    let got = vec![(1, E(retire(0x1000, 1))), (2, E(retire(0x1004, 2))), (3, E(STOP))];
    judged(&expected, got).expect("equal");
}

#[test]
fn an_event_that_differs_is_found_with_the_packet_that_told_it() {
    let expected = events(&[retire(0x1000, 3), STOP]);
    // The second packet walks one instruction too far; the first two are one item.
    let got = vec![(1, E(retire(0x1000, 1))), (2, E(retire(0x1004, 3))), (3, E(STOP))];
    let (wanted, came) = ("retire first=0x1000 end=0x100c count=3", "retire first=0x1000 end=0x1010 count=4");
    differs(judged(&expected, got), 0, wanted, came, Some(2));
}

#[test]
fn missing_and_extra_events_are_found() {
    let expected = events(&[retire(0x1000, 1), STOP]);
    differs(judged(&expected, vec![(1, E(retire(0x1000, 1)))]), 1, "stop reason=ended", "nothing", Some(1));
    differs(judged(&expected, vec![]), 0, "retire first=0x1000 end=0x1004 count=1", "nothing", None);
    let got = vec![(1, E(retire(0x1000, 1))), (2, E(STOP)), (3, E(trap(Epc::Unknown)))];
    differs(
        judged(&expected, got),
        2,
        "nothing",
        "trap interrupt=false cause=2 tval=0x0 epc=unknown",
        Some(3),
    );
}

#[test]
fn what_is_unstated_equals_anything() {
    judged(&events(&[trap(Epc::Unstated)]), vec![(0, E(trap(Epc::At(Address(0x1000)))))])
        .expect("not stated");
    let (wanted, came) = (
        "trap interrupt=false cause=2 tval=0x0 epc=unknown",
        "trap interrupt=false cause=2 tval=0x0 epc=at(0x1000)",
    );
    let result = judged(&events(&[trap(Epc::Unknown)]), vec![(0, E(trap(Epc::At(Address(0x1000)))))]);
    differs(result, 0, wanted, came, Some(0));
}

#[test]
fn faults_are_compared_as_far_as_they_say_something() {
    let expected = [expect(FaultClass::NoCode, 2)];
    let class = || vec![(2, F(FaultClass::Truncated))];
    let place = || vec![(3, F(FaultClass::NoCode))];
    judged(&expected, vec![(2, F(FaultClass::NoCode))]).expect("equal");
    let wanted = "fault no-code at packet 2, byte 20.0";
    differs(judged(&expected, class()), 0, wanted, "fault truncated at packet 2, byte 20.0", Some(2));
    differs(judged(&expected, place()), 0, wanted, "fault no-code at packet 3, byte 30.0", Some(2));
    judged_by(&expected, place(), FaultDetail::Class).expect("the place is not said");
    let result = judged_by(&expected, class(), FaultDetail::Class);
    differs(result, 0, "fault no-code", "fault truncated", Some(2));
    judged_by(&expected, class(), FaultDetail::Flag).expect("nothing is said");
    let result = judged_by(&expected, vec![], FaultDetail::Flag);
    differs(result, 0, "fault no-code", "nothing", Some(2));
}

#[test]
fn a_fault_nobody_expects_is_found() {
    let expected = events(&[retire(0x1000, 2), STOP]);
    let got = vec![(1, E(retire(0x1000, 2))), (2, F(FaultClass::Contradiction)), (2, E(STOP))];
    differs(
        judged(&expected, got),
        1,
        "stop reason=ended",
        "fault contradiction at packet 2, byte 20.0",
        Some(2),
    );
}

#[test]
fn warnings_are_judged_of_a_subject_that_claims_them() {
    let expected = [expect(FaultClass::Suspicious, 1), Expected::Event(retire(0x1000, 1))];
    let silent = || vec![(1, E(retire(0x1000, 1)))];
    let other = || vec![(1, E(retire(0x1000, 1))), (2, F(FaultClass::Suspicious))];
    let wanted = "fault suspicious at packet 1, byte 10.0";
    differs(judged(&expected, silent()), 0, wanted, "retire first=0x1000 end=0x1004 count=1", Some(1));
    let claims = claims(&BOTH).with_warnings(false);
    judged_for(&expected, silent(), &claims).expect("no warnings are claimed");
    judged_for(&expected, other(), &claims).expect("no warnings are claimed");
    // What is left on both sides is compared as if no warning had come.
    let cut = events(&[retire(0x1000, 1), retire(0x1004, 1)]);
    let got = vec![(1, E(retire(0x1000, 1))), (1, F(FaultClass::Suspicious)), (1, E(retire(0x1004, 1)))];
    judged_for(&cut, got, &claims).expect("a warning parts nothing");
    let mut faulty = silent();
    faulty.push((2, F(FaultClass::NoCode)));
    let came = "fault no-code at packet 2, byte 20.0";
    differs(judged_for(&expected, faulty, &claims), 1, "nothing", came, Some(2));
}

#[test]
fn warnings_of_a_repetition_are_judged_as_claimed() {
    let first = || log(vec![(0, F(FaultClass::Suspicious)), (1, E(STOP))]);
    let second = || log(vec![(1, E(STOP))]);
    let again = |claims: &Capabilities| judge::repetition("again", &first(), &second(), claims);
    again(&claims(&BOTH).with_warnings(false)).expect("no warnings are claimed");
    again(&claims(&BOTH)).expect_err("they differ");
}

#[test]
fn repetitions_of_a_fault_before_resynchronisation_are_not_judged() {
    use FaultClass::{Contradiction, Framing, MissingOutcome as Lost, NotSynchronised as Unsynchronised};
    let mut expected = vec![expect(Lost, 1), expect(Unsynchronised, 2), expect(Unsynchronised, 3)];
    expected.extend(events(&[retire(0x1000, 1)]));
    expected.push(expect(Unsynchronised, 5));
    let end = || [(4, E(retire(0x1000, 1))), (5, F(Unsynchronised))];
    let with = |faults: &[(u64, FaultClass)]| {
        faults.iter().map(|&(packet, class)| (packet, F(class))).chain(end()).collect::<Vec<_>>()
    };
    judged(&expected, with(&[(1, Lost)])).expect("reported once");
    judged(&expected, with(&[(1, Lost), (2, Lost), (3, Lost), (3, Unsynchronised)]))
        .expect("reported for each");
    let came = "retire first=0x1000 end=0x1004 count=1";
    let wanted = "fault missing-outcome at packet 1, byte 10.0";
    differs(judged(&expected, with(&[])), 0, wanted, came, Some(1));
    // Another class is another fault.
    let other = judged(&expected, with(&[(1, Lost), (2, Framing)]));
    differs(other, 1, came, "fault framing at packet 2, byte 20.0", Some(2));
    // After an event that shows synchronisation everything is judged again.
    let silent = judged(&expected, vec![(1, F(Lost)), (4, E(retire(0x1000, 1)))]);
    differs(silent, 2, "fault not-synchronised at packet 5, byte 50.0", "nothing", Some(5));
    // The same place twice is one packet too many.
    let doubled = judged(&expected, with(&[(1, Lost), (1, Lost)]));
    differs(doubled, 1, came, "fault missing-outcome at packet 1, byte 10.0", Some(1));
    // A fault after which decoding goes on is reported each time.
    let twice = [expect(Contradiction, 1), expect(Contradiction, 2)];
    let once = judged(&twice, vec![(1, F(Contradiction))]);
    differs(once, 1, "fault contradiction at packet 2, byte 20.0", "nothing", Some(2));
}

#[test]
fn repetitions_need_no_class() {
    let flag = |expected: &[Expected<RiscvEtrace>], faults: &[u64]| {
        let got = faults.iter().map(|&packet| (packet, F(FaultClass::ReservedEncoding))).collect();
        judged_by(expected, got, FaultDetail::Flag)
    };
    let lost = [expect(FaultClass::NoCode, 1), expect(FaultClass::NotSynchronised, 2)];
    flag(&lost, &[1]).expect("reported once");
    flag(&lost, &[1, 2, 3]).expect("reported for each");
    flag(&lost, &[]).expect_err("not reported");
    let goes_on = [expect(FaultClass::Contradiction, 1), expect(FaultClass::Contradiction, 2)];
    flag(&goes_on, &[1, 2]).expect("each is reported");
    flag(&goes_on, &[1]).expect_err("one is not reported");
}

#[test]
fn what_has_no_position_in_the_flow_shows_no_synchronisation() {
    let context = Event::Context { privilege: 3, context: None, precise: false };
    let mut expected = vec![expect(FaultClass::NoCode, 1), expect(FaultClass::NotSynchronised, 2)];
    expected.extend(events(&[context]));
    expected.push(expect(FaultClass::NotSynchronised, 4));
    judged(&expected, vec![(1, F(FaultClass::NoCode)), (3, E(context))]).expect("reported once");
}

#[test]
fn a_fault_parts_what_would_be_joined() {
    let mut expected = events(&[retire(0x1000, 1)]);
    expected.push(expect(FaultClass::Suspicious, 1));
    expected.extend(events(&[retire(0x1004, 1)]));
    let got = vec![(1, E(retire(0x1000, 1))), (1, F(FaultClass::Suspicious)), (1, E(retire(0x1004, 1)))];
    judged(&expected, got).expect("equal");
}

#[test]
fn how_far_a_decoder_walks_before_a_limit_is_not_judged() {
    let mut expected = events(&[trap(Epc::Unknown), retire(0x1000, 1)]);
    expected.push(expect(FaultClass::Limit, 1));
    expected.extend(events(&[STOP]));
    let end = || [(1, F(FaultClass::Limit)), (2, E(STOP))];
    let mut far = vec![(1, E(trap(Epc::Unknown)))];
    far.extend((0..100).map(|lap| (1, E(retire(0x1000 + 8 * lap, 1)))));
    far.extend(end());
    judged(&expected, far).expect("only retirements differ");
    let mut near = vec![(1, E(trap(Epc::Unknown)))];
    near.extend(end());
    judged(&expected, near).expect("only retirements differ");
    let mut without_trap = vec![(1, E(retire(0x1000, 1)))];
    without_trap.extend(end());
    let wanted = "trap interrupt=false cause=2 tval=0x0 epc=unknown";
    differs(judged(&expected, without_trap), 0, wanted, "fault limit at packet 1, byte 10.0", Some(1));
    // After the fault everything is judged again.
    let got = vec![(1, E(trap(Epc::Unknown))), (1, F(FaultClass::Limit)), (2, E(retire(0x1000, 1)))];
    differs(
        judged(&expected, got),
        2,
        "stop reason=ended",
        "retire first=0x1000 end=0x1004 count=1",
        Some(2),
    );
}

#[test]
fn packets_are_compared_one_by_one() {
    let expected = [address(4), address(8)];
    let judged = |got: Vec<(u64, Item)>, layers: &[Layer]| {
        let expectation = Expectation { packets: Some(&expected), events: None };
        judge::decoding(expectation, &log(got), &claims(layers))
    };
    judged(vec![(0, P(address(4))), (1, P(address(8)))], &BOTH).expect("equal");
    let got = || vec![(0, P(address(4))), (1, P(address(-8)))];
    differs(judged(got(), &BOTH), 1, "address address=+0x8", "address address=-0x8", Some(1));
    judged(got(), &[Layer::Events]).expect("packets are not offered");
    differs(judged(vec![(0, P(address(4)))], &BOTH), 1, "address address=+0x8", "nothing", Some(0));
}

#[test]
fn results_come_in_stream_order() {
    let mut expected = events(&[retire(0x1000, 1), STOP]);
    expected.push(expect(FaultClass::Contradiction, 0));
    let got = || {
        vec![(1, P(address(4))), (1, E(retire(0x1000, 1))), (1, E(STOP)), (0, F(FaultClass::Contradiction))]
    };
    let wanted = "something of packet 1 or a later one";
    let came = "fault contradiction at packet 0, byte 0.0 of packet 0";
    differs(judged(&expected, got()), 3, wanted, came, Some(0));
    judged_by(&expected, got(), FaultDetail::Class).expect("places are not said");
    let got = vec![(1, P(address(4))), (0, P(address(4)))];
    differs(judged(&[], got), 1, wanted, "address address=+0x4 of packet 0", Some(0));
}

/// A decoder that waits for commits delivers older events after younger packets.
#[test]
fn places_of_events_need_not_ascend() {
    let expected = events(&[retire(0x1000, 1), STOP, retire(0x2000, 1)]);
    let committed = |first: Event, second: Event| {
        vec![
            (0, P(address(4))),
            (1, P(address(4))),
            (2, P(address(4))),
            (2, E(first)),
            (0, E(second)),
            (1, E(retire(0x2000, 1))),
        ]
    };
    judged(&expected, committed(retire(0x1000, 1), STOP)).expect("places do not count");
    // Their order does.
    let swapped = judged(&expected, committed(STOP, retire(0x1000, 1)));
    differs(swapped, 0, "retire first=0x1000 end=0x1004 count=1", "stop reason=ended", Some(2));
}

#[test]
fn bytes_are_compared_unit_by_unit() {
    let (parameters, policy) = (Parameters::default(), Policy::default());
    let mut got = Log::<RiscvEtrace> { wire: vec![1, 0x1f, 1, 0x0a], ..Log::default() };
    let expected = [1, 0x1f, 1, 0x0a];
    judge::encoding(None, &expected, &parameters, &policy, &got).expect("equal");
    got.wire = vec![1, 0x1f, 1, 0x12];
    let divergence = judge::encoding(None, &expected, &parameters, &policy, &got).expect_err("they differ");
    assert_eq!(divergence.index, 1);
    assert_eq!(divergence.place, Some(Place { packet: 1, byte: 3, bit: 0 }));
    assert_eq!((divergence.expected(), divergence.got()), (Some("0a"), Some("12")));
    got.wire = vec![1, 0x1f];
    differs(judge::encoding(None, &expected, &parameters, &policy, &got), 1, "0a", "nothing", Some(1));
}

struct Costs;

impl Visitor for Costs {
    type Output = Vec<Recovery>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        CLASSES.into_iter().map(P::recovery).collect()
    }
}

const CLASSES: [FaultClass; 16] = FaultClass::ALL;

/// What faults cost in a protocol, as the page of its family shows it.
fn table_of_costs(costs: &[Recovery]) -> String {
    let mut lines = vec![String::from("| class | cost |"), String::from("|---|---|")];
    lines.extend(CLASSES.iter().zip(costs).map(|(class, cost)| format!("| `{class}` | {} |", cost.name())));
    lines.join("\n")
}

#[test]
fn the_documentation_shows_what_faults_cost() {
    for protocol in family::IMPLEMENTED {
        let costs = family::visit(protocol, Costs).expect("implemented");
        let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/families");
        let page = std::path::Path::new(pages).join(format!("{}.md", protocol.name()));
        let page =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        assert!(page.contains(&table_of_costs(&costs)), "{protocol}:\n{}", table_of_costs(&costs));
    }
}
