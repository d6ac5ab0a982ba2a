//! Commit, Cancel, Mispredict (sheet 5.8, 7.7).

use traceproof_vectors::arm_ete::{Atoms, P0, P0Kind, Packet, State};

use super::field::padded;
use super::packet::longest;
use super::pipeline::Traced;
use super::unit::TraceUnit;

/// The most elements of a Cancel in a packet of format 2 or 3.
const SHORT_CANCEL: u32 = 5;

impl TraceUnit {
    /// The oldest signals are resolved. Spec: ETE-R_QNLYJ-1, ETE-R_ZJJKY-1.
    pub(super) fn resolve(&mut self, count: u32) {
        let elements = self.pipeline.resolve(count as usize);
        if self.is_operative() {
            self.owe(elements);
        }
    }

    /// The youngest signals never happened.
    ///
    /// Spec: ETE-R_HYCXR-1, ETE-R_FVRPZ-1, ETE-R_KGPTB-1, ETE-R_BDFDQ-1.
    pub(super) fn cancel(&mut self, count: u32, next: State) {
        self.flush_q();
        let (mut elements, mut position, mut linked) = (0, None, false);
        for _ in 0..count {
            let Some(block) = self.pipeline.cancel() else { break };
            self.returns.undo(block.stack);
            linked |= block.stack.pushed;
            if block.elements > 0 {
                elements += block.elements;
                position = Some(block.before);
            }
        }
        if linked && self.policy.cancel_empties_return_stack {
            self.returns.clear();
        }
        let youngest = self.pipeline.youngest();
        let resume = State { context: next.context, ..youngest.after };
        self.left_out = youngest.left_out && !self.trace_on_due;
        self.from = resume;
        if let Some(position) = position.filter(|_| self.is_operative()) {
            self.hold_cancel(elements);
            // A decoder goes on where the oldest of the cancelled elements began.
            self.address_due = self.location(&position) != self.location(&resume);
        }
        self.revise_transaction();
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
    /// Spec: ETE-R_YJCNT-1, ETE-R_NTMMM-1, ETE-R_ZCCBS-1, ETE-I_MDSCN-1.
    pub(super) fn mispredict(&mut self, next: State) {
        self.flush_q();
        let traced = self.pipeline.youngest().traced;
        match traced {
            Traced::Atom(p0) => {
                let taken = !p0.taken;
                let youngest = self.pipeline.youngest();
                youngest.traced = Traced::Atom(P0 { taken, next, ..p0 });
                self.returns.undo_pop(&mut youngest.stack);
                let indirect = matches!(p0.kind, P0Kind::Indirect | P0Kind::ExceptionReturn);
                let broadcast = self.parameters.branch_broadcast && p0.broadcast;
                self.address_due = taken && (indirect || broadcast);
                self.go_on(next);
                if self.is_operative() {
                    self.send_mispredict();
                    self.repeat_after_mispredict();
                }
            }
            Traced::LeftOut(p0) if self.pipeline.is_unresolved() => {
                self.pipeline.cancel();
                self.p0(&P0 { taken: true, next, ..p0 });
            }
            Traced::Source(p0) if self.pipeline.is_unresolved() => {
                self.cancel(1, next);
                self.p0(&P0 { taken: false, next, ..p0 });
            }
            _ => self.go_on(next),
        }
    }

    /// Addresses between an atom and its Mispredict are void. Spec: ETE-I_HVWCN-1.
    fn repeat_after_mispredict(&mut self) {
        if self.trace_on_at == self.elements {
            self.address_due = true;
        }
        self.repeat_after_cancel();
    }

    /// The youngest indirect P0 instruction went elsewhere: the corrected address follows, and no decoder pops.
    ///
    /// Spec: ETE-R_YMRGB-1.
    pub(super) fn redirect(&mut self, next: State) {
        self.flush_q();
        let youngest = self.pipeline.youngest();
        self.returns.undo_pop(&mut youngest.stack);
        self.go_on(next);
        self.address_due = true;
    }

    /// Mispredict, in one packet with a Cancel before it and with the atoms before that.
    ///
    /// Spec: ETE-PKT-MIS-1, ETE-PKT-CAN-1 to ETE-PKT-CAN-3 (sheet 7.10).
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
