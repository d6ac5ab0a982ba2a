//! What became of mutants, as `mutants --json` writes it.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The mutants of the reference models, and how many the suite detects.
#[derive(Clone, Debug, Deserialize)]
pub struct Mutants {
    /// Numbers by module and crate.
    pub rows: Vec<ModuleRow>,
    /// The mutants that were judged.
    pub mutants: Vec<Mutant>,
}

/// Numbers of mutants of one module of one crate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModuleRow {
    /// The module.
    pub module: String,
    /// The crate.
    #[serde(rename = "crate")]
    pub package: String,
    /// That were judged.
    pub judged: u64,
    /// Whose place the suite does not execute.
    pub not_executed: u64,
    /// That a check detects.
    pub killed: u64,
    /// That do not end in time.
    pub timed_out: u64,
    /// That nothing detects.
    pub survived: u64,
    /// That change no behaviour.
    pub equivalent: u64,
}

/// One change of one place.
#[derive(Clone, Debug, Deserialize)]
pub struct Mutant {
    /// Its name.
    pub id: String,
    /// The file in the checkout.
    pub file: String,
    /// The line in it.
    pub line: u64,
    /// The function.
    pub function: String,
    /// The change in words.
    pub change: String,
    /// The source that changes.
    pub text: String,
    /// What became of it: `killed`, `survived`, `not-executed`, …
    pub outcome: String,
    /// The checks that detect it.
    #[serde(default)]
    pub failures: Vec<Failure>,
    /// Why nothing can detect it.
    #[serde(default)]
    pub equivalent: Option<String>,
    /// Why no verdict depends on its code.
    #[serde(default)]
    pub outside: Option<String>,
}

/// A check that detects a mutant.
#[derive(Clone, Debug, Deserialize)]
pub struct Failure {
    /// The id of its case.
    pub case: String,
}

impl Mutants {
    /// Reads the results of `mutants --json`.
    ///
    /// # Errors
    ///
    /// With line and column: no JSON, missing fields.
    pub fn parse(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| Error::json("results of mutants", &error))
    }

    /// Those that nothing detects although something could.
    pub fn survivors(&self) -> impl Iterator<Item = &Mutant> {
        let could = |mutant: &&Mutant| mutant.equivalent.is_none() && mutant.outside.is_none();
        self.mutants.iter().filter(|mutant| mutant.outcome == "survived").filter(could)
    }
}

impl ModuleRow {
    /// The detected share of the executed ones in percent with a decimal, equivalent ones left out.
    #[must_use]
    pub fn of_executed(&self) -> Option<String> {
        let detected = self.killed.saturating_add(self.timed_out);
        let permille = detected.saturating_mul(1000).checked_div(detected.saturating_add(self.survived))?;
        Some(format!("{}.{} %", permille / 10, permille % 10))
    }
}
