//! Which clauses are cited by which cases, and which are not; which of those are [proven](proof).

pub mod proof;

use std::collections::BTreeMap;

use serde::Serialize;
use traceproof_vectors::Family;
use traceproof_vectors::case::Polarity;
use traceproof_vectors::clause::Clause;

use crate::family::FamilyRules;
use crate::suite::Suite;

/// The clauses of a family with their cases.
#[derive(Clone, Debug, Serialize)]
pub struct Coverage {
    /// The family.
    pub family: Family,
    /// Every clause, in the order of the registry.
    pub clauses: Vec<ClauseCoverage>,
    /// Ids of the cases that depend on each reading without a primary source.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub provisional: BTreeMap<String, Vec<String>>,
}

/// One clause with its cases.
#[derive(Clone, Debug, Serialize)]
pub struct ClauseCoverage {
    /// The clause.
    #[serde(flatten)]
    pub clause: Clause,
    /// Ids of the cases that show the rule kept.
    pub positive: Vec<String>,
    /// Ids of the cases that show it broken.
    pub negative: Vec<String>,
    /// Whether that is enough.
    pub state: State,
}

/// Whether a clause has the cases that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It has what it needs.
    Covered,
    /// A wire can break it, but no case does.
    NoNegative,
    /// No case names it.
    Missing,
    /// No case can cover it, for the reason in the registry.
    Untestable,
}

impl State {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::NoNegative => "no negative",
            Self::Missing => "missing",
            Self::Untestable => "untestable",
        }
    }

    /// Whether a case is wanted.
    #[must_use]
    pub const fn is_gap(self) -> bool {
        matches!(self, Self::NoNegative | Self::Missing)
    }
}

impl Coverage {
    /// Looks up the cases of every clause.
    #[must_use]
    pub fn of<P: FamilyRules>(suite: &Suite<P>) -> Self {
        let cases = |clause: &Clause, polarity| {
            suite
                .files
                .iter()
                .filter(|file| file.case.polarity == polarity && file.case.clauses.contains(&clause.id))
                .map(|file| file.case.id.clone())
                .collect::<Vec<_>>()
        };
        let clauses = suite
            .registry
            .clauses
            .iter()
            .map(|clause| {
                let positive = cases(clause, Polarity::Positive);
                let negative = cases(clause, Polarity::Negative);
                let state = state(clause, !positive.is_empty(), !negative.is_empty());
                ClauseCoverage { clause: clause.clone(), positive, negative, state }
            })
            .collect();
        let mut provisional: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in &suite.files {
            for reading in crate::runner::provisional::<P>(&file.case.readings) {
                provisional.entry(reading).or_default().push(file.case.id.clone());
            }
        }
        Self { family: P::FAMILY, clauses, provisional }
    }

    /// With the cases of another protocol of the same family, which proves clauses of the same registry.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for (entry, more) in self.clauses.iter_mut().zip(other.clauses) {
            entry.positive.extend(more.positive);
            entry.negative.extend(more.negative);
            entry.state = state(&entry.clause, !entry.positive.is_empty(), !entry.negative.is_empty());
        }
        self.provisional.extend(other.provisional);
        self
    }

    /// Only the clauses of one scope.
    #[must_use]
    pub fn in_scope(mut self, scope: &str) -> Self {
        self.clauses.retain(|entry| entry.clause.scope == scope);
        let clauses = &self.clauses;
        let of_scope = |case: &String| {
            clauses.iter().any(|entry| entry.positive.contains(case) || entry.negative.contains(case))
        };
        self.provisional.values_mut().for_each(|cases| cases.retain(of_scope));
        self.provisional.retain(|_, cases| !cases.is_empty());
        self
    }

    /// The scopes, in the order of their first clause.
    #[must_use]
    pub fn scopes(&self) -> Vec<&str> {
        let mut scopes = Vec::new();
        for entry in &self.clauses {
            if !scopes.contains(&entry.clause.scope.as_str()) {
                scopes.push(entry.clause.scope.as_str());
            }
        }
        scopes
    }

    /// The clauses that want a case.
    pub fn gaps(&self) -> impl Iterator<Item = &ClauseCoverage> {
        self.clauses.iter().filter(|entry| entry.state.is_gap())
    }
}

const fn state(clause: &Clause, positive: bool, negative: bool) -> State {
    match (clause.untestable.is_some(), positive || negative) {
        (_, true) if clause.violable && !negative => State::NoNegative,
        (_, true) => State::Covered,
        (true, false) => State::Untestable,
        (false, false) => State::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Directories;
    use traceproof_vectors::arm_etm::{Architecture, ArmEtm};
    use traceproof_vectors::case::CaseFile;
    use traceproof_vectors::clause::Registry;

    #[test]
    fn protocols_of_a_family_prove_its_clauses_together() {
        let clause = |number: u8| {
            format!(
                "[[clause]]\nid = 'ETE-PKT-00{number}'\nsummary = 's'\nsource = 'x'\nkind = 'packet'\nlevel = 'must'\n\
                 scope = 'core'\nviolable = true\n"
            )
        };
        let text = format!("family = 'arm_ete'\n{}{}", clause(1), clause(2));
        let registry = Registry::parse(&text).expect("reads");
        let proven = |cases: [(&[&str], &[&str]); 2]| {
            let entry = |(clause, (positive, negative)): (&Clause, (&[&str], &[&str]))| ClauseCoverage {
                clause: clause.clone(),
                positive: positive.iter().map(ToString::to_string).collect(),
                negative: negative.iter().map(ToString::to_string).collect(),
                state: state(clause, !positive.is_empty(), !negative.is_empty()),
            };
            Coverage {
                family: Family::ArmEte,
                clauses: registry.clauses.iter().zip(cases).map(entry).collect(),
                provisional: BTreeMap::new(),
            }
        };
        let packets = proven([(&["ete-0001"], &[]), (&[], &[])]);
        let unit = proven([(&[], &["eteu-0001"]), (&["eteu-0002"], &[])]);
        assert_eq!(packets.gaps().count(), 2);
        let both = packets.and(unit);
        assert_eq!(both.clauses[0].state, State::Covered);
        assert_eq!(both.clauses[1].state, State::NoNegative);
        assert_eq!(both.clauses[0].negative, ["eteu-0001"]);
    }

    #[test]
    fn every_case_of_etmv2_depends_on_unconfirmed_bits() {
        let suite = Suite::<ArmEtm>::load(&Directories::default()).expect("sound");
        let of_v2 = |file: &&CaseFile<ArmEtm>| file.case.parameters.architecture == Architecture::V2;
        let cases: Vec<&str> = suite.files.iter().filter(of_v2).map(|file| file.case.id.as_str()).collect();
        let coverage = Coverage::of(&suite);
        assert!(!cases.is_empty());
        assert_eq!(coverage.provisional["etm-pc-1"], cases);
        let other = coverage.clone().in_scope("etm3");
        assert!(!other.clauses.is_empty() && !other.provisional.contains_key("etm-pc-1"));
        let marked = |entry: &&ClauseCoverage| !entry.clause.provisional.is_empty();
        assert!(coverage.clauses.iter().find(marked).is_some());
    }

    #[test]
    fn a_clause_that_can_be_broken_wants_both() {
        let text = "family = 'riscv_etrace'\n[[clause]]\nid = 'RVET-PKT-001'\nsummary = 's'\nsource = 'ET 7'\n\
                    kind = 'packet'\nlevel = 'must'\nscope = 'core'\nviolable = true\n";
        let clause = Registry::parse(text).expect("reads").clauses.remove(0);
        assert_eq!(state(&clause, false, false), State::Missing);
        assert_eq!(state(&clause, true, false), State::NoNegative);
        assert_eq!(state(&clause, false, true), State::Covered);
        assert_eq!(state(&clause, true, true), State::Covered);
        let easy = Clause { violable: false, ..clause.clone() };
        assert_eq!(state(&easy, true, false), State::Covered);
        let hopeless = Clause { violable: false, untestable: Some(String::from("a fact")), ..clause };
        assert_eq!(state(&hopeless, false, false), State::Untestable);
    }
}
