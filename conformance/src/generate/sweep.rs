//! Sweeps of opcodes as cases: what a run judges besides the shipped and the generated ones.

use std::path::PathBuf;

use traceproof_vectors::case::{Case, CaseFile, Labels, Level, Polarity, Provenance, Resolved, SCHEMA};

use super::Seed;
use crate::family::{FamilyRules, Generated, Sweep};

/// A sweep of a family by its name, e.g. `rv32/branch-1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpcodeSweep {
    /// The name.
    pub name: String,
}

impl OpcodeSweep {
    /// The bug that its case catches.
    pub const CATCHES: &'static str = "An encoding is taken for an instruction of another class.";

    /// All sweeps of a protocol.
    #[must_use]
    pub fn all<P: FamilyRules>() -> Vec<Self> {
        let names = P::SWEEPS.map(|sweeps| (sweeps.names)()).unwrap_or_default();
        names.into_iter().map(|name| Self { name }).collect()
    }

    /// The id of its case: `etr-opcodes-rv32-branch-1`.
    #[must_use]
    pub fn id<P: FamilyRules>(&self) -> String {
        format!("{}opcodes-{}", P::ID.case_prefix(), self.name.replace('/', "-"))
    }

    /// The sweep of this id, if it is one of the protocol.
    #[must_use]
    pub fn named<P: FamilyRules>(id: &str) -> Option<Self> {
        id.strip_prefix(P::ID.case_prefix())?.strip_prefix("opcodes-")?;
        Self::all::<P>().into_iter().find(|sweep| sweep.id::<P>() == id)
    }

    /// Where its case would lie if it were a file: `riscv_etrace/opcodes/rv32/branch-1`.
    #[must_use]
    pub fn path<P: FamilyRules>(&self) -> PathBuf {
        PathBuf::from(format!("{}/opcodes/{}", P::ID.name(), self.name))
    }

    /// The behaviour in a few words.
    #[must_use]
    pub fn title(&self) -> String {
        format!("Encodings of a table, each executed: {}", self.name)
    }

    /// Its case; the error is what the reference encoder model has against the executions.
    ///
    /// `None` where the family has no sweep of this name.
    #[must_use]
    pub fn case<P: FamilyRules>(&self) -> Option<Result<CaseFile<P>, String>> {
        let made = (P::SWEEPS?.make)(&self.name)?;
        Some(made.map(|sweep| self.file(sweep)))
    }

    fn file<P: FamilyRules>(&self, sweep: Sweep<P>) -> CaseFile<P> {
        let Sweep { generated, packets, events, readings, rows } = sweep;
        let Generated { parameters, policy, program, execution, wire } = generated;
        let note = format!("{rows} encodings, see docs/opcode-sweeps.md");
        let case = Case {
            schema: SCHEMA,
            id: self.id::<P>(),
            rev: 1,
            family: P::FAMILY,
            protocol: (!P::ID.is_main()).then_some(P::ID),
            title: self.title(),
            level: Level::Must,
            clauses: Vec::new(),
            polarity: Polarity::Positive,
            catches: Self::CATCHES.to_owned(),
            provenance: Provenance::Directed { note },
            readings: readings.into_iter().map(str::to_owned).collect(),
            canonical: false,
            parameters,
            policy,
            program: String::new(),
            stimulus: Vec::new(),
            wire: Vec::new(),
            packets: None,
            events: None,
        };
        let resolved = Resolved {
            program,
            labels: Labels::default(),
            execution: Some(execution),
            wire,
            packets: Some(packets),
            events: Some(events),
        };
        CaseFile { path: self.path::<P>(), text: String::new(), case, resolved, earlier: None }
    }
}

/// The case of a generated execution or of a sweep of opcodes, by its id.
#[must_use]
pub fn generated_case<P: FamilyRules>(id: &str) -> Option<CaseFile<P>> {
    if let Some(seed) = Seed::named::<P>(id) {
        return seed.case::<P>().map(|(file, _)| file);
    }
    OpcodeSweep::named::<P>(id)?.case::<P>()?.ok()
}
