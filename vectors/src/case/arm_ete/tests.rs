//! What stands in case files is what the vocabulary means.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::arm::{Context, SecurityState};
use crate::arm_ete::{
    Event, Exception, FEATURES, Outcome, P0, P0Kind, Packet, QElements, Signal, State, Version,
};
use crate::case::Case;
use crate::{Address, Protocol, ProtocolId};

#[derive(Debug, Serialize, serde::Deserialize)]
struct File<T> {
    entries: Vec<T>,
}

/// Reads entries as they stand in a file.
fn entries<T: DeserializeOwned>(toml: &str) -> Vec<T> {
    toml::from_str::<File<T>>(&format!("entries = [{toml}]")).expect(toml).entries
}

fn assembly() -> Assembly {
    let program = ".org 0x8000\nA: nop\ncmp x0, #1\nC: b.eq A\nD: bl F\nI: isb\n\
        .org 0x8020\nF: nop\nG: ret\n.thumb\nT: bx lr\n.a64\n.org 0xffff000000000280\nIRQ: eret\n";
    ArmEte::assemble(program, &Parameters::default()).expect("assembles")
}

/// The context of stimuli at first.
fn context() -> Context {
    Context::default()
        .with_security(SecurityState::NonSecure)
        .with_exception_level(Some(ExceptionLevel::El1))
        .with_64_bit(true)
        .with_vmid(Some(0))
        .with_context_id(Some(0))
}

fn state(address: u64) -> State {
    State { address: Address(address), isa: InstructionSet::A64, context: context() }
}

fn branch(address: u64, taken: bool, next: State) -> P0 {
    P0 {
        address: Address(address),
        isa: InstructionSet::A64,
        size: 4,
        kind: P0Kind::Direct,
        link: false,
        taken,
        next,
        instructions: 1,
        broadcast: false,
    }
}

/// The signals of lines, each of which takes one cycle at time 0.
fn signals(lines: &str) -> Vec<Signal> {
    let steps = ArmEte::execution(&entries(lines), &assembly()).expect(lines);
    steps
        .into_iter()
        .map(|step| {
            assert_eq!((step.cycles, step.timestamp), (1, 0));
            step.signal
        })
        .collect()
}

#[test]
fn lines_are_steps() {
    let lines = r#"{ enable = "A" }, { not_taken = "C", cycles = 7 }, 
        { taken = "D", link = true, to = "F", instructions = 4 }, { repeat = 2, timestamp = 9 },
        { taken = "I", kind = "isb", broadcast = true }, { disable = true }"#;
    let steps = ArmEte::execution(&entries(lines), &assembly()).expect("resolves");
    let step = |cycles, timestamp, signal| Stimulus { cycles, timestamp, signal };
    let call = P0 { link: true, instructions: 4, ..branch(0x800c, true, state(0x8020)) };
    let isb = P0 { kind: P0Kind::Isb, broadcast: true, ..branch(0x8010, true, state(0x8014)) };
    let expected = [
        step(1, 0, Signal::Enable(state(0x8000))),
        step(7, 0, Signal::P0(branch(0x8008, false, state(0x800c)))),
        step(1, 0, Signal::P0(call)),
        step(1, 9, Signal::Idle),
        step(1, 9, Signal::Idle),
        step(1, 9, Signal::P0(isb)),
        step(1, 9, Signal::Disable),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn context_and_instruction_set_are_those_of_the_next_instruction() {
    let lines = r#"{ taken = "G", kind = "indirect", to = "T", isa = "t32", context = "el0 context=5" },
        { exception = { number = 14, returns_to = "T" }, to = "IRQ", isa = "a64", context = "el1" },
        { context = "vmid=3" }, { taken = "IRQ", kind = "exception_return", to = "A" }"#;
    let thumb =
        context().with_exception_level(Some(ExceptionLevel::El0)).with_context_id(Some(5)).with_64_bit(false);
    let thumb = State { address: Address(0x8028), isa: InstructionSet::T32, context: thumb };
    let in_handler = context().with_context_id(Some(5));
    let handler = State { context: in_handler, ..state(0xffff_0000_0000_0280) };
    let other = in_handler.with_vmid(Some(3));
    let exception =
        Exception { number: 14, returns_to: thumb, handler, instructions: 0, fault_pending: false };
    let expected = [
        Signal::P0(P0 { kind: P0Kind::Indirect, ..branch(0x8024, true, thumb) }),
        Signal::Exception(exception),
        Signal::Context(other),
        Signal::P0(P0 {
            kind: P0Kind::ExceptionReturn,
            ..branch(0xffff_0000_0000_0280, true, State { context: other, ..state(0x8000) })
        }),
    ];
    assert_eq!(signals(lines), expected);
}

#[test]
fn speculation_and_the_rest_have_lines_of_their_own() {
    let lines = r#"{ commit = 2 }, { cancel = 3, to = "A" }, { mispredict = "D" }, { redirect = "F" },
        { transaction_start = true }, { transaction_commit = true }, { transaction_failure = "A" },
        { event = 3 }, { instrumentation = { exception_level = "el0", value = "0x1122" } }, { q_region = true },
        { view_inst = false }, { timestamp_request = true }, { sync_request = true }, { flush = true },
        { prohibited_entry = true }, { prohibited_exit = "A" }, { debug_exit = "D" }, { overflow = true },
        { insert = "conditional_flush" }, { exception = { number = 0 }, to = "A", instructions = 2 }"#;
    let reset = Exception {
        number: 0,
        returns_to: state(0),
        handler: state(0x8000),
        instructions: 2,
        fault_pending: false,
    };
    let expected = [
        Signal::Commit(2),
        Signal::Cancel { count: 3, next: state(0x8000) },
        Signal::Mispredict(state(0x800c)),
        Signal::Redirect(state(0x8020)),
        Signal::TransactionStart,
        Signal::TransactionCommit,
        Signal::TransactionFailure(state(0x8000)),
        Signal::Event(3),
        Signal::Instrumentation { exception_level: ExceptionLevel::El0, value: 0x1122 },
        Signal::QRegion(true),
        Signal::ViewInst(false),
        Signal::TimestampRequest,
        Signal::SyncRequest,
        Signal::Flush,
        Signal::ProhibitedEntry,
        Signal::ProhibitedExit(state(0x8000)),
        Signal::DebugExit(state(0x800c)),
        Signal::Overflow(true),
        Signal::Insert(Packet::ConditionalFlush),
        Signal::Exception(reset),
    ];
    assert_eq!(signals(lines), expected);
}

#[test]
fn contradictions_are_named() {
    for (line, message) in [
        (r#"{ taken = "C", to = "A", flush = true }"#, "stimulus[0].flush: a step has one signal"),
        (r#"{ taken = "C" }"#, "stimulus[0].to: a branch that is taken has a target"),
        (r#"{ not_taken = "C", to = "A" }"#, "stimulus[0].to: there is no branch that is taken"),
        (r#"{ taken = "I", kind = "isb", to = "A" }"#, "stimulus[0].to: there is no branch that is taken"),
        (r#"{ to = "A" }"#, "stimulus[0].to: there is no P0 instruction in this step"),
        (r#"{ link = true }"#, "stimulus[0].link: there is no P0 instruction in this step"),
        (r#"{ cancel = 1 }"#, "stimulus[0].to: execution goes on somewhere after a cancel"),
        (r#"{ isa = "a32" }"#, "stimulus[0].isa: nothing changes it in this step"),
        (r#"{ isa = "jazelle" }"#, "stimulus[0].isa: ETE knows no jazelle"),
        (
            r#"{ context = "aarch32" }"#,
            "stimulus[0].context: the instruction set says that the state is AArch32",
        ),
        (
            r#"{ exception = { number = 14 } }"#,
            "stimulus[0].exception.returns_to: only PE Reset (0) has none",
        ),
        (
            r#"{ exception = { number = 14, returns_to = "A" } }"#,
            "stimulus[0].to: an exception has a handler",
        ),
        (r#"{ enable = "Z" }"#, "stimulus[0].enable: unknown label `Z`"),
        ("{ repeat = 2000000 }", "stimulus[0].repeat: more than 1048576 steps up to here"),
    ] {
        let problem = ArmEte::execution(&entries(line), &assembly()).expect_err(line);
        assert_eq!(problem.to_string(), message);
    }
}

#[test]
fn lines_are_events() {
    let lines = r#"{ trace_info = { cycle_counting = true, cycle_threshold = 16, speculation = 3 } }, "trace_on",
        { context = "el1 non-secure vmid=0 context=0" }, { instructions = "A..CN t32 T?" },
        { unknown_path = { count = 3 } }, { unknown_path = {} }, "mispredict",
        { exception = { number = 14, returns_to = "D" } }, { exception = { number = 0 } },
        { cycles = { count = 3, total = 8 } }, { cycles = {} },
        { timestamp = { value = "0x3e8", cycles = 5, of = "marker" } }, { timestamp = {} }, "timestamp_marker",
        { event = 2 }, { instrumentation = { exception_level = "el1", value = "0x7" } },
        "transaction_start", "transaction_commit", "transaction_failure", "exception_return", "function_return",
        { data_sync_marker = { number = 5 } }, "overflow", "discard",
        { fault = { class = "contradiction", packet = 3, byte = 9 } }"#;
    let expected = ArmEte::expected(&entries(lines), &assembly()).expect("resolves");
    let run = |first, end, count, isa, last| Event::Instructions {
        first: Address(first),
        end: Address(end),
        count,
        isa,
        last,
    };
    let exception = |number, returns_to| Event::Exception { number, returns_to, fault_pending: false };
    let events = [
        Event::TraceInfo { cycle_counting: true, cycle_threshold: 16, speculation: 3, transactional: false },
        Event::TraceOn,
        Event::Context(context()),
        run(0x8000, 0x800c, 3, InstructionSet::A64, Outcome::NotTaken),
        run(0x8028, 0x802a, 1, InstructionSet::T32, Outcome::Passed),
        Event::UnknownPath { count: Some(3) },
        Event::UnknownPath { count: None },
        Event::Mispredict,
        exception(14, Some(Address(0x800c))),
        exception(0, None),
        Event::Cycles { count: Some(3), total: 8 },
        Event::Cycles { count: None, total: 0 },
        Event::Timestamp { value: Some(1000), cycles: Some(5), of: TimestampOf::Marker },
        Event::Timestamp { value: None, cycles: None, of: TimestampOf::Latest },
        Event::TimestampMarker,
        Event::Event { number: 2 },
        Event::Instrumentation { exception_level: ExceptionLevel::El1, value: 7 },
        Event::TransactionStart,
        Event::TransactionCommit,
        Event::TransactionFailure,
        Event::ExceptionReturn,
        Event::FunctionReturn,
        Event::DataSyncMarker { number: Some(5) },
        Event::Overflow,
        Event::Discard,
    ];
    assert_eq!(expected.len(), events.len() + 1);
    for (expected, event) in expected.iter().zip(events) {
        assert_eq!(*expected, Expected::Event(event));
    }
    assert!(matches!(expected.last(), Some(Expected::Fault(fault)) if fault.packet == 3));
    for (line, message) in [
        (r#"{ context = "el1" }"#, "events[0].context: `el1` lacks the exception level or security state"),
        (
            r#"{ exception = { number = 2, returns_to = "Z" } }"#,
            "events[0].exception.returns_to: unknown label `Z`",
        ),
    ] {
        let problem = ArmEte::expected(&entries(line), &assembly()).expect_err(line);
        assert_eq!(problem.to_string(), message);
    }
}

#[test]
fn programs_begin_with_the_instruction_set_of_the_processor() {
    let bytes = |parameters: &Parameters, text: &str| {
        let assembly = ArmEte::assemble(text, parameters).expect(text);
        assembly.program.sections()[0].bytes.clone()
    };
    let v4 = Parameters::etmv4(Version::Etmv4_2);
    let real_time = Parameters { profile: Profile::RealTime, address_bytes: 4, ..v4 };
    let microcontroller = Parameters { profile: Profile::Microcontroller, address_bytes: 4, ..v4 };
    assert_eq!(bytes(&v4, "nop"), [0x1f, 0x20, 0x03, 0xd5]);
    assert_eq!(bytes(&real_time, "nop"), [0x00, 0xf0, 0x20, 0xe3]);
    assert_eq!(bytes(&microcontroller, "nop"), [0x00, 0xbf]);
    assert!(ArmEte::assemble(".org 0x100000000\nnop", &real_time).is_err());
    assert!(ArmEte::assemble(".org 0x100000000\nnop", &v4).is_ok());
}

#[test]
fn the_wire_is_lines_of_bytes() {
    let parameters = Parameters::default();
    let lines = ["00*11 80", "0100 04", "82 00 08 00 00 31"].map(str::to_owned);
    let bytes = ArmEte::wire(&lines, &parameters).expect("reads");
    let mut expected = vec![0; 11];
    expected.extend([0x80, 1, 0, 4, 0x82, 0, 8, 0, 0, 0x31]);
    assert_eq!(bytes, expected);
    let shown = ArmEte::show_wire(&bytes, &parameters);
    assert_eq!(ArmEte::wire(&shown, &parameters).expect("reads"), expected);
    for (line, message) in [
        ("8", "wire[0]: a line is pairs of hexadecimal digits"),
        ("0000*2", "wire[0]: one byte is repeated, as in `00*11`"),
        ("00*", "wire[0]: a byte is repeated 1 to 65536 times"),
        ("00*0", "wire[0]: a byte is repeated 1 to 65536 times"),
        ("00*65537", "wire[0]: a byte is repeated 1 to 65536 times"),
        ("*3", "wire[0]: one byte is repeated, as in `00*11`"),
    ] {
        let problem = ArmEte::wire(&[line.to_owned()], &parameters).expect_err(line);
        assert_eq!(problem.to_string(), message, "{line}");
    }
}

#[test]
fn a_case_is_read() {
    let text = r#"
        schema = 1
        id = "ete-0001"
        family = "arm_ete"
        title = "t"
        level = "must"
        clauses = ["ETE-PKT-TON-001"]
        polarity = "positive"
        catches = "c"
        provenance = { kind = "directed" }
        parameters = { version = "etmv4.0", vmid_bytes = 0, context_id_bytes = 0 }
        policy = { atoms_per_packet = 1 }
        wire = ["04"]
        packets = ["trace_on"]
    "#;
    let case = Case::<ArmEte>::parse(text).expect("reads");
    assert_eq!(case.parameters, Parameters::etmv4(Version::Etmv4_0));
    assert!(case.resolve().is_ok());
}

#[test]
fn features_are_those_of_the_family() {
    let ete = Parameters {
        maxspec: 4,
        cycle_counting: true,
        return_stack: true,
        q_elements: QElements::Any,
        ..Parameters::default()
    };
    let features = ArmEte::required_features(&ete, &[]);
    assert_eq!(features, ["ete", "speculation", "cycle_counting", "q_elements", "return_stack"]);
    let v4 = Parameters {
        profile: Profile::Microcontroller,
        store_is_p0: true,
        data_trace: true,
        ..Parameters::etmv4(Version::Etmv4_0)
    };
    let more = ArmEte::required_features(&v4, &[]);
    assert_eq!(more, ["etmv4", "load_store_p0", "data_trace", "m_profile"]);
    let known = |feature: &&str| crate::Feature::names(&FEATURES).any(|name| name == *feature);
    assert!(features.iter().chain(&more).all(known));
    assert_eq!(ArmEte::ID, ProtocolId::ArmEte);
}

#[test]
fn every_shipped_case_keeps_the_rules() {
    let files = crate::case::check::<ArmEte>(&crate::shipped::suites(), &crate::shipped::clauses());
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
