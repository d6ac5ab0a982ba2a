//! Explanations with a subject beside the reference, also when the subject fails; and saved failures.

use std::fs;
use std::time::Duration;

use traceproof_conformance::family::{FamilyRules, RecordedProgram};
use traceproof_conformance::report::explain::{self, Explaining};
use traceproof_conformance::save::{self, Saving};
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_conformance::{Direction, Options, Selection, Subject, run};
use traceproof_decoder::riscv_etrace::Decoder as Reference;
use traceproof_encoder_model::riscv_etrace::Encoder as Model;
use traceproof_vectors::case::CaseFile;
use traceproof_vectors::riscv_etrace::{Event, Packet, Parameters, Policy, RiscvEtrace, Stimulus};
use traceproof_vectors::{Capabilities, Decoder, Encoder, EncoderSink, Fault, Place, Program, Refusal, Sink};

/// The defect of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    LosesEvents,
    Panics,
    Hangs,
    Refuses,
}

/// The reference with a defect from this packet on.
struct Acme {
    inner: Reference,
    defect: Defect,
    from: u64,
}

struct Through<'a> {
    sink: &'a mut dyn Sink<RiscvEtrace>,
    defect: Defect,
    from: u64,
}

impl Sink<RiscvEtrace> for Through<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        match self.defect {
            Defect::Panics if place.packet >= self.from => panic!("index 4 of 4"),
            Defect::Hangs if place.packet >= self.from => std::thread::sleep(Duration::from_secs(3600)),
            _ => {}
        }
        self.sink.packet(place, packet);
    }

    fn event(&mut self, place: Place, event: &Event) {
        if self.defect != Defect::LosesEvents || place.packet != self.from {
            self.sink.event(place, event);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.sink.fault(fault);
    }
}

impl Decoder<RiscvEtrace> for Acme {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        match self.defect {
            Defect::Refuses => Err(Refusal::unsupported("full moon")),
            _ => self.inner.begin(parameters, program),
        }
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        let (defect, from) = (self.defect, self.from);
        self.inner.push(chunk, &mut Through { sink, defect, from });
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        let (defect, from) = (self.defect, self.from);
        self.inner.finish(&mut Through { sink, defect, from });
    }

    fn reset(&mut self) {
        self.inner.reset();
    }
}

/// The encoder model, but the last bit of the sixth byte is flipped.
#[derive(Default)]
struct Flipping {
    inner: Model,
    sent: usize,
}

struct Flipped<'a> {
    sink: &'a mut dyn EncoderSink<RiscvEtrace>,
    sent: &'a mut usize,
}

impl EncoderSink<RiscvEtrace> for Flipped<'_> {
    fn packet(&mut self, packet: &Packet) {
        self.sink.packet(packet);
    }

    fn wire(&mut self, bytes: &[u8]) {
        let flipped: Vec<u8> = bytes
            .iter()
            .map(|byte| {
                *self.sent += 1;
                byte ^ u8::from(*self.sent == 6)
            })
            .collect();
        self.sink.wire(&flipped);
    }
}

impl Encoder<RiscvEtrace> for Flipping {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.sent = 0;
        self.inner.begin(parameters, policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.inner.step(stimulus, &mut Flipped { sink, sent: &mut self.sent });
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.inner.finish(&mut Flipped { sink, sent: &mut self.sent });
    }
}

fn acme(defect: Defect, from: u64) -> Subject {
    Subject::new("acme", "1.0")
        .with_decoder::<RiscvEtrace>(move || Box::new(Acme { inner: Reference::default(), defect, from }))
}

fn flipping() -> Subject {
    Subject::new("acme", "1.0").with_encoder::<RiscvEtrace>(|| Box::new(Flipping::default()))
}

fn case() -> CaseFile<RiscvEtrace> {
    let suite = Suite::<RiscvEtrace>::load(&Directories::default()).expect("sound");
    suite.files.into_iter().find(|file| file.case.id == "etr-0001").expect("there")
}

fn explained(subject: &Subject) -> String {
    let explaining = Explaining {
        subject: Some(subject),
        // Only a hang reaches the deadline.
        deadline: Duration::from_secs(if subject.name() == "acme hangs" { 1 } else { 600 }),
        ..Explaining::default()
    };
    explain::case(&case(), &explaining, str::to_owned)
}

fn last_line(text: &str) -> &str {
    text.lines().last().expect("not empty")
}

#[test]
fn both_sides_are_shown_where_they_differ() {
    let text = explained(&acme(Defect::LosesEvents, 2));
    assert_eq!(text.matches("acme reports:").count(), 1, "{text}");
    insta::assert_snapshot!("beside_case", text);
    let text = explained(&Subject::reference());
    assert!(!text.contains("reports:"), "{text}");
    assert_eq!(last_line(&text), "no difference: reference decodes this as the reference does");
}

#[test]
fn output_before_a_failure_is_kept() {
    let ends = |subject: &Subject| last_line(&explained(subject)).to_owned();
    assert_eq!(
        ends(&acme(Defect::Panics, 2)),
        "acme did not finish: the subject crashed: index 4 of 4; up to packet 1 there is no difference"
    );
    assert_eq!(
        ends(&acme(Defect::Refuses, 0)),
        "acme did not finish: claimed, but refused: unsupported feature `full moon`; it reported nothing"
    );
    let hangs = Subject::new("acme hangs", "1.0").with_decoder::<RiscvEtrace>(|| {
        Box::new(Acme { inner: Reference::default(), defect: Defect::Hangs, from: 1 })
    });
    assert_eq!(
        ends(&hangs),
        "acme hangs did not finish: the subject did not return within 1000 ms; up to packet 0 there is no difference"
    );
    let nothing = Subject::new("acme", "1.0");
    assert_eq!(ends(&nothing), "acme was not compared: it does not claim a decoder");
}

#[test]
fn the_wire_of_an_encoder_is_shown_unit_by_unit() {
    let text = explained(&flipping());
    assert!(text.contains("encode: the wire of acme differs at unit 1, byte 5, unit by unit:"), "{text}");
    let compared = text.split("unit by unit:").nth(1).expect("there");
    assert!(compared.lines().filter(|line| line.starts_with("    > ")).count() == 1, "{text}");
}

fn program(name: &str, set: &str) -> RecordedProgram<RiscvEtrace> {
    let programs = RiscvEtrace::PROGRAMS.expect("there are programs");
    (programs.find)(name, set).expect("readable").expect("there")
}

#[test]
fn real_programs_are_shown_around_the_first_difference() {
    let subject = acme(Defect::LosesEvents, 300);
    let explaining = Explaining { subject: Some(&subject), ..Explaining::default() };
    let text = explain::program(program("levels.rv32", "delta"), &explaining).expect("encoded");
    assert!(last_line(&text).starts_with("first difference: packet 30"), "{text}");
    let (before, _) = text.split_once("acme reports:").expect("differs");
    assert!(before.contains("\npacket 300, byte "), "{before}");
    assert!(text.matches("\npacket ").count() <= 32);

    let window = Explaining { packets: Some(300..302), ..Explaining::default() };
    let text = explain::program(program("levels.rv32", "delta"), &window).expect("encoded");
    assert_eq!(text.matches("\npacket ").count(), 2, "{text}");
    let outside = Explaining { packets: Some(u64::MAX - 1..u64::MAX), ..Explaining::default() };
    let refused = explain::program(program("levels.rv32", "delta"), &outside).expect_err("too far");
    assert!(refused.contains("has no packet"), "{refused}");
}

#[test]
fn an_encoder_that_fails_the_round_trip_is_shown() {
    let subject = flipping();
    let explaining = Explaining { subject: Some(&subject), ..Explaining::default() };
    let text = explain::program(program("levels.rv32", "delta"), &explaining).expect("encoded");
    assert!(text.contains("encode: the wire of acme differs at unit 1, byte 5, unit by unit:"), "{text}");
}

#[test]
fn failures_are_saved_and_nothing_is_overwritten() {
    let subject = acme(Defect::LosesEvents, 2);
    let selection = Selection {
        filters: vec![String::from("etr-0001"), String::from("levels.rv32/delta")],
        ..Selection::default()
    };
    let options = Options {
        selection,
        directions: vec![Direction::Decode, Direction::RoundTrip],
        programs: true,
        deadline: Duration::from_secs(600),
        ..Options::default()
    };
    let run = run(&subject, &options, &|_| {}).expect("sound");
    let temporary = tempfile::tempdir().expect("a directory");
    let directory = temporary.path().join("failures");
    save::prepare(&directory).expect("not there yet");
    save::prepare(&directory).expect("empty");
    let saving = Saving {
        directory: &directory,
        run: &run,
        directories: &options.directories,
        deadline: options.deadline,
    };
    assert_eq!(save::failures(&saving, &subject).expect("writable"), 2);
    let read = |name: &str| fs::read(directory.join(name)).unwrap_or_else(|_| panic!("{name}"));
    let text = |name: &str| String::from_utf8(read(name)).expect("text");
    assert_eq!(read("etr-0001/expected.bin"), case().resolved.wire);
    assert!(text("etr-0001/case.toml").contains("id = \"etr-0001\""));
    assert!(text("etr-0001/parameters.toml").contains("iaddress_width_p"));
    assert!(text("etr-0001/decoder.jsonl").starts_with("{\"place\":{\"packet\":0,"));
    let verdict = text("etr-0001/verdict.txt");
    assert!(
        verdict.contains("decode: events differ at item") && verdict.contains("second execution"),
        "{verdict}"
    );
    assert!(verdict.contains("reproduce: traceproof conformance --filter etr-0001"), "{verdict}");
    assert!(!read("levels.rv32-delta/expected.bin").is_empty());
    assert!(text("levels.rv32-delta/verdict.txt").contains("round trip"));
    let index: serde_json::Value = serde_json::from_str(&text("index.json")).expect("JSON");
    assert_eq!(index[0]["name"], "etr-0001");
    assert_eq!(index[1]["folder"], "levels.rv32-delta");

    assert!(matches!(save::prepare(&directory), Err(save::SaveError::NotEmpty(_))));
    assert!(matches!(save::failures(&saving, &subject), Err(save::SaveError::Io(..))));
}
