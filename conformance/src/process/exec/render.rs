//! Which files and arguments does a run of the tool get?
//!
//! A placeholder is `{name}` or `{name:argument}`; `{{` and `}}` are braces.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use traceproof_vectors::Program;

use super::file::{Exec, Word};

/// Where placeholders stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// In an argument.
    Argument,
    /// In an argument for a section of the code.
    Section,
    /// In the text of a file.
    File,
}

/// What a run is about.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    pub(super) exec: &'a Exec,
    /// The directory that is made for it.
    pub(super) directory: &'a Path,
    pub(super) parameters: &'a Value,
    pub(super) program: &'a Program,
    pub(super) wire: &'a [u8],
}

/// A part of a text with placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    Placeholder(&'a str, Option<&'a str>),
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(brace) = rest.find(['{', '}']) {
        let (before, tail) = rest.split_at(brace);
        parts.push(Part::Text(before));
        if tail.starts_with("{{") || tail.starts_with("}}") {
            parts.push(Part::Text(&tail[..1]));
            rest = &tail[2..];
            continue;
        }
        let (inner, after) =
            tail.strip_prefix('{').and_then(|inner| inner.split_once('}')).ok_or_else(|| {
                format!("a brace without its other in `{text}`; a brace alone is written twice")
            })?;
        parts.push(match inner.split_once(':') {
            Some((name, argument)) => Part::Placeholder(name, Some(argument)),
            None => Part::Placeholder(inner, None),
        });
        rest = after;
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

/// Whether every placeholder of a text is one.
pub(super) fn check(text: &str, exec: &Exec, place: Where) -> Result<(), String> {
    for part in parts(text)? {
        let Part::Placeholder(name, argument) = part else { continue };
        let known = match (name, argument) {
            ("input" | "directory" | "parameters", None) => true,
            ("sections", None) => {
                place == Where::Argument && text == "{sections}" && !exec.section.is_empty()
            }
            ("address" | "length" | "space" | "file", None) => place == Where::Section,
            ("program" | "address" | "length" | "space", Some(index)) => index.parse::<usize>().is_ok(),
            ("parameter", Some(_)) => true,
            ("word", Some(word)) => exec.words.contains_key(word),
            ("file", Some(file)) => exec.files.contains_key(file),
            _ => false,
        };
        if !known {
            return Err(format!(
                "exec: `{{{name}{}}}` means nothing in `{text}`",
                match argument {
                    Some(argument) => format!(":{argument}"),
                    None => String::new(),
                }
            ));
        }
    }
    Ok(())
}

impl Stream<'_> {
    /// Makes the files.
    pub(super) fn write_files(&self) -> Result<(), String> {
        let failed = |error: io::Error| format!("its files cannot be written: {error}");
        fs::write(self.input(), self.wire).map_err(failed)?;
        let parameters = serde_json::to_vec(self.parameters).map_err(|error| error.to_string())?;
        fs::write(self.place_of_parameters(), parameters).map_err(failed)?;
        for (index, section) in self.program.sections().iter().enumerate() {
            fs::write(self.section(index), &section.bytes).map_err(failed)?;
        }
        for (name, text) in &self.exec.files {
            fs::write(self.directory.join(name), self.filled(text, None)?).map_err(failed)?;
        }
        Ok(())
    }

    /// The arguments after the program.
    pub(super) fn arguments(&self) -> Result<Vec<String>, String> {
        let mut arguments = Vec::new();
        for text in self.exec.argv.iter().skip(1) {
            if text == "{sections}" {
                for index in 0..self.program.sections().len() {
                    for text in &self.exec.section {
                        arguments.push(self.filled(text, Some(index))?);
                    }
                }
            } else {
                arguments.push(self.filled(text, None)?);
            }
        }
        Ok(arguments)
    }

    fn input(&self) -> PathBuf {
        self.directory.join("input.bin")
    }

    fn place_of_parameters(&self) -> PathBuf {
        self.directory.join("parameters.json")
    }

    fn section(&self, index: usize) -> PathBuf {
        self.directory.join(format!("section-{index}.bin"))
    }

    /// A text with what the placeholders stand for; `section` is the one that it is about.
    fn filled(&self, text: &str, section: Option<usize>) -> Result<String, String> {
        let mut filled = String::new();
        for part in parts(text)? {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Placeholder(name, argument) => {
                    filled.push_str(&self.value(name, argument, section)?);
                }
            }
        }
        Ok(filled)
    }

    fn value(&self, name: &str, argument: Option<&str>, section: Option<usize>) -> Result<String, String> {
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let index = argument.and_then(|argument| argument.parse().ok()).or(section);
        let found = index.and_then(|index| Some((index, self.program.sections().get(index)?)));
        match (name, argument) {
            ("input", _) => Ok(path(self.input())),
            ("directory", _) => Ok(path(self.directory.to_owned())),
            ("parameters", _) => Ok(path(self.place_of_parameters())),
            ("parameter", Some(name)) => Ok(text_of(self.parameter(name))),
            ("word", Some(name)) => {
                let word = self.exec.words.get(name).ok_or_else(|| format!("no word is called `{name}`"))?;
                Ok(format!("{:#x}", self.word(word)))
            }
            ("file", Some(name)) => Ok(path(self.directory.join(name))),
            ("program" | "file" | "address" | "length" | "space", _) => {
                let (index, section) =
                    found.ok_or_else(|| format!("the code has no section for `{{{name}}}`"))?;
                Ok(match name {
                    "address" => format!("{:#x}", section.address),
                    "length" => format!("{:#x}", section.bytes.len()),
                    "space" => section.space.to_string(),
                    _ => path(self.section(index)),
                })
            }
            _ => Err(format!("`{{{name}}}` means nothing")),
        }
    }

    fn parameter(&self, name: &str) -> &Value {
        parameter(self.parameters, name)
    }

    fn word(&self, word: &Word) -> u64 {
        let set = word.set.iter();
        let set = set.filter(|bits| bits.when.iter().all(|(name, value)| self.parameter(name) == value));
        set.fold(word.base, |word, bits| word | bits.bits)
    }
}

/// The value of a parameter, `null` if it has none; a dot leads into it.
pub(super) fn parameter<'a>(parameters: &'a Value, name: &str) -> &'a Value {
    name.split('.').try_fold(parameters, |value, name| value.get(name)).unwrap_or(&Value::Null)
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_says_its_space() {
        let exec = |section: &str| -> Exec {
            toml::from_str(&format!(
                "argv = ['t', '{{sections}}']\nsection = ['{section}']\nversion = '1'\n[decoders.arm_etm]\nlayers = ['events']\n"
            ))
            .expect("an exec table")
        };
        let mut program = Program::new();
        for (address, space) in [(0x1000_u64, "any"), (0x2000, "secure el1"), (0x2000, "realm")] {
            let section = traceproof_vectors::Section::new(address, vec![1, 2], "");
            program.insert(section.in_space(space.parse().expect("a space"))).expect("clear");
        }
        let spaced = exec("{address} in {space}");
        spaced.check().expect("sound");
        assert!(spaced.reads_spaces() && !exec("{address}:{file}").reads_spaces());
        let stream = Stream {
            exec: &spaced,
            directory: Path::new("/nowhere"),
            parameters: &Value::Null,
            program: &program,
            wire: &[],
        };
        let arguments = stream.arguments().expect("written");
        assert_eq!(arguments, ["0x1000 in any", "0x2000 in secure el1", "0x2000 in realm"]);
    }

    #[test]
    fn texts_fall_into_parts() {
        use Part::{Placeholder, Text};
        let found = parts("a{input}{{b}}{word:x}").expect("right");
        let expected = [
            Text("a"),
            Placeholder("input", None),
            Text(""),
            Text("{"),
            Text("b"),
            Text("}"),
            Text(""),
            Placeholder("word", Some("x")),
            Text(""),
        ];
        assert_eq!(found, expected);
        assert!(parts("{open").is_err());
        assert!(parts("closed}").is_err());
    }
}
