//! What OSS-Fuzz and ClusterFuzzLite are given: every target, with its seeds.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use traceproof_fuzz::targets;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// The list in build.sh.
fn listed() -> Vec<String> {
    let script = read("fuzz/oss-fuzz/build.sh");
    let (_, rest) = script.split_once("targets=(\n").expect("a list");
    let (list, _) = rest.split_once("\n)").expect("its end");
    list.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn the_script_builds_every_target() {
    let manifest = read("fuzz/Cargo.toml");
    let lines: Vec<&str> = manifest.lines().collect();
    let binaries: BTreeSet<String> = lines
        .windows(2)
        .filter(|pair| pair[0] == "[[bin]]")
        .map(|pair| pair[1].trim_start_matches("name = ").trim_matches('"').to_owned())
        .collect();
    let names: BTreeSet<String> = targets().map(|target| target.name.to_owned()).collect();
    assert_eq!(binaries, names, "Cargo.toml");
    let listed = listed();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), names, "build.sh");
    assert_eq!(listed.len(), names.len(), "a target is listed twice");
}

#[test]
fn both_infrastructures_use_one_script_and_one_toolchain() {
    assert!(read(".clusterfuzzlite/build.sh").contains("fuzz/oss-fuzz/build.sh"));
    let toolchain = |path: &str| {
        let lines = read(path);
        lines.lines().find(|line| line.starts_with("ENV RUSTUP_TOOLCHAIN")).expect("a toolchain").to_owned()
    };
    assert_eq!(toolchain("fuzz/oss-fuzz/Dockerfile"), toolchain(".clusterfuzzlite/Dockerfile"));
}

/// Writes a program of shell into a directory of programs.
fn program(directory: &Path, name: &str, script: &str) {
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\nset -eu\n{script}")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
}

/// With a cargo that makes files instead of building them, and a zip that writes the list of what it gets.
#[test]
fn the_script_delivers_binaries_seeds_and_options() {
    let directory = tempfile::tempdir().expect("a directory");
    let (programs, out) = (directory.path().join("programs"), directory.path().join("out"));
    for made in [&programs, &out] {
        fs::create_dir(made).expect("made");
    }
    let names = targets().map(|target| target.name).collect::<Vec<_>>().join(" ");
    let cargo = format!(
        "case \"$1\" in\n\
         fuzz) while [ \"$1\" != --target-dir ]; do shift; done\n\
         mkdir -p \"$2/x86_64-unknown-linux-gnu/release\"\n\
         for name in {names}; do echo binary > \"$2/x86_64-unknown-linux-gnu/release/$name\"; done ;;\n\
         run) while [ \"$1\" != --corpus ]; do shift; done\n\
         for name in {names}; do mkdir -p \"$2/$name\"; echo seed > \"$2/$name/seed\"; done ;;\n\
         *) exit 9 ;;\n\
         esac\n"
    );
    program(&programs, "cargo", &cargo);
    program(&programs, "zip", "[ \"$1\" = -q ]\ncat > \"$2\"\n");
    std::os::unix::fs::symlink(root().canonicalize().expect("there"), directory.path().join("traceproof"))
        .expect("linked");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let ended = Command::new("bash")
        .arg("-eu")
        .arg(root().join(".clusterfuzzlite/build.sh"))
        .envs([("PATH", path.as_str()), ("SANITIZER", "address")])
        .envs([("SRC", directory.path()), ("OUT", out.as_path())])
        .output()
        .expect("bash starts");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    for target in targets() {
        let delivered = |suffix: &str| {
            fs::read_to_string(out.join(format!("{}{suffix}", target.name))).expect(target.name)
        };
        assert_eq!(delivered(""), "binary\n");
        assert!(delivered(".options").starts_with("[libfuzzer]\n"));
        let seeds = delivered("_seed_corpus.zip");
        assert!(seeds.lines().any(|line| line == "./seed"), "{seeds}");
        let regressions = root().join("fuzz/regressions").join(target.name);
        let count = fs::read_dir(regressions).map_or(0, Iterator::count);
        assert_eq!(seeds.lines().count(), 1 + count, "{}", target.name);
    }
}
