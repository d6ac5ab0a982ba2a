//! Seeds made from the shipped cases: what a person wrote down is where the fuzzer starts.

use std::path::Path;
use std::{fs, io};

use traceproof_vectors::case::CaseFile;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

use crate::arm::formatter;
use crate::riscv_etrace::{flow, presets};

/// A seed: target, file name and bytes.
pub type Seed = (&'static str, String, Vec<u8>);

/// The seeds that the cases give. Cases whose parameters are no preset give none.
#[must_use]
pub fn from_cases(cases: &[CaseFile<RiscvEtrace>]) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for file in cases {
        let Some(preset) = presets::number_of(&file.case.parameters) else { continue };
        let wire = &file.resolved.wire;
        if let Some(input) = flow::input(preset, &file.resolved.program, wire) {
            seeds.push(("riscv_etrace_flow", file.case.id.clone(), input));
        }
        for (index, payload) in payloads(wire).into_iter().enumerate() {
            let input = [&[preset][..], payload].concat();
            // Many cases begin with the same packets; the corpus needs each once.
            if !seeds.iter().any(|(target, _, bytes)| *target == "riscv_etrace_packets" && *bytes == input) {
                seeds.push(("riscv_etrace_packets", format!("{}-{index}", file.case.id), input));
            }
        }
    }
    for seed in 0..32 {
        let bytes =
            traceproof_conformance::generate::seeded(seed, 40 + 20 * usize::try_from(seed).unwrap_or(0));
        seeds.push(("riscv_etrace_round_trip", format!("seed-{seed:02}"), bytes));
    }
    seeds.extend(formatter::seeds().into_iter().map(|(name, bytes)| ("arm_formatter", name, bytes)));
    seeds
}

/// Cuts a stream of header bytes and payloads as far as it is one.
fn payloads(mut wire: &[u8]) -> Vec<&[u8]> {
    let mut payloads = Vec::new();
    while let Some((header, rest)) = wire.split_first() {
        let Some((payload, rest)) = rest.split_at_checked(usize::from(header & 0x1f)) else { break };
        if !payload.is_empty() {
            payloads.push(payload);
        }
        wire = rest;
    }
    payloads
}

/// Writes the seeds to `corpus/<target>/<name>`; other files there stay. Returns how many were written.
///
/// # Errors
///
/// When a directory or file cannot be written.
pub fn write(corpus: &Path, seeds: &[Seed]) -> io::Result<usize> {
    for (target, name, bytes) in seeds {
        let directory = corpus.join(target);
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(name), bytes)?;
    }
    Ok(seeds.len())
}
