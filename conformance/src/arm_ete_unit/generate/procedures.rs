//! What drivers and debuggers do, step by step: as stimulus, so that a scenario reaches every state by right software,
//! too.

use traceproof_vectors::arm_ete_unit::{
    Access, Agent, Barrier, Input, Operation, Outcome, Register, Space, StatusBit, Stimulus,
};

/// A write.
pub(super) fn write(agent: Agent, register: Register, value: u64) -> Stimulus {
    access(agent, None, Operation::Write, register, Some(value))
}

/// A read.
pub(super) fn read(agent: Agent, register: Register) -> Stimulus {
    access(agent, None, Operation::Read, register, None)
}

/// An access of a register's size.
pub(super) fn access(
    agent: Agent,
    space: Option<Space>,
    operation: Operation,
    register: Register,
    value: Option<u64>,
) -> Stimulus {
    let space = if agent.is_direct() { None } else { space };
    Stimulus::Access(Access { agent, space, operation, register, double: false, value, outcome: Outcome::Ok })
}

/// A barrier.
pub(super) const fn barrier(barrier: Barrier) -> Stimulus {
    Stimulus::Input(Input::Barrier(barrier))
}

/// A poll.
pub(super) const fn poll(agent: Agent, bit: StatusBit, value: bool) -> Stimulus {
    Stimulus::Poll { agent, bit, value }
}

const ISB: Stimulus = barrier(Barrier::Isb);
const DSB: Stimulus = barrier(Barrier::Dsb);
const TSB: Stimulus = barrier(Barrier::Tsb);

/// Registers and values that trace everything with the outputs on.
const PROGRAM: [(Register, u64); 10] = [
    (Register::CONFIGR, 1),
    (Register::EVENTCTL0R, 0),
    (Register::EVENTCTL1R, 0x2000),
    (Register::STALLCTLR, 0),
    (Register::SYNCPR, 0xC),
    (Register::TRACEIDR, 0x10),
    (Register::VICTLR, 0x201),
    (Register::VIIECTLR, 0),
    (Register::VISSCTLR, 0),
    (Register::RSR, 0x1000),
];

/// EN = 0, poll for IDLE = 1, programming, EN = 1, poll for IDLE = 0; a direct one with its synchronisation.
pub(super) fn enable(agent: Agent) -> Vec<Stimulus> {
    let synchronise = agent.is_direct().then_some(ISB);
    let mut steps = vec![write(agent, Register::PRGCTLR, 0)];
    steps.extend(synchronise);
    steps.push(poll(agent, StatusBit::Idle, true));
    steps.extend(PROGRAM.iter().map(|&(register, value)| write(agent, register, value)));
    steps.extend(synchronise);
    steps.push(write(agent, Register::PRGCTLR, 1));
    steps.extend(synchronise);
    steps.push(poll(agent, StatusBit::Idle, false));
    steps.extend([DSB, ISB]);
    steps
}

/// Prohibited, synchronised, EN = 0, poll for `bit`.
pub(super) fn disable(agent: Agent, bit: StatusBit) -> Vec<Stimulus> {
    let filter = |prohibited| Stimulus::Input(Input::TraceFilter { prohibited });
    vec![
        filter(true),
        ISB,
        TSB,
        write(agent, Register::PRGCTLR, 0),
        ISB,
        poll(agent, bit, true),
        ISB,
        read(agent, Register::RSR),
        read(agent, Register::cntvr(0)),
        filter(false),
        ISB,
    ]
}

/// OS Lock, poll for PMSTABLE, reads of what is saved, poll for IDLE, unlock.
pub(super) fn save() -> Vec<Stimulus> {
    let lock = |locked| Stimulus::Input(Input::OsLock { agent: Agent::System, locked });
    let system = Agent::System;
    vec![
        lock(true),
        ISB,
        poll(system, StatusBit::Pmstable, true),
        read(system, Register::PRGCTLR),
        read(system, Register::VICTLR),
        read(system, Register::SEQSTR),
        ISB,
        poll(system, StatusBit::Idle, true),
        lock(false),
        ISB,
    ]
}

/// TRBLIMITR_EL1.E changes with nothing in flight.
pub(super) fn switch_trace_buffer(enabled: bool) -> Vec<Stimulus> {
    let filter = |prohibited| Stimulus::Input(Input::TraceFilter { prohibited });
    vec![
        filter(true),
        ISB,
        TSB,
        DSB,
        Stimulus::Input(Input::TraceBuffer { enabled }),
        ISB,
        filter(false),
        ISB,
    ]
}
