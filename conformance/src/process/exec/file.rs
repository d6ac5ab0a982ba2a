//! The table `[exec]` of a subject file.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;
use traceproof_vectors::FaultClass;

use crate::adaptor::message::Claims;

/// The table `[exec]` of a subject file.
///
/// ```toml
/// [exec]
/// argv = ["acme-lister", "--raw", "{input}", "{sections}"]
/// section = ["--code", "{address}:{file}"]          # for each section of the code
///
/// [exec.decoders.riscv_etrace]
/// layers = ["events"]
///
/// [[exec.line]]                                     # without any: a result as JSON on each line
/// match = '^ran (?<first>\w+) to (?<end>\w+), (?<count>\d+)$'
/// result = { event = { retire = { first = "${first}", end = "${end}", count = "${count:dec}" } } }
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    /// The program and its arguments, with placeholders.
    pub argv: Vec<String>,
    /// Arguments for each section of the code, where `argv` has `{sections}`.
    #[serde(default)]
    pub section: Vec<String>,
    /// Whether the bytes also come on the standard input.
    #[serde(default)]
    pub stdin: bool,
    /// The version, for reports.
    #[serde(default)]
    pub version: String,
    /// What its exit status means.
    #[serde(default)]
    pub exit: Exits,
    /// Files that are made for it in `{directory}`: names and texts with placeholders.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Numbers that are put together from parameters, such as registers: `{word:NAME}`.
    #[serde(default)]
    pub words: BTreeMap<String, Word>,
    /// What it claims, by the name of the family.
    pub decoders: BTreeMap<String, Claims>,
    /// Which values of parameters it claims, by family and by name of the parameter; any, if not given.
    #[serde(default)]
    pub only: BTreeMap<String, BTreeMap<String, Vec<Value>>>,
    /// What captured text stands for: `${capture:TABLE}`.
    #[serde(default)]
    pub tables: BTreeMap<String, BTreeMap<String, Value>>,
    /// What the lines of its output stand for; the first that matches counts.
    #[serde(default)]
    pub line: Vec<Line>,
}

/// What an exit status means. Every other status is a crash.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Exits {
    /// The stream was decoded.
    pub ok: Vec<i32>,
    /// The stream is faulty.
    pub reject: Vec<i32>,
    /// The tool cannot decode such streams.
    pub unsupported: Vec<i32>,
    /// The fault of a stream that is rejected without a fault in the output.
    pub fault: FaultClass,
}

impl Default for Exits {
    fn default() -> Self {
        Self { ok: vec![0], reject: vec![1], unsupported: vec![89], fault: FaultClass::ReservedEncoding }
    }
}

/// What lines stand for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Which lines.
    #[serde(rename = "match")]
    pub pattern: Pattern,
    /// A result as in an answer, or a list of them, with `${capture}` in its texts; nothing, if the line is ignored.
    #[serde(default)]
    pub result: Option<Value>,
    /// What such a line leaves out, so that streams with one cannot be judged: they count as unsupported.
    #[serde(default)]
    pub untold: Option<String>,
}

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Pattern(pub Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text).map(Self).map_err(D::Error::custom)
    }
}

/// A number that depends on parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    /// Bits that are always set.
    #[serde(default)]
    pub base: u64,
    /// Bits that are set for some parameters.
    #[serde(default)]
    pub set: Vec<WordBits>,
}

/// Bits of a [`Word`] that are set if all these parameters have these values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordBits {
    /// The parameters.
    pub when: BTreeMap<String, Value>,
    /// The bits.
    pub bits: u64,
}
