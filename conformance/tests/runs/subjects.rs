//! The runner and its reports against subjects that are wrong in one way each.

use std::path::Path;
use std::time::Duration;

use traceproof_conformance::report::{coverage, explain, json, junit, text};
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_conformance::verdict::{Kind, Verdict};
use traceproof_conformance::{Direction, Options, Run, Selection, Subject, run};
use traceproof_decoder::riscv_etrace::Decoder as Reference;
use traceproof_encoder_model::riscv_etrace::Encoder as Model;
use traceproof_vectors::riscv_etrace::{Event, Packet, Parameters, Policy, RiscvEtrace, Stimulus};
use traceproof_vectors::{
    Capabilities, Decoder, Encoder, EncoderSink, Family, Fault, FaultClass, Place, Program, Protocol,
    Recovery, Refusal, Sink,
};

/// What a decoder does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// Does not report that tracing stopped.
    DropsEvent,
    /// Gives one class of faults the name of another.
    FlipsFaultClass,
    /// Leaves out address packets.
    DropsPacket,
    /// Loses what a chunk border cuts.
    LosesPieces,
    /// Keeps the stream over a reset.
    IgnoresReset,
    Panics,
    Hangs,
    /// Claims 64-bit harts and refuses them.
    Refuses,
    /// Does not claim 64-bit harts.
    Narrow,
    /// Reports no warnings, which is no bug for it does not claim them.
    NoWarnings,
    /// Does not claim warnings, and leaves out errors.
    NoFaults,
}

impl Bug {
    fn is_silent(self) -> bool {
        matches!(self, Self::NoWarnings | Self::NoFaults)
    }
}

struct Wrong {
    inner: Reference,
    bug: Bug,
}

impl Wrong {
    fn subject(bug: Bug) -> Subject {
        Subject::new("acme", "2.3.1")
            .with_decoder::<RiscvEtrace>(move || Box::new(Self { inner: Reference::default(), bug }))
    }
}

impl Decoder<RiscvEtrace> for Wrong {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.inner.capabilities();
        if self.bug == Bug::Narrow {
            capabilities.features.remove("rv64");
        }
        capabilities.with_warnings(!self.bug.is_silent())
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        if self.bug == Bug::Refuses && parameters.iaddress_width_p == 64 {
            return Err(Refusal::unsupported("rv64"));
        }
        self.inner.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        match self.bug {
            Bug::Panics => panic!("index out of bounds: the len is 4 but the index is {}", chunk.len()),
            Bug::Hangs => std::thread::sleep(Duration::from_secs(60)),
            Bug::LosesPieces if chunk.len() == 1 => return,
            _ => {}
        }
        self.inner.push(chunk, &mut Filter { sink, bug: self.bug });
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        self.inner.finish(&mut Filter { sink, bug: self.bug });
    }

    fn reset(&mut self) {
        if self.bug != Bug::IgnoresReset {
            self.inner.reset();
        }
    }
}

struct Filter<'a> {
    sink: &'a mut dyn Sink<RiscvEtrace>,
    bug: Bug,
}

impl Sink<RiscvEtrace> for Filter<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        if self.bug != Bug::DropsPacket || !matches!(packet, Packet::Address { .. }) {
            self.sink.packet(place, packet);
        }
    }

    fn event(&mut self, place: Place, event: &Event) {
        if self.bug != Bug::DropsEvent || !matches!(event, Event::Stop { .. }) {
            self.sink.event(place, event);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        let mut fault = *fault;
        if self.bug == Bug::FlipsFaultClass {
            fault.class = FaultClass::Framing;
        }
        if self.bug == Bug::NoFaults || self.bug == Bug::NoWarnings && fault.class.is_warning() {
            return;
        }
        self.sink.fault(&fault);
    }
}

/// An encoder whose bytes are not those of its packets.
struct LosesByte(Model);

struct LastByteLost<'a>(&'a mut dyn EncoderSink<RiscvEtrace>);

impl EncoderSink<RiscvEtrace> for LastByteLost<'_> {
    fn packet(&mut self, packet: &Packet) {
        self.0.packet(packet);
    }

    fn wire(&mut self, bytes: &[u8]) {
        let kept: Vec<u8> = bytes.iter().map(|&byte| if byte == 0x12 { 0x22 } else { byte }).collect();
        self.0.wire(&kept);
    }
}

impl Encoder<RiscvEtrace> for LosesByte {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.0.begin(parameters, policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.0.step(stimulus, &mut LastByteLost(sink));
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.0.finish(&mut LastByteLost(sink));
    }
}

/// Three cases that stay as they are, so that reports can be compared.
fn directories() -> Directories {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    Directories::new(data.join("suites"), data.join("clauses"))
}

/// The only family of the sample suite.
fn one_family() -> Selection {
    Selection { families: vec![Family::RiscvEtrace], ..Selection::default() }
}

fn judged(subject: &Subject) -> Run {
    let deadline = Duration::from_millis(if subject.name() == "slow" { 100 } else { 10_000 });
    let options = Options {
        directories: directories(),
        selection: one_family(),
        directions: vec![Direction::Decode, Direction::Chunks, Direction::Encode, Direction::Write],
        deadline,
        ..Options::default()
    };
    run(subject, &options, &|_| {}).expect("the sample suite is sound")
}

/// Verdicts as `id direction verdict`, without those that passed.
fn verdicts(bug: Bug) -> Vec<String> {
    let mut lines = Vec::new();
    for case in judged(&Wrong::subject(bug)).cases {
        for check in case.checks.iter().filter(|check| check.verdict.kind() != Kind::Pass) {
            lines.push(format!("{} {} {}", case.id, check.direction, check.verdict.kind()));
        }
    }
    lines
}

#[test]
fn the_reference_passes_in_every_direction() {
    let run = judged(&Subject::reference());
    assert!(run.is_success(), "{}", text::report(&run, text::Style::default()));
    let directions: Vec<Direction> = run.tallies().into_keys().map(|(_, direction)| direction).collect();
    assert_eq!(directions, [Direction::Decode, Direction::Chunks, Direction::Encode, Direction::Write]);
}

#[test]
fn each_bug_is_found_where_it_shows() {
    let expected: [(Bug, &[&str]); 9] = [
        (Bug::None, &[]),
        (Bug::DropsEvent, &["etr-9002 decode fail", "etr-9001 decode fail", "etr-9003 decode fail"]),
        (Bug::FlipsFaultClass, &["etr-9002 decode fail"]),
        (Bug::DropsPacket, &["etr-9002 decode fail", "etr-9001 decode fail"]),
        (Bug::LosesPieces, &["etr-9002 chunks fail", "etr-9001 chunks fail", "etr-9003 chunks fail"]),
        (Bug::IgnoresReset, &["etr-9002 chunks fail", "etr-9001 chunks fail", "etr-9003 chunks fail"]),
        (
            Bug::Panics,
            &[
                "etr-9002 decode crash",
                "etr-9002 chunks crash",
                "etr-9001 decode crash",
                "etr-9001 chunks crash",
                "etr-9003 decode crash",
                "etr-9003 chunks crash",
            ],
        ),
        (Bug::Refuses, &["etr-9003 decode undeclared", "etr-9003 chunks undeclared"]),
        (Bug::Narrow, &["etr-9003 decode unsupported", "etr-9003 chunks unsupported"]),
    ];
    for (bug, expected) in expected {
        assert_eq!(verdicts(bug), expected, "{bug:?}");
    }
}

#[test]
fn warnings_are_not_demanded_of_a_subject_that_does_not_claim_them() {
    let failures = |bug| {
        let directions = vec![Direction::Decode, Direction::Chunks];
        let options = Options { selection: one_family(), directions, ..Options::default() };
        let run = run(&Wrong::subject(bug), &options, &|_| {}).expect("the shipped suite is sound");
        let checks = run.cases.iter().flat_map(|case| &case.checks);
        checks.filter(|check| check.verdict.kind().is_failure()).map(|check| check.verdict.clone()).collect()
    };
    assert_eq!(failures(Bug::NoWarnings), Vec::<Verdict>::new());
    let without_errors: Vec<Verdict> = failures(Bug::NoFaults);
    assert!(without_errors.len() > 50, "{}", without_errors.len());
    let warning = |verdict: &Verdict| verdict.to_string().contains("fault suspicious");
    assert!(!without_errors.iter().any(warning));
}

/// After a fault, reports nothing before synchronisation; or everything twice.
struct OfManyWords {
    inner: Reference,
    lost: Option<Fault>,
    repeats: bool,
}

struct Words<'a> {
    sink: &'a mut dyn Sink<RiscvEtrace>,
    lost: &'a mut Option<Fault>,
    repeats: bool,
}

impl Sink<RiscvEtrace> for Words<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.sink.packet(place, packet);
        if let Some(lost) = self.lost.filter(|_| self.repeats) {
            self.sink.fault(&lost.at(place));
        }
    }

    fn event(&mut self, place: Place, event: &Event) {
        if RiscvEtrace::is_synchronised_by(event) {
            *self.lost = None;
        }
        self.sink.event(place, event);
    }

    fn fault(&mut self, fault: &Fault) {
        let again = self.lost.is_some_and(|lost| lost.class == fault.class);
        if !again && fault.class != FaultClass::NotSynchronised || self.lost.is_none() {
            self.sink.fault(fault);
        }
        if RiscvEtrace::recovery(fault.class) == Recovery::SynchronisationLost {
            *self.lost = Some(*fault);
        }
    }
}

impl Decoder<RiscvEtrace> for OfManyWords {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.lost = None;
        self.inner.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        let Self { inner, lost, repeats } = self;
        inner.push(chunk, &mut Words { sink, lost, repeats: *repeats });
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        let Self { inner, lost, repeats } = self;
        inner.finish(&mut Words { sink, lost, repeats: *repeats });
    }

    fn reset(&mut self) {
        self.lost = None;
        self.inner.reset();
    }
}

#[test]
fn how_often_a_fault_is_told_before_synchronisation_is_not_judged() {
    for repeats in [false, true] {
        let subject = Subject::new("acme", "2.3.1").with_decoder::<RiscvEtrace>(move || {
            Box::new(OfManyWords { inner: Reference::default(), lost: None, repeats })
        });
        let directions = vec![Direction::Decode, Direction::Chunks];
        let options = Options { selection: one_family(), directions, ..Options::default() };
        let run = run(&subject, &options, &|_| {}).expect("the shipped suite is sound");
        assert!(run.is_success(), "{}", text::report(&run, text::Style::default()));
    }
}

/// Delivers every event after the next packet, as a decoder that waits for a commit.
struct HoldsBack {
    inner: Reference,
    open: Vec<(Place, Event)>,
}

struct Held<'a> {
    sink: &'a mut dyn Sink<RiscvEtrace>,
    open: &'a mut Vec<(Place, Event)>,
}

impl Held<'_> {
    fn commit(&mut self) {
        for (place, event) in self.open.drain(..) {
            self.sink.event(place, &event);
        }
    }
}

impl Sink<RiscvEtrace> for Held<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.sink.packet(place, packet);
        self.commit();
    }

    fn event(&mut self, place: Place, event: &Event) {
        self.open.push((place, *event));
    }

    fn fault(&mut self, fault: &Fault) {
        self.commit();
        self.sink.fault(fault);
    }
}

impl Decoder<RiscvEtrace> for HoldsBack {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.open.clear();
        self.inner.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        let Self { inner, open } = self;
        inner.push(chunk, &mut Held { sink, open });
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        let Self { inner, open } = self;
        let mut held = Held { sink, open };
        inner.finish(&mut held);
        held.commit();
    }

    fn reset(&mut self) {
        self.open.clear();
        self.inner.reset();
    }
}

#[test]
fn events_may_be_delivered_behind_later_packets() {
    let subject = Subject::new("acme", "2.3.1").with_decoder::<RiscvEtrace>(|| {
        Box::new(HoldsBack { inner: Reference::default(), open: Vec::new() })
    });
    let directions = vec![Direction::Decode, Direction::Chunks, Direction::Join];
    let options = Options { selection: one_family(), directions, ..Options::default() };
    let run = run(&subject, &options, &|_| {}).expect("the shipped suite is sound");
    assert!(run.is_success(), "{}", text::report(&run, text::Style::default()));
}

#[test]
fn a_subject_that_hangs_misses_the_deadline() {
    let slow = Subject::new("slow", "0")
        .with_decoder::<RiscvEtrace>(|| Box::new(Wrong { inner: Reference::default(), bug: Bug::Hangs }));
    let tally = judged(&slow).tally();
    assert_eq!((tally.of(Kind::Timeout), tally.total()), (6, 6));
}

#[test]
fn an_encoder_is_judged_by_its_bytes() {
    let subject =
        Subject::new("acme", "2.3.1").with_encoder::<RiscvEtrace>(|| Box::new(LosesByte(Model::default())));
    let run = judged(&subject);
    let failures: Vec<String> =
        run.cases.iter().flat_map(|case| &case.checks).map(|check| check.verdict.to_string()).collect();
    assert_eq!(failures, ["wire differ at item 2: expected 12, got 22"]);
}

#[test]
fn what_a_subject_does_not_offer_is_not_checked() {
    let run = judged(&Subject::new("nobody", "0"));
    assert!(run.cases.iter().all(|case| case.checks.is_empty()));
    assert!(!run.is_success(), "nothing was judged");
    insta::assert_snapshot!("text_of_nobody", text::report(&run, text::Style::default()));
    insta::assert_snapshot!("junit_of_nobody", junit::report(&run).expect("XML"));
}

#[test]
fn reports_of_a_failing_subject() {
    let run = judged(&Wrong::subject(Bug::DropsEvent));
    insta::assert_snapshot!("text_of_lost_events", text::report(&run, text::Style::default()));
    let run = judged(&Wrong::subject(Bug::FlipsFaultClass));
    insta::assert_snapshot!("text_of_wrong_faults", text::report(&run, text::Style::default()));
    insta::assert_snapshot!("json", json::report(&run).expect("JSON"));
    insta::assert_snapshot!("junit", junit::report(&run).expect("XML"));
    assert_eq!(json::read(&json::report(&run).expect("JSON")).expect("reads back"), run);
    let run = judged(&Wrong::subject(Bug::Panics));
    insta::assert_snapshot!("junit_of_a_crash", junit::report(&run).expect("XML"));
    insta::assert_snapshot!("text_of_a_crash", text::summary(&run, text::Style { colour: true }));
    let run = judged(&Wrong::subject(Bug::Narrow));
    insta::assert_snapshot!("text_of_unsupported", text::report(&run, text::Style::default()));
}

#[test]
fn real_programs_are_judged_too() {
    let judged = |bug| {
        let selection = Selection { filters: vec![String::from("trapsdev.rv64/delta")], ..one_family() };
        let options = Options { directories: directories(), selection, programs: true, ..Options::default() };
        run(&Wrong::subject(bug), &options, &|_| {}).expect("sound")
    };
    let good = judged(Bug::None);
    assert!(good.is_success() && good.cases.is_empty());
    assert_eq!(good.programs.iter().map(|run| run.name()).collect::<Vec<_>>(), ["trapsdev.rv64/delta"]);
    let bad = judged(Bug::DropsPacket);
    assert!(!bad.is_success());
    insta::assert_snapshot!("text_of_a_lost_program", text::report(&bad, text::Style::default()));
    insta::assert_snapshot!("junit_of_a_lost_program", junit::report(&bad).expect("XML"));
    let crashed = judged(Bug::Panics);
    assert_eq!(crashed.program_tally().of(Kind::Crash), 1);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let with = |jobs| {
        let selection = one_family();
        let options =
            Options { directories: directories(), selection, jobs: Some(jobs), ..Options::default() };
        run(&Wrong::subject(Bug::DropsEvent), &options, &|_| {}).expect("sound")
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn selections_leave_cases_out() {
    let ids = |selection: Selection| -> Vec<String> {
        let options = Options { directories: directories(), selection, ..Options::default() };
        let run = run(&Subject::reference(), &options, &|_| {}).expect("sound");
        run.cases.into_iter().map(|case| case.id).collect()
    };
    let filters = vec![String::from("9001"), String::from("*/wide*")];
    assert_eq!(ids(Selection { filters, ..one_family() }), ["etr-9001", "etr-9003"]);
    let level = Some(traceproof_vectors::case::Level::Must);
    assert_eq!(ids(Selection { level, ..one_family() }), ["etr-9002", "etr-9001"]);
    let clauses = vec![String::from("RVET-DEC-001")];
    assert_eq!(ids(Selection { clauses, ..one_family() }), ["etr-9002"]);
}

#[test]
fn a_broken_suite_is_an_error_with_all_its_places() {
    let copy = tempfile::tempdir().expect("a directory");
    let folder = copy.path().join("riscv_etrace");
    std::fs::create_dir(&folder).expect("writable");
    let good = "riscv_etrace/sample/three_instructions.toml";
    let text = directories().suites.read_to_string(good).expect("there");
    std::fs::write(folder.join("first.toml"), text.replace("level = \"must\"", "level = \"shall\""))
        .expect("writable");
    std::fs::write(
        folder.join("second.toml"),
        text.replace("\"A B C\" },\n    { stop", "\"A Z\" },\n    { stop"),
    )
    .expect("writable");
    let options = Options {
        directories: Directories::new(copy.path(), directories().clauses),
        selection: one_family(),
        ..Options::default()
    };
    let errors = run(&Subject::reference(), &options, &|_| {}).expect_err("two files are wrong");
    let places: Vec<_> = errors
        .iter()
        .map(|error| {
            (error.path.file_name().and_then(|name| name.to_str()), error.place.map(|(line, _)| line))
        })
        .collect();
    assert_eq!(places, [(Some("first.toml"), Some(5)), (Some("second.toml"), Some(40))]);
}

#[test]
fn coverage_and_explanation_are_readable() {
    let suite = Suite::<RiscvEtrace>::load(&directories()).expect("sound");
    let measured = traceproof_conformance::coverage::Coverage::of(&suite);
    let mut shown = coverage::summary(&measured);
    shown.push('\n');
    shown.push_str(&coverage::clauses(&measured.clauses));
    for entry in &measured.clauses {
        shown.push_str(&coverage::clause(entry));
    }
    insta::assert_snapshot!("coverage", shown);
    let explained: Vec<String> = suite
        .files
        .iter()
        .map(|file| explain::case(file, &explain::Explaining::default(), |clause| suite.describe(clause)))
        .collect();
    insta::assert_snapshot!("explanation", explained.join("\n"));
}
