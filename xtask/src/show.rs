//! `traceproof show`: one case as it is written, or a real program and its parameters.

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;
use traceproof_conformance::family::{FamilyRules, RecordedProgram};
use traceproof_conformance::listing::WireFile;
use traceproof_conformance::save::case_text;
use traceproof_conformance::suite::Suite;
use traceproof_vectors::case::CaseFile;

use crate::exit::{Exit, Outcome};
use crate::files::print;
use crate::program::invocation;
use crate::select::{WithCase, with_case};
use crate::suite::SuiteArgument;

/// Print one case as it is written; of a real program its parameters, code sections and sizes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof show etr-0042
  traceproof show etr-seed-17
  traceproof show mix.rv64gc/delta")]
pub(crate) struct Arguments {
    /// Id of the case, or a text that occurs in the id, title or path of only one; or a real program and its parameter
    /// set, PROGRAM/SET.
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
        case_text(file)
    }

    fn program_text<P: FamilyRules>(&self, program: RecordedProgram<P>) -> Result<String, String> {
        recorded(&program)
    }
}

/// Parameters and policy of a real program as TOML; code sections, sizes and commands in comments.
fn recorded<P: FamilyRules>(recorded: &RecordedProgram<P>) -> Result<String, String> {
    let RecordedProgram { about, about_set, parameters, policy, code, instructions, traps, .. } = recorded;
    let name = recorded.name();
    let mut text = format!("# {name}: {about}\n# {}: {about_set}\n", recorded.set);
    for section in code.sections() {
        let size = section.bytes.len();
        let _ = writeln!(text, "# code at {:#x}: {size} bytes  {}", section.address, section.name);
    }
    let mut sink = WireFile::new(std::io::sink(), None::<std::io::Sink>);
    let steps = recorded
        .encode(P::reference_encoder().as_mut(), &mut sink, u64::MAX)
        .map_err(|error| format!("{name}: {error}"))?;
    let (packets, bytes) = sink.finish().map_err(|error| error.to_string())?;
    let _ = writeln!(text, "# {instructions} instructions, {traps} traps: {steps} steps of the encoder");
    let _ = writeln!(text, "# {packets} packets, {bytes} bytes, as the reference encoder makes them");
    let invocation = invocation();
    for command in ["conformance --real-programs --filter", "explain"] {
        let _ = writeln!(text, "# {}", invocation.command(format!("{command} {name}")));
    }
    #[derive(Serialize)]
    struct Setup<'a, A, B> {
        parameters: &'a A,
        policy: &'a B,
    }
    let setup = toml::to_string(&Setup { parameters, policy }).map_err(|error| error.to_string())?;
    let _ = write!(text, "\n{setup}");
    Ok(text)
}
