//! What PFT decoders are measured on: a capture, repeated, and the output of the encoder model for an invented
//! execution, without and with cycle counts.

use std::path::Path;

use traceproof_encoder_model::arm_pft::Encoder;
use traceproof_vectors::Encoder as _;
use traceproof_vectors::arm_pft::{
    ArmPft, Parameters, Policy, Signal, State, Stimulus, Waypoint, WaypointKind,
};

use crate::arm::bench::execution::{Code, Completed, Execution, Operation};
use crate::arm::bench::{Sent, Workload, WorkloadError, repeated};
use crate::captures::Captured;
use crate::snapshot::Snapshot;

/// The capture of a Cortex-A9, cycle-accurate, that has most bytes; `None` where none is available.
pub(super) fn cortex_a9(captures: &Path, bytes: usize) -> Result<Option<Workload<ArmPft>>, WorkloadError> {
    let directory = captures.join("Snowball");
    if !directory.is_dir() {
        return Ok(None);
    }
    let snapshot = Snapshot::read(&directory).map_err(WorkloadError::Snapshot)?;
    let mut largest: Option<(Vec<u8>, Captured<ArmPft>)> = None;
    for stream in snapshot.streams() {
        let mut captured = Captured::<ArmPft>::of(&snapshot, &stream).map_err(WorkloadError::Stream)?;
        let pieces = std::mem::take(&mut captured.bytes.pieces);
        let Some(trace) = pieces.into_iter().max_by_key(Vec::len) else { continue };
        if largest.as_ref().is_none_or(|(before, _)| before.len() < trace.len()) {
            largest = Some((trace, captured));
        }
    }
    let (trace, Captured { program, parameters, .. }) = largest.ok_or(WorkloadError::Empty)?;
    let wire = repeated(&trace, 5, bytes)?;
    Ok(Some(Workload { name: "Cortex-A9", program, parameters, wire }))
}

/// Cycles from one timestamp to the next.
const TIMESTAMP_PERIOD: u64 = 1 << 14;

/// Invented executions, `bytes` bytes or a little more.
pub(super) fn generated(bytes: usize) -> Result<[Workload<ArmPft>; 2], WorkloadError> {
    let of = |name, cycle_accurate| {
        let parameters = Parameters { cycle_accurate, timestamps: true, ..Parameters::default() };
        let (code, wire) = sent(&parameters, bytes)?;
        Ok(Workload { name, program: code.program(), parameters, wire })
    };
    Ok([of("generated", false)?, of("with cycles", true)?])
}

fn sent(parameters: &Parameters, bytes: usize) -> Result<(Code, Vec<u8>), WorkloadError> {
    let code = Code::invented();
    let mut encoder = Encoder::default();
    encoder.begin(parameters, &Policy::default()).map_err(WorkloadError::Refused)?;
    let mut sent = Sent(Vec::with_capacity(bytes + 4096));
    let mut execution = Execution::new(&code);
    let (mut cycles, mut timestamp) = (0, 0);
    let mut step = |encoder: &mut Encoder, cycles, timestamp, signal| {
        encoder.step(&Stimulus { cycles, timestamp, signal }, &mut sent);
        sent.0.len()
    };
    let state = State { address: execution.next_address(), ..State::default() };
    step(&mut encoder, 0, 0, Signal::Enable(state));
    step(&mut encoder, 0, 0, Signal::TraceEnable(true));
    loop {
        (cycles, timestamp) = (cycles + 1, timestamp + 1);
        let waypoint = execution.cycle().and_then(waypoint);
        if timestamp % TIMESTAMP_PERIOD == 0 {
            step(&mut encoder, std::mem::take(&mut cycles), timestamp, Signal::TimestampEvent);
        }
        if let Some(waypoint) = waypoint {
            let length =
                step(&mut encoder, std::mem::take(&mut cycles), timestamp, Signal::Waypoint(waypoint));
            if length >= bytes {
                break;
            }
        }
    }
    step(&mut encoder, cycles, timestamp, Signal::Disable);
    encoder.finish(&mut sent);
    Ok((code, sent.0))
}

/// What the PTM sees of an instruction.
fn waypoint(completed: Completed) -> Option<Waypoint> {
    let Completed { address, operation, executed, target } = completed;
    let kind = match operation {
        Operation::Straight | Operation::Conditional => return None,
        Operation::Return => WaypointKind::Indirect,
        Operation::Loop(_) | Operation::Skip(_) | Operation::Call(_) | Operation::Jump(_) => {
            WaypointKind::Direct
        }
    };
    let after = address.0.wrapping_add(4).into();
    let next = State { address: target.unwrap_or(after), ..State::default() };
    let link = matches!(operation, Operation::Call(_));
    Some(Waypoint {
        address,
        isa: next.isa,
        size: 4,
        kind,
        link,
        exception_return: false,
        executed,
        next,
        previous: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_decoder::arm_pft::Decoder;
    use traceproof_vectors::arm_pft::{Event, Outcome};
    use traceproof_vectors::{Decoder as _, Log};

    /// Address after the waypoint, and whether it was executed.
    #[test]
    fn the_generated_traces_are_the_execution() {
        for workload in generated(10_000).expect("accepted") {
            let mut decoder = Decoder::default();
            decoder.begin(&workload.parameters, &workload.program).expect("supported");
            let mut log = Log::<ArmPft>::default();
            decoder.push(&workload.wire, &mut log);
            decoder.finish(&mut log);
            assert_eq!(log.faults().count(), 0, "{}", workload.name);
            let code = Code::invented();
            let mut execution = Execution::new(&code);
            let mut executed = std::iter::from_fn(|| Some(execution.cycle())).flatten();
            let mut instructions = 0;
            for event in log.events() {
                let Event::Instructions { first, count, last, .. } = event else { continue };
                for index in 0..*count {
                    let instruction = executed.next().expect("goes on for ever");
                    assert_eq!(instruction.address.0, first.0 + 4 * index as u32);
                    let outcome = waypoint(instruction).map_or(Outcome::Unknown, |waypoint| {
                        if waypoint.executed { Outcome::Executed } else { Outcome::NotExecuted }
                    });
                    let expected = if index + 1 == *count { *last } else { Outcome::Unknown };
                    assert_eq!(outcome, expected, "{:#x}", instruction.address.0);
                }
                instructions += count;
            }
            assert!(instructions > 10_000, "{instructions}");
            assert!(log.events().any(|event| matches!(event, Event::Timestamp { value: Some(_), .. })));
        }
    }
}
