//! What every shipped case means, bit by bit, as snapshots: a change of a reader shows which cases it touches.
//!
//! One snapshot holds all cases of a topic (`vectors/suites/<family>/<topic>/`) in the order of their file names.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;

use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::report::explain::{self, Explaining};
use traceproof_vectors::case::Case;

#[test]
fn every_case_dissects_as_before() {
    thread::scope(|scope| {
        for family in family::IMPLEMENTED {
            scope.spawn(move || family::visit(family, DissectAll).expect("a family of this build"));
        }
    });
}

/// Lines at the begin and at the end of a dissection that are kept.
const MOST_LINES: usize = 600;

struct DissectAll;

impl Visitor for DissectAll {
    type Output = ();

    fn visit<P: FamilyRules>(self) {
        dissect_all::<P>(P::ID.name());
    }
}

/// Holds every topic of a family against its snapshot. All topics are tried before the test fails.
fn dissect_all<P: FamilyRules>(family: &str) {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suite = crate_root.join("../vectors/suites").join(family);
    let snapshots = crate_root.join("tests/runs/snapshots/dissection").join(family);
    // Beside the topics there may be a list of retired ids.
    let topics: BTreeSet<String> =
        entries(&suite).iter().filter(|path| path.is_dir()).map(|path| stem(path)).collect();
    assert!(!topics.is_empty(), "{} has no topics", suite.display());

    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path(&snapshots);
    settings.set_omit_expression(true);
    let holds = |topic: &&String| {
        let shown = dissect_topic::<P>(&suite.join(topic));
        let check = || settings.bind(|| insta::assert_snapshot!(topic.as_str(), shown));
        catch_unwind(AssertUnwindSafe(check)).is_ok()
    };
    let differing: Vec<&String> = topics.iter().filter(|topic| !holds(topic)).collect();
    assert!(differing.is_empty(), "topics that differ from their snapshots: {differing:?}");

    let kept: BTreeSet<String> =
        entries(&snapshots).iter().filter(|path| !is_pending(path)).map(|path| stem(path)).collect();
    assert_eq!(kept, topics, "one snapshot per topic of {family}, and none without a topic");
}

/// The dissection of every case of a topic, each after a line with the name of its file.
fn dissect_topic<P: FamilyRules>(topic: &Path) -> String {
    let cases: Vec<String> = entries(topic).iter().map(|path| dissect_case::<P>(path)).collect();
    cases.join("\n")
}

fn dissect_case<P: FamilyRules>(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("readable");
    let case = Case::<P>::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let resolved = case.resolve().unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    let shown =
        explain::stream::<P>(&resolved.wire, &case.parameters, &resolved.program, &Explaining::default())
            .unwrap_or_else(|refusal| format!("refused: {refusal}\n"));
    let shown = format!("{}  {}\n{}", case.id, case.title, ends(shown.trim_end()));
    format!("== {}.toml\n{}\n", stem(path), shown.trim_end())
}

/// The text, or of a long one its first and last lines: what fills thousands of them repeats itself.
fn ends(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= 2 * MOST_LINES {
        return text.to_owned();
    }
    let (first, last) = (&lines[..MOST_LINES], &lines[lines.len() - MOST_LINES..]);
    format!("{}\n... {} lines ...\n{}", first.join("\n"), lines.len() - 2 * MOST_LINES, last.join("\n"))
}

/// What a directory holds, in order of names.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.expect("readable directory").path())
        .collect();
    paths.sort();
    paths
}

/// Whether insta wrote the file for a review.
fn is_pending(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".snap.new")
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}
