//! The traces of a snapshot as text.

use std::io::Write;

use serde::Serialize;
use traceproof_conformance::captures::Captured;
use traceproof_conformance::family::{self, FamilyRules, Visitor, protocol_of};
use traceproof_conformance::listing::{Counts, Format, severity};
use traceproof_conformance::snapshot::{Snapshot, SourceBytes, Stream, StreamError};
use traceproof_conformance::visible;
use traceproof_vectors::{Family, Fault, ProtocolId};

use super::arguments::{Arguments, exit_for};
use super::piece::{Broken, Pieces};
use crate::exit::{Failure, Outcome};
use crate::files::Output;
use crate::snapshot::{read, select};

/// A source as a line of a listing.
#[derive(Serialize)]
struct Header<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    core: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    /// Of the source alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    /// Why it is not decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// JSON Lines: what is neither packet nor event nor fault of a source.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Aside<'a> {
    Source(&'a Header<'a>),
    /// A fault in the frames of the buffer.
    FrameFault(&'a Fault),
    /// A piece after a gap: its index, counted from 0.
    Piece(usize),
}

impl<'a> Header<'a> {
    fn new(stream: &'a Stream<'a>, bytes: Result<&SourceBytes, &StreamError>) -> Self {
        Self {
            name: &stream.source.name,
            model: &stream.source.model,
            trace_id: stream.trace_id().ok().map(|id| id.value()),
            core: stream.core.map(|core| core.name.as_str()),
            buffer: stream.buffer.map(|buffer| buffer.name.as_str()),
            format: stream.buffer.map(|buffer| buffer.format.to_string()),
            bytes: bytes.ok().map(length),
            refused: bytes.err().map(ToString::to_string),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("source {}: {}", self.name, self.model);
        if let Some(id) = self.trace_id {
            text += &format!(", trace ID {id:#04x}");
        }
        if let Some(core) = self.core {
            text += &format!(", core {core}");
        }
        if let (Some(buffer), Some(format)) = (self.buffer, &self.format) {
            text += &format!(", buffer {buffer} ({format})");
        }
        if let Some(bytes) = self.bytes {
            text += &format!(", {bytes} bytes");
        }
        if let Some(refused) = &self.refused {
            text += &format!(": {refused}");
        }
        text
    }
}

fn length(bytes: &SourceBytes) -> usize {
    bytes.pieces.iter().map(Vec::len).sum()
}

/// Decodes one stream of a snapshot.
struct Decode<'a> {
    arguments: &'a Arguments,
    snapshot: &'a Snapshot,
    stream: &'a Stream<'a>,
    out: &'a mut dyn Write,
    counts: &'a mut Counts,
}

impl Decode<'_> {
    fn header(&mut self, bytes: Result<&SourceBytes, &StreamError>) -> Result<(), Failure> {
        if !self.arguments.has_headers() {
            return Ok(());
        }
        let mut header = Header::new(self.stream, bytes);
        header.bytes =
            header.bytes.or_else(|| self.snapshot.source_bytes(self.stream).ok().map(|it| length(&it)));
        match self.arguments.format() {
            Format::Text => Ok(writeln!(self.out, "{}", visible::line(&header.text()))?),
            Format::JsonLines => aside(self.out, &Aside::Source(&header)),
        }
    }

    /// By the rules of its family. The inner error is why it is not decoded.
    fn run(mut self) -> Result<Result<(), StreamError>, Failure> {
        match protocol_of(self.stream.protocol).filter(|protocol| family::IMPLEMENTED.contains(protocol)) {
            Some(protocol) => family::visit(protocol, self).unwrap_or(Ok(Ok(()))),
            None => {
                let error = StreamError::Unsupported(self.stream.source.model.clone());
                self.header(Err(&error))?;
                Ok(Err(error))
            }
        }
    }
}

impl Visitor for Decode<'_> {
    type Output = Result<Result<(), StreamError>, Failure>;

    fn visit<P: FamilyRules>(mut self) -> Self::Output {
        let captured = Captured::<P>::of(self.snapshot, self.stream);
        self.header(captured.as_ref().map(|captured| &captured.bytes))?;
        Ok(match captured {
            Ok(captured) => {
                list(self.arguments, captured, self.out, self.counts)?;
                Ok(())
            }
            Err(error) => Err(error),
        })
    }
}

/// `traceproof decode SNAPSHOT`.
pub(super) fn decode(arguments: &Arguments) -> Outcome {
    if arguments.target.parameters.is_some() || !arguments.target.set.is_empty() {
        return Err(Failure::usage("--parameters, --set: the registers of a snapshot describe its encoders"));
    }
    let snapshot = read(&arguments.input)?;
    let families: Vec<Family> = arguments.family.map(ProtocolId::family).into_iter().collect();
    let streams = select(&snapshot, &arguments.source, &families)?;
    if !arguments.has_headers() && streams.len() > 1 {
        return Err(Failure::usage("--format pc and folded are for one source: name it with --source"));
    }
    let mut out = Output::create(&arguments.output)?;
    let mut counts = Counts::default();
    let (mut decoded, mut passed, mut refused) = (0, Vec::new(), Vec::new());
    for stream in &streams {
        let decode = Decode { arguments, snapshot: &snapshot, stream, out: &mut out, counts: &mut counts };
        match decode.run()? {
            Ok(()) => decoded += 1,
            Err(error @ (StreamError::Unsupported(_) | StreamError::NoBuffer)) => {
                passed.push(about(stream, &error));
            }
            Err(error) => refused.push(about(stream, &error)),
        }
    }
    out.publish()?;
    // A source that cannot be decoded is an error if it was selected by name or is the only one; otherwise it is
    // skipped.
    if !refused.is_empty() || decoded == 0 || (!arguments.source.is_empty() && !passed.is_empty()) {
        refused.append(&mut passed);
        return Err(Failure::usage(refused.join("\nerror: ")));
    }
    for line in passed {
        eprintln!("passed over: {line}");
    }
    Ok(exit_for(counts))
}

/// Why a source is not decoded, in a line.
fn about(stream: &Stream<'_>, error: &StreamError) -> String {
    visible::line(&format!("{}: {error}", stream.source.name)).into_owned()
}

fn aside(out: &mut dyn Write, line: &Aside<'_>) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// Lists a source, piece by piece: decoding restarts after a gap.
pub(super) fn list<P: FamilyRules>(
    arguments: &Arguments,
    captured: Captured<P>,
    out: &mut dyn Write,
    total: &mut Counts,
) -> Result<(), Failure> {
    let Captured { parameters, mut program, bytes } = captured;
    arguments.target.add_to(&mut program)?;
    for fault in &bytes.faults {
        let count = if fault.class.is_warning() { &mut total.warnings } else { &mut total.errors };
        *count += 1;
        if !arguments.has_headers() {
            continue;
        }
        match arguments.format() {
            Format::Text => writeln!(out, "{}: frames of the buffer: {fault}", severity(fault))?,
            Format::JsonLines => aside(out, &Aside::FrameFault(fault))?,
        }
    }
    let mut pieces = Pieces::<P>::new(arguments, &parameters, &program)?;
    for (index, piece) in bytes.pieces.iter().enumerate() {
        if index > 0 && arguments.has_headers() {
            match arguments.format() {
                Format::Text => writeln!(out, "gap: {} bytes after it", piece.len())?,
                Format::JsonLines => aside(out, &Aside::Piece(index))?,
            }
        }
        pieces.decode(&mut piece.as_slice(), out, total).map_err(|broken| match broken {
            Broken::Input(error) => Failure::from(error),
            Broken::Other(failure) => failure,
        })?;
    }
    pieces.finish(out, total)
}
