//! The bytes that `decode --raw` lists for a packet are those of its dissection, without the header of an encapsulation,
//! in every shipped case; of ETMv1 and ETMv2 also the byte that shows that it has ended.

use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::listing::{Format, Listing};
use traceproof_conformance::stream;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{Layer, ProtocolId};

#[test]
fn bytes_of_packets_are_those_of_the_dissection() {
    let compared: Vec<usize> = family::IMPLEMENTED
        .into_iter()
        .map(|protocol| family::visit(protocol, Compare).expect("a protocol of this build"))
        .collect();
    // The formatter has no packets.
    assert_eq!(compared.iter().filter(|packets| **packets > 500).count(), compared.len() - 1, "{compared:?}");
}

struct Compare;

impl Visitor for Compare {
    type Output = usize;

    fn visit<P: FamilyRules>(self) -> usize {
        let suite = Suite::<P>::load(&Directories::default()).expect("the suite is sound");
        suite
            .files
            .iter()
            .map(|file| {
                let case = &file.case;
                let resolved = &file.resolved;
                let wire = &resolved.wire;
                let mut decoder = P::reference_decoder();
                if decoder.begin(&case.parameters, &resolved.program).is_err() {
                    return 0;
                }
                let mut out = Vec::new();
                let mut listing =
                    Listing::<P, _>::new(&mut out, Format::JsonLines, Some(Layer::Packets)).with_bytes();
                stream::decode::<P, _>(decoder.as_mut(), &mut wire.as_slice(), &mut listing)
                    .expect("in memory");
                listing.finish().expect("in memory");
                let text = String::from_utf8(out).expect("text");
                let listed: Vec<(u64, String)> = text.lines().filter_map(bytes_of).collect();
                let dissected: Vec<(u64, String)> = P::dissect(wire, &case.parameters, &resolved.program)
                    .iter()
                    .filter(|unit| matches!(unit.packet, Some(Ok(_))))
                    // A decoder passes over packets of a kind that is switched off, and those before the next sync point.
                    .filter(|unit| listed.iter().any(|(byte, _)| *byte == unit.place.byte))
                    .map(|unit| {
                        let range = usize::try_from(unit.place.byte).expect("small")
                            ..usize::try_from(unit.bytes.end).expect("small");
                        (unit.place.byte, show_bytes(&wire[range]))
                    })
                    .collect();
                if P::ID == ProtocolId::ArmEtm {
                    // Of ETMv1 and ETMv2 a packet ends in a cycle; the next one shows that it has ended.
                    assert_eq!(listed.len(), dissected.len(), "{}", case.id);
                    for (listed, dissected) in listed.iter().zip(&dissected) {
                        assert_eq!(listed.0, dissected.0, "{}", case.id);
                        assert!(listed.1.starts_with(&dissected.1), "{}: {listed:?}", case.id);
                    }
                } else {
                    assert_eq!(listed, dissected, "{}", case.id);
                }
                listed.len()
            })
            .sum()
    }
}

/// The first byte and the bytes of a packet; `None` for another line.
fn bytes_of(line: &str) -> Option<(u64, String)> {
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let byte = line["place"]["byte"].as_u64().expect("a place");
    Some((byte, line.get("bytes")?.as_str().expect("text").to_owned()))
}
