//! What stands in case files is what the vocabulary means.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::arm_pft::{
    Atoms, CompressedAddress, CycleCount, Event, ExceptionInformation, FEATURES, Outcome, Packet, Signal,
    State, VariableField, Waypoint, WaypointKind,
};
use crate::case::Case;
use crate::{Address32, Protocol, ProtocolId};

#[derive(Debug, Serialize, serde::Deserialize)]
struct File<T> {
    entries: Vec<T>,
}

/// Reads entries as they stand in a file.
fn entries<T: DeserializeOwned>(toml: &str) -> Vec<T> {
    toml::from_str::<File<T>>(&format!("entries = [{toml}]")).expect(toml).entries
}

fn assembly() -> Assembly {
    let program = ".org 0x18\nIRQ: subs pc, lr, #4\n.org 0x8000\nA: mov r0, #1\ncmp r0, #0\nC: beq A\nD: bl F\n\
        .org 0x8020\nF: add r0, r0, #1\nG: bx lr\n.thumb\nT: bx lr\n";
    ArmPft::assemble(program, &Parameters::default()).expect("assembles")
}

fn state(address: u32) -> State {
    State { address: Address32(address), ..State::default() }
}

#[test]
fn lines_are_steps() {
    let lines = r#"{ enable = "A" }, { skip = "C", cycles = 7 }, { execute = "D", link = true, to = "F" },
        { repeat = 2 },
        { execute = "G", kind = "indirect", to = "T", isa = "t32", non_secure = true, timestamp = 9 },
        { exception = { number = 14, last = "T" }, to = "IRQ", isa = "a32" }, { non_secure = false }, { disable = true }"#;
    let steps = ArmPft::execution(&entries(lines), &assembly()).expect("resolves");
    let step = |cycles, timestamp, signal| Stimulus { cycles, timestamp, signal };
    let waypoint = |address, kind, executed, next| Waypoint {
        address: Address32(address),
        isa: InstructionSet::A32,
        size: 4,
        kind,
        link: false,
        exception_return: false,
        executed,
        next,
        previous: Some(Address32(address - 4)),
    };
    let thumb = State { isa: InstructionSet::T32, non_secure: true, ..state(0x8028) };
    let handler = State { non_secure: true, ..state(0x18) };
    let call = Waypoint { link: true, ..waypoint(0x800c, WaypointKind::Direct, true, state(0x8020)) };
    let exception = crate::arm_pft::Exception { number: 14, last: Some(Address32(0x8028)), handler };
    let expected = [
        step(1, 0, Signal::Enable(state(0x8000))),
        step(7, 0, Signal::Waypoint(waypoint(0x8008, WaypointKind::Direct, false, state(0x800c)))),
        step(1, 0, Signal::Waypoint(call)),
        step(1, 0, Signal::Idle),
        step(1, 0, Signal::Idle),
        step(1, 9, Signal::Waypoint(waypoint(0x8024, WaypointKind::Indirect, true, thumb))),
        step(1, 9, Signal::Exception(exception)),
        step(1, 9, Signal::NonSecure(false)),
        step(1, 9, Signal::Disable),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn contradictions_are_named() {
    for (line, message) in [
        (r#"{ execute = "C", to = "A", trigger = true }"#, "stimulus[0].trigger: a step has one signal"),
        (r#"{ execute = "C" }"#, "stimulus[0].to: a branch that is executed has a target"),
        (r#"{ skip = "C", to = "A" }"#, "stimulus[0].to: there is no branch that is executed"),
        (r#"{ to = "A" }"#, "stimulus[0].to: there is no waypoint in this step"),
        (r#"{ link = true }"#, "stimulus[0].link: there is no waypoint in this step"),
        (r#"{ hyp = true }"#, "stimulus[0].hyp: nothing changes it in this step"),
        (r#"{ isa = "a64" }"#, "stimulus[0].isa: PFT knows no A64"),
        (r#"{ exception = { number = 14 } }"#, "stimulus[0].to: an exception has a handler"),
        (r#"{ enable = "Z" }"#, "stimulus[0].enable: unknown label `Z`"),
        ("{ repeat = 2000000 }", "stimulus[0].repeat: more than 1048576 steps up to here"),
    ] {
        let problem = ArmPft::execution(&entries(line), &assembly()).expect_err(line);
        assert_eq!(problem.to_string(), message);
    }
}

#[test]
fn lines_are_events() {
    let lines = r#"{ trace_on = { reason = "trace_enabled", address = "A" } }, { instructions = "A..CN" },
        { cycles = { count = 3, total = 8 } }, { exception = { number = 14, returns_to = "D", address = "IRQ", non_secure = true } },
        { branch_to = { address = "T", isa = "t32" } }, { exception_return = {} }, { trigger = {} }, { context_id = "0x42" },
        { vmid = 7 }, { timestamp = { value = "0x3e8" } }, { timestamp = {} },
        { fault = { class = "contradiction", packet = 3, byte = 9 } }"#;
    let expected = ArmPft::expected(&entries(lines), &assembly()).expect("resolves");
    let a32 = InstructionSet::A32;
    let events = [
        Event::TraceOn {
            reason: Reason::TraceEnabled,
            address: Address32(0x8000),
            isa: a32,
            non_secure: false,
            hyp: false,
            context_id: None,
        },
        Event::Instructions {
            first: Address32(0x8000),
            end: Address32(0x800c),
            count: 3,
            isa: a32,
            non_secure: false,
            hyp: false,
            last: Outcome::NotExecuted,
        },
        Event::Cycles { count: 3, total: 8 },
        Event::Exception {
            number: 14,
            returns_to: Some(Address32(0x800c)),
            address: Address32(0x18),
            isa: a32,
            non_secure: true,
            hyp: false,
        },
        Event::BranchTo {
            address: Address32(0x8028),
            isa: InstructionSet::T32,
            non_secure: false,
            hyp: false,
        },
        Event::ExceptionReturn,
        Event::Trigger,
        Event::ContextId(0x42),
        Event::Vmid(7),
        Event::Timestamp { value: Some(1000), clock_change: false },
        Event::Timestamp { value: None, clock_change: false },
    ];
    assert_eq!(expected.len(), events.len() + 1);
    for (expected, event) in expected.iter().zip(events) {
        assert_eq!(*expected, Expected::Event(event));
    }
    assert!(matches!(expected.last(), Some(Expected::Fault(fault)) if fault.packet == 3));
}

#[test]
fn packets_are_read_back() {
    let address = CompressedAddress { bits: 0x2000, bytes: 3 };
    let packets = vec![
        Packet::AlignmentSync { zeros: 5 },
        Packet::InstructionSync {
            address: Address32(0x8001),
            reason: Reason::Overflow,
            non_secure: true,
            alt_isa: false,
            hyp: false,
            reserved: 0x80,
            cycle_count: Some(CycleCount::new(380)),
            context_id: Some(0x42),
        },
        Packet::Atoms { atoms: "EEN".parse().expect("atoms"), cycle_count: None },
        Packet::Atoms { atoms: Atoms::one(false), cycle_count: Some(CycleCount::new(0)) },
        Packet::BranchAddress { address, exception: None, cycle_count: None },
        Packet::BranchAddress {
            address,
            exception: Some(ExceptionInformation { number: 14, hyp: Some(true), ..Default::default() }),
            cycle_count: Some(CycleCount { value: 4, bytes: 2, reserved: 0 }),
        },
        Packet::WaypointUpdate { address, information: Some(0x40), even: false },
        Packet::Trigger,
        Packet::ContextId { value: Some(0x163f) },
        Packet::ContextId { value: None },
        Packet::Vmid(5),
        Packet::Timestamp {
            clock_change: true,
            value: VariableField { bits: u64::MAX, bytes: 9 },
            cycle_count: None,
        },
        Packet::ExceptionReturn,
        Packet::Ignore,
    ];
    let text = toml::to_string(&File { entries: packets.clone() }).expect("text");
    assert_eq!(toml::from_str::<File<Packet>>(&text).expect(&text).entries, packets);
    assert!(toml::from_str::<File<Packet>>("entries = [{ atoms = { atoms = \"\" } }]").is_err());
    let wide = "entries = [{ waypoint_update = { address = { bits = 0, bytes = 1 }, information = 256 } }]";
    assert!(toml::from_str::<File<Packet>>(wide).is_err());
}

#[test]
fn the_wire_is_lines_of_bytes() {
    let parameters = Parameters::default();
    let lines = ["00 00 00 00 00 80", "0800800000 21"].map(str::to_owned);
    let bytes = ArmPft::wire(&lines, &parameters).expect("reads");
    assert_eq!(bytes, [0, 0, 0, 0, 0, 0x80, 8, 0, 0x80, 0, 0, 0x21]);
    assert_eq!(ArmPft::show_wire(&bytes, &parameters), ["00 00 00 00 00 80 08 00 80 00 00 21"]);
    let problem = ArmPft::wire(&["84".to_owned(), "8".to_owned()], &parameters).expect_err("half a byte");
    assert_eq!(problem.to_string(), "wire[1]: a line is pairs of hexadecimal digits");
}

#[test]
fn a_case_is_read() {
    let text = r#"
        schema = 1
        id = "pft-0001"
        family = "arm_pft"
        title = "t"
        level = "must"
        clauses = ["PFT-PKT-004"]
        polarity = "positive"
        catches = "c"
        provenance = { kind = "directed" }
        parameters = { minor = 0, timestamp_bits = 48, timestamp_binary = false }
        policy = { atoms_per_packet = 1 }
        wire = ["0c"]
        packets = ["trigger"]
    "#;
    let case = Case::<ArmPft>::parse(text).expect("reads");
    assert_eq!(case.parameters, Parameters::v1_0());
    assert!(case.resolve().is_ok());
}

#[test]
fn features_are_those_of_the_family() {
    let everything = Parameters { cycle_accurate: true, return_stack: true, ..Parameters::v1_0() };
    let features = ArmPft::required_features(&everything, &[]);
    assert_eq!(features, ["pftv1_0", "cycle_accurate", "return_stack"]);
    assert!(features.iter().all(|feature| crate::Feature::names(&FEATURES).any(|name| name == *feature)));
    assert_eq!(ArmPft::ID, ProtocolId::ArmPft);
}

/// A decoder without ThumbEE is asked for no state that it does not have.
#[test]
fn cases_say_that_they_use_thumbee() {
    let files = crate::case::check::<ArmPft>(&crate::shipped::suites(), &crate::shipped::clauses());
    let mut count = 0;
    for file in files.expect("the rules are kept") {
        let case = &file.case;
        let lines = |text: &str| text.contains("T32Ee");
        let uses = lines(&format!("{:?}", case.events)) || lines(&format!("{:?}", case.stimulus));
        assert_eq!(case.parameters.thumbee, uses, "{}", case.id);
        count += usize::from(uses);
    }
    assert!(count > 15, "only {count}");
}

/// Every clause is in the registry, and none is both broken by wires and beyond cases.
#[test]
fn the_registry_is_in_order() {
    let registry = crate::clause::Registry::load(&crate::shipped::clauses(), ArmPft::FAMILY);
    let registry = registry.unwrap_or_else(|errors| panic!("{errors:?}"));
    for (group, count) in [("CFG", 16), ("PKT", 73), ("WPT", 29), ("ENC", 66), ("DEC", 81), ("ERR", 25)] {
        let prefix = format!("PFT-{group}-");
        let ids = registry.clauses.iter().filter(|clause| clause.id.starts_with(&prefix));
        assert!(
            ids.map(|clause| clause.id.clone()).eq((1..=count).map(|n| format!("{prefix}{n:03}"))),
            "{group}"
        );
    }
}

#[test]
fn every_shipped_case_keeps_the_rules() {
    let files = crate::case::check::<ArmPft>(&crate::shipped::suites(), &crate::shipped::clauses());
    let files = files.unwrap_or_else(|errors| {
        panic!(
            "{} errors:{}",
            errors.len(),
            errors.iter().map(|error| format!("\n{error}")).collect::<String>()
        )
    });
    for file in files {
        let Case { id, parameters, policy, .. } = &file.case;
        assert_eq!(parameters.check(), Ok(()), "{id}");
        assert_eq!(policy.check(parameters), Ok(()), "{id}");
    }
}
