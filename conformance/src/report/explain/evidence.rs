//! What an explanation of a failing case shows, as data for reports.

use serde::Serialize;
use traceproof_vectors::Log;
use traceproof_vectors::case::CaseFile;

use super::{Explaining, Unit, View, decoded, units};
use crate::Subject;
use crate::family::FamilyRules;
use crate::observe::{self, EVERY_PACKET, StreamToDecode};

/// Largest number of units of one dissection, so that results stay small; those around the first difference are kept.
const UNITS: usize = 48;

/// Number of units that are kept before the first difference.
const BEFORE: usize = 16;

/// Wire and dissection of a case, with the output of both decoders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The wire in the notation of cases.
    pub wire: Vec<String>,
    /// The dissection of the wire.
    pub units: Vec<Unit>,
    /// Number of units that were left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub omitted: usize,
    /// The first difference of the decoder, or why it did not finish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<String>,
    /// The wire of the subject's encoder, if it is not the expected one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder: Option<EncoderEvidence>,
}

/// The wire of an encoder, read by the reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EncoderEvidence {
    /// The wire in the notation of cases.
    pub wire: Vec<String>,
    /// Its dissection.
    pub units: Vec<Unit>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde passes")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Runs the subject once more on the case and collects what both sides report.
#[must_use]
pub fn evidence<P: FamilyRules>(
    file: &CaseFile<P>,
    subject: &Subject,
    explaining: &Explaining<'_>,
) -> Evidence {
    let explaining =
        Explaining { subject: subject.has_decoder::<P>().then_some(subject), ..explaining.clone() };
    let mut evidence =
        Evidence { wire: P::show_wire(&file.resolved.wire, &file.case.parameters), ..Evidence::default() };
    // A case whose parameters the reference refuses has no dissection.
    if let Ok(decoded) = decoded(StreamToDecode::of_case(file), &explaining) {
        (evidence.units, evidence.omitted) = around_the_difference(decoded.units);
        evidence.conclusion = decoded.conclusion;
    }
    evidence.encoder = encoder(file, subject, &explaining);
    evidence
}

fn encoder<P: FamilyRules>(
    file: &CaseFile<P>,
    subject: &Subject,
    explaining: &Explaining<'_>,
) -> Option<EncoderEvidence> {
    if file.resolved.execution.is_none() || !subject.has_encoder::<P>() {
        return None;
    }
    let made = observe::encoding_of_case(subject, explaining.deadline, file);
    let bytes = made.log.wire;
    if made.ended.is_some() || bytes == file.resolved.wire {
        return None;
    }
    let parameters = &file.case.parameters;
    let view = View::<P> {
        wire: &bytes,
        parameters,
        program: &file.resolved.program,
        log: &Log::default(),
        packets: &EVERY_PACKET,
        beside: None,
        draws: false,
        limits: None,
    };
    let (units, _) = around_the_difference(units(&view));
    Some(EncoderEvidence { wire: P::show_wire(&bytes, parameters), units })
}

/// The units around the first one for which the subject differs, and the number of the others.
fn around_the_difference(mut units: Vec<Unit>) -> (Vec<Unit>, usize) {
    let omitted = units.len().saturating_sub(UNITS);
    let differs = units.iter().position(|unit| unit.subject.is_some()).unwrap_or(0);
    units.drain(..differs.saturating_sub(BEFORE).min(omitted));
    units.truncate(UNITS);
    (units, omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_kept() {
        let all = |differs: usize| -> Vec<Unit> {
            (0..100)
                .map(|index| Unit {
                    heading: index.to_string(),
                    subject: (index == differs).then(Vec::new),
                    ..Unit::default()
                })
                .collect()
        };
        for (differs, first) in [(0, "0"), (10, "0"), (40, "24"), (99, "52")] {
            let (kept, omitted) = around_the_difference(all(differs));
            assert_eq!((kept.len(), omitted, kept[0].heading.as_str()), (UNITS, 52, first));
            assert!(kept.iter().any(|unit| unit.subject.is_some()));
        }
        assert_eq!(around_the_difference(all(3).split_off(90)).1, 0);
    }
}
