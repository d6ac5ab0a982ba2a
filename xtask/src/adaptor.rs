//! `traceproof adaptor`: creates an adaptor.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use traceproof_conformance::adaptor::kit;

use crate::crates;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;
use crate::program::invocation;

/// Programs that attach a decoder or an encoder in any language.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    New(Arguments),
}

/// Write a directory with a working adaptor, in which your decoder or encoder replaces the example.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof adaptor new --lang python acme
  traceproof adaptor new --lang c --encoder acme
  traceproof conformance --subject acme/subject.toml")]
pub(crate) struct Arguments {
    /// The language.
    #[arg(long, value_name = "LANGUAGE")]
    lang: Language,
    /// For an encoder instead of a decoder; C and Python.
    #[arg(long)]
    encoder: bool,
    /// Rust: a checkout or a directory of the crates of Traceproof; default: those next to this program.
    #[arg(long, value_name = "DIRECTORY")]
    crates: Option<PathBuf>,
    /// The directory to create; its last part names the subject.
    #[arg(value_name = "NAME")]
    directory: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    Rust,
    C,
    Python,
}

impl Language {
    const fn kit(self) -> kit::Language {
        match self {
            Self::Rust => kit::Language::Rust,
            Self::C => kit::Language::C,
            Self::Python => kit::Language::Python,
        }
    }
}

pub(crate) fn run(verb: &Verb) -> Outcome {
    let Verb::New(Arguments { lang, encoder, crates, directory }) = verb;
    let name = directory.file_name().and_then(|name| name.to_str());
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name =
        name.filter(|name| name.chars().all(is_word) && name.starts_with(|c: char| c.is_ascii_alphabetic()));
    let name =
        name.ok_or_else(|| Failure::usage("the name must be a letter and then letters, digits, - and _"))?;
    if directory.exists() {
        return Err(Failure::usage(format!("{} exists; nothing was written", directory.display())));
    }
    let kit = lang.kit();
    let files = if *encoder { kit.encoder_files() } else { Some(kit.files()) };
    let files = files.ok_or_else(|| Failure::usage("kits for encoders are in C and Python"))?;
    let manifest = match lang {
        Language::Rust => Some(crates::manifest(name, crates.as_deref())?),
        _ if crates.is_some() => return Err(Failure::usage("--crates is for Rust")),
        _ => None,
    };
    for file in files {
        write(&directory.join(file.path), &file.for_name(name))?;
    }
    if let Some(manifest) = manifest {
        write(&directory.join("Cargo.toml"), &manifest)?;
    }
    let (directory, place) = (directory.display(), kit.place());
    let next = invocation().command(format!("conformance --subject {directory}/subject.toml"));
    let yours = if *encoder { "encoder" } else { "decoder" };
    print(&format!("{directory}: an adaptor that works; put your {yours} into {place}\n{next}\n"))?;
    Ok(Exit::Ok)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(|error| Failure::file(parent, error))?;
    fs::write(path, text).map_err(|error| Failure::file(path, error))
}
