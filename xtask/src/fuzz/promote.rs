//! `traceproof fuzz promote`: a finding as a case.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use traceproof_conformance::Subject;
use traceproof_conformance::differential::Stream;
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::promote::protocol_of;
use traceproof_conformance::promote::{self, Naming, NotPromoted, Promoted};

use super::read;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_apart, print, write};
use crate::program::invocation;
use crate::subjects::{Starting, files_of, named};
use crate::suite::SuiteArgument;

/// Make a case of a finding: of a fuzz project, of `diff --findings`, or an input that libFuzzer wrote.
///
/// With --subject the stream is shrunk first, as long as the subject shows the same kind of difference, and the case
/// fails for the subject. In any case it passes for the reference, whose results it expects: compare them with the
/// specification before the case joins a suite.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof fuzz promote findings/packets-branch.stream --subject acme.toml -o cases/riscv_etrace/branch.toml
  traceproof conformance --suite cases --subject acme.toml")]
pub(crate) struct Arguments {
    /// The finding.
    #[arg(value_name = "FILE")]
    finding: PathBuf,
    /// The decoder that it is about: reference, a peer, or a file; as for `conformance`.
    #[arg(long, value_name = "NAME|FILE.toml")]
    subject: Option<String>,
    #[command(flatten)]
    starting: Starting,
    #[command(flatten)]
    suite: SuiteArgument,
    /// The id of the case; default: the one after the highest of the suite.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Write the case to this new file; default: print it.
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Arguments { finding, subject, starting, suite, id, output } = arguments;
    let files = subject.as_deref().map(files_of).unwrap_or_default();
    let mut inputs = vec![("FILE", Some(finding.as_path()))];
    inputs.extend(files.iter().map(|file| ("--subject", Some(file.as_path()))));
    let outputs = [("--output", output.as_deref()), starting.output()];
    check_apart(&inputs, &outputs)?;
    suite.check_outputs(&outputs[1..])?;
    // It may be a case that was written by hand.
    if let Some(output) = output.as_deref().filter(|output| output.is_file()) {
        return Err(Failure::usage(format!("{} exists; nothing was written", output.display())));
    }
    let file = read(finding)?;
    let protocol = protocol_of(&file).map_err(|error| Failure::file(finding, error))?;
    let subject = subject.as_deref().map(|name| named(name, starting)).transpose()?;
    let target = finding.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let promoting = Promoting {
        file: &file,
        path: finding,
        subject: subject.as_ref(),
        naming: Naming { id: id.clone(), target },
        suite,
    };
    let promoted =
        family::visit(protocol, promoting).unwrap_or_else(|| Err(Failure::no_such_family(protocol)))?;
    let Promoted { id, text, explanation, kind, without_events } = promoted;
    let mut shown = explanation;
    if let Some(kind) = kind {
        shown.push_str(&format!("\nkind: {kind}\n"));
    }
    if without_events {
        shown.push_str("\nThe events have no form in cases without labels: the case judges packets only.\n");
    }
    match output {
        Some(path) => {
            if let Some(suite) = path.parent() {
                fs::create_dir_all(suite).map_err(|error| Failure::file(suite, error))?;
            }
            write(path, text)?;
            let check = invocation().command(format!("conformance --filter {id} --suite DIRECTORY"));
            shown.push_str(&format!("\n{id} written to {}; `{check}` judges it\n", path.display()));
        }
        None => shown.push_str(&format!("\n{text}")),
    }
    print(&shown)?;
    Ok(Exit::Ok)
}

struct Promoting<'a> {
    file: &'a [u8],
    path: &'a Path,
    subject: Option<&'a Subject>,
    naming: Naming,
    suite: &'a SuiteArgument,
}

impl Visitor for Promoting<'_> {
    type Output = Result<Promoted, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Self { file, path, subject, naming, suite } = self;
        let stream = Stream::<P>::read(file).map_err(|error| Failure::file(path, error))?;
        promote::promote(stream, subject, &naming, &suite.directories()?).map_err(|error| match error {
            NotPromoted::Suite(errors) => Failure::suite(&errors),
            NotPromoted::Message(text) => Failure::file(path, text),
        })
    }
}
