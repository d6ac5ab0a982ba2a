//! `traceproof fuzz init`: creates a fuzz project.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use traceproof_conformance::fuzz_project::{self, Language};
use traceproof_conformance::suite::Directories;
use traceproof_vectors::ProtocolId;

use crate::crates;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Write a directory with a fuzz project for your decoder: libFuzzer, seeds and dictionary from the cases.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof fuzz init --lang c fuzz
  cd fuzz && cargo run --release -- corpus/decode -dict=dictionary.txt -max_total_time=60")]
pub(crate) struct Arguments {
    /// The language of the decoder. For others: `traceproof diff --time`.
    #[arg(long, value_name = "LANGUAGE")]
    lang: Lang,
    /// The protocol that it decodes.
    #[arg(long, value_name = "FAMILY", default_value = "riscv-etrace")]
    family: ProtocolId,
    /// A checkout or a directory of the crates of Traceproof; default: those next to this program.
    #[arg(long, value_name = "DIRECTORY")]
    crates: Option<PathBuf>,
    /// The directory to create.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Lang {
    Rust,
    C,
    Cpp,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Arguments { lang, family, crates, directory } = arguments;
    if directory.exists() {
        return Err(Failure::usage(format!("{} exists; nothing was written", directory.display())));
    }
    let language = match lang {
        Lang::Rust => Language::Rust,
        Lang::C => Language::C,
        Lang::Cpp => Language::Cpp,
    };
    let manifest = crates::fuzz_manifest(language != Language::Rust, family.family(), crates.as_deref())?;
    let corpus =
        fuzz_project::corpus(*family, &Directories::default()).map_err(|errors| Failure::suite(&errors))?;
    let put = |path: &str, bytes: &[u8]| write(&directory.join(path), bytes);
    for (path, text) in language.files(*family) {
        put(path, text.as_bytes())?;
    }
    put("Cargo.toml", manifest.as_bytes())?;
    put(".gitignore", b"/target\n/corpus\n/crash-*\n/timeout-*\n/slow-unit-*\n")?;
    put("dictionary.txt", corpus.dictionary.as_bytes())?;
    for (name, file) in &corpus.seeds {
        put(&format!("corpus/decode/{name}"), file)?;
    }
    let (directory, place, seeds) = (directory.display(), language.place(), corpus.seeds.len());
    print(&format!(
        "{directory}: a fuzz project for {family} with {seeds} seeds; what to change: {place}\n\
         cd {directory} && cargo run --release -- corpus/decode -dict=dictionary.txt -max_total_time=60\n"
    ))?;
    Ok(Exit::Ok)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(|error| Failure::file(parent, error))?;
    fs::write(path, bytes).map_err(|error| Failure::file(path, error))
}
