//! The examples of the documents: every command of a `console` block runs from the top of the repository and prints
//! what is shown. A command goes on after `\`; a last line `...` stands for more output.
//!
//! `TRACEPROOF_BLESS=1 cargo test -p traceproof --test cli examples` rewrites the output.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::commands::text;

const BEGIN: &str = "```console";
const MORE: &str = "...";

#[test]
fn examples_print_what_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    for (document, least) in [("README.md", 3), ("docs/tour.md", 10)] {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["docs", "vectors"] {
            symlink(root.join(name), directory.path().join(name)).expect("a link");
        }
        let path = root.join(document);
        let shown = fs::read_to_string(&path).expect("readable");
        let (actual, commands) = executed(&shown, directory.path());
        assert!(commands >= least, "{document} has {commands} examples");
        if std::env::var_os("TRACEPROOF_BLESS").is_some() {
            fs::write(&path, &actual).expect("writable");
        }
        let differs = shown.lines().zip(actual.lines()).find(|(shown, actual)| shown != actual);
        assert!(
            shown == actual,
            "{document}: {differs:?}; run with TRACEPROOF_BLESS=1 and look at the change"
        );
    }
}

/// The document with the real output of its commands, and how many there are.
fn executed(document: &str, directory: &Path) -> (String, usize) {
    let (mut out, mut commands) = (String::new(), 0);
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        if line != BEGIN {
            continue;
        }
        while let Some(first) = lines.next_if(|line| line.starts_with("$ ")) {
            let mut command = first.to_owned();
            while command.ends_with('\\')
                && let Some(line) = lines.next()
            {
                command += &format!("\n{line}");
            }
            let mut before = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && *line != "```") {
                before.push(line);
            }
            let output = run(command.trim_start_matches("$ "), directory);
            let kept = if before.last() == Some(&MORE) { before.len() - 1 } else { usize::MAX };
            out += &format!("{command}\n");
            out.extend(output.lines().take(kept).map(|line| format!("{line}\n")));
            if kept < output.lines().count() {
                out += &format!("{MORE}\n");
            }
            commands += 1;
        }
    }
    (out, commands)
}

/// What a shell prints for a command.
fn run(command: &str, directory: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_traceproof")).parent().expect("its directory");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a path"));
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(directory)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .env_remove("TRACEPROOF_PROGRAM")
        .output()
        .expect("starts");
    let printed = text(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {printed}");
    printed
}
