//! Code of the changed crates that no verdict depends on, as people have decided: `mutants/outside.toml`.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::mutant::Mutant;

/// Code whose results no subject reports, so that the suite cannot judge it: dissections, settings, texts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outside {
    /// The file, or a folder with a `/` at its end.
    pub file: String,
    /// Only this function; none = all.
    pub function: Option<String>,
    /// Why no verdict depends on it, and what tests it instead.
    pub reason: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    outside: Vec<Outside>,
}

impl Outside {
    /// Reads the list; a file that does not exist is an empty one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no list, or has an entry without a reason.
    pub fn read(path: &Path) -> Result<Vec<Self>, Error> {
        if !path.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
        let list: List = toml::from_str(&text).map_err(|error| Error::content(path, error))?;
        match list.outside.iter().find(|entry| entry.reason.trim().is_empty()) {
            Some(entry) => Err(Error::content(path, format!("{} has no reason", entry.file))),
            None => Ok(list.outside),
        }
    }

    /// Whether the mutant changes this code.
    #[must_use]
    pub fn has(&self, mutant: &Mutant) -> bool {
        let place = if self.file.ends_with('/') {
            mutant.file.starts_with(&self.file)
        } else {
            mutant.file == self.file
        };
        place && self.function.as_ref().is_none_or(|function| *function == mutant.function)
    }
}
