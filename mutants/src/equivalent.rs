//! Mutants that change no behaviour, as people have decided: `mutants/equivalent.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::mutant::Mutant;

/// A mutant that changes no behaviour. It is found by what it changes, not by its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalent {
    /// The file.
    pub file: String,
    /// The function.
    pub function: String,
    /// The source that changes.
    pub text: String,
    /// The change in words.
    pub change: String,
    /// Which of several equal ones in the function, from 0.
    #[serde(default)]
    pub occurrence: usize,
    /// Why no behaviour changes.
    pub reason: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    equivalent: Vec<Equivalent>,
}

/// Reads the list; a file that does not exist is an empty one.
///
/// # Errors
///
/// The file cannot be read, is no list, or has an entry without a reason.
pub fn read(path: &Path) -> Result<Vec<Equivalent>, Error> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    let list: List = toml::from_str(&text).map_err(|error| Error::content(path, error))?;
    match list.equivalent.iter().find(|entry| entry.reason.trim().is_empty()) {
        Some(entry) => {
            Err(Error::content(path, format!("`{}` in {} has no reason", entry.text, entry.function)))
        }
        None => Ok(list.equivalent),
    }
}

/// The entry that the list needs for this mutant, still without a reason.
#[must_use]
pub fn entry(mutant: &Mutant) -> String {
    let Mutant { file, function, text, change, occurrence, .. } = mutant.clone();
    let entry = Equivalent { file, function, text, change, occurrence, reason: String::new() };
    toml::to_string(&List { equivalent: vec![entry] }).unwrap_or_default()
}

impl Equivalent {
    /// Whether this is the mutant.
    #[must_use]
    pub fn is(&self, mutant: &Mutant) -> bool {
        self.file == mutant.file
            && self.function == mutant.function
            && self.text == mutant.text
            && self.change == mutant.change
            && self.occurrence == mutant.occurrence
    }
}

/// Reasons by the numbers of the mutants, and the entries that no mutant has.
pub(crate) fn find(list: &[Equivalent], mutants: &[Mutant]) -> (BTreeMap<usize, String>, Vec<Equivalent>) {
    let mut reasons = BTreeMap::new();
    let mut stale = Vec::new();
    for entry in list {
        match mutants.iter().position(|mutant| entry.is(mutant)) {
            Some(mutant) => {
                reasons.insert(mutant, entry.reason.clone());
            }
            None => stale.push(entry.clone()),
        }
    }
    (reasons, stale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::Operator;

    const LIST: &str = r#"
        [[equivalent]]
        file = "decoder/src/arm/frame.rs"
        function = "Frame::next"
        text = "a | b"
        change = "replace | with ^"
        reason = "a and b have no common bits"
    "#;

    fn mutant(line: usize, occurrence: usize) -> Mutant {
        Mutant {
            id: String::new(),
            file: String::from("decoder/src/arm/frame.rs"),
            line,
            column: 1,
            function: String::from("Frame::next"),
            operator: Operator::Binary,
            text: String::from("a | b"),
            change: String::from("replace | with ^"),
            occurrence,
        }
    }

    #[test]
    fn entries_survive_edits_elsewhere() {
        let list: List = toml::from_str(LIST).expect("parses");
        let (reasons, stale) = find(&list.equivalent, &[mutant(9, 1), mutant(70, 0)]);
        assert_eq!(
            reasons.into_iter().collect::<Vec<_>>(),
            [(1, String::from("a and b have no common bits"))]
        );
        assert_eq!(stale, []);
        let (reasons, stale) = find(&list.equivalent, &[mutant(9, 1)]);
        assert!(reasons.is_empty() && stale.len() == 1);
    }

    #[test]
    fn the_entry_of_a_mutant_finds_it_again() {
        let text = entry(&mutant(9, 1)).replace("reason = \"\"", "reason = \"why\"");
        let list: List = toml::from_str(&text).expect("parses");
        let (reasons, stale) = find(&list.equivalent, &[mutant(9, 0), mutant(70, 1)]);
        assert_eq!((reasons.keys().copied().collect::<Vec<_>>(), stale), (vec![1], Vec::new()));
    }

    #[test]
    fn an_entry_needs_a_reason() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("equivalent.toml");
        assert!(read(&path).expect("no file, no entries").is_empty());
        fs::write(&path, LIST).expect("writes");
        assert_eq!(read(&path).expect("reads").len(), 1);
        fs::write(&path, LIST.replace("a and b have no common bits", " ")).expect("writes");
        let error = read(&path).expect_err("no reason").to_string();
        assert!(error.ends_with("`a | b` in Frame::next has no reason"), "{error}");
    }
}
