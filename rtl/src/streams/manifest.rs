//! `manifest.json` of a pack of streams.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use traceproof_vectors::case::{Level, Polarity};

use super::Column;
use crate::pack::{LeftOut, digest};

/// What `format` of a manifest is.
pub const FORMAT: &str = "traceproof-streams";

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// What a pack of streams is.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StreamManifest {
    /// `traceproof-streams`.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The protocol, e.g. `arm_pft`.
    pub protocol: String,
    /// Rows of `bytes.memh`.
    pub bytes: Rows,
    /// Rows of `stimulus.memh`; absent if no case has stimulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stimulus: Option<Rows>,
    /// Columns of stimulus, after the number, order and argument of a row.
    pub columns: Vec<Column>,
    /// The parameters that cases have.
    pub parameters: Vec<Value>,
    /// The policies that cases with stimulus have.
    pub policies: Vec<Value>,
    /// The cases.
    pub cases: Vec<StreamEntry>,
    /// What is left out, and why.
    pub left_out: Vec<LeftOut>,
    /// SHA256 of every other file, by name.
    pub files: BTreeMap<String, String>,
}

/// Rows of a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// How many, the end row included.
    pub rows: u64,
    /// Words of 32 bits of a row.
    pub words: usize,
    /// Checksum of all of them, 8 hexadecimal digits.
    pub checksum: String,
}

/// A case of a pack of streams.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StreamEntry {
    /// Its number, as in its case rows.
    pub number: u32,
    /// Its id, which its files are named after.
    pub id: String,
    /// SHA256 of its file in the suite.
    pub digest: String,
    /// The behaviour in a few words.
    pub title: String,
    /// How binding it is.
    pub level: Level,
    /// Whether its stream is legal.
    pub polarity: Polarity,
    /// The requirements that it proves.
    pub clauses: Vec<String>,
    /// Optional features that it needs.
    pub features: Vec<String>,
    /// Readings on which it depends.
    pub readings: Vec<String>,
    /// Which of the parameters it has.
    pub parameters: usize,
    /// Which of the policies it has; absent without stimulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<usize>,
    /// Bytes of its stream.
    pub bytes: usize,
    /// Packets that are expected; absent if they are not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<usize>,
    /// Events and faults that are expected; absent if they are not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<usize>,
    /// Steps of its stimulus; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Whether there is code, in `<id>.image`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub code: bool,
}

impl StreamEntry {
    /// Whether it was made from a file of the suite with this text.
    #[must_use]
    pub fn is_of(&self, text: &str) -> bool {
        digest(text.as_bytes()).eq_ignore_ascii_case(&self.digest)
    }
}
