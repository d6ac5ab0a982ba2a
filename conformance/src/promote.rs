//! A finding as a case: shrunk, explained, and legal.
//!
//! The expectation of the case is what the reference decoder reports. Neither side is the oracle, so a person compares it
//! with the specification before the case joins a suite; clauses are suggestions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use traceproof_differential::{Decoded, Stream, shrink};
use traceproof_vectors::case::{
    self, Case, CaseFile, Expected, Level, Polarity, Provenance, SCHEMA, SuiteError,
};
use traceproof_vectors::{DecoderLimits, FaultClass, Program};

pub use traceproof_differential::stream::protocol_of;

use crate::Subject;
use crate::differential::{Comparison, examine};
use crate::family::FamilyRules;
use crate::judge;
use crate::line::line;
use crate::report::explain::{self, Explaining};
use crate::runner::{Options, judge_case};
use crate::suite::{Directories, Suite};
use crate::verdict::Divergence;

/// What became of a finding.
#[derive(Clone, Debug)]
pub struct Promoted {
    /// The id of the case.
    pub id: String,
    /// The case.
    pub text: String,
    /// What the subject does wrong, and how the reference reads the stream, for people.
    pub explanation: String,
    /// The kind of the finding; `None` without a subject.
    pub kind: Option<String>,
    /// Whether events are left out of the case, because the notation of cases has no form for them without labels.
    pub without_events: bool,
}

/// Why there is no case.
#[derive(Debug)]
pub enum NotPromoted {
    /// The suites are wrong.
    Suite(Vec<SuiteError>),
    /// A sentence.
    Message(String),
}

/// How a case is named.
#[derive(Clone, Debug)]
pub struct Naming {
    /// Its id; `None` = the one after the highest of the suite.
    pub id: Option<String>,
    /// What found it.
    pub target: String,
}

/// Makes a case of a stream. With a subject, the stream is shrunk as long as the subject shows the same kind of
/// difference, and the case fails for the subject; in any case it passes for the reference.
///
/// # Errors
///
/// When the subject agrees with the reference, or the stream has no form as a case.
pub fn promote<P: FamilyRules>(
    stream: Stream<P>,
    subject: Option<&Subject>,
    naming: &Naming,
    directories: &Directories,
) -> Result<Promoted, NotPromoted> {
    let suite = Suite::<P>::load(directories).map_err(NotPromoted::Suite)?;
    let (stream, divergence) = match subject {
        Some(subject) => shrunk(stream, subject)?,
        None => (stream, None),
    };
    let mut decoder = P::reference_decoder();
    decoder.set_limits(&DecoderLimits::COLLECTED);
    let decoded = Decoded::of(decoder.as_mut(), &stream)
        .ok_or_else(|| message("the reference decoder refuses the stream"))?;
    let id = naming.id.clone().unwrap_or_else(|| next_id(&suite, directories));
    let mut case = written(&stream, &decoded, &id, &naming.target);
    case.clauses = suggested(&suite, &stream, divergence.as_ref());
    case.title = title(divergence.as_ref());
    let without_events = case.events.is_none() && decoded.log.events().next().is_some();
    let text = text_of(&case)?;
    let file = checked(text, &stream, &suite)?;
    let options = Options { directories: directories.clone(), ..Options::default() };
    let fails = |subject: &Subject| {
        let result = judge_case(subject, &options, &file, &suite.registry);
        result.failures().map(|check| format!("{}: {}", check.direction, check.verdict)).next()
    };
    if let Some(wrong) = fails(&Subject::reference()) {
        return Err(message(format!("the reference fails the case: {wrong}")));
    }
    let mut explanation = String::new();
    if let Some(subject) = subject {
        let wrong = fails(subject).ok_or_else(|| {
            message("the case passes for the subject: the difference is in what cases do not judge")
        })?;
        explanation = format!("{}: {wrong}\n\n", subject.name());
    }
    let explaining = Explaining { limits: DecoderLimits::COLLECTED, subject, ..Explaining::default() };
    explanation.push_str(&explain::case(&file, &explaining, |clause| suite.describe(clause)));
    let kind = divergence.map(|divergence| divergence.kind());
    Ok(Promoted { id, text: file.text.clone(), explanation, kind, without_events })
}

fn message(text: impl Into<String>) -> NotPromoted {
    NotPromoted::Message(text.into())
}

/// The smallest stream that was found to show the same kind of difference, and the difference.
fn shrunk<P: FamilyRules>(
    stream: Stream<P>,
    subject: &Subject,
) -> Result<(Stream<P>, Option<Divergence>), NotPromoted> {
    let reference = Subject::reference();
    let difference = |stream: &Stream<P>| match examine(&reference, subject, stream) {
        Comparison::Different(divergence) => Ok(*divergence),
        Comparison::Same => Err("the subject agrees with the reference on this stream"),
        Comparison::Skipped => Err("the subject does not claim what the stream needs, or refuses it"),
    };
    let kind = difference(&stream).map_err(message)?.kind();
    let stream = shrink(stream, |smaller| difference(smaller).is_ok_and(|found| found.kind() == kind));
    let divergence = difference(&stream).map_err(|_| message("the subject is not the same each time"))?;
    Ok((stream, Some(divergence)))
}

/// The id after the highest that a case has or had.
fn next_id<P: FamilyRules>(suite: &Suite<P>, directories: &Directories) -> String {
    let prefix = P::ID.case_prefix();
    let retired = case::retired_ids(&directories.suites, P::ID).unwrap_or_default();
    let ids = suite.files.iter().map(|file| file.case.id.as_str()).chain(retired.iter().map(String::as_str));
    let highest = ids.filter_map(|id| id.strip_prefix(prefix)?.parse::<u64>().ok()).max().unwrap_or(0);
    format!("{prefix}{:04}", highest + 1)
}

/// The case, still without title and clauses.
fn written<P: FamilyRules>(stream: &Stream<P>, decoded: &Decoded<P>, id: &str, target: &str) -> Case<P> {
    let log = &decoded.log;
    let program = program_text(&stream.program);
    let events = entries::<P>(&judge::expected(log), &program, &stream.parameters);
    let errors = log.faults().any(|fault| !fault.class.is_warning());
    Case {
        schema: SCHEMA,
        id: id.to_owned(),
        rev: 1,
        family: P::FAMILY,
        protocol: (!P::ID.is_main()).then_some(P::ID),
        title: String::new(),
        level: if log.faults().next().is_some() { Level::Robust } else { Level::Must },
        clauses: Vec::new(),
        polarity: if errors && events.is_some() { Polarity::Negative } else { Polarity::Positive },
        catches: format!("A defect that fuzzing found with {target}."),
        provenance: Provenance::Fuzzed { target: target.to_owned() },
        readings: stream.readings.clone(),
        canonical: false,
        parameters: stream.parameters.clone(),
        policy: P::Policy::default(),
        program,
        stimulus: Vec::new(),
        wire: P::show_wire(&stream.wire, &stream.parameters),
        packets: Some(log.packets().cloned().collect()),
        events,
    }
}

/// Code as data: what it was is not known.
fn program_text(program: &Program) -> String {
    let mut text = String::new();
    let spaces = program.sections().iter().any(|section| !section.space.is_any());
    for section in program.sections() {
        if spaces {
            text.push_str(&format!(".space {}\n", section.space));
        }
        text.push_str(&format!(".org {:#x}\n", section.address));
        for bytes in section.bytes.chunks(16) {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
            text.push_str(&format!(".byte {}\n", bytes.join(", ")));
        }
    }
    text
}

/// Events in the notation of cases; `None` if one of them has no form there that means the same.
fn entries<P: FamilyRules>(
    expected: &[Expected<P>],
    program: &str,
    parameters: &P::Parameters,
) -> Option<Vec<P::EventEntry>> {
    let assembly = P::assemble(program, parameters).ok()?;
    let entry = |expected: &Expected<P>| {
        let value = match expected {
            Expected::Event(event) => toml::Value::try_from(event).ok()?,
            Expected::Fault(fault) => {
                toml::Table::from_iter([(String::from("fault"), toml::Value::try_from(fault).ok()?)]).into()
            }
        };
        let entry: P::EventEntry = value.try_into().ok()?;
        let meant = P::expected(std::slice::from_ref(&entry), &assembly).ok()?;
        let is_same = match (meant.as_slice(), expected) {
            ([Expected::Event(meant)], Expected::Event(event)) => meant == event,
            ([Expected::Fault(meant)], Expected::Fault(fault)) => meant == fault,
            _ => false,
        };
        is_same.then_some(entry)
    };
    expected.iter().map(entry).collect()
}

fn title(divergence: Option<&Divergence>) -> String {
    match divergence {
        Some(divergence) => format!("Found by fuzzing: {}", divergence.kind()),
        None => String::from("Found by fuzzing"),
    }
}

/// A word of a packet or event, for comparing kinds.
fn word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// The most clauses that are suggested.
const SUGGESTED: usize = 3;

/// Clauses of the cases that are most like the finding: those that have the packet at which the difference is, or the
/// same classes of faults, and little else.
fn suggested<P: FamilyRules>(
    suite: &Suite<P>,
    stream: &Stream<P>,
    divergence: Option<&Divergence>,
) -> Vec<String> {
    let mut decoder = P::reference_decoder();
    let Some(Decoded { log, .. }) = Decoded::of(decoder.as_mut(), stream) else { return Vec::new() };
    let of_divergence = divergence.into_iter().flat_map(|it| [it.expected(), it.got()]).flatten();
    let mut words: BTreeSet<String> = of_divergence.map(|text| word(text).to_owned()).collect();
    if !log.packets().any(|packet| words.contains(word(&line(packet)))) {
        words.extend(log.packets().last().map(|packet| word(&line(packet)).to_owned()));
    }
    // Without a difference every fault may be what it is about.
    let named = |class: FaultClass| match divergence {
        Some(divergence) => divergence.kind().contains(&format!("fault {class}")),
        None => true,
    };
    let classes: BTreeSet<_> = log.faults().map(|fault| fault.class).filter(|class| named(*class)).collect();
    let mut scores: BTreeMap<&str, f64> = BTreeMap::new();
    for file in &suite.files {
        let packets: BTreeSet<String> =
            file.resolved.packets.iter().flatten().map(|packet| word(&line(packet)).to_owned()).collect();
        let faults: BTreeSet<_> = file.resolved.events.iter().flatten().filter_map(fault_class).collect();
        let all = packets.len() + faults.len();
        let shared = packets.intersection(&words).count() + 2 * faults.intersection(&classes).count();
        if let (Some(central), 1..) = (file.case.clauses.first(), all) {
            *scores.entry(central).or_default() += (shared as f64 / all as f64).powi(2);
        }
    }
    let mut scores: Vec<(&str, f64)> = scores.into_iter().collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    scores.into_iter().take(SUGGESTED).map(|(clause, _)| clause.to_owned()).collect()
}

fn fault_class<P: FamilyRules>(expected: &Expected<P>) -> Option<FaultClass> {
    match expected {
        Expected::Fault(fault) => Some(fault.class),
        Expected::Event(_) => None,
    }
}

/// The text of a case, with only those parameters that are not the default.
fn text_of<P: FamilyRules>(case: &Case<P>) -> Result<String, NotPromoted> {
    let mut table = toml::Table::try_from(case).map_err(|error| message(error.to_string()))?;
    let stream = Stream::<P> {
        name: String::new(),
        parameters: case.parameters.clone(),
        program: Program::new(),
        readings: Vec::new(),
        wire: Vec::new(),
    };
    table.insert(String::from("parameters"), stream.deviations().into());
    table.remove("policy");
    let text = toml::to_string_pretty(&table).map_err(|error| message(error.to_string()))?;
    Ok(format!(
        "# Packets and events are those of the reference decoder: compare them with the specification. The clauses are\n\
         # those of the most similar cases: keep what the case proves.\n{text}"
    ))
}

/// The case of a text, which has the same code and bytes as the stream, and keeps the rules for shipped cases.
fn checked<P: FamilyRules>(
    text: String,
    stream: &Stream<P>,
    suite: &Suite<P>,
) -> Result<Arc<CaseFile<P>>, NotPromoted> {
    let no_case =
        |error: &dyn std::fmt::Display| message(format!("the stream has no form as a case: {error}"));
    let case = Case::<P>::parse(&text).map_err(|error| no_case(&error))?;
    let resolved = case.resolve().map_err(|error| no_case(&error))?;
    let same_code =
        |section: &traceproof_vectors::Section| (section.address, section.bytes.clone(), section.space);
    let code = |program: &Program| program.sections().iter().map(same_code).collect::<Vec<_>>();
    if resolved.wire != stream.wire || code(&resolved.program) != code(&stream.program) {
        return Err(no_case(&"its bytes or its code would be others"));
    }
    let path = PathBuf::from(P::ID.name()).join("fuzzed.toml");
    let file = CaseFile { path, text, case, resolved, earlier: None };
    let errors = case::lint(std::slice::from_ref(&file), &suite.registry, &BTreeSet::new());
    match errors.first() {
        Some(error) => Err(no_case(error)),
        None => Ok(Arc::new(file)),
    }
}
