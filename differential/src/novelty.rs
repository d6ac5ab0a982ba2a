//! What a stream exercises, as the reference decoder shows it: a cheap stand-in for coverage.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use traceproof_vectors::{DecoderLimits, Entry};

use crate::line::line;
use crate::{Decoded, JudgedProtocol, Stream};

/// What a stream exercises, as numbers: the kinds of results that follow each other, and the sizes of the values of
/// fields. Empty if the reference decoder refuses the stream.
#[must_use]
pub fn features<P: JudgedProtocol>(stream: &Stream<P>) -> BTreeSet<u64> {
    let mut features = BTreeSet::new();
    let mut decoder = P::reference_decoder();
    decoder.set_limits(&DecoderLimits::COLLECTED);
    let Some(Decoded { log, .. }) = Decoded::of(decoder.as_mut(), stream) else { return features };
    let mut before = String::new();
    for (_, entry) in &log.entries {
        let text = match entry {
            Entry::Packet(packet) => line(packet),
            Entry::Event(event) => line(event),
            Entry::Fault(fault) => format!("fault-{}", fault.class),
        };
        let word = text.split_whitespace().next().unwrap_or_default().to_owned();
        features.insert(number(&(&before, &word)));
        before = word;
    }
    for unit in P::dissect(&stream.wire, &stream.parameters, &stream.program) {
        let mut path = 0;
        for field in unit.fields {
            // The field, after those before it, and how many bits of it are in use from either end.
            path = number(&(path, field.name));
            features.insert(number(&(
                path,
                field.value.leading_zeros(),
                field.value.trailing_ones(),
                field.received,
            )));
        }
    }
    features
}

fn number(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
