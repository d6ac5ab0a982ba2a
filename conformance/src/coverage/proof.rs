//! Which clauses are proven: a saboteur that breaks the clause is killed by a case that cites it.
//!
//! A case can cite a clause and pass with any decoder. A kill shows that it does not: with a decoder that breaks the
//! clause, it fails.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ClauseCoverage, Coverage};

/// Version of the matrix as data. Raised when a field changes its meaning or goes away.
pub const MATRIX_SCHEMA: u32 = 1;

/// The kills of the saboteurs, read from the JSON of a [matrix](crate::saboteurs::matrix).
#[derive(Clone, Debug, Deserialize)]
pub struct Kills {
    schema: u32,
    families: Vec<ProtocolKills>,
}

#[derive(Clone, Debug, Deserialize)]
struct ProtocolKills {
    saboteurs: Vec<Kill>,
}

#[derive(Clone, Debug, Deserialize)]
struct Kill {
    name: String,
    clauses: Vec<String>,
    killers: Vec<Killer>,
}

#[derive(Clone, Debug, Deserialize)]
struct Killer {
    case: String,
}

/// What kills show about a clause that has cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// No saboteur names it.
    NoSaboteur,
    /// Saboteurs name it; no case that cites it kills one of them.
    CitedOnly,
    /// A case that cites it kills a saboteur that names it, and each such saboteur is killed by one case alone.
    Fragile,
    /// A case that cites it kills a saboteur that names it, and other cases kill that saboteur, too.
    Proven,
}

impl Proof {
    /// All of them, the strongest first.
    pub const ALL: [Self; 4] = [Self::Proven, Self::Fragile, Self::CitedOnly, Self::NoSaboteur];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoSaboteur => "no saboteur",
            Self::CitedOnly => "cited only",
            Self::Fragile => "fragile",
            Self::Proven => "proven",
        }
    }
}

/// A clause and what kills show about it.
#[derive(Clone, Debug)]
pub struct Proven<'a> {
    /// The clause and its cases.
    pub entry: &'a ClauseCoverage,
    /// What is shown.
    pub proof: Proof,
    /// The saboteurs that name it, each with the cases that cite the clause and kill it.
    pub saboteurs: Vec<(&'a str, Vec<&'a str>)>,
}

impl Kills {
    /// Reads the file that `saboteurs --matrix` writes.
    ///
    /// # Errors
    ///
    /// When it is none, or of another version of the format.
    pub fn read(text: &str) -> Result<Self, String> {
        let kills: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if kills.schema == MATRIX_SCHEMA {
            Ok(kills)
        } else {
            Err(format!("schema {} instead of {}", kills.schema, MATRIX_SCHEMA))
        }
    }

    /// What the kills show about each clause that has cases.
    #[must_use]
    pub fn proofs<'a>(&'a self, coverage: &'a Coverage) -> Vec<Proven<'a>> {
        let cited = |entry: &&ClauseCoverage| !(entry.positive.is_empty() && entry.negative.is_empty());
        coverage.clauses.iter().filter(cited).map(|entry| self.proof(entry)).collect()
    }

    fn proof<'a>(&'a self, entry: &'a ClauseCoverage) -> Proven<'a> {
        let citing: BTreeSet<&str> =
            entry.positive.iter().chain(&entry.negative).map(String::as_str).collect();
        let kills = self.families.iter().flat_map(|family| &family.saboteurs);
        let naming = kills.filter(|kill| kill.clauses.contains(&entry.clause.id));
        let mut proof = Proof::NoSaboteur;
        let mut saboteurs = Vec::new();
        for kill in naming {
            let killers = kill.killers.iter().map(|killer| killer.case.as_str());
            let killers: Vec<&str> = killers.filter(|case| citing.contains(case)).collect();
            proof = proof.max(match (killers.is_empty(), kill.killers.len()) {
                (true, _) => Proof::CitedOnly,
                (false, 1) => Proof::Fragile,
                (false, _) => Proof::Proven,
            });
            saboteurs.push((kill.name.as_str(), killers));
        }
        Proven { entry, proof, saboteurs }
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Family;
    use traceproof_vectors::clause::Registry;

    use super::super::State;
    use super::*;

    fn clause(number: u8, cases: &[&str]) -> ClauseCoverage {
        let text = format!(
            "family = 'arm_ete'\n[[clause]]\nid = 'ETE-PKT-00{number}'\nsummary = 's'\nsource = 'x'\n\
             kind = 'packet'\nlevel = 'must'\nscope = 'core'\nviolable = false\n"
        );
        ClauseCoverage {
            clause: Registry::parse(&text).expect("reads").clauses.remove(0),
            positive: cases.iter().map(ToString::to_string).collect(),
            negative: Vec::new(),
            state: State::Covered,
        }
    }

    #[test]
    fn a_clause_is_proven_by_a_case_that_cites_it_and_kills() {
        let kills = |name: &str, clause: u8, cases: &[&str]| {
            let killers: Vec<String> = cases.iter().map(|case| format!(r#"{{"case":"{case}"}}"#)).collect();
            let killers = killers.join(",");
            format!(r#"{{"name":"{name}","clauses":["ETE-PKT-00{clause}"],"killers":[{killers}]}}"#)
        };
        let saboteurs = [
            kills("seen-twice", 1, &["ete-0001", "ete-0009"]),
            kills("seen-once", 2, &["ete-0002"]),
            // A case that cites something else.
            kills("seen-elsewhere", 3, &["ete-0009"]),
            kills("survivor", 1, &[]),
        ];
        let text = format!(r#"{{"schema":1,"families":[{{"saboteurs":[{}]}}]}}"#, saboteurs.join(","));
        let coverage = Coverage {
            family: Family::ArmEte,
            clauses: vec![
                clause(1, &["ete-0001"]),
                clause(2, &["ete-0002", "ete-0003"]),
                clause(3, &["ete-0003"]),
                clause(4, &["ete-0001"]),
                clause(5, &[]),
            ],
            provisional: std::collections::BTreeMap::new(),
        };
        let kills = Kills::read(&text).expect("reads");
        let proofs = kills.proofs(&coverage);
        let found: Vec<Proof> = proofs.iter().map(|proven| proven.proof).collect();
        assert_eq!(found, [Proof::Proven, Proof::Fragile, Proof::CitedOnly, Proof::NoSaboteur]);
        assert_eq!(proofs[0].saboteurs, [("seen-twice", vec!["ete-0001"]), ("survivor", vec![])]);
        let newer = Kills::read(&text.replace("\"schema\":1", "\"schema\":2"));
        assert_eq!(newer.expect_err("newer"), "schema 2 instead of 1");
    }
}
