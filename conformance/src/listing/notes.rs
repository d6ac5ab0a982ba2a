//! What is known of an instruction beside its address: its text, and the line of its source.

use std::fmt;
use std::io::Write as _;

use traceproof_vectors::Program;
use traceproof_vectors::notation::HexText;

use super::InstructionFormat;
use crate::family::{Encoding, Run};

/// Explains instructions, for people.
pub trait CodeNotes: fmt::Debug {
    /// The instruction of this encoding that these bytes are, at this address; `None` where they are none, or where no
    /// disassembler is at hand.
    fn text(&self, encoding: Encoding, address: u64, bytes: &[u8]) -> Option<String>;
    /// The file and line that the compiler made the instruction of.
    fn line(&self, address: u64) -> Option<String>;
    /// Whether instructions are listed, or only lines.
    fn lists_instructions(&self) -> bool;
}

/// An instruction of a range.
struct Noted<'a> {
    address: u64,
    bytes: &'a [u8],
    text: Option<String>,
    line: Option<String>,
}

/// Instructions of one range that are explained; no program has more in a row.
const MOST: usize = 1 << 16;

/// What follows the line of a range, or the members of its object.
pub(super) fn noted(
    run: Run,
    program: &Program,
    notes: &dyn CodeNotes,
    format: InstructionFormat,
) -> Vec<u8> {
    let instructions = instructions(run, program, notes);
    match format {
        InstructionFormat::JsonLines => json(&instructions, notes.lists_instructions(), run.encoding),
        InstructionFormat::Text | InstructionFormat::Addresses => {
            columns(&instructions, notes.lists_instructions(), run.encoding)
        }
    }
}

fn instructions<'a>(run: Run, program: &'a Program, notes: &dyn CodeNotes) -> Vec<Noted<'a>> {
    let mut noted = Vec::new();
    let mut address = run.first;
    while let Some(at) = address
        && (noted.len() as u64) < run.count
        && noted.len() < MOST
        && let Some(code) = program.bytes_at(at)
        && let Some(length) = run.encoding.length(program, at)
        && let Some(bytes) = usize::try_from(length).ok().and_then(|length| code.get(..length))
    {
        let text = notes.lists_instructions().then(|| notes.text(run.encoding, at, bytes)).flatten();
        noted.push(Noted { address: at, bytes, text, line: notes.line(at) });
        address = at.checked_add(length);
    }
    noted
}

/// A line for each instruction, and before it one with the source where that is another one.
fn columns(instructions: &[Noted<'_>], listed: bool, encoding: Encoding) -> Vec<u8> {
    let mut text = Vec::new();
    let mut latest = None;
    // A vector cannot fail to be written to.
    for Noted { address, bytes, text: instruction, line } in instructions {
        if let Some(line) = line
            && latest != Some(line)
        {
            let _ = writeln!(text, "{INDENT}{line}");
            latest = Some(line);
        }
        if listed {
            let (address, words) = (HexText::new(*address), words(encoding, bytes));
            let instruction = instruction.as_deref().unwrap_or("?");
            let _ = writeln!(text, "{INDENT}  {} {words:<9} {instruction}", address.as_str());
        }
    }
    text
}

/// Under the beginning of `instructions`.
const INDENT: &str = "                       ";

/// `,"code":[{"address":…,"bytes":…,"text":…,"line":…}]`.
fn json(instructions: &[Noted<'_>], listed: bool, encoding: Encoding) -> Vec<u8> {
    let object = |noted: &Noted<'_>| {
        let mut object = serde_json::Map::new();
        object.insert("address".into(), HexText::new(noted.address).as_str().into());
        if listed {
            object.insert("code".into(), words(encoding, noted.bytes).into());
        }
        for (name, value) in [("text", &noted.text), ("line", &noted.line)] {
            if let Some(value) = value {
                object.insert(name.into(), value.as_str().into());
            }
        }
        serde_json::Value::from(object)
    };
    let list: Vec<serde_json::Value> = instructions.iter().map(object).collect();
    let list = serde_json::Value::from(list);
    format!(r#","list":{list}"#).into_bytes()
}

/// The bytes as manuals write them: words, or half-words of T32.
fn words(encoding: Encoding, bytes: &[u8]) -> String {
    let unit = if encoding.has_half_words() { 2 } else { bytes.len().max(1) };
    let word = |unit: &[u8]| unit.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(unit).map(word).collect::<Vec<_>>().join(" ")
}
