//! Relations of ARM ETM that hold whatever the execution is; none of them needs an expected value.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test properties relations_arm_etm`
//! tries more runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use traceproof_conformance::arm_etm::generate::{encode, scenario};
use traceproof_conformance::relations::{Broken, Stream};
use traceproof_conformance::snapshot::Snapshot;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Invocation, Subject, captures};
use traceproof_decoder::arm_etm::Decoder as Reference;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Event, Packet, Parameters};
use traceproof_vectors::{Capabilities, Decoder, Fault, Place, Program, Refusal, Sink};

/// How the cases of an architecture judge a relation.
#[derive(Debug, Default)]
struct Count {
    cases: usize,
    points: usize,
    compared: usize,
    /// Cases in which nothing was compared.
    vacuous: usize,
}

#[test]
fn every_case_keeps_the_relations() {
    let suite = Suite::<ArmEtm>::load(&Directories::default()).expect("a sound suite");
    let subject = Subject::reference();
    let mut broken = Vec::new();
    let mut counts: BTreeMap<(&str, &str), Count> = BTreeMap::new();
    for file in &suite.files {
        let (parameters, program) = (&file.case.parameters, &file.resolved.program);
        let stream = Stream::<ArmEtm> { subject: &subject, parameters, program, wire: &file.resolved.wire };
        for (relation, result) in [("join", stream.joins(1000)), ("garbage", stream.recovers(1000))] {
            let count = counts.entry((parameters.architecture.feature(), relation)).or_default();
            count.cases += 1;
            match result {
                Ok(tried) => {
                    count.points += tried.points;
                    count.compared += tried.compared;
                    count.vacuous += usize::from(tried.compared == 0);
                }
                Err(error) => {
                    broken.push(format!("{relation} {} {}: {error}", file.case.id, file.path.display()));
                }
            }
        }
        if let Err(error) = stream.repeats(None) {
            broken.push(format!("chunks {} {}: {error}", file.case.id, file.path.display()));
        }
    }
    for ((architecture, relation), count) in &counts {
        println!("{architecture} {relation}: {count:?}");
    }
    assert!(broken.is_empty(), "{}\n{} broken", broken.join("\n"), broken.len());
    // A relation that nearly no case tries would prove nothing. Most cases have one synchronisation point, where they
    // begin.
    for (architecture, relation, least) in [
        ("etmv1", "join", 30),
        ("etmv1", "garbage", 90),
        ("etmv2", "join", 20),
        ("etmv2", "garbage", 80),
        ("etmv3", "join", 20),
        ("etmv3", "garbage", 100),
    ] {
        let count = &counts[&(architecture, relation)];
        let judging = count.cases - count.vacuous;
        assert!(judging >= least, "{architecture} {relation}: {judging} cases compare something: {count:?}");
    }
}

fn kept(bytes: &[u8], architecture: Architecture) -> Result<(), TestCaseError> {
    let scenario = scenario(bytes, architecture);
    let sent = encode(&scenario).expect("generated scenarios can be encoded");
    let program = scenario.program.code().expect("it fits");
    let (subject, parameters) = (&Subject::reference(), &scenario.parameters);
    let stream = Stream::<ArmEtm> { subject, parameters, program: &program, wire: &sent.log.wire };
    for result in [stream.repeats(None), stream.joins(8).map(drop), stream.recovers(8).map(drop)] {
        result.map_err(|error| TestCaseError::fail(format!("{error}\n{scenario}")))?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn runs_through_etmv2_keep_the_relations(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        kept(&bytes, Architecture::V2)?;
    }

    #[test]
    fn runs_through_etmv3_keep_the_relations(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        kept(&bytes, Architecture::V3)?;
    }
}

/// Omits results for some bytes of the stream, counted from its start, so that the results depend on where it begins.
struct Deaf(Reference);

/// Omits what is reported for bytes 20 to 39.
struct Muffled<'a>(&'a mut dyn Sink<ArmEtm>);

impl Sink<ArmEtm> for Muffled<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.0.packet(place, packet);
    }

    fn event(&mut self, place: Place, event: &Event) {
        if !(20..40).contains(&place.byte) {
            self.0.event(place, event);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.0.fault(fault);
    }
}

impl Decoder<ArmEtm> for Deaf {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.0.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEtm>) {
        self.0.push(chunk, &mut Muffled(sink));
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEtm>) {
        self.0.finish(&mut Muffled(sink));
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

/// A-sync; I-sync, periodic, at 0x8000; ten times an instruction. Three times.
#[test]
fn a_decoder_that_depends_on_where_it_begins_is_found() {
    let turn = [&[0, 0, 0, 0, 0, 0x80, 0x08, 0x01, 0x00, 0x80, 0, 0][..], &[0x84; 10]].concat();
    let wire = turn.repeat(3);
    let parameters = Parameters {
        architecture: Architecture::V3,
        data_value: false,
        data_address: false,
        ..Parameters::default()
    };
    let program = Program::new();
    let deaf = Subject::new("deaf", "1").with_decoder::<ArmEtm>(|| Box::new(Deaf(Reference::default())));
    let judged = |subject: &Subject| {
        let stream = Stream::<ArmEtm> { subject, parameters: &parameters, program: &program, wire: &wire };
        [stream.repeats(None), stream.joins(9).map(drop), stream.recovers(9).map(drop)].map(|result| {
            match result {
                Ok(()) => String::from("kept"),
                Err(Broken::Divergence(divergence)) => divergence.what.clone(),
                Err(other) => other.to_string(),
            }
        })
    };
    assert_eq!(judged(&Subject::reference()), ["kept", "kept", "kept"]);
    let found = judged(&deaf);
    assert_eq!(found[0], "kept");
    assert!(found[1].starts_with("events joined at byte "), "{found:?}");
    assert!(found[2].starts_with("events behind garbage "), "{found:?}");
    let empty = judged(&Subject::new("nobody", "1"));
    assert_eq!(empty[0], "the subject has no decoder of the family");
}

#[test]
fn a_real_capture_keeps_the_relations() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no real capture is judged, because {} is not there", all.display());
        return;
    }
    let snapshot = Snapshot::read(&all.join("tc2-etmv3-id10")).expect("readable");
    let streams: Vec<_> = snapshot.streams().collect();
    let patient = Duration::from_secs(600);
    let run = captures::run(&Subject::reference(), &snapshot, &streams, &Invocation::default(), patient)
        .expect("complete");
    assert!(run.is_success(), "{:#?}", run.cases);
    // Decoding and three relations, none of them about nothing.
    assert_eq!((run.tally().of(Kind::Pass), run.tally().total()), (4, 4), "{:#?}", run.cases);
    // Other protocols are not judged.
    let snapshot = Snapshot::read(&all.join("itm_only_raw")).expect("readable");
    let streams: Vec<_> = snapshot.streams().collect();
    let run = captures::run(&Subject::reference(), &snapshot, &streams, &Invocation::default(), patient)
        .expect("complete");
    assert_eq!((run.tally().applicable(), run.is_success()), (0, false));
}
