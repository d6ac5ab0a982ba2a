//! `traceproof explain`: one case, or one trace file, bit by bit.

use std::path::PathBuf;

use clap::Args;
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::report;
use traceproof_conformance::suite::Suite;
use traceproof_vectors::case::CaseFile;
use traceproof_vectors::{DecoderLimits, ProtocolId};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{Target, open_trace, print};
use crate::limits::Limiting;
use crate::select::{WithCase, with_case};
use crate::suite::SuiteArgument;

/// Dissect the bytes of one case or trace file: every field with its bits, every packet with its events.
///
/// `=` marks the packet, `>` an event and `!` a fault that the reference decoder reports for it, `:` the reason.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof explain etr-0042
  traceproof explain --family riscv-etrace --elf program.elf --trace trace.bin
  traceproof explain --family itanium-pmu --text --trace registers.txt")]
pub(crate) struct Arguments {
    /// Id of the case, or a text that occurs in the id, title or path of only one.
    #[arg(required_unless_present = "trace", conflicts_with = "trace")]
    case: Option<String>,
    /// A trace file instead of a case; it should be short. `-` is the standard input.
    #[arg(long, value_name = "FILE", requires = "family")]
    trace: Option<PathBuf>,
    /// The protocol of the trace file, e.g. riscv-etrace.
    #[arg(long, value_name = "FAMILY", requires = "trace")]
    family: Option<ProtocolId>,
    #[command(flatten)]
    suite: SuiteArgument,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    limiting: Limiting,
    /// The trace file is text: a transport unit per line, as in the `wire` of a case.
    #[arg(long, requires = "trace")]
    text: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let text = match (&arguments.case, arguments.family) {
        (Some(case), _) => with_case(case, &arguments.suite, &Explanation(arguments.limiting.collected()))?,
        (None, Some(family)) => family::visit(family, Stream(arguments))
            .unwrap_or_else(|| Err(Failure::no_such_family(family)))?,
        (None, None) => return Err(Failure::usage("name a case, or a trace file and its family")),
    };
    print(&text)?;
    Ok(Exit::Ok)
}

struct Stream<'a>(&'a Arguments);

impl Visitor for Stream<'_> {
    type Output = Result<String, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Arguments { target, limiting, trace, text, .. } = self.0;
        let (program, parameters) = target.load::<P>()?;
        let path = trace.as_deref().unwrap_or_else(|| "-".as_ref());
        let mut wire = Vec::new();
        open_trace::<P>(path, *text, &parameters)?
            .read_to_end(&mut wire)
            .map_err(|error| Failure::file(path, error))?;
        report::explain::stream::<P>(&wire, &parameters, &program, &limiting.collected())
            .map_err(|refusal| Failure::usage(refusal.to_string()))
    }
}

struct Explanation(DecoderLimits);

impl WithCase for Explanation {
    fn text<P: FamilyRules>(&self, file: &CaseFile<P>, suite: &Suite<P>) -> String {
        report::explain::case(file, &self.0, |clause| suite.describe(clause))
    }
}
