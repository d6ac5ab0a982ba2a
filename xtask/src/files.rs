//! Files that verbs read and write; `-` is the standard input or output.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::{env, process};

use clap::Args;
use serde::de::DeserializeOwned;
use traceproof_conformance::elf::{Image, Machine};
use traceproof_conformance::family::{FamilyRules, toml_error};
use traceproof_vectors::case::Problem;
use traceproof_vectors::notation::parse_u64;
use traceproof_vectors::{Program, Section};

use crate::exit::Failure;

/// The program and the parameters that decode and encode need.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Description of the encoder: a TOML file of parameters by the specification's names, or of discovered attributes;
    /// an omitted one has the specification's default. Without it the ELF file's class decides the width.
    #[arg(long, value_name = "FILE")]
    pub(crate) parameters: Option<PathBuf>,
    /// The program: executable segments of an ELF file. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) elf: Vec<PathBuf>,
    /// Code from a plain file, at an address such as 0x80000000. May be repeated.
    #[arg(long, value_name = "ADDRESS:FILE", value_parser = parse_section)]
    pub(crate) section: Vec<(u64, PathBuf)>,
}

fn parse_section(text: &str) -> Result<(u64, PathBuf), String> {
    let (address, file) = text.split_once(':').ok_or("expected ADDRESS:FILE, such as 0x1000:rom.bin")?;
    let address = parse_u64(address).ok_or_else(|| format!("`{address}` is no address"))?;
    Ok((address, PathBuf::from(file)))
}

impl Target {
    /// Reads the program and the parameters.
    pub(crate) fn load<P: FamilyRules>(&self) -> Result<(Program, P::Parameters), Failure> {
        let mut program = Program::new();
        let machine = self.add_to(&mut program)?;
        // Also with a file of parameters: an ELF file for another machine is a mistake.
        let suggested = machine.map(P::parameters_for).transpose().map_err(Failure::usage)?;
        let parameters = match &self.parameters {
            Some(path) => read_parameters::<P>(path)?.1,
            None => suggested.unwrap_or_default(),
        };
        Ok((program, parameters))
    }

    /// Adds the files to a program, and returns the machine of the first ELF file.
    pub(crate) fn add_to(&self, program: &mut Program) -> Result<Option<Machine>, Failure> {
        let mut machine: Option<Machine> = None;
        for path in &self.elf {
            let image = Image::parse(&read(path)?, &path.to_string_lossy())
                .map_err(|error| Failure::file(path, error))?;
            machine = machine.or(Some(image.machine));
            image.add_to(program).map_err(|error| Failure::file(path, error))?;
        }
        for (address, path) in &self.section {
            let section = Section::new(*address, read(path)?, path.to_string_lossy().into_owned());
            program.insert(section).map_err(|error| Failure::file(path, error))?;
        }
        Ok(machine)
    }
}

/// Reads a parameter file and reports all its errors. Also returns its text.
pub(crate) fn read_parameters<P: FamilyRules>(path: &Path) -> Result<(String, P::Parameters), Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    match P::read_parameters(&text) {
        Ok(parameters) => Ok((text, parameters)),
        Err(errors) => {
            let lines: Vec<String> =
                errors.iter().map(|error| format!("{}:{error}", path.display())).collect();
            Err(Failure::usage(lines.join("\nerror: ")))
        }
    }
}

/// Reads a file of policy.
pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("{}:{}", path.display(), toml_error(&text, &error))))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::file(path, error))
}

/// Opens a trace: its bytes, or with `text` the bytes of its lines in the notation of the family's cases.
pub(crate) fn open_trace<P: FamilyRules>(
    path: &Path,
    text: bool,
    parameters: &P::Parameters,
) -> Result<Box<dyn Read>, Failure> {
    let mut file = open(path)?;
    if !text {
        return Ok(file);
    }
    let mut content = String::new();
    file.read_to_string(&mut content).map_err(|error| Failure::file(path, error))?;
    let lines: Vec<String> = content.lines().map(str::to_owned).collect();
    let wire = P::wire(&lines, parameters).map_err(|problem| Failure::file(path, in_lines(&problem)))?;
    Ok(Box::new(io::Cursor::new(wire)))
}

/// The error of a file of lines: `line 3: …`, where a case would have `wire[2]: …`.
fn in_lines(problem: &Problem) -> String {
    let index = problem.path.strip_prefix("wire[").and_then(|rest| rest.strip_suffix(']'));
    match index.and_then(|index| index.parse::<usize>().ok()) {
        Some(index) => format!("line {}: {}", index + 1, problem.message),
        None => problem.to_string(),
    }
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path.as_os_str() != "-" {
        let file = File::open(path).map_err(|error| Failure::file(path, error))?;
        return Ok(Box::new(file));
    }
    let input = io::stdin();
    if input.is_terminal() {
        return Err(Failure::usage(
            "nothing to read: name a file, or pipe something into the standard input",
        ));
    }
    Ok(Box::new(input))
}

/// Creates a file for writing.
pub(crate) fn create(path: &Path) -> Result<Box<dyn Write>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let file = File::create(path).map_err(|error| Failure::file(path, error))?;
    Ok(Box::new(BufWriter::new(file)))
}

/// An output that appears only when it is complete: a new file beside it, or in the directory of temporary files if it
/// is no regular file. Without [`publish`](Self::publish) nothing is left.
#[derive(Debug)]
pub(crate) struct Whole {
    file: BufWriter<File>,
    partial: PathBuf,
    target: PathBuf,
}

impl Whole {
    pub(crate) fn create(target: &Path) -> Result<Self, Failure> {
        let beside = target.as_os_str() != "-" && fs::metadata(target).map_or(true, |found| found.is_file());
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let name = format!(".{name}.{}.partial", process::id());
        let directory = if beside { target.parent().map(Path::to_owned) } else { Some(env::temp_dir()) };
        let partial = directory.unwrap_or_default().join(name);
        let file = File::create(&partial).map_err(|error| Failure::file(target, error))?;
        Ok(Self { file: BufWriter::new(file), partial, target: target.to_owned() })
    }

    /// The output is complete.
    pub(crate) fn publish(mut self) -> Result<(), Failure> {
        self.file.flush()?;
        if self.target.as_os_str() == "-" {
            io::copy(&mut File::open(&self.partial)?, &mut io::stdout())?;
            return Ok(io::stdout().flush()?);
        }
        let in_place = self.partial.parent() == self.target.parent();
        let published = if in_place {
            fs::rename(&self.partial, &self.target)
        } else {
            let write = |mut to: File| io::copy(&mut File::open(&self.partial)?, &mut to);
            File::options().write(true).open(&self.target).and_then(write).map(drop)
        };
        published.map_err(|error| Failure::file(&self.target, error))
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        // It is not there any more if it was published by its name.
        let _ = fs::remove_file(&self.partial);
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Prints text; a closed output is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
