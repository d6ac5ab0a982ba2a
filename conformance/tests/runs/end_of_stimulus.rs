//! No expected packet may depend on the end of the file: encoders in hardware do not see it.

use traceproof_conformance::report::text;
use traceproof_conformance::suite::Selection;
use traceproof_conformance::{Direction, Options, Subject, Verdict, run};
use traceproof_encoder_model::{arm_etm, riscv_etrace};
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Stimulus};
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{Capabilities, Encoder, EncoderSink, Family, Protocol, Refusal};

/// An encoder that does nothing at the end.
struct Endless(riscv_etrace::Encoder);

impl Encoder<RiscvEtrace> for Endless {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn begin(
        &mut self,
        parameters: &<RiscvEtrace as Protocol>::Parameters,
        policy: &<RiscvEtrace as Protocol>::Policy,
    ) -> Result<(), Refusal> {
        self.0.begin(parameters, policy)
    }

    fn step(
        &mut self,
        stimulus: &<RiscvEtrace as Protocol>::Stimulus,
        sink: &mut dyn EncoderSink<RiscvEtrace>,
    ) {
        self.0.step(stimulus, sink);
    }

    fn finish(&mut self, _: &mut dyn EncoderSink<RiscvEtrace>) {}
}

/// Cycles in which the largest FIFO drains through the narrowest port.
const DRAINING: usize = 600;

/// A macrocell of ETMv3 that is clocked on at the end, and knows no other end.
#[derive(Default)]
struct ClockedOn {
    inner: arm_etm::Encoder,
    levels: Stimulus,
}

impl Encoder<ArmEtm> for ClockedOn {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.inner.capabilities();
        // These have a record for every clock, so that clocking on is seen.
        for feature in [Architecture::V1.feature(), Architecture::V2.feature(), "bare_port"] {
            capabilities.features.remove(feature);
        }
        capabilities
    }

    fn begin(
        &mut self,
        parameters: &<ArmEtm as Protocol>::Parameters,
        policy: &<ArmEtm as Protocol>::Policy,
    ) -> Result<(), Refusal> {
        self.levels = Stimulus::default();
        self.inner.begin(parameters, policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEtm>) {
        let Stimulus { trace_enable, view_data, debug, non_secure, hyp, timestamp, .. } = *stimulus;
        self.levels =
            Stimulus { trace_enable, view_data, debug, non_secure, hyp, timestamp, ..Stimulus::default() };
        self.inner.step(stimulus, sink);
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        for _ in 0..DRAINING {
            self.inner.step(&self.levels, sink);
        }
    }
}

/// Passes every case of the family that it claims, and at least so many.
#[track_caller]
fn passes(subject: &Subject, family: Family, least: usize) {
    let selection = Selection { families: vec![family], ..Selection::default() };
    let options = Options { selection, directions: vec![Direction::Encode], ..Options::default() };
    let run = run(subject, &options, &|_| {})
        .unwrap_or_else(|errors| panic!("{} errors in the suite", errors.len()));
    assert!(run.is_success(), "{}", text::report(&run, text::Style::default()));
    let passed =
        run.cases.iter().flat_map(|case| &case.checks).filter(|check| check.verdict == Verdict::Pass);
    let passed = passed.count();
    assert!(passed >= least, "only {passed} checks");
}

#[test]
fn etrace_cases_need_no_end_of_the_file() {
    let subject = Subject::new("endless", "1")
        .with_encoder::<RiscvEtrace>(|| Box::new(Endless(riscv_etrace::Encoder::default())));
    passes(&subject, Family::RiscvEtrace, 400);
}

#[test]
fn etmv3_cases_need_no_end_of_the_file() {
    let subject = Subject::new("clocked on", "1").with_encoder::<ArmEtm>(|| Box::new(ClockedOn::default()));
    passes(&subject, Family::ArmEtm, 70);
}
