//! Seeds made from the shipped cases. They are made when they are needed; only inputs that once failed are committed
//! (`fuzz/regressions/<target>/`).

use std::path::Path;
use std::{fs, io};

use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::arm_etm::{Architecture, ArmEtm};
use traceproof_vectors::case::{CaseFile, SuiteError};
use traceproof_vectors::itanium_pmu::ItaniumPmu;
use traceproof_vectors::riscv_etrace::{Encapsulation, NormalEncapsulation, Parameters, RiscvEtrace};

use crate::arm::formatter;
use crate::arm_etm;
use crate::itanium_pmu::registers;
use crate::riscv_etrace::{data, encapsulation, flow, presets};

/// A seed: target, file name and bytes.
pub type Seed = (&'static str, String, Vec<u8>);

/// The seeds of every target, made from the cases of all families and from fixed random numbers.
///
/// # Errors
///
/// What is wrong with the cases.
pub fn all(directories: &Directories) -> Result<Vec<Seed>, Vec<SuiteError>> {
    let mut seeds = from_cases(&Suite::<RiscvEtrace>::load(directories)?.files);
    seeds.extend(from_arm_etm_cases(&Suite::<ArmEtm>::load(directories)?.files));
    seeds.extend(from_itanium_pmu_cases(&Suite::<ItaniumPmu>::load(directories)?.files));
    Ok(seeds)
}

/// The seeds that the cases give. Cases whose parameters are no preset give none.
#[must_use]
pub fn from_cases(cases: &[CaseFile<RiscvEtrace>]) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for file in cases {
        let wire = &file.resolved.wire;
        let of_transport = file.path.components().any(|part| part.as_os_str() == "encapsulation");
        if let Some(input) = encapsulation::input(&file.case.parameters.encapsulation, wire)
            && of_transport
        {
            seeds.push(("riscv_etrace_encapsulation", file.case.id.clone(), input));
        }
        let payloads = payloads(wire);
        let data_payloads: Vec<Vec<u8>> =
            payloads.iter().filter_map(|payload| data_payload(&file.case.parameters, payload)).collect();
        let data_payloads: Vec<&[u8]> = data_payloads.iter().map(Vec::as_slice).collect();
        if !data_payloads.is_empty()
            && let Some(input) = data::input(&file.case.parameters, &data_payloads)
        {
            seeds.push(("riscv_etrace_data", file.case.id.clone(), input));
        }
        let Some(preset) = presets::number_of(&file.case.parameters) else { continue };
        if let Some(input) = flow::input(preset, &file.resolved.program, wire) {
            seeds.push(("riscv_etrace_flow", file.case.id.clone(), input));
        }
        for (index, payload) in payloads.into_iter().enumerate() {
            let input = [&[preset][..], payload].concat();
            // Many cases begin with the same packets; the fuzzer needs each once.
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

/// The seeds that the cases of ARM ETM give.
#[must_use]
pub fn from_arm_etm_cases(cases: &[CaseFile<ArmEtm>]) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for file in cases {
        let (id, wire, parameters) = (&file.case.id, &file.resolved.wire, &file.case.parameters);
        if parameters.architecture == Architecture::V2
            && let Some(constants) = arm_etm::presets::v2_constants(parameters)
        {
            seeds.push(("arm_etm_cycles", id.clone(), [&constants[..], wire].concat()));
        }
        if parameters.architecture == Architecture::V1
            && let Some(input) = arm_etm::v1_cycles::input(parameters, &file.resolved.program, wire)
        {
            seeds.push(("arm_etm_v1_cycles", id.clone(), input));
        }
        if parameters.architecture != Architecture::V3 {
            continue;
        }
        if let Some(input) = arm_etm::v3_packets::input(parameters, wire) {
            seeds.push(("arm_etm_v3_packets", id.clone(), input));
        }
        if let Some(input) = arm_etm::v3_flow::input(parameters, &file.resolved.program, wire) {
            seeds.push(("arm_etm_v3_flow", id.clone(), input));
        }
    }
    seeds
}

/// The seeds that the cases of Itanium event qualification give.
#[must_use]
pub fn from_itanium_pmu_cases(cases: &[CaseFile<ItaniumPmu>]) -> Vec<Seed> {
    let mut seeds: Vec<Seed> = cases
        .iter()
        .filter_map(|file| {
            let input = registers::input(&file.case.parameters, &file.resolved.wire)?;
            Some(("itanium_pmu_registers", file.case.id.clone(), input))
        })
        .collect();
    for seed in 0..32 {
        let length = 400 + 60 * usize::try_from(seed).unwrap_or(0);
        let bytes = traceproof_conformance::generate::seeded(seed, length);
        seeds.push(("itanium_pmu_qualification", format!("seed-{seed:02}"), bytes));
    }
    seeds
}

/// The data trace payload behind a type of one bit, if it is one.
fn data_payload(parameters: &Parameters, typed: &[u8]) -> Option<Vec<u8>> {
    let Encapsulation::Normal(NormalEncapsulation {
        type_bits: 1, src_id_bits: 0, timestamp_bytes: 0, ..
    }) = parameters.encapsulation
    else {
        return None;
    };
    if typed.first()? & 1 == 0 {
        return None;
    }
    let sign = if typed.last()? >> 7 == 1 { 0xff } else { 0 };
    let next = typed.iter().skip(1).copied().chain([sign]);
    Some(typed.iter().zip(next).map(|(byte, next)| byte >> 1 | next << 7).collect())
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

/// Writes the seeds to `<corpus>/<target>/<name>`; other files there stay. Returns how many were written.
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
