//! Results on disk as they come, so that a run that ended early can be finished: JSON Lines.
//!
//! The first line says what was judged and how; a run that judges otherwise cannot go on with the file. Each other line
//! is the result of a case or of a real program. A process that is killed leaves at most the last line unfinished, and
//! what it judged is judged again.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{error, fmt};

use serde::{Deserialize, Serialize};
use traceproof_vectors::{ProtocolId, bounded};

use crate::run::{CaseResult, ProgramRun, SubjectName};
use crate::{Options, Subject};

/// Version of the file.
const VERSION: u32 = 1;

/// Results of an earlier run, and the file for those of this one.
#[derive(Debug)]
pub struct Journal {
    cases: HashMap<String, CaseResult>,
    programs: Vec<ProgramRun>,
    out: Mutex<Out>,
}

#[derive(Debug)]
struct Out {
    file: File,
    error: Option<io::Error>,
}

/// Why a file cannot be gone on with.
#[derive(Debug)]
pub enum JournalError {
    /// It cannot be read or written.
    Io(io::Error),
    /// A line is no result, although others follow it.
    Line {
        /// Its number, from 1.
        number: usize,
        /// What is wrong.
        message: String,
    },
    /// Its results come from another subject, or were judged otherwise.
    Other {
        /// What differs.
        what: &'static str,
        /// In the file.
        there: String,
        /// In this run.
        here: String,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Line { number, message } => write!(f, "line {number}: {message}"),
            Self::Other { what, there, here } => {
                write!(f, "it has results of another run: {what} {there}, here {here}")
            }
        }
    }
}

impl error::Error for JournalError {}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What a result depends on besides its case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Conditions {
    version: u32,
    harness: String,
    subject: SubjectName,
    suite: Option<String>,
    judged: String,
}

impl Conditions {
    fn of(subject: &Subject, options: &Options) -> Self {
        let directions: Vec<&str> = options.directions.iter().map(|direction| direction.name()).collect();
        let Options { require, repeat, deadline, parameters, directories, .. } = options;
        let judged = format!(
            "directions [{}], require {require:?}, repeat {repeat}, deadline {deadline:?}, \
             parameters {parameters:?}, {:?}",
            directions.join(" "),
            subject.limits(),
        );
        Self {
            version: VERSION,
            harness: env!("CARGO_PKG_VERSION").to_owned(),
            subject: subject.title(),
            suite: directories.argument.clone(),
            judged,
        }
    }

    /// What differs first.
    fn check(&self, here: &Self) -> Result<(), JournalError> {
        let pairs = [
            ("version", self.version.to_string(), here.version.to_string()),
            ("harness", self.harness.clone(), here.harness.clone()),
            ("subject", format!("{:?}", self.subject), format!("{:?}", here.subject)),
            ("suite", format!("{:?}", self.suite), format!("{:?}", here.suite)),
            ("judged with", self.judged.clone(), here.judged.clone()),
        ];
        let different = pairs.into_iter().find(|(_, there, here)| there != here);
        different.map_or(Ok(()), |(what, there, here)| Err(JournalError::Other { what, there, here }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Written<'a> {
    Run(&'a Conditions),
    Case(&'a CaseResult),
    Program(&'a ProgramRun),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Read {
    Run(Conditions),
    Case(Box<CaseResult>),
    Program(ProgramRun),
}

impl Journal {
    /// A new file; that of an earlier run is emptied.
    ///
    /// # Errors
    ///
    /// When it cannot be written, or has something else.
    pub fn create(path: &Path, subject: &Subject, options: &Options) -> Result<Self, JournalError> {
        let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.len() > 0 && !begins_a_run(&mut file)? {
            return Err(JournalError::Line { number: 1, message: String::from("no results of a run") });
        }
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        let journal = Self::new(file);
        journal.write(&Written::Run(&Conditions::of(subject, options)));
        journal.finish()?;
        Ok(journal)
    }

    /// Goes on with a file; one that does not exist, or in which a run has not begun, is a new one.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written, or has no results of a run with this subject and these options.
    pub fn resume(path: &Path, subject: &Subject, options: &Options) -> Result<Self, JournalError> {
        if !path.exists() {
            return Self::create(path, subject, options);
        }
        drop(bounded::open(path)?);
        let mut file = File::options().read(true).write(true).open(path)?;
        let mut lines = CompleteLines::new(&mut file);
        let Some(first) = lines.read_one()? else {
            return Self::create(path, subject, options);
        };
        let wrong = |number: usize| {
            move |error: serde_json::Error| JournalError::Line { number, message: error.to_string() }
        };
        let Read::Run(conditions) = serde_json::from_str(&first).map_err(wrong(1))? else {
            return Err(JournalError::Line { number: 1, message: String::from("no beginning of a run") });
        };
        conditions.check(&Conditions::of(subject, options))?;
        let (mut cases, mut programs) = (HashMap::new(), Vec::new());
        while let Some(line) = lines.read_one()? {
            let number = lines.number;
            match serde_json::from_str(&line).map_err(wrong(number))? {
                Read::Case(case) => drop(cases.insert(case.id.clone(), *case)),
                Read::Program(run) => programs.push(run),
                Read::Run(_) => {
                    let message = String::from("a second beginning of a run");
                    return Err(JournalError::Line { number, message });
                }
            }
        }
        let end = lines.end;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        Ok(Self { cases, programs, ..Self::new(file) })
    }

    fn new(file: File) -> Self {
        Self { cases: HashMap::new(), programs: Vec::new(), out: Mutex::new(Out { file, error: None }) }
    }

    /// How many results the file had.
    #[must_use]
    pub fn known(&self) -> usize {
        self.cases.len() + self.programs.len()
    }

    /// The result of a case in the same revision.
    pub(crate) fn case(&self, id: &str, rev: u32) -> Option<CaseResult> {
        self.cases.get(id).filter(|case| case.rev == rev).cloned()
    }

    /// The results of the real programs of a protocol.
    pub(crate) fn programs(&self, protocol: ProtocolId) -> Vec<ProgramRun> {
        self.programs.iter().filter(|run| run.protocol.0 == protocol).cloned().collect()
    }

    pub(crate) fn add_case(&self, case: &CaseResult) {
        self.write(&Written::Case(case));
    }

    pub(crate) fn add_program(&self, run: &ProgramRun) {
        self.write(&Written::Program(run));
    }

    /// One line at once, so that a process that is killed between two of them leaves whole ones.
    fn write(&self, line: &Written<'_>) {
        let mut out = self.out();
        if out.error.is_some() {
            return;
        }
        let written = serde_json::to_string(line).map_err(io::Error::from).and_then(|mut text| {
            text.push('\n');
            out.file.write_all(text.as_bytes())
        });
        out.error = written.err();
    }

    fn out(&self) -> MutexGuard<'_, Out> {
        // Nothing panics while the lock is held.
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether everything could be written.
    ///
    /// # Errors
    ///
    /// The first error of writing.
    pub fn finish(&self) -> io::Result<()> {
        self.out().error.take().map_or(Ok(()), Err)
    }
}

/// The lines that are finished.
struct CompleteLines<'a> {
    reader: BufReader<io::Take<&'a mut File>>,
    /// How many were read, and where the last one ends.
    number: usize,
    end: u64,
}

impl<'a> CompleteLines<'a> {
    fn new(file: &'a mut File) -> Self {
        Self { reader: BufReader::new(file.take(bounded::LISTING + 1)), number: 0, end: 0 }
    }

    fn read_one(&mut self) -> Result<Option<String>, JournalError> {
        let mut line = Vec::new();
        let length = self.reader.read_until(b'\n', &mut line)? as u64;
        if line.pop() != Some(b'\n') {
            return Ok(None);
        }
        (self.number, self.end) = (self.number + 1, self.end + length);
        if self.end > bounded::LISTING {
            let limit = bounded::LISTING;
            return Err(io::Error::other(format!("larger than the limit of {limit} bytes")).into());
        }
        let number = self.number;
        let no_text = |_| JournalError::Line { number, message: String::from("no text") };
        String::from_utf8(line).map(Some).map_err(no_text)
    }
}

/// Whether a file begins as a journal does, though it may end there: it was not named by mistake.
fn begins_a_run(file: &mut File) -> io::Result<bool> {
    const BEGINNING: &[u8] = br#"{"run":{"#;
    file.seek(SeekFrom::Start(0))?;
    let mut first = Vec::new();
    file.take(BEGINNING.len() as u64).read_to_end(&mut first)?;
    Ok(BEGINNING.starts_with(&first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;
    use crate::{Agreement, ProtocolName};
    use std::fs;

    fn program(set: &str) -> ProgramRun {
        ProgramRun {
            protocol: ProtocolName(ProtocolId::ArmEtm),
            program: String::from("mix"),
            set: set.to_owned(),
            instructions: 7,
            traps: 0,
            packets: 3,
            bytes: 9,
            verdict: Verdict::Pass,
        }
    }

    #[test]
    fn an_unfinished_line_is_judged_again_and_other_damage_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("run.jsonl");
        let (subject, options) = (Subject::new("acme", "1"), Options::default());
        let journal = Journal::resume(&path, &subject, &options).expect("new");
        for set in ["a", "b"] {
            journal.add_program(&program(set));
        }
        journal.finish().expect("written");
        let whole = fs::read(&path).expect("there");
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).expect("written");
            let journal = Journal::resume(&path, &subject, &options).expect("whole lines");
            let finished = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(journal.known(), finished.saturating_sub(1), "{length}");
            journal.add_program(&program("b"));
            let again = Journal::resume(&path, &subject, &options).expect("whole lines");
            assert_eq!(again.known(), journal.known() + 1, "{length}");
        }
        let mut damaged = whole;
        let first = damaged.iter().position(|byte| *byte == b'\n').expect("a line");
        damaged[first + 5] = b'\n';
        fs::write(&path, &damaged).expect("written");
        let error = Journal::resume(&path, &subject, &options).expect_err("damaged");
        assert!(matches!(error, JournalError::Line { number: 2, .. }), "{error}");
        fs::write(&path, b"\n\xff\n").expect("written");
        let error = Journal::resume(&path, &subject, &options).expect_err("no beginning");
        assert!(matches!(error, JournalError::Line { number: 1, .. }), "{error}");
    }

    #[test]
    fn results_of_another_run_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("run.jsonl");
        let (subject, options) = (Subject::new("acme", "1"), Options::default());
        Journal::create(&path, &subject, &options).expect("new");
        let refused = |subject: &Subject, options: &Options| {
            Journal::resume(&path, subject, options).expect_err("another run").to_string()
        };
        assert!(refused(&Subject::new("acme", "2"), &options).contains("subject"));
        let strict = Options { require: Agreement::Exact, ..Options::default() };
        assert!(refused(&subject, &strict).contains("require Exact"));
        fs::write(&path, "a list of things to do").expect("written");
        assert!(refused(&subject, &options).contains("line 1"));
        let error = Journal::create(&path, &subject, &options).expect_err("something else");
        assert!(error.to_string().contains("line 1"), "{error}");
        assert_eq!(fs::read(&path).expect("there"), b"a list of things to do");
    }
}
