//! Which results does the output of the tool stand for?

use std::borrow::Cow;

use regex::Captures;
use serde_json::{Map, Number, Value};
use traceproof_vectors::{Entry, Place};

use super::file::{Exec, Line};
use crate::adaptor::message::Item;
use crate::family::FamilyRules;

/// Captures that every line has: the number of packets so far, and of the line, both from 0.
const BUILT_IN: [&str; 2] = ["packet", "line"];

/// Conversions of captured text besides the tables of the file.
const CONVERSIONS: [&str; 3] = ["dec", "hex", "bytes"];

/// Why output has no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// A line is wrong.
    Wrong(String),
    /// A line omits information, according to the subject file.
    Untold(String),
}

impl From<String> for Unread {
    fn from(message: String) -> Self {
        Self::Wrong(message)
    }
}

/// Reads the results; the error names the line without one.
pub(super) fn results<P: FamilyRules>(exec: &Exec, output: &[u8]) -> Result<Vec<(Place, Entry<P>)>, Unread> {
    let mut reader = Reader { exec, results: Vec::new(), packets: 0, latest: Place::default() };
    for (number, line) in output.split(|&byte| byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line.trim_ascii_end());
        if line.trim().is_empty() {
            continue;
        }
        reader.line(number, &line).map_err(|unread| match unread {
            Unread::Wrong(error) => {
                let shown: String = line.chars().take(200).collect();
                Unread::Wrong(format!("line {} of its output: {error}, in `{shown}`", number + 1))
            }
            untold => untold,
        })?;
    }
    Ok(reader.results)
}

struct Reader<'a, P: FamilyRules> {
    exec: &'a Exec,
    results: Vec<(Place, Entry<P>)>,
    packets: u64,
    latest: Place,
}

impl<P: FamilyRules> Reader<'_, P> {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Unread> {
        if self.exec.line.is_empty() {
            return Ok(self.item(serde_json::from_str(line))?);
        }
        let mut rules = self.exec.line.iter();
        let (rule, captures) = rules
            .find_map(|rule| Some((rule, rule.pattern.0.captures(line)?)))
            .ok_or_else(|| String::from("no `match` knows it"))?;
        if let Some(untold) = &rule.untold {
            return Err(Unread::Untold(untold.clone()));
        }
        let Some(template) = &rule.result else { return Ok(()) };
        let filler = Filler { exec: self.exec, captures, packets: self.packets, line: number };
        match filler.filled(template)? {
            Some(Value::Array(items)) => {
                items.into_iter().try_for_each(|item| self.item(serde_json::from_value(item)))?;
            }
            Some(item) => self.item(serde_json::from_value(item))?,
            None => {}
        }
        Ok(())
    }

    fn item(&mut self, item: serde_json::Result<Item<P>>) -> Result<(), String> {
        let item = item.map_err(|error| format!("it is no result ({error})"))?;
        let entry = item.entry(self.latest);
        let (place, entry) = entry.ok_or("it is none of packet, event and fault, or more than one")?;
        self.latest = place;
        self.packets += u64::from(matches!(entry, Entry::Packet(_)));
        self.results.push((place, entry));
        Ok(())
    }
}

struct Filler<'a> {
    exec: &'a Exec,
    captures: Captures<'a>,
    packets: u64,
    line: usize,
}

impl Filler<'_> {
    /// The template with what was captured; `None` if it is a capture that is not there.
    fn filled(&self, template: &Value) -> Result<Option<Value>, String> {
        Ok(Some(match template {
            Value::String(text) => return self.text(text),
            Value::Array(items) => {
                let items = items.iter().filter_map(|item| self.filled(item).transpose());
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| {
                    let value = self.filled(value).transpose()?;
                    Some(value.map(|value| (name.clone(), value)))
                };
                Value::Object(fields.iter().filter_map(field).collect::<Result<Map<_, _>, String>>()?)
            }
            other => other.clone(),
        }))
    }

    fn text(&self, text: &str) -> Result<Option<Value>, String> {
        if let Some((name, conversion)) = only_reference(text) {
            let Some(captured) = self.captured(name) else { return Ok(None) };
            return self.converted(&captured, conversion).map(Some);
        }
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, tail)) = rest.split_once("${") {
            let (inner, after) = tail.split_once('}').ok_or("a capture without `}`")?;
            filled.push_str(before);
            filled.push_str(&self.captured(inner).unwrap_or_default());
            rest = after;
        }
        filled.push_str(rest);
        Ok(Some(Value::String(filled)))
    }

    fn captured(&self, name: &str) -> Option<Cow<'_, str>> {
        match name {
            "packet" => Some(Cow::Owned(self.packets.to_string())),
            "line" => Some(Cow::Owned(self.line.to_string())),
            _ => self.captures.name(name).map(|found| Cow::Borrowed(found.as_str())),
        }
    }

    fn converted(&self, text: &str, conversion: Option<&str>) -> Result<Value, String> {
        let number = |digits: &str, radix| {
            let number = u64::from_str_radix(digits, radix);
            number
                .map(|number| Value::Number(Number::from(number)))
                .map_err(|_| format!("`{text}` is no number"))
        };
        match conversion {
            None => Ok(Value::String(text.to_owned())),
            Some("dec") => number(text, 10),
            Some("hex") => number(text.trim_start_matches("0x").trim_start_matches("0X"), 16),
            Some("bytes") => {
                let bytes = text.split_whitespace().map(|byte| byte.trim_start_matches("0x"));
                Ok(Value::String(bytes.collect()))
            }
            Some(table) => {
                let table =
                    self.exec.tables.get(table).ok_or_else(|| format!("there is no table `{table}`"))?;
                table.get(text).cloned().ok_or_else(|| format!("`{text}` is not in its table"))
            }
        }
    }
}

/// The capture and its conversion, if the text is nothing else.
fn only_reference(text: &str) -> Option<(&str, Option<&str>)> {
    let inner = text.strip_prefix("${")?.strip_suffix('}')?;
    if inner.contains(['{', '}']) {
        return None;
    }
    Some(match inner.split_once(':') {
        Some((name, conversion)) => (name, Some(conversion)),
        None => (inner, None),
    })
}

/// Whether the captures and tables of a rule's template exist.
pub(super) fn check(line: &Line, exec: &Exec) -> Result<(), String> {
    line.result.as_ref().map_or(Ok(()), |template| check_template(template, line, exec))
}

fn check_template(template: &Value, line: &Line, exec: &Exec) -> Result<(), String> {
    let text = match template {
        Value::Array(items) => return items.iter().try_for_each(|item| check_template(item, line, exec)),
        Value::Object(fields) => {
            return fields.values().try_for_each(|value| check_template(value, line, exec));
        }
        Value::String(text) => text,
        _ => return Ok(()),
    };
    let pattern = line.pattern.0.as_str();
    let known = |name: &str| {
        let mut names = line.pattern.0.capture_names().flatten();
        BUILT_IN.contains(&name) || names.any(|capture| capture == name)
    };
    let mut names = Vec::new();
    if let Some((name, conversion)) = only_reference(text) {
        if let Some(conversion) = conversion
            && !CONVERSIONS.contains(&conversion)
            && !exec.tables.contains_key(conversion)
        {
            return Err(format!("exec.line: there is no table `{conversion}` for `{text}`"));
        }
        names.push(name);
    } else {
        let pieces = text.split("${").skip(1);
        names.extend(pieces.map(|piece| piece.split_once('}').map_or(piece, |(name, _)| name)));
    }
    match names.into_iter().find(|name| !known(name)) {
        Some(name) => Err(format!("exec.line: `{pattern}` captures no `{name}`")),
        None => Ok(()),
    }
}
