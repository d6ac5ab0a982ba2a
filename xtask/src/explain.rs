//! `cargo xtask explain`: one case bit by bit.

use clap::Args;
use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::report;
use traceproof_conformance::suite::Suite;
use traceproof_vectors::case::CaseFile;

use crate::exit::{Exit, Outcome};
use crate::files::print;
use crate::select::{WithCase, with_case};

/// Take the bytes of one case apart: every field with its bits, every packet with its events.
///
/// `=` is the packet, `>` an event and `!` a fault that the reference decoder reports for it.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  cargo xtask explain etr-0042")]
pub(crate) struct Arguments {
    /// Id of the case, or a text that occurs in the id, title or path of only one.
    case: String,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print(&with_case(&arguments.case, &Explanation)?)?;
    Ok(Exit::Ok)
}

struct Explanation;

impl WithCase for Explanation {
    fn text<P: FamilyRules>(&self, file: &CaseFile<P>, suite: &Suite<P>) -> String {
        report::explain::case(file, |clause| suite.describe(clause))
    }
}
