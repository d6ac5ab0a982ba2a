//! `traceproof coverage`: which requirements are covered.

use std::path::PathBuf;

use clap::Args;
use traceproof_conformance::coverage::Coverage;
use traceproof_conformance::coverage::proof::Kills;
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::report::coverage as report;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::{Family, bounded};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{print, read_text};
use crate::suite::SuiteArgument;

/// Show which requirements are covered by which cases.
///
/// A requirement is covered if a case names it; if a wire can violate it, a negative case must name it as well. It is
/// proven if such a case detects a saboteur that breaks it (--kills).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof coverage
  traceproof coverage --scope core --missing
  traceproof saboteurs --matrix kills.json && traceproof coverage --kills kills.json --unproven
  traceproof coverage RVET-DEC-016")]
pub(crate) struct Arguments {
    /// Show these clauses in full.
    clause: Vec<String>,
    /// Only this family, e.g. riscv-etrace.
    #[arg(long, value_name = "FAMILY")]
    family: Option<Family>,
    /// Only clauses of this scope, e.g. core.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    #[command(flatten)]
    suite: SuiteArgument,
    /// List the clauses without a required case.
    #[arg(long)]
    missing: bool,
    /// Also show which covered clauses are proven, by the kills in this file of `saboteurs --matrix`.
    #[arg(long, value_name = "FILE")]
    kills: Option<PathBuf>,
    /// List the covered clauses that are not proven, or by one case alone.
    #[arg(long, requires = "kills")]
    unproven: bool,
    /// List every clause.
    #[arg(long)]
    all: bool,
    /// Fail if a clause of the scope has no required case; without a scope, of any finished scope.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let mut text = String::new();
    let mut gaps = 0;
    let mut found = 0;
    let mut selected = 0;
    if let Some(family) = arguments.family.filter(|family| !family::families().contains(family)) {
        return Err(Failure::no_such_family(family));
    }
    let directories = arguments.suite.directories()?;
    let kills = arguments.kills.as_deref().map(|path| {
        Kills::read(&read_text(path, bounded::LISTING)?).map_err(|error| Failure::file(path, error))
    });
    let kills = kills.transpose()?;
    for family in family::families() {
        if arguments.family.is_some_and(|wanted| wanted != family) {
            continue;
        }
        let Some((mut coverage, finished)) = measured(family, &directories)? else { continue };
        match arguments.scope.as_deref() {
            Some(scope) => coverage = coverage.in_scope(scope),
            None if arguments.check => {
                coverage.clauses.retain(|entry| finished.contains(&entry.clause.scope.as_str()));
            }
            None => {}
        }
        selected += coverage.clauses.len();
        let proofs = kills.as_ref().map(|kills| kills.proofs(&coverage));
        if !arguments.clause.is_empty() {
            for entry in coverage.clauses.iter().filter(|entry| arguments.clause.contains(&entry.clause.id)) {
                found += 1;
                text.push_str(&report::clause(entry));
                let mut proofs = proofs.iter().flatten();
                if let Some(proven) = proofs.find(|proven| proven.entry.clause.id == entry.clause.id) {
                    text.push_str(&report::proof(proven));
                }
            }
            continue;
        }
        text.push_str(&report::summary(&coverage));
        if arguments.all {
            text.push('\n');
            text.push_str(&report::clauses(&coverage.clauses));
        } else if arguments.missing || arguments.check {
            let missing = report::clauses(coverage.gaps());
            if !missing.is_empty() {
                text.push('\n');
                text.push_str(&missing);
            }
        }
        if let Some(proofs) = &proofs {
            text.push_str(&report::proof_summary(&coverage, proofs));
            if arguments.unproven {
                text.push_str(&report::unproven(proofs));
            }
        }
        gaps += coverage.gaps().count();
    }
    if selected == 0 {
        return Err(Failure::usage("no clause has this scope"));
    }
    if found < arguments.clause.len() {
        return Err(Failure::not_found("no such clause", "coverage --all"));
    }
    print(&text)?;
    Ok(if arguments.check && gaps > 0 { Exit::Failed } else { Exit::Ok })
}

/// The clauses of a family with the cases of all its protocols, and the scopes that are finished.
fn measured(
    family: Family,
    directories: &Directories,
) -> Result<Option<(Coverage, Vec<&'static str>)>, Failure> {
    let mut all: Option<(Coverage, Vec<&'static str>)> = None;
    let measure = |protocol| family::visit(protocol, Measure(directories));
    for measured in family::protocols_of(family).filter_map(measure) {
        let (coverage, finished) = measured?;
        all = Some(match all {
            Some((others, mut scopes)) => {
                scopes.extend(finished);
                (others.and(coverage), scopes)
            }
            None => (coverage, finished.to_vec()),
        });
    }
    Ok(all)
}

struct Measure<'a>(&'a Directories);

impl Visitor for Measure<'_> {
    /// And the scopes that are finished.
    type Output = Result<(Coverage, &'static [&'static str]), Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let suite = Suite::<P>::load(self.0).map_err(|errors| Failure::suite(&errors))?;
        Ok((Coverage::of(&suite), P::FINISHED_SCOPES))
    }
}
