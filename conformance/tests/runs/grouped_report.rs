//! A first run with hundreds of failures fits on two screens, and nothing of it is lost.

use std::time::Duration;

use traceproof_conformance::details::{self, Detail, EXAMPLES};
use traceproof_conformance::report::causes::causes;
use traceproof_conformance::report::explain::Evidence;
use traceproof_conformance::report::json;
use traceproof_conformance::report::text::{Style, report, report_of_every_failure};
use traceproof_conformance::suite::Directories;
use traceproof_conformance::{Direction, Options, Run, Selection, Subject, run};
use traceproof_decoder::riscv_etrace::Decoder as Reference;
use traceproof_vectors::riscv_etrace::{Event, Packet, Parameters, RiscvEtrace};
use traceproof_vectors::{Capabilities, Decoder, Family, Fault, Place, Program, Refusal, Sink};

/// Claims everything and loses the first packet and the first event of every stream.
#[derive(Default)]
struct Forgetful {
    inner: Reference,
    lost: [bool; 2],
}

struct Losing<'a> {
    sink: &'a mut dyn Sink<RiscvEtrace>,
    lost: &'a mut [bool; 2],
}

impl Sink<RiscvEtrace> for Losing<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        if std::mem::replace(&mut self.lost[0], true) {
            self.sink.packet(place, packet);
        }
    }

    fn event(&mut self, place: Place, event: &Event) {
        if std::mem::replace(&mut self.lost[1], true) {
            self.sink.event(place, event);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.sink.fault(fault);
    }
}

impl Decoder<RiscvEtrace> for Forgetful {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.lost = [false; 2];
        self.inner.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        self.inner.push(chunk, &mut Losing { sink, lost: &mut self.lost });
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        self.inner.finish(&mut Losing { sink, lost: &mut self.lost });
    }

    fn reset(&mut self) {
        self.lost = [false; 2];
        self.inner.reset();
    }
}

fn acme() -> Subject {
    Subject::new("acme", "1").with_decoder::<RiscvEtrace>(|| Box::new(Forgetful::default()))
}

fn failing_run() -> Run {
    let selection = Selection { families: vec![Family::RiscvEtrace], ..Selection::default() };
    let options = Options { selection, directions: vec![Direction::Decode], ..Options::default() };
    run(&acme(), &options, &|_| {}).expect("sound suites")
}

#[test]
fn hundreds_of_failures_fit_on_two_screens() {
    let run = failing_run();
    let failures: usize = causes(&run).iter().map(|cause| cause.failures.len()).sum();
    assert_eq!(failures, run.tally().failures(), "every failure has its cause");
    assert!(failures >= 400, "{failures} failures");

    let short = report(&run, Style::default());
    assert!(short.lines().count() <= 100, "{} lines", short.lines().count());
    let most = causes(&run).first().map(|cause| cause.kind.clone()).expect("a cause");
    assert!(short.contains(&most) && short.contains("reproduce: "), "{short}");

    let long = report_of_every_failure(&run, Style::default());
    for case in run.failed() {
        assert!(long.contains(&format!("FAIL {}  ", case.id)), "{} is shown", case.id);
    }
}

#[test]
fn some_failures_of_each_cause_have_a_dissection_and_every_case_its_text() {
    let run = failing_run();
    let patient = Duration::from_secs(600);
    let details =
        details::of(&run, &acme(), &Directories::default(), patient, &|_, _| {}).expect("sound suites");
    assert_eq!(details.details.len(), run.cases.len());
    for (id, detail) in &details.details {
        let source = detail.source.as_deref().unwrap_or_default();
        assert!(source.contains(&format!("id = \"{id}\"")), "the text of {id}: {source}");
    }
    for cause in causes(&run) {
        let ids: Vec<String> = cause.failures.iter().map(|failure| failure.of.name()).collect();
        let evidence =
            |id: &String| details.details.get(id).and_then(|detail: &Detail| detail.evidence.as_ref());
        let shown: Vec<&Evidence> = ids.iter().filter_map(evidence).collect();
        assert_eq!(shown.len(), ids.len().min(EXAMPLES), "{}", cause.kind);
        let differs =
            shown.iter().filter(|evidence| evidence.units.iter().any(|unit| unit.subject.is_some()));
        assert_eq!(differs.count(), shown.len(), "{}", cause.kind);
    }
    assert!(details.clauses.iter().any(|entry| entry.clause.id == "RVET-PKT-031"));
    let text = json::detailed(&run, &details).expect("writes");
    assert_eq!(json::read(&text).expect("reads"), run);
}
