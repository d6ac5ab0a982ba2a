//! The reference decoders and encoder models with and without their fast paths, side by side: over every shipped case,
//! generated executions and real programs.

use std::collections::BTreeMap;

use traceproof_conformance::riscv_etrace::programs::{ParameterSet, Shipped, round_trip};
use traceproof_conformance::{Direction, Options, Selection, Subject, Verdict, run};
use traceproof_decoder::{arm_etm, riscv_etrace};
use traceproof_encoder_model::riscv_etrace::Encoder;
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{
    self as vectors, Capabilities, EncoderSink, Entry, Family, Log, Program, Protocol, Refusal, Sink,
};

/// Two decoders that must report the same for every chunk. Reports what the first does, and panics where they differ.
struct BothDecoders<D> {
    fast: D,
    slow: D,
}

impl<D> BothDecoders<D> {
    /// Lets both do the same, and compares what they report.
    fn compare<P: Protocol>(&mut self, act: impl Fn(&mut D, &mut Log<P>), sink: &mut dyn Sink<P>) {
        let (mut fast, mut slow) = (Log::default(), Log::default());
        act(&mut self.fast, &mut fast);
        act(&mut self.slow, &mut slow);
        assert!(fast.packets().eq(slow.packets()), "packets differ: {fast:?} {slow:?}");
        assert!(fast.faults().eq(slow.faults()), "faults differ: {fast:?} {slow:?}");
        assert_eq!(fast.canonical_events(), slow.canonical_events());
        for (place, entry) in &fast.entries {
            match entry {
                Entry::Packet(packet) => sink.packet(*place, packet),
                Entry::Event(event) => sink.event(*place, event),
                Entry::Fault(fault) => sink.fault(fault),
            }
        }
    }
}

impl<P: Protocol, D: vectors::Decoder<P>> vectors::Decoder<P> for BothDecoders<D> {
    fn capabilities(&self) -> Capabilities {
        self.fast.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        let fast = self.fast.begin(parameters, program);
        assert_eq!(fast, self.slow.begin(parameters, program));
        fast
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        self.compare(|decoder, log| decoder.push(chunk, log), sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        self.compare(|decoder, log| decoder.finish(log), sink);
    }

    fn reset(&mut self) {
        self.fast.reset();
        self.slow.reset();
    }
}

/// Two encoders that must send the same for every stimulus. Sends what the first does, and panics where they differ.
struct BothEncoders {
    fast: Encoder,
    slow: Encoder,
}

impl BothEncoders {
    fn compare(
        &mut self,
        act: impl Fn(&mut Encoder, &mut Log<RiscvEtrace>),
        sink: &mut dyn EncoderSink<RiscvEtrace>,
    ) {
        let (mut fast, mut slow) = (Log::default(), Log::default());
        act(&mut self.fast, &mut fast);
        act(&mut self.slow, &mut slow);
        assert!(fast.packets().eq(slow.packets()), "packets differ: {fast:?} {slow:?}");
        assert_eq!(fast.wire, slow.wire);
        fast.packets().for_each(|packet| sink.packet(packet));
        sink.wire(&fast.wire);
    }
}

impl vectors::Encoder<RiscvEtrace> for BothEncoders {
    fn capabilities(&self) -> Capabilities {
        self.fast.capabilities()
    }

    fn begin(
        &mut self,
        parameters: &vectors::riscv_etrace::Parameters,
        policy: &vectors::riscv_etrace::Policy,
    ) -> Result<(), Refusal> {
        let fast = self.fast.begin(parameters, policy);
        assert_eq!(fast, self.slow.begin(parameters, policy));
        fast
    }

    fn step(&mut self, stimulus: &vectors::riscv_etrace::Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.compare(|encoder, log| encoder.step(stimulus, log), sink);
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.compare(|encoder, log| encoder.finish(log), sink);
    }
}

fn riscv_decoders() -> BothDecoders<riscv_etrace::Decoder> {
    let [fast, slow] = [(); 2].map(|()| riscv_etrace::Decoder::default());
    BothDecoders { fast, slow: slow.without_fast_path() }
}

fn riscv_encoders() -> BothEncoders {
    BothEncoders { fast: Encoder::default(), slow: Encoder::default().without_fast_path() }
}

fn arm_decoders() -> BothDecoders<arm_etm::Decoder> {
    let [fast, slow] = [(); 2].map(|()| arm_etm::Decoder::default());
    BothDecoders { fast, slow: slow.without_fast_path() }
}

/// How many checks passed, by family and direction; every other verdict but "unsupported" is a failure.
fn passed(options: Options) -> BTreeMap<(String, Direction), usize> {
    let subject = Subject::new("with and without fast path", "0")
        .with_decoder::<RiscvEtrace>(|| Box::new(riscv_decoders()))
        .with_encoder::<RiscvEtrace>(|| Box::new(riscv_encoders()))
        .with_decoder::<ArmEtm>(|| Box::new(arm_decoders()));
    let families = vec![Family::RiscvEtrace, Family::ArmEtm];
    let selection = Selection { families, ..options.selection };
    let run = run(&subject, &Options { selection, ..options }, &|_| {}).expect("sound suites");
    let mut counts = BTreeMap::new();
    for case in &run.cases {
        for check in &case.checks {
            if check.verdict == Verdict::Pass {
                *counts.entry((case.protocol.to_string(), check.direction)).or_default() += 1;
            }
        }
    }
    assert!(run.is_success(), "{:?}", run.failed().next());
    counts
}

#[test]
fn both_agree_on_every_shipped_case() {
    let counts = passed(Options::default());
    let of = |family: &str, direction| counts.get(&(family.to_owned(), direction)).copied().unwrap_or(0);
    assert!(of("riscv_etrace", Direction::Decode) > 400, "{counts:?}");
    assert!(of("riscv_etrace", Direction::Encode) > 200, "{counts:?}");
    assert!(of("arm_etm", Direction::Decode) > 300, "{counts:?}");
}

#[test]
fn both_agree_on_generated_executions() {
    let filters = vec!["*/generated/*".to_owned()];
    let selection = Selection { filters, ..Selection::default() };
    let counts = passed(Options { selection, generated: 0..120, ..Options::default() });
    let of = |family: &str, direction| counts.get(&(family.to_owned(), direction)).copied().unwrap_or(0);
    assert_eq!(of("riscv_etrace", Direction::Decode), 120, "{counts:?}");
    assert_eq!(of("riscv_etrace", Direction::Encode), 120, "{counts:?}");
    assert_eq!(of("arm_etm", Direction::Decode), 120, "{counts:?}");
}

/// The first steps of every shipped program under every set of parameters.
#[test]
fn both_agree_on_real_programs() {
    const STEPS: usize = 4_000;
    let shipped = Shipped::riscv_etrace().expect("the manifest is sound");
    let mut trips = 0;
    for program in &shipped.programs {
        let image = shipped.image(program).expect("reads");
        let execution = shipped.execution(program).expect("opens");
        let steps: Vec<_> = execution.take(STEPS).map(|step| step.expect("record")).collect();
        for set in ParameterSet::ALL {
            let Some(setup) = set.setup(program) else { continue };
            let steps = steps.iter().cloned().map(Ok::<_, std::convert::Infallible>);
            let (mut encoder, mut decoder) = (riscv_encoders(), riscv_decoders());
            let trip = round_trip(&mut encoder, &mut decoder, &image.program, &setup, steps);
            let at = format!("{}, {}", program.name, set.name);
            let trip = trip.unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(trip.divergence, None, "{at}");
            trips += 1;
        }
    }
    assert!(trips >= 100, "only {trips} round trips");
}
