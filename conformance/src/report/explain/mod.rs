//! The dissection of a case, a stream or a real program, bit by bit, with the results of the reference decoder, and
//! those of a subject where they differ.
//!
//! | question | place |
//! |---|---|
//! | What do the bits mean, and what is reported for each packet? | `units` |
//! | For which packets does a subject differ? | `beside` |
//! | Where does the wire of a subject's encoder differ? | `encoding` |
//! | Which packets of a real program are shown? | `program` |
//! | What does a packet change in the state of the decoder? | `states` |
//! | As a picture? | `picture` |
//! | What do results have of a failure, as data? | `evidence` |

mod beside;
mod encoding;
mod evidence;
mod picture;
mod program;
mod states;
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
    /// How it is shown.
    pub form: Form,
    /// Only the packets around the first difference of the subject.
    pub only_difference: bool,
    /// Also the clause that each field follows, and what each packet changes in the state of the decoder.
    pub teaches: bool,
}

/// Packets that are shown before and from the first difference on.
const BEFORE: u64 = 2;
const AFTER: u64 = 3;

/// How packets are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Text with a table of the fields of each packet.
    #[default]
    Text,
    /// The same, with the bits of each field in the order in which they travel.
    Bits,
    /// An SVG picture: the bits of each packet, and a timeline of packets over instructions.
    Svg,
}

impl Default for Explaining<'_> {
    fn default() -> Self {
        Self {
            limits: DecoderLimits::default(),
            packets: None,
            subject: None,
            deadline: Duration::from_secs(10),
            form: Form::Text,
            only_difference: false,
            teaches: false,
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
    if explaining.form == Form::Svg {
        let title = format!("{}  {}", case.id, case.title);
        return match decoded(StreamToDecode::of_case(file), explaining) {
            Ok(decoded) => picture::picture(&title, &decoded.units),
            Err(refusal) => picture::picture(&format!("{title}: refused: {refusal}"), &[]),
        };
    }
    let mut out = format!("{}  {}\n", case.id, case.title);
    let _ = writeln!(out, "  {}, {}; catches: {}", level(case.level), polarity(case.polarity), case.catches);
    for clause in &case.clauses {
        let _ = writeln!(out, "  clause {}", describe(clause));
    }
    let mut conclusion = None;
    match decoded(StreamToDecode::of_case(file), explaining) {
        Ok(decoded) => {
            out.push_str(&decoded.text(explaining.form));
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

/// A stream that no case has.
fn whole<P: FamilyRules>(wire: &[u8], parameters: &P::Parameters, program: &Program) -> StreamToDecode<P> {
    StreamToDecode {
        wire: wire.to_vec(),
        parameters: parameters.clone(),
        program: program.clone(),
        packets: None,
        readings: Vec::new(),
        whole: true,
    }
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
    let stream = whole(wire, parameters, program);
    let decoded = decoded::<P>(stream, explaining)?;
    if explaining.form == Form::Svg {
        return Ok(picture::picture(&P::ID.to_string(), &decoded.units));
    }
    let mut text = decoded.text(explaining.form);
    text.extend(decoded.conclusion.map(|conclusion| format!("\n{conclusion}\n")));
    Ok(text)
}

/// A stream that a subject decodes, beside the reference.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The packets around the first difference, and the difference; or that there is none.
    pub text: String,
    /// Whether the subject decodes the stream as the reference does.
    pub agrees: bool,
}

/// Compares the subject with the reference over a whole stream, and explains the packets around the first difference.
///
/// # Errors
///
/// When the reference decoder refuses the parameters.
pub fn compare<P: FamilyRules>(
    wire: &[u8],
    parameters: &P::Parameters,
    program: &Program,
    explaining: &Explaining<'_>,
) -> Result<Compared, Refusal> {
    let stream = whole(wire, parameters, program);
    let decoded = decoded::<P>(stream, &Explaining { only_difference: true, ..explaining.clone() })?;
    let (conclusion, agrees) = (decoded.conclusion.clone().unwrap_or_default(), decoded.agrees);
    let space = if decoded.units.is_empty() { "" } else { "\n" };
    Ok(Compared { text: format!("{}{space}{conclusion}\n", decoded.text(explaining.form)), agrees })
}

/// An explained stream.
struct Decoded {
    /// The name of the subject, and in what it is compared; empty without one.
    subject: String,
    compared: String,
    units: Vec<Unit>,
    /// The first difference of the subject, if there is a subject.
    conclusion: Option<String>,
    /// There is a subject, it decoded everything, and there is no difference.
    agrees: bool,
}

impl Decoded {
    /// Without the conclusion.
    fn text(&self, form: Form) -> String {
        let compared =
            if self.compared.is_empty() { String::new() } else { format!("  {}\n", self.compared) };
        compared + &units::text(&self.units, &self.subject, form == Form::Bits)
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
        let units = units(&view(&stream, read, &log, &packets, None).explained(explaining));
        let (subject, compared) = (String::new(), String::new());
        return Ok(Decoded { subject, compared, units, conclusion: None, agrees: false });
    };
    let theirs = observe::decoding(subject, explaining.deadline, stream.clone(), &EVERY_PACKET);
    let first = beside::first_difference(&log, &theirs);
    let beside = match &first {
        Some(_) => Beside::new(&log, &theirs),
        // It may split its events differently, so they can belong to other packets.
        None => Beside::default(),
    };
    let packets = match beside.differing.keys().next() {
        Some(differs) if explaining.only_difference => {
            differs.saturating_sub(BEFORE)..differs.saturating_add(AFTER)
        }
        None if explaining.only_difference => 0..0,
        _ => packets,
    };
    let shown = Log { entries: in_window(&log, &packets), wire: Vec::new() };
    Ok(Decoded {
        subject: subject.name().to_owned(),
        compared: compared(subject, &theirs),
        units: units(&view(&stream, read, &shown, &packets, Some(&beside)).explained(explaining)),
        conclusion: Some(conclusion(subject, &theirs, &beside, first.as_deref())),
        agrees: theirs.ended.is_none() && first.is_none(),
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
    let wire = wire.get(..read).unwrap_or(wire);
    View { wire, parameters, program, log, packets, beside, draws: false, limits: None }
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
