//! Suites of cases: `<suites>/<protocol>/**/<name>.toml`, and the rules that every shipped case keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Case, CaseError, CaseProtocol, Expected, Polarity, Resolved};
use crate::ProtocolId;
use crate::clause::Registry;
use crate::shipped::{Tree, TreeEntry};

/// A case and the file it was read from.
#[derive(Clone, Debug)]
pub struct CaseFile<P: CaseProtocol> {
    /// Path of the file, relative to the root of the suites.
    pub path: PathBuf,
    /// The whole file.
    pub text: String,
    /// The case as written.
    pub case: Case<P>,
    /// The case ready to run.
    pub resolved: Resolved<P>,
    /// What a subject is given before this case, to see that it forgets: the nearest case before it in the suite with
    /// other parameters, or else the one directly before it. That one has none.
    pub earlier: Option<Arc<Self>>,
}

/// Something is wrong with a file of a suite or of the registry of clauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteError {
    /// The file or directory.
    pub path: PathBuf,
    /// Line and column from 1, where one place is at fault.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub message: String,
}

impl SuiteError {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), place: None, message: message.into() }
    }

    pub(crate) fn at(path: &Path, error: CaseError) -> Self {
        Self { path: path.to_owned(), place: Some((error.line, error.column)), message: error.message }
    }
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for SuiteError {}

/// Reads and resolves every case of a protocol under `suites`, in the order of their paths. A protocol without a
/// directory has none.
///
/// # Errors
///
/// All of them: what cannot be read, parsed or resolved.
pub fn load<P: CaseProtocol>(suites: &Tree) -> Result<Vec<CaseFile<P>>, Vec<SuiteError>> {
    let mut errors = Vec::new();
    let mut paths = Vec::new();
    let of_protocol = Path::new(P::ID.name());
    // Without a root, the walk says what is wrong.
    if suites.entries("").is_ok_and(|entries| entries.iter().all(|entry| entry.name != of_protocol)) {
        return Ok(Vec::new());
    }
    walk(suites, of_protocol, &mut paths, &mut errors);
    let mut files = Vec::new();
    for path in paths {
        match read(suites, &path) {
            Ok(file) => files.push(file),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(with_earlier(files)) } else { Err(errors) }
}

/// Finds the [earlier case](CaseFile::earlier) of each; before the first one comes the last one.
fn with_earlier<P: CaseProtocol>(mut files: Vec<CaseFile<P>>) -> Vec<CaseFile<P>> {
    let shared: Vec<Arc<CaseFile<P>>> = files.iter().cloned().map(Arc::new).collect();
    for (index, file) in files.iter_mut().enumerate() {
        let (before, after) = shared.split_at(index);
        let mut others = before.iter().rev().chain(after.iter().skip(1).rev());
        let nearest = others.clone().next();
        let different = others.find(|other| other.case.parameters != file.case.parameters);
        file.earlier = different.or(nearest).cloned();
    }
    files
}

/// Like [`load`], and the cases also keep the rules of [`lint`] with the clauses in `clauses`.
///
/// # Errors
///
/// All of them.
pub fn check<P: CaseProtocol>(suites: &Tree, clauses: &Tree) -> Result<Vec<CaseFile<P>>, Vec<SuiteError>> {
    let registry = Registry::load(clauses, P::FAMILY)?;
    let files = load::<P>(suites)?;
    let retired = retired_ids(suites, P::ID)
        .map_err(|error| vec![SuiteError::new(&retired_path(P::ID), error.to_string())])?;
    let errors = lint(&files, &registry, &retired);
    if errors.is_empty() { Ok(files) } else { Err(errors) }
}

/// Collects the case files under `suites/directory`, sorted, as paths relative to `suites`.
fn walk(suites: &Tree, directory: &Path, paths: &mut Vec<PathBuf>, errors: &mut Vec<SuiteError>) {
    let entries = match suites.entries(directory) {
        Ok(entries) => entries,
        Err(error) => return errors.push(SuiteError::new(directory, error.to_string())),
    };
    for TreeEntry { name, is_directory } in entries {
        let path = directory.join(name);
        if is_directory {
            walk(suites, &path, paths, errors);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
}

fn read<P: CaseProtocol>(suites: &Tree, path: &Path) -> Result<CaseFile<P>, SuiteError> {
    let text = suites.read_to_string(path).map_err(|error| SuiteError::new(path, error.to_string()))?;
    let case = Case::<P>::parse(&text).map_err(|error| SuiteError::at(path, error))?;
    let resolved = case.resolve().map_err(|problem| SuiteError::at(path, problem.locate(&text)))?;
    Ok(CaseFile { path: path.to_owned(), text, case, resolved, earlier: None })
}

fn retired_path(protocol: ProtocolId) -> PathBuf {
    Path::new(protocol.name()).join("retired.txt")
}

/// Ids of removed cases, which must not be used again: the lines of `<protocol>/retired.txt`. Blank lines and those
/// that start with `#` do not count; without the file there are none.
///
/// # Errors
///
/// When there is a file but it cannot be read.
pub fn retired_ids(suites: &Tree, protocol: ProtocolId) -> io::Result<BTreeSet<String>> {
    match suites.read_to_string(retired_path(protocol)) {
        Ok(text) => Ok(text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

/// Errors of one file that are located: each reads the file again.
const MOST_ERRORS: usize = 20;

/// The rules that hold for the shipped cases of a protocol, beyond being readable.
///
/// * Ids have the protocol's prefix and at least four digits; none is used twice or after its retirement.
/// * Clauses are named, each once, and stand in the registry.
/// * Title and `catches` are one line each.
/// * File names are words of small letters and digits joined by `_`.
/// * A case judges packets, events or both; a negative one expects a fault, a positive one none that stops
///   the decoder.
#[must_use]
pub fn lint<P: CaseProtocol>(
    files: &[CaseFile<P>],
    registry: &Registry,
    retired: &BTreeSet<String>,
) -> Vec<SuiteError> {
    let mut errors = Vec::new();
    let mut ids = BTreeMap::new();
    for file in files {
        let (mut located, mut more) = (0, 0);
        let mut report = |field: &str, message: String| {
            if located == MOST_ERRORS {
                more += 1;
                return;
            }
            located += 1;
            errors.push(SuiteError::at(&file.path, CaseError::at_field(&file.text, field, message)));
        };
        let case = &file.case;
        let prefix = P::ID.case_prefix();
        if !is_id(&case.id, prefix) {
            report("id", format!("`{}` is not `{prefix}` and at least four digits", case.id));
        }
        if retired.contains(&case.id) {
            report("id", format!("`{}` is retired", case.id));
        }
        if let Some(other) = ids.insert(case.id.as_str(), &file.path) {
            report("id", format!("`{}` is the id of {}, too", case.id, other.display()));
        }
        for (field, line) in [("title", &case.title), ("catches", &case.catches)] {
            if line.trim().is_empty() || line.contains('\n') {
                report(field, format!("`{field}` must be one line of text"));
            }
        }
        lint_references(case, registry, &mut report);
        lint_expectation(file, &mut report);
        if more > 0 {
            errors.push(SuiteError::new(&file.path, format!("and {more} more errors")));
        }
        if !is_slug(&file.path) {
            let message = "names of files and directories are small letters, digits and `_`";
            errors.push(SuiteError::new(&file.path, message));
        }
    }
    errors
}

fn lint_references<P: CaseProtocol>(
    case: &Case<P>,
    registry: &Registry,
    report: &mut impl FnMut(&str, String),
) {
    if case.clauses.is_empty() {
        report("clauses", "a case proves at least one clause".to_owned());
    }
    for (index, name) in case.readings.iter().enumerate() {
        if !P::READINGS.iter().any(|reading| reading.name == name) {
            report(&format!("readings[{index}]"), format!("there is no reading `{name}`"));
        }
    }
    let mut named = BTreeSet::new();
    for (index, id) in case.clauses.iter().enumerate() {
        let field = format!("clauses[{index}]");
        match registry.get(id) {
            None => report(&field, format!("there is no clause `{id}`")),
            Some(clause) if clause.untestable.is_some() => {
                report(&field, format!("`{id}` is registered as untestable"));
            }
            Some(_) => {}
        }
        if !named.insert(id) {
            report(&field, format!("`{id}` is named twice"));
        }
    }
}

fn lint_expectation<P: CaseProtocol>(file: &CaseFile<P>, report: &mut impl FnMut(&str, String)) {
    if file.case.packets.is_none() && file.case.events.is_none() {
        report("wire", "a case judges `packets`, `events` or both".to_owned());
    }
    let faults = || {
        file.resolved.events.iter().flatten().enumerate().filter_map(|(index, expected)| match expected {
            Expected::Fault(fault) => Some((index, fault)),
            Expected::Event(_) => None,
        })
    };
    match file.case.polarity {
        Polarity::Negative if faults().next().is_none() => {
            report("polarity", "a negative case expects a fault among its events".to_owned());
        }
        Polarity::Positive => {
            for (_, fault) in faults().filter(|(_, fault)| !fault.class.is_warning()) {
                report("events", format!("a positive case expects no `{}`", fault.class));
            }
        }
        Polarity::Negative => {}
    }
}

fn is_id(id: &str, prefix: &str) -> bool {
    id.strip_prefix(prefix)
        .is_some_and(|digits| digits.len() >= 4 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether every part of the path is a word of small letters, digits and `_`.
fn is_slug(path: &Path) -> bool {
    path.with_extension("").components().all(|part| {
        part.as_os_str().to_str().is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        })
    })
}
