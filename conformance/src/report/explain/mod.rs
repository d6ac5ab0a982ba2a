//! The dissection of a case, a stream or a real program, bit by bit, with the results of the reference decoder, and
//! those of a subject where they differ.
//!
//! | question | place |
//! |---|---|
//! | What do the bits mean, and what is reported for each packet? | `units` |
//! | For which packets does a subject differ? | `beside` |
//! | Where does the wire of a subject's encoder differ? | `encoding` |
//! | Which packets of a real program are shown? | `program` |
//! | What do results have of a failure, as data? | `evidence` |

mod beside;
mod encoding;
mod evidence;
mod program;
mod units;

use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use traceproof_vectors::case::CaseFile;
use traceproof_vectors::{
    Capabilities, DecoderLimits, Entry, FaultDetail, Layer, Log, Place, Program, Protocol, Refusal,
};

use super::text::{self, level, polarity};
use crate::Subject;
use crate::family::FamilyRules;
use crate::observe::{self, EVERY_PACKET, Observed, StreamToDecode, WindowLog};
use crate::verdict::{Divergence, Verdict};
use beside::Beside;
use encoding::Wire;
use units::{View, units};

pub use evidence::{EncoderEvidence, Evidence, evidence};
pub use program::program;
pub use units::Unit;

/// What to explain.
#[derive(Clone)]
pub struct Explaining<'a> {
    /// Limits of the decoders.
    pub limits: DecoderLimits,
    /// Only these packets; `None` = all packets of a case or stream; for a real program the first ones, or those around
    /// the first difference.
    pub packets: Option<Range<u64>>,
    /// A subject whose output is shown where it differs from the reference.
    pub subject: Option<&'a Subject>,
    /// Time limit of a subject in this process.
    pub deadline: Duration,
}

impl Default for Explaining<'_> {
    fn default() -> Self {
        Self {
            limits: DecoderLimits::default(),
            packets: None,
            subject: None,
            deadline: Duration::from_secs(10),
        }
    }
}

/// Explains a case, as the reference decoder decodes it. `describe` turns a clause id into a line.
#[must_use]
pub fn case<P: FamilyRules>(
    file: &CaseFile<P>,
    explaining: &Explaining<'_>,
    describe: impl Fn(&str) -> String,
) -> String {
    let case = &file.case;
    let mut out = format!("{}  {}\n", case.id, case.title);
    let _ = writeln!(out, "  {}, {}; catches: {}", level(case.level), polarity(case.polarity), case.catches);
    for clause in &case.clauses {
        let _ = writeln!(out, "  clause {}", describe(clause));
    }
    let mut conclusion = None;
    match decoded(StreamToDecode::of_case(file), explaining) {
        Ok(decoded) => {
            out.push_str(&decoded.text());
            conclusion = decoded.conclusion;
        }
        Err(refusal) => {
            let _ = writeln!(out, "\nThe reference decoder refuses the parameters: {refusal}");
        }
    }
    if let Some(subject) = explaining.subject {
        out.push_str(&other_directions(file, subject, explaining.deadline));
    }
    out.extend(conclusion.map(|conclusion| format!("\n{conclusion}\n")));
    out
}

/// Explains a stream: for each packet its fields, itself, the events and faults that the reference decoder
/// reports for it, and why.
///
/// # Errors
///
/// When the reference decoder refuses the parameters.
pub fn stream<P: FamilyRules>(
    wire: &[u8],
    parameters: &P::Parameters,
    program: &Program,
    explaining: &Explaining<'_>,
) -> Result<String, Refusal> {
    let stream = StreamToDecode {
        wire: wire.to_vec(),
        parameters: parameters.clone(),
        program: program.clone(),
        packets: None,
        readings: Vec::new(),
        whole: true,
    };
    let decoded = decoded::<P>(stream, explaining)?;
    let mut text = decoded.text();
    text.extend(decoded.conclusion.map(|conclusion| format!("\n{conclusion}\n")));
    Ok(text)
}

/// An explained stream.
struct Decoded {
    /// The name of the subject, and in what it is compared; empty without one.
    subject: String,
    compared: String,
    units: Vec<Unit>,
    /// The first difference of the subject, if there is a subject.
    conclusion: Option<String>,
}

impl Decoded {
    /// Without the conclusion.
    fn text(&self) -> String {
        let compared =
            if self.compared.is_empty() { String::new() } else { format!("  {}\n", self.compared) };
        compared + &units::text(&self.units, &self.subject)
    }
}

fn decoded<P: FamilyRules>(
    stream: StreamToDecode<P>,
    explaining: &Explaining<'_>,
) -> Result<Decoded, Refusal> {
    let packets = explaining.packets.clone().unwrap_or(EVERY_PACKET);
    // The search for a difference covers all packets.
    let kept = if explaining.subject.is_some() { &EVERY_PACKET } else { &packets };
    let Reference { log, read } = reference(&stream, &explaining.limits, kept)?;
    let Some(subject) = explaining.subject else {
        let units = units(&view(&stream, read, &log, &packets, None));
        return Ok(Decoded { subject: String::new(), compared: String::new(), units, conclusion: None });
    };
    let theirs = observe::decoding(subject, explaining.deadline, stream.clone(), &EVERY_PACKET);
    let first = beside::first_difference(&log, &theirs);
    let beside = match &first {
        Some(_) => Beside::new(&log, &theirs),
        // It may split its events differently, so they can belong to other packets.
        None => Beside::default(),
    };
    let shown = Log { entries: in_window(&log, &packets), wire: Vec::new() };
    Ok(Decoded {
        subject: subject.name().to_owned(),
        compared: compared(subject, &theirs),
        units: units(&view(&stream, read, &shown, &packets, Some(&beside))),
        conclusion: Some(conclusion(subject, &theirs, &beside, first.as_deref())),
    })
}

fn in_window<P: Protocol>(log: &Log<P>, packets: &Range<u64>) -> Vec<(Place, Entry<P>)> {
    log.entries.iter().filter(|(place, _)| packets.contains(&place.packet)).cloned().collect()
}

fn view<'a, P: FamilyRules>(
    stream: &'a StreamToDecode<P>,
    read: usize,
    log: &'a Log<P>,
    packets: &'a Range<u64>,
    beside: Option<&'a Beside>,
) -> View<'a, P> {
    let StreamToDecode { wire, parameters, program, .. } = stream;
    View { wire: wire.get(..read).unwrap_or(wire), parameters, program, log, packets, beside }
}

/// The output of the reference for some packets.
struct Reference<P: Protocol> {
    log: Log<P>,
    /// Number of bytes of the stream that were read for it.
    read: usize,
}

/// Number of bytes in one `push` to the reference.
const CHUNK: usize = 1 << 10;

/// Decodes with the reference up to the end of `packets`.
fn reference<P: FamilyRules>(
    stream: &StreamToDecode<P>,
    limits: &DecoderLimits,
    packets: &Range<u64>,
) -> Result<Reference<P>, Refusal> {
    let mut decoder = P::reference_decoder();
    decoder.set_limits(limits);
    decoder.begin(&stream.parameters, &stream.program)?;
    let mut sink = WindowLog::new(packets.clone());
    let mut read = 0;
    for chunk in stream.wire.chunks(CHUNK) {
        decoder.push(chunk, &mut sink);
        read += chunk.len();
        if sink.latest > packets.end {
            break;
        }
    }
    if stream.whole && read == stream.wire.len() {
        decoder.finish(&mut sink);
    }
    Ok(Reference { log: sink.log, read })
}

/// Which subject is compared, and in what.
fn compared<P: Protocol>(subject: &Subject, theirs: &Observed<P>) -> String {
    let what = match &theirs.claims {
        Some(claims) => format!("compared: {}", claimed(claims)),
        None => format!("it has no decoder of {}", P::ID),
    };
    format!("beside {} {}; {what}", subject.name(), subject.version())
}

/// The results of a decoder that are judged.
fn claimed(claims: &Capabilities) -> String {
    let mut what = Vec::new();
    for (layer, name) in [(Layer::Packets, "packets"), (Layer::Events, "events")] {
        if claims.layers.contains(&layer) {
            what.push(name);
        }
    }
    what.push(match claims.faults {
        FaultDetail::Flag => "that there are faults",
        FaultDetail::Class => "classes of faults",
        FaultDetail::Place => "faults with their places",
    });
    what.join(", ")
}

/// The last line: the first difference, or that there is none; and the reason if the subject did not finish.
fn conclusion<P: Protocol>(
    subject: &Subject,
    theirs: &Observed<P>,
    beside: &Beside,
    first: Option<&Divergence>,
) -> String {
    let name = subject.name();
    match (&theirs.ended, first) {
        (Some(Verdict::Unsupported { needs }), _) => {
            format!("{name} was not compared: it does not claim {}", needs.join(", "))
        }
        (Some(verdict), _) => {
            let reported = match (theirs.log.entries.last(), beside.differing.keys().next()) {
                (None, _) => String::from("it reported nothing"),
                (Some(_), Some(packet)) => format!("its output differs at packet {packet}"),
                (Some((place, _)), None) => format!("up to packet {} there is no difference", place.packet),
            };
            format!("{name} did not finish: {verdict}; {reported}")
        }
        (None, None) => format!("no difference: {name} decodes this as the reference does"),
        (None, Some(divergence)) => format!("first difference: {}", located(divergence, beside)),
    }
}

/// The first difference, with the first packet that differs. The judge may report a later packet, because it joins the
/// events of several packets.
fn located(divergence: &Divergence, beside: &Beside) -> String {
    let packet = beside.differing.keys().next().copied();
    match (divergence.place, packet) {
        (Some(place), Some(packet)) if packet == place.packet => format!("{place}: {divergence}"),
        (_, Some(packet)) => format!("packet {packet}: {divergence}"),
        (Some(place), None) => format!("{place}: {divergence}"),
        (None, None) => divergence.to_string(),
    }
}

/// Failures of the subject in other directions than decoding: its wire unit by unit, and metamorphic relations that do
/// not hold.
fn other_directions<P: FamilyRules>(file: &CaseFile<P>, subject: &Subject, deadline: Duration) -> String {
    let mut out = String::new();
    if file.resolved.execution.is_some() && subject.has_encoder::<P>() {
        let made = observe::encoding_of_case(subject, deadline, file);
        let wire = Wire::<P> {
            bytes: &file.resolved.wire,
            parameters: &file.case.parameters,
            program: &file.resolved.program,
        };
        out.push_str(&encoded(subject, wire, &made));
    }
    for check in observe::relations_of_case(subject, deadline, file) {
        if check.verdict.kind().is_failure() {
            let _ = write!(out, "\n{}", text::details(&check));
        }
    }
    out
}

/// The wire of the subject's encoder, beside the expected wire; empty if they are equal.
fn encoded<P: FamilyRules>(subject: &Subject, wire: Wire<'_, P>, made: &Observed<P>) -> String {
    let name = subject.name();
    match &made.ended {
        Some(Verdict::Unsupported { needs }) => {
            format!("\nencode: not compared; {name} does not claim {}\n", needs.join(", "))
        }
        Some(verdict) => format!("\nencode: {verdict}\n"),
        None => encoding::beside(&wire, &made.log.wire, ["expected", name])
            .map(|(text, place)| {
                format!("\nencode: the wire of {name} differs at {place}, unit by unit:\n{text}")
            })
            .unwrap_or_default(),
    }
}
