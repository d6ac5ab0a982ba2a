//! `cargo xtask show`: one case as it is written.

use clap::Args;
use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::suite::Suite;
use traceproof_vectors::case::CaseFile;

use crate::exit::{Exit, Outcome};
use crate::files::print;
use crate::select::{WithCase, with_case};

/// Print one case as it is written.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  cargo xtask show etr-0042")]
pub(crate) struct Arguments {
    /// Id of the case, or a text that occurs in the id, title or path of only one.
    case: String,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print(&with_case(&arguments.case, &Text)?)?;
    Ok(Exit::Ok)
}

struct Text;

impl WithCase for Text {
    fn text<P: FamilyRules>(&self, file: &CaseFile<P>, _: &Suite<P>) -> String {
        file.text.clone()
    }
}
