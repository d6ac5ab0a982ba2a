//! Throughput, as `bench --json` writes it.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The measurements of one family.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Performance {
    /// The family.
    pub family: String,
    /// Rounds of each side; the median counts.
    pub rounds: u64,
    /// Name and version of the peer, if there was one.
    #[serde(default)]
    pub peer: Option<String>,
    /// What was not measured, and why.
    #[serde(default)]
    pub skipped: Vec<String>,
    /// What was measured.
    pub measurements: Vec<Measurement>,
}

/// One throughput.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// The program or trace.
    pub workload: String,
    /// What was done.
    pub task: Task,
    /// Units of a round.
    pub units: u64,
    /// Bytes of trace.
    pub bytes: u64,
    /// Units per second of the reference.
    pub reference: f64,
    /// Units per second of the peer, if it did the same work.
    #[serde(default)]
    pub peer: Option<f64>,
    /// Median of the ratios of the rounds.
    #[serde(default)]
    pub ratio: Option<f64>,
}

/// What was done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// In a few words.
    pub title: String,
    /// What is counted.
    pub unit: String,
}

impl Performance {
    /// Reads measurements.
    ///
    /// # Errors
    ///
    /// With line and column: no JSON, missing fields.
    pub fn parse(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| Error::json("measurements", &error))
    }
}
