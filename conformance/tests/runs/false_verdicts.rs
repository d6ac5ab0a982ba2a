//! Subjects that are right and were judged wrong: each lacks something that it does not claim, or reads an open clause
//! in another way.

use std::fs;
use std::time::Duration;

use tempfile::TempDir;
use traceproof_conformance::snapshot::Snapshot;
use traceproof_conformance::{
    Direction, Invocation, Options, Run, Selection, Subject, Verdict, captures, run,
};
use traceproof_decoder::riscv_etrace::Decoder as Reference;
use traceproof_encoder_model::arm_etm::v2::Encoder as Etmv2Model;
use traceproof_encoder_model::riscv_etrace::Encoder as Model;
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::riscv_etrace::{Epc, Event, Packet, Parameters, Policy, RiscvEtrace, Stimulus};
use traceproof_vectors::{
    Capabilities, Decoder, Encoder, EncoderSink, Family, Fault, Layer, Place, Program, Refusal, Sink,
};

/// The smallest real program under the sets that the filter names.
fn programs(subject: &Subject, filter: &str) -> Run {
    judged(subject, filter, true)
}

fn judged(subject: &Subject, filter: &str, programs: bool) -> Run {
    let selection = Selection {
        families: vec![Family::RiscvEtrace],
        filters: vec![filter.to_owned()],
        ..Selection::default()
    };
    let options = Options { selection, programs, ..Options::default() };
    run(subject, &options, &|_| {}).expect("sound suites")
}

/// The one verdict of all real programs of a run.
fn verdict_of_programs(run: &Run) -> &Verdict {
    let [first, others @ ..] = run.programs.as_slice() else { panic!("no round trip") };
    for other in others {
        assert_eq!(other.verdict, first.verdict, "{}", other.name());
    }
    &first.verdict
}

/// An encoder whose packets cannot be seen, as one in hardware: only bytes come out.
#[derive(Default)]
struct BytesOnly(Model);

struct Bytes<'a>(&'a mut dyn EncoderSink<RiscvEtrace>);

impl EncoderSink<RiscvEtrace> for Bytes<'_> {
    fn packet(&mut self, _: &Packet) {}

    fn wire(&mut self, bytes: &[u8]) {
        self.0.wire(bytes);
    }
}

impl Encoder<RiscvEtrace> for BytesOnly {
    fn capabilities(&self) -> Capabilities {
        let mut claims = self.0.capabilities();
        claims.layers.remove(&Layer::Packets);
        claims
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.0.begin(parameters, policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.0.step(stimulus, &mut Bytes(sink));
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.0.finish(&mut Bytes(sink));
    }
}

#[test]
fn an_encoder_without_packets_is_judged_by_its_bytes_in_real_programs() {
    let subject = Subject::new("acme", "1").with_encoder::<RiscvEtrace>(|| Box::new(BytesOnly::default()));
    assert_eq!(verdict_of_programs(&programs(&subject, "trapsdev.rv??/delta")), &Verdict::Pass);
}

/// What a decoder lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lacks {
    /// It reports no EPC.
    Epc,
    /// It takes x1 alone for a link register.
    LinkReading,
    /// It has no jump target cache, and refuses hardware that has one.
    JumpTargetCache,
}

struct Lacking {
    inner: Reference,
    lacks: Lacks,
}

fn lacking(lacks: Lacks) -> Subject {
    Subject::new("acme", "1")
        .with_decoder::<RiscvEtrace>(move || Box::new(Lacking { inner: Reference::default(), lacks }))
}

struct WithoutEpc<'a> {
    sink: &'a mut dyn Sink<RiscvEtrace>,
    reports_epc: bool,
}

impl Sink<RiscvEtrace> for WithoutEpc<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.sink.packet(place, packet);
    }

    fn event(&mut self, place: Place, event: &Event) {
        let mut event = *event;
        if let Event::Trap { epc, .. } = &mut event
            && !self.reports_epc
        {
            *epc = Epc::Unstated;
        }
        self.sink.event(place, &event);
    }

    fn fault(&mut self, fault: &Fault) {
        self.sink.fault(fault);
    }
}

impl Lacking {
    fn filter<'a>(&self, sink: &'a mut dyn Sink<RiscvEtrace>) -> WithoutEpc<'a> {
        WithoutEpc { sink, reports_epc: self.lacks != Lacks::Epc }
    }
}

impl Decoder<RiscvEtrace> for Lacking {
    fn capabilities(&self) -> Capabilities {
        let mut claims = self.inner.capabilities();
        match self.lacks {
            Lacks::Epc => {}
            Lacks::LinkReading => drop(claims.readings.remove("x1-and-x5-link")),
            Lacks::JumpTargetCache => drop(claims.features.remove("jump_target_cache")),
        }
        claims
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        if self.lacks == Lacks::JumpTargetCache && parameters.cache_size_p > 0 {
            return Err(Refusal::unsupported("jump_target_cache"));
        }
        self.inner.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        let mut sink = self.filter(sink);
        self.inner.push(chunk, &mut sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        let mut sink = self.filter(sink);
        self.inner.finish(&mut sink);
    }

    fn reset(&mut self) {
        self.inner.reset();
    }
}

#[test]
fn a_decoder_that_reports_no_epc_follows_real_programs() {
    let run = programs(&lacking(Lacks::Epc), "trapsdev.rv??/delta");
    assert_eq!(verdict_of_programs(&run), &Verdict::Pass);
    assert!(run.programs.iter().all(|program| program.traps > 0), "there are traps to report");
}

#[test]
fn real_programs_and_generated_executions_respect_readings() {
    let subject = lacking(Lacks::LinkReading);
    let unsupported = Verdict::Unsupported { needs: vec![String::from("reading x1-and-x5-link")] };
    for set in ["return_stack", "call_counter"] {
        assert_eq!(verdict_of_programs(&programs(&subject, &format!("trapsdev.rv??/{set}"))), &unsupported);
    }
    assert_eq!(verdict_of_programs(&programs(&subject, "trapsdev.rv??/delta")), &Verdict::Pass);

    let selection = Selection { families: vec![Family::RiscvEtrace], ..Selection::default() };
    let options = Options {
        selection: Selection { filters: vec![String::from("*/generated/*")], ..selection },
        generated: 0..100,
        directions: vec![Direction::Decode],
        ..Options::default()
    };
    let run = run(&subject, &options, &|_| {}).expect("sound suites");
    let verdicts = run.cases.iter().flat_map(|case| &case.checks).map(|check| &check.verdict);
    let (passed, others): (Vec<_>, Vec<_>) = verdicts.partition(|verdict| **verdict == Verdict::Pass);
    assert!(!passed.is_empty() && !others.is_empty());
    assert!(others.iter().all(|verdict| **verdict == unsupported), "{others:?}");
}

#[test]
fn hardware_that_a_case_does_not_use_hides_it_from_nobody() {
    // Its hardware has a jump target cache and a predictor, no packet of it is of format 0, and no mode is on.
    let run = judged(&lacking(Lacks::JumpTargetCache), UNUSED_CACHE, false);
    let checks: Vec<_> = run.cases.iter().flat_map(|case| &case.checks).collect();
    assert!(!checks.is_empty());
    for check in checks {
        assert_eq!(check.verdict, Verdict::Pass, "{}", check.direction);
    }
    // One that uses it is still not asked for.
    let run = judged(&lacking(Lacks::JumpTargetCache), "riscv_etrace/jump_target_cache/*", false);
    let needs = vec![String::from("jump_target_cache")];
    let unsupported = Verdict::Unsupported { needs };
    let verdicts = run.cases.iter().flat_map(|case| &case.checks).map(|check| &check.verdict);
    assert!(verdicts.filter(|verdict| **verdict == unsupported).count() > 10);
}

/// A case of such hardware.
const UNUSED_CACHE: &str = "etr-0475";

#[test]
fn claims_of_the_etmv2_model_are_those_of_its_architecture() {
    let claims = Encoder::<ArmEtm>::capabilities(&Etmv2Model::default());
    let features: Vec<&str> = claims.features.iter().map(String::as_str).collect();
    assert_eq!(features, ["cycle_accurate", "etmv2", "jazelle", "port_16", "port_4"]);
}

const TOP: &str = "[snapshot]\nversion=1.0\n[device_list]\nd0=cpu.ini\nd1=etm.ini\nd2=stm.ini\n[trace]\nmetadata=trace.ini\n";
const CPU: &str =
    "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A7\n[dump]\nfile=code.bin\naddress=0x8000\nlength=0x4\n";
const ETM: &str = "[device]\nname=ETM_0\nclass=trace_source\ntype=ETM3.5\n[regs]\nETMCR(0x000)=0x400\nETMIDR(id:0x79)=0x410ff250\nETMCCER(id:0x7a)=0x34000000\n";
const STM: &str = "[device]\nname=STM_0\nclass=trace_source\ntype=STM\n[regs]\nSTMTCSR=0x00a00005\n";
const TRACE: &str = "[trace_buffers]\nbuffers=b0\n[b0]\nname=ETB_0\nfile=a.bin\nformat=source_data\n\
    [source_buffers]\nETM_0=ETB_0\n[core_trace_sources]\ncpu_0=ETM_0\n";

/// A capture whose memory ends after the first instruction, and a source that no family decodes.
fn snapshot() -> TempDir {
    let directory = TempDir::new().expect("a place for files");
    // A-sync; I-sync, trace enabled, at 0x8000; two E atoms: a NOP, and an instruction that is in no memory dump.
    let trace = [0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0x00, 0x80, 0, 0, 0x88];
    let files: [(&str, &[u8]); 6] = [
        ("snapshot.ini", TOP.as_bytes()),
        ("cpu.ini", CPU.as_bytes()),
        ("etm.ini", ETM.as_bytes()),
        ("stm.ini", STM.as_bytes()),
        ("trace.ini", TRACE.as_bytes()),
        ("a.bin", &trace),
    ];
    for (name, bytes) in files {
        fs::write(directory.path().join(name), bytes).expect("written");
    }
    fs::write(directory.path().join("code.bin"), 0xe1a0_0000_u32.to_le_bytes()).expect("written");
    directory
}

#[test]
fn memory_that_a_capture_lacks_and_sources_of_no_family_are_not_held_against_a_decoder() {
    let directory = snapshot();
    let snapshot = Snapshot::read(directory.path()).expect("sound");
    let streams: Vec<_> = snapshot.streams().collect();
    let subject = Subject::reference();
    let run = captures::run(&subject, &snapshot, &streams, &Invocation::default(), Duration::from_secs(600))
        .expect("judged");
    let decode =
        run.cases.iter().flat_map(|case| &case.checks).find(|check| check.direction == Direction::Decode);
    assert_eq!(decode.map(|check| &check.verdict), Some(&Verdict::Pass));
    assert_eq!(run.foreign_sources, ["STM_0 (STM)"]);
}
