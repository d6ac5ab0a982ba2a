//! The packets of one cycle, in order.

use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{
    BranchTarget, Instruction, Isa, Packet, Position, Reason, Stimulus, Transfer,
};

use super::atoms::Atom;
use super::branches::Levels;
use super::data::{Filters, Lsm};
use super::macrocell::{Macrocell, Tracing};
use traceproof_vectors::Address32;

impl Macrocell {
    /// Miss data whose placeholder was traced, whatever is traced now. Spec: ETM3-OOO-004 (6.4.3).
    pub(super) fn answer(&mut self, now: &Stimulus) {
        for answer in &now.returns {
            let Some(miss) = self.data.misses.answer(answer.miss) else { continue };
            // Nothing of the cycle is traced while an overflow drains; in debug state nothing waits for the data.
            if self.tracing != Tracing::Overflowed && !now.debug {
                self.scratch.clear();
                self.data.miss_data(miss, answer.value, &mut self.scratch);
                self.append_scratch();
            }
        }
    }

    /// An A-sync. Spec: ETM3-SYN-002 (7.10.2, 7.10.4).
    pub(super) fn align(&mut self) {
        self.schedule.restart();
        self.push(Packet::AlignmentSync { zeros: 5 });
    }

    /// The other packets.
    pub(super) fn collect(
        &mut self,
        now: &Stimulus,
        after: Levels,
        starts: bool,
        roomy: bool,
        pressed: bool,
    ) {
        if self.tracing == Tracing::Off {
            // What was traced goes out.
            self.atoms.flush(&mut self.packets);
        }
        let on = self.tracing == Tracing::On;
        if on {
            self.synchronise(now, starts, roomy);
        }
        let filters = Filters { on, view_data: now.view_data, pressed };
        let (earlier, own) = now.transfers.split_at(earlier(now));
        self.transfers(earlier, filters);
        let instruction = now.instruction.filter(|_| on && !self.parameters.data_only);
        let returns = instruction.is_some_and(|instruction| self.is_exit(&instruction));
        if on && self.parameters.cycle_accurate {
            self.atoms.push(Atom::W, &mut self.packets);
        }
        if let Some(instruction) = instruction {
            self.execute(&instruction, now);
        }
        if returns && !self.parameters.m_profile {
            self.push(Packet::ExceptionExit);
        }
        if on && now.exception_entry && self.parameters.m_profile && self.data.is_traced() {
            self.push(Packet::ExceptionEntry);
        }
        self.transfers(own, filters);
        if returns && self.parameters.m_profile {
            self.push(Packet::ExceptionExit);
        }
        self.contexts(now, on);
        if let Some(target) = instruction.and_then(|instruction| instruction.branch)
            && (target.exception.is_some() || !target.direct || self.parameters.branch_broadcast)
        {
            self.branch(target, after);
        }
        if on {
            self.timestamp(now, roomy);
        }
    }

    /// A-sync and I-sync before the first traced instruction after the end of a period, and where tracing starts.
    ///
    /// Spec: ETM3-SYN-008 to 010, 012, 017, ETM3-CC-003 (7.10).
    fn synchronise(&mut self, now: &Stimulus, starts: bool, roomy: bool) {
        if starts {
            self.data.suppressing = false;
        }
        let traced = now.instruction.is_some() || self.parameters.data_only;
        let due = self.schedule.is_due() && traced;
        let possible = roomy && !self.data.suppressing && (starts || self.data.lsm.is_none());
        if due && possible {
            self.align();
        } else if due {
            self.schedule.deny();
        }
        if starts {
            self.data.forget_base();
            self.timestamps.want();
            self.instruction_sync(self.reason, now);
            if let Some(lsm) = &mut self.data.lsm {
                lsm.announce();
            }
        } else if due && possible {
            self.instruction_sync(Reason::Periodic, now);
        }
    }

    /// Spec: ETM3-ISY-001 to 009 (7.10.5).
    fn instruction_sync(&mut self, reason: Reason, now: &Stimulus) {
        let levels = Levels { non_secure: now.non_secure, hyp: now.hyp && self.parameters.virtualization };
        let place = now.instruction.filter(|_| !self.parameters.data_only).map(|instruction| {
            let address = instruction.phantom.map_or(instruction.address, |phantom| phantom.address);
            (address.0, self.shown(instruction.isa))
        });
        let in_progress = self.data.lsm.and_then(|lsm: Lsm| lsm.place).filter(|_| place.is_some());
        let reported = in_progress.or(place);
        let isa = reported.map_or(Isa::Arm, |(_, isa)| isa);
        if let Some((address, isa)) = reported {
            self.branch_base.set(address, isa, levels);
        }
        let under_lsm = place
            .filter(|_| in_progress.is_some())
            .map(|(address, isa)| self.branch_base.current(&self.branch_rules, address, isa));
        let count =
            (reason != Reason::Periodic && self.parameters.cycle_accurate).then(|| cycle_count(self.gap));
        let thumb = matches!(isa, Isa::Thumb | Isa::ThumbEe);
        self.push(Packet::InstructionSync {
            cycle_count: count.filter(|_| self.count_in_sync),
            context_id: (self.parameters.context_id_bytes > 0).then(|| self.visible(self.context_id)),
            reason,
            jazelle: isa == Isa::Jazelle,
            non_secure: levels.non_secure,
            alt_isa: isa == Isa::ThumbEe,
            hyp: levels.hyp,
            address: reported
                .map(|(address, _)| address & !u32::from(thumb) | u32::from(thumb))
                .map(Address32),
            under_lsm,
        });
        if let Some(count) = count.filter(|_| !self.count_in_sync) {
            self.push(Packet::CycleCount(count));
        }
        // ETM3-VMID-001: the reset value, too.
        if self.parameters.vmid {
            self.push(Packet::Vmid(self.vmid));
        }
    }

    /// Atoms of the instruction, and what comes between them. Spec: ETM3-PH-014 (7.3.1).
    fn execute(&mut self, instruction: &Instruction, now: &Stimulus) {
        let isa = self.shown(instruction.isa);
        if let Some(phantom) = instruction.phantom {
            self.atoms.push(if phantom.taken { Atom::E } else { Atom::N }, &mut self.packets);
            if phantom.taken && self.parameters.branch_broadcast {
                let target = BranchTarget { address: instruction.address, isa, ..BranchTarget::default() };
                self.branch(target, Levels { non_secure: now.non_secure, hyp: now.hyp });
            }
        }
        let halves = instruction.thumb32
            && matches!(isa, Isa::Thumb | Isa::ThumbEe)
            && !self.parameters.thumb32_single;
        let atom = if instruction.executed { Atom::E } else { Atom::N };
        for _ in 0..1 + u8::from(halves) {
            self.atoms.push(atom, &mut self.packets);
        }
    }

    /// Whether it makes an exception exit packet. Spec: ETM3-MISC-003 (7.5, 7.6).
    const fn is_exit(&self, instruction: &Instruction) -> bool {
        let known = self.parameters.minor >= 5 || self.parameters.m_profile;
        instruction.exception_return && instruction.executed && known
    }

    fn branch(&mut self, target: BranchTarget, levels: Levels) {
        let target = BranchTarget { isa: self.shown(target.isa), ..target };
        let packet = self.branch_base.branch(&self.branch_rules, &target, levels);
        self.push(packet);
    }

    fn transfers(&mut self, transfers: &[Transfer], filters: Filters) {
        for transfer in transfers {
            self.data.note_latest(&self.packets);
            if !self.atoms.is_empty() {
                self.data.part();
            }
            self.scratch.clear();
            self.data.transfer(transfer, filters, self.place, &mut self.scratch);
            self.append_scratch();
        }
    }

    /// Spec: ETM3-MISC-001, 002 (7.3.6), ETM3-VMID-002, 003 (7.3.7).
    fn contexts(&mut self, now: &Stimulus, on: bool) {
        if let Some(context_id) = now.context_id {
            // Only bytes that travel can change.
            if on && self.visible(context_id) != self.visible(self.context_id) {
                self.push(Packet::ContextId { more: false, value: self.visible(context_id) });
            }
            self.context_id = context_id;
        }
        // ETM3-VMID-003: a reset writes 0.
        if let Some(vmid) = now.vmid.or(now.reset.then_some(0)) {
            if on && self.parameters.vmid && self.vmid != vmid {
                self.push(Packet::Vmid(vmid));
            }
            self.vmid = vmid;
        }
    }

    fn timestamp(&mut self, now: &Stimulus, roomy: bool) {
        if now.timestamp_event {
            self.timestamps.want();
        }
        // A T-sync is long and may wait.
        if (roomy || !self.timestamps.is_full())
            && let Some(packet) = self.timestamps.take(now.timestamp)
        {
            self.push(packet);
        }
    }

    /// Atoms before a packet go out first. Spec: ETM3-ENC-001 (7.3).
    fn push(&mut self, packet: Packet) {
        self.atoms.flush(&mut self.packets);
        self.packets.push(packet);
    }

    fn append_scratch(&mut self) {
        if !self.scratch.is_empty() {
            self.atoms.flush(&mut self.packets);
            self.packets.append(&mut self.scratch);
        }
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

/// How many of the transfers, the first ones, belong to an earlier LSM although this cycle's instruction has transfers
/// itself: their packets must precede its atom (ETM3-ENC-002).
fn earlier(now: &Stimulus) -> usize {
    let begins = |transfer: &Transfer| matches!(transfer.position, Position::Only | Position::First);
    match now.transfers.iter().position(begins) {
        Some(count) if now.instruction.is_some() => count,
        _ => 0,
    }
}

/// Spec: ETM3-CC-001 (7.2), ETM3-CC-007 (7.3.4); 0 if the cycles were too many to count.
fn cycle_count(cycles: u64) -> VariableField {
    let bits = u32::try_from(cycles).map_or(0, u64::from);
    let width = u64::BITS - bits.leading_zeros();
    VariableField { bits, bytes: width.div_ceil(7).clamp(1, 5) as u8 }
}
