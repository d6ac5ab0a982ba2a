//! The lines of an `.ini` file, with their numbers.
//!
//! Keys repeat and each occurrence counts, and every complaint must name its line; so the sections are lists, not maps.

use std::path::{Path, PathBuf};

use super::error::{SnapshotError, SnapshotProblem};
use super::files;

/// The longest `.ini` file taken, in bytes.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// The sections of an `.ini` file.
#[derive(Debug)]
pub(super) struct Ini {
    pub(super) file: PathBuf,
    pub(super) sections: Vec<Section>,
}

/// `[name]` and the entries below it.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) entries: Vec<Entry>,
}

/// `key=value`, both trimmed.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) line: usize,
}

impl Ini {
    pub(super) fn read(file: &Path) -> Result<Self, SnapshotError> {
        let bytes = files::read(file, MAX_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|_| SnapshotError {
            file: file.to_owned(),
            line: 0,
            problem: SnapshotProblem::NotText,
        })?;
        Self::parse(file, &text)
    }

    /// Comments begin with `;` or `#`; spaces around names, keys and values and a byte order mark mean nothing.
    pub(super) fn parse(file: &Path, text: &str) -> Result<Self, SnapshotError> {
        let mut sections: Vec<Section> = Vec::new();
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let number = index + 1;
            let error = |problem| SnapshotError { file: file.to_owned(), line: number, problem };
            let content = line.split([';', '#']).next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            if let Some(name) = content.strip_prefix('[') {
                let name = name.strip_suffix(']').ok_or_else(|| error(SnapshotProblem::Syntax))?.trim();
                sections.push(Section { name: name.to_owned(), line: number, entries: Vec::new() });
                continue;
            }
            let (key, value) = content.split_once('=').ok_or_else(|| error(SnapshotProblem::Syntax))?;
            let section = sections.last_mut().ok_or_else(|| error(SnapshotProblem::OutsideSection))?;
            section.entries.push(Entry {
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
                line: number,
            });
        }
        Ok(Self { file: file.to_owned(), sections })
    }

    /// The entries of every section of this name.
    pub(super) fn entries<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.sections.iter().filter(move |section| section.name == name).flat_map(|section| &section.entries)
    }

    pub(super) fn section(&self, name: &str) -> Result<&Section, SnapshotError> {
        let found = self.sections.iter().find(|section| section.name == name);
        found.ok_or_else(|| self.error(0, SnapshotProblem::MissingSection(name.to_owned())))
    }

    pub(super) fn required<'a>(&self, section: &'a Section, key: &str) -> Result<&'a Entry, SnapshotError> {
        section.get(key).ok_or_else(|| {
            let problem = SnapshotProblem::MissingKey { section: section.name.clone(), key: key.to_owned() };
            self.error(section.line, problem)
        })
    }

    pub(super) fn error(&self, line: usize, problem: SnapshotProblem) -> SnapshotError {
        SnapshotError { file: self.file.clone(), line, problem }
    }
}

impl Section {
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

impl Entry {
    /// The value as an unsigned number, decimal or hexadecimal with `0x`.
    pub(super) fn number(&self, file: &Path) -> Result<u64, SnapshotError> {
        number(&self.value).ok_or_else(|| SnapshotError {
            file: file.to_owned(),
            line: self.line,
            problem: SnapshotProblem::NotANumber(self.value.clone()),
        })
    }

    /// The names in the value, separated by commas.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.value.split(',').map(str::trim).filter(|name| !name.is_empty())
    }
}

/// Decimal, or hexadecimal with `0x`.
pub(super) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // `from_str_radix` takes a sign.
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        None if !text.starts_with('+') => text.parse().ok(),
        _ => None,
    }
}
