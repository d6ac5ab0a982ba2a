//! The tables as executions, which a run judges any subject by.

use traceproof_conformance::family::{FamilyRules, IMPLEMENTED, Visitor, visit};
use traceproof_conformance::generate::OpcodeSweep;
use traceproof_conformance::run::CaseResult;
use traceproof_conformance::{Options, Run, Selection, Subject, run};
use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_vectors::riscv_etrace::{Parameters, RiscvEtrace, Xlen};
use traceproof_vectors::{self as vectors, Capabilities, Program, Refusal, Section, Sink};

pub(super) fn judged(subject: &Subject, filter: &str) -> Run {
    let selection = Selection { filters: vec![filter.to_owned()], ..Selection::default() };
    run(subject, &Options { selection, opcodes: true, ..Options::default() }, &|_| {}).expect("sound suites")
}

fn is_sweep(case: &&CaseResult) -> bool {
    case.id.contains("-opcodes-")
}

#[test]
fn the_reference_passes_every_sweep() {
    let run = judged(&Subject::reference(), "*/opcodes/*");
    assert!(run.is_success(), "{:#?}", run.failed().take(3).collect::<Vec<_>>());
    assert_eq!(run.cases.iter().filter(is_sweep).count(), SWEEPS);
}

/// Sweeps of all families.
const SWEEPS: usize = 893;

struct Count;

impl Visitor for Count {
    type Output = usize;

    fn visit<P: FamilyRules>(self) -> usize {
        let made = |sweep: &OpcodeSweep| {
            let made = P::SWEEPS.and_then(|sweeps| (sweeps.make)(&sweep.name)).expect("a name of it");
            made.unwrap_or_else(|error| panic!("{}: {error}", sweep.name)).rows
        };
        OpcodeSweep::all::<P>().iter().map(made).sum()
    }
}

/// What cannot be executed is the few jumps into themselves.
#[test]
fn almost_every_encoding_is_executed() {
    let rows: Vec<usize> = IMPLEMENTED.iter().filter_map(|protocol| visit(*protocol, Count)).collect();
    assert_eq!(rows, EXECUTED);
}

/// Encodings that are executed, by protocol.
const EXECUTED: [usize; 7] = [14_519, 30_683, 0, 19_783, 19_821, 0, 0];

/// A decoder of RV32 that takes code for that of RV64.
#[derive(Default)]
struct WrongWidth(Decoder);

impl vectors::Decoder<RiscvEtrace> for WrongWidth {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.0.begin(&Parameters { xlen: Xlen::Rv64, ..parameters.clone() }, program)
    }

    fn push(&mut self, bytes: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        self.0.push(bytes, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        self.0.finish(sink);
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

/// A decoder that takes calls that link `x5` for jumps without a link register.
#[derive(Default)]
struct OneLinkRegister(Decoder);

impl vectors::Decoder<RiscvEtrace> for OneLinkRegister {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    /// The program that it sees links `x6` in their place.
    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        let mut seen = Program::new();
        for section in program.sections() {
            let mut bytes = section.bytes.clone();
            // `jal x5`: rd is in [11:7], so its low bit is in the first byte. It lies after a `c.nop`.
            if bytes.len() >= 6 && bytes[2] == 0xef && bytes[3] & 0x0f == 0x02 {
                (bytes[2], bytes[3]) = (0x6f, bytes[3] ^ 0x01);
            }
            seen.insert(Section::new(section.address, bytes, section.name.clone())).expect("as before");
        }
        self.0.begin(parameters, &seen)
    }

    fn push(&mut self, bytes: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        self.0.push(bytes, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        self.0.finish(sink);
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

/// Without implicit return a call is a jump like others.
#[test]
fn only_implicit_return_tells_calls_from_jumps() {
    let subject = Subject::new("one-link-register", "1")
        .with_decoder::<RiscvEtrace>(|| Box::new(OneLinkRegister::default()));
    let failed = |filter: &str| judged(&subject, filter).failed().count();
    assert_eq!(failed("*/opcodes/rv32/inferable-call-*"), 0);
    assert!(failed("*/opcodes/implicit-return/rv32/inferable-call-*") > 0);
}

/// `c.jal` of RV32 is `c.addiw` of RV64.
#[test]
fn a_wrong_class_fails_the_sweep_of_its_class() {
    let subject =
        Subject::new("wrong-width", "1").with_decoder::<RiscvEtrace>(|| Box::new(WrongWidth::default()));
    let run = judged(&subject, "*/opcodes/rv32/inferable-*");
    let failed: Vec<&str> = run.failed().map(|case| case.id.as_str()).collect();
    assert!(failed.contains(&"etr-opcodes-rv32-inferable-call-1"), "{failed:?}");
    assert!(!failed.contains(&"etr-opcodes-rv32-inferable-jump-1"), "{failed:?}");
}
