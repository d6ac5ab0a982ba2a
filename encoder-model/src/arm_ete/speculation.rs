//! Commit, Cancel, Mispredict (sheet 5.8, 7.7).

use traceproof_vectors::arm_ete::{Atoms, P0, P0Kind, Packet, State};

use super::field::{longest, padded};
use super::pipeline::{Block, Traced};
use super::unit::TraceUnit;

/// The most elements of a Cancel in a packet of format 2 or 3.
const SHORT_CANCEL: u32 = 5;

impl TraceUnit {
    /// The oldest P0 elements are resolved. Spec: ETE-QNLYJ-001, ETE-ZJJKY-001.
    pub(super) fn resolve(&mut self, count: u32) {
        if self.is_operative() {
            let elements = self.pipeline.commit(count);
            self.owe(elements);
        }
    }

    /// The youngest P0 elements never happened.
    ///
    /// Spec: ETE-HYCXR-001, ETE-FVRPZ-001, ETE-KGPTB-001, ETE-BDFDQ-001.
    pub(super) fn cancel(&mut self, count: u32, next: State) {
        if !self.is_operative() {
            self.from = next;
            return;
        }
        self.flush_q();
        let (mut left, mut oldest, mut linked) = (count, None, false);
        while left > 0
            && let Some(block) = self.pipeline.cancel(left)
        {
            left -= block.elements;
            linked |= block.stack.pushed;
            self.returns.undo(block.stack);
            oldest = Some(block);
        }
        let older = self.pipeline.cancel_older(left);
        if linked && self.policy.cancel_empties_return_stack {
            self.returns.clear();
        }
        match oldest.filter(|_| older == 0) {
            Some(block) => {
                self.left_out = block.left_out.filter(|_| !self.trace_on_due);
                self.resume(&block, next);
            }
            None => self.resume_anywhere(next),
        }
        let cancelled = count - left + older;
        if cancelled > 0 {
            self.hold_cancel(cancelled);
        }
        self.revise_transaction();
    }

    /// A decoder is where the oldest of the cancelled elements began.
    fn resume(&mut self, block: &Block, next: State) {
        let known = block.reaches(&next);
        self.from = if known { State { context: next.context, ..block.before } } else { next };
        self.address_due = !known;
        self.address_overrides = !known;
    }

    /// Where a decoder is, is not known.
    fn resume_anywhere(&mut self, next: State) {
        self.from = next;
        self.address_due = true;
        self.left_out = None;
        self.returns.clear();
    }

    /// P0 elements are cancelled in the trace.
    fn hold_cancel(&mut self, elements: u32) {
        self.flush_cancel();
        self.flush_commits();
        self.flush_events();
        self.held.cancel = elements;
        self.elements = self.elements.saturating_sub(elements.into());
        self.depth = self.depth.saturating_sub(elements);
        if self.context_at > self.elements {
            self.sent.forget();
        }
        self.repeat_after_cancel();
    }

    /// The youngest atom has the other outcome.
    ///
    /// Spec: ETE-YJCNT-001, ETE-NTMMM-001, ETE-ZCCBS-001, ETE-MDSCN-001.
    pub(super) fn mispredict(&mut self, next: State) {
        self.flush_q();
        if let Some(p0) = self.left_out {
            self.p0(&P0 { taken: true, next, ..p0 });
            return;
        }
        let open = self.pipeline.is_open();
        let youngest = self.pipeline.youngest();
        let context = youngest.before.context;
        match youngest.traced {
            Traced::Atom(p0) => {
                let taken = !p0.taken;
                youngest.traced = Traced::Atom(P0 { taken, next, ..p0 });
                self.returns.undo_pop(&mut youngest.stack);
                let indirect = matches!(p0.kind, P0Kind::Indirect | P0Kind::ExceptionReturn);
                let broadcast = self.parameters.branch_broadcast && p0.broadcast;
                self.address_due = taken && (indirect || broadcast);
                self.address_overrides = false;
                self.from = next;
                if self.is_operative() {
                    self.send_mispredict();
                    self.repeat_after_mispredict();
                }
            }
            Traced::Source(p0) if open => {
                self.cancel(1, State { address: p0.address, isa: p0.isa, context });
                self.p0(&P0 { taken: false, next, ..p0 });
            }
            _ => self.from = next,
        }
    }

    /// The youngest indirect P0 instruction went elsewhere: the corrected address follows, and no decoder pops.
    ///
    /// Spec: ETE-YMRGB-001.
    pub(super) fn redirect(&mut self, next: State) {
        self.flush_q();
        let youngest = self.pipeline.youngest();
        self.returns.undo_pop(&mut youngest.stack);
        self.from = next;
        self.address_due = true;
        self.address_overrides = false;
    }

    /// Mispredict, in one packet with a Cancel before it and with the atoms before that.
    ///
    /// Spec: ETE-PKT-MIS-001, ETE-PKT-CAN-001 to ETE-PKT-CAN-003 (sheet 7.10).
    fn send_mispredict(&mut self) {
        self.flush_commits();
        self.flush_events();
        let short = self.policy.short_cancels;
        let packet = match core::mem::take(&mut self.held.cancel) {
            0 => Packet::Mispredict { atoms: self.absorb(2) },
            1 if short => Packet::Cancel2 { atoms: self.absorb(2) },
            count @ 2..=SHORT_CANCEL if short => {
                let atom = self.held.atoms.ends_taken() && self.absorb(1).is_some();
                Packet::Cancel3 { atom, count: count as u8 }
            }
            count => {
                let count = padded(count.into(), longest::WORD, &self.policy);
                Packet::Cancel1 { count, mispredict: true }
            }
        };
        self.flush_atoms();
        self.push(packet);
    }

    /// The youngest atoms, which travel with the Mispredict.
    fn absorb(&mut self, most: u8) -> Option<Atoms> {
        if self.policy.atoms_in_mispredicts { self.held.atoms.take_youngest(most) } else { None }
    }
}
