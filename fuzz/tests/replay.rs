//! Every target holds its property on the seeds that the cases give, on regressions and on random inputs.

use std::fs;
use std::path::{Path, PathBuf};

use traceproof_conformance::generate::seeded;
use traceproof_conformance::suite::Directories;
use traceproof_fuzz::{Target, all_seeds, targets};

/// Where inputs are committed that once failed.
fn regressions(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target.name)
}

#[test]
fn every_seed_holds_its_property() {
    let seeds = all_seeds(&Directories::default()).expect("a sound suite");
    for target in targets() {
        let of_target: Vec<_> = seeds.iter().filter(|(name, _, _)| *name == target.name).collect();
        assert!(of_target.len() >= 10, "{} has only {} seeds", target.name, of_target.len());
        for (_, name, bytes) in of_target {
            eprintln!("{} {name}", target.name);
            (target.run)(bytes);
        }
    }
    for (name, ..) in &seeds {
        assert!(targets().any(|target| target.name == *name), "seeds for {name}, which is no target");
    }
}

#[test]
fn every_regression_holds_its_property() {
    for target in targets() {
        let Ok(directory) = fs::read_dir(regressions(target)) else { continue };
        let mut paths: Vec<_> = directory.map(|entry| entry.expect("readable directory").path()).collect();
        paths.sort();
        for path in paths {
            eprintln!("{}", path.display());
            (target.run)(&fs::read(&path).expect("readable input"));
        }
    }
}

#[test]
fn random_inputs_hold_every_property() {
    for target in targets() {
        for seed in 0..300 {
            eprintln!("{} seed {seed}", target.name);
            let length = usize::try_from(seed).expect("small") * 3 % 700;
            (target.run)(&seeded(seed, length));
        }
    }
}

#[test]
fn every_regression_directory_and_binary_belongs_to_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names: Vec<_> = targets().map(|target| target.name.to_owned()).collect();
    for (directory, suffix) in [("regressions", ""), ("fuzz_targets", ".rs")] {
        for entry in fs::read_dir(root.join(directory)).expect("directory exists") {
            let name = entry.expect("readable").file_name().into_string().expect("UTF-8");
            let name = name.strip_suffix(suffix).unwrap_or(&name).to_owned();
            assert!(names.contains(&name), "{directory}/{name} belongs to no target");
        }
    }
}
