//! What ETMv3 decoders are measured on: a capture, repeated, and the output of the encoder model for an invented
//! execution.

use std::path::Path;

use traceproof_encoder_model::arm_etm::v3::Encoder;
use traceproof_vectors::Encoder as _;
use traceproof_vectors::arm_etm::{
    Architecture, ArmEtm, BranchTarget, Instruction, Parameters, Policy, Stimulus,
};

use crate::arm::bench::execution::{Code, Completed, Execution, Operation};
use crate::arm::bench::{Sent, Workload, WorkloadError, repeated};
use crate::snapshot::Snapshot;

/// Instruction trace of ETMv3.5, cycle-accurate.
fn cycle_accurate() -> Parameters {
    Parameters {
        architecture: Architecture::V3,
        minor: 5,
        data_value: false,
        data_address: false,
        cycle_accurate: true,
        thumb32_single: true,
        timestamps: true,
        timestamp_bits: 64,
        timestamp_gray: false,
        virtualization: true,
        ..Parameters::default()
    }
}

/// The capture of a Cortex-A7; `None` where it is not available.
pub(super) fn cortex_a7(captures: &Path, bytes: usize) -> Result<Option<Workload<ArmEtm>>, WorkloadError> {
    let directory = captures.join("tc2-etmv3-id10");
    if !directory.is_dir() {
        return Ok(None);
    }
    let snapshot = Snapshot::read(&directory).map_err(WorkloadError::Snapshot)?;
    let buffer = snapshot.buffers.first().ok_or(WorkloadError::Empty)?;
    let core = snapshot.core_of("ETM_0").ok_or(WorkloadError::Empty)?;
    let program = snapshot.program(core).map_err(WorkloadError::Snapshot)?;
    let trace = snapshot.trace(buffer).map_err(WorkloadError::Snapshot)?;
    let wire = repeated(&trace, 5, bytes)?;
    Ok(Some(Workload { name: "Cortex-A7", program, parameters: cycle_accurate(), wire }))
}

/// An invented execution, `bytes` bytes or a little more.
pub(super) fn generated(bytes: usize) -> Result<Workload<ArmEtm>, WorkloadError> {
    let code = Code::invented();
    let parameters = cycle_accurate();
    let policy = Policy { sync_period: 4096, ..Policy::default() };
    let mut encoder = Encoder::default();
    encoder.begin(&parameters, &policy).map_err(WorkloadError::Refused)?;
    let mut sent = Sent(Vec::with_capacity(bytes + 4096));
    let mut execution = Execution::new(&code);
    while sent.0.len() < bytes {
        let instruction = execution.cycle().map(instruction);
        let stimulus = Stimulus { trace_enable: true, instruction, ..Stimulus::default() };
        encoder.step(&stimulus, &mut sent);
    }
    encoder.finish(&mut sent);
    Ok(Workload { name: "generated", program: code.program(), parameters, wire: sent.0 })
}

fn instruction(completed: Completed) -> Instruction {
    let Completed { address, operation, executed, target } = completed;
    let direct = operation != Operation::Return;
    let branch = target.map(|address| BranchTarget { address, direct, ..BranchTarget::default() });
    Instruction { address, executed, branch, ..Instruction::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_decoder::arm_etm::Decoder;
    use traceproof_vectors::arm_etm::Event;
    use traceproof_vectors::{Decoder as _, Log};

    #[test]
    fn the_generated_trace_is_the_execution() {
        let workload = generated(10_000).expect("accepted");
        let mut decoder = Decoder::default();
        decoder.begin(&workload.parameters, &workload.program).expect("supported");
        let mut log = Log::<ArmEtm>::default();
        decoder.push(&workload.wire, &mut log);
        decoder.finish(&mut log);
        assert_eq!(log.faults().count(), 0);
        let code = Code::invented();
        let mut execution = Execution::new(&code);
        let mut executed = std::iter::from_fn(|| Some(execution.cycle())).flatten();
        let mut count = 0;
        for event in log.events() {
            if let Event::Atom { address, executed: was, .. } = event {
                let instruction = executed.next().expect("goes on for ever");
                assert_eq!((*address, *was), (Some(instruction.address), instruction.executed));
                count += 1;
            }
        }
        assert!(count > 5_000, "{count}");
    }
}
