//! `manifest.json`, and the lines of expected packets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use traceproof_vectors::riscv_etrace::{Filter, Packet, Parameters, Policy};

use crate::generate::Relation;

/// What `format` of a manifest is.
pub(super) const FORMAT: &str = "traceproof-pack";

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// What a pack is.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// `traceproof-pack`.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// `riscv_etrace`.
    pub protocol: String,
    /// The name of the device.
    pub device: String,
    /// The seed.
    pub seed: u64,
    /// `smoke`, `nightly` or `soak`; `recorded` where a simulation wrote the rows down.
    pub size: String,
    /// Rows of the whole pack.
    pub rows: u64,
    /// Blocks of a row.
    pub blocks: usize,
    /// Words of a row.
    pub words: usize,
    /// Checksum of all rows, 8 hexadecimal digits.
    pub checksum: String,
    /// The parameters of the device.
    #[serde(default)]
    pub parameters: Parameters,
    /// Its policy.
    #[serde(default)]
    pub policy: Policy,
    /// The cases.
    pub cases: Vec<CaseEntry>,
    /// What is left out, and why.
    pub left_out: Vec<LeftOut>,
    /// Bins by outcome.
    pub bins: BinCounts,
    /// SHA256 of every other file, by name.
    pub files: BTreeMap<String, String>,
}

/// A case of a pack.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CaseEntry {
    /// Its number, as in its case row.
    pub number: u32,
    /// Its id, which its files are named after.
    pub id: String,
    /// `directed`, `generated` or `recorded`.
    pub origin: String,
    /// The case that it is a variant of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant_of: Option<String>,
    /// How it differs from that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    /// Its first row.
    pub first_row: u32,
    /// Its rows.
    pub rows: u32,
    /// Its packets.
    pub packets: usize,
    /// Its filters, in the notation of policies; its rows write them as registers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Filter>,
    /// The requirements that its packets meet.
    pub clauses: Vec<String>,
}

/// Something that the pack does not have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// A case or a variant.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// Bins by outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BinCounts {
    /// A case has it.
    pub hit: usize,
    /// No case has it.
    pub missed: usize,
    /// The device cannot have it.
    pub unreachable: usize,
}

/// A line of `<id>.expect`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectLine {
    /// The row that causes it.
    pub row: u32,
    /// Its payload.
    pub bytes: String,
    /// Bits that are defined.
    pub mask: String,
    /// Its fields.
    pub packet: Packet,
    /// Other payloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// Requirements that ask for it.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// It reports the end of tracing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tail: bool,
}

/// Another legal payload.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The payload.
    pub bytes: String,
    /// Why it is legal.
    pub why: String,
}
