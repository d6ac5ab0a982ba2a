//! Cycle by cycle: what is traced, the packets of it, and what the port carries.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v2::{Cycle, Pipestat};
use traceproof_vectors::arm_etm::{
    Access, ArmEtm, BranchTarget, CompressedAddress, Instruction, Isa, Packet, Parameters, Policy, Position,
    Reason, Stimulus, Transfer,
};
use traceproof_vectors::{Address32, EncoderSink};

use super::compression::InstructionBase;
use super::conventions::{miss_data_travel, sets_exception_bit};
use super::packet;
use super::port::Port;
use super::sync_timer::SyncTimer;
use super::transfers::{DataRules, DataState, Lsm, Treatment, is_last};
use crate::arm_etm::compression::DataBase;
use crate::arm_etm::misses::MissTable;

/// Whether instructions are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tracing {
    /// A TFO must come first.
    Off,
    /// Yes.
    On,
    /// No: something did not fit in the FIFO, which drains now.
    Overflowed,
}

/// A macrocell between two cycles.
#[derive(Debug)]
pub(super) struct Macrocell {
    parameters: Parameters,
    minimal_addresses: bool,
    rules: DataRules,
    port: Port,
    tracing: Tracing,
    /// What the next TFO that starts tracing gives as reason.
    reason: Reason,
    timer: SyncTimer,
    data: DataState,
    branch_base: InstructionBase,
    lsm: Option<Lsm>,
    /// Address and state of the instruction that completed last.
    latest: (u32, Isa),
    context_id: u32,
    /// Records that the capture still misses.
    lost_records: u64,
    /// Packets of this cycle, and their bytes.
    packets: Vec<Packet>,
    bytes: Vec<u8>,
}

impl Macrocell {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            minimal_addresses: policy.minimal_addresses,
            rules: DataRules::new(parameters, policy),
            port: Port::new(parameters, policy.fifo_size),
            tracing: Tracing::Off,
            reason: Reason::TraceEnabled,
            timer: SyncTimer::new(policy.sync_period),
            data: DataState { base: DataBase::default(), misses: MissTable::new(policy) },
            branch_base: InstructionBase::default(),
            lsm: None,
            latest: (0, Isa::Arm),
            context_id: 0,
            lost_records: policy.capture_from,
            packets: Vec::new(),
            bytes: Vec::new(),
            parameters: parameters.clone(),
        }
    }

    /// One cycle. `next` is what the cycle after it brings: the TFO packet of a start of tracing stands in the cycle
    /// before the first traced instruction, whose address it holds (ETM2-TFO-011).
    pub(super) fn cycle(
        &mut self,
        now: &Stimulus,
        next: Option<&Stimulus>,
        sink: &mut dyn EncoderSink<ArmEtm>,
    ) {
        self.port.begin_cycle();
        self.observe(now);
        let expired = self.timer.tick();
        if expired {
            self.data.base.require_full();
        }
        let first = next.filter(|next| is_wanted(next)).and_then(|next| next.instruction.as_ref());
        let status = match first {
            Some(first) if self.tracing == Tracing::Off && self.port.can_announce() => {
                self.start(now, first, sink)
            }
            _ => self.trace(now, expired, sink),
        };
        let cycle = self.port.record(status, now.trigger);
        if self.lost_records > 0 {
            self.lost_records -= 1;
            return;
        }
        let bytes = cycle.to_bytes(&self.parameters);
        let size = Cycle::size(&self.parameters);
        sink.wire(bytes.get(..size).unwrap_or_default());
    }

    /// Whether the port has nothing more to output.
    pub(super) fn is_drained(&self) -> bool {
        self.port.is_empty()
    }

    /// Records the levels, and stops tracing as they require.
    fn observe(&mut self, now: &Stimulus) {
        if now.reset {
            self.data.misses.clear();
            self.lsm = None;
        }
        if let Some(instruction) = &now.instruction {
            self.latest = (instruction.address.0, instruction.isa);
        }
        // ETM2-VNT-006: an LSM whose trace began is traced to its end.
        let finishing = self.lsm.is_some_and(|lsm| lsm.traced);
        match self.tracing {
            Tracing::On if now.debug || !(now.trace_enable || finishing) => self.stop(Tracing::Off),
            Tracing::Overflowed if self.port.is_empty() => self.tracing = Tracing::Off,
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
        if let Some(lsm) = &mut self.lsm {
            lsm.traced = false;
        }
    }

    /// The cycle's packets do not go into the FIFO, and tracing starts again when it is empty.
    ///
    /// Spec: ETM2-FIFO-002 (6.10).
    fn overflow(&mut self) -> Pipestat {
        self.stop(Tracing::Overflowed);
        self.reason = Reason::Overflow;
        self.wait(false)
    }

    /// The status of a cycle without instruction and packets. Spec: ETM2-PS-008, ETM2-TRG-004 (6.1.6, 6.1.7).
    fn wait(&self, trigger: bool) -> Pipestat {
        if self.port.is_empty() && !trigger { Pipestat::Td } else { Pipestat::Wt }
    }

    /// The TFO cycle before the first traced instruction. Miss data that arrive in it are lost (ETM2-LM-030), and what
    /// else happens in it is not traced.
    fn start(&mut self, now: &Stimulus, first: &Instruction, sink: &mut dyn EncoderSink<ArmEtm>) -> Pipestat {
        for transfer in &now.transfers {
            self.follow(transfer, false);
        }
        for answer in &now.returns {
            self.data.misses.answer(answer.miss);
        }
        self.context_id = now.context_id.unwrap_or(self.context_id);
        let address = first.phantom.map_or(first.address, |phantom| phantom.address);
        if !self.synchronise(self.reason, address.0, first.isa, self.lsm, sink) {
            return self.overflow_at(now.trigger);
        }
        self.tracing = Tracing::On;
        self.data.base.forget();
        self.timer.restart();
        if let Some(lsm) = &mut self.lsm {
            (lsm.traced, lsm.output) = (true, false);
        }
        Pipestat::Td
    }

    fn overflow_at(&mut self, trigger: bool) -> Pipestat {
        match self.overflow() {
            Pipestat::Td if trigger => Pipestat::Wt,
            status => status,
        }
    }

    /// Places a TFO packet in the FIFO and announces it, if it fits.
    ///
    /// Spec: ETM2-TFO-002, 006, 020, 021 (6.5).
    fn synchronise(
        &mut self,
        reason: Reason,
        address: u32,
        isa: Isa,
        lsm: Option<Lsm>,
        sink: &mut dyn EncoderSink<ArmEtm>,
    ) -> bool {
        let (full, full_isa) = lsm.map_or((address, isa), |lsm| (lsm.address, lsm.isa));
        let jazelle = full_isa == Isa::Jazelle && self.parameters.tfo_jazelle;
        // Without J bit (PC-2b) Java state looks like the state that bit 0 of the address gives.
        let shown = match full_isa {
            Isa::Jazelle if !jazelle && full & 1 == 1 => Isa::Thumb,
            Isa::Jazelle if !jazelle => Isa::Arm,
            isa => isa,
        };
        let mut base = InstructionBase::new(full, shown);
        let under_lsm = lsm.map(|_| base.compress(address, isa, self.minimal_addresses));
        let packet = Packet::TraceFifoOffset {
            reason,
            jazelle,
            context_id: (self.parameters.context_id_bytes > 0).then(|| self.visible(self.context_id)),
            address: Address32(full | u32::from(full_isa == Isa::Thumb)),
            under_lsm,
        };
        self.bytes.clear();
        packet::append(&packet, &self.parameters, &mut self.bytes);
        if !self.port.fits(self.bytes.len()) {
            return false;
        }
        self.port.announce();
        self.port.append(&self.bytes);
        self.branch_base = base;
        sink.packet(&packet);
        true
    }

    /// A cycle that does not start tracing: its packets as one group, all of them or none.
    fn trace(&mut self, now: &Stimulus, expired: bool, sink: &mut dyn EncoderSink<ArmEtm>) -> Pipestat {
        let on = self.tracing == Tracing::On;
        self.packets.clear();
        self.answer(now);
        // Misses of a dropped group have no placeholder.
        let misses = self.data.misses;
        self.collect(now, on);
        // ETM2-TFO-014: no opportunity for a whole period.
        let starved = expired && on && self.timer.request();
        self.bytes.clear();
        let count = self.packets.len();
        for (index, packet) in self.packets.iter_mut().enumerate() {
            set_more(packet, index + 1 < count);
            packet::append(packet, &self.parameters, &mut self.bytes);
        }
        if starved || !self.port.fits(self.bytes.len()) {
            self.data.misses = misses;
            return self.overflow_at(now.trigger);
        }
        self.port.append(&self.bytes);
        for packet in &self.packets {
            sink.packet(packet);
        }
        let has_packets = count > 0;
        match &now.instruction {
            Some(instruction) if on => {
                let status = instruction_status(instruction, has_packets);
                if status == Pipestat::Ie && self.synchronise_periodically(instruction, sink) {
                    Pipestat::Td
                } else {
                    status
                }
            }
            _ if has_packets => Pipestat::Dw,
            _ => self.wait(now.trigger),
        }
    }

    /// Spec: ETM2-TFO-012, 013, 015 (6.4.3, 6.5.1): only a plain IE is replaced.
    fn synchronise_periodically(
        &mut self,
        instruction: &Instruction,
        sink: &mut dyn EncoderSink<ArmEtm>,
    ) -> bool {
        let sent = self.timer.is_due()
            && self.port.can_announce()
            && self.synchronise(Reason::Periodic, instruction.address.0, instruction.isa, None, sink);
        if sent {
            self.timer.restart();
        }
        sent
    }

    /// Miss data whose placeholder was traced, whatever is traced now. Spec: ETM2-LM-012 to 014 (6.4.3).
    fn answer(&mut self, now: &Stimulus) {
        for answer in &now.returns {
            if let Some(miss) = self.data.misses.answer(answer.miss)
                && self.tracing != Tracing::Overflowed
                && miss_data_travel(self.parameters.data_value)
            {
                self.rules.miss_data(miss, answer.value, &mut self.packets);
            }
        }
    }

    /// The other packets of the cycle, in the order of PC-10.
    fn collect(&mut self, now: &Stimulus, on: bool) {
        for transfer in &now.transfers {
            let treatment = self.follow(transfer, on && now.view_data);
            match transfer.access {
                Access::Coprocessor if on => self.rules.coprocessor(transfer, &mut self.packets),
                Access::Coprocessor => {}
                _ if !on || !self.rules.is_on() => {}
                _ => self.rules.transfer(transfer, treatment, &mut self.data, &mut self.packets),
            }
        }
        if let Some(context_id) = now.context_id {
            // ETM2-CTX-002, 003: only bytes that travel can change.
            if on && self.visible(context_id) != self.visible(self.context_id) {
                self.packets.push(Packet::ContextId { more: false, value: self.visible(context_id) });
            }
            self.context_id = context_id;
        }
        if let Some(target) = now.instruction.as_ref().and_then(|instruction| instruction.branch)
            && on
            && (!target.direct || target.exception.is_some() || self.parameters.branch_broadcast)
        {
            let address = self.branch(&target);
            self.packets.push(Packet::BranchAddress(address));
        }
    }

    /// The address of a branch or vector. Spec: ETM2-EXC-001, 003 to 005, 007 (4.5.3, 6.8.1).
    fn branch(&mut self, target: &BranchTarget) -> CompressedAddress {
        let BranchTarget { address, isa, exception, .. } = *target;
        if exception.as_ref().is_some_and(sets_exception_bit) {
            self.branch_base.exception(address.0, isa)
        } else {
            self.branch_base.compress(address.0, isa, self.minimal_addresses)
        }
    }

    /// Records a transfer's place in its instruction, and returns the decision of the filters.
    fn follow(&mut self, transfer: &Transfer, view_data: bool) -> Treatment {
        if transfer.access == Access::Coprocessor {
            return Treatment::Untraced;
        }
        let on = self.tracing == Tracing::On;
        let treatment = match transfer.position {
            Position::Only => {
                // An LSM may still be transferring around it.
                return if on && view_data { Treatment::Traced { first: true } } else { Treatment::Untraced };
            }
            Position::First => {
                let (address, isa) = self.latest;
                self.lsm.insert(Lsm { address, isa, traced: on, output: false }).treat(view_data)
            }
            Position::Middle | Position::Last => {
                self.lsm.as_mut().map_or(Treatment::Untraced, |lsm| lsm.treat(view_data))
            }
        };
        if is_last(transfer.position) {
            self.lsm = None;
        }
        treatment
    }

    /// The part of a Context ID that travels. Spec: ETM-GEN-002 (3.5.1).
    const fn visible(&self, context_id: u32) -> u32 {
        match self.parameters.context_id_bytes {
            0 => 0,
            1 => context_id & 0xff,
            2 => context_id & 0xffff,
            _ => context_id,
        }
    }
}

const fn is_wanted(cycle: &Stimulus) -> bool {
    cycle.trace_enable && !cycle.debug
}

/// Spec: ETM2-PS-001 to 006 (6.1), ETM2-EXC-001 (4.5.3).
const fn instruction_status(instruction: &Instruction, has_packets: bool) -> Pipestat {
    use Pipestat::{De, Dn, Ie, In, PnDe, PnDn, PnIe, PnIn, PtDe, PtDn, PtIe, PtIn};
    // What an exception interrupts has a branch address and counts as executed, whatever becomes of it.
    let interrupted = matches!(instruction.branch, Some(BranchTarget { exception: Some(_), .. }));
    let [plain, taken, not_taken] = match (instruction.executed || interrupted, has_packets) {
        (true, false) => [Ie, PtIe, PnIe],
        (true, true) => [De, PtDe, PnDe],
        (false, false) => [In, PtIn, PnIn],
        (false, true) => [Dn, PtDn, PnDn],
    };
    match instruction.phantom {
        None => plain,
        Some(phantom) if phantom.taken => taken,
        Some(_) => not_taken,
    }
}

/// C bit; branch address and TFO packets have none. Spec: ETM2-CB-001, 002 (6.4.1).
const fn set_more(packet: &mut Packet, following: bool) {
    match packet {
        Packet::NormalData { more, .. }
        | Packet::LoadMissOccurred { more, .. }
        | Packet::LoadMissData { more, .. }
        | Packet::ValueNotTraced { more, .. }
        | Packet::ContextId { more, .. } => *more = following,
        _ => {}
    }
}
