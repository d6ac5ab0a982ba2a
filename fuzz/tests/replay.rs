//! Replays every corpus and a number of seeded random inputs; checks that corpora and targets belong together.

use std::fs;
use std::path::{Path, PathBuf};

use traceproof_conformance::generate::seeded;
use traceproof_fuzz::TARGETS;

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

#[test]
fn every_corpus_input_holds_its_property() {
    for target in TARGETS {
        let mut paths: Vec<_> = fs::read_dir(corpus(target.name))
            .unwrap_or_else(|error| panic!("corpus of {}: {error}", target.name))
            .map(|entry| entry.expect("readable directory").path())
            .collect();
        paths.sort();
        assert!(paths.len() >= 10, "{} has only {} seeds", target.name, paths.len());
        for path in paths {
            eprintln!("{}", path.display());
            (target.run)(&fs::read(&path).expect("readable seed"));
        }
    }
}

#[test]
fn random_inputs_hold_every_property() {
    for target in TARGETS {
        for seed in 0..300 {
            eprintln!("{} seed {seed}", target.name);
            let length = usize::try_from(seed).expect("small") * 3 % 700;
            (target.run)(&seeded(seed, length));
        }
    }
}

#[test]
fn every_corpus_directory_and_binary_belongs_to_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names: Vec<_> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    for (directory, suffix) in [("corpus", ""), ("fuzz_targets", ".rs")] {
        for entry in fs::read_dir(root.join(directory)).expect("directory exists") {
            let name = entry.expect("readable").file_name().into_string().expect("UTF-8");
            let name = name.strip_suffix(suffix).unwrap_or(&name).to_owned();
            assert!(names.contains(&name), "{directory}/{name} belongs to no target");
        }
    }
}
