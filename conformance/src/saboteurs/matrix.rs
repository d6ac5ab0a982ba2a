//! The kill matrix: every saboteur and null subject through the suite.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rayon::prelude::*;
use serde::Serialize;
use traceproof_vectors::case::{CaseFile, Level, Polarity, SuiteError};
use traceproof_vectors::clause::Registry;

use super::{SideName, nulls};
use crate::ProtocolName;
use crate::family::{self, FamilyRules, Visitor};
use crate::isolation::{THREAD_NAME, guarded};
use crate::suite::{Directories, Selection, Suite};
use crate::verdict::{Direction, Kind};
use crate::{Agreement, Subject, check};

pub use crate::coverage::proof::MATRIX_SCHEMA as SCHEMA;

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the cases are.
    pub directories: Directories,
    /// Which of them to run.
    pub selection: Selection,
    /// How many subjects at once; `None` = one per processor.
    pub jobs: Option<usize>,
    /// How long one case may take.
    pub deadline: Duration,
    /// Whether a saboteur's cases end when its fate is known: one of them noticed it, and a tenth of all did not. Those
    /// that cite a clause of its source are the first.
    pub until_known: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            directories: Directories::default(),
            selection: Selection::default(),
            jobs: None,
            deadline: Duration::from_secs(10),
            until_known: false,
        }
    }
}

/// Everything that came out.
#[derive(Clone, Debug, Serialize)]
pub struct Matrices {
    /// Version of this format: 1.
    pub schema: u32,
    /// Version of the harness and of the shipped suites.
    pub harness: String,
    /// One for each family.
    pub families: Vec<Matrix>,
}

/// The kill matrix of one protocol.
#[derive(Clone, Debug, Serialize)]
pub struct Matrix {
    /// The protocol.
    #[serde(flatten)]
    pub protocol: ProtocolName,
    /// How many cases ran.
    pub cases: usize,
    /// One for each saboteur, in the order of the tables.
    pub saboteurs: Vec<SaboteurRow>,
    /// One for each null subject.
    pub nulls: Vec<NullRow>,
}

/// What came of one saboteur.
#[derive(Clone, Debug, Serialize)]
pub struct SaboteurRow {
    /// Its name.
    pub name: String,
    /// Decoder or encoder.
    pub side: SideName,
    /// What is wrong with it.
    pub bug: String,
    /// The clause that it breaks, and where such a bug comes from.
    pub source: String,
    /// The clauses that the source names.
    pub clauses: Vec<String>,
    /// How many cases judged it: it claims what they need.
    pub judged: usize,
    /// The cases that noticed, in the order in which they ran: that of their paths, unless [`Options::until_known`].
    pub killers: Vec<Killer>,
}

/// A case that noticed a saboteur.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Killer {
    /// Its id.
    pub case: String,
    /// The first direction in which it noticed.
    pub direction: Direction,
    /// What it noticed.
    pub kind: Kind,
}

/// What came of one null subject.
#[derive(Clone, Debug, Serialize)]
pub struct NullRow {
    /// Its name.
    pub name: String,
    /// How many cases that must be kept and show the rule kept judged it.
    pub judged: usize,
    /// Those of them that it passed, which therefore judge nothing.
    pub passed: Vec<Killer>,
}

impl SaboteurRow {
    /// Whether a case noticed.
    #[must_use]
    pub const fn is_killed(&self) -> bool {
        !self.killers.is_empty()
    }
}

impl Matrix {
    /// Saboteurs that no case noticed.
    pub fn survivors(&self) -> impl Iterator<Item = &SaboteurRow> {
        self.saboteurs.iter().filter(|row| !row.is_killed())
    }

    /// Saboteurs that one case alone kills.
    pub fn fragile(&self) -> impl Iterator<Item = &SaboteurRow> {
        self.saboteurs.iter().filter(|row| row.killers.len() == 1)
    }

    /// Cases that alone kill a saboteur, with the names of those; by id.
    #[must_use]
    pub fn irreplaceable(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut cases: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for row in &self.saboteurs {
            if let [only] = row.killers.as_slice() {
                cases.entry(&only.case).or_default().push(&row.name);
            }
        }
        cases
    }

    /// Which saboteurs each case kills, as indices into [`saboteurs`](Self::saboteurs); by id, without those that kill
    /// none.
    #[must_use]
    pub fn by_case(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut cases: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, row) in self.saboteurs.iter().enumerate() {
            for killer in &row.killers {
                cases.entry(&killer.case).or_default().push(index);
            }
        }
        cases
    }

    /// Whether every saboteur is killed and no null subject passes what it must not.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.survivors().next().is_none() && self.nulls.iter().all(|null| null.passed.is_empty())
    }
}

impl Matrices {
    /// Whether every family is a success, and there is one that has saboteurs.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.families.iter().any(|matrix| !matrix.saboteurs.is_empty())
            && self.families.iter().all(Matrix::is_success)
    }
}

/// How many subjects are done of how many in this family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Done so far.
    pub done: usize,
    /// Saboteurs and null subjects.
    pub total: usize,
}

/// Runs the saboteurs and null subjects of the selected families through the selected cases.
///
/// # Errors
///
/// Everything that is wrong with the suites; then nothing ran.
pub fn run(options: &Options, progress: &(dyn Fn(Progress) + Sync)) -> Result<Matrices, Vec<SuiteError>> {
    let mut families = Vec::new();
    let mut errors = Vec::new();
    for protocol in family::IMPLEMENTED {
        if options.selection.takes_protocol(protocol) {
            match family::visit(protocol, RunFamily { options, progress }) {
                Some(Ok(matrix)) => families.push(matrix),
                Some(Err(mut found)) => errors.append(&mut found),
                None => {}
            }
        }
    }
    if errors.is_empty() {
        Ok(Matrices { schema: SCHEMA, harness: env!("CARGO_PKG_VERSION").to_owned(), families })
    } else {
        Err(errors)
    }
}

struct RunFamily<'a> {
    options: &'a Options,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Visitor for RunFamily<'_> {
    type Output = Result<Matrix, Vec<SuiteError>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Suite { files, registry } = Suite::<P>::load(&self.options.directories)?;
        let files: Vec<Arc<CaseFile<P>>> =
            files.into_iter().filter(|file| self.options.selection.takes(file)).map(Arc::new).collect();
        let (saboteurs, nulls) = (super::of::<P>(), nulls::of(&files));
        let (done, total) = (AtomicUsize::new(0), saboteurs.len() + nulls.len());
        let report = || (self.progress)(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
        let deadline = self.options.deadline;

        let saboteur = |saboteur: &&super::Saboteur<P>| {
            let (judged, killers) = if self.options.until_known {
                let citing_first = citing_first(&files, saboteur.source);
                killers(&saboteur.subject(), &citing_first, deadline, files.len().div_ceil(10))
            } else {
                killers(&saboteur.subject(), &files, deadline, usize::MAX)
            };
            report();
            SaboteurRow {
                name: saboteur.name.to_owned(),
                side: saboteur.side_name(),
                bug: saboteur.bug.to_owned(),
                source: saboteur.source.to_owned(),
                clauses: clauses_in(saboteur.source, &registry),
                judged,
                killers,
            }
        };
        let null = |subject: &Subject| {
            let (judged, passed) = undeserved(subject, &files, deadline);
            report();
            NullRow { name: subject.name().to_owned(), judged, passed }
        };
        let all = || (saboteurs.par_iter().map(saboteur).collect(), nulls.par_iter().map(null).collect());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.options.jobs.unwrap_or(0))
            .thread_name(|_| THREAD_NAME.to_owned())
            .build();
        // Without its own thread pool the run uses the global one.
        let (saboteurs, nulls) = match pool {
            Ok(pool) => pool.install(all),
            Err(_) => all(),
        };
        Ok(Matrix { protocol: ProtocolName(P::ID), cases: files.len(), saboteurs, nulls })
    }
}

/// The same cases, those that cite a clause which the text names first.
fn citing_first<P: FamilyRules>(files: &[Arc<CaseFile<P>>], text: &str) -> Vec<Arc<CaseFile<P>>> {
    let cites =
        |file: &&Arc<CaseFile<P>>| file.case.clauses.iter().any(|clause| text.contains(clause.as_str()));
    let (mut citing, others): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|file| cites(&file));
    citing.extend(others);
    citing
}

/// The clauses of the registry that a text names, each once.
fn clauses_in(text: &str, registry: &Registry) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let mut clauses: Vec<String> =
        words.filter(|word| registry.get(word).is_some()).map(str::to_owned).collect();
    clauses.sort_unstable();
    clauses.dedup();
    clauses
}

/// How many cases judge the subject, and those that it fails; ends when it failed one and passed so many.
fn killers<P: FamilyRules>(
    subject: &Subject,
    files: &[Arc<CaseFile<P>>],
    deadline: Duration,
    enough: usize,
) -> (usize, Vec<Killer>) {
    let (mut judged, mut killers) = (0, Vec::new());
    for file in files {
        if !killers.is_empty() && judged - killers.len() >= enough {
            break;
        }
        let verdicts = verdicts(subject, file, check::directions(subject, file), deadline, Kind::is_failure);
        judged += usize::from(verdicts.iter().any(|(_, kind)| *kind != Kind::Unsupported));
        let failed = verdicts.into_iter().find(|(_, kind)| kind.is_failure());
        killers.extend(failed.map(|(direction, kind)| Killer {
            case: file.case.id.clone(),
            direction,
            kind,
        }));
    }
    (judged, killers)
}

/// The number of positive cases of level `must` that judge the subject, and those that it passes. Checks that compare a
/// decoder only with itself do not judge a null subject.
fn undeserved<P: FamilyRules>(
    subject: &Subject,
    files: &[Arc<CaseFile<P>>],
    deadline: Duration,
) -> (usize, Vec<Killer>) {
    let (mut judged, mut passed) = (0, Vec::new());
    let must =
        |file: &&Arc<CaseFile<P>>| file.case.level == Level::Must && file.case.polarity == Polarity::Positive;
    for file in files.iter().filter(must) {
        let mut directions = check::directions(subject, file);
        directions.retain(|direction| !direction.is_relation());
        let verdicts = verdicts(subject, file, directions, deadline, |_| false);
        judged += usize::from(verdicts.iter().any(|(_, kind)| *kind != Kind::Unsupported));
        let undeserved = verdicts.into_iter().find(|(_, kind)| *kind == Kind::Pass);
        passed.extend(undeserved.map(|(direction, kind)| Killer {
            case: file.case.id.clone(),
            direction,
            kind,
        }));
    }
    (judged, passed)
}

/// What comes out in these directions, up to the first one of which `is_enough`.
fn verdicts<P: FamilyRules>(
    subject: &Subject,
    file: &Arc<CaseFile<P>>,
    directions: Vec<Direction>,
    deadline: Duration,
    is_enough: fn(Kind) -> bool,
) -> Vec<(Direction, Kind)> {
    let mut found = Vec::new();
    for direction in directions {
        let (of, file) = (subject.clone(), Arc::clone(file));
        let verdict =
            guarded(subject, deadline, move || check::check(&of, &file, direction, Agreement::Exact));
        found.push((direction, verdict.kind()));
        if is_enough(verdict.kind()) {
            break;
        }
    }
    found
}
