//! Outcomes as they come, in a file, so that a run of hours that was interrupted can be resumed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::mutant::Mutant;
use crate::outcome::{Options, Outcome};

/// What outcomes depend on besides the sources; the first line of the file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Conditions {
    families: Vec<String>,
    count_kills: bool,
    real_programs: bool,
}

#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    #[serde(flatten)]
    outcome: Outcome,
}

/// The file, and what it had from the run that is resumed.
pub(crate) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    known: BTreeMap<String, Outcome>,
}

impl Journal {
    /// Begins the file anew, or, to resume, reads it and goes on at its end.
    pub(crate) fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let Options { families, count_kills, real_programs, .. } = options.clone();
        let conditions = Conditions { families, count_kills, real_programs };
        let known = if options.resume { read(path, &conditions)? } else { BTreeMap::new() };
        let mut open = OpenOptions::new();
        open.create(true).write(true).append(options.resume).truncate(!options.resume);
        let file = open.open(path).map_err(|error| Error::file(path, error))?;
        let journal = Self { path: path.to_owned(), file: Mutex::new(file), known };
        if options.resume {
            // Ends a line that was not finished.
            journal.write("\n")?;
        } else {
            journal.append(&conditions)?;
        }
        Ok(journal)
    }

    /// What became of the mutant in the run that is resumed.
    pub(crate) fn known(&self, mutant: &Mutant) -> Option<Outcome> {
        self.known.get(&mutant.id).cloned()
    }

    /// Adds an outcome.
    pub(crate) fn add(&self, mutant: &Mutant, outcome: &Outcome) -> Result<(), Error> {
        self.append(&Line { id: mutant.id.clone(), outcome: outcome.clone() })
    }

    fn append(&self, line: &impl Serialize) -> Result<(), Error> {
        self.write(&(serde_json::to_string(line).map_err(|error| Error::content(&self.path, error))? + "\n"))
    }

    fn write(&self, text: &str) -> Result<(), Error> {
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        file.write_all(text.as_bytes()).map_err(|error| Error::file(&self.path, error))
    }
}

/// The outcomes of a run under the same conditions. A last line that was not finished is left out.
fn read(path: &Path, conditions: &Conditions) -> Result<BTreeMap<String, Outcome>, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().and_then(|line| serde_json::from_str::<Conditions>(line).ok());
    if first.as_ref() != Some(conditions) {
        let message = "the run to be resumed had other --family, --count-kills or --real-programs";
        return Err(Error::Usage(String::from(message)));
    }
    let lines = lines.filter_map(|line| serde_json::from_str::<Line>(line).ok());
    Ok(lines.map(|line| (line.id, line.outcome)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::Operator;
    use crate::worker::Failure;

    fn mutant(id: &str) -> Mutant {
        Mutant {
            id: id.to_owned(),
            file: String::new(),
            line: 1,
            column: 1,
            function: String::new(),
            operator: Operator::Body,
            text: String::new(),
            change: String::new(),
            occurrence: 0,
        }
    }

    #[test]
    fn what_was_judged_is_known_when_the_run_is_resumed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("judged.jsonl");
        let text = |text: &str| text.to_owned();
        let failure =
            Failure { case: text("a"), direction: text("decode"), kind: text("fail"), message: text("b") };
        let killed = Outcome::Killed { failures: vec![failure] };
        let options = Options::default();
        let journal = Journal::open(&path, &options).expect("opens");
        journal.add(&mutant("1"), &Outcome::Survived).expect("writes");
        journal.add(&mutant("2"), &killed).expect("writes");
        let mut half = fs::read_to_string(&path).expect("reads");
        half.push_str("{\"id\":\"3\",\"outco");
        fs::write(&path, half).expect("writes");

        let resumed = Options { resume: true, ..Options::default() };
        let journal = Journal::open(&path, &resumed).expect("opens");
        assert_eq!(journal.known(&mutant("1")), Some(Outcome::Survived));
        assert_eq!(journal.known(&mutant("2")), Some(killed));
        assert_eq!(journal.known(&mutant("3")), None);
        journal.add(&mutant("4"), &Outcome::Crashed).expect("writes");
        let journal = Journal::open(&path, &resumed).expect("opens");
        assert_eq!(
            journal.known(&mutant("4")),
            Some(Outcome::Crashed),
            "the half line before it does no harm"
        );

        let others = Options { count_kills: true, ..resumed };
        let error = Journal::open(&path, &others).err().expect("other conditions").to_string();
        assert!(error.contains("had other --family"), "{error}");
        let anew = Journal::open(&path, &options).expect("opens");
        assert_eq!(anew.known(&mutant("1")), None);
    }
}
