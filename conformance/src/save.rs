//! Writes the bytes of failing checks to files: the input, the output, and the command that reproduces the failure.
//!
//! A run keeps verdicts but no bytes, so the subject runs a second time; the output of a flaky subject may differ from
//! the output that was judged. `verdict.txt` contains a note about that.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use traceproof_vectors::case::{Case, CaseFile, SuiteError};
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{Entry, Log, Protocol, Sink};

use crate::family::{self, FamilyRules, Visitor};
use crate::generate::generated_case;
use crate::listing::{Format, Listing};
use crate::observe::{self, Observed};
use crate::report::text::{self, Style};
use crate::run::{CaseResult, Check, ProgramRun, Run};
use crate::suite::{Directories, Suite};
use crate::{Direction, Subject};

/// Packets of a real program before and after the first difference that are listed.
const AROUND: u64 = 64;

/// A note in every `verdict.txt`.
const NOTE: &str = "The files of this folder are from a second execution of the subject, after the run.";

/// What to save, and where.
#[derive(Debug)]
pub struct Saving<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// The run whose failures are saved.
    pub run: &'a Run,
    /// The directories of its cases.
    pub directories: &'a Directories,
    /// Time limit for one stream of a subject in this process.
    pub deadline: Duration,
}

/// Why failures were not saved.
#[derive(Debug)]
pub enum SaveError {
    /// A file already exists, or cannot be written.
    Io(PathBuf, io::Error),
    /// The suite can no longer be read.
    Suite(Vec<SuiteError>),
    /// The directory is not empty.
    NotEmpty(PathBuf),
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Suite(errors) => match errors.first() {
                Some(error) => error.fmt(f),
                None => f.write_str("the suite is invalid"),
            },
            Self::NotEmpty(path) => {
                write!(f, "{}: the directory is not empty, and nothing is overwritten", path.display())
            }
        }
    }
}

impl std::error::Error for SaveError {}

/// Creates the directory, if it does not exist.
///
/// # Errors
///
/// When it is not empty, or cannot be created.
pub fn prepare(directory: &Path) -> Result<(), SaveError> {
    let failed = |error| SaveError::Io(directory.to_owned(), error);
    fs::create_dir_all(directory).map_err(failed)?;
    match fs::read_dir(directory).map_err(failed)?.next() {
        None => Ok(()),
        Some(_) => Err(SaveError::NotEmpty(directory.to_owned())),
    }
}

/// Writes a folder for every case and every real program with a failure, and `index.json`. Returns the number of
/// folders.
///
/// # Errors
///
/// When a file already exists or cannot be written.
pub fn failures(saving: &Saving<'_>, subject: &Subject) -> Result<usize, SaveError> {
    let mut index = Vec::new();
    for protocol in family::IMPLEMENTED {
        if let Some(saved) = family::visit(protocol, Save { saving, subject }) {
            index.extend(saved?);
        }
    }
    let text = serde_json::to_string_pretty(&index).unwrap_or_default();
    write(&saving.directory.join("index.json"), format!("{text}\n").as_bytes())?;
    Ok(index.len())
}

/// A row of `index.json`.
#[derive(Serialize)]
struct Saved {
    /// Id of the case, or program and set.
    name: String,
    folder: String,
    protocol: &'static str,
    failures: Vec<Failed>,
    reproduce: String,
}

#[derive(Serialize)]
struct Failed {
    direction: Direction,
    verdict: String,
}

struct Save<'a> {
    saving: &'a Saving<'a>,
    subject: &'a Subject,
}

impl Visitor for Save<'_> {
    type Output = Result<Vec<Saved>, SaveError>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let run = self.saving.run;
        let mut saved = Vec::new();
        let cases: Vec<&CaseResult> = run.failed().filter(|case| case.protocol.0 == P::ID).collect();
        if !cases.is_empty() {
            let suite = Suite::<P>::load(self.saving.directories).map_err(SaveError::Suite)?;
            for case in cases {
                let file = suite.files.iter().find(|file| file.case.id == case.id);
                let generated = || generated_case::<P>(&case.id);
                if let Some(file) = file.cloned().or_else(generated) {
                    saved.push(self.case(case, &file)?);
                }
            }
        }
        for program in run.failed_programs().filter(|program| program.protocol.0 == P::ID) {
            saved.push(self.program::<P>(program)?);
        }
        Ok(saved)
    }
}

impl Save<'_> {
    fn case<P: FamilyRules>(&self, case: &CaseResult, file: &CaseFile<P>) -> Result<Saved, SaveError> {
        let folder = self.folder(&case.id)?;
        let Saving { deadline, run, .. } = *self.saving;
        folder.write("case.toml", case_text(file).as_bytes())?;
        folder.toml("parameters.toml", &file.case.parameters)?;
        folder.write("expected.bin", &file.resolved.wire)?;
        let mut notes = String::new();
        if self.subject.has_decoder::<P>() {
            let observed = observe::decoding_of_case(self.subject, deadline, file);
            folder.log("decoder.jsonl", &observed.log)?;
            notes.push_str(&ended("decoder", &observed));
        }
        if self.subject.has_encoder::<P>() && file.resolved.execution.is_some() {
            let observed = observe::encoding_of_case(self.subject, deadline, file);
            folder.write("encoder.bin", &observed.log.wire)?;
            notes.push_str(&ended("encoder", &observed));
        }
        let reproduce = text::command_for_case(run, case);
        let shown = text::failed_case(Some(run), case, Style::default());
        folder.write("verdict.txt", format!("{shown}\n{NOTE}\n{notes}").as_bytes())?;
        Ok(folder.saved::<P>(&case.id, case.failures(), reproduce))
    }

    fn program<P: FamilyRules>(&self, program: &ProgramRun) -> Result<Saved, SaveError> {
        let name = program.name();
        let folder = self.folder(&name)?;
        let run = self.saving.run;
        let found = P::PROGRAMS.and_then(|programs| (programs.find)(&program.program, &program.set).ok()?);
        let mut notes = String::new();
        if let Some(recorded) = found {
            folder.toml("parameters.toml", &recorded.parameters)?;
            let first = observe::first_packet(&program.verdict).unwrap_or(0).saturating_sub(AROUND);
            let packets = first..first + 2 * AROUND;
            let made = observe::program(self.subject, recorded, packets.clone());
            folder.write("expected.bin", &made.expected)?;
            if let Some(decoder) = made.decoder {
                folder.log("decoder.jsonl", &decoder.log)?;
                notes.push_str(&format!(
                    "decoder.jsonl is what the decoder reports for expected.bin, packets {}..{}.\n",
                    packets.start, packets.end
                ));
                notes.push_str(&ended("decoder", &decoder));
            }
            if let Some(encoder) = made.encoder {
                folder.write("encoder.bin", &encoder.log.wire)?;
                notes.push_str(&ended("encoder", &encoder));
            }
        } else {
            notes.push_str("Its parameters are from a file; only this verdict is saved.\n");
        }
        let reproduce = text::command_for_program(run, program);
        let shown = text::failed_program(run, program, Style::default());
        folder.write("verdict.txt", format!("{shown}\n{NOTE}\n{notes}").as_bytes())?;
        let check = Check { direction: Direction::RoundTrip, verdict: program.verdict.clone() };
        Ok(folder.saved::<P>(&name, [&check], reproduce))
    }

    fn folder(&self, name: &str) -> Result<Folder, SaveError> {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let mut safe: String = name.chars().map(|c| if is_safe(c) { c } else { '-' }).collect();
        if safe.starts_with('.') {
            safe.insert(0, '-');
        }
        let path = self.saving.directory.join(&safe);
        fs::create_dir(&path).map_err(|error| SaveError::Io(path.clone(), error))?;
        Ok(Folder { path, name: safe })
    }
}

/// Why one side of the subject did not finish.
fn ended<P: Protocol>(side: &str, observed: &Observed<P>) -> String {
    observed
        .ended
        .as_ref()
        .map(|verdict| format!("The {side} did not finish: {verdict}\n"))
        .unwrap_or_default()
}

struct Folder {
    path: PathBuf,
    name: String,
}

impl Folder {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), SaveError> {
        write(&self.path.join(name), bytes)
    }

    fn toml(&self, name: &str, value: &impl Serialize) -> Result<(), SaveError> {
        let text = toml::to_string(value).unwrap_or_else(|error| format!("# {error}\n"));
        self.write(name, text.as_bytes())
    }

    /// Writes the log in the form of `decode --format jsonl`.
    fn log<P: FamilyRules>(&self, name: &str, log: &Log<P>) -> Result<(), SaveError> {
        let path = self.path.join(name);
        let failed = |error| SaveError::Io(path.clone(), error);
        let mut listing = Listing::<P, _>::new(BufWriter::new(new_file(&path)?), Format::JsonLines, None);
        let sink: &mut dyn Sink<P> = &mut listing;
        for (place, entry) in &log.entries {
            match entry {
                Entry::Packet(packet) => sink.packet(*place, packet),
                Entry::Event(event) => sink.event(*place, event),
                Entry::Fault(fault) => sink.fault(fault),
            }
        }
        listing.finish().map(|_| ()).map_err(failed)
    }

    fn saved<'a, P: FamilyRules>(
        &self,
        name: &str,
        failures: impl IntoIterator<Item = &'a Check>,
        reproduce: String,
    ) -> Saved {
        let failed =
            |check: &Check| Failed { direction: check.direction, verdict: check.verdict.to_string() };
        Saved {
            name: name.to_owned(),
            folder: self.name.clone(),
            protocol: P::ID.name(),
            failures: failures.into_iter().map(failed).collect(),
            reproduce,
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), SaveError> {
    new_file(path)?.write_all(bytes).map_err(|error| SaveError::Io(path.to_owned(), error))
}

/// Creates a file that must not exist.
fn new_file(path: &Path) -> Result<fs::File, SaveError> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    opened.map_err(|error| SaveError::Io(path.to_owned(), error))
}

/// The text of a case. For a case without a file, this is the code as bytes, and wire and packets as a case has them;
/// `explain` shows its events.
#[must_use]
pub fn case_text<P: FamilyRules>(file: &CaseFile<P>) -> String {
    if !file.text.is_empty() {
        return file.text.clone();
    }
    let mut text = String::new();
    for section in file.resolved.program.sections() {
        let space = if section.space.is_any() { String::new() } else { format!(", {}", section.space) };
        text.push_str(&format!("# code at {:#x}{space}: {}\n", section.address, show_bytes(&section.bytes)));
    }
    let case = Case {
        wire: P::show_wire(&file.resolved.wire, &file.case.parameters),
        packets: file.resolved.packets.clone(),
        ..file.case.clone()
    };
    text.push_str(&toml::to_string(&case).unwrap_or_else(|error| format!("# {error}\n")));
    text
}
