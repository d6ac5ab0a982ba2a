//! How does a program become an ELF file?

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::Command;

use super::ShippedProgram;

const COMPILER: &str = "riscv64-unknown-elf-gcc";
const STRIP: &str = "riscv64-unknown-elf-strip";

/// Why a program was not compiled.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompileError {
    /// A tool is not installed.
    Missing {
        /// The tool.
        tool: &'static str,
        /// The Debian packages to install.
        packages: &'static str,
    },
    /// A tool cannot be run.
    Io(io::Error),
    /// A tool failed.
    Failed {
        /// The tool.
        tool: &'static str,
        /// Its output.
        said: String,
    },
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { tool, packages } => {
                write!(f, "{tool} is not installed; on Debian: apt-get install {packages}")
            }
            Self::Io(error) => error.fmt(f),
            Self::Failed { tool, said } => write!(f, "{tool} failed: {}", said.trim()),
        }
    }
}

impl std::error::Error for CompileError {}

/// Compiles a shipped program to `output`, without debugging information. `directory` holds its sources in `src`.
///
/// # Errors
///
/// When the compiler is not there or fails.
pub fn compile(directory: &Path, program: &ShippedProgram, output: &Path) -> Result<(), CompileError> {
    let sources = directory.join("src");
    let mut compiler = Command::new(COMPILER);
    compiler.current_dir(&sources).args(&program.flags).args(&program.sources).arg("-o").arg(output);
    run(compiler, COMPILER)?;
    let mut strip = Command::new(STRIP);
    strip.args([OsStr::new("--strip-debug"), output.as_os_str()]);
    run(strip, STRIP)
}

fn run(mut command: Command, tool: &'static str) -> Result<(), CompileError> {
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            CompileError::Missing { tool, packages: "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf" }
        }
        _ => CompileError::Io(error),
    })?;
    if output.status.success() {
        Ok(())
    } else {
        Err(CompileError::Failed { tool, said: String::from_utf8_lossy(&output.stderr).into_owned() })
    }
}
