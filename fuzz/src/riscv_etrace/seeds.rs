//! The seeds that the cases of RISC-V E-Trace give.

use traceproof_conformance::generate::seeded;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::case::{CaseFile, SuiteError};
use traceproof_vectors::riscv_etrace::{Encapsulation, NormalEncapsulation, Parameters, RiscvEtrace};

use super::{data, encapsulation, flow, presets};
use crate::seeds::Seed;

/// Of all targets.
pub(super) fn all(directories: &Directories) -> Result<Vec<Seed>, Vec<SuiteError>> {
    Ok(of(&Suite::<RiscvEtrace>::load(directories)?.files))
}

/// The seeds that the cases give. Cases whose parameters are no preset give none.
fn of(cases: &[CaseFile<RiscvEtrace>]) -> Vec<Seed> {
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
        let bytes = seeded(seed, 40 + 20 * usize::try_from(seed).unwrap_or(0));
        seeds.push(("riscv_etrace_round_trip", format!("seed-{seed:02}"), bytes));
    }
    seeds
}

/// The data trace payload after a type of one bit, if it is one.
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
