//! A small crate is mutated, compiled and judged; what must become of each mutant is known by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use traceproof_mutants::{Layout, Options, Outcome, Report, Wanted, build, judge, read};

const WORKSPACE: &str = r#"
[workspace]
resolver = "3"
members = ["small"]
"#;

const MANIFEST: &str = r#"
[package]
name = "small"
version = "0.0.0"
edition = "2024"

[dev-dependencies]
nothing-that-exists = "1"
"#;

const LIB: &str = "pub mod numbers;\npub mod shared;\n";

const NUMBERS: &str = r"
pub const LIMIT: u8 = limit(9);

const fn limit(a: u8) -> u8 {
    a + 1
}

pub fn is_big(a: u8) -> bool {
    a > LIMIT
}

pub fn odd(a: u8) -> u8 {
    a | 1
}

pub fn down(mut a: u8) {
    while a != 0 {
        a -= 1;
    }
}

pub fn never(a: u8) -> bool {
    !is_big(a)
}

pub fn nonzero() -> core::num::NonZeroU8 {
    core::num::NonZeroU8::MIN
}

pub fn borrowed(a: &[u8], b: &u8) -> bool {
    match a {
        [first, ..] => first == b,
        _ => false,
    }
}
";

const SHARED: &str = "pub fn one() -> bool {\n    deep()\n}\n\nfn deep() -> bool {\n    panic!()\n}\n";

const DRIVER_MANIFEST: &str = r#"
[package]
name = "mutant-driver"
version = "0.0.0"
edition = "2024"

[dependencies]
mutant-switch = { path = "../mutant-switch" }
small = { path = "../small" }
"#;

const DRIVER: &str = r##"
use small::{numbers, shared};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments[0] == "families" {
        println!("numbers");
        return;
    }
    let mut executed = None;
    for argument in &arguments[2..] {
        match argument.split_once('=') {
            Some(("mutant", number)) => mutant_switch::activate(number.parse().unwrap()),
            Some(("executed", file)) => executed = Some(file),
            _ => {}
        }
    }
    if executed.is_some() {
        mutant_switch::record_executed();
    }
    numbers::down(3);
    let checks = [
        ("eleven", numbers::is_big(11)),
        ("ten", !numbers::is_big(10)),
        ("odd", numbers::odd(2) == 3),
        ("nonzero", numbers::nonzero().get() == 1),
        ("borrowed", numbers::borrowed(&[1, 2], &1)),
        ("borrowed-too", !numbers::borrowed(&[1, 2], &2)),
    ];
    let failed: Vec<&str> = checks.iter().filter(|(_, passed)| !passed).map(|(name, _)| *name).collect();
    if let Some(file) = executed {
        let text: Vec<String> = mutant_switch::executed().map(|it| it.to_string()).collect();
        std::fs::write(file, text.join("\n")).unwrap();
    }
    let failures: Vec<String> = failed
        .iter()
        .map(|case| format!(r#"{{"case":"{case}","direction":"decode","kind":"fail","message":"no"}}"#))
        .collect();
    println!(r#"{{"failures":[{}]}}"#, failures.join(","));
    let _ = shared::one as fn() -> bool;
    std::process::exit(i32::from(!failed.is_empty()));
}
"##;

fn layout(root: &Path) -> Layout {
    for (path, text) in [
        ("Cargo.toml", WORKSPACE),
        ("small/Cargo.toml", MANIFEST),
        ("small/src/lib.rs", LIB),
        ("small/src/numbers.rs", NUMBERS),
        ("small/src/shared.rs", SHARED),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("is made");
        fs::write(path, text).expect("is written");
    }
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    Layout {
        root: root.to_owned(),
        directory: root.join("target/mutants"),
        members: vec![String::from("small")],
        mutated: vec![String::from("small")],
        driver: vec![file("Cargo.toml", DRIVER_MANIFEST), file("src/main.rs", DRIVER)],
    }
}

#[test]
fn every_mutant_has_the_outcome_known_by_hand() {
    let directory = tempfile::tempdir().expect("a directory");
    let layout = layout(directory.path());
    let built = build(&layout, Wanted::default(), &|_| {}).expect("builds");
    let options = Options {
        families: vec![String::from("numbers")],
        count_kills: true,
        jobs: 2,
        least_deadline: Duration::from_secs(2),
        ..Options::default()
    };
    let judgement = judge(&layout, &built, &options, &|_| {}).expect("judges");
    for (module, few) in [("shared", 0), ("numbers", judgement.judged.len())] {
        let modules = vec![String::from(module)];
        let chosen = judge(&layout, &built, &Options { modules, ..options.clone() }, &|_| {})
            .map(|it| it.judged.len());
        assert_eq!(chosen.unwrap_or_default(), few, "{module}");
    }
    let mut outcomes: BTreeMap<String, String> = BTreeMap::new();
    for number in &built.unviable {
        let mutant = &built.found.mutants[*number];
        outcomes.insert(format!("{}: {}", mutant.function, mutant.change), String::from("unviable"));
    }
    for judged in &judgement.judged {
        let mutant = &built.found.mutants[judged.mutant];
        let outcome = match &judged.outcome {
            Outcome::Killed { failures } => {
                let cases: Vec<&str> = failures.iter().map(|failure| failure.case.as_str()).collect();
                cases.join(" ")
            }
            other => format!("{other:?}"),
        };
        outcomes.insert(format!("{}: {}", mutant.function, mutant.change), outcome);
    }
    let lines: Vec<String> =
        outcomes.iter().map(|(mutant, outcome)| format!("{mutant}: {outcome}")).collect();
    assert_eq!(
        lines,
        [
            "borrowed: delete the match arm: borrowed",
            "borrowed: replace == with !=: borrowed borrowed-too",
            "borrowed: replace the body with false: borrowed",
            "borrowed: replace the body with true: borrowed-too",
            "down: replace != with ==: Survived",
            "down: replace -= with +=: Survived",
            "down: replace -= with /=: TimedOut",
            "down: replace the body with (): Survived",
            "is_big: replace > with <: eleven",
            "is_big: replace > with ==: eleven ten",
            "is_big: replace > with >=: ten",
            "is_big: replace the body with false: eleven",
            "is_big: replace the body with true: ten",
            "never: delete !: NotExecuted",
            "never: replace the body with false: NotExecuted",
            "never: replace the body with true: NotExecuted",
            "nonzero: replace the body with Default::default(): unviable",
            "odd: replace the body with 0: odd",
            "odd: replace the body with 1: odd",
            "odd: replace | with &: odd",
            "odd: replace | with ^: Survived",
        ]
    );
    let list = directory.path().join("equivalent.toml");
    fs::write(&list, EQUIVALENT).expect("is written");
    let report = Report::new(&built, &judgement, &read(&list).expect("reads"), true);
    let total = report.total();
    assert_eq!((total.viable, total.unviable, total.judged, total.not_executed), (20, 1, 20, 3));
    assert_eq!((total.killed, total.timed_out, total.survived, total.equivalent), (12, 1, 3, 1));
    assert_eq!(total.fragile, 10);
    assert_eq!((total.of_executed(), total.of_judged()), (Some(81.25), Some(1300.0 / 19.0)));
    let survivors: Vec<&str> = report.survivors().iter().map(|mutant| mutant.change.as_str()).collect();
    assert_eq!(survivors, ["replace the body with ()", "replace != with ==", "replace -= with +="]);
    let refuted: Vec<&str> = report.refuted().iter().map(|mutant| mutant.change.as_str()).collect();
    assert_eq!(refuted, ["replace > with >="]);
    assert_eq!(report.stale.len(), 1);
    assert!(layout.root.join("small/src/numbers.rs").is_file());
    let source = fs::read_to_string(layout.root.join("small/src/numbers.rs")).expect("reads");
    assert_eq!(source, NUMBERS, "the checkout stays as it is");
}

const EQUIVALENT: &str = r#"
[[equivalent]]
file = "small/src/numbers.rs"
function = "odd"
text = "a | 1"
change = "replace | with ^"
reason = "never called with an odd number"

[[equivalent]]
file = "small/src/numbers.rs"
function = "is_big"
text = "a > LIMIT"
change = "replace > with >="
reason = "wrong"

[[equivalent]]
file = "small/src/numbers.rs"
function = "gone"
text = "a"
change = "delete !"
reason = "was removed"
"#;

#[test]
fn an_error_that_no_mutant_explains_is_reported() {
    let directory = tempfile::tempdir().expect("a directory");
    let layout = layout(directory.path());
    let broken = NUMBERS.replace("LIMIT: u8 = limit(9)", "LIMIT: u8 = \"nine\"");
    fs::write(layout.root.join("small/src/numbers.rs"), broken).expect("is written");
    let error = build(&layout, Wanted::default(), &|_| {}).expect_err("does not build").to_string();
    assert!(
        error.starts_with("no mutant explains this error:\n") && error.contains("mismatched types"),
        "{error}"
    );
}
