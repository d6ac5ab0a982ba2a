//! The suite of a verb: the shipped one, or that of a directory.

use std::path::{Path, PathBuf};

use clap::Args;
use traceproof_conformance::suite::Directories;
use traceproof_vectors::ProtocolId;
use traceproof_vectors::shipped::{self, Tree};

use crate::exit::Failure;
use crate::files::check_outside;

/// The argument that names another suite.
#[derive(Debug, Args)]
pub(crate) struct SuiteArgument {
    /// Use the cases of this directory, DIRECTORY/FAMILY/**/CASE.toml, instead of the shipped ones; and the
    /// requirements of DIRECTORY/clauses/FAMILY.toml, if there are any. A directory written by `export`, or `vectors`
    /// of a checkout, also works.
    #[arg(long, value_name = "DIRECTORY")]
    suite: Option<PathBuf>,
}

impl SuiteArgument {
    /// Refuses outputs that are files of the suite: its cases, requirements and retired ids.
    pub(crate) fn check_outputs(&self, outputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
        let Some(root) = &self.suite else { return Ok(()) };
        let is_read = |file: &Path| {
            // Of a link, the file that it leads to.
            let file = file.canonicalize().unwrap_or_default();
            file.extension().is_some_and(|end| end == "toml" || end == "txt")
        };
        let read: Vec<_> = outputs.iter().copied().filter(|(_, file)| file.is_some_and(is_read)).collect();
        check_outside("--suite", root, &read)
    }

    /// Where suites and requirements are.
    pub(crate) fn directories(&self) -> Result<Directories, Failure> {
        let Some(root) = &self.suite else { return Ok(Directories::default()) };
        let nested = root.join("suites");
        let suites = if nested.is_dir() { nested } else { root.clone() };
        only_protocols(&suites)?;
        let clauses = root.join("clauses");
        let clauses = if clauses.is_dir() { Tree::from(clauses) } else { shipped::clauses() };
        let mut directories = Directories::new(suites, clauses);
        directories.argument = Some(root.display().to_string());
        Ok(directories)
    }
}

/// Rejects directories that belong to no protocol, which would be ignored silently, and suites without any.
fn only_protocols(suites: &Path) -> Result<(), Failure> {
    let entries = Tree::from(suites).entries("").map_err(|error| Failure::file(suites, error))?;
    let names = entries.iter().filter(|entry| entry.is_directory).map(|entry| entry.name.to_string_lossy());
    let mut protocols = 0;
    for name in names.filter(|name| !name.starts_with('.') && name != "clauses") {
        if !ProtocolId::ALL.iter().any(|protocol| protocol.name() == name) {
            return Err(Failure::file(&suites.join(&*name), "there is no protocol of this name"));
        }
        protocols += 1;
    }
    if protocols == 0 {
        let known = ProtocolId::ALL.map(ProtocolId::name);
        let message = format!("no cases; they belong into directories named {}", known.join(", "));
        return Err(Failure::file(suites, message));
    }
    Ok(())
}
