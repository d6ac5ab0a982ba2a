//! The tests of a repository outside: the reference decoder under another name, which loses every packet on request.

use std::process::ExitCode;

use traceproof_conformance::{Subject, trials};
use traceproof_decoder::riscv_etrace::Decoder as Reference;
use traceproof_vectors::riscv_etrace::{Parameters, RiscvEtrace};
use traceproof_vectors::{Capabilities, Decoder, Program, Refusal, Sink};

struct Acme {
    reference: Reference,
    deaf: bool,
}

impl Decoder<RiscvEtrace> for Acme {
    fn capabilities(&self) -> Capabilities {
        Decoder::<RiscvEtrace>::capabilities(&self.reference)
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        Decoder::<RiscvEtrace>::begin(&mut self.reference, parameters, program)
    }

    fn push(&mut self, bytes: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        self.reference.push(if self.deaf { &[] } else { bytes }, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        self.reference.finish(sink);
    }

    fn reset(&mut self) {
        Decoder::<RiscvEtrace>::reset(&mut self.reference);
    }
}

fn main() -> ExitCode {
    let deaf = std::env::var_os("ACME_IS_WRONG").is_some();
    let subject = Subject::new("acme", env!("CARGO_PKG_VERSION"))
        .with_decoder::<RiscvEtrace>(move || Box::new(Acme { reference: Reference::default(), deaf }));
    trials::main(&subject, None)
}
