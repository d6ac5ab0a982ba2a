//! `traceproof show`: one case as it is written.

use clap::Args;
use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::suite::Suite;
use traceproof_vectors::case::{Case, CaseFile};
use traceproof_vectors::notation::show_bytes;

use crate::exit::{Exit, Outcome};
use crate::files::print;
use crate::select::{WithCase, with_case};
use crate::suite::SuiteArgument;

/// Print one case as it is written.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  traceproof show etr-0042")]
pub(crate) struct Arguments {
    /// Id of the case, or a text that occurs in the id, title or path of only one.
    case: String,
    #[command(flatten)]
    suite: SuiteArgument,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print(&with_case(&arguments.case, &arguments.suite, &Text)?)?;
    Ok(Exit::Ok)
}

struct Text;

impl WithCase for Text {
    fn text<P: FamilyRules>(&self, file: &CaseFile<P>, _: &Suite<P>) -> String {
        // A generated execution is no file.
        if file.text.is_empty() { written(file) } else { file.text.clone() }
    }
}

/// What is known of a case without a file: the code as bytes, and wire and packets as a case has them. Events are what
/// `explain` shows.
fn written<P: FamilyRules>(file: &CaseFile<P>) -> String {
    let mut text = String::new();
    for section in file.resolved.program.sections() {
        let space = if section.space.is_any() { String::new() } else { format!(", {}", section.space) };
        text.push_str(&format!("# code at {:#x}{space}: {}\n", section.address, show_bytes(&section.bytes)));
    }
    let case = Case {
        wire: P::show_wire(&file.resolved.wire, &file.case.parameters),
        packets: file.resolved.packets.clone(),
        ..file.case.clone()
    };
    text.push_str(&toml::to_string(&case).unwrap_or_else(|error| format!("# {error}\n")));
    text
}
