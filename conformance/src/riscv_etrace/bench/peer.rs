//! The same tasks by the crate `riscv-etrace`, used as its documentation shows.
//!
//! Where there is a choice it gets the faster one: instructions decoded beforehand and found by index, no return stack,
//! stimuli already in its own words.

use std::hint::black_box;

use riscv_etrace::binary::error::NoInstruction;
use riscv_etrace::generator::{self, Generator};
use riscv_etrace::packet::payload::{InstructionTrace, Payload};
use riscv_etrace::packet::unit::{ReferenceDOptions, ReferenceIOptions};
use riscv_etrace::packet::{self, encap};
use riscv_etrace::tracer::error::Error as TracerError;
use riscv_etrace::tracer::{self, Tracer};
use traceproof_vectors::Refusal;
use traceproof_vectors::riscv_etrace::Stimulus;

use super::{Round, Task, Workload};
use crate::peers::riscv_etrace::{Code, PortStep, parameters};
use crate::rounds::Seen;

/// A round of the crate.
pub(super) fn peer(workload: &Workload, task: Task) -> Result<Round<'_>, Refusal> {
    let translated = parameters(&workload.parameters)?;
    let packets = packet::builder().with_params(&translated);
    Ok(match task {
        Task::DecodeInstructions | Task::DecodeRanges => {
            let code = Code::new(&workload.program, workload.parameters.xlen);
            let builder = tracer::builder().with_params(&translated);
            Box::new(move || {
                let tracer: Result<Tracer<Code>, TracerError<NoInstruction>> =
                    builder.with_binary(code.clone()).build();
                // Built with these parameters it cannot fail.
                tracer.map_or_else(|_| Seen::default(), |tracer| trace(packets, tracer, &workload.wire))
            })
        }
        Task::ReadPackets => Box::new(move || {
            let mut decoder = packets.decoder(&workload.wire);
            let mut seen = Seen::default();
            while decoder.bytes_left() > 0 {
                let Ok(unit) = decoder.decode_encap_packet() else { break };
                if let Some(unit) = unit.into_normal() {
                    seen.units += u64::from(black_box(&unit.decode_payload()).is_ok());
                }
            }
            seen
        }),
        Task::Encode => {
            let steps: Vec<PortStep> = workload
                .stimuli
                .iter()
                .filter_map(|stimulus| match stimulus {
                    Stimulus::Cycle(cycle) => Some(cycle),
                    _ => None,
                })
                .flat_map(|cycle| {
                    cycle
                        .blocks
                        .iter()
                        .filter_map(|block| PortStep::new(cycle, block, true, &workload.parameters))
                })
                .collect();
            let builder = generator::builder().with_params(&translated);
            Box::new(move || {
                let generator: Result<Generator<PortStep>, _> = builder.build();
                let bytes = generator.map_or(0, |generator| generate(packets, generator, &steps));
                black_box(bytes);
                Seen { units: if bytes > 0 { workload.instructions } else { 0 }, sum: 0 }
            })
        }
    })
}

fn trace(packets: packet::Builder, mut tracer: Tracer<Code>, wire: &[u8]) -> Seen {
    let mut decoder = packets.decoder(wire);
    let mut seen = Seen::default();
    while decoder.bytes_left() > 0 {
        let Ok(unit) = decoder.decode_encap_packet() else { break };
        let Some(Ok(payload)) = unit.into_normal().map(encap::Normal::decode_payload) else { continue };
        if tracer.process_payload(&payload).is_err() {
            break;
        }
        for item in tracer.by_ref().flatten() {
            if item.instruction().is_some() {
                seen.units += 1;
                seen.sum = seen.sum.wrapping_add(item.pc());
            }
        }
    }
    seen
}

/// How many bytes the crate makes of the steps.
fn generate(packets: packet::Builder, mut generator: Generator<PortStep>, steps: &[PortStep]) -> u64 {
    let mut bytes = 0;
    let mut send = |payload: InstructionTrace| {
        let mut buffer = [0; 40];
        let mut encoder = packets.encoder(&mut buffer);
        let sent = encoder.encode(&encap::Normal::new(0, 0, Payload::InstructionTrace(payload)));
        black_box(sent.is_ok());
        bytes += (40 - encoder.uncommitted()) as u64;
    };
    let options = (ReferenceIOptions::default(), ReferenceDOptions::default());
    if let Ok(support) = generator.begin_qualification(options.0, options.1) {
        send(support.into());
    }
    for step in steps {
        generator.process_step(*step, None).flatten().for_each(&mut send);
    }
    generator.end_qualification(false).flatten().for_each(&mut send);
    bytes
}
