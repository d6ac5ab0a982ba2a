//! One step after the other: when tracing starts, stops and overflows.

use alloc::vec::Vec;

use traceproof_vectors::EncoderSink;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    ArmPft, CycleCount, Packet, Parameters, Policy, Reason, Signal, State, Stimulus,
};

use super::atoms::HeldAtoms;

use super::last_state::LastState;
use super::packet;
use super::returns::ReturnStack;
use super::schedule::Schedule;
use super::timestamps::Timestamps;
use crate::arm::Fifo;

/// What keeps a PTM from tracing.
#[derive(Clone, Copy, Debug)]
struct Gates {
    enabled: bool,
    trace_enable: bool,
    debug: bool,
    prohibited: bool,
    jazelle: bool,
    /// The stimulus says that the FIFO is full.
    overflow: bool,
    /// The FIFO of the model is full.
    full: bool,
}

impl Gates {
    const fn overflows(self) -> bool {
        self.overflow || self.full
    }

    /// Nothing but an overflow is in the way, if that.
    const fn wants_trace(self) -> bool {
        self.enabled && self.trace_enable && !self.debug && !self.prohibited && !self.jazelle
    }
}

/// A register whose value the trace follows: what was traced, and what was written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Register<T> {
    pub(super) in_force: T,
    pub(super) written: T,
}

/// What a step changes and an overflow takes back, because its packets are lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsent {
    pub(super) atoms: HeldAtoms,
    pub(super) timestamps: Timestamps,
    pub(super) schedule: Schedule,
    pub(super) vmid: Register<u8>,
    /// The timestamp counter at the last traced waypoint, or where tracing began since then.
    pub(super) waypoint_time: u64,
    /// Cycles since the cycle count before.
    cycles: u64,
    /// Triggers that occurred during an overflow.
    triggers: u8,
}

/// A PTM between two steps.
#[derive(Debug)]
pub(super) struct Ptm {
    pub(super) parameters: Parameters,
    pub(super) policy: Policy,
    gates: Gates,
    /// An I-sync was sent, and nothing stopped the trace since then.
    pub(super) tracing: bool,
    /// Trace was lost since the I-sync before.
    lost: bool,
    /// The next instruction after the latest waypoint, exception or start.
    pub(super) next: State,
    pub(super) last: LastState,
    pub(super) returns: ReturnStack,
    pub(super) context_id: Register<u32>,
    pub(super) unsent: Unsent,
    /// The timestamp counter.
    pub(super) now: u64,
    /// Packets of this step, and their bytes.
    packets: Vec<Packet>,
    bytes: Vec<u8>,
    /// Bytes that all steps before have made.
    made: u64,
    fifo: Fifo,
}

impl Ptm {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        let depth = if parameters.return_stack { policy.return_stack_depth } else { 0 };
        Self {
            gates: Gates {
                enabled: false,
                trace_enable: true,
                debug: false,
                prohibited: false,
                jazelle: false,
                overflow: false,
                full: false,
            },
            tracing: false,
            lost: false,
            next: State::default(),
            last: LastState::new(policy),
            returns: ReturnStack::new(depth),
            context_id: Register::default(),
            unsent: Unsent {
                atoms: HeldAtoms::new(policy.atoms_per_packet),
                timestamps: Timestamps::new(parameters, policy),
                schedule: Schedule::new(policy),
                vmid: Register::default(),
                cycles: 0,
                waypoint_time: 0,
                triggers: 0,
            },
            now: 0,
            packets: Vec::new(),
            bytes: Vec::new(),
            made: 0,
            fifo: Fifo::new(policy.fifo_bytes, policy.port_bytes, policy.capture_from),
            parameters: parameters.clone(),
            policy: *policy,
        }
    }

    pub(super) fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmPft>) {
        self.now = stimulus.timestamp;
        if self.gates.enabled || matches!(stimulus.signal, Signal::Enable(_)) {
            self.unsent.cycles = self.unsent.cycles.saturating_add(stimulus.cycles.into());
        }
        let before = self.unsent;
        if self.gates.full && self.fifo.is_empty() {
            self.gates.full = false;
            self.recover();
        }
        self.signal(&stimulus.signal);
        self.synchronise();
        self.commit(before, sink);
        self.fifo.end_step(sink);
    }

    pub(super) fn finish(&mut self, sink: &mut dyn EncoderSink<ArmPft>) {
        self.fifo.empty(sink);
    }

    fn signal(&mut self, signal: &Signal) {
        match *signal {
            Signal::Enable(state) => self.enable(state),
            Signal::Disable => self.disable(),
            Signal::TraceEnable(level) => self.trace_enable(level),
            Signal::Waypoint(waypoint) => self.waypoint(&waypoint),
            Signal::Exception(exception) => self.exception(&exception),
            Signal::DebugEntry(last) => self.debug_entry(last),
            Signal::DebugExit(state) => {
                self.gates.debug = false;
                self.arrive(state, Reason::DebugExit);
            }
            Signal::ProhibitedEntry => {
                self.flush_atoms();
                self.gates.prohibited = true;
                self.stop();
            }
            Signal::ProhibitedExit(state) => {
                self.gates.prohibited = false;
                self.arrive(state, Reason::TraceEnabled);
            }
            Signal::JazelleExit(state) => self.arrive(state, Reason::TraceEnabled),
            Signal::ContextId(value) => self.context_id.written = self.traced_context(value),
            Signal::Vmid(value) => self.unsent.vmid.written = value,
            Signal::NonSecure(non_secure) => self.next.non_secure = non_secure,
            Signal::Wait if self.policy.flush_at_wait => self.flush_atoms(),
            Signal::Trigger => self.trigger(),
            Signal::TimestampEvent => self.timestamp(),
            Signal::ClockChange => self.unsent.timestamps.note_clock_change(),
            Signal::SyncRequest if self.gates.enabled => self.request_sync(),
            Signal::Flush => self.flush(),
            Signal::Overflow(full) => self.overflow(full),
            _ => {}
        }
    }

    /// Spec: PFT-ENC-001 to 003, 052 (4.5.1, 3.3.2, 4.14).
    fn enable(&mut self, state: State) {
        self.stop();
        self.gates.enabled = true;
        self.lost = false;
        self.unsent.atoms = HeldAtoms::new(self.policy.atoms_per_packet);
        self.unsent.timestamps.restart();
        self.unsent.schedule = Schedule::new(&self.policy);
        if self.gates.overflows() {
            self.unsent.schedule.require_alignment();
        } else {
            self.alignment_sync();
        }
        self.arrive(state, Reason::TraceEnabled);
        if self.policy.timestamp_at_start && self.tracing && self.parameters.timestamps {
            self.full_timestamp();
        }
    }

    /// Spec: PFT-ENC-009 (4.15.2).
    fn disable(&mut self) {
        self.complete_sync();
        self.flush_atoms();
        self.pad();
        self.gates.enabled = false;
        self.unsent.cycles = 0;
        self.stop();
    }

    /// Spec: PFT-ENC-003, 009 (3.3.2).
    fn trace_enable(&mut self, level: bool) {
        self.gates.trace_enable = level;
        if level {
            self.resume(Reason::TraceEnabled);
        } else {
            self.complete_sync();
            self.flush_atoms();
            self.stop();
        }
    }

    /// Everything but the FIFO goes on; in it there is no room for what follows.
    ///
    /// Spec: 4.8.
    fn overflow(&mut self, full: bool) {
        if full {
            self.flush_atoms();
            self.lost |= self.tracing;
            self.gates.overflow = true;
            self.stop();
        } else {
            self.gates.overflow = false;
            self.recover();
        }
    }

    /// There is room again: what is due of synchronisation comes, tracing restarts, and triggers come that
    /// occurred in between.
    fn recover(&mut self) {
        if self.gates.overflows() {
            return;
        }
        if !self.gates.enabled {
            self.unsent.triggers = 0;
            return;
        }
        if self.unsent.schedule.is_alignment_due() {
            // Perhaps that with which the trace begins.
            self.flush_atoms();
            self.alignment_sync();
        }
        self.resume(Reason::Overflow);
        for _ in 0..core::mem::take(&mut self.unsent.triggers) {
            self.push(Packet::Trigger);
        }
    }

    fn trigger(&mut self) {
        if !self.gates.enabled {
            return;
        }
        if self.gates.overflows() {
            self.unsent.triggers = self.unsent.triggers.saturating_add(1);
            return;
        }
        if self.policy.flush_before_trigger {
            self.flush_atoms();
        }
        self.push(Packet::Trigger);
    }

    /// Spec: PFT-ENC-009 (4.15.1).
    fn flush(&mut self) {
        self.flush_atoms();
        self.timestamp();
        self.pad();
    }

    /// What follows an entry to Debug state is not traced.
    pub(super) fn close_for_debug(&mut self) {
        self.gates.debug = true;
        self.stop();
    }

    /// The next instruction is here, and perhaps tracing starts.
    pub(super) fn arrive(&mut self, state: State, reason: Reason) {
        self.next = self.visible(state);
        self.gates.jazelle = state.isa == InstructionSet::Jazelle;
        if self.gates.jazelle {
            self.stop();
        } else {
            self.resume(reason);
        }
    }

    /// Without Virtualization Extensions there is no Hyp mode. Spec: PFT-CFG-016 (1.1).
    pub(super) fn visible(&self, state: State) -> State {
        State { hyp: state.hyp && self.parameters.virtualization, ..state }
    }

    /// As many bytes of the Context ID as are traced. Spec: PFT-CFG-001 (3.16.1).
    fn traced_context(&self, value: u32) -> u32 {
        let unused = 4_u8.saturating_sub(self.parameters.context_id_bytes);
        u32::MAX.checked_shr(8 * u32::from(unused)).map_or(0, |mask| value & mask)
    }

    /// Starts tracing if it is off and may be on. Atoms from before an overflow come first.
    ///
    /// Spec: PFT-ENC-002, 003, 020, 048 (3.3.2, 4.7, 4.8, 4.17, 5.3.8).
    fn resume(&mut self, reason: Reason) {
        if self.tracing || !self.gates.wants_trace() {
            return;
        }
        if self.gates.overflows() {
            self.lost = true;
            return;
        }
        let reason = match (self.lost, reason) {
            (true, _) => Reason::Overflow,
            (false, Reason::Overflow) => Reason::TraceEnabled,
            (false, reason) => reason,
        };
        self.lost = false;
        self.tracing = true;
        if self.unsent.schedule.is_alignment_due() {
            self.alignment_sync();
        }
        self.instruction_sync(reason);
    }

    fn stop(&mut self) {
        self.tracing = false;
        self.unsent.schedule.skip_instruction_sync();
    }

    /// Ignore packets up to a multiple of the policy's bytes.
    fn pad(&mut self) {
        let multiple = u64::from(self.policy.pad_to);
        if multiple < 2 || !self.gates.enabled || self.gates.overflows() {
            return;
        }
        while !(self.made + self.bytes.len() as u64).is_multiple_of(multiple) {
            self.push(Packet::Ignore);
        }
    }

    /// A packet of this step.
    pub(super) fn push(&mut self, packet: Packet) {
        let before = self.bytes.len();
        packet::append(&packet, &self.parameters, &mut self.bytes);
        self.unsent.schedule.note(&packet, self.bytes.len() - before);
        self.packets.push(packet);
    }

    /// Cycles since the count before, which begin anew, where they are counted at all.
    ///
    /// Spec: PFT-ENC-045 (4.4).
    pub(super) fn count_cycles(&mut self) -> Option<CycleCount> {
        let counted = self.parameters.cycle_accurate;
        counted.then(|| CycleCount::new(self.take_cycles()))
    }

    /// More cycles than a count can hold are left for the next one.
    fn take_cycles(&mut self) -> u32 {
        let count = u32::try_from(self.unsent.cycles).unwrap_or(u32::MAX);
        self.unsent.cycles -= u64::from(count);
        count
    }

    /// Held atoms become a packet. Spec: PFT-ENC-008, 009 (4.2).
    pub(super) fn flush_atoms(&mut self) {
        if !self.gates.overflows()
            && let Some(packet) = self.unsent.atoms.take()
        {
            self.push(packet);
        }
    }

    /// The packets of the step go into the FIFO, or an overflow begins: they are lost, and what they said of
    /// atoms, timestamps and synchronisation is not said.
    ///
    /// Spec: 4.8.
    fn commit(&mut self, before: Unsent, sink: &mut dyn EncoderSink<ArmPft>) {
        if self.fifo.append(&self.bytes) {
            self.made += self.bytes.len() as u64;
            for packet in &self.packets {
                sink.packet(packet);
            }
        } else {
            let vmid = Register { written: self.unsent.vmid.written, ..before.vmid };
            let count = |wanted: Packet| self.packets.iter().filter(|packet| **packet == wanted).count();
            let triggers = u8::try_from(count(Packet::Trigger)).unwrap_or(u8::MAX);
            // Those that were made up for in this step are among its packets.
            let triggers = self.unsent.triggers.saturating_add(triggers);
            let alignment = count(super::schedule::ALIGNMENT_SYNC) > 0;
            self.unsent = Unsent { vmid, triggers, ..before };
            if alignment {
                self.unsent.schedule.require_alignment();
            }
            let marks = |packet: &Packet| {
                matches!(packet, Packet::AlignmentSync { .. } | Packet::Trigger | Packet::Ignore)
            };
            self.lost |= !self.packets.iter().all(marks);
            self.gates.full = true;
            self.stop();
        }
        self.packets.clear();
        self.bytes.clear();
    }
}
