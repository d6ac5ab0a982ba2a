//! One step after the other: when tracing starts, stops and overflows.

use alloc::vec::Vec;

use traceproof_vectors::EncoderSink;
use traceproof_vectors::arm_ete::{ArmEte, P0, Packet, Parameters, Policy, Signal, State, Stimulus, Version};

use super::check;
use super::contexts::SentContext;
use super::cycles::CycleCounter;
use super::gates::Gates;
use super::held::Held;
use super::history::AddressHistory;
use super::packet;
use super::pipeline::{Pipeline, nowhere};
use super::returns::ReturnStack;
use super::timestamps::Timestamps;
use super::under_way::{PendingQ, Synchronization, Transaction};
use crate::arm::Fifo;

/// A trace unit between two steps.
#[derive(Debug)]
pub(super) struct TraceUnit {
    pub(super) parameters: Parameters,
    pub(super) policy: Policy,
    pub(super) gates: Gates,
    /// The target of the latest P0 instruction or exception: where a decoder is, if tracing was on there.
    pub(super) from: State,
    /// Trace On precedes the next P0 element.
    pub(super) trace_on_due: bool,
    /// A decoder cannot know the address of `from`.
    pub(super) address_due: bool,
    /// That address overrides a match with the return stack, for which a decoder then does not pop.
    pub(super) address_overrides: bool,
    /// The context is sent even if a decoder knows it.
    pub(super) context_due: bool,
    /// The latest P0 instruction that was left out since the latest P0 element: it was not taken.
    pub(super) left_out: Option<P0>,
    /// P0 elements of the session that were not cancelled.
    pub(super) elements: u64,
    /// Those that are not committed in the trace. Spec: ETE-ENC-CMT-001.
    pub(super) depth: u32,
    /// P0 elements before the latest Context element.
    pub(super) context_at: u64,
    /// P0 elements before the latest Trace On or Transaction Failure, after which a decoder needs an address.
    pub(super) gap_at: u64,
    pub(super) history: AddressHistory,
    pub(super) sent: SentContext,
    pub(super) returns: ReturnStack,
    pub(super) pipeline: Pipeline,
    pub(super) transaction: Option<Transaction>,
    pub(super) q: PendingQ,
    pub(super) synchronization: Synchronization,
    pub(super) timestamps: Timestamps,
    pub(super) cycles: CycleCounter,
    pub(super) held: Held,
    /// An Overflow packet was sent for this overflow.
    overflow_sent: bool,
    /// The timestamp counter.
    pub(super) now: u64,
    /// Packets of this step, and their bytes.
    packets: Vec<Packet>,
    bytes: Vec<u8>,
    /// Bytes that all steps before have made.
    made: u64,
    fifo: Fifo,
}

impl TraceUnit {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        let depth = if parameters.return_stack { policy.return_stack_depth } else { 0 };
        Self {
            gates: Gates::default(),
            from: nowhere(),
            trace_on_due: true,
            address_due: true,
            address_overrides: false,
            context_due: false,
            left_out: None,
            elements: 0,
            depth: 0,
            context_at: 0,
            gap_at: 0,
            history: AddressHistory::default(),
            sent: SentContext::default(),
            returns: ReturnStack::new(depth),
            pipeline: Pipeline::new(),
            transaction: None,
            q: PendingQ::default(),
            synchronization: Synchronization::default(),
            timestamps: Timestamps::new(parameters, policy),
            cycles: CycleCounter::new(parameters, policy),
            held: Held::new(policy),
            overflow_sent: false,
            now: 0,
            packets: Vec::new(),
            bytes: Vec::new(),
            made: 0,
            fifo: Fifo::new(policy.fifo_bytes, policy.port_bytes, policy.capture_from),
            parameters: parameters.clone(),
            policy: *policy,
        }
    }

    pub(super) fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEte>) {
        self.now = stimulus.timestamp;
        if self.gates.enabled {
            self.cycles.pass(stimulus.cycles);
        }
        let kept = self.held;
        let flushes = matches!(stimulus.signal, Signal::Flush | Signal::Disable);
        if flushes {
            self.fifo.empty(sink);
        }
        if self.gates.full && self.fifo.is_empty() {
            self.gates.full = false;
            self.recover();
        }
        self.signal(&stimulus.signal);
        self.timestamp();
        self.commit_step(kept, flushes, sink);
        if flushes {
            self.fifo.empty(sink);
        } else {
            self.fifo.end_step(sink);
        }
    }

    pub(super) fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEte>) {
        self.fifo.empty(sink);
    }

    fn signal(&mut self, signal: &Signal) {
        match *signal {
            Signal::Enable(state) => self.enable(state),
            Signal::Disable => self.disable(),
            Signal::ViewInst(active) if active != self.gates.view => {
                self.flush();
                self.gates.view = active;
                self.stop();
            }
            Signal::P0(p0) => self.p0(&p0),
            Signal::Exception(exception) => self.exception(&exception),
            Signal::Context(context) => {
                self.flush_q();
                self.from.context = context;
            }
            Signal::Commit(count) => self.resolve(count),
            Signal::Cancel { count, next } => self.cancel(count, next),
            Signal::Mispredict(next) => self.mispredict(next),
            Signal::Redirect(next) => self.redirect(next),
            Signal::TransactionStart => self.transaction_start(),
            Signal::TransactionCommit => self.transaction_commit(),
            Signal::TransactionFailure(next) => self.transaction_failure(next),
            Signal::TimestampRequest if self.gates.enabled => self.timestamps.request(),
            Signal::Event(number) => self.event(number),
            Signal::Instrumentation { exception_level, value } => {
                self.instrumentation(exception_level.number(), value);
            }
            Signal::QRegion(permitted) => {
                self.flush_q();
                self.q.permitted = permitted;
            }
            Signal::SyncRequest => self.sync_request(),
            Signal::Flush => self.trace_flush(),
            Signal::ProhibitedEntry => self.prohibited_entry(),
            Signal::ProhibitedExit(state) => {
                self.gates.prohibited = false;
                self.restart(state);
            }
            Signal::DebugExit(state) => {
                self.gates.debug = false;
                self.restart(state);
            }
            Signal::Overflow(full) => self.overflow(full),
            Signal::Insert(packet) => self.insert(&packet),
            _ => {}
        }
    }

    pub(super) const fn is_operative(&self) -> bool {
        self.gates.operative()
    }

    pub(super) const fn is_active(&self) -> bool {
        self.gates.active()
    }

    /// Nothing separates the next P0 element from the one before.
    pub(super) const fn is_tracing(&self) -> bool {
        self.is_active() && !self.trace_on_due
    }

    /// Spec: ETE-ENC-START-001, ETE-QZRMQ-001, ETE-TTLJC-001, ETE-HMDGL-001.
    fn enable(&mut self, state: State) {
        self.disable();
        self.held = Held::new(&self.policy);
        self.gates.pass(&Signal::Enable(state));
        self.transaction = None;
        self.cycles.restart();
        self.restart(state);
        if self.is_operative() {
            self.begin();
        } else {
            self.lose();
        }
    }

    /// Non-periodic synchronization. Spec: ETE-TTLJC-001, ETE-HMDGL-001, ETE-DQBDH-002.
    fn begin(&mut self) {
        self.sent.forget();
        self.stop();
        self.alignment_sync();
        self.lost_events();
        self.trace_info();
    }

    /// Spec: ETE-ENC-END-001, ETE-XXFBC-001, ETE-XQSPC-001, ETE-GLBHL-001, ETE-WDWGV-001, ETE-FHQDX-001, ETE-RPSPH-001,
    /// ETE-YYWTR-001.
    fn disable(&mut self) {
        if !self.gates.enabled {
            return;
        }
        if self.gates.overflows() {
            self.overflow_packet();
            self.late_events();
        } else {
            self.flush_p0();
            self.fail_transaction();
            if self.policy.timestamp_at_disable {
                self.timestamps.request();
                self.timestamp();
            }
            self.flush_events();
            if self.depth > 0 {
                self.push(Packet::Discard);
            }
            self.pad();
        }
        self.gates.enabled = false;
        self.lose();
        self.transaction = None;
    }

    /// The next instruction is here, after a place that is not traced.
    fn restart(&mut self, state: State) {
        self.stop();
        self.from = state;
    }

    /// Trace On precedes what is traced next.
    ///
    /// Spec: ETE-RXMJF-001, ETE-HBNFJ-001, ETE-LMLSN-001.
    pub(super) const fn stop(&mut self) {
        self.trace_on_due = true;
        if let Some(p0) = self.left_out.take() {
            self.from = p0.next;
        }
    }

    /// Spec: ETE-CKZMR-001, ETE-XQSPC-001, ETE-THBVD-001.
    fn prohibited_entry(&mut self) {
        if !self.gates.prohibited {
            if self.is_operative() {
                self.flush();
                self.fail_transaction();
            }
            self.gates.prohibited = true;
            self.stop();
        }
    }

    /// Spec: ETE-PQGXB-001, ETE-ENC-OVF-001.
    fn overflow(&mut self, full: bool) {
        if full == self.gates.overflow {
            return;
        }
        if full && self.is_operative() {
            self.flush();
            self.lose();
        }
        self.gates.overflow = full;
        if !full {
            self.recover();
        }
    }

    /// What was sent and is not committed is lost.
    fn lose(&mut self) {
        self.pipeline.clear();
        self.depth = 0;
        self.sent.forget();
        self.returns.clear();
        self.cycles.restart();
        self.q.lose();
        self.synchronization.due = false;
        self.overflow_sent = false;
        self.close_transaction();
        self.stop();
    }

    /// There is room again.
    ///
    /// Spec: ETE-ENC-OVF-001, ETE-DQBDH-001, ETE-DQBDH-002, ETE-HQKWH-001, ETE-YYWTR-001.
    fn recover(&mut self) {
        if self.is_operative() {
            self.overflow_packet();
            self.begin();
        }
    }

    /// What came before the overflow, the events that occurred in it, and Overflow. No part of it precedes the first
    /// A-sync.
    ///
    /// Spec: ETE-SHYMY-001, ETE-HRYKY-001, ETE-TWBVY-001, ETE-RPSPH-001.
    fn overflow_packet(&mut self) {
        if !self.held.aligned || self.overflow_sent {
            return;
        }
        self.flush_atoms();
        self.flush_cancel();
        let owed = core::mem::take(&mut self.held.owed);
        if owed > 0 {
            self.push_commit(owed);
        }
        self.flush_events();
        self.lost_events();
        self.push(Packet::Overflow);
        self.overflow_sent = true;
    }

    /// Events that occurred after the Overflow packet of this overflow. Between it and the next A-sync they may stand.
    ///
    /// Spec: ETE-SHYMY-001, ETE-GLBHL-001, ETE-HGYLG-002, ETE-VQYYH-001.
    fn late_events(&mut self) {
        if self.overflow_sent {
            self.lost_events();
        }
    }

    fn lost_events(&mut self) {
        let events = core::mem::take(&mut self.held.lost_events);
        if !self.policy.merged_events {
            for event in [1_u8, 2, 4, 8].into_iter().filter(|event| events & event != 0) {
                self.push(Packet::Event(event));
            }
        } else if events > 0 {
            self.push(Packet::Event(events));
        }
    }

    /// Spec: ETE-HGYLG-001, ETE-HGYLG-002, ETE-TWBVY-001, ETE-YYWTR-001.
    fn trace_flush(&mut self) {
        if !self.gates.enabled {
            return;
        }
        if self.gates.overflows() {
            self.overflow_packet();
            self.late_events();
            return;
        }
        self.flush();
        self.timestamps.request();
        self.timestamp();
        self.pad();
    }

    /// During an overflow it waits. Spec: ETE-KKLYB-001, ETE-SMLVB-001, ETE-SHYMY-001, ETE-WJPTB-001.
    fn event(&mut self, number: u8) {
        if number > 3 || !self.gates.enabled {
            return;
        }
        let bit = 1 << number;
        if self.gates.overflows() {
            self.held.lost_events |= bit;
            return;
        }
        self.flush_p0();
        if self.held.events >= bit {
            self.flush_events();
        }
        self.held.events |= bit;
        self.note_element();
        if !self.policy.merged_events {
            self.flush_events();
        }
    }

    /// Spec: ETE-BXTXK-001, ETE-BWHCS-001, ETE-STQSN-001, ETE-R_DPKSC-1.
    fn instrumentation(&mut self, level: u8, value: u64) {
        let is_traceable = !self.gates.prohibited && !self.gates.debug;
        if self.parameters.instrumentation && self.is_operative() && is_traceable {
            self.send(Packet::Instrumentation { level, reserved: 0, value });
            self.note_element();
        }
    }

    /// Ignore packets up to a multiple of the policy's bytes. Spec: ETE-PKT-IGN-001 (sheet 5.2).
    fn pad(&mut self) {
        let multiple = u64::from(self.policy.pad_to);
        if multiple < 2 || self.parameters.version < Version::Etmv4_3 {
            return;
        }
        while !(self.made + self.bytes.len() as u64).is_multiple_of(multiple) {
            self.push(Packet::Ignore);
        }
    }

    /// A packet of this step, after all that is held.
    pub(super) fn send(&mut self, packet: Packet) {
        self.flush();
        self.push(packet);
    }

    /// A packet of this step.
    pub(super) fn push(&mut self, packet: Packet) {
        debug_assert!(check::check(&packet, &self.parameters).is_none(), "{packet:?}");
        let before = self.bytes.len();
        packet::append(&packet, &self.parameters, &mut self.bytes);
        self.synchronization.note(&packet, self.bytes.len() - before);
        self.packets.push(packet);
    }

    /// Spec: ETE-CWHHW-001, ETE-MCSGX-001, ETE-ZMQLT-001.
    pub(super) fn note_element(&mut self) {
        self.timestamps.note_element(self.now, self.cycles.value());
    }

    /// A timestamp that is due, with its marker. In prohibited regions it waits.
    ///
    /// Spec: ETE-RMSVV-001, ETE-XMJGY-001, ETE-LWZXK-001, ETE-RFYPT-001.
    fn timestamp(&mut self) {
        if self.timestamps.is_due() && self.is_operative() && !self.gates.prohibited {
            self.flush();
            if self.parameters.timestamp_markers {
                self.push(Packet::TimestampMarker);
            }
            if let Some(packet) = self.timestamps.take(&self.policy) {
                self.push(packet);
            }
        }
    }

    /// The packets of the step go into the buffer, which `flushes` as it fills, or an overflow begins: they are lost,
    /// and what was held before is held again.
    ///
    /// Spec: ETE-LDDLP-001, ETE-LDDLP-002, ETE-RQHFH-001.
    fn commit_step(&mut self, kept: Held, flushes: bool, sink: &mut dyn EncoderSink<ArmEte>) {
        let fits = if flushes { self.fifo.pass(&self.bytes) } else { self.fifo.append(&self.bytes) };
        if fits {
            self.made += self.bytes.len() as u64;
            for packet in &self.packets {
                sink.packet(packet);
            }
        } else {
            let sent = self.packets.iter().fold(0, |events, packet| match packet {
                Packet::Event(more) => events | more,
                _ => events,
            });
            let held = self.held.events;
            // Of a number that was sent and is held, one occurred in this step.
            let new = (sent | held) & !kept.events | sent & held;
            let lost_events = kept.lost_events | self.held.lost_events | new;
            self.held = Held { lost_events, ..kept };
            self.gates.full = true;
            self.lose();
        }
        self.packets.clear();
        self.bytes.clear();
    }
}
