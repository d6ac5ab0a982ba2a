//! Does the memory of a decoder grow with the trace?

use std::fs;

use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_vectors::Decoder as _;

use super::Retired;
use super::workload::{Keep, Workload, WorkloadError};
use crate::family::{BenchError, BenchRequest, Memory};

/// Decodes the trace of the first large program `repetitions` times, as one stream.
pub(super) fn memory(request: &BenchRequest, repetitions: u64) -> Result<Memory, BenchError> {
    let workloads = Workload::shipped(&request.workloads, Keep::Wire).map_err(BenchError::of)?;
    let workload = workloads.into_iter().next().ok_or_else(|| BenchError::of(WorkloadError::NoProgram))?;
    let mut decoder = Decoder::default();
    decoder.begin(&workload.parameters, &workload.program).map_err(BenchError::of)?;
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
