//! Judges the reference decoder and encoder model of one family while one mutant is active.
//!
//! `families` prints the families. `run FAMILY` judges; `mutant=N` activates a mutant, `executed=FILE` records which
//! are executed instead, `deadline=SECONDS` is that of one check, `every-failure` goes on after the first one,
//! `real-programs` adds these. The last line of the output is JSON; the exit code is 0 when every check passed, 1 when
//! one failed or none applies, 5 when the suite is invalid, 3 when the arguments are wrong.

use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs, panic};

use rustix::process::{Resource, Rlimit, setrlimit};
use traceproof_conformance::generate::DEFAULT_GENERATED_PER_FAMILY;
use traceproof_conformance::{Options, Run, Selection, Subject, family, run};
use traceproof_vectors::Family;

/// What a mutant may allocate.
const MEMORY: u64 = 4 << 30;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.split_first() {
        Some((verb, [])) if verb == "families" => {
            for family in family::families() {
                println!("{}", family.name());
            }
            ExitCode::SUCCESS
        }
        Some((verb, [family, options @ ..])) if verb == "run" => match judge(family, options) {
            Ok(code) => ExitCode::from(code),
            Err(message) => broken(3, &message),
        },
        _ => broken(3, "what to do?"),
    }
}

fn broken(code: u8, message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}

fn judge(family: &str, arguments: &[String]) -> Result<u8, String> {
    let family: Family = family.parse().map_err(|_| format!("no family `{family}`"))?;
    let mut options = Options {
        selection: Selection { families: vec![family], ..Selection::default() },
        generated: 0..DEFAULT_GENERATED_PER_FAMILY,
        opcodes: true,
        jobs: Some(1),
        fail_fast: true,
        ..Options::default()
    };
    let mut record = None;
    for argument in arguments {
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("no number: `{argument}`"));
        match argument.split_once('=') {
            Some(("mutant", text)) => mutant_switch::activate(number(text)?),
            Some(("deadline", text)) => options.deadline = Duration::from_secs(number(text)?.into()),
            Some(("executed", file)) => record = Some(file),
            None if argument == "every-failure" => options.fail_fast = false,
            None if argument == "real-programs" => options.programs = true,
            _ => return Err(format!("unknown argument `{argument}`")),
        }
    }
    let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    setrlimit(Resource::As, limit).map_err(|error| format!("memory cannot be limited: {error}"))?;
    panic::set_hook(Box::new(|_| {}));
    if record.is_some() {
        mutant_switch::record_executed();
    }
    let run = match run(&Subject::reference(), &options, &|_| {}) {
        Ok(run) => run,
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("{error}"));
            return Ok(5);
        }
    };
    if let Some(file) = record {
        let numbers: Vec<String> = mutant_switch::executed().map(|mutant| mutant.to_string()).collect();
        fs::write(file, numbers.join("\n")).map_err(|error| format!("{file}: {error}"))?;
    }
    report(&run);
    Ok(u8::from(!run.is_success()))
}

/// Prints how many checks there were, and those that failed.
fn report(run: &Run) {
    let failures: Vec<serde_json::Value> = run
        .checks()
        .filter(|(_, _, verdict)| verdict.kind().is_failure())
        .map(|(case, direction, verdict)| {
            serde_json::json!({
                "case": case,
                "direction": direction.name(),
                "kind": verdict.kind().to_string(),
                "message": verdict.to_string(),
            })
        })
        .collect();
    println!("{}", serde_json::json!({ "checks": run.checks().count(), "failures": failures }));
}
