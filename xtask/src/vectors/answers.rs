//! `traceproof vectors answers`: what hardware made of a pack of streams.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::report::{json, junit, text};
use traceproof_conformance::suite::{Directories, Selection, Suite};
use traceproof_conformance::{Agreement, Direction, Options, Run, Subject, run as run_suite};
use traceproof_rtl::streams::{Answers, Recorded, Replay, StreamManifest, StreamPack, read};
use traceproof_rtl::verbs::log_of_run;
use traceproof_vectors::case::CaseFile;
use traceproof_vectors::{Capabilities, ProtocolId, bounded};

use super::streams::driven;
use crate::conformance::style;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_apart, print, read_text, write};
use crate::program::invocation;
use crate::suite::SuiteArgument;

/// Judge what hardware answered to a pack of `vectors streams`: packets, events and faults of a decoder, or the bytes
/// of an encoder.
///
/// The program of `--run` is started once, with the environment variables TRACEPROOF_PACK (directory of the pack) and
/// TRACEPROOF_LOG (file that it must write, docs/pack.md). The comparison and the reports are those of `conformance`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof vectors answers --pack pack --run './simulate.sh' --junit results.xml
  traceproof vectors answers --pack pack --log answers.log")]
pub(crate) struct Arguments {
    /// Directory of the pack.
    #[arg(long, value_name = "DIR")]
    pack: PathBuf,
    /// Command that simulates, run by the shell.
    #[arg(long, value_name = "COMMAND", conflicts_with = "log", required_unless_present = "log")]
    run: Option<String>,
    /// What a testbench wrote earlier.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    suite: SuiteArgument,
    /// Name of the hardware in reports.
    #[arg(long, value_name = "NAME", default_value = "hardware")]
    name: String,
    /// How far encoders must agree with the cases: exact, legal or semantic, as for `conformance`.
    #[arg(long, value_name = "AGREEMENT", default_value = "legal")]
    require: Agreement,
    /// Show every failure, instead of one example of each cause.
    #[arg(long)]
    every_failure: bool,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    check_apart(
        &[("--log", arguments.log.as_deref())],
        &[("--json", arguments.json.as_deref()), ("--junit", arguments.junit.as_deref())],
    )?;
    let problem = |problem: traceproof_rtl::Problem| Failure::usage(problem.to_string());
    let pack = read(&arguments.pack).map_err(problem)?;
    let protocol: ProtocolId = pack
        .manifest
        .protocol
        .parse()
        .map_err(|error| Failure::file(&arguments.pack.join("manifest.json"), error))?;
    let (file, log) = match (&arguments.log, &arguments.run) {
        (Some(file), _) => (file.display().to_string(), read_text(file, bounded::LISTING)?),
        (_, Some(command)) => {
            (String::from("answers.log"), log_of_run(command, &arguments.pack).map_err(problem)?)
        }
        _ => return Err(Failure::usage("one of `--run` and `--log` is needed")),
    };
    let judge = Judge { arguments, pack: &pack, file: &file, log: &log };
    let run = family::visit(protocol, judge).unwrap_or_else(|| Err(Failure::no_such_family(protocol)))?;
    if let Some(path) = &arguments.json {
        write(path, &json::report(&run).map_err(|error| Failure::file(path, error))?)?;
    }
    if let Some(path) = &arguments.junit {
        write(path, &junit::report(&run).map_err(|error| Failure::file(path, error))?)?;
    }
    let report = if arguments.every_failure { text::report_of_every_failure } else { text::report };
    print(&report(&run, style()))?;
    Ok(if run.is_success() { Exit::Ok } else { Exit::Failed })
}

struct Judge<'a> {
    arguments: &'a Arguments,
    pack: &'a StreamPack,
    file: &'a str,
    log: &'a str,
}

impl Visitor for Judge<'_> {
    type Output = Result<Run, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Self { arguments, pack, file, log } = self;
        let manifest = &pack.manifest;
        let answers =
            Answers::<P>::parse(file, log).map_err(|problem| Failure::usage(problem.to_string()))?;
        for report in answers.reports(manifest) {
            print(&format!("reported: {report}\n"))?;
        }
        let problems = answers.problems(manifest);
        if !problems.is_empty() {
            let message = format!("{file}: the run cannot be judged: {}", problems.join("; "));
            return Err(Failure::Message { exit: Exit::Broken, message });
        }
        let directories = arguments.suite.directories()?;
        let recorded = Arc::new(recorded::<P>(&answers, manifest, &directories, &arguments.pack)?);
        let capabilities = Capabilities::from(&answers.claims());
        let mut subject = Subject::new(&arguments.name, "");
        let replay = Replay::new(recorded, capabilities);
        if answers.has_results() {
            let replay = replay.clone();
            subject = subject.with_decoder::<P>(move || Box::new(replay.clone()));
        }
        let encoder = answers.has_wire();
        if encoder {
            subject = subject.with_encoder::<P>(move || Box::new(replay.clone()));
        }
        let ids = manifest.cases.iter().filter(|entry| !encoder || entry.steps.is_some());
        let options = Options {
            directories,
            selection: Selection {
                families: vec![P::FAMILY],
                filters: ids.map(|entry| entry.id.clone()).collect(),
                ..Selection::default()
            },
            directions: vec![Direction::Decode, Direction::Encode],
            require: arguments.require,
            invocation: invocation(),
            ..Options::default()
        };
        run_suite(&subject, &options, &|_| {}).map_err(|errors| Failure::suite(&errors))
    }
}

/// The answers with what was asked. The suite must be the one that the pack was made from.
fn recorded<P: FamilyRules>(
    answers: &Answers<P>,
    manifest: &StreamManifest,
    directories: &Directories,
    pack: &Path,
) -> Result<Vec<Recorded<P>>, Failure> {
    let suite = Suite::<P>::load(directories).map_err(|errors| Failure::suite(&errors))?;
    let files: BTreeMap<&str, &CaseFile<P>> =
        suite.files.iter().map(|file| (file.case.id.as_str(), file)).collect();
    let mut recorded = Vec::with_capacity(answers.cases.len());
    for answer in &answers.cases {
        let entry = manifest.cases.get(answer.number as usize);
        let entry = entry
            .ok_or_else(|| Failure::file(pack, format!("there is no case {} in the pack", answer.number)))?;
        let file = files.get(entry.id.as_str()).filter(|file| entry.is_of(&file.text));
        let Some(file) = file else {
            let message = format!("{} is another case in the suite now: make the pack again", entry.id);
            return Err(Failure::file(pack, message));
        };
        recorded.push(Recorded {
            parameters: file.case.parameters.clone(),
            policy: file.case.policy.clone(),
            program: file.resolved.program.clone(),
            wire: file.resolved.wire.clone(),
            packets: file.resolved.packets.clone(),
            stimulus: driven(file).ok().flatten().map_or_else(Vec::new, |driven| driven.stimulus),
            log: answer.log.clone(),
        });
    }
    Ok(recorded)
}
