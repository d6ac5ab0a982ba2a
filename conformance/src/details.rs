//! What results have beside verdicts, so that a report can be made of them alone: the texts of cases, the clauses of
//! their families, and for some failures wire and dissection.
//!
//! A run keeps no bytes, so the subject runs a second time for the examples, at most [`EXAMPLES`] for each cause. The
//! output of a flaky subject may differ from the output that was judged.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use traceproof_vectors::Family;
use traceproof_vectors::case::{CaseFile, SuiteError};
use traceproof_vectors::clause::Clause;

use crate::Subject;
use crate::family::{self, FamilyRules, Visitor};
use crate::generate::generated_case;
use crate::report::causes::{Judged, causes};
use crate::report::explain::{self, Evidence, Explaining};
use crate::run::Run;
use crate::save::case_text;
use crate::suite::{Directories, Suite};

/// Number of cases of each cause that have a dissection.
pub const EXAMPLES: usize = 3;

/// The details of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Details {
    /// The clauses of every family with a case in the run.
    pub clauses: Vec<FamilyClause>,
    /// By the ids of cases.
    pub details: BTreeMap<String, Detail>,
}

/// A clause and the family whose registry has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FamilyClause {
    /// The family.
    pub family: Family,
    /// The clause.
    #[serde(flatten)]
    pub clause: Clause,
}

/// The details of one case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// The text of its file; of a generated execution only if it is an example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Wire and dissection of an example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

/// Collects the details of a run. `progress` is called for each example, with the number of those that are done and of
/// all.
///
/// # Errors
///
/// When the suite can no longer be read.
pub fn of(
    run: &Run,
    subject: &Subject,
    directories: &Directories,
    deadline: Duration,
    progress: &dyn Fn(usize, usize),
) -> Result<Details, Vec<SuiteError>> {
    let mut details = Details::default();
    let examples = examples(run);
    let mut done = 0;
    for protocol in family::IMPLEMENTED {
        if !run.cases.iter().any(|case| case.protocol.0 == protocol) {
            continue;
        }
        let mut collect = Collect {
            run,
            subject,
            directories,
            deadline,
            examples: &examples,
            details: &mut details,
            step: &mut || {
                done += 1;
                progress(done, examples.len());
            },
        };
        if let Some(collected) = family::visit(protocol, &mut collect) {
            collected?;
        }
    }
    Ok(details)
}

/// The first failing cases of each cause.
fn examples(run: &Run) -> BTreeSet<&str> {
    let mut examples = BTreeSet::new();
    for cause in causes(run) {
        let mut of_cause = BTreeSet::new();
        for failure in &cause.failures {
            if let Judged::Case(case) = failure.of
                && of_cause.len() < EXAMPLES
            {
                of_cause.insert(case.id.as_str());
            }
        }
        examples.append(&mut of_cause);
    }
    examples
}

struct Collect<'a, 'b> {
    run: &'a Run,
    subject: &'a Subject,
    directories: &'a Directories,
    deadline: Duration,
    examples: &'b BTreeSet<&'a str>,
    details: &'b mut Details,
    step: &'b mut dyn FnMut(),
}

impl Visitor for &mut Collect<'_, '_> {
    type Output = Result<(), Vec<SuiteError>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let suite = Suite::<P>::load(self.directories)?;
        let known: BTreeSet<String> =
            self.details.clauses.iter().map(|entry| entry.clause.id.clone()).collect();
        let clauses = suite.registry.clauses.iter().filter(|clause| !known.contains(&clause.id));
        let family = P::FAMILY;
        self.details.clauses.extend(clauses.map(|clause| FamilyClause { family, clause: clause.clone() }));
        let files: BTreeMap<&str, &CaseFile<P>> =
            suite.files.iter().map(|file| (file.case.id.as_str(), file)).collect();
        for case in self.run.cases.iter().filter(|case| case.protocol.0 == P::ID) {
            let is_example = self.examples.contains(case.id.as_str());
            let detail = match files.get(case.id.as_str()) {
                Some(file) => self.detail(file, is_example),
                None if is_example => {
                    let file = generated_case::<P>(&case.id);
                    file.map(|file| self.detail(&file, true)).unwrap_or_default()
                }
                None => continue,
            };
            self.details.details.insert(case.id.clone(), detail);
        }
        Ok(())
    }
}

impl Collect<'_, '_> {
    fn detail<P: FamilyRules>(&mut self, file: &CaseFile<P>, is_example: bool) -> Detail {
        let evidence = is_example.then(|| {
            let limits = *self.subject.limits();
            let explaining =
                Explaining { limits, deadline: self.deadline, teaches: true, ..Explaining::default() };
            let evidence = explain::evidence(file, self.subject, &explaining);
            (self.step)();
            evidence
        });
        Detail { source: Some(case_text(file)), evidence }
    }
}
