//! One stream through two decoders.

use traceproof_vectors::{Capabilities, Log};

use super::Stream;
use crate::Subject;
use crate::family::FamilyRules;
use crate::judge::{self, Expectation};
use crate::relations::push_all;
use crate::runner::guarded;
use crate::verdict::{Divergence, Verdict};

/// What came of a stream.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// One of the two does not claim what it needs, refuses it, or delivers no layer that the other does.
    Skipped,
    /// Both agree in the layers and details that both deliver.
    Same,
    /// The first difference. Expected is the result of the first subject.
    Different(Box<Divergence>),
}

/// How long a decoder in this process may take.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(10);

/// Compares packets, events and faults of the layers that both deliver, in the detail that both give.
#[must_use]
pub fn compare<P: FamilyRules>(first: &Subject, second: &Subject, stream: &Stream<P>) -> Comparison {
    let (one, other) = (decode(first, stream), decode(second, stream));
    let (one, other) = match (one, other) {
        (Ok(Some(one)), Ok(Some(other))) => (one, other),
        (Err(verdict), Ok(Some(_))) => return broke(&verdict, true),
        (Ok(Some(_)), Err(verdict)) => return broke(&verdict, false),
        _ => return Comparison::Skipped,
    };
    let claims = common(&one.capabilities, &other.capabilities);
    if claims.layers.is_empty() {
        return Comparison::Skipped;
    }
    let packets: Vec<P::Packet> = one.log.packets().cloned().collect();
    let events = judge::expected(&one.log);
    let expectation = Expectation { packets: Some(&packets), events: Some(&events) };
    match judge::decoding(expectation, &other.log, &claims) {
        Ok(()) => Comparison::Same,
        Err(divergence) => Comparison::Different(divergence),
    }
}

/// What both claim of results.
fn common(one: &Capabilities, other: &Capabilities) -> Capabilities {
    Capabilities::new(one.layers.intersection(&other.layers).copied())
        .with_faults(one.faults.min(other.faults))
        .with_warnings(one.warnings && other.warnings)
}

struct Decoded<P: FamilyRules> {
    log: Log<P>,
    capabilities: Capabilities,
}

/// The results of the subject for the stream; `None` if it refuses it.
fn decode<P: FamilyRules>(subject: &Subject, stream: &Stream<P>) -> Result<Option<Decoded<P>>, Verdict> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let (of, stream) = (subject.clone(), stream.clone());
    let verdict = guarded(subject, DEADLINE, move || {
        let decoded = (|| {
            let mut decoder = of.decoder::<P>()?;
            let capabilities = decoder.capabilities();
            let features = P::required_features(&stream.parameters, &stream.wire);
            if !features.into_iter().all(|feature| capabilities.features.contains(feature)) {
                return None;
            }
            decoder.begin(&stream.parameters, &stream.program).ok()?;
            let log = push_all(decoder.as_mut(), [stream.wire.as_slice()]);
            Some(Decoded { log, capabilities })
        })();
        // The receiver is gone when the deadline has passed.
        let _ = sender.send(decoded);
        Verdict::Pass
    });
    if verdict == Verdict::Pass { Ok(receiver.recv().ok().flatten()) } else { Err(verdict) }
}

fn broke(verdict: &Verdict, first: bool) -> Comparison {
    let mut divergence = Divergence::sentence("results", String::from("results"));
    if let Some(row) = divergence.rows.first_mut() {
        let (broken, whole) = (Some(verdict.to_string()), Some(String::from("results")));
        (row.expected, row.got) = if first { (broken, whole) } else { (whole, broken) };
    }
    Comparison::Different(Box::new(divergence))
}
