//! `traceproof export`: the shipped files, as files.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use traceproof_vectors::shipped;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;
use crate::program::invocation;

/// Write the shipped suites, requirements, JSON Schemas and programs into a new directory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof export traceproof-files
  traceproof conformance --suite traceproof-files")]
pub(crate) struct Arguments {
    /// The directory to be made.
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let directory = &arguments.directory;
    if directory.exists() {
        return Err(Failure::usage(format!("{} exists; nothing was written", directory.display())));
    }
    let mut written = 0;
    for (name, tree) in shipped::all() {
        let unreadable = |error| Failure::file(&tree.locate(""), error);
        for file in tree.files().map_err(unreadable)? {
            let bytes = tree.read(&file).map_err(|error| Failure::file(&tree.locate(&file), error))?;
            let path = directory.join(name).join(&file);
            let parent = path.parent().unwrap_or(directory);
            fs::create_dir_all(parent).map_err(|error| Failure::file(parent, error))?;
            fs::write(&path, bytes).map_err(|error| Failure::file(&path, error))?;
            written += 1;
        }
    }
    let directory = directory.display();
    let next = invocation().command(format!("conformance --suite {directory}"));
    print(&format!("{directory}: {written} files; {next} judges by them\n"))?;
    Ok(Exit::Ok)
}
