//! Errors of case files, and their places in the file.

use std::fmt;

use toml::de::{DeArray, DeTable};

/// The text of a TOML file is wrong at a known position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// What is wrong.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// An entry of a case cannot be resolved: an unknown label, a bad instruction, a malformed payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The entry, e.g. `stimulus[3].retire`; empty where the context is not known.
    pub path: String,
    /// For text of several lines (`program`): line of that text, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl CaseError {
    /// An error of the TOML reader.
    pub(crate) fn from_toml(text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start);
        // A type that refuses a value with a sentence of several lines keeps only its first one here.
        Self::at_offset(text, start, error.message().lines().next().unwrap_or_default())
    }

    /// An error of the entry at `path`, e.g. `events[2].retire`; of the nearest enclosing entry that exists
    /// if that one does not.
    #[must_use]
    pub fn at_field(text: &str, path: &str, message: impl Into<String>) -> Self {
        Self::at_offset(text, find(text, path).map_or(0, |found| found.start), message)
    }

    fn at_offset(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let last_line = before.rsplit('\n').next().unwrap_or_default();
        Self {
            message: message.into(),
            line: before.matches('\n').count() + 1,
            column: last_line.chars().count() + 1,
        }
    }
}

impl Problem {
    /// A problem of the entry at `path`.
    #[must_use]
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, message: message.into() }
    }

    /// A problem in line `line` (from 1) of the text at `path`.
    #[must_use]
    pub fn in_line(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line: Some(line), message: message.into() }
    }

    /// The same problem of an entry that lies under `parent`.
    #[must_use]
    pub fn under(self, parent: &str) -> Self {
        let path = if self.path.is_empty() { parent.to_owned() } else { format!("{parent}.{}", self.path) };
        Self { path, ..self }
    }

    /// Where this problem stands in the file `text`.
    #[must_use]
    pub fn locate(&self, text: &str) -> CaseError {
        let message = self.to_string();
        let Some(found) = find(text, &self.path) else {
            return CaseError::at_offset(text, 0, message);
        };
        let Some(line) = self.line else {
            return CaseError::at_offset(text, found.start, message);
        };
        let opening = text.get(found.value..).unwrap_or_default();
        // TOML drops a line break directly after the opening quotes.
        let skipped = [r#"""""#, "'''"].into_iter().any(|quotes| {
            opening
                .strip_prefix(quotes)
                .is_some_and(|rest| rest.starts_with('\n') || rest.starts_with("\r\n"))
        });
        let first = CaseError::at_offset(text, found.value, message);
        CaseError { line: first.line + usize::from(skipped) + line.saturating_sub(1), column: 1, ..first }
    }
}

/// Byte offsets of an entry.
struct Found {
    /// Its key, or its first byte if it is an element of an array.
    start: usize,
    /// Its value.
    value: usize,
}

/// Looks up a path such as `stimulus[3].exception.epc` as far as it exists.
fn find(text: &str, path: &str) -> Option<Found> {
    let document = DeTable::parse(text).ok()?;
    let mut table = Some(document.get_ref());
    let mut array = None;
    let mut found = None;
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        let (span, value) = if let Some(index) = step.strip_suffix(']') {
            let Some(element) = array.and_then(|elements: &DeArray<'_>| {
                index.parse().ok().and_then(|index: usize| elements.get(index))
            }) else {
                break;
            };
            (element.span(), element)
        } else {
            let Some((key, value)) =
                table.and_then(|entries| entries.iter().find(|(key, _)| key.get_ref().as_ref() == step))
            else {
                break;
            };
            (key.span(), value)
        };
        found = Some(Found { start: span.start, value: value.span().start });
        table = value.get_ref().as_table();
        array = value.get_ref().as_array();
    }
    found
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for CaseError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if !self.path.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "schema = 1\nprogram = '''\nA: nop\nB: bad\n'''\n\"title\" = 'é'\nevents = [\n  { retire = \"A\" },\n  { exception = { cause = 2, epc = \"Z\" } },\n]\n[parameters]\n  xlen = 'rv32'\n";

    fn place(path: &str) -> (usize, usize) {
        let error = CaseError::at_field(FILE, path, "m");
        (error.line, error.column)
    }

    #[test]
    fn entries_are_found_by_path() {
        assert_eq!(place("schema"), (1, 1));
        assert_eq!(place("program"), (2, 1));
        assert_eq!(place("title"), (6, 1));
        assert_eq!(place("events[0]"), (8, 3));
        assert_eq!(place("events[0].retire"), (8, 5));
        assert_eq!(place("events[1].exception.epc"), (9, 30));
        assert_eq!(place("parameters.xlen"), (12, 3));
    }

    #[test]
    fn the_nearest_enclosing_entry_stands_for_a_missing_one() {
        assert_eq!(place("parameters.modes.sijump"), (11, 2));
        assert_eq!(place("events[7].retire"), (7, 1));
        assert_eq!(place("wire"), (1, 1));
    }

    #[test]
    fn lines_of_a_text_are_counted_from_its_first_line() {
        let error = Problem::in_line("program", 2, "unknown mnemonic").locate(FILE);
        assert_eq!(error.to_string(), "4:1: program, line 2: unknown mnemonic");
        let same_line = Problem::in_line("program", 1, "m").locate("\nprogram = 'bad'\n");
        assert_eq!((same_line.line, same_line.column), (2, 1));
    }

    #[test]
    fn columns_count_characters() {
        let error = toml::from_str::<toml::Table>("a = 'éé' x").expect_err("junk at the end");
        let error = CaseError::from_toml("a = 'éé' x", &error);
        assert_eq!((error.line, error.column), (1, 10));
    }

    #[test]
    fn problems_move_under_their_parent() {
        let problem = Problem::new("", "unknown label `Z`").under("epc").under("events[1]");
        assert_eq!(problem.to_string(), "events[1].epc: unknown label `Z`");
    }
}
