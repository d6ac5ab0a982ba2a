//! A small crate is mutated, compiled and judged; what must become of each mutant is known by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use traceproof_mutants::{
    Layout, Options, Outcome, Outside, Report, Sought, Wanted, build, find, judge, read, read_planted,
};

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

pub fn keep(a: u8) -> u8 {
    static KEPT: core::sync::atomic::AtomicU8 = core::sync::atomic::AtomicU8::new(0);
    KEPT.fetch_or(a & 1, core::sync::atomic::Ordering::Relaxed)
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
use std::io::BufRead;

use small::{numbers, shared};

const NAMES: [&str; 8] =
    ["down", "eleven", "ten", "odd", "nonzero", "borrowed", "borrowed-too", "keep"];

fn passes(part: usize) -> bool {
    match part {
        0 => {
            numbers::down(3);
            true
        }
        1 => numbers::is_big(11),
        2 => !numbers::is_big(10),
        3 => numbers::odd(2) == 3,
        4 => numbers::nonzero().get() == 1,
        5 => numbers::borrowed(&[1, 2], &1),
        6 => !numbers::borrowed(&[1, 2], &2),
        _ => numbers::keep(2) == 0,
    }
}

fn failures(part: usize) -> String {
    if passes(part) {
        return String::new();
    }
    let name = NAMES[part];
    format!(r#"{{"case":"{name}","direction":"decode","kind":"fail","message":"no"}}"#)
}

fn record() {
    for (part, name) in NAMES.iter().enumerate() {
        mutant_switch::record_executed();
        let failures = failures(part);
        let executed: Vec<String> = mutant_switch::executed().map(|it| it.to_string()).collect();
        let executed = executed.join(" ");
        println!(
            r#"{{"part":{part},"name":"{name} decode","micros":10,"executed":"{executed}","applicable":1,"failures":[{failures}]}}"#
        );
    }
    println!(r#"{{"parts":{}}}"#, NAMES.len());
}

fn judge(request: &str) {
    let numbers: Vec<usize> = request
        .split(|c: char| !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().unwrap())
        .collect();
    let (every, mut failed, mut first, mut unsound) = (request.contains("true"), Vec::new(), None, false);
    for part in numbers[1..].chunks(2).map(|pair| pair[0]) {
        mutant_switch::activate(numbers[0] as u32);
        let failure = failures(part);
        mutant_switch::deactivate();
        if !failure.is_empty() {
            unsound |= first.is_none() && !passes(part);
            first = first.or(Some(part));
            failed.push(failure);
        }
        if !failed.is_empty() && !every {
            break;
        }
    }
    let (part, failed) = (first.map_or(String::from("null"), |it| it.to_string()), failed.join(","));
    let rest = format!(r#""applicable":1,"ends":false,"unsound":{unsound}"#);
    println!(r#"{{"failures":[{failed}],"part":{part},{rest}}}"#);
}

fn main() {
    if std::env::args().nth(1).unwrap() == "families" {
        println!("numbers");
        return;
    }
    let _ = shared::one as fn() -> bool;
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        if line.contains("record") { record() } else { judge(&line) }
    }
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
        build: root.join("target"),
        members: vec![String::from("small")],
        mutated: vec![String::from("small")],
        driver: vec![file("Cargo.toml", DRIVER_MANIFEST), file("src/main.rs", DRIVER)],
    }
}

#[test]
fn every_mutant_has_the_outcome_known_by_hand() {
    let directory = tempfile::tempdir().expect("a directory");
    let layout = layout(directory.path());
    let built = build(&layout, &Sought::Mutants(Wanted::default()), &|_| {}).expect("builds");
    let options = Options {
        families: vec![String::from("numbers")],
        count_kills: true,
        // One process judges all of them, so that what a mutant of `keep` leaves is there for the next one.
        jobs: 1,
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
            "keep: replace & with ^: Survived",
            "keep: replace & with |: Survived",
            "keep: replace the body with 0: Survived",
            "keep: replace the body with 1: keep",
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
    assert_eq!((total.viable, total.unviable, total.judged, total.not_executed), (24, 1, 24, 3));
    assert_eq!((total.killed, total.timed_out, total.survived, total.equivalent), (13, 1, 6, 1));
    assert_eq!(total.fragile, 11);
    assert_eq!((total.of_executed(), total.of_judged()), (Some(70.0), Some(1400.0 / 23.0)));
    let survivors: Vec<&str> = report.survivors().iter().map(|mutant| mutant.change.as_str()).collect();
    assert_eq!(
        survivors,
        [
            "replace the body with ()",
            "replace != with ==",
            "replace -= with +=",
            "replace the body with 0",
            "replace & with |",
            "replace & with ^",
        ]
    );
    let executed_by = judgement.judged.iter().map(|judged| judged.executed_by.concat());
    assert_eq!(executed_by.filter(|names| names == "keep decode").count(), 3);
    let refuted: Vec<&str> = report.refuted().iter().map(|mutant| mutant.change.as_str()).collect();
    assert_eq!(refuted, ["replace > with >="]);
    assert_eq!(report.stale.len(), 1);
    let list = directory.path().join("outside.toml");
    fs::write(&list, OUTSIDE).expect("is written");
    let report = report.with_outside(Outside::read(&list).expect("reads"));
    let total = report.total();
    // What is detected stays detected: one of the four mutants of `keep`.
    assert_eq!((total.not_executed, total.killed, total.survived, total.outside), (0, 13, 3, 6));
    assert_eq!((total.of_executed(), total.of_judged()), (Some(1400.0 / 17.0), Some(1400.0 / 17.0)));
    assert_eq!(report.survivors().len(), 3);
    let empty: Vec<&str> = report.empty_outside().iter().map(|it| it.file.as_str()).collect();
    assert_eq!(empty, ["small/src/nowhere/"]);
    assert!(layout.root.join("small/src/numbers.rs").is_file());
    let source = fs::read_to_string(layout.root.join("small/src/numbers.rs")).expect("reads");
    assert_eq!(source, NUMBERS, "the checkout stays as it is");
}

const OUTSIDE: &str = r#"
[[outside]]
file = "small/src/numbers.rs"
function = "keep"
reason = "nothing reports it"

[[outside]]
file = "small/src/"
function = "never"
reason = "nothing calls it"

[[outside]]
file = "small/src/nowhere/"
reason = "nothing is there"
"#;

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
    let error =
        build(&layout, &Sought::Mutants(Wanted::default()), &|_| {}).expect_err("does not build").to_string();
    assert!(
        error.starts_with("no mutant explains this error:\n") && error.contains("mismatched types"),
        "{error}"
    );
}

const BUGS: &str = r#"
[[bug]]
name = "wrong-bit"
clause = "N-1"
why = "Another bit."
file = "small/src/numbers.rs"
find = "a | 1"
replace = "a | 2"

[[bug]]
name = "two-steps"
clause = "N-2"
why = "Nothing that shows."
file = "small/src/numbers.rs"
find = "a -= 1;"
replace = "a -= 1; let _ = a; // as before"

[[bug]]
name = "two-places"
clause = "N-1, N-3"
why = "Bit and limit."
[[bug.hunk]]
file = "small/src/numbers.rs"
find = "a | 1"
replace = "a | 3"
[[bug.hunk]]
file = "small/src/numbers.rs"
find = "a > LIMIT"
replace = "a >= LIMIT"

[[bug]]
name = "never-called"
clause = "N-4"
why = "Shows nowhere."
file = "small/src/numbers.rs"
find = "!is_big(a)"
replace = "is_big(a)"

[[bug]]
name = "no-rust"
clause = "N-5"
why = "Does not compile."
file = "small/src/numbers.rs"
find = "core::num::NonZeroU8::MIN"
replace = "5_u64"

[[bug]]
name = "a-pattern"
clause = "N-6"
why = "The second element."
file = "small/src/numbers.rs"
find = "[first, ..]"
replace = "[_, first, ..]"
"#;

#[test]
fn planted_bugs_are_judged_like_mutants() {
    let directory = tempfile::tempdir().expect("a directory");
    let layout = layout(directory.path()).for_planted();
    let path = directory.path().join("bugs.toml");
    let read = |text: &str| {
        fs::write(&path, text).expect("is written");
        read_planted(&path).expect("reads")
    };
    let bugs = read(BUGS);
    let built = build(&layout, &Sought::Planted(bugs.clone()), &|_| {}).expect("builds");
    let options =
        Options { count_kills: true, jobs: 2, least_deadline: Duration::from_secs(60), ..Options::default() };
    let judgement = judge(&layout, &built, &options, &|_| {}).expect("judges");
    let report = Report::new(&built, &judgement, &[], true).bugs(&bugs);
    let first = report.lines().next().unwrap_or_default();
    assert!(first.ends_with("bugs.toml: 3 killed, 1 not executed, 1 survived, 1 unviable"), "{first}");
    let lines: Vec<&str> = report.lines().skip(1).filter(|line| !line.is_empty()).collect();
    assert_eq!(
        lines
            .iter()
            .take(9)
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>(),
        [
            "bug clause outcome detected by",
            "wrong-bit N-1 killed odd decode; 1 cases",
            "two-steps N-2 survived",
            "two-places N-1, N-3 killed ten decode; 1 cases",
            "never-called N-4 not executed",
            "no-rust N-5 unviable",
            "a-pattern N-6 killed borrowed decode; 2 cases",
            "two-steps (N-2), survived: Nothing that shows.",
            "never-called (N-4), not executed: Shows nowhere.",
        ],
        "{report}"
    );
    assert!(report.contains("no-rust does not compile:") && report.contains("mismatched types"), "{report}");

    let error = |text: &str| {
        let error = find(&layout, &Sought::Planted(read(text))).expect_err("has no place");
        error.to_string().replace(&path.display().to_string(), "")
    };
    let first = BUGS.split("[[bug]]").nth(1).expect("a bug");
    let with = |old: &str, new: &str| error(&format!("[[bug]]{}", first.replace(old, new)));
    assert_eq!(with("a | 1", "b | 1"), ":2: small/src/numbers.rs: does not have `b | 1`");
    assert_eq!(with("a | 1", "a: u8"), ":2: small/src/numbers.rs: has `a: u8` more than once");
    assert_eq!(with("a | 1", "limit(9)"), ":2: small/src/numbers.rs: `limit(9)` is in no function");
    assert_eq!(with("a | 1", "a + 1"), ":2: small/src/numbers.rs: limit is called at compile time");
    assert_eq!(with("numbers", "words"), ":2: small/src/words.rs: no source of a mutated crate");
}
