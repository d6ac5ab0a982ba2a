//! The command line of `explain --subject`, real programs and saved failures.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::commands::{run, text};

/// A program with a bug is shown beside the reference, its failures are saved and its standard error is copied.
#[test]
fn a_wrong_program_is_explained_and_saved() {
    let python =
        Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !python {
        eprintln!("NOTICE: there is no python3; a program as a subject is NOT tested");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let kit = directory.path().join("acme").to_str().expect("text").to_owned();
    assert!(run(&["adaptor", "new", "--lang", "python", &kit]).status.success());
    let subject = &format!("{kit}/subject.toml");
    let example = Path::new(&kit).join("example.py");
    let honest = fs::read_to_string(&example).expect("readable");
    let wrong = honest.replace("bits.take(width)}", "bits.take(width) ^ (branches == 3)}");
    assert_ne!(wrong, honest);
    fs::write(&example, &wrong).expect("writable");
    // A busy machine must not cause timeouts.
    let started = fs::read_to_string(subject).expect("readable");
    fs::write(subject, format!("{started}\n[deadlines]\nscale = 60.0\n")).expect("writable");
    let ask = |words: &[&str]| run(&[words, &["--subject", subject]].concat());
    let explained = text(&ask(&["explain", "etr-0269"]).stdout);
    assert_eq!(explained.matches("\n  acme reports:\n").count(), 1, "{explained}");
    assert!(explained.contains("\n  the reference reports:\n    = branch branches=3"), "{explained}");
    let last = explained.lines().last().unwrap_or_default();
    assert!(last.starts_with("first difference: packet 2, byte 6.0: packets differ at item 2:"), "{last}");

    let directory = format!("{kit}-failures");
    let saving = ["conformance", "--filter", "etr-0269", "--save", &directory];
    let judged = ask(&saving);
    assert_eq!(judged.status.code(), Some(1), "{}", text(&judged.stderr));
    assert!(text(&judged.stdout).contains("saved: 1 folder in "), "{}", text(&judged.stdout));
    let log = format!("{kit}.stderr");
    fs::write(
        &example,
        honest.replace("import tdut", "import sys, tdut\nprint('licence found', file=sys.stderr)"),
    )
    .expect("writable");
    let watched = ["conformance", "--filter", "etr-0269", "--adaptor-stderr", &log];
    assert!(ask(&watched).status.success());
    let lines = fs::read_to_string(&log).expect("written");
    assert!(lines.starts_with('[') && lines.contains("] licence found\n"), "{lines}");
    let watched = ask(&["explain", "etr-0269", "--adaptor-stderr", "-"]);
    assert!(text(&watched.stderr).contains("] licence found\n"), "{}", text(&watched.stderr));
    fs::write(&example, &wrong).expect("writable");
    let listed = fs::read_to_string(Path::new(&directory).join("etr-0269/decoder.jsonl")).expect("written");
    assert!(listed.contains("\"branch_map\":7"), "{listed}");
    let again = ask(&saving);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("nothing is overwritten"), "{}", text(&again.stderr));

    let baseline = format!("{kit}.baseline.toml");
    let update = ["baseline", "update", "--subject", subject, "--filter", "etr-0269", &baseline];
    let updated = text(&run(&update).stdout);
    assert!(updated.contains("added: 1 check  fail: packets: branch / branch\n"), "{updated}");
    let written = fs::read_to_string(&baseline).expect("written");
    assert!(written.contains("\n# fail: packets: branch / branch\n[[known]]\n"), "{written}");
}

#[test]
fn real_programs_are_shown_and_explained() {
    let shown = run(&["show", "levels.rv32/delta"]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    insta::assert_snapshot!("show_program", text(&shown.stdout));
    let explained = run(&["explain", "levels.rv32/delta", "--packets", "2..4"]);
    assert_eq!(explained.status.code(), Some(0), "{}", text(&explained.stderr));
    insta::assert_snapshot!("explain_program", text(&explained.stdout));
    for (arguments, message) in [
        (&["show", "levels.rv32/nope"][..], "levels.rv32 has no parameter set `nope`; it has delta, "),
        (&["show", "levels/delta"], "no case matches"),
        (&["explain", "levels.rv32/delta", "--packets", "4..4"], "expected FIRST..END, such as 100..120"),
        (&["explain", "levels.rv32/delta", "--packets", "9999999..10000000"], "has no packet 9999999"),
        (&["explain", "etr-0001", "--deadline", "3"], "--subject"),
    ] {
        let refused = run(arguments);
        let error = text(&refused.stderr);
        assert!(refused.status.code() == Some(2) && error.contains(message), "{arguments:?}: {error}");
    }
}
