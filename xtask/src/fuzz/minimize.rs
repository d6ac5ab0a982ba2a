//! `traceproof fuzz minimize`: a smaller corpus that exercises the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use traceproof_conformance::differential::{Stream, features};
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::promote::protocol_of;

use super::read;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Copy those files of a corpus that exercise something which smaller ones do not, as the reference decoder shows it.
///
/// Needs no build of the fuzz project. libFuzzer's own `-merge=1` goes by the coverage of both decoders, and keeps more.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof fuzz minimize corpus/decode smaller")]
pub(crate) struct Arguments {
    /// The corpus.
    #[arg(value_name = "CORPUS")]
    corpus: PathBuf,
    /// The directory to create.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Arguments { corpus, directory } = arguments;
    if directory.exists() {
        return Err(Failure::usage(format!("{} exists; nothing was written", directory.display())));
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(corpus).map_err(|error| Failure::file(corpus, error))? {
        let path = entry.map_err(|error| Failure::file(corpus, error))?.path();
        let size = path.metadata().map_err(|error| Failure::file(&path, error))?.len();
        files.push((size, path));
    }
    files.sort();
    fs::create_dir_all(directory).map_err(|error| Failure::file(directory, error))?;
    let (mut all, mut kept, mut others) = (BTreeSet::new(), 0, 0);
    for (_, path) in &files {
        let Some(exercised) = exercised(&read(path)?) else {
            others += 1;
            continue;
        };
        let before = all.len();
        all.extend(exercised);
        if all.len() > before {
            let to = directory.join(path.file_name().unwrap_or_default());
            fs::copy(path, &to).map_err(|error| Failure::file(&to, error))?;
            kept += 1;
        }
    }
    print(&format!("{kept} of {} files kept; {others} are no streams\n", files.len()))?;
    Ok(Exit::Ok)
}

/// What the file exercises; `None` if it is no stream.
fn exercised(file: &[u8]) -> Option<BTreeSet<u64>> {
    family::visit(protocol_of(file).ok()?, Exercised(file)).flatten()
}

struct Exercised<'a>(&'a [u8]);

impl Visitor for Exercised<'_> {
    type Output = Option<BTreeSet<u64>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        Some(features(&Stream::<P>::read(self.0).ok()?))
    }
}
