//! One step after the other: what the unit does, and the records that follow from it.

use traceproof_vectors::EncoderSink;
use traceproof_vectors::arm_ete_unit::{
    Access, Agent, ArmEteUnit, Operation, Outcome, Packet, Parameters, Policy, Poll, ProgrammingState,
    Register, Resources, Signal, StatusBit, Stimulus,
};

use super::ImpossibleStimulus;
use super::buffers::Buffers;
use super::machine::Machine;
use super::record::record_of;
use super::registers::Registers;
use super::routing::{Routing, SINKS, sink_of};
use super::surroundings::Surroundings;

/// The most steps of one poll, whatever the policy says.
const POLL_STEPS: u32 = 4096;

/// Where records go.
pub(super) struct Log<'a> {
    pub(super) sink: &'a mut dyn EncoderSink<ArmEteUnit>,
}

impl Log<'_> {
    pub(super) fn write(&mut self, packet: &Packet) -> Result<(), ImpossibleStimulus> {
        let record = record_of(packet)?;
        self.sink.packet(packet);
        self.sink.wire(&record);
        Ok(())
    }
}

/// Signals as they were last seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signals {
    enabled: bool,
    overflow: bool,
    operative: bool,
    view_inst: bool,
    stall: bool,
    running: bool,
}

/// The whole trace unit.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) parameters: Parameters,
    pub(super) policy: Policy,
    pub(super) machine: Machine,
    pub(super) registers: Registers,
    pub(super) buffers: Buffers,
    pub(super) routing: Routing,
    pub(super) surroundings: Surroundings,
    /// Bytes that are to leave before a flush is acknowledged, if one is requested.
    pub(super) flush: Option<u64>,
    /// Time since the unit last did everything that has a bound.
    pub(super) elapsed: u64,
    signals: Signals,
    /// Bytes that have left in this step, by sink.
    left: [u64; SINKS],
}

impl Unit {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            parameters: parameters.clone(),
            policy: policy.clone(),
            machine: Machine::new(),
            registers: Registers::new(policy.unknown),
            buffers: Buffers::new(policy.buffer),
            routing: Routing::new(),
            surroundings: Surroundings::new(),
            flush: None,
            elapsed: 0,
            signals: Signals {
                enabled: false,
                overflow: false,
                operative: false,
                view_inst: true,
                stall: false,
                running: false,
            },
            left: [0; SINKS],
        }
    }

    /// Lets one step happen.
    pub(super) fn step(&mut self, stimulus: &Stimulus, log: &mut Log<'_>) -> Result<(), ImpossibleStimulus> {
        match stimulus {
            Stimulus::Access(access) => self.access(access, log)?,
            Stimulus::Poll { agent, bit, value } => self.poll(*agent, *bit, *value, log)?,
            Stimulus::Input(input) => self.input(input, log)?,
            Stimulus::Generate { bytes } => self.generate(u64::from(*bytes)),
            Stimulus::ViewInst(active) => self.surroundings.view_inst = *active,
            Stimulus::Progress => {
                self.progress();
            }
            Stimulus::Drain { bytes } => {
                self.drain(bytes.map_or(u64::MAX, u64::from));
            }
        }
        self.follow(log)
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.machine.state.is_enabled()
    }

    /// Trace generation. Spec: ETE-ZVNKV-001, ETE-MTLFH-002, ETE-LBDSM-001, ETE-DPKSC-001, ETE-FFVYM-001.
    fn generate(&mut self, bytes: u64) {
        let around = &self.surroundings;
        let in_state = match self.machine.state {
            ProgrammingState::Running => true,
            ProgrammingState::Enabling => self.policy.trace_in_enabling && self.machine.wanted(),
            _ => false,
        };
        let frozen = around.debug_state || around.is_prohibited() || around.low_power;
        if !in_state || frozen || !around.is_powered() {
            return;
        }
        if !around.view_inst {
            self.registers.set_traced(false, &self.parameters);
            return;
        }
        if self.buffers.is_recovering() {
            return;
        }
        self.registers.set_traced(true, &self.parameters);
        let lost = self.buffers.enter(bytes);
        if lost == 0 {
        } else if self.stalls() {
            self.buffers.waiting = self.buffers.waiting.saturating_add(lost);
        } else if self.has_output()
            && (self.machine.state != ProgrammingState::Enabling || self.policy.overflow_in_enabling)
        {
            self.buffers.overflow();
            if !self.policy.overflow_keeps_ta {
                self.registers.set_traced(false, &self.parameters);
            }
        }
    }

    /// Whether bytes are seen anywhere. Where they are not, nothing is lost for lack of a sink (ETE-NLSSL-002).
    fn has_output(&self) -> bool {
        let oe = self.registers.output_enable(&self.parameters);
        self.routing.sinks(oe, &self.parameters, &self.policy) != 0
    }

    /// Whether the processor is stalled instead of an overflow. With no-overflow on it has to be (ETE-STL-002); with
    /// ISTALL = 0 it never is (ETE-JYYLV-001).
    ///
    /// Spec: ETE-RWTYJ-001, ETE-SCLVV-001, ETE-STL-001, ETE-MYMKW-001.
    fn stalls(&self) -> bool {
        let parameters = &self.parameters;
        let control = self.registers.word(Register::STALLCTLR, parameters);
        let (level, istall, no_overflow) = (control & 0xF, control >> 8 & 1 == 1, control >> 13 & 1 == 1);
        let permitted = parameters.stall_control
            && parameters.system_stall
            && (parameters.self_hosted || parameters.invasive_debug)
            && self.has_output();
        let no_overflow = no_overflow && parameters.no_overflow;
        permitted && istall && (no_overflow || self.policy.stalls && level != 0)
    }

    /// Whether the state machine has moved.
    pub(super) fn progress(&mut self) -> bool {
        self.surroundings.is_powered() && self.machine.progress(self.buffers.is_drained())
    }

    /// Whether nothing that is held has to wait for a sink.
    pub(super) fn can_drain(&self) -> bool {
        let oe = self.registers.output_enable(&self.parameters);
        let (first, limit) = self.routing.next(oe, &self.parameters, &self.policy);
        let rest = self.routing.sinks(oe, &self.parameters, &self.policy);
        let waits = self.buffers.to_leave() > limit && !self.routing.accept(rest);
        self.buffers.is_drained() || self.routing.accept(first) && !waits
    }

    /// At most so many bytes leave; whether any did. Every sink that gets bytes gets the same ones, so that one which
    /// is blocked holds all of them back.
    pub(super) fn drain(&mut self, most: u64) -> bool {
        let mut rest = most;
        // The second turn is for bytes after those in flight.
        for _ in 0..2 {
            let oe = self.registers.output_enable(&self.parameters);
            let (sinks, limit) = self.routing.next(oe, &self.parameters, &self.policy);
            if !self.surroundings.is_powered() || !self.routing.accept(sinks) {
                break;
            }
            let bytes = self.buffers.leave(rest.min(limit));
            self.routing.left(bytes);
            for (index, count) in self.left.iter_mut().enumerate() {
                *count += if sinks >> index & 1 == 1 { bytes } else { 0 };
            }
            self.flush = self.flush.map(|waiting| waiting.saturating_sub(bytes));
            rest -= bytes;
        }
        self.buffers.resume();
        rest != most
    }

    /// TRCSTATR. Spec: ETE-WMGGP-002, ETE-WMGGP-003.
    pub(super) fn status(&self) -> u32 {
        let idle = matches!(self.machine.state, ProgrammingState::Idle | ProgrammingState::Enabling);
        let stable = match self.machine.state {
            ProgrammingState::Idle | ProgrammingState::Stable => true,
            ProgrammingState::Unstable => false,
            ProgrammingState::Enabling | ProgrammingState::Running => self.policy.pmstable_while_enabled,
        };
        u32::from(idle) | u32::from(stable) << 1
    }

    /// A context synchronisation event: what is pending takes effect.
    pub(super) fn synchronise(&mut self) {
        self.synchronise_unit();
        self.synchronise_trace_buffer();
        self.surroundings.synchronise();
    }

    pub(super) fn synchronise_unit(&mut self) {
        self.machine.synchronise(&self.policy, self.buffers.is_drained());
    }

    pub(super) fn synchronise_trace_buffer(&mut self) {
        self.routing.synchronise(self.buffers.held);
    }

    fn poll(
        &mut self,
        agent: Agent,
        bit: StatusBit,
        value: bool,
        log: &mut Log<'_>,
    ) -> Result<(), ImpossibleStimulus> {
        let read = Access {
            agent,
            space: None,
            operation: Operation::Read,
            register: Register::STATR,
            double: false,
            value: None,
            outcome: Outcome::Ok,
        };
        if self.outcome(&read)? != Outcome::Ok {
            return self.access(&read, log);
        }
        let reached = |unit: &Self| (unit.status() >> bit as u8 & 1 == 1) == value;
        let mut steps = 0;
        while !reached(self) && steps < self.policy.poll_steps.min(POLL_STEPS) {
            if steps == 0 && agent.is_direct() {
                self.synchronise();
                self.follow(log)?;
            }
            if !reached(self) && !self.progress() && !self.drain(u64::MAX) {
                break;
            }
            self.follow(log)?;
            steps += 1;
        }
        self.follow(log)?;
        log.write(&Packet::Poll(Poll { agent, bit, value, timed_out: !reached(self) }))
    }

    /// Writes what has followed: states, signals, bytes, and the acknowledgement of a flush.
    pub(super) fn follow(&mut self, log: &mut Log<'_>) -> Result<(), ImpossibleStimulus> {
        for state in core::mem::take(&mut self.machine.passed) {
            if self.parameters.shown.states {
                log.write(&Packet::State(state))?;
            }
        }
        self.signal(log)?;
        for (index, bytes) in core::mem::take(&mut self.left).into_iter().enumerate() {
            if bytes > 0 {
                log.write(&Packet::Output { sink: sink_of(index), bytes })?;
            }
        }
        self.acknowledge(log)
    }

    /// Spec: ETE-DKFRL-001, ETE-HGYLG-001, ETE-TWBVY-001.
    fn acknowledge(&mut self, log: &mut Log<'_>) -> Result<(), ImpossibleStimulus> {
        if self.flush != Some(0) || self.buffers.is_recovering() {
            return Ok(());
        }
        self.flush = None;
        log.write(&Packet::Signal(Signal::FlushAcknowledge))
    }

    fn signal(&mut self, log: &mut Log<'_>) -> Result<(), ImpossibleStimulus> {
        let around = &self.surroundings;
        let paused = around.is_prohibited() || around.low_power || !around.is_powered();
        if !self.is_enabled() || paused || around.debug_state || !self.stalls() {
            self.buffers.waiting = 0;
        }
        let (before, recovering) = (self.signals, self.buffers.is_recovering());
        let now = Signals {
            enabled: self.is_enabled(),
            overflow: recovering,
            operative: self.is_enabled() && !recovering,
            view_inst: self.surroundings.view_inst_active(),
            stall: self.buffers.waiting > 0,
            running: self.machine.state == ProgrammingState::Running && !paused,
        };
        self.signals = now;
        if now.running && !before.running {
            self.registers.consume_occurred(&self.parameters);
        }
        if !self.parameters.shown.states {
            return Ok(());
        }
        let resources = if now.running { Resources::Running } else { Resources::Paused };
        for (changed, signal) in [
            (now.enabled != before.enabled, Signal::Enabled(now.enabled)),
            (now.overflow != before.overflow, Signal::Overflow(now.overflow)),
            (now.operative != before.operative, Signal::Operative(now.operative)),
            (now.view_inst != before.view_inst, Signal::ViewInst(now.view_inst)),
            (now.stall != before.stall, Signal::Stall(now.stall)),
            (now.running != before.running, Signal::Resources(resources)),
        ] {
            if changed {
                log.write(&Packet::Signal(signal))?;
            }
        }
        Ok(())
    }
}
