//! How fast the reference models of a family are, and how fast a peer is in the same run.
//!
//! Only ratios mean anything across machines; rounds of both sides alternate so that a busy machine slows both. No test
//! asserts a time.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use traceproof_vectors::Family;

/// The part of a family whose models are measured.
#[derive(Debug)]
pub struct Bench {
    /// What can be measured, in the order of tables.
    pub tasks: &'static [BenchTask],
    /// Measures throughput.
    pub run: fn(&BenchRequest) -> Result<BenchReport, BenchError>,
    /// Measures the peak memory of decoding one trace repeatedly, as one stream; `None` where no workload supports
    /// that. The peak belongs to the process: measure in a fresh one.
    pub memory: Option<MeasureMemory>,
}

/// Measures the peak memory of decoding one trace this many times as one stream.
pub type MeasureMemory = fn(&BenchRequest, u64) -> Result<Memory, BenchError>;

/// Something that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BenchTask {
    /// The name on the command line.
    pub name: &'static str,
    /// What is done.
    pub title: &'static str,
    /// What is counted in a second.
    pub unit: &'static str,
}

/// How to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchRequest {
    /// Rounds per side; the median counts.
    pub rounds: usize,
    /// Workloads whose name contains one of these; without any, those that are large enough.
    pub workloads: Vec<String>,
    /// Names of tasks; without any, all of them.
    pub tasks: Vec<String>,
    /// Where captures are, for workloads made of them.
    pub captures: PathBuf,
    /// Bytes of each workload with a selectable length.
    pub bytes: usize,
}

impl BenchRequest {
    /// Rounds, at least one.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds.max(1)
    }

    /// Whether the task is wanted.
    #[must_use]
    pub fn takes(&self, task: &BenchTask) -> bool {
        self.tasks.is_empty() || self.tasks.iter().any(|name| name == task.name)
    }
}

/// Everything that was measured in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// Whose models.
    pub family: Family,
    /// Rounds per side.
    pub rounds: usize,
    /// The peer's name and version, if this build has one.
    pub peer: Option<String>,
    /// What was not measured, and why.
    pub skipped: Vec<String>,
    /// What was measured.
    pub measurements: Vec<Measurement>,
}

/// One throughput.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Name of the program or trace.
    pub workload: String,
    /// What was done.
    pub task: BenchTask,
    /// How many instructions or packets a round had.
    pub units: u64,
    /// Bytes of the trace.
    pub bytes: u64,
    /// Median of the reference, in units of the task per second.
    pub reference: f64,
    /// Median of the peer; `None` also where it did not do the same work.
    pub peer: Option<f64>,
    /// How many instructions or packets the peer had.
    pub peer_units: Option<u64>,
    /// Whether the peer did the same work.
    pub peer_agrees: Option<bool>,
    /// Median over the rounds of the peer's time divided by that of the reference in the same round.
    pub ratio: Option<f64>,
}

/// Peak memory of this process after decoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Name of the program.
    pub program: String,
    /// Instructions that were decoded.
    pub instructions: u64,
    /// Largest resident set of the process so far, in KiB, before decoding; `None` where the system does not report it.
    pub before_kib: Option<u64>,
    /// The same after decoding.
    pub after_kib: Option<u64>,
}

/// Why nothing was measured, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchError(pub String);

impl BenchError {
    /// Of any error.
    #[must_use]
    pub fn of(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BenchError {}
