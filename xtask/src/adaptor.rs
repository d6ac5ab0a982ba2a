//! `traceproof adaptor`: the beginning of an adaptor.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;
use crate::program::invocation;

/// Programs that attach a decoder in any language.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    New(Arguments),
}

/// Write a directory with a working adaptor, in which your decoder takes the place of the example.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof adaptor new --lang python acme
  traceproof conformance --subject acme/subject.toml")]
pub(crate) struct Arguments {
    /// The language.
    #[arg(long, value_name = "LANGUAGE")]
    lang: Language,
    /// The directory to be made; its last part names the decoder.
    #[arg(value_name = "NAME")]
    directory: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    Rust,
    C,
    Python,
}

/// The text of a file of a kit.
macro_rules! kit {
    ($file:literal) => {
        ($file, include_str!(concat!("../../conformance/adaptors/", $file)))
    };
}

impl Language {
    /// The files of the kit, by their places below its directory's parent, and what to do with them.
    const fn files(self) -> (&'static [(&'static str, &'static str)], &'static str) {
        match self {
            Self::Rust => (
                &[kit!("rust/Cargo.toml.in"), kit!("rust/src/main.rs"), kit!("rust/subject.toml")],
                "src/main.rs",
            ),
            Self::C => (
                &[
                    kit!("c/tdut.h"),
                    kit!("c/tdut.c"),
                    kit!("c/example.c"),
                    kit!("c/Makefile"),
                    kit!("c/subject.toml"),
                ],
                "example.c, and run make",
            ),
            Self::Python => (
                &[kit!("python/tdut.py"), kit!("python/example.py"), kit!("python/subject.toml")],
                "example.py",
            ),
        }
    }
}

pub(crate) fn run(verb: &Verb) -> Outcome {
    let Verb::New(Arguments { lang, directory }) = verb;
    let name = directory.file_name().and_then(|name| name.to_str());
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name =
        name.filter(|name| name.chars().all(is_word) && name.starts_with(|c: char| c.is_ascii_alphabetic()));
    let name =
        name.ok_or_else(|| Failure::usage("the name must be a letter and then letters, digits, - and _"))?;
    if directory.exists() {
        return Err(Failure::usage(format!("{} exists; nothing was written", directory.display())));
    }
    let (files, place) = lang.files();
    for (file, text) in files {
        let file = file.split_once('/').map_or(*file, |(_, file)| file);
        let path = directory.join(file.trim_end_matches(".in"));
        let text =
            text.replace("example-python", name).replace("example-rust", name).replace("example-c", name);
        let parent = path.parent().unwrap_or(directory);
        fs::create_dir_all(parent).map_err(|error| Failure::file(parent, error))?;
        fs::write(&path, text.replace("\"NAME\"", &format!("\"{name}\"")))
            .map_err(|error| Failure::file(&path, error))?;
    }
    let directory = directory.display();
    let next = invocation().command(format!("conformance --subject {directory}/subject.toml"));
    print(&format!("{directory}: an adaptor that works; put your decoder into {place}\n{next}\n"))?;
    Ok(Exit::Ok)
}
