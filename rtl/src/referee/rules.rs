//! Which packets an instruction or a trap asks for.

use core::mem::take;

use traceproof_vectors::riscv_etrace::{Packet, QualStatus, SyncMode};

use super::{Flag, Latest, Reason, Referee, TrapField, Wanted, modes};
use crate::{Item, ItemKind};

impl Referee<'_> {
    pub(super) fn retire(&mut self, index: usize, item: &Item) {
        let previous = self.neighbour(index, -1);
        self.arrive(previous, item.address());
        if let Some(taken) = item.taken() {
            self.outcome(taken);
            self.predict(item, taken);
        }
        self.expand_index();
        self.latest = Latest::None;
        let traced_before = previous.filter(|previous| previous.qualified && !is_marker(previous));
        let changed = traced_before.is_some_and(|previous| precisely_changed(previous, item));
        let after_trap = previous.filter(|previous| previous.is_trap());
        if item.ctype == 1 {
            // Without a context there is nothing that the packet must report.
            let must = self.contexts.1 || self.device.parameters.context_width() > 0;
            self.contexts = (self.contexts.0 + 1, must);
            self.imprecise_context(item);
        }
        let resync_next = take(&mut self.resync_next);
        if after_trap.is_some() {
            self.handler(index, item);
        } else if traced_before.is_none() {
            self.settle(item, Reason::First, Wanted::Start);
        } else if changed {
            let reason = if item.ctype >= 2 { Reason::Context } else { Reason::Privilege };
            self.settle(item, reason, Wanted::Start);
        } else if resync_next || self.starts_resync(item) {
            self.ruling.resyncs += 1;
            self.settle(item, Reason::Resync, Wanted::Start);
        } else {
            self.address(index, item, traced_before.is_some_and(|before| self.comes_from_updiscon(before)));
        }
        self.full_map_of_device();
        self.leave(item, previous, self.latest == Latest::Sync);
        self.trap_reported = false;
        self.open_interrupt = false;
    }

    /// The first instruction after a trap. Spec: RVET-ENC-003, RVET-ENC-021, RVET-ENC-022.
    fn handler(&mut self, index: usize, item: &Item) {
        let trap = index.wrapping_sub(1);
        let separate = self.open_interrupt && !self.trap_reported && self.next_is_separate(trap);
        if separate {
            self.ruling.separate_interrupts += 1;
            let address = TrapField::Undefined;
            self.settle(item, Reason::InterruptAtTarget, Wanted::Trap { trap, handler: false, address });
        }
        if self.trap_reported || separate {
            self.settle(item, Reason::HandlerAfterReport, Wanted::Start);
        } else {
            self.settle(
                item,
                Reason::Handler,
                Wanted::Trap { trap, handler: true, address: TrapField::Item },
            );
        }
    }

    /// Whether a trap packet without handler comes for this trap, and then a start packet or the end.
    pub(super) fn next_is_separate(&self, trap: usize) -> bool {
        let Some(ItemKind::Trap { interrupt, cause, .. }) = self.items.get(trap).map(|item| item.kind) else {
            return false;
        };
        matches!(self.peek(), Some(Packet::Trap { thaddr: false, interrupt: i, ecause, .. })
            if *i == interrupt && *ecause == cause)
            && matches!(self.packet(self.at + 1), Some(Packet::Start { .. } | Packet::Support { .. }))
    }

    /// An instruction without synchronisation packet. Spec: RVET-ENC-015 to 019, RVET-ENC-029, RVET-ENC-036.
    fn address(&mut self, index: usize, item: &Item, after_updiscon: bool) {
        let next = self.neighbour(index, 1);
        let traced = next.filter(|next| next.qualified && !is_marker(next));
        let change = traced.filter(|next| !next.is_trap() && precisely_changed(item, next));
        let asked =
            matches!(item.kind, ItemKind::Retire { notify: true, .. }) && self.device.policy.triggers.notify;
        let resync = self.flushes_for_resync();
        let notify = if after_updiscon {
            Flag::Is(false)
        } else if asked
            && (next.is_none() || traced.is_none() || traced.is_some_and(Item::is_trap) || change.is_some())
        {
            Flag::Any
        } else {
            Flag::Is(asked)
        };
        let reason = if after_updiscon {
            Reason::Updiscon
        } else if asked {
            Reason::Notify
        } else if traced.is_none() {
            Reason::Final
        } else if traced.is_some_and(Item::is_trap) {
            Reason::BeforeTrap
        } else if change.is_some_and(|next| next.ctype == 3 || (next.ctype == 2 && !self.pending.is_empty()))
        {
            Reason::BeforeContext
        } else if change.is_some() && !self.pending.is_empty() {
            Reason::BeforePrivilege
        } else if resync {
            Reason::Resync
        } else if self.counts() && self.kept.missed && item.taken().is_some() {
            return self.count_alone(item);
        } else if self.pending.len() >= 31 && !self.counts() {
            return self.settle(item, Reason::FullMap, Wanted::FullMap);
        } else {
            return self.unexpected_here(item);
        };
        let follows = traced.is_some_and(Item::is_trap) || change.is_some() || resync;
        let updiscon = after_updiscon && (follows || (traced.is_none() && self.end_is_flagged()));
        self.resync_next = resync && traced.is_some();
        if self.counts() {
            self.count_with_address(item, reason);
        }
        self.settle(item, reason, Wanted::Address { updiscon, notify });
    }

    /// Whether the device knows early that this is the last instruction: then it may set the updiscon flag, and must
    /// end with `ended_rep`. Spec: RVET-ENC-034.
    fn end_is_flagged(&self) -> bool {
        let flagged = matches!(
            self.peek(),
            Some(
                Packet::Address { updiscon: true, .. }
                    | Packet::Branch { updiscon: true, .. }
                    | Packet::BranchCount { updiscon: true, .. }
            )
        );
        let after = self.packet(self.at + 1);
        flagged && matches!(after, Some(Packet::Support { qual_status: QualStatus::EndedRep, .. }))
    }

    pub(super) fn trap(&mut self, index: usize, item: &Item) {
        let ItemKind::Trap { interrupt, epc, .. } = item.kind else { return };
        let previous = self.neighbour(index, -1);
        let traced_before = previous.filter(|previous| previous.qualified && !is_marker(previous));
        self.arrive(previous, epc);
        let at_target = traced_before.is_none_or(|before| self.comes_from_updiscon(before));
        self.kept.flow = modes::Flow::Usual;
        match traced_before {
            Some(previous) if previous.is_trap() => {
                let reported = self.trap_reported;
                let trap = if reported { index } else { index - 1 };
                let address = match (reported, epc) {
                    (true, Some(epc)) => TrapField::Is(epc),
                    _ => TrapField::Undefined,
                };
                self.settle(item, Reason::Chained, Wanted::Trap { trap, handler: false, address });
                self.trap_reported = reported;
            }
            _ if at_target && !interrupt => {
                let address = TrapField::Is(epc.unwrap_or_default());
                self.settle(
                    item,
                    Reason::ExceptionAtTarget,
                    Wanted::Trap { trap: index, handler: false, address },
                );
                self.trap_reported = true;
            }
            _ if at_target => {
                // In a chain the first packet is the same in both forms.
                self.open_interrupt = self.neighbour(index, 1).is_some_and(Item::is_trap);
                self.trap_reported = !self.open_interrupt && self.next_is_separate(index);
                if self.trap_reported {
                    self.ruling.separate_interrupts += 1;
                    let address = TrapField::Undefined;
                    let wanted = Wanted::Trap { trap: index, handler: false, address };
                    self.settle(item, Reason::InterruptAtTarget, wanted);
                }
            }
            _ => self.trap_reported = false,
        }
    }

    /// Spec: RVET-ENC-041. The packet may come at any time after the change.
    pub(super) fn imprecise_context(&mut self, item: &Item) {
        while self.contexts.0 > 0 && matches!(self.peek(), Some(Packet::Context { .. })) {
            self.contexts = (self.contexts.0 - 1, false);
            self.settle(item, Reason::Imprecise, Wanted::Context);
        }
    }

    /// Whether the packet is about the current instruction, as far as the decoder knows.
    pub(super) fn is_about_now(&self, packet: usize) -> bool {
        self.reported.is_none_or(|reported| reported.get(packet) == Some(&self.retired))
    }

    fn may_resync(&self) -> bool {
        self.device.policy.sync_mode != SyncMode::Off
    }

    /// A start packet for this instruction that nothing but the timer can cause.
    fn starts_resync(&self, item: &Item) -> bool {
        self.may_resync()
            && self.is_about_now(self.at)
            && matches!(self.peek(), Some(Packet::Start { address, .. }) if Some(address.0) == item.address())
    }

    /// An address packet for this instruction, and a start packet for the next one.
    fn flushes_for_resync(&self) -> bool {
        let about = |packet: usize, retired: u64| {
            self.reported.is_some_and(|reported| reported.get(packet) == Some(&retired))
        };
        self.may_resync()
            && about(self.at, self.retired)
            && about(self.at + 1, self.retired + 1)
            && matches!(
                self.peek(),
                Some(
                    Packet::Address { .. }
                        | Packet::Branch { address: Some(_), .. }
                        | Packet::BranchCount { address: Some(_), .. }
                )
            )
            && matches!(self.packet(self.at + 1), Some(Packet::Start { .. }))
    }
}

pub(super) const fn is_marker(item: &Item) -> bool {
    matches!(item.kind, ItemKind::Enable { .. } | ItemKind::Break { .. })
}

/// Spec: RVET-ENC-004, RVET-ENC-042, RVET-ENC-043.
pub(super) const fn precisely_changed(before: &Item, item: &Item) -> bool {
    before.privilege != item.privilege || item.ctype >= 2
}
