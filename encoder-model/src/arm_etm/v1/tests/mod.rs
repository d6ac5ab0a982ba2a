//! Cycles in, records of ETMv1 out.

use traceproof_vectors::arm_etm::v1::Cycle;
use traceproof_vectors::arm_etm::{
    Architecture, ArmEtm, BranchTarget, Isa, Packet, Parameters, Policy, Stimulus,
};
use traceproof_vectors::{Address32, Log};

use crate::arm_etm::tests::{encode, off};

mod control;
mod exceptions;
mod packets;
mod pins;

/// ETMv1.2, 8-bit port, addresses and values of data.
pub(crate) fn v1() -> Parameters {
    Parameters { architecture: Architecture::V1, minor: 2, ..Parameters::default() }
}

pub(crate) fn values_only() -> Parameters {
    Parameters { data_address: false, ..v1() }
}

pub(crate) fn no_data() -> Parameters {
    Parameters { data_value: false, ..values_only() }
}

/// No periodic synchronisation.
pub(crate) fn calm() -> Policy {
    Policy { sync_period: 0, ..Policy::default() }
}

/// Three cycles without trace, whose records show BE of the restart and its APO, and then these.
pub(crate) fn started(cycles: impl IntoIterator<Item = Stimulus>) -> Vec<Stimulus> {
    let mut all = vec![off(); 3];
    all.extend(cycles);
    all
}

/// The instruction branches directly.
pub(crate) fn direct(cycle: Stimulus, address: u32) -> Stimulus {
    to(cycle, BranchTarget { address: Address32(address), direct: true, ..BranchTarget::default() })
}

pub(crate) fn branch_to(cycle: Stimulus, address: u32, isa: Isa) -> Stimulus {
    to(cycle, BranchTarget { address: Address32(address), isa, ..BranchTarget::default() })
}

fn to(mut cycle: Stimulus, target: BranchTarget) -> Stimulus {
    if let Some(instruction) = &mut cycle.instruction {
        instruction.branch = Some(target);
    }
    cycle
}

/// Records as text: `"BE* A4"`, where `*` is TRACESYNC.
pub(crate) fn shown(log: &Log<ArmEtm>, parameters: &Parameters) -> Vec<String> {
    let digits = usize::from(parameters.port_width) / 4;
    log.wire
        .chunks(Cycle::size(parameters))
        .map(|record| Cycle::from_bytes(record, parameters).expect("a whole record"))
        .map(|Cycle { pipestat, tracesync, tracepkt }| {
            format!("{pipestat}{} {tracepkt:0digits$X}", if tracesync { "*" } else { "" })
        })
        .collect()
}

/// The records of a run without periodic synchronisation, in one line.
pub(crate) fn run(parameters: &Parameters, cycles: &[Stimulus]) -> String {
    shown(&encode(parameters, &calm(), cycles), parameters).join(", ")
}

pub(crate) fn packets(parameters: &Parameters, policy: &Policy, cycles: &[Stimulus]) -> Vec<Packet> {
    encode(parameters, policy, cycles).packets().copied().collect()
}
