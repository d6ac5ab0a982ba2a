//! The sample traces of the documents are those of cases: `docs/samples/<protocol>/case` names one, the other files of
//! the directory hold its bytes, its code, and its parameters if they are not the defaults.
//!
//! `TRACEPROOF_BLESS=1 cargo test -p traceproof-vectors --test contract samples` rewrites the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use traceproof_vectors::case::{CaseProtocol, load};
use traceproof_vectors::shipped::suites;

use crate::families::for_every_family;

fn directory<P: CaseProtocol>() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    root.join("docs/samples").join(P::ID.name())
}

/// The files that the sample of a protocol has.
fn expected<P: CaseProtocol>() -> BTreeMap<String, Vec<u8>>
where
    P::Parameters: Serialize,
{
    let id = fs::read_to_string(directory::<P>().join("case")).expect("every protocol has a sample");
    let files = load::<P>(&suites()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let file = files.iter().find(|file| file.case.id == id.trim()).expect("a case that exists");
    let mut expected = BTreeMap::from([
        (String::from("case"), id.clone().into_bytes()),
        (String::from("trace.bin"), file.resolved.wire.clone()),
    ]);
    for section in file.resolved.program.sections() {
        expected.insert(format!("code-{}.bin", section.address), section.bytes.clone());
    }
    if file.case.parameters != P::Parameters::default() {
        let text = toml::to_string(&file.case.parameters).expect("parameters are TOML");
        expected.insert(String::from("parameters.toml"), text.into_bytes());
    }
    expected
}

fn check<P: CaseProtocol>()
where
    P::Parameters: Serialize,
{
    let (expected, directory) = (expected::<P>(), directory::<P>());
    if std::env::var_os("TRACEPROOF_BLESS").is_some() {
        for (name, bytes) in &expected {
            fs::write(directory.join(name), bytes).expect("the sample can be written");
        }
    }
    let entries = fs::read_dir(&directory).expect("readable").map(|entry| entry.expect("readable").path());
    let found: BTreeMap<String, Vec<u8>> = entries
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(path).expect("readable"))
        })
        .collect();
    assert!(found == expected, "{}: run with TRACEPROOF_BLESS=1 and commit the result", directory.display());
}

#[test]
fn the_samples_are_those_of_cases() {
    for_every_family!(check);
}
