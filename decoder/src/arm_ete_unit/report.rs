//! Passes the results of one record to the sink.

use alloc::vec::Vec;

use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Event, FindingKind, Packet, Parameters, Register, Rule};
use traceproof_vectors::{Fault, FaultClass, Place, Sink};

/// Where results of one record go.
pub(super) struct Report<'a, S: ?Sized> {
    pub(super) sink: &'a mut S,
    pub(super) place: Place,
}

impl<S: Sink<ArmEteUnit> + ?Sized> Report<'_, S> {
    pub(super) fn packet(&mut self, packet: &Packet) {
        self.sink.packet(self.place, packet);
    }

    pub(super) fn event(&mut self, event: Event) {
        self.sink.event(self.place, &event);
    }

    /// A fault at `bit` of the record, 0 to 127.
    pub(super) fn fault(&mut self, class: FaultClass, bit: u8) {
        let byte = self.place.byte + u64::from(bit / 8);
        let place = Place { byte, bit: bit % 8, ..self.place };
        self.sink.fault(&Fault::new(class, place));
    }

    /// Reports the findings in the order of rules, each with its fault.
    pub(super) fn findings(&mut self, found: &mut Vec<Finding>) {
        // Stable: findings of one rule stay in their order.
        found.sort_by_key(|finding| finding.rule);
        for Finding { rule, register } in found.drain(..) {
            self.event(Event::Finding { rule, register });
            if let Some(class) = rule.kind().fault() {
                self.fault(class, 0);
            }
        }
    }
}

/// A requirement that is broken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding {
    pub(super) rule: Rule,
    pub(super) register: Option<Register>,
}

/// What is the same for everything about one record, and what was found about it.
pub(super) struct Step<'a> {
    pub(super) parameters: &'a Parameters,
    /// The register of the record.
    pub(super) register: Option<Register>,
    /// Contradictions are not reported (ETE-PRG-012).
    pub(super) suspended: bool,
    pub(super) found: &'a mut Vec<Finding>,
}

impl Step<'_> {
    pub(super) fn find(&mut self, rule: Rule) {
        self.find_at(rule, self.register);
    }

    pub(super) fn find_if(&mut self, broken: bool, rule: Rule) {
        if broken {
            self.find(rule);
        }
    }

    pub(super) fn find_at(&mut self, rule: Rule, register: Option<Register>) {
        if !(self.suspended && rule.kind() == FindingKind::Contradiction) {
            self.found.push(Finding { rule, register });
        }
    }
}
