//! Requirements that code, tests, cases and documents cite exist in a registry, under an id that names their family.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use traceproof_vectors::clause::Registry;
use traceproof_vectors::shipped::clauses;

/// Ids that tests need because no registry has them.
const IN_NO_REGISTRY: [&str; 2] = ["RVET-NONE-999", "RVET-PTK-001"];

/// What ids begin with that stand for all ARM families.
const SHARED: &str = "ARM";

/// The files of all registries.
fn registries() -> Vec<(String, Registry)> {
    let mut found = Vec::new();
    for path in clauses().files().expect("the registries") {
        let text = clauses().read_to_string(&path).expect("readable registry");
        let registry = Registry::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        found.push((path.file_stem().expect("a name").to_string_lossy().into_owned(), registry));
    }
    found
}

#[test]
fn every_cited_requirement_is_in_a_registry() {
    let known: BTreeSet<String> =
        registries().into_iter().flat_map(|(_, registry)| registry.clauses).map(|clause| clause.id).collect();
    let mut cited = BTreeSet::new();
    let mut wrong = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (number, line) in text.lines().enumerate() {
            for id in citations(line) {
                if !known.contains(&id) && !IN_NO_REGISTRY.contains(&id.as_str()) {
                    wrong.push(format!("{}:{}: {id}", path.display(), number + 1));
                }
                cited.insert(id);
            }
        }
    }
    assert!(wrong.is_empty(), "in no registry:\n{}", wrong.join("\n"));
    assert!(cited.len() > 700, "only {} requirements are cited: were the sources found?", cited.len());
}

/// An id is FAMILY-GROUP-NUMBER; a group may have two words. A registry may have several words for its family (`ETM1`,
/// `ETM2`), but shares none with another.
#[test]
fn every_requirement_names_its_family() {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    for (family, registry) in registries() {
        for clause in registry.clauses {
            let parts: Vec<&str> = clause.id.split('-').collect();
            let ([word, _, number] | [word, _, _, number]) = parts[..] else {
                panic!("{}: FAMILY-GROUP-NUMBER", clause.id)
            };
            assert!(is_number(number), "{}: three digits", clause.id);
            let owner = owners.entry(word.to_owned()).or_insert_with(|| family.clone());
            assert!(*owner == family || word == SHARED, "{}: {word} stands for {owner}", clause.id);
        }
    }
    assert_eq!(owners.get("RVET").map(String::as_str), Some("riscv_etrace"));
}

/// The text files of the repository that may cite a requirement.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in
            fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        {
            let path = entry.expect("readable directory").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let is_text = [".rs", ".toml", ".md", ".c", ".h", ".py"].iter().any(|end| name.ends_with(end));
            if path.is_dir() && !name.starts_with('.') && name != "target" && name != "corpus" {
                pending.push(path);
            } else if is_text && path.is_file() {
                found.push(path);
            }
        }
    }
    found
}

/// The ids in a line, with the last of a range: capital words and a number of three digits, joined by hyphens.
fn citations(line: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).peekable();
    while let Some(word) = words.next() {
        let Some(group) = group_of(word) else { continue };
        ids.push(word.to_owned());
        if words.next_if_eq(&"to").is_some()
            && let Some(last) = words.next_if(|word| is_number(word))
        {
            ids.push(format!("{group}-{last}"));
        }
    }
    ids
}

/// What stands before the number of an id.
fn group_of(word: &str) -> Option<&str> {
    let (group, number) = word.rsplit_once('-')?;
    let is_word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    (is_number(number) && group.split('-').all(is_word)).then_some(group)
}

fn is_number(word: &str) -> bool {
    word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[test]
fn citations_are_found_in_prose() {
    let ids = |line| citations(line).join(" ");
    assert_eq!(ids("/// Spec: RVET-PTK-001 (ET 7.7)."), "RVET-PTK-001");
    assert_eq!(ids("clauses = [\"ARM-FMT-001\", \"ITA-CNT-002\"]"), "ARM-FMT-001 ITA-CNT-002");
    assert_eq!(ids("Spec: ETM2-LM-017 to 019, ETM2-LM-022 (6.4.3)."), "ETM2-LM-017 ETM2-LM-019 ETM2-LM-022");
    assert_eq!(ids("UTF-8, ISO-8601, etm-001, -FMT-001, Etm-001, R-1234"), "");
}
