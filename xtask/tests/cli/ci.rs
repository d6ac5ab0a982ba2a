//! The CI jobs that `traceproof ci` prints: their own commands are executed, as a runner would.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::commands::{run, text};

/// The commands of the printed job that start the program, in their order.
fn commands(job: &str) -> Vec<String> {
    let starts =
        |line: &str| line.split_once("traceproof ").map(|(before, _)| before.trim_start().to_owned());
    let of_the_program = |line: &&str| {
        starts(line).is_some_and(|before| matches!(before.as_str(), "- " | "run: " | "- run: "))
    };
    let command = |line: &str| line.trim_start_matches([' ', '-']).trim_start_matches("run: ").to_owned();
    job.lines().filter(of_the_program).map(command).collect()
}

/// Executes a command line of a job in a directory where `traceproof` is this program.
fn execute(line: &str, directory: &Path, variables: &[(&str, &str)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_traceproof")).parent().expect("a directory");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("/bin/sh");
    shell.args(["-ec", line]).current_dir(directory).env("PATH", path).envs(variables.iter().copied());
    shell.env_remove("TRACEPROOF_PROGRAM").stdin(Stdio::null()).output().expect("starts")
}

/// A repository with an adaptor in Python.
fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let acme = directory.path().join("acme");
    let made = run(&["adaptor", "new", "--lang", "python", acme.to_str().expect("text")]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    directory
}

fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: no python3, in which the judged adaptor is written");
    }
    found
}

fn succeeds(line: &str, output: &Output) {
    let all = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{line}\n{all}");
}

#[test]
fn the_commands_of_a_github_job_judge_a_subject() {
    if !has_python() {
        return;
    }
    let repository = repository();
    let here = repository.path();
    let subject = ["--subject", "acme/subject.toml", "--family", "riscv-etrace", "--parts", "2"];
    let job = text(&run(&[&["ci", "github"], &subject[..]].concat()).stdout);
    assert!(job.contains("part: [1, 2]"), "{job}");
    let commands = commands(&job);
    let verbs: Vec<&str> = commands.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(verbs, ["smoke", "conformance", "report", "report", "report"]);
    for line in &commands {
        let summary = here.join("summary.md");
        let variables = [("GITHUB_STEP_SUMMARY", summary.to_str().expect("text"))];
        let parts = if line.contains("matrix.part") { &["1", "2"][..] } else { &[""] };
        for part in parts {
            // A small share of the suite is enough; `--timeout-scale` because of the other tests.
            let line = line.replace("${{ matrix.part }}", part);
            let line = line
                .replace(" --shard", " --no-real-programs --timeout-scale 60 --filter '*/packets/*' --shard");
            let line = line.replace("smoke ", "smoke --timeout-scale 60 ");
            succeeds(&line, &execute(&line, here, &variables));
        }
    }
    let summary = fs::read_to_string(here.join("summary.md")).expect("a summary");
    assert!(summary.contains("acme 1.0") && summary.contains("checks pass"), "{summary}");
    assert!(fs::read_to_string(here.join("report.html")).expect("a page").contains("</html>"));
    let junit = fs::read_to_string(here.join("part-2.xml")).expect("results");
    assert!(junit.contains("<testsuite"), "{junit}");
}

#[test]
fn a_gitlab_job_has_the_same_commands() {
    let line = ["--subject", "acme/subject.toml", "--baseline", "known.toml", "--parts", "3"];
    let [github, gitlab] =
        ["github", "gitlab"].map(|host| commands(&text(&run(&[&["ci", host], &line[..]].concat()).stdout)));
    let same = |line: &String| {
        let line = line.replace("${{ matrix.part }}/3", "N").replace("$CI_NODE_INDEX/$CI_NODE_TOTAL", "N");
        let line = line.replace("${{ matrix.part }}", "N").replace("$CI_NODE_INDEX", "N");
        line.replace(" >> \"$GITHUB_STEP_SUMMARY\"", "")
    };
    assert_eq!(github.iter().map(same).collect::<Vec<_>>(), gitlab.iter().map(same).collect::<Vec<_>>());
    assert!(github.iter().any(|line| line.contains("--baseline known.toml")));
}

#[test]
fn a_job_quotes_or_refuses_what_it_is_given() {
    let job = text(&run(&["ci", "gitlab", "--subject", "s.toml", "--build", "echo 'a: b'"]).stdout);
    assert!(job.contains("    - 'echo ''a: b'''\n"), "{job}");
    for subject in ["a b.toml", "-x.toml", "$(id).toml", "a\nb.toml"] {
        let output = run(&["ci", "github", &format!("--subject={subject}")]);
        assert_eq!(output.status.code(), Some(2), "{subject}");
    }
}

#[test]
fn shells_and_man_know_the_verbs() {
    for shell in ["bash", "zsh", "fish"] {
        let completions = text(&run(&["completions", shell]).stdout);
        assert!(completions.contains("conformance") && completions.contains("junit"), "{shell}");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let pages = directory.path().join("man1");
    let output = run(&["man", pages.to_str().expect("text")]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = fs::read_to_string(pages.join("traceproof-decode.1")).expect("a page");
    assert!(page.contains(".TH") && page.contains("snapshot"), "{page}");
}
