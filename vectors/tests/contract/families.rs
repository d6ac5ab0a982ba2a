//! The families whose cases this crate ships: the one list in these tests that names them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use traceproof_vectors::Family;

/// Calls a generic function for the vocabulary of every protocol.
macro_rules! for_every_family {
    ($check:ident) => {
        $check::<traceproof_vectors::riscv_etrace::RiscvEtrace>();
        $check::<traceproof_vectors::arm_etm::ArmEtm>();
        $check::<traceproof_vectors::arm_etm_formatter::ArmEtmFormatter>();
        $check::<traceproof_vectors::arm_pft::ArmPft>();
        $check::<traceproof_vectors::arm_ete::ArmEte>();
        $check::<traceproof_vectors::arm_ete_unit::ArmEteUnit>();
        $check::<traceproof_vectors::itanium_pmu::ItaniumPmu>();
    };
}
pub(crate) use for_every_family;

/// How many requirements each group of a specification has been cut into, by what their ids begin with. Where ids keep
/// the names of the specification's own rules, each rule is a group of its own, and the family's word stands for all.
pub(crate) const GROUPS: &[(Family, &[(&str, usize)])] = &[
    (
        Family::RiscvEtrace,
        &[
            ("RVET-PKT", 47),
            ("RVET-ENC", 84),
            ("RVET-ING", 14),
            ("RVET-DEC", 54),
            ("RVET-DISC", 9),
            ("RVET-DATA", 28),
            ("RVET-ENCAP", 25),
            ("RVET-FILT", 6),
            ("RVET5-PKT", 21),
            ("RVET5-ENC", 20),
            ("RVET5-DEC", 18),
        ],
    ),
    (
        Family::ArmEtm,
        &[
            ("ETM-GEN", 12),
            ("ETM1-PS", 12),
            ("ETM1-PKT", 18),
            ("ETM1-APO", 8),
            ("ETM1-DAT", 7),
            ("ETM1-SYN", 9),
            ("ETM-BR", 1),
            ("ETM-DBG", 1),
            ("ETM1-EXC", 13),
            ("ETM2-EXC", 10),
            ("ETM2-SYN", 1),
            ("ETM3-DO", 2),
            ("ETM3-TRG", 1),
            ("ETM3-VMID", 4),
            ("ETM2-PS", 13),
            ("ETM2-TRG", 7),
            ("ETM2-HDR", 12),
            ("ETM2-CB", 11),
            ("ETM2-BR", 11),
            ("ETM2-TFO", 25),
            ("ETM2-CTX", 4),
            ("ETM2-ND", 11),
            ("ETM2-DA", 9),
            ("ETM2-VNT", 6),
            ("ETM2-LM", 57),
            ("ETM2-FIFO", 9),
            ("ETM3-HDR", 9),
            ("ETM3-PH", 14),
            ("ETM3-CC", 9),
            ("ETM3-SYN", 20),
            ("ETM3-ISY", 13),
            ("ETM3-BR", 19),
            ("ETM3-EXC", 21),
            ("ETM3-DAT", 19),
            ("ETM3-OOO", 8),
            ("ETM3-TS", 8),
            ("ETM3-MISC", 7),
            ("ETM3-ENC", 5),
            ("ARM-FMT", 13),
        ],
    ),
    (
        Family::ArmPft,
        &[
            ("PFT-CFG", 16),
            ("PFT-PKT", 73),
            ("PFT-WPT", 29),
            ("PFT-ENC", 66),
            ("PFT-DEC", 81),
            ("PFT-ERR", 25),
        ],
    ),
    (Family::ArmEte, &[("ETE", 589)]),
    (
        Family::ItaniumPmu,
        &[
            ("ITA-REG", 18),
            ("ITA-CNT", 13),
            ("ITA-OVF", 13),
            ("ITA-IBR", 19),
            ("ITA-OPC", 17),
            ("ITA-DBR", 15),
            ("ITA-EAR", 26),
            ("ITA-QUA", 6),
            ("ITA-DEC", 12),
            ("ITA-BTB", 1),
        ],
    ),
];

/// The most shared files that a new family may edit.
const MOST_SHARED: usize = 18;

/// They know all five families from the start.
const KNOW_ALL: [&str; 2] = ["vectors/src/case/suite.rs", "vectors/src/protocol.rs"];

/// It decodes more than one family.
const PEER: &str = "conformance/src/peers/opencsd/mod.rs";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The numbered list in CONTRIBUTING of the shared files that a new family edits.
fn shared_files() -> Vec<String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let (_, section) = text.split_once("## A new family").expect("a section about it");
    let (section, _) = section.split_once("\n## ").expect("a section after it");
    let numbered = |line: &str| {
        let (number, path) = line.split_once(". `")?;
        number.parse::<usize>().ok()?;
        Some(path.strip_suffix('`')?.to_owned())
    };
    section.lines().filter_map(numbered).collect()
}

/// `RiscvEtrace` for `riscv_etrace`.
fn type_name(family: &str) -> String {
    let parts = family.split('_').map(|part| part.split_at(1));
    parts.map(|(first, rest)| first.to_uppercase() + rest).collect()
}

/// The families that the code of a file names, its tests and comments left out.
fn named_in(text: &str) -> BTreeSet<&'static str> {
    let code = text.split_once("#[cfg(test)]\nmod ").map_or(text, |(code, _)| code);
    let words: BTreeSet<&str> = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .collect();
    let is_named = |family: &&str| words.contains(family) || words.contains(type_name(family).as_str());
    Family::ALL.into_iter().map(Family::name).filter(is_named).collect()
}

/// The source files of all crates that are in no family's own folder, by their paths from the root.
fn shared_sources() -> Vec<(String, String)> {
    let own = |part: &str| Family::ALL.iter().any(|family| part.trim_end_matches(".rs") == family.name());
    let mut found = Vec::new();
    let crates = ["vectors", "decoder", "encoder-model", "differential", "conformance", "fuzz", "xtask"];
    let mut open: Vec<String> = crates.iter().map(|name| format!("{name}/src")).collect();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(root().join(&directory)).expect("a directory of sources") {
            let entry = entry.expect("readable directory");
            let name = entry.file_name().into_string().expect("UTF-8");
            let path = format!("{directory}/{name}");
            if own(&name) {
                continue;
            }
            if entry.file_type().expect("a type").is_dir() {
                open.push(path);
            } else if name.ends_with(".rs") {
                found.push((path, fs::read_to_string(entry.path()).expect("readable source")));
            }
        }
    }
    found
}

#[test]
fn contributing_lists_every_shared_file_that_a_family_edits() {
    let listed = shared_files();
    assert!((1..=MOST_SHARED).contains(&listed.len()), "{} files: {listed:?}", listed.len());
    for path in &listed {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let missing = |(family, _): &&(Family, &[(&str, usize)])| !text.contains(family.name());
        let missing: Vec<_> = GROUPS.iter().filter(missing).map(|(family, _)| family).collect();
        // The changelog is for users and uses the names of specifications.
        assert!(missing.is_empty() || path == "CHANGELOG.md", "{path} does not name {missing:?}");
    }
    let sources = shared_sources();
    assert!(sources.len() > 100, "only {} sources: were they found?", sources.len());
    let unlisted: Vec<&String> = sources
        .iter()
        .filter(|(path, text)| {
            named_in(text).len() > 1
                && !KNOW_ALL.contains(&path.as_str())
                && path != PEER
                && !listed.contains(path)
        })
        .map(|(path, _)| path)
        .collect();
    assert!(unlisted.is_empty(), "files that know several families: {unlisted:?}");
}
