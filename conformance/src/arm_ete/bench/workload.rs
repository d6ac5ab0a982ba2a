//! What decoders of ETE and ETMv4 are measured on: captures, repeated, and the output of the encoder model for an
//! invented execution, without and with speculation and cycle counts.

use std::path::Path;

use traceproof_encoder_model::arm_ete::Encoder;
use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{ArmEte, P0, P0Kind, Parameters, Policy, Signal, State, Stimulus};
use traceproof_vectors::{Address, Encoder as _};

use crate::arm::bench::execution::{Code, Completed, Execution, Operation};
use crate::arm::bench::{Sent, Workload, WorkloadError, repeated};
use crate::captures::Captured;
use crate::snapshot::Snapshot;

/// A capture: the stream of its directory that has most bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capture {
    name: &'static str,
    pub(super) directory: &'static str,
}

/// The largest of an ETMv4 and of an ETE.
pub(super) const CAPTURES: [Capture; 2] = [
    Capture { name: "ETMv4 capture", directory: "juno-uname-002" },
    Capture { name: "ETE capture", directory: "001-ack_test" },
];

/// Zeros of an A-sync.
const ZEROS: usize = 11;

/// The capture, repeated; `None` where it is not available.
pub(super) fn captured(
    captures: &Path,
    capture: Capture,
    bytes: usize,
) -> Result<Option<Workload<ArmEte>>, WorkloadError> {
    let directory = captures.join(capture.directory);
    if !directory.is_dir() {
        return Ok(None);
    }
    let snapshot = Snapshot::read(&directory).map_err(WorkloadError::Snapshot)?;
    let mut largest: Option<(Vec<u8>, Captured<ArmEte>)> = None;
    for stream in snapshot.streams() {
        // Other streams are of trace units of another kind.
        let Ok(mut captured) = Captured::<ArmEte>::of(&snapshot, &stream) else { continue };
        let pieces = std::mem::take(&mut captured.bytes.pieces);
        let Some(trace) = pieces.into_iter().max_by_key(Vec::len) else { continue };
        if largest.as_ref().is_none_or(|(before, _)| before.len() < trace.len()) {
            largest = Some((trace, captured));
        }
    }
    let (trace, Captured { program, parameters, .. }) = largest.ok_or(WorkloadError::Empty)?;
    let wire = repeated(&trace, ZEROS, bytes)?;
    Ok(Some(Workload { name: capture.name, program, parameters, wire }))
}

/// Cycles from one timestamp to the next.
const TIMESTAMP_PERIOD: u64 = 1 << 14;

/// P0 elements that are uncommitted at most, with speculation.
const SPECULATED: u32 = 24;

/// Invented executions, `bytes` bytes or a little more.
pub(super) fn generated(bytes: usize) -> Result<[Workload<ArmEte>; 2], WorkloadError> {
    let of = |name, speculates: bool| {
        let parameters = Parameters {
            timestamps: true,
            cycle_counting: speculates,
            commopt: !speculates,
            maxspec: if speculates { 2 * SPECULATED } else { 0 },
            ..Parameters::default()
        };
        let (code, wire) = sent(&parameters, bytes)?;
        Ok(Workload { name, program: code.program(), parameters, wire })
    };
    Ok([of("generated", false)?, of("with speculation", true)?])
}

fn sent(parameters: &Parameters, bytes: usize) -> Result<(Code, Vec<u8>), WorkloadError> {
    let code = Code::invented();
    let policy = Policy { cycle_threshold: 4, ..Policy::default() };
    let mut encoder = Encoder::default();
    encoder.begin(parameters, &policy).map_err(WorkloadError::Refused)?;
    let mut sent = Sent(Vec::with_capacity(bytes + 4096));
    let mut execution = Execution::new(&code);
    let (mut cycles, mut timestamp, mut uncommitted) = (0, 1, 0);
    let mut step = |encoder: &mut Encoder, cycles, timestamp, signal| {
        encoder.step(&Stimulus { cycles, timestamp, signal }, &mut sent);
        sent.0.len()
    };
    step(&mut encoder, 0, timestamp, Signal::Enable(state(execution.next_address().0.into())));
    loop {
        (cycles, timestamp) = (cycles + 1, timestamp + 1);
        let element = execution.cycle().and_then(p0);
        if timestamp % TIMESTAMP_PERIOD == 0 {
            step(&mut encoder, std::mem::take(&mut cycles), timestamp, Signal::TimestampRequest);
        }
        let Some(element) = element else { continue };
        let length = step(&mut encoder, std::mem::take(&mut cycles), timestamp, Signal::P0(element));
        uncommitted += u32::from(parameters.maxspec > 0);
        if uncommitted >= SPECULATED {
            uncommitted -= SPECULATED / 2;
            step(&mut encoder, 0, timestamp, Signal::Commit(SPECULATED / 2));
        }
        if length >= bytes {
            break;
        }
    }
    if uncommitted > 0 {
        step(&mut encoder, 0, timestamp, Signal::Commit(uncommitted));
    }
    step(&mut encoder, cycles, timestamp, Signal::Disable);
    encoder.finish(&mut sent);
    Ok((code, sent.0))
}

/// A32 at EL0.
fn state(address: u64) -> State {
    let context = Context::default()
        .with_security(SecurityState::NonSecure)
        .with_exception_level(Some(ExceptionLevel::El0))
        .with_context_id(Some(0))
        .with_vmid(Some(0));
    State { address: Address(address), isa: InstructionSet::A32, context }
}

/// What the trace unit sees of an instruction.
fn p0(completed: Completed) -> Option<P0> {
    let Completed { address, operation, executed, target } = completed;
    let kind = match operation {
        Operation::Straight | Operation::Conditional => return None,
        Operation::Return => P0Kind::Indirect,
        Operation::Loop(_) | Operation::Skip(_) | Operation::Call(_) | Operation::Jump(_) => P0Kind::Direct,
    };
    let next = target.map_or(address.0.wrapping_add(4), |target| target.0);
    Some(P0 {
        address: Address(address.0.into()),
        isa: InstructionSet::A32,
        size: 4,
        kind,
        link: matches!(operation, Operation::Call(_)),
        taken: executed,
        next: state(next.into()),
        instructions: 1,
        broadcast: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_decoder::arm_ete::Decoder;
    use traceproof_vectors::arm_ete::{Event, Outcome};
    use traceproof_vectors::{Decoder as _, Log};

    /// Every instruction with its address and the outcome of P0 instructions, up to what is uncommitted at the end.
    #[test]
    fn the_generated_traces_are_the_execution() {
        for workload in generated(10_000).expect("accepted") {
            let mut decoder = Decoder::default();
            decoder.begin(&workload.parameters, &workload.program).expect("supported");
            let mut log = Log::<ArmEte>::default();
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
                    assert_eq!(u64::from(instruction.address.0), first.0 + 4 * index);
                    let outcome = p0(instruction).map_or(Outcome::Passed, |element| match element.taken {
                        true => Outcome::Taken,
                        false => Outcome::NotTaken,
                    });
                    if index + 1 == *count {
                        assert_eq!(outcome, *last, "{:#x}", instruction.address.0);
                    } else {
                        assert_ne!(outcome, Outcome::Taken, "{:#x}", instruction.address.0);
                    }
                }
                instructions += count;
            }
            assert!(instructions > 10_000, "{instructions}");
            assert!(log.events().any(|event| matches!(event, Event::Timestamp { value: Some(_), .. })));
        }
    }
}
