//! Some packets of a real program. Memory grows with the bytes of the trace, not with its events.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use traceproof_vectors::{Decoder, Encoder};

use super::beside::Beside;
use super::encoding::Wire;
use super::picture::picture;
use super::units::{text, units};
use super::{Explaining, Form, Reference, compared, encoded, reference, view};
use crate::Subject;
use crate::family::{FamilyRules, ProgramRequest, RecordedProgram};
use crate::isolation::attempt;
use crate::observe::{self, StreamToDecode};
use crate::verdict::Verdict;

/// Number of packets that are shown by default.
const SHOWN: u64 = 32;

/// Number of packets that are shown before a difference.
const BEFORE: u64 = 8;

/// Number of packets that are encoded after the last one shown, so that the last one is complete.
const BEYOND: u64 = 16;

/// Explains packets of a real program, whose wire the reference encoder makes: the requested ones, or else the first
/// ones, or with a subject those around the first difference.
///
/// # Errors
///
/// When the program cannot be read or encoded, or has no such packets.
pub fn program<P: FamilyRules>(
    recorded: RecordedProgram<P>,
    explaining: &Explaining<'_>,
) -> Result<String, String> {
    let recorded = Arc::new(recorded);
    let mut out = format!("{}  {}\n  {}\n", recorded.name(), recorded.about, recorded.about_set);
    let verdict = explaining.subject.map(|subject| judged(subject, &recorded, Side::Decoder));
    let packets = explaining.packets.clone().unwrap_or_else(|| around(verdict.as_ref()));
    let stream = StreamToDecode::<P> {
        wire: observe::reference_wire(&recorded, packets.end.saturating_add(BEYOND))?,
        parameters: recorded.parameters.clone(),
        program: recorded.code.clone(),
        packets: None,
        readings: observe::readings_of(&recorded),
        whole: false,
    };
    let refused = |refusal| format!("the reference decoder refuses the parameters: {refusal}");
    let Reference { log, read } = reference(&stream, &explaining.limits, &packets).map_err(refused)?;
    if log.entries.is_empty() {
        return Err(format!("{} has no packet {}", recorded.name(), packets.start));
    }
    let Some(subject) = explaining.subject else {
        let units = units(&view(&stream, read, &log, &packets, None).explained(explaining));
        if explaining.form == Form::Svg {
            return Ok(picture(&recorded.name(), &units));
        }
        out.push_str(&text(&units, "", explaining.form == Form::Bits));
        let _ =
            writeln!(out, "\npackets {}..{}; others with --packets FIRST..END", packets.start, packets.end);
        return Ok(out);
    };
    let prefix =
        StreamToDecode { wire: stream.wire.get(..read).unwrap_or_default().to_vec(), ..stream.clone() };
    let theirs = observe::decoding(subject, explaining.deadline, prefix, &packets);
    let beside = match verdict {
        Some(Verdict::Pass) => Beside::default(),
        _ => Beside::new(&log, &theirs),
    };
    let _ = writeln!(out, "  {}", compared(subject, &theirs));
    let units = units(&view(&stream, read, &log, &packets, Some(&beside)).explained(explaining));
    if explaining.form == Form::Svg {
        return Ok(picture(&recorded.name(), &units));
    }
    out.push_str(&text(&units, subject.name(), explaining.form == Form::Bits));
    out.push_str(&encoding(subject, &recorded)?);
    let last = verdict.map(|verdict| conclusion(subject, &verdict, &packets, &beside)).unwrap_or_default();
    let _ = writeln!(out, "\n{last}");
    Ok(out)
}

/// The packets around the first difference, or the first ones.
fn around(verdict: Option<&Verdict>) -> Range<u64> {
    let packet = verdict.and_then(observe::first_packet);
    let first = packet.map_or(0, |packet| packet.saturating_sub(BEFORE));
    first..first + SHOWN
}

/// The last line.
fn conclusion(subject: &Subject, verdict: &Verdict, packets: &Range<u64>, beside: &Beside) -> String {
    let name = subject.name();
    match verdict {
        Verdict::Pass => format!("no difference: the decoder of {name} passes the round trip"),
        // Only the shown packets were compared, in what it claims.
        Verdict::Unsupported { needs } => {
            let shown = match beside.differing.keys().next() {
                Some(packet) => format!("first difference: packet {packet}"),
                None => String::from("no difference"),
            };
            let (first, end, needs) = (packets.start, packets.end, needs.join(", "));
            format!(
                "packets {first}..{end}: {shown}; the whole program was not judged: {name} does not claim {needs}"
            )
        }
        Verdict::Fail(divergence) => match divergence.place {
            Some(place) => format!("first difference: {place}: {divergence}"),
            None => format!("first difference: {divergence}"),
        },
        other => format!("{name} did not finish: {other}"),
    }
}

/// The side that is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Decoder,
    Encoder,
}

/// The verdict of a round trip with one side of the subject and the other side of the reference.
fn judged<P: FamilyRules>(subject: &Subject, recorded: &RecordedProgram<P>, side: Side) -> Verdict {
    let (of, program, set) = (subject.clone(), recorded.program.clone(), recorded.set.clone());
    let has = match side {
        Side::Decoder => subject.has_decoder::<P>(),
        Side::Encoder => subject.has_encoder::<P>(),
    };
    if !has {
        let what = if side == Side::Decoder { "a decoder" } else { "an encoder" };
        return Verdict::Unsupported { needs: vec![format!("{what} of {}", P::ID)] };
    }
    let work = move || {
        let encoder = || -> Box<dyn Encoder<P>> {
            let own = (side == Side::Encoder).then(|| of.encoder::<P>()).flatten();
            own.unwrap_or_else(P::reference_encoder)
        };
        let decoder = || -> Box<dyn Decoder<P>> {
            let own = (side == Side::Decoder).then(|| of.decoder::<P>()).flatten();
            own.unwrap_or_else(P::reference_decoder)
        };
        let request = ProgramRequest {
            encoder: &encoder,
            decoder: &decoder,
            parameters: None,
            wanted: &|name, of_set| name == program && of_set == set,
            progress: &|| (),
        };
        P::PROGRAMS.map(|programs| (programs.run)(&request))
    };
    let verdict = attempt(subject, observe::PATIENCE, work).map(|runs| match runs {
        Some(Ok(runs)) => runs.into_iter().next().map(|run| run.verdict),
        _ => None,
    });
    match verdict {
        Ok(verdict) => verdict.unwrap_or_else(|| Verdict::Unsupported { needs: vec![recorded.name()] }),
        Err(verdict) => verdict,
    }
}

/// The wire of the subject's encoder for the program, beside that of the reference, if it fails the round trip.
fn encoding<P: FamilyRules>(subject: &Subject, recorded: &Arc<RecordedProgram<P>>) -> Result<String, String> {
    if !subject.has_encoder::<P>() {
        return Ok(String::new());
    }
    let verdict = judged(subject, recorded, Side::Encoder);
    if !verdict.kind().is_failure() {
        return Ok(String::new());
    }
    let mut out = format!("\nencode: {verdict}\n");
    let made = observe::encoding_of_program(subject, recorded);
    let expected = observe::reference_wire(recorded, u64::MAX)?;
    let RecordedProgram { parameters, code, .. } = recorded.as_ref();
    out.push_str(&encoded(subject, Wire::<P> { bytes: &expected, parameters, program: code }, &made));
    Ok(out)
}
