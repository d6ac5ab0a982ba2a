//! Does the memory of a decoder grow with the trace?

use std::fs;

use serde::Serialize;
use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_vectors::Decoder as _;

use super::{BenchError, Keep, Retired, Workload, WorkloadError};

/// Peak memory of this process after decoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Name of the program.
    pub program: String,
    /// Instructions that were decoded.
    pub instructions: u64,
    /// Largest resident set of the process so far, in KiB, before decoding; `None` where the system does not tell.
    pub before_kib: Option<u64>,
    /// The same after decoding.
    pub after_kib: Option<u64>,
}

/// Decodes the trace of the first large program `repetitions` times, as one stream.
///
/// The peak belongs to the process: measure in a fresh one.
///
/// # Errors
///
/// When the program cannot be prepared.
pub fn memory(names: &[String], repetitions: u64) -> Result<Memory, BenchError> {
    let workload =
        Workload::shipped(names, Keep::Wire)?.into_iter().next().ok_or(WorkloadError::NoProgram)?;
    let mut decoder = Decoder::default();
    decoder.begin(&workload.parameters, &workload.program)?;
    let mut seen = Retired::default();
    let before_kib = peak_kib();
    for _ in 0..repetitions {
        decoder.push_into(&workload.wire, &mut seen);
    }
    decoder.finish_into(&mut seen);
    Ok(Memory { program: workload.name, instructions: seen.0.units, before_kib, after_kib: peak_kib() })
}

/// `VmHWM` of Linux.
fn peak_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
