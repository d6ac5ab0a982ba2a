//! Writes a page of made-up results, for the test in a browser (`.ci/browser`): three subjects, 4,000 cases. With files
//! of results, a page of these.
//!
//!     cargo run -p traceproof-report --example sample-page -- sample.html
//!     cargo run -p traceproof-report --example sample-page -- page.html results.json

mod results;

use std::error::Error;
use std::{env, fs};

use traceproof_report::{Inputs, Matrices, Mutants, Performance, Run, html};

const KILLS: &str = r#"{"schema": 1, "families": [{"family": "riscv_etrace", "saboteurs": [
  {"name": "sign-lost", "side": "decoder", "bug": "A difference has no sign.", "source": "CL-0001", "judged": 9,
   "killers": [{"case": "case-0001", "direction": "decode", "kind": "fail"}]},
  {"name": "survivor", "side": "encoder", "bug": "None is found.", "source": "CL-0002", "judged": 9,
   "killers": []}]}]}"#;

const MUTANTS: &str = r#"{"schema": 1, "families": ["riscv_etrace"], "rows": [
  {"module": "riscv_etrace", "crate": "decoder", "viable": 9, "unviable": 0, "judged": 9, "not_executed": 1,
   "killed": 5, "timed_out": 1, "survived": 1, "equivalent": 1, "fragile": 0}], "mutants": [
  {"id": "0123456789abcdef", "file": "decoder/src/riscv_etrace/walk.rs", "line": 7, "column": 3,
   "function": "Walker::step", "operator": "binary-operator", "text": "a < b", "change": "replace < with <=",
   "occurrence": 0, "outcome": "survived"},
  {"id": "0123456789abcde0", "file": "decoder/src/riscv_etrace/walk.rs", "line": 8, "column": 3,
   "function": "Walker::step", "operator": "binary-operator", "text": "a & b", "change": "replace & with |",
   "occurrence": 0, "outcome": "survived", "equivalent": "b is 0"}]}"#;

const PERFORMANCE: &str = r#"{"family": "riscv_etrace", "rounds": 3, "peer": "other 1.0", "measurements": [
  {"workload": "mix", "task": {"title": "decode", "unit": "packets"}, "units": 9, "bytes": 9,
   "reference": 2e7, "peer": 1e7, "ratio": 2.0}]}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: sample-page FILE.html [RESULTS.json]...")?;
    let given = env::args().skip(2).map(|file| Ok(Run::parse(&fs::read_to_string(file)?)?));
    let given = given.collect::<Result<Vec<Run>, Box<dyn Error>>>()?;
    if given.is_empty() {
        fs::write(path, sample()?)?;
    } else {
        fs::write(path, html(Inputs { runs: &given, ..Inputs::default() })?)?;
    }
    Ok(())
}

fn sample() -> Result<String, Box<dyn Error>> {
    let subjects = [("alpha", 9), ("beta", 40), (results::HOSTILE, 4000)];
    let run = |(subject, failing)| Run::parse(&results::large_text(subject, 4000, failing));
    let mut runs = subjects.into_iter().map(run).collect::<Result<Vec<_>, _>>()?;
    // The hostile subject also has a program, a known failure and a crash with its own name as the message.
    let other = Run::parse(&results::small_text(results::HOSTILE))?;
    if let Some(last) = runs.last_mut() {
        last.programs.extend(other.programs);
        last.cases.extend(other.cases);
    }
    let earlier = Run::parse(&results::large_text("alpha", 4000, 11))?;
    Ok(html(Inputs {
        runs: &runs,
        earlier: Some(&earlier),
        kills: Some(&Matrices::parse(KILLS)?),
        mutants: Some(&Mutants::parse(MUTANTS)?),
        performance: &[Performance::parse(PERFORMANCE)?],
    })?)
}
