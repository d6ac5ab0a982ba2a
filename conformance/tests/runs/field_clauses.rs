//! The clauses of packets and fields exist, and so do the packets and fields: each is in the dissection of a case.

use std::collections::BTreeSet;

use traceproof_conformance::family::{FamilyRules, IMPLEMENTED, Visitor, visit};
use traceproof_conformance::suite::{Directories, Suite};

struct Check;

impl Visitor for Check {
    /// How many rows there are, and what is wrong with them.
    type Output = (usize, Vec<String>);

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let suite = Suite::<P>::load(&Directories::default()).expect("a sound suite");
        let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
        for file in &suite.files {
            let (wire, program) = (&file.resolved.wire, &file.resolved.program);
            P::dissect_each(wire, &file.case.parameters, program, &mut |unit| {
                let Some(Ok(packet)) = &unit.packet else { return };
                let value = serde_json::to_value(packet).expect("a packet is data");
                let name = value.as_object().and_then(|it| it.keys().next()).map(String::as_str);
                let name = name.or(value.as_str()).expect("a packet has a name").to_owned();
                seen.insert((name.clone(), String::new()));
                seen.extend(unit.fields.iter().map(|field| (name.clone(), field.name.to_owned())));
            });
        }
        let mut wrong = Vec::new();
        for row in P::FIELD_CLAUSES {
            let found = |(packet, field): &(String, String)| {
                (row.packet.is_empty() || row.packet == packet) && row.field == field
            };
            if !seen.iter().any(found) {
                wrong.push(format!("{}: no {:?} {:?}", P::ID, row.packet, row.field));
            }
            let unknown = row.clauses.iter().filter(|id| suite.registry.get(id).is_none());
            wrong.extend(unknown.map(|id| format!("{}: {id} is in no registry", P::ID)));
        }
        (P::FIELD_CLAUSES.len(), wrong)
    }
}

#[test]
fn clauses_of_fields_are_those_of_packets_that_exist() {
    for protocol in IMPLEMENTED {
        let (rows, wrong) = visit(protocol, Check).expect("implemented");
        assert!(rows > 0, "{protocol} names no clause");
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
