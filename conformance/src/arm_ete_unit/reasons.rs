//! Why a checker reports a finding.

use traceproof_decoder::arm_ete_unit::Decoder;
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Event, Packet, Parameters};
use traceproof_vectors::{Decoder as _, Fault, Place, Program, Sink};

/// A sentence for every finding of the log, each with the index of its packet: its kind, its register, and when the
/// rule is reported.
pub(super) fn reasons(wire: &[u8], parameters: &Parameters) -> Vec<(u64, String)> {
    let mut decoder = Decoder::default();
    if decoder.begin(parameters, &Program::new()).is_err() {
        return Vec::new();
    }
    let mut reasons = Reasons::default();
    decoder.push(wire, &mut reasons);
    decoder.finish(&mut reasons);
    reasons.0
}

#[derive(Default)]
struct Reasons(Vec<(u64, String)>);

impl Sink<ArmEteUnit> for Reasons {
    fn packet(&mut self, _: Place, _: &Packet) {}

    fn event(&mut self, place: Place, event: &Event) {
        if let Event::Finding { rule, register } = event {
            let register = register.map(|register| format!(" ({register})")).unwrap_or_default();
            let sentence = format!("{rule}{register}, {}: {}", rule.kind().name(), rule.when());
            self.0.push((place.packet, sentence));
        }
    }

    fn fault(&mut self, _: &Fault) {}
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::case::arm_ete_unit::read_log;

    use super::*;

    #[test]
    fn a_finding_has_its_rule_register_and_record() {
        let log = read_log("rst; xw TRCPRGCTLR=1; poll x IDLE=0\nxw TRCCONFIGR=1").expect("a log");
        let found = reasons(&log, &Parameters::default());
        let (packet, sentence) = found.last().expect("a reason");
        assert_eq!(*packet, 3);
        assert!(
            sentence.starts_with("ETE-RWYQD-001 (TRCCONFIGR), unpredictable: A write that reaches"),
            "{sentence}"
        );
    }
}
