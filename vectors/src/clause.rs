//! The requirements: the registry of clauses, `vectors/clauses/<family>.toml`.
//!
//! A clause is one numbered requirement of a specification, in this project's words. Cases name the clauses
//! that they prove; coverage is measured over the registry.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Family;
use crate::case::{CaseError, SuiteError};
use crate::shipped::Tree;

/// The clauses of one family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// The family, which is also the name of the file.
    pub family: Family,
    /// Its clauses, in the order of the file.
    #[serde(rename = "clause")]
    pub clauses: Vec<Clause>,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// Stable, never reused, e.g. `RVET-PKT-031`.
    pub id: String,
    /// What is required, in one line.
    pub summary: String,
    /// Chapter and section, e.g. `ET 7.2`, or an issue `#122` of the specification's tracker; `none` where
    /// the specification is silent.
    pub source: String,
    /// What the requirement is about.
    pub kind: Kind,
    /// How binding it is.
    pub level: ClauseLevel,
    /// Short tag of what is built, and covered, together: `core`, `modes`, `data`, …
    pub scope: String,
    /// Whether a wire can break it so that a decoder can detect it; such a clause needs a negative case.
    pub violable: bool,
    /// Why no case can prove it, if none can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untestable: Option<String>,
    /// Names of the readings without a primary source that it rests on
    /// ([`PROVISIONAL`](crate::Protocol::PROVISIONAL)); a clause that has any is provisional.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provisional: Vec<String>,
}

/// What a requirement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The format of packets.
    Packet,
    /// What an encoder does.
    Encoder,
    /// What a decoder does.
    Decoder,
    /// The port between hart and encoder.
    Ingress,
    /// Control, parameters and their discovery.
    Control,
    /// Data trace.
    Data,
    /// Framing in the byte stream.
    Encapsulation,
}

/// How binding a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClauseLevel {
    /// The specification demands it.
    Must,
    /// The specification recommends it.
    Should,
    /// The specification allows it.
    May,
    /// The chapter is informative, but nothing else works.
    Informative,
    /// The specification is silent; this project recommends it.
    Rec,
}

impl Registry {
    /// Reads a registry from TOML text.
    ///
    /// # Errors
    ///
    /// With line and column: unknown or missing fields, wrong types.
    pub fn parse(text: &str) -> Result<Self, CaseError> {
        toml::from_str(text).map_err(|error| CaseError::from_toml(text, &error))
    }

    /// Reads `<family>.toml` of the registries and checks it with [`lint`](Self::lint).
    ///
    /// # Errors
    ///
    /// The file cannot be read or parsed, belongs to another family, or breaks a rule.
    pub fn load(registries: &Tree, family: Family) -> Result<Self, Vec<SuiteError>> {
        let path = PathBuf::from(format!("{family}.toml"));
        let text = registries
            .read_to_string(&path)
            .map_err(|error| vec![SuiteError::new(&path, error.to_string())])?;
        let at = |error| SuiteError::at(&path, error);
        let registry = Self::parse(&text).map_err(|error| vec![at(error)])?;
        if registry.family != family {
            return Err(vec![at(CaseError::at_field(&text, "family", format!("expected `{family}`")))]);
        }
        let errors: Vec<_> = registry
            .lint()
            .into_iter()
            .map(|(index, message)| at(CaseError::at_field(&text, &format!("clause[{index}]"), message)))
            .collect();
        if errors.is_empty() { Ok(registry) } else { Err(errors) }
    }

    /// The clause with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Clause> {
        self.clauses.iter().find(|clause| clause.id == id)
    }

    /// What is wrong with the clauses: index in [`clauses`](Self::clauses), and what.
    ///
    /// * Ids are capital letters, digits, `_` and `-`, and none is used twice.
    /// * Summary, source and reasons are one line of text; the scope is one word.
    /// * What no case can prove cannot be broken by a wire either.
    #[must_use]
    pub fn lint(&self) -> Vec<(usize, String)> {
        let mut findings = Vec::new();
        let mut ids = BTreeMap::new();
        for (index, clause) in self.clauses.iter().enumerate() {
            let mut report = |message: &str| findings.push((index, format!("{}: {message}", clause.id)));
            if !is_clause_id(&clause.id) {
                report("an id is capital letters and digits joined by `-` or `_`");
            }
            if ids.insert(clause.id.as_str(), index).is_some() {
                report("the id is used twice");
            }
            for (name, text) in [
                ("summary", Some(&clause.summary)),
                ("source", Some(&clause.source)),
                ("untestable", clause.untestable.as_ref()),
            ] {
                if text.is_some_and(|text| text.trim() != text || text.is_empty() || text.contains('\n')) {
                    report(&format!("`{name}` must be one line of text"));
                }
            }
            if !is_scope(&clause.scope) {
                report("`scope` is one word of small letters and digits");
            }
            if clause.violable && clause.untestable.is_some() {
                report("a clause that a wire can break is testable");
            }
        }
        findings
    }
}

fn is_scope(scope: &str) -> bool {
    scope.starts_with(|c: char| c.is_ascii_lowercase())
        && scope.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

fn is_clause_id(id: &str) -> bool {
    id.starts_with(|c: char| c.is_ascii_uppercase())
        && id.ends_with(|c: char| c.is_ascii_digit())
        && id.contains('-')
        && id.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "family = 'riscv_etrace'\n\n[[clause]]\nid = 'RVET-PKT-001'\nsummary = 'Fields in order'\n\
        source = 'ET 7'\nkind = 'packet'\nlevel = 'must'\nscope = 'core'\nviolable = false\n";

    #[test]
    fn a_registry_is_read() {
        let registry = Registry::parse(FILE).expect("reads");
        assert_eq!(registry.family, Family::RiscvEtrace);
        assert_eq!(registry.lint(), []);
        let clause = registry.get("RVET-PKT-001").expect("there");
        assert_eq!((clause.kind, clause.level), (Kind::Packet, ClauseLevel::Must));
        assert_eq!(registry.get("RVET-PKT-002"), None);
    }

    #[test]
    fn unknown_words_are_refused_with_their_place() {
        for (from, to, place) in [
            ("scope =", "scopes =", (9, 1)),
            ("'must'", "'shall'", (8, 9)),
            ("'packet'", "'paket'", (7, 8)),
            ("violable = false", "violable = 0", (10, 12)),
            ("'riscv_etrace'", "'riscv'", (1, 10)),
            ("source = 'ET 7'\n", "", (3, 1)),
        ] {
            let error = Registry::parse(&FILE.replace(from, to)).expect_err(to);
            assert_eq!((error.line, error.column), place, "{error}");
        }
    }

    #[test]
    fn rules_name_the_clause() {
        let clause = Registry::parse(FILE).expect("reads").clauses.remove(0);
        let findings = |clauses: &[Clause]| {
            let registry = Registry { family: Family::RiscvEtrace, clauses: clauses.to_vec() };
            registry
                .lint()
                .into_iter()
                .map(|(index, message)| format!("{index} {message}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(findings(&[clause.clone(), clause.clone()]), ["1 RVET-PKT-001: the id is used twice"]);
        let bad = Clause {
            id: "RVET".to_owned(),
            summary: "two\nlines".to_owned(),
            source: String::new(),
            scope: "Core".to_owned(),
            violable: true,
            untestable: Some(" ".to_owned()),
            ..clause
        };
        assert_eq!(
            findings(&[bad]),
            [
                "0 RVET: an id is capital letters and digits joined by `-` or `_`",
                "0 RVET: `summary` must be one line of text",
                "0 RVET: `source` must be one line of text",
                "0 RVET: `untestable` must be one line of text",
                "0 RVET: `scope` is one word of small letters and digits",
                "0 RVET: a clause that a wire can break is testable",
            ]
        );
    }
}
