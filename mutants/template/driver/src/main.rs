//! Judges the reference decoder and encoder model of one family while one mutant after the other is active.
//!
//! `families` prints the families. `serve FAMILY` loads the suite of the family and answers each line of the standard
//! input, a request in JSON, by lines of JSON:
//!
//! * `{"record":{}}`: judges every part of the suite without a mutant. Each has a line
//!   `{"part":0,"name":…,"micros":…,"executed":"3 7-9","applicable":1,"failures":[…]}`; the last line is `{"parts":…}`.
//! * `{"judge":{"mutant":7,"every":false,"parts":[[12,5000],…]}}`: judges these parts, each with its deadline in
//!   milliseconds, while the mutant is active; `every` goes on after the first failure. The line is
//!   `{"failures":[…],"part":…,"applicable":…,"ends":…,"unsound":…}`. `part` is the first that fails. `ends`: a part did not end, so the process ends.
//!   `unsound`: what failed also fails without the mutant, in this process.
//!
//! `deadline=SECONDS` after the family is that of one check, `real-programs` adds these. The exit code is 5 when the
//! suite is invalid, 3 when arguments or requests are wrong.

use std::io::{self, BufRead as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{env, panic, thread};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::{Value, json};
use traceproof_conformance::generate::DEFAULT_GENERATED_PER_FAMILY;
use traceproof_conformance::{Loaded, Options, Run, Selection, Subject, family};
use traceproof_vectors::Family;

/// What a mutant may allocate.
const MEMORY: u64 = 4 << 30;
/// Without a mutant a part ends long before.
const PATIENCE: Duration = Duration::from_secs(600);

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.split_first() {
        Some((verb, [])) if verb == "families" => {
            for family in family::families() {
                println!("{}", family.name());
            }
            ExitCode::SUCCESS
        }
        Some((verb, [family, options @ ..])) if verb == "serve" => match load(family, options) {
            Ok(Ok(loaded)) => {
                serve(&Arc::new(loaded)).map_or_else(|message| broken(3, &message), |()| ExitCode::SUCCESS)
            }
            Ok(Err(message)) => broken(5, &message),
            Err(message) => broken(3, &message),
        },
        _ => broken(3, "what to do?"),
    }
}

fn broken(code: u8, message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}

/// The suite, or what is wrong with it, or with the arguments.
fn load(family: &str, arguments: &[String]) -> Result<Result<Loaded, String>, String> {
    let family: Family = family.parse().map_err(|_| format!("no family `{family}`"))?;
    let mut options = Options {
        selection: Selection { families: vec![family], ..Selection::default() },
        generated: 0..DEFAULT_GENERATED_PER_FAMILY,
        opcodes: true,
        jobs: Some(1),
        ..Options::default()
    };
    for argument in arguments {
        match argument.split_once('=') {
            Some(("deadline", text)) => {
                let seconds = text.parse().map_err(|_| format!("no number: `{argument}`"))?;
                options.deadline = Duration::from_secs(seconds);
            }
            None if argument == "real-programs" => options.programs = true,
            _ => return Err(format!("unknown argument `{argument}`")),
        }
    }
    let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    setrlimit(Resource::As, limit).map_err(|error| format!("memory cannot be limited: {error}"))?;
    panic::set_hook(Box::new(|_| {}));
    let lines = |errors: Vec<_>| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    Ok(Loaded::new(&Subject::reference(), &options).map_err(lines))
}

fn serve(loaded: &Arc<Loaded>) -> Result<(), String> {
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let request: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        if request.get("record").is_some() {
            record(loaded)?;
        } else if let Some(request) = request.get("judge") {
            let answer = judge(loaded, request).ok_or("a request without mutant and parts")?;
            print(&answer)?;
            if answer["ends"] == true {
                return Ok(());
            }
        } else {
            return Err(format!("an unknown request: {line}"));
        }
    }
    Ok(())
}

fn print(line: &Value) -> Result<(), String> {
    writeln!(io::stdout(), "{line}").map_err(|error| error.to_string())
}

fn record(loaded: &Arc<Loaded>) -> Result<(), String> {
    let names: Vec<String> = loaded.names().map(str::to_owned).collect();
    for (part, name) in names.iter().enumerate() {
        mutant_switch::record_executed();
        let start = Instant::now();
        let Part { failures, applicable, .. } = judge_part(loaded, part, PATIENCE);
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        let executed = ranges(mutant_switch::executed());
        print(&json!({
            "part": part, "name": name, "micros": micros, "executed": executed,
            "applicable": applicable, "failures": failures,
        }))?;
    }
    mutant_switch::deactivate();
    print(&json!({ "parts": names.len() }))
}

/// Ascending numbers, those in sequence as `first-last`.
fn ranges(numbers: impl Iterator<Item = usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn judge(loaded: &Arc<Loaded>, request: &Value) -> Option<Value> {
    let mutant = u32::try_from(request["mutant"].as_u64()?).ok()?;
    let every = request["every"].as_bool()?;
    let (mut failures, mut first, mut applicable) = (Vec::new(), None, 0);
    let (mut ends, mut unsound) = (false, false);
    for part in request["parts"].as_array()? {
        let index = usize::try_from(part[0].as_u64()?).ok()?;
        let deadline = Duration::from_millis(part[1].as_u64()?);
        mutant_switch::activate(mutant);
        let judged = judge_part(loaded, index, deadline);
        mutant_switch::deactivate();
        applicable += judged.applicable;
        ends = judged.ends;
        if !ends && failures.is_empty() && !judged.failures.is_empty() {
            let without = judge_part(loaded, index, deadline);
            unsound = !without.failures.is_empty();
            ends = without.ends || unsound;
        }
        if !judged.failures.is_empty() {
            first = first.or(Some(index));
        }
        failures.extend(judged.failures);
        if ends || (!failures.is_empty() && !every) {
            break;
        }
    }
    Some(json!({
        "failures": failures, "part": first, "applicable": applicable, "ends": ends, "unsound": unsound,
    }))
}

/// What came of a part.
struct Part {
    failures: Vec<Value>,
    /// How many checks were judged.
    applicable: usize,
    /// A thread of it still runs.
    ends: bool,
}

fn judge_part(loaded: &Arc<Loaded>, part: usize, deadline: Duration) -> Part {
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::clone(loaded);
    let failed = |kind: &str, message: &str, ends| {
        let name = loaded.names().nth(part).unwrap_or_default();
        let case = name.split_once(' ').map_or(name, |(case, _)| case);
        let failure = json!({ "case": case, "direction": "-", "kind": kind, "message": message });
        Part { failures: vec![failure], applicable: 1, ends }
    };
    let started = thread::Builder::new().spawn(move || {
        let judged = catch_unwind(AssertUnwindSafe(|| shared.judge(part)));
        // The receiver is gone when the deadline has passed.
        let _ = sender.send(judged);
    });
    if started.is_err() {
        return failed("crash", "no thread could be started", true);
    }
    match receiver.recv_timeout(deadline) {
        Ok(Ok(Ok(run))) => of_run(&run),
        Ok(Ok(Err(error))) => failed("suite", &error.to_string(), true),
        // A panic of the harness because of what the mutant did.
        Ok(Err(_)) => failed("crash", "the harness panics", false),
        Err(_) => failed("timeout", "it does not end", true),
    }
}

fn of_run(run: &Run) -> Part {
    let failures: Vec<Value> = run
        .checks()
        .filter(|(_, _, verdict)| verdict.kind().is_failure())
        .map(|(case, direction, verdict)| {
            json!({
                "case": case,
                "direction": direction.name(),
                "kind": verdict.kind().to_string(),
                "message": verdict.to_string(),
            })
        })
        .collect();
    let ends = failures.iter().any(|failure| failure["kind"] == "timeout");
    let applicable = run.tally().applicable() + run.program_tally().applicable();
    Part { failures, applicable, ends }
}
