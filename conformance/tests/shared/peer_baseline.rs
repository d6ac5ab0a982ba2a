//! A peer over everything, held against its baseline.

use std::fs;
use std::path::Path;

use toml::value::Date;
use traceproof_conformance::baseline::{self, Baseline, Signature};
use traceproof_conformance::generate::DEFAULT_GENERATED_PER_FAMILY;
use traceproof_conformance::verdict::Kind;
use traceproof_conformance::{Options, Subject, run};

/// No entry of these baselines expires.
const TODAY: Date = Date { year: 2026, month: 11, day: 22 };

/// The baseline `conformance/baselines/<name>.toml` knows every failure of the subject, nothing in it is stale, every
/// finding can be followed, and at least so many checks pass. Checks that differ from run to run, chosen by
/// their line, are not compared.
pub(crate) fn holds(subject: &Subject, name: &str, least: usize, is_steady: fn(&str) -> bool) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let path = root.join(format!("conformance/baselines/{name}.toml"));
    let text = fs::read_to_string(&path).expect("a committed baseline");
    let known = Baseline::parse(&text).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
    for entry in &known.known {
        let (file, anchor) = entry.finding.split_once('#').unwrap_or((&entry.finding, ""));
        let finding =
            fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{}: {error}", entry.finding));
        assert!(leads_somewhere(&finding, anchor), "{} is no place in {file}", entry.finding);
    }

    let options =
        Options { generated: 0..DEFAULT_GENERATED_PER_FAMILY, programs: true, ..Options::default() };
    let mut run = run(subject, &options, &|_| {}).expect("a sound suite");
    let stale = baseline::apply(&mut run, &known, TODAY, true);
    let unknown: Vec<String> = run
        .checks()
        .filter(|(_, _, verdict)| verdict.kind().is_failure())
        .map(|(id, direction, verdict)| format!("{}\n  {verdict}", Signature::new(&id, direction, verdict)))
        .filter(|line| is_steady(line))
        .collect();
    println!("{name}: {:?} and {:?}", run.tally(), run.program_tally());
    let stale: Vec<String> = stale.iter().map(ToString::to_string).filter(|line| is_steady(line)).collect();
    assert!(
        stale.is_empty() && unknown.is_empty(),
        "stale:\n{}\nnot in the baseline:\n{}",
        stale.join("\n"),
        unknown.join("\n")
    );
    let passed = run.tally().of(Kind::Pass);
    assert!(passed >= least, "{passed} checks pass");
}

/// Whether a link to the anchor finds something: an anchor of its own, or a heading.
fn leads_somewhere(text: &str, anchor: &str) -> bool {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>()
    };
    !anchor.is_empty()
        && (text.contains(&format!("id=\"{anchor}\""))
            || text.lines().any(|line| line.starts_with('#') && heading(line) == anchor))
}
