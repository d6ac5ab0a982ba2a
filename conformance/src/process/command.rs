//! How is a subject started?

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use traceproof_vectors::bounded;

use super::exec::Exec;
use super::{Limits, StderrCopy};
use crate::adaptor::frame::Framing;
use crate::family::{self, FamilyRules, Visitor, toml_error};

/// A program that implements `tdut/2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The executable: a path, or a name that the system looks for.
    pub program: PathBuf,
    /// Its arguments. No shell reads them.
    pub arguments: Vec<OsString>,
    /// Where it runs; `None` = here.
    pub directory: Option<PathBuf>,
    /// Environment variables besides the few that every subject gets.
    pub environment: BTreeMap<String, String>,
    /// The framings that it is offered, the preferred one first.
    pub framings: Vec<Framing>,
    /// Whether it is offered [back-references](crate::adaptor::backref) for repeated items.
    pub again: bool,
    /// The name in reports, if not the one that it gives itself.
    pub name: Option<String>,
    /// Readings that it follows, besides those that it claims.
    pub readings: Vec<String>,
    /// How it is used if it is a tool without `tdut/2`.
    pub exec: Option<Arc<Exec>>,
    /// Where its standard error is copied to.
    pub stderr: Option<StderrCopy>,
}

impl Command {
    /// Environment variables that subjects inherit.
    pub(super) const INHERITED: [&str; 4] = ["PATH", "HOME", "TMPDIR", "SystemRoot"];
    /// Environment variables that are the same for all subjects.
    pub(super) const FIXED: [(&str, &str); 2] = [("LC_ALL", "C"), ("TZ", "UTC")];

    /// A program, with arguments, that is offered every framing, lines first.
    #[must_use]
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            directory: None,
            environment: BTreeMap::new(),
            framings: Framing::ALL.to_vec(),
            again: true,
            name: None,
            readings: Vec::new(),
            exec: None,
            stderr: None,
        }
    }
}

/// A file that describes how to start a subject, and its limits.
///
/// Instead of `command`, a file may have `shared_object`, which a [host](SubjectFile#shared-objects) loads, or a table
/// `[exec]` for a tool without the protocol, see [`exec`](super::exec).
///
/// ```toml
/// command = ["python3", "acme_tdut.py"]  # in the directory of this file
/// framings = ["jsonl"]                   # offered; the subject chooses
/// again = true                           # also offered: back-references for repeated items
/// readings = ["rvet-r7"]                 # followed, besides those that it claims
///
/// [env]
/// ACME_LOG = "off"
///
/// [limits]
/// memory = 2_000_000_000                 # bytes of address space; 0: no limit
/// message = 67_108_864                   # bytes of an answer
///
/// [deadlines]
/// hello = 10.0                           # seconds
/// answer = 1.0                           # at least; 50 times the median, if that is more
/// scale = 1.0
/// ```
///
/// # Shared objects
///
/// `shared_object = "acme.so"` starts `traceproof-host`, which loads it: `host` gives its path, if it is not next to
/// this executable.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectFile {
    /// How to start it.
    pub command: Command,
    /// What it may use.
    pub limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    command: Option<Vec<String>>,
    shared_object: Option<PathBuf>,
    host: Option<PathBuf>,
    exec: Option<Exec>,
    name: Option<String>,
    framings: Option<Vec<Framing>>,
    again: Option<bool>,
    #[serde(default)]
    readings: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    limits: TextLimits,
    #[serde(default)]
    deadlines: TextDeadlines,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TextLimits {
    memory: Option<u64>,
    message: Option<u64>,
    deaths: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TextDeadlines {
    hello: Option<f64>,
    answer: Option<f64>,
    scale: Option<f64>,
}

/// Why a file names no subject.
#[derive(Debug)]
pub struct SubjectFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, with line and column where that is known.
    pub message: String,
}

impl SubjectFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, a field is unknown or wrong, or there is no command.
    pub fn read(path: &Path) -> Result<Self, SubjectFileError> {
        let failed = |message: String| SubjectFileError { path: path.to_owned(), message };
        let text = bounded::read_to_string(path, bounded::TEXT).map_err(|error| failed(error.to_string()))?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        // A program that is a path is looked for before the directory is changed.
        let directory = directory.canonicalize().map_err(|error| failed(error.to_string()))?;
        Self::parse(&text, &directory).map_err(failed)
    }

    fn parse(text: &str, directory: &Path) -> Result<Self, String> {
        let file: Text = toml::from_str(text).map_err(|error| toml_error(text, &error))?;
        let start = file.start(directory)?;
        let usual = Limits::default();
        let seconds = |name: &str, given: Option<f64>, usual: Duration| {
            let Some(given) = given else { return Ok(usual) };
            Duration::try_from_secs_f64(given).map_err(|_| format!("deadlines.{name}: `{given}` is no time"))
        };
        let scale = file.deadlines.scale.unwrap_or(usual.scale);
        if !(scale.is_finite() && scale > 0.0) {
            return Err(format!("deadlines.scale: `{scale}` is no factor"));
        }
        let limits = Limits {
            hello: seconds("hello", file.deadlines.hello, usual.hello)?,
            answer: seconds("answer", file.deadlines.answer, usual.answer)?,
            scale,
            message: file.limits.message.unwrap_or(usual.message),
            memory: match file.limits.memory {
                Some(0) => None,
                given => given.or(usual.memory),
            },
            deaths: file.limits.deaths.unwrap_or(usual.deaths),
            ..usual
        };
        let framings = file.framings.unwrap_or_else(|| Framing::ALL.to_vec());
        if framings.is_empty() {
            return Err(String::from("`framings` is empty"));
        }
        let known = known_readings();
        if let Some(unknown) = file.readings.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(unknown_reading(unknown, &known));
        }
        let command = Command {
            directory: Some(directory.to_owned()),
            environment: file.env,
            framings,
            again: file.again.unwrap_or(true),
            name: file.name,
            readings: file.readings,
            ..start
        };
        Ok(Self { command, limits })
    }
}

/// The names of the readings of all protocols.
pub(super) fn known_readings() -> Vec<&'static str> {
    let of = |protocol| family::visit(protocol, Readings).unwrap_or_default();
    family::IMPLEMENTED.into_iter().flat_map(of).collect()
}

struct Readings;

impl Visitor for Readings {
    type Output = Vec<&'static str>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        P::READINGS.iter().map(|reading| reading.name).collect()
    }
}

/// A misspelt reading would leave out the cases that depend on it.
pub(super) fn unknown_reading(name: &str, known: &[&str]) -> String {
    format!("no reading is called `{name}`; known are {}", known.join(", "))
}

impl Text {
    /// The program, its arguments, and how it is asked.
    fn start(&self, directory: &Path) -> Result<Command, String> {
        if self.host.is_some() && self.shared_object.is_none() {
            return Err(String::from("`host` is for a `shared_object`"));
        }
        let exec = self.exec.as_ref();
        let argv = match (&self.command, &self.shared_object, exec) {
            (Some(command), None, None) => command.as_slice(),
            (None, Some(object), None) => {
                let host = match &self.host {
                    Some(host) => directory.join(host),
                    None => host_beside_this_executable()?,
                };
                return Ok(Command::new(host, [directory.join(object)]));
            }
            (None, None, Some(exec)) => {
                exec.check()?;
                exec.argv.as_slice()
            }
            _ => return Err(String::from("one of `command`, `shared_object` and `[exec]` must be there")),
        };
        let (program, arguments) = argv.split_first().ok_or("`command` is empty")?;
        let program =
            if program.contains('/') { directory.join(program) } else { PathBuf::from(program.as_str()) };
        Ok(Command { exec: exec.cloned().map(Arc::new), ..Command::new(program, arguments) })
    }
}

/// The host of shared objects, where `cargo build` puts it: beside this executable, or above, where this one is a test.
fn host_beside_this_executable() -> Result<PathBuf, String> {
    let name = format!("traceproof-host{}", std::env::consts::EXE_SUFFIX);
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let found = here.ancestors().skip(1).take(2).map(|place| place.join(&name)).find(|host| host.is_file());
    found.ok_or_else(|| {
        format!(
            "{name} is not beside {}; build it with `cargo build --release --package traceproof-shared-object-host`, \
             or say where it is with `host`",
            here.display()
        )
    })
}

impl fmt::Display for SubjectFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With line and column it is one word.
        let blank = if self.message.starts_with(|c: char| c.is_ascii_digit()) { "" } else { " " };
        write!(f, "{}:{blank}{}", self.path.display(), self.message)
    }
}

impl std::error::Error for SubjectFileError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_how_to_start_and_what_is_allowed() {
        let text = "command = ['./acme', '-x']\nframings = ['bin1']\nreadings = ['etm-pc-1']\n\
                    [env]\nA = 'b'\n[limits]\nmemory = 5\n[deadlines]\nanswer = 0.5\nscale = 2.0\n";
        let file = SubjectFile::parse(text, Path::new("/there")).expect("right");
        assert_eq!(file.command.program, Path::new("/there/./acme"));
        assert_eq!(file.command.arguments, ["-x"]);
        assert_eq!(file.command.framings, [Framing::Bin1]);
        assert_eq!(file.command.readings, ["etm-pc-1"]);
        assert_eq!((file.limits.memory, file.limits.scale), (Some(5), 2.0));
        assert_eq!(file.limits.answer, Duration::from_millis(500));
        let found = SubjectFile::parse("command = ['python3']", Path::new("/there")).expect("right");
        assert_eq!(found.command.program, Path::new("python3"));
        assert_eq!(found.limits.memory, Some(8 << 30));
        let free = "command = ['a']\n[limits]\nmemory = 0\n";
        assert_eq!(SubjectFile::parse(free, Path::new("/there")).expect("right").limits.memory, None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |text: &str| SubjectFile::parse(text, Path::new("/there")).expect_err("wrong");
        assert_eq!(message("command = []"), "`command` is empty");
        assert_eq!(message("command = ['a']\nframings = []"), "`framings` is empty");
        let misspelt = message("command = ['a']\nreadings = ['etm-pc-1', 'etm-pc1']");
        assert!(misspelt.starts_with("no reading is called `etm-pc1`; known are "), "{misspelt}");
        assert!(misspelt.contains(", etm-pc-1, "), "{misspelt}");
        assert!(message("command = ['a']\n[limits]\nmemoy = 3").starts_with("3:1: unknown field `memoy`"));
        assert_eq!(message("command = ['a']\n[deadlines]\nhello = -1.0"), "deadlines.hello: `-1` is no time");
        assert_eq!(message("command = ['a']\n[deadlines]\nscale = 0.0"), "deadlines.scale: `0` is no factor");
    }
}
