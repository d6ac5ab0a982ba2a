//! Which programs are shipped, and how are they made?

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};

use lzma_rust2::XzReader;
use serde::Deserialize;
use traceproof_vectors::riscv_etrace::{TrapVectors, Xlen};
use traceproof_vectors::shipped::{self, Tree};
use traceproof_vectors::{Program, ProgramError};

use super::{Delegation, ExecutionFileError, ExecutionReader, open_execution};
use crate::elf::{self, Architecture, ElfError, Machine};

/// The programs of a directory that has a `programs.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// ELF files, executions, sources in `src`.
    pub files: Tree,
    /// In the order of `programs.toml`.
    pub programs: Vec<ShippedProgram>,
}

/// One program of `programs.toml`: how it is made and run, and what its execution amounts to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShippedProgram {
    /// Stem of its file names, e.g. `mix.rv64gc`.
    pub name: String,
    /// Register width.
    pub xlen: Xlen,
    /// What it is for, in a sentence.
    pub about: String,
    /// Source files in `src`.
    pub sources: Vec<String>,
    /// Compiler and linker flags, run in `src`.
    pub flags: Vec<String>,
    /// QEMU's `-M`.
    pub machine: String,
    /// Causes in `medeleg`.
    #[serde(default)]
    pub delegated_exceptions: Vec<u64>,
    /// Causes in `mideleg`.
    #[serde(default)]
    pub delegated_interrupts: Vec<u64>,
    /// Where its handlers are, if they stay there all the time; for implicit exception mode.
    #[serde(default)]
    pub trap_vectors: Option<TrapVectors>,
    /// Retired instructions of its execution.
    pub instructions: u64,
    /// Traps of its execution.
    pub traps: u64,
}

/// Why a shipped program cannot be had.
#[derive(Debug)]
pub struct ShippedError {
    /// The file at fault.
    pub path: PathBuf,
    /// What is wrong.
    pub cause: ShippedCause,
}

/// What is wrong with a file of a shipped program.
#[derive(Debug)]
#[non_exhaustive]
pub enum ShippedCause {
    /// It cannot be read.
    Io(std::io::Error),
    /// `programs.toml` is invalid; the text has the position.
    Manifest(String),
    /// The ELF file is not as it should be.
    Elf(ElfError),
    /// The ELF file is not for a RISC-V hart of 32 or 64 bits.
    Machine(Machine),
    /// The parts of the ELF file overlap.
    Layout(ProgramError),
    /// The execution is not as it should be.
    Execution(ExecutionFileError),
}

impl fmt::Display for ShippedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.cause {
            ShippedCause::Io(error) => error.fmt(f),
            ShippedCause::Manifest(error) => f.write_str(error),
            ShippedCause::Elf(error) => error.fmt(f),
            ShippedCause::Machine(machine) => {
                write!(f, "for {} with {} bits, not for RISC-V", machine.architecture, machine.bits)
            }
            ShippedCause::Layout(error) => error.fmt(f),
            ShippedCause::Execution(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ShippedError {}

fn failed(path: &Path, cause: ShippedCause) -> ShippedError {
    ShippedError { path: path.to_owned(), cause }
}

impl Shipped {
    /// The RISC-V E-Trace programs that come with Traceproof.
    ///
    /// # Errors
    ///
    /// When their manifest cannot be read.
    pub fn riscv_etrace() -> Result<Self, ShippedError> {
        Self::load(shipped::programs().join("riscv_etrace"))
    }

    /// The programs of other files.
    ///
    /// # Errors
    ///
    /// When its manifest cannot be read.
    pub fn load(files: Tree) -> Result<Self, ShippedError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Manifest {
            program: Vec<ShippedProgram>,
        }
        let path = files.locate("programs.toml");
        let text =
            files.read_to_string("programs.toml").map_err(|error| failed(&path, ShippedCause::Io(error)))?;
        let manifest: Manifest = toml::from_str(&text)
            .map_err(|error| failed(&path, ShippedCause::Manifest(error.to_string())))?;
        Ok(Self { files, programs: manifest.program })
    }

    /// A program's code.
    ///
    /// # Errors
    ///
    /// When the ELF file cannot be read.
    pub fn image(&self, program: &ShippedProgram) -> Result<Image, ShippedError> {
        let name = program.elf_file();
        let path = self.files.locate(&name);
        let bytes = self.files.read(&name).map_err(|error| failed(&path, ShippedCause::Io(error)))?;
        Image::parse(&bytes, &path)
    }

    /// A program's execution, to be read step by step.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn execution(&self, program: &ShippedProgram) -> Result<ShippedExecution, ShippedError> {
        let name = program.execution_file();
        let path = self.files.locate(&name);
        let bytes = self.files.read(&name).map_err(|error| failed(&path, ShippedCause::Io(error)))?;
        open_execution(Cursor::new(bytes)).map_err(|error| failed(&path, ShippedCause::Execution(error)))
    }
}

/// The steps of a shipped execution.
pub type ShippedExecution = ExecutionReader<XzReader<BufReader<Cursor<Cow<'static, [u8]>>>>>;

/// The code of an ELF file and what hart it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The code.
    pub program: Program,
    /// Register width.
    pub xlen: Xlen,
}

impl Image {
    /// Reads a RISC-V ELF file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not for RISC-V.
    pub fn read(path: &Path) -> Result<Self, ShippedError> {
        let bytes = fs::read(path).map_err(|error| failed(path, ShippedCause::Io(error)))?;
        Self::parse(&bytes, path)
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<Self, ShippedError> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let elf = elf::Image::parse(bytes, &name).map_err(|error| failed(path, ShippedCause::Elf(error)))?;
        let xlen = match elf.machine {
            Machine { architecture: Architecture::Riscv, bits: 32 } => Xlen::Rv32,
            Machine { architecture: Architecture::Riscv, bits: 64 } => Xlen::Rv64,
            machine => return Err(failed(path, ShippedCause::Machine(machine))),
        };
        let mut program = Program::new();
        elf.add_to(&mut program).map_err(|error| failed(path, ShippedCause::Layout(error)))?;
        Ok(Self { program, xlen })
    }
}

impl ShippedProgram {
    /// The name of its ELF file.
    #[must_use]
    pub fn elf_file(&self) -> String {
        format!("{}.elf", self.name)
    }

    /// The name of the file with its execution.
    #[must_use]
    pub fn execution_file(&self) -> String {
        format!("{}.exec.xz", self.name)
    }

    /// What the program delegates to S.
    #[must_use]
    pub fn delegation(&self) -> Delegation {
        Delegation {
            exceptions: self.delegated_exceptions.clone(),
            interrupts: self.delegated_interrupts.clone(),
        }
    }
}
