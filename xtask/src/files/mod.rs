//! Files that verbs read and write; `-` is the standard input or output.

mod output;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::de::DeserializeOwned;
use traceproof_conformance::elf::{self, Image, Machine};
use traceproof_conformance::family::{FamilyRules, toml_error};
use traceproof_conformance::hints::Change;
use traceproof_conformance::symbols::Symbols;
use traceproof_conformance::visible::is_hidden;
use traceproof_vectors::case::Problem;
use traceproof_vectors::notation::parse_u64;
use traceproof_vectors::{Program, Section, bounded};

pub(crate) use output::{Output, check_apart, check_no_pipe, check_outside, write};

use crate::exit::Failure;

/// The program and the parameters that decode and encode need.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Description of the encoder: a TOML file of parameters by the specification's names, or of discovered attributes;
    /// an omitted one has the specification's default. Without it the ELF file's class decides the width.
    #[arg(long, value_name = "FILE")]
    pub(crate) parameters: Option<PathBuf>,
    /// Another value for one parameter, after those of the file: `itype_width_p=3`, `modes.full_address=true`. May be
    /// repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<Change>,
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
    /// Its files, with their options.
    pub(crate) fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        let parameters = self.parameters.iter().map(|path| ("--parameters", Some(path.as_path())));
        let elf = self.elf.iter().map(|path| ("--elf", Some(path.as_path())));
        let sections = self.section.iter().map(|(_, path)| ("--section", Some(path.as_path())));
        parameters.chain(elf).chain(sections).collect()
    }

    /// Reads the program and the parameters.
    pub(crate) fn load<P: FamilyRules>(&self) -> Result<(Program, P::Parameters), Failure> {
        let mut program = Program::new();
        let machine = self.add_to(&mut program)?;
        // Also with a file of parameters: an ELF file for another machine is a mistake.
        let suggested = machine.map(P::parameters_for).transpose().map_err(Failure::usage)?;
        let mut parameters = match &self.parameters {
            Some(path) => read_parameters::<P>(path)?.1,
            None => suggested.unwrap_or_default(),
        };
        for change in &self.set {
            let changed = change.of::<P>(&parameters);
            parameters = changed.map_err(|error| Failure::usage(format!("--set {error}")))?;
        }
        Ok((program, parameters))
    }

    /// The symbols of the ELF files.
    pub(crate) fn symbols(&self) -> Result<Symbols, Failure> {
        let mut symbols = Symbols::default();
        for path in &self.elf {
            symbols.add(path).map_err(|error| Failure::file(path, error))?;
        }
        Ok(symbols)
    }

    /// Adds the files to a program, and returns the machine of the first ELF file.
    pub(crate) fn add_to(&self, program: &mut Program) -> Result<Option<Machine>, Failure> {
        let mut machine: Option<Machine> = None;
        for path in &self.elf {
            let image = Image::read(path).map_err(|error| Failure::file(path, error))?;
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
    let text = read_text(path, bounded::TEXT)?;
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
    let text = read_text(path, bounded::TEXT)?;
    toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("{}:{}", path.display(), toml_error(&text, &error))))
}

/// Reads a plain file of at most `limit` bytes as text.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, Failure> {
    bounded::read_to_string(path, limit).map_err(|error| Failure::file(path, error))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    bounded::read(path, elf::CODE_LIMIT).map_err(|error| Failure::file(path, error))
}

/// Lines of a text log that are kept at once: each costs more than its characters.
const SOME_LINES: usize = 64;

/// Bytes that the lines of a text log may stand for.
const TEXT_BYTES: usize = 128 << 20;

/// Opens a trace: its bytes, or with `text` the bytes of its lines in the notation of the family's cases.
pub(crate) fn open_trace<P: FamilyRules>(
    path: &Path,
    text: bool,
    parameters: &P::Parameters,
) -> Result<Box<dyn Read>, Failure> {
    if !text {
        return open(path);
    }
    let content = read_listing(path, bounded::LISTING)?;
    let (mut wire, mut lines, mut before) = (Vec::<u8>::new(), content.lines(), 0);
    loop {
        let some: Vec<String> = lines.by_ref().take(SOME_LINES).map(str::to_owned).collect();
        if some.is_empty() {
            return Ok(Box::new(io::Cursor::new(wire)));
        }
        let read = P::wire(&some, parameters);
        wire.extend(read.map_err(|problem| Failure::file(path, in_lines(&problem, before)))?);
        if wire.len() > TEXT_BYTES {
            let message = format!("its lines stand for more than the limit of {TEXT_BYTES} bytes");
            return Err(Failure::file(path, message));
        }
        before += some.len();
    }
}

/// Bytes of a trace of which only some packets are kept in memory; of one that is compared; and of one that is
/// explained, which takes up to a thousand times as many.
pub(crate) const IN_PART: u64 = 64 << 20;
pub(crate) const COMPARED: u64 = 1 << 20;
pub(crate) const EXPLAINED: u64 = 512 << 10;

/// Reads a whole trace of at most `limit` bytes, as [`open_trace`] opens it.
pub(crate) fn read_trace<P: FamilyRules>(
    path: &Path,
    text: bool,
    parameters: &P::Parameters,
    limit: u64,
) -> Result<Vec<u8>, Failure> {
    let mut wire = Vec::new();
    let mut trace = open_trace::<P>(path, text, parameters)?.take(limit.saturating_add(1));
    trace.read_to_end(&mut wire).map_err(|error| Failure::file(path, error))?;
    check_length(path, &wire, limit)?;
    Ok(wire)
}

/// Refuses a trace that is too long to be read whole.
pub(crate) fn check_length(path: &Path, wire: &[u8], limit: u64) -> Result<(), Failure> {
    if wire.len() as u64 > limit {
        let hint = if limit == EXPLAINED { "; name some packets by --packets, or use `decode`" } else { "" };
        let message = format!("larger than the limit of {limit} bytes: this is for a part of a trace{hint}");
        return Err(Failure::file(path, message));
    }
    Ok(())
}

/// Reads a log as text, at most `limit` bytes of it.
pub(crate) fn read_listing(path: &Path, limit: u64) -> Result<String, Failure> {
    let mut file = open(path)?;
    let mut content = String::new();
    let failed = |error: io::Error| Failure::file(path, error);
    file.by_ref().take(limit).read_to_string(&mut content).map_err(failed)?;
    if file.read(&mut [0]).map_err(failed)? > 0 {
        return Err(Failure::file(path, format!("larger than the limit of {limit} bytes")));
    }
    Ok(content)
}

/// The error of a file of lines: `line 3: …`, where a case of the lines after the first ones would have `wire[2]: …`.
fn in_lines(problem: &Problem, before: usize) -> String {
    let index = problem.path.strip_prefix("wire[").and_then(|rest| rest.strip_suffix(']'));
    match index.and_then(|index| index.parse::<usize>().ok()) {
        Some(index) => format!("line {}: {}", before + index + 1, problem.message),
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

/// Prints text; a closed output is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(visible(text).as_bytes())?;
    Ok(out.flush()?)
}

/// The colours that reports and explanations are painted with.
const COLOURS: [&str; 7] =
    ["\x1b[32m", "\x1b[31;1m", "\x1b[2m", "\x1b[0m", "\x1b[1m", "\x1b[36m", "\x1b[35m"];

/// The text with [hidden](is_hidden) characters as they are written in strings, so that a name in it cannot command a
/// terminal. Line breaks and the colours of reports stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let stays = |c: char| c == '\n' || !is_hidden(c);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let whole = COLOURS.into_iter().chain(["\r\n"]).find(|whole| rest.starts_with(whole));
        let (taken, tail) = rest.split_at(whole.map_or(c.len_utf8(), str::len));
        if whole.is_some() || stays(c) {
            out.push_str(taken);
        } else {
            out.extend(c.escape_default());
        }
        rest = tail;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn only_colours_of_reports_command_a_terminal() {
        assert_eq!(visible("a\tb\r\n\x1b[32mPASS\x1b[0m é"), "a\tb\r\n\x1b[32mPASS\x1b[0m é");
        assert_eq!(visible("\x1b[2J\x1b]0;t\x07\r\u{9b}1m"), r"\u{1b}[2J\u{1b}]0;t\u{7}\r\u{9b}1m");
        assert_eq!(visible("\u{202e}a\u{2066}\u{200f}\n"), "\\u{202e}a\\u{2066}\\u{200f}\n");
    }
}
