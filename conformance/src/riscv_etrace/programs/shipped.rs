//! Which programs are shipped, and how are they made?

use std::fmt;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use lzma_rust2::XzReader;
use serde::Deserialize;
use traceproof_vectors::riscv_etrace::{TrapVectors, Xlen};
use traceproof_vectors::{Program, ProgramError};

use super::{Delegation, ExecutionFileError, ExecutionReader, open_execution};
use crate::elf::{self, Architecture, ElfError, Machine};

/// The programs of a directory that has a `programs.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The directory: ELF files, executions, sources in `src`.
    pub directory: PathBuf,
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
    pub delegated_exceptions: Vec<u16>,
    /// Causes in `mideleg`.
    #[serde(default)]
    pub delegated_interrupts: Vec<u16>,
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
    /// `programs.toml` is not as it should be; the text says where.
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
    /// The RISC-V E-Trace programs of this source tree.
    ///
    /// # Errors
    ///
    /// When their manifest cannot be read.
    pub fn riscv_etrace() -> Result<Self, ShippedError> {
        Self::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/programs/riscv_etrace"))
    }

    /// The programs of another directory.
    ///
    /// # Errors
    ///
    /// When its manifest cannot be read.
    pub fn load(directory: &Path) -> Result<Self, ShippedError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Manifest {
            program: Vec<ShippedProgram>,
        }
        let path = directory.join("programs.toml");
        let text = fs::read_to_string(&path).map_err(|error| failed(&path, ShippedCause::Io(error)))?;
        let manifest: Manifest = toml::from_str(&text)
            .map_err(|error| failed(&path, ShippedCause::Manifest(error.to_string())))?;
        Ok(Self { directory: directory.to_owned(), programs: manifest.program })
    }

    /// Where a program's ELF file is.
    #[must_use]
    pub fn elf_path(&self, program: &ShippedProgram) -> PathBuf {
        self.directory.join(format!("{}.elf", program.name))
    }

    /// Where a program's execution is.
    #[must_use]
    pub fn execution_path(&self, program: &ShippedProgram) -> PathBuf {
        self.directory.join(format!("{}.exec.xz", program.name))
    }

    /// A program's code.
    ///
    /// # Errors
    ///
    /// When the ELF file cannot be read.
    pub fn image(&self, program: &ShippedProgram) -> Result<Image, ShippedError> {
        Image::read(&self.elf_path(program))
    }

    /// A program's execution, to be read step by step.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened.
    pub fn execution(
        &self,
        program: &ShippedProgram,
    ) -> Result<ExecutionReader<XzReader<BufReader<File>>>, ShippedError> {
        let path = self.execution_path(program);
        let file = File::open(&path).map_err(|error| failed(&path, ShippedCause::Io(error)))?;
        open_execution(file).map_err(|error| failed(&path, ShippedCause::Execution(error)))
    }
}

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
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let elf = elf::Image::parse(&bytes, &name).map_err(|error| failed(path, ShippedCause::Elf(error)))?;
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
    /// What the program delegates to S.
    #[must_use]
    pub fn delegation(&self) -> Delegation {
        Delegation {
            exceptions: self.delegated_exceptions.clone(),
            interrupts: self.delegated_interrupts.clone(),
        }
    }
}
