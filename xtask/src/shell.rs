//! `traceproof completions` and `traceproof man`: what a shell and `man` know about the command line.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Print the completions of a shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof completions bash > ~/.local/share/bash-completion/completions/traceproof
  traceproof completions zsh > ~/.zfunc/_traceproof
  traceproof completions fish > ~/.config/fish/completions/traceproof.fish")]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

/// Write a manual page for the program and for each verb.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof man ~/.local/share/man/man1")]
pub(crate) struct Manual {
    /// The directory for the pages; created if it does not exist.
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

pub(crate) fn completions(mut command: Command, arguments: &Completions) -> Outcome {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Ok)
}

pub(crate) fn manual(command: Command, arguments: &Manual) -> Outcome {
    let directory = &arguments.directory;
    fs::create_dir_all(directory).map_err(|error| Failure::file(directory, error))?;
    clap_mangen::generate_to(command, directory).map_err(|error| Failure::file(directory, error))?;
    print(&format!("{}: the manual pages\n", directory.display()))?;
    Ok(Exit::Ok)
}
