//! Judges a subject over captures of real hardware, which come without expected values: by faults and by relations.

use std::sync::Arc;
use std::time::Duration;

use traceproof_vectors::case::{Level, Polarity};
use traceproof_vectors::{Fault, FaultClass, Program, ProtocolId};

use crate::ProtocolName;
use crate::family::{FamilyRules, Visitor, protocol_of, visit};
use crate::isolation::guarded;
use crate::relations::{self, Attempts, Broken};
use crate::run::{CaseResult, Check, Run, SCHEMA};
use crate::snapshot::{Snapshot, SourceBytes, Stream, StreamError};
use crate::verdict::Divergence;
use crate::{Direction, Invocation, Subject, Verdict};

/// Maximum number of sync points of a capture tried.
pub const MOST_POINTS: usize = 16;

/// What is judged, in the order of reports: that decoding gives no fault that is an error, then the relations.
pub const DIRECTIONS: [Direction; 4] =
    [Direction::Decode, Direction::Chunks, Direction::Join, Direction::Garbage];

/// Judges the subject over the streams of a snapshot; each is reported like a case. A check that panics or takes longer
/// than `deadline` is a verdict, as it is for cases.
///
/// Streams of protocols that are not supported yet, and of sources that wrote into no buffer, are reported as
/// unsupported; those of no family at all are named in [`Run::foreign_sources`]. Trace and results are held in memory.
///
/// # Errors
///
/// The name of the source, and why the snapshot does not contain enough to decode it.
pub fn run(
    subject: &Subject,
    snapshot: &Snapshot,
    streams: &[Stream<'_>],
    invocation: &Invocation,
    deadline: Duration,
) -> Result<Run, (String, StreamError)> {
    let mut cases = Vec::new();
    let mut foreign_sources = Vec::new();
    for stream in streams {
        let Some(protocol) = protocol_of(stream.protocol) else {
            foreign_sources.push(format!("{} ({})", stream.source.name, stream.source.model));
            continue;
        };
        let judge = JudgeStream { protocol, subject, snapshot, stream, deadline, invocation };
        match visit(protocol, judge)
            .unwrap_or_else(|| Err(StreamError::Unsupported(stream.source.model.clone())))
        {
            Ok(mut captured) => cases.append(&mut captured),
            Err(error @ (StreamError::Unsupported(_) | StreamError::NoBuffer)) => {
                let needs = match error {
                    StreamError::Unsupported(model) => model,
                    _ => String::from("a buffer that has its trace"),
                };
                let check = Check { direction: Direction::Decode, verdict: unsupported(needs) };
                cases.push(result(protocol, snapshot, stream, 0, vec![check], invocation));
            }
            Err(error) => return Err((stream.source.name.clone(), error)),
        }
    }
    Ok(Run {
        incomplete: false,
        schema: SCHEMA,
        harness: env!("CARGO_PKG_VERSION").to_owned(),
        invocation: invocation.clone(),
        suite: None,
        subject: subject.title(),
        cases,
        programs: Vec::new(),
        foreign_sources,
    })
}

/// What decoding a stream of a snapshot needs.
#[derive(Clone, Debug)]
pub struct Captured<P: FamilyRules> {
    /// The configuration in the registers of its source.
    pub parameters: P::Parameters,
    /// What its core's memory held.
    pub program: Program,
    /// Its bytes.
    pub bytes: SourceBytes,
}

impl<P: FamilyRules> Captured<P> {
    /// Takes it out of a snapshot.
    ///
    /// # Errors
    ///
    /// When the family does not decode such a source, or the snapshot lacks its configuration.
    pub fn of(snapshot: &Snapshot, stream: &Stream<'_>) -> Result<Self, StreamError> {
        let rules = P::CAPTURES.filter(|captures| captures.protocols.contains(&stream.protocol));
        let rules = rules.ok_or_else(|| StreamError::Unsupported(stream.source.model.clone()))?;
        let parameters = (rules.parameters)(stream)?;
        let program = stream.core.map(|core| snapshot.program(core)).transpose()?.unwrap_or_default();
        Ok(Self { parameters, program, bytes: snapshot.source_bytes(stream)? })
    }
}

/// Judges the pieces of one stream.
struct JudgeStream<'a> {
    protocol: ProtocolId,
    subject: &'a Subject,
    snapshot: &'a Snapshot,
    stream: &'a Stream<'a>,
    deadline: Duration,
    invocation: &'a Invocation,
}

impl Visitor for JudgeStream<'_> {
    type Output = Result<Vec<CaseResult>, StreamError>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Self { protocol, subject, snapshot, stream, deadline, invocation } = self;
        let judged = |(piece, capture): (usize, Capture<P>)| {
            let capture = Arc::new(capture);
            let check = |direction| {
                let (of, capture) = (subject.clone(), Arc::clone(&capture));
                let verdict = guarded(subject, deadline, move || capture.check(&of, direction));
                Check { direction, verdict }
            };
            result(protocol, snapshot, stream, piece, DIRECTIONS.map(check).into(), invocation)
        };
        Ok(pieces::<P>(Captured::of(snapshot, stream)?).enumerate().map(judged).collect())
    }
}

/// A contiguous piece of a stream and what its decoder must know.
struct Capture<P: FamilyRules> {
    parameters: P::Parameters,
    program: Program,
    wire: Vec<u8>,
    /// What was wrong with the frames that it was taken out of.
    frames: Vec<Fault>,
}

fn pieces<P: FamilyRules>(captured: Captured<P>) -> impl Iterator<Item = Capture<P>> {
    let Captured { parameters, program, bytes: SourceBytes { pieces, faults, .. } } = captured;
    pieces.into_iter().enumerate().map(move |(index, wire)| Capture {
        parameters: parameters.clone(),
        program: program.clone(),
        wire,
        frames: if index == 0 { faults.clone() } else { Vec::new() },
    })
}

impl<P: FamilyRules> Capture<P> {
    fn check(&self, subject: &Subject, direction: Direction) -> Verdict {
        let Some(decoder) = subject.decoder::<P>() else { return unsupported("a decoder") };
        let claimed = decoder.capabilities().features;
        let needed = P::required_features(&self.parameters, &self.wire).into_iter();
        let needs: Vec<String> =
            needed.filter(|&feature| !claimed.contains(feature)).map(str::to_owned).collect();
        if !needs.is_empty() {
            return Verdict::Unsupported { needs };
        }
        let Self { parameters, program, wire, .. } = self;
        let stream = relations::Stream { subject, parameters, program, wire };
        let result = match direction {
            Direction::Decode => self.decodes(&stream),
            Direction::Join => stream.joins(MOST_POINTS).map(tried),
            Direction::Garbage => stream.recovers(MOST_POINTS).map(tried),
            _ if !decoder.capabilities().incremental => return unsupported("streams in pieces"),
            _ => stream.repeats(None).map(|()| Verdict::Pass),
        };
        match result {
            Ok(verdict) => verdict,
            Err(Broken::Divergence(divergence)) => Verdict::Fail(*divergence),
            Err(Broken::Refused(refusal)) => Verdict::Undeclared { refusal: refusal.to_string() },
            Err(Broken::NoDecoder) => unsupported("a decoder"),
        }
    }

    /// Neither frames nor trace have an error, and there is something to report.
    fn decodes(&self, stream: &relations::Stream<'_, P>) -> Result<Verdict, Broken> {
        let log = stream.log(&self.wire)?;
        // Memory that the snapshot lacks is no fault of the decoder's.
        let error = |fault: &&Fault| !fault.class.is_warning() && fault.class != FaultClass::NoCode;
        let fault = self.frames.iter().find(error).map(|fault| ("faults of the frames", fault));
        let fault = fault.or_else(|| log.faults().find(error).map(|fault| ("faults", fault)));
        Ok(match fault {
            Some((what, fault)) => {
                let mut divergence = Divergence::sentence(what, fault.to_string());
                divergence.place = Some(fault.place);
                Verdict::Fail(divergence)
            }
            None if log.entries.is_empty() => unsupported("a sync point"),
            None => Verdict::Pass,
        })
    }
}

/// A relation without anything to compare is no result.
fn tried(tried: Attempts) -> Verdict {
    if tried.compared == 0 { unsupported("a sync point with trace after it") } else { Verdict::Pass }
}

fn unsupported(need: impl Into<String>) -> Verdict {
    Verdict::Unsupported { needs: vec![need.into()] }
}

fn result(
    protocol: ProtocolId,
    snapshot: &Snapshot,
    stream: &Stream<'_>,
    piece: usize,
    checks: Vec<Check>,
    invocation: &Invocation,
) -> CaseResult {
    let directory = snapshot.directory.display().to_string();
    let name = &stream.source.name;
    let buffer = stream.buffer.map_or("no buffer", |buffer| buffer.name.as_str());
    CaseResult {
        id: format!("{name}/{buffer}/{piece}"),
        rev: 1,
        protocol: ProtocolName(protocol),
        path: directory.clone(),
        title: format!("a capture of {}", stream.source.model),
        level: Level::Robust,
        polarity: Polarity::Positive,
        clauses: Vec::new(),
        provisional: Vec::new(),
        catches: String::from(
            "faults in sound trace; results that depend on chunks, on what was before, or on where decoding begins",
        ),
        checks,
        reproduce: Some(invocation.command(format!("conformance --snapshot {directory} --source {name}"))),
    }
}
