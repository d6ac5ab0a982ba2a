//! `traceproof programs`: the compiled programs that are shipped, and how to rebuild them.

use std::fs;
use std::path::Path;

use clap::{Args, Subcommand};
use traceproof_conformance::riscv_etrace::programs::{
    Shipped, ShippedProgram, Subjects, compile, compression_table, record, run_all,
};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// List, compile, record or measure the shipped programs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof programs list
  traceproof programs build
  traceproof programs record levels --write
  traceproof programs compression")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// What is shipped.
    List,
    /// Compile the sources and compare with the shipped ELF files. Needs gcc-riscv64-unknown-elf and
    /// picolibc-riscv64-unknown-elf of Debian bookworm for identical files.
    Build(Remake),
    /// Run the shipped ELF files in QEMU and compare with the shipped executions. Needs qemu-system-misc.
    Record(Remake),
    /// Bits per instruction of every program with every parameter set, as Markdown.
    Compression,
}

#[derive(Debug, Args)]
struct Remake {
    /// Programs whose name contains one of these; without any, all.
    names: Vec<String>,
    /// Replace the shipped files.
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let shipped = Shipped::riscv_etrace().map_err(|error| Failure::usage(error.to_string()))?;
    match &arguments.verb {
        Verb::List => list(&shipped),
        Verb::Compression => compression(),
        Verb::Build(remake) => {
            let directory = in_checkout(&shipped)?;
            remake.each(&shipped, |program| build_one(remake, directory, program))
        }
        Verb::Record(remake) => {
            let directory = in_checkout(&shipped)?;
            remake.each(&shipped, |program| record_one(remake, directory, program))
        }
    }
}

/// The directory of the programs; embedded ones cannot be rebuilt.
fn in_checkout(shipped: &Shipped) -> Result<&Path, Failure> {
    shipped.files.directory().ok_or_else(|| {
        Failure::usage("the programs are inside this executable; they are made anew in a checkout, by `cargo xtask programs`")
    })
}

fn build_one(remake: &Remake, directory: &Path, program: &ShippedProgram) -> Result<bool, Failure> {
    let shipped = directory.join(program.elf_file());
    let made = shipped.with_extension(new("elf"));
    compile(directory, program, &made).map_err(|error| failure(program, &error))?;
    remake.place(program, &made, &shipped, "")
}

fn record_one(remake: &Remake, directory: &Path, program: &ShippedProgram) -> Result<bool, Failure> {
    let shipped = directory.join(program.execution_file());
    let made = shipped.with_extension(new("xz"));
    let file = fs::File::create(&made).map_err(|error| Failure::file(&made, error))?;
    let recording = record(program, &directory.join(program.elf_file()), file).map_err(|error| {
        // Remove the incomplete recording; it may not exist.
        drop(fs::remove_file(&made));
        failure(program, &error)
    })?;
    let amount = format!(": {} instructions, {} traps", recording.instructions, recording.traps);
    remake.place(program, &made, &shipped, &amount)
}

/// Extension of a file that is being written; unique for each process.
fn new(extension: &str) -> String {
    format!("{extension}.{}", std::process::id())
}

fn failure(program: &ShippedProgram, error: &dyn std::error::Error) -> Failure {
    Failure::usage(format!("{}: {error}", program.name))
}

fn list(shipped: &Shipped) -> Outcome {
    let mut text = String::new();
    for program in &shipped.programs {
        let ShippedProgram { name, instructions, traps, about, .. } = program;
        text.push_str(&format!("{name:<14}  {instructions:>9} instructions  {traps:>4} traps  {about}\n"));
    }
    print(&text)?;
    Ok(Exit::Ok)
}

fn compression() -> Outcome {
    let results = run_all(Subjects::reference(), None, &|_, _| true, &|_| {})
        .map_err(|error| Failure::usage(error.to_string()))?;
    print(&compression_table(&results))?;
    Ok(if results.iter().all(|result| result.passed()) { Exit::Ok } else { Exit::Failed })
}

impl Remake {
    /// Rebuilds every selected program; fails if one differs from the shipped one and is not to replace it.
    fn each(&self, shipped: &Shipped, make: impl Fn(&ShippedProgram) -> Result<bool, Failure>) -> Outcome {
        let wanted = |program: &&ShippedProgram| {
            self.names.is_empty() || self.names.iter().any(|name| program.name.contains(name.as_str()))
        };
        let programs: Vec<_> = shipped.programs.iter().filter(wanted).collect();
        if programs.is_empty() {
            return Err(Failure::usage(format!("no program is called {}", self.names.join(" or "))));
        }
        let mut exit = Exit::Ok;
        for program in programs {
            if !make(program)? {
                exit = Exit::Failed;
            }
        }
        Ok(exit)
    }

    /// Compares a new file with the shipped one, and replaces that one on request.
    fn place(
        &self,
        program: &ShippedProgram,
        made: &Path,
        shipped: &Path,
        amount: &str,
    ) -> Result<bool, Failure> {
        let new = fs::read(made).map_err(|error| Failure::file(made, error))?;
        // A missing file differs.
        let same = fs::read(shipped).is_ok_and(|old| old == new);
        let done = if same || !self.write { fs::remove_file(made) } else { fs::rename(made, shipped) };
        done.map_err(|error| Failure::file(made, error))?;
        let verdict = match (same, self.write) {
            (true, _) => "identical to the shipped one",
            (false, true) => "replaced the shipped one",
            (false, false) => "differs from the shipped one",
        };
        print(&format!("{:<14}  {} bytes, {verdict}{amount}\n", program.name, new.len()))?;
        Ok(same || self.write)
    }
}
