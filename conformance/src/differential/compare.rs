//! One stream through two decoders.

use traceproof_differential::{Decoded, Stream};

use crate::Subject;
use crate::family::FamilyRules;
use crate::isolation::guarded;
use crate::relations;
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
    match traceproof_differential::compare(&one, &other) {
        None => Comparison::Skipped,
        Some(Ok(())) => Comparison::Same,
        Some(Err(divergence)) => Comparison::Different(divergence),
    }
}

/// The results of the subject for the stream; `None` if it refuses it.
fn decode<P: FamilyRules>(subject: &Subject, stream: &Stream<P>) -> Result<Option<Decoded<P>>, Verdict> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let (of, stream) = (subject.clone(), stream.clone());
    let verdict = guarded(subject, DEADLINE, move || {
        let decoded = of.decoder::<P>().and_then(|mut decoder| Decoded::of(decoder.as_mut(), &stream));
        // The receiver is gone when the deadline has passed.
        let _ = sender.send(decoded);
        Verdict::Pass
    });
    if verdict == Verdict::Pass { Ok(receiver.recv().ok().flatten()) } else { Err(verdict) }
}

/// As [`compare`]; if both agree, the second one is compared with itself, too: in pieces, after a reset, after another
/// begin.
#[must_use]
pub fn examine<P: FamilyRules>(first: &Subject, second: &Subject, stream: &Stream<P>) -> Comparison {
    match compare(first, second, stream) {
        Comparison::Same => repeats(second, stream),
        other => other,
    }
}

fn repeats<P: FamilyRules>(subject: &Subject, stream: &Stream<P>) -> Comparison {
    let (of, stream) = (subject.clone(), stream.clone());
    let verdict = guarded(subject, DEADLINE, move || {
        let incremental = of.decoder::<P>().is_some_and(|decoder| decoder.capabilities().incremental);
        let Stream { parameters, program, wire, .. } = &stream;
        let stream = relations::Stream::<P> { subject: &of, parameters, program, wire };
        match stream.repeats(None) {
            Err(relations::Broken::Divergence(divergence)) if incremental => Verdict::Fail(*divergence),
            _ => Verdict::Pass,
        }
    });
    match verdict {
        Verdict::Pass => Comparison::Same,
        Verdict::Fail(divergence) => Comparison::Different(Box::new(divergence)),
        other => broke(&other, false),
    }
}

fn broke(verdict: &Verdict, first: bool) -> Comparison {
    let mut divergence = Divergence::sentence("results", String::from("results"));
    if let Some(row) = divergence.rows.first_mut() {
        let broken = format!("{} ({verdict})", verdict.kind());
        let (broken, whole) = (Some(broken), Some(String::from("results")));
        (row.expected, row.got) = if first { (broken, whole) } else { (whole, broken) };
    }
    Comparison::Different(Box::new(divergence))
}
