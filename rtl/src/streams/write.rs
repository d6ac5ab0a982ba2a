//! Writing a pack of streams.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;
use traceproof_differential::Item;
use traceproof_vectors::case::{CaseFile, CaseProtocol, Expected};
use traceproof_vectors::{Fault, Place, Program};

use super::manifest::{FORMAT, StreamEntry, StreamManifest, VERSION};
use super::table::Shape;
use super::{Column, Sheet, Step};
use crate::Problem;
use crate::monitor::to_hex;
use crate::pack::{LeftOut, digest, prepare};

/// A case with what drives its hardware.
#[derive(Clone, Debug)]
pub struct StreamCase<P: CaseProtocol> {
    /// The case.
    pub file: CaseFile<P>,
    /// Its stimulus, step by step; `None` where it is about decoding only.
    pub stimulus: Option<Vec<P::Stimulus>>,
    /// The bytes that the encoder model sends in each step, and last those at the end. They are written only where
    /// together they are the bytes of the case.
    pub sent: Vec<Vec<u8>>,
    /// Why the pack does not have it. Its stimulus has its columns all the same, so that a choice of cases does not
    /// change them.
    pub left_out: Option<String>,
}

/// Writes a pack of these cases into a directory that is empty or does not exist.
///
/// # Errors
///
/// When the directory has files or cannot be written, or no case is left.
pub fn write<P: CaseProtocol>(directory: &Path, cases: &[StreamCase<P>]) -> Result<StreamManifest, Problem> {
    let problem = |error: io::Error| Problem::whole(directory.display().to_string(), error.to_string());
    if cases.iter().all(|case| case.left_out.is_some()) {
        return Err(Problem::whole(directory.display().to_string(), "no case is left for the pack"));
    }
    prepare(directory)?;
    let values = |case: &StreamCase<P>| -> io::Result<Vec<Value>> {
        let steps = case.stimulus.as_deref().unwrap_or_default().iter();
        steps.map(|step| serde_json::to_value(step).map_err(io::Error::other)).collect()
    };
    let mut writer = Writer::new(directory);
    let mut stimulus = Vec::with_capacity(cases.len());
    for case in cases {
        let values = values(case).map_err(problem)?;
        values.iter().for_each(|value| writer.shape.add(value));
        writer.places += values.len();
        stimulus.push(values);
    }
    writer.shape.settle();
    writer.shape.columns("", writer.places, &mut writer.columns);
    for (case, stimulus) in cases.iter().zip(&stimulus) {
        writer.case(case, stimulus).map_err(problem)?;
    }
    writer.finish(P::ID.name()).map_err(problem)
}

struct Writer<'a> {
    directory: &'a Path,
    shape: Shape,
    places: usize,
    columns: Vec<Column>,
    bytes: Sheet,
    stimulus: Sheet,
    parameters: Vec<Value>,
    policies: Vec<Value>,
    cases: Vec<StreamEntry>,
    left_out: Vec<LeftOut>,
    files: BTreeMap<String, String>,
}

impl<'a> Writer<'a> {
    fn new(directory: &'a Path) -> Self {
        Self {
            directory,
            shape: Shape::default(),
            places: 0,
            columns: Vec::new(),
            bytes: Sheet::default(),
            stimulus: Sheet::default(),
            parameters: Vec::new(),
            policies: Vec::new(),
            cases: Vec::new(),
            left_out: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    fn file(&mut self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.directory.join(name), text)?;
        self.files.insert(name.to_owned(), digest(text.as_bytes()));
        Ok(())
    }

    fn case<P: CaseProtocol>(&mut self, stream: &StreamCase<P>, stimulus: &[Value]) -> io::Result<()> {
        let CaseFile { case, resolved, text, .. } = &stream.file;
        let id = &case.id;
        if let Some(reason) = &stream.left_out {
            self.left_out.push(LeftOut { id: id.clone(), reason: reason.clone() });
            return Ok(());
        }
        let number = u32::try_from(self.cases.len()).unwrap_or(u32::MAX);
        self.wire(id, number, &resolved.wire)?;
        self.expected(&stream.file)?;
        let code = !resolved.program.sections().is_empty();
        if code {
            self.file(&format!("{id}.image"), &image(&resolved.program))?;
        }
        let driven = stream.stimulus.is_some();
        if driven {
            let first = self.steps(id, number, stimulus)?;
            let known = stream.sent.concat() == resolved.wire;
            self.file(&format!("{id}.sent"), &sent(first, if known { &stream.sent } else { &[] }))?;
        }
        let parameters = serde_json::to_value(&case.parameters).map_err(io::Error::other)?;
        let policy = serde_json::to_value(&case.policy).map_err(io::Error::other)?;
        let features = P::required_features(&case.parameters, &resolved.wire);
        self.cases.push(StreamEntry {
            number,
            id: id.clone(),
            digest: digest(text.as_bytes()),
            title: case.title.clone(),
            level: case.level,
            polarity: case.polarity,
            clauses: case.clauses.clone(),
            features: features.into_iter().map(str::to_owned).collect(),
            readings: case.readings.clone(),
            parameters: index_of(&mut self.parameters, parameters),
            policy: driven.then(|| index_of(&mut self.policies, policy)),
            bytes: resolved.wire.len(),
            packets: resolved.packets.as_ref().map(Vec::len),
            events: resolved.events.as_ref().map(Vec::len),
            steps: driven.then_some(stimulus.len()),
            code,
        });
        Ok(())
    }

    fn wire(&mut self, id: &str, number: u32, wire: &[u8]) -> io::Result<()> {
        let mut text = String::with_capacity(3 * wire.len());
        self.bytes.row(Step::Case, number, "");
        for byte in wire {
            let _ = writeln!(text, "{byte:02x}");
            self.bytes.row(Step::Step, (*byte).into(), "");
        }
        self.bytes.row(Step::Finish, 0, "");
        self.file(&format!("{id}.bytes"), &text)
    }

    /// Packets, then events and faults, as a decoder would report them.
    fn expected<P: CaseProtocol>(&mut self, file: &CaseFile<P>) -> io::Result<()> {
        let packets = file.resolved.packets.iter().flatten();
        let packets = packets.map(|packet| Item::<P>::packet(Place::default(), packet.clone()).anywhere());
        let events = file.resolved.events.iter().flatten().map(|expected| match expected {
            Expected::Event(event) => Item::event(Place::default(), event.clone()).anywhere(),
            Expected::Fault(fault) => Item::fault(&Fault::new(fault.class, fault.place())),
        });
        let mut text = String::new();
        for item in packets.chain(events) {
            text.push_str(&serde_json::to_string(&item).map_err(io::Error::other)?);
            text.push('\n');
        }
        self.file(&format!("{}.expect", file.case.id), &text)
    }

    /// Writes the rows of the stimulus; returns the number of the first step's.
    fn steps(&mut self, id: &str, number: u32, stimulus: &[Value]) -> io::Result<usize> {
        let first = self.stimulus.rows + 1;
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let mut text = format!("// row order argument {}\n", names.join(" "));
        let empty = vec![0; self.columns.len()];
        let mut row = |sheet: &mut Sheet, step: Step, argument: u32, cells: &[u64]| {
            let start = sheet.text.len();
            sheet.row(step, argument, &digits(&self.columns, cells));
            text.push_str(sheet.text.get(start..).unwrap_or_default());
        };
        row(&mut self.stimulus, Step::Case, number, &empty);
        for value in stimulus {
            let mut cells = Vec::with_capacity(empty.len());
            self.shape.cells(Some(value), self.places, &mut cells);
            row(&mut self.stimulus, Step::Step, 0, &cells);
        }
        row(&mut self.stimulus, Step::Finish, 0, &empty);
        self.file(&format!("{id}.stim"), &text)?;
        Ok(first)
    }

    fn finish(mut self, protocol: &str) -> io::Result<StreamManifest> {
        self.bytes.row(Step::End, 0, "");
        let text = std::mem::take(&mut self.bytes.text);
        self.file("bytes.memh", &text)?;
        let words = 2 + body(&self.columns).div_ceil(8);
        if self.stimulus.rows > 0 {
            let empty = vec![0; self.columns.len()];
            self.stimulus.row(Step::End, 0, &digits(&self.columns, &empty));
            let text = std::mem::take(&mut self.stimulus.text);
            self.file("stimulus.memh", &text)?;
        }
        let header = header(&self.columns, words);
        self.file("streams.vh", &header)?;
        let manifest = StreamManifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            protocol: protocol.to_owned(),
            bytes: self.bytes.rows(2),
            stimulus: (self.stimulus.rows > 0).then(|| self.stimulus.rows(words)),
            columns: self.columns,
            parameters: self.parameters,
            policies: self.policies,
            cases: self.cases,
            left_out: self.left_out,
            files: self.files,
        };
        let text = serde_json::to_string_pretty(&manifest).map_err(io::Error::other)?;
        fs::write(self.directory.join("manifest.json"), text + "\n")?;
        Ok(manifest)
    }
}

fn index_of(known: &mut Vec<Value>, value: Value) -> usize {
    known.iter().position(|other| *other == value).unwrap_or_else(|| {
        known.push(value);
        known.len() - 1
    })
}

/// Digits of all columns together.
fn body(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.digits).sum()
}

/// The digits of a row after its head, filled up to whole words.
fn digits(columns: &[Column], cells: &[u64]) -> String {
    let mut text = String::new();
    for (column, cell) in columns.iter().zip(cells) {
        let _ = write!(text, "_{cell:0digits$x}", digits = column.digits);
    }
    let fill = body(columns).next_multiple_of(8) - body(columns);
    if fill > 0 {
        let _ = write!(text, "_{:0fill$x}", 0);
    }
    text
}

/// The steps that send something: the row, and the bytes.
fn sent(first: usize, steps: &[Vec<u8>]) -> String {
    let lines = (first..).zip(steps).filter(|(_, bytes)| !bytes.is_empty());
    lines.map(|(row, bytes)| format!("{row:08x} {}\n", to_hex(bytes))).collect()
}

/// The code, with the states of the processor in which it is there.
fn image(program: &Program) -> String {
    let mut text = String::new();
    for section in program.sections() {
        if !section.space.is_any() {
            let _ = writeln!(text, "// {}", section.space);
        }
        let _ = writeln!(text, "@{:x}", section.address.0);
        for line in section.bytes.chunks(16) {
            let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(text, "{}", bytes.join(" "));
        }
    }
    text
}

/// Where columns are in a row, and what their numbers stand for.
fn header(columns: &[Column], words: usize) -> String {
    let name = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
    };
    let mut text = format!("`define TP_WORDS {words}\n");
    let mut left = 32 * (words - 2);
    for column in columns {
        let low = left - 4 * column.digits;
        let _ = writeln!(text, "`define TP_{} {}:{low}", name(&column.name), left - 1);
        for (code, value) in (1..).zip(&column.values) {
            let _ = writeln!(text, "`define TP_{}__{} {code}", name(&column.name), name(value));
        }
        left = low;
    }
    text
}
