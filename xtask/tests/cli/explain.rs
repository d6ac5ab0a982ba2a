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
    // The same wire as a trace file, with the headers of the encapsulation.
    let trace = format!("{kit}.trace.bin");
    let bytes = [0x01, 0x1f, 0x03, 0x73, 0x00, 0x04, 0x03, 0x0d, 0x03, 0x20, 0x01, 0x0a, 0x01, 0x4f];
    fs::write(&trace, bytes).expect("writable");
    let compared = ask(&["decode", "--family", "riscv-etrace", &trace]);
    let shown = text(&compared.stdout);
    assert_eq!(compared.status.code(), Some(1), "{}", text(&compared.stderr));
    // Without code the reference reports that, too, which acme does not.
    assert!(shown.contains("\n  acme reports:\n"), "{shown}");
    let last = shown.lines().last().unwrap_or_default();
    assert!(last.starts_with("first difference: ") && last.contains("branch_map=7"), "{last}");

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
    assert!(updated.contains("added: 1 check  fail: packets: branch / branch (branch_map)\n"), "{updated}");
    let written = fs::read_to_string(&baseline).expect("written");
    assert!(written.contains("\n# fail: packets: branch / branch (branch_map)\n[[known]]\n"), "{written}");
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

/// Every bit of the wire is drawn once, in the order in which it travels, for a case of every protocol.
#[test]
fn cases_are_drawn_bit_by_bit() {
    let directory = tempfile::tempdir().expect("a directory");
    let picture = directory.path().join("case.svg").to_str().expect("text").to_owned();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/samples");
    let mut drawn = 0;
    for sample in fs::read_dir(samples).expect("samples") {
        let sample = sample.expect("readable").path();
        let case = fs::read_to_string(sample.join("case")).expect("a case");
        let output = run(&["explain", case.trim(), "--svg", &picture]);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()), "{case}");
        let svg = fs::read_to_string(&picture).expect("written");
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{case}");
        let bits: String = svg
            .lines()
            .filter(|line| line.contains("class=\"bit\""))
            .filter_map(|line| line.split('>').nth(1)?.strip_suffix("</text"))
            .collect();
        let wire = fs::read(sample.join("trace.bin")).expect("readable");
        let travels: String = wire
            .iter()
            .flat_map(|byte| (0..8).map(move |bit| if byte >> bit & 1 == 1 { '1' } else { '0' }))
            .collect();
        assert_eq!(bits, travels, "{case}");
        drawn += 1;
    }
    assert!(drawn >= 6, "{drawn}");
}

#[test]
fn bits_are_shown_as_they_travel() {
    // 0x1f, bit 0 first, after the header 0x01: format 3, subformat 3, ienable, encoder mode, status, and so on.
    let shown = text(&run(&["explain", "etr-0270", "--bits", "--packets", "0..1"]).stdout);
    let line = shown.lines().find(|line| line.contains("bits as they travel")).expect("a line");
    assert!(
        line.contains("length 10000 | flow 00 | extend 0 | format 11 | subformat 11 | ienable 1 |"),
        "{line}"
    );
}
