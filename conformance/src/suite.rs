//! The cases and clauses that a run needs, loaded and checked together.

use std::path::{Path, PathBuf};

use traceproof_vectors::case::{self, CaseFile, SuiteError};
use traceproof_vectors::clause::Registry;
use traceproof_vectors::shipped::{self, Tree};
use traceproof_vectors::{Family, ProtocolId};

use crate::Shard;
use crate::family::FamilyRules;
use crate::generate::{OpcodeSweep, Seed};

/// Where suites and registries of clauses lie.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Directories {
    /// Holds `<protocol>/**/<case>.toml`.
    pub suites: Tree,
    /// Holds `<family>.toml`.
    pub clauses: Tree,
    /// What names them after `--suite` in commands; nothing for those that are shipped.
    pub argument: Option<String>,
}

impl Directories {
    /// Suites, and the registries that have their clauses.
    #[must_use]
    pub fn new(suites: impl Into<Tree>, clauses: impl Into<Tree>) -> Self {
        Self { suites: suites.into(), clauses: clauses.into(), argument: None }
    }
}

/// Those that come with the crate `traceproof-vectors`.
impl Default for Directories {
    fn default() -> Self {
        Self::new(shipped::suites(), shipped::clauses())
    }
}

/// The cases and clauses of one family.
#[derive(Clone, Debug)]
pub struct Suite<P: FamilyRules> {
    /// The cases, in the order of their paths.
    pub files: Vec<CaseFile<P>>,
    /// The clauses.
    pub registry: Registry,
}

impl<P: FamilyRules> Suite<P> {
    /// Loads cases and clauses and checks them against each other. A family without a directory has no cases, and needs
    /// no clauses.
    ///
    /// # Errors
    ///
    /// Everything that is wrong: unreadable files, malformed cases, broken rules. The paths are those of the
    /// files, relative to the working directory where they lie under it.
    pub fn load(directories: &Directories) -> Result<Self, Vec<SuiteError>> {
        let clauses = Self::registry(directories);
        let files = case::load::<P>(&directories.suites);
        let (registry, files) = match (clauses, files) {
            (Ok(registry), Ok(files)) => (registry, files),
            (clauses, files) => {
                let mut errors = located(&directories.clauses, clauses.err().unwrap_or_default());
                errors.extend(located(&directories.suites, files.err().unwrap_or_default()));
                return Err(errors);
            }
        };
        let retired = case::retired_ids(&directories.suites, P::ID).map_err(|error| {
            let path = shorter(&directories.suites.locate(Path::new(P::ID.name()).join("retired.txt")));
            vec![SuiteError { path, place: None, message: error.to_string() }]
        })?;
        let errors = case::lint(&files, &registry, &retired);
        if errors.is_empty() {
            Ok(Self { files, registry })
        } else {
            Err(located(&directories.suites, errors))
        }
    }

    fn registry(directories: &Directories) -> Result<Registry, Vec<SuiteError>> {
        let absent = |tree: &Tree, path: &Path| tree.read(path).is_err() && tree.entries(path).is_err();
        let file = format!("{}.toml", P::FAMILY);
        if absent(&directories.suites, P::ID.name().as_ref()) && absent(&directories.clauses, file.as_ref()) {
            return Ok(Registry { family: P::FAMILY, clauses: Vec::new() });
        }
        Registry::load(&directories.clauses, P::FAMILY)
    }

    /// The clause's id and summary, for people.
    #[must_use]
    pub fn describe(&self, clause: &str) -> String {
        self.registry
            .get(clause)
            .map_or_else(|| clause.to_owned(), |found| format!("{clause}  {}", found.summary))
    }
}

fn located(tree: &Tree, errors: Vec<SuiteError>) -> Vec<SuiteError> {
    errors.into_iter().map(|error| SuiteError { path: shorter(&tree.locate(&error.path)), ..error }).collect()
}

/// Relative to the working directory where that is shorter.
fn shorter(path: &Path) -> PathBuf {
    std::env::current_dir()
        .ok()
        .and_then(|current| path.strip_prefix(current).ok().map(Path::to_owned))
        .unwrap_or_else(|| path.to_owned())
}

/// Which cases to take. The default takes all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these families; empty = all.
    pub families: Vec<Family>,
    /// Only cases that one of these matches; empty = all. See [`matches`](Self::matches).
    pub filters: Vec<String>,
    /// Only cases at least as binding as this.
    pub level: Option<case::Level>,
    /// Only cases that prove one of these clauses; empty = all.
    pub clauses: Vec<String>,
    /// Only cases of this part of the suite.
    pub shard: Option<Shard>,
}

impl Selection {
    /// Whether cases of the protocol may be taken: a family stands for all of its protocols.
    #[must_use]
    pub fn takes_protocol(&self, protocol: ProtocolId) -> bool {
        self.families.is_empty() || self.families.contains(&protocol.family())
    }

    /// Whether this case is taken.
    #[must_use]
    pub fn takes<P: FamilyRules>(&self, file: &CaseFile<P>) -> bool {
        let case = &file.case;
        self.takes_named::<P>(&case.id, &case.title, &file.path, case.level, &case.clauses)
    }

    /// Whether the case of a seed is taken.
    #[must_use]
    pub fn takes_seed<P: FamilyRules>(&self, seed: Seed) -> bool {
        self.takes_named::<P>(&seed.id::<P>(), seed.title(), &seed.path::<P>(), seed.level(), &[])
    }

    /// Whether the case of a sweep is taken.
    #[must_use]
    pub fn takes_sweep<P: FamilyRules>(&self, sweep: &OpcodeSweep) -> bool {
        self.takes_named::<P>(&sweep.id::<P>(), &sweep.title(), &sweep.path::<P>(), case::Level::Must, &[])
    }

    fn takes_named<P: FamilyRules>(
        &self,
        id: &str,
        title: &str,
        path: &Path,
        level: case::Level,
        clauses: &[String],
    ) -> bool {
        self.takes_protocol(P::ID)
            && self.shard.is_none_or(|shard| shard.takes(id))
            && self.level.is_none_or(|most| level <= most)
            && (self.clauses.is_empty() || clauses.iter().any(|clause| self.clauses.contains(clause)))
            && (self.filters.is_empty()
                || self
                    .filters
                    .iter()
                    .any(|filter| Self::matches(filter, &[id, title, &path.to_string_lossy()])))
    }

    /// Whether a filter matches one of the texts: as a part of it, or, with `*` or `?` in the filter, as a
    /// pattern of the whole. Capital and small letters are the same.
    #[must_use]
    pub fn matches(filter: &str, texts: &[&str]) -> bool {
        let filter: Vec<char> = filter.to_lowercase().chars().collect();
        let pattern = filter.iter().any(|c| matches!(c, '*' | '?'));
        texts.iter().any(|text| {
            let text: Vec<char> = text.to_lowercase().chars().collect();
            if pattern {
                glob(&filter, &text)
            } else {
                filter.is_empty() || text.windows(filter.len()).any(|window| window == filter)
            }
        })
    }
}

/// `*` stands for any text, `?` for one character.
fn glob(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on when a `*` has to take one character more.
    let mut retry = None;
    while let Some(&c) = text.get(t) {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == c => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((star, taken)) = retry else { return false };
                retry = Some((star, taken + 1));
                p = star + 1;
                t = taken + 1;
            }
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::Selection;

    #[test]
    fn filters_are_parts_or_patterns() {
        let texts = ["etr-0042", "Loop label, scenario 2", "riscv_etrace/loop_labels/second_arrival.toml"];
        for filter in
            ["etr-0042", "0042", "LOOP", "etr-00??", "*scenario*", "riscv_etrace/*/second*", "", "*"]
        {
            assert!(Selection::matches(filter, &texts), "{filter}");
        }
        for filter in ["etr-0043", "etr-00?", "scenario*", "loops", "*x"] {
            assert!(!Selection::matches(filter, &texts), "{filter}");
        }
    }
}
