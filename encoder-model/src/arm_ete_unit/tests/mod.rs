//! Whole models: steps are made, and the log is checked against values worked out by hand.

use alloc::vec::Vec;

use traceproof_vectors::arm_ete_unit::{
    Access, Agent, ArmEteUnit, Barrier, DirectWrite, InFlight, Input, Operation, Outcome, Packet, Parameters,
    Policy, Poll, ProcessorEvent, ProgrammingState, Register, Reset, Resources, Shown, Signal, Sink,
    SinkState, StatusBit, Stimulus,
};
use traceproof_vectors::{Encoder as _, Log};

use super::{Encoder, ImpossibleStimulus};

mod accesses;
mod cells;
mod generation;
mod outputs;
mod robustness;
mod sequences;
mod states;
mod surroundings;

const S: Agent = Agent::System;
const X: Agent = Agent::External;
const IF0: Sink = Sink::Interface(0);

/// A model that shows its states.
struct Bench {
    encoder: Encoder,
}

impl Bench {
    fn new() -> Self {
        Self::with(Parameters::default(), Policy::default())
    }

    fn with(parameters: Parameters, policy: Policy) -> Self {
        let shown = Shown { states: true, ..parameters.shown };
        let mut encoder = Encoder::default();
        encoder.begin(&Parameters { shown, ..parameters }, &policy).unwrap();
        Self { encoder }
    }

    fn policy(policy: Policy) -> Self {
        Self::with(Parameters::default(), policy)
    }

    /// The packets of one step.
    fn step(&mut self, stimulus: Stimulus) -> Vec<Packet> {
        let mut log: Log<ArmEteUnit> = Log::default();
        self.encoder.step(&stimulus, &mut log);
        let packets: Vec<Packet> = log.packets().copied().collect();
        assert_eq!(log.wire.len(), 16 * packets.len(), "one record per packet");
        packets
    }

    fn input(&mut self, input: Input) -> Vec<Packet> {
        self.step(Stimulus::Input(input))
    }

    fn write(&mut self, agent: Agent, register: Register, value: u64) -> Outcome {
        let packets = self.step(Stimulus::Access(write(agent, register, value)));
        let Some(Packet::Access(access)) = packets.first() else { panic!("{packets:?}") };
        assert_eq!(access.value, Some(value));
        access.outcome
    }

    /// The record of an access.
    fn access(&mut self, access: Access) -> Access {
        let packets = self.step(Stimulus::Access(access));
        let Some(Packet::Access(access)) = packets.first() else { panic!("{packets:?}") };
        *access
    }

    /// The value and the outcome of a read.
    fn read(&mut self, agent: Agent, register: Register) -> (Option<u64>, Outcome) {
        let packets = self.step(Stimulus::Access(read(agent, register)));
        let Some(Packet::Access(access)) = packets.first() else { panic!("{packets:?}") };
        (access.value, access.outcome)
    }

    fn status(&mut self) -> u64 {
        self.read(S, Register::STATR).0.unwrap()
    }

    fn enable(&mut self, value: u64) {
        assert_eq!(self.write(S, Register::PRGCTLR, value), Outcome::Ok);
        self.isb();
    }

    fn isb(&mut self) -> Vec<Packet> {
        self.input(Input::Barrier(Barrier::Isb))
    }

    fn lock(&mut self, locked: bool) -> Vec<Packet> {
        let mut packets = self.input(Input::OsLock { agent: S, locked });
        packets.extend(self.isb());
        packets
    }

    /// TRBLIMITR_EL1.E, synchronised.
    fn trace_buffer(&mut self, enabled: bool) {
        self.input(Input::TraceBuffer { enabled });
        self.isb();
    }

    /// TRFCR_ELx, synchronised.
    fn filter(&mut self, prohibited: bool) {
        self.input(Input::TraceFilter { prohibited });
        self.isb();
    }

    fn go(&mut self) -> Vec<Packet> {
        self.step(Stimulus::Progress)
    }

    fn generate(&mut self, bytes: u32) -> Vec<Packet> {
        self.step(Stimulus::Generate { bytes })
    }

    fn drain(&mut self) -> Vec<Packet> {
        self.step(Stimulus::Drain { bytes: None })
    }

    fn poll(&mut self, agent: Agent, bit: StatusBit, value: bool) -> Poll {
        match self.step(Stimulus::Poll { agent, bit, value }).last() {
            Some(Packet::Poll(poll)) => *poll,
            other => panic!("{other:?}"),
        }
    }

    /// OE = 1, then Running.
    fn run(&mut self) {
        self.write(S, Register::EVENTCTL1R, 1 << 13);
        self.enable(1);
        self.go();
        assert_eq!(self.status() & 1, 0);
    }

    /// In this state, reached as software reaches it: Unstable and Stable by EN = 0.
    fn bring_to(&mut self, state: ProgrammingState) {
        let (changes, steps) = match state {
            ProgrammingState::Idle => (0, 0),
            ProgrammingState::Enabling => (1, 0),
            ProgrammingState::Running => (1, 1),
            ProgrammingState::Unstable => (2, 0),
            ProgrammingState::Stable => (2, 1),
        };
        if changes > 0 {
            self.enable(1);
        }
        if changes > 1 {
            self.go();
            self.enable(0);
        }
        for _ in 0..steps {
            self.go();
        }
    }
}

fn write(agent: Agent, register: Register, value: u64) -> Access {
    Access { value: Some(value), operation: Operation::Write, ..read(agent, register) }
}

fn read(agent: Agent, register: Register) -> Access {
    Access {
        agent,
        space: None,
        operation: Operation::Read,
        register,
        double: false,
        value: None,
        outcome: Outcome::Ok,
    }
}

/// The states among the packets.
fn states(packets: &[Packet]) -> Vec<ProgrammingState> {
    let state = |packet: &Packet| if let Packet::State(state) = packet { Some(*state) } else { None };
    packets.iter().filter_map(state).collect()
}

/// The bytes among the packets.
fn outputs(packets: &[Packet]) -> Vec<(Sink, u64)> {
    let output = |packet: &Packet| match packet {
        Packet::Output { sink, bytes } => Some((*sink, *bytes)),
        _ => None,
    };
    packets.iter().filter_map(output).collect()
}

/// The signals among the packets.
fn signals(packets: &[Packet]) -> Vec<Signal> {
    let signal = |packet: &Packet| if let Packet::Signal(signal) = packet { Some(*signal) } else { None };
    packets.iter().filter_map(signal).collect()
}
