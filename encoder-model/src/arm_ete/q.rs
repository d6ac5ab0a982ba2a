//! Q elements: instructions whose path is not traced.

use traceproof_vectors::arm_ete::{AddressChoice, AddressField, P0, P0Kind, Packet, QElements};

use super::field::{longest, padded};
use super::pipeline::Block;
use super::unit::TraceUnit;

impl TraceUnit {
    /// Whether a Q element stands for a P0 instruction. Only what is resolved is replaced, so never with speculation.
    ///
    /// Spec: ETE-FZTZP-001, ETE-FPHFM-001, ETE-SGFHP-001.
    pub(super) fn joins_q(&self, p0: &P0) -> bool {
        self.q.permitted
            && self.policy.q_blocks > 0
            && self.parameters.q_elements != QElements::None
            && self.parameters.maxspec == 0
            && self.left_out.is_none()
            && !(self.parameters.branch_broadcast && p0.broadcast)
    }

    /// What may change the context is the last.
    ///
    /// Spec: ETE-JBYXC-001, ETE-GVLKJ-001, ETE-WBCJG-001.
    pub(super) fn add_to_q(&mut self, p0: &P0) {
        if self.q.blocks == 0 {
            self.open_q();
        }
        self.q.blocks += 1;
        self.q.instructions = self.q.instructions.saturating_add(p0.instructions);
        self.q.next = p0.next;
        self.from = p0.next;
        let ends = matches!(p0.kind, P0Kind::Isb | P0Kind::ExceptionReturn);
        if ends || self.q.blocks >= self.policy.q_blocks {
            self.flush_q();
        }
        if ends && p0.taken && self.policy.timestamp_context_changes {
            self.timestamps.request();
        }
    }

    /// The element with the address where execution goes on.
    ///
    /// Spec: ETE-WHLPS-001, ETE-LZLDH-001, ETE-PKT-Q-001, ETE-PKT-Q-002.
    pub(super) fn flush_q(&mut self) {
        let blocks = core::mem::take(&mut self.q.blocks);
        if blocks == 0 {
            return;
        }
        let instructions = core::mem::take(&mut self.q.instructions);
        let counted = self.policy.q_counts || self.parameters.q_elements == QElements::Count;
        let count = counted.then(|| padded(instructions.into(), longest::WORD, &self.policy));
        let location = self.location(&self.q.next);
        let choice = match self.address_choice() {
            AddressChoice::Bits64 => AddressChoice::Bits32,
            choice => choice,
        };
        let field = self.history.choose(location, choice);
        let shares = counted && self.policy.q_addresses && !matches!(field, AddressField::Bits64 { .. });
        // Which entry of its stack a decoder takes now, it may not know.
        self.returns.clear();
        if shares {
            self.history.push(location);
            self.send_p0(Packet::Q { address: Some(field), count });
            self.note_address();
        } else {
            self.send_p0(Packet::Q { address: None, count });
            self.send_target(true, false);
        }
        self.address_due = false;
        self.admit(Block::empty(1, self.q.next, self.returns.unused()));
    }
}
