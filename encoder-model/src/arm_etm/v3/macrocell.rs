//! Cycle by cycle: when tracing starts, stops and overflows.

use alloc::vec::Vec;

use traceproof_vectors::EncoderSink;
use traceproof_vectors::arm_etm::{ArmEtm, Isa, Packet, Parameters, Policy, Reason, Stimulus};

use super::atoms::PendingAtoms;
use super::branches::{BranchBase, BranchRules, Levels};
use super::data::Data;
use super::fifo::Fifo;
use super::packet;
use super::schedule::{Expiry, Schedule};
use super::timestamps::Timestamps;

/// Free bytes in the FIFO that periodic synchronisation waits for.
pub(super) const SYNC_ROOM: usize = 48;

/// Whether instructions are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracing {
    /// A non-periodic I-sync must come first.
    Off,
    /// Yes.
    On,
    /// No: something did not fit in the FIFO, which drains now.
    Overflowed,
}

/// A macrocell between two cycles.
#[derive(Debug)]
pub(super) struct Macrocell {
    pub(super) parameters: Parameters,
    pub(super) count_in_sync: bool,
    suppress_below: usize,
    pub(super) branch_rules: BranchRules,
    fifo: Fifo,
    pub(super) tracing: Tracing,
    /// What the next non-periodic I-sync gives as reason.
    pub(super) reason: Reason,
    /// Cycles since the latest one that was traced; too many to count after programming, where there was none.
    ///
    /// Spec: ETM3-CC-007 (7.3.4): the reset value of the counter is 0, which means unknown.
    pub(super) gap: u64,
    /// The A-sync after programming is still to come.
    programmed: bool,
    pub(super) schedule: Schedule,
    pub(super) atoms: PendingAtoms,
    pub(super) data: Data,
    pub(super) branch_base: BranchBase,
    pub(super) timestamps: Timestamps,
    /// Address and state of the instruction that completed last; `None` if automatic stacking began after it.
    pub(super) place: Option<(u32, Isa)>,
    pub(super) context_id: u32,
    pub(super) vmid: u8,
    /// Triggers that found no room.
    triggers: u32,
    /// Packets of this cycle, and their bytes.
    pub(super) packets: Vec<Packet>,
    bytes: Vec<u8>,
    /// The byte of these from which on the synchronisation counter counts.
    counted_from: usize,
    /// Packets of one transfer.
    pub(super) scratch: Vec<Packet>,
}

impl Macrocell {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            count_in_sync: policy.count_in_sync,
            // ETM3-DO-001: no packet could say so.
            suppress_below: if parameters.data_only { 0 } else { policy.suppress_below.into() },
            branch_rules: BranchRules::new(parameters, policy.minimal_addresses),
            fifo: Fifo::new(parameters, policy),
            tracing: Tracing::Off,
            reason: Reason::TraceEnabled,
            gap: u64::MAX,
            programmed: true,
            schedule: Schedule::new(parameters, policy.sync_period),
            atoms: PendingAtoms::new(parameters.cycle_accurate, policy.pack_atoms),
            data: Data::new(parameters, policy),
            branch_base: BranchBase::default(),
            timestamps: Timestamps::new(parameters),
            place: None,
            context_id: 0,
            vmid: 0,
            triggers: 0,
            packets: Vec::new(),
            bytes: Vec::new(),
            counted_from: 0,
            scratch: Vec::new(),
            parameters: parameters.clone(),
        }
    }

    /// One cycle. `after` are the levels of the cycle after it.
    pub(super) fn cycle(&mut self, now: &Stimulus, after: Levels, sink: &mut dyn EncoderSink<ArmEtm>) {
        let expiry = self.schedule.tick();
        if expiry != Expiry::None {
            self.data.require_full();
            self.timestamps.want_full();
        }
        if now.clock_change {
            self.timestamps.note_clock_change();
        }
        self.trigger(now.trigger, sink);
        self.observe(now);
        if expiry == Expiry::Starved && self.tracing == Tracing::On {
            self.stop(Tracing::Overflowed);
            self.reason = Reason::Overflow;
        }
        self.trace(now, after, sink);
        self.fifo.end_cycle(sink);
    }

    /// The trace port goes on until the FIFO is empty, and triggers that waited for room go out. Atoms of which no
    /// P-header was made stay: only a cycle can make one.
    pub(super) fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        self.fifo.empty(sink);
        self.packets.clear();
        self.packets.extend((0..self.triggers).map(|_| Packet::Trigger));
        self.write_group();
        self.commit(sink);
        self.fifo.empty(sink);
    }

    /// Triggers go out at once, or as soon as there is room. Spec: ETM3-HDR-009 (7.10.2).
    fn trigger(&mut self, occurs: bool, sink: &mut dyn EncoderSink<ArmEtm>) {
        if occurs && self.parameters.bare_port {
            self.fifo.trigger();
            return;
        }
        self.triggers = self.triggers.saturating_add(occurs.into());
        if self.triggers == 0 {
            return;
        }
        let atoms = self.atoms;
        self.begin_group();
        self.atoms.flush(&mut self.packets);
        self.packets.extend((0..self.triggers).map(|_| Packet::Trigger));
        if self.write_group() {
            self.triggers = 0;
            self.commit(sink);
        } else {
            self.atoms = atoms;
        }
    }

    /// Records the levels, and stops tracing as they require.
    fn observe(&mut self, now: &Stimulus) {
        if now.reset {
            self.data.misses.clear();
            self.data.lsm = None;
        }
        if let Some(instruction) = &now.instruction {
            self.place = Some((instruction.address.0, self.shown(instruction.isa)));
        }
        if now.exception_entry {
            self.place = None;
        }
        // As ETM2-VNT-006: an LSM whose trace began is traced to its end.
        let finishing = self.data.lsm.is_some_and(|lsm| lsm.traced);
        match self.tracing {
            Tracing::On if now.debug || !(now.trace_enable || finishing) => self.stop(Tracing::Off),
            Tracing::Overflowed if self.fifo.is_empty() => self.tracing = Tracing::Off,
            _ => {}
        }
        if self.tracing == Tracing::Off {
            match (now.debug, now.trace_enable) {
                // An overflow before debug state stays the reason: ETMSR[0] holds it until the restart.
                (true, _) if self.reason != Reason::Overflow => self.reason = Reason::DebugExit,
                (false, false) => self.reason = Reason::TraceEnabled,
                _ => {}
            }
        }
    }

    fn stop(&mut self, tracing: Tracing) {
        self.tracing = tracing;
        if let Some(lsm) = &mut self.data.lsm {
            lsm.traced = false;
        }
    }

    /// The packets of the cycle go into the FIFO, or an overflow begins.
    ///
    /// Spec: ETM3-ENC-003 (6.10, 7.10.5).
    fn trace(&mut self, now: &Stimulus, after: Levels, sink: &mut dyn EncoderSink<ArmEtm>) {
        let (atoms, schedule, timestamps) = (self.atoms, self.schedule, self.timestamps);
        let programmed = self.programmed;
        self.begin_group();
        let roomy = self.fifo.free() >= SYNC_ROOM;
        let pressed = self.fifo.free() < self.suppress_below;
        self.answer(now);
        // Misses of a lost cycle have no placeholder.
        let data = self.data;
        let starts = self.starts(now);
        if starts {
            self.tracing = Tracing::On;
        }
        self.collect(now, after, starts, roomy, pressed);
        if self.write_group() {
            self.commit(sink);
        } else {
            let lsm = self.data.lsm;
            (self.atoms, self.schedule, self.timestamps) = (atoms, schedule, timestamps);
            self.programmed = programmed;
            self.data = data;
            self.data.lsm = lsm;
            self.stop(Tracing::Overflowed);
            self.reason = Reason::Overflow;
        }
        self.gap = if self.tracing == Tracing::On { 0 } else { self.gap.saturating_add(1) };
    }

    /// Whether tracing starts in this cycle.
    const fn starts(&self, now: &Stimulus) -> bool {
        let anything = self.parameters.data_only || now.instruction.is_some();
        matches!(self.tracing, Tracing::Off) && now.trace_enable && !now.debug && anything
    }

    /// No packets yet but the A-sync after programming, which is the first one. Spec: ETM3-SYN-019 (7.10.2).
    fn begin_group(&mut self) {
        self.packets.clear();
        if core::mem::take(&mut self.programmed) {
            self.align();
        }
    }

    /// The bytes of the packets; whether they fit.
    fn write_group(&mut self) -> bool {
        self.bytes.clear();
        self.counted_from = 0;
        for packet in &self.packets {
            if matches!(packet, Packet::AlignmentSync { .. }) {
                self.counted_from = self.bytes.len();
            }
            packet::append(packet, &self.parameters, &mut self.bytes);
        }
        self.bytes.len() <= self.fifo.free()
    }

    fn commit(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        self.data.note_latest(&self.packets);
        self.fifo.append(&self.bytes);
        self.schedule.generated(self.bytes.len().saturating_sub(self.counted_from));
        for packet in &self.packets {
            sink.packet(packet);
        }
    }

    /// Before ETMv3.3 there is no ThumbEE (ETM3-ISY-011).
    pub(super) const fn shown(&self, isa: Isa) -> Isa {
        match isa {
            Isa::ThumbEe if self.parameters.minor < 3 => Isa::Thumb,
            isa => isa,
        }
    }
}
