//! The format of test cases on disk: one TOML file for one behaviour, with everything needed to judge it.
//!
//! A case serves as conformance case, fuzz seed and hardware stimulus. It holds (all optional except the head and the
//! wire):
//!
//! * `program`: the code, as assembly text with labels;
//! * `stimulus`: the inputs of the hardware, in the family's notation; it must produce exactly the `wire`;
//! * `wire`: the trace, in the family's notation;
//! * `packets`: what the wire means field by field;
//! * `events`: what a decoder must report, faults included, in order.
//!
//! Unknown fields are errors with line and column. The JSON Schemas in `vectors/schema/` describe the format
//! to editors and other languages.

#[cfg(any(feature = "arm_etm", feature = "arm_pft", feature = "arm_ete"))]
mod arm;
#[cfg(feature = "arm_ete")]
pub mod arm_ete;
#[cfg(feature = "arm_ete")]
pub mod arm_ete_unit;
#[cfg(feature = "arm_etm")]
pub mod arm_etm;
#[cfg(feature = "arm_etm")]
pub mod arm_etm_formatter;
#[cfg(feature = "arm_pft")]
pub mod arm_pft;
mod assembly;
#[cfg(feature = "itanium_pmu")]
pub mod itanium_pmu;
mod location;
mod problem;
#[cfg(feature = "riscv_etrace")]
pub mod riscv_etrace;
mod suite;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use assembly::{Assembly, Mnemonics, Operands, assemble};
pub use location::{Labels, Location, Path};
pub use problem::{CaseError, Problem};
pub use suite::{CaseFile, SuiteError, check, lint, load, retired_ids};

use crate::{Family, FaultClass, Place, Program, Protocol, ProtocolId};

/// The case format's version; files of another one are refused.
pub const SCHEMA: u32 = 1;

/// How one family writes its cases.
pub trait CaseProtocol:
    Protocol<
        Parameters: Serialize + DeserializeOwned,
        Policy: Serialize + DeserializeOwned,
        Stimulus: Serialize + DeserializeOwned,
        Packet: Serialize + DeserializeOwned,
        Event: Serialize + DeserializeOwned,
    >
{
    /// One line of `stimulus`.
    type StimulusEntry: Clone + std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync;
    /// One line of `events`.
    type EventEntry: Clone + std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync;
    /// What the lines of `stimulus` resolve to: the execution that drives a model of the hardware.
    type Execution: Clone + std::fmt::Debug + Send + Sync;

    /// Turns the text of `program` into bytes and labels.
    ///
    /// # Errors
    ///
    /// Says what is wrong in which line of the text.
    fn assemble(text: &str, parameters: &Self::Parameters) -> Result<Assembly, Problem>;

    /// Resolves the lines of `stimulus`.
    ///
    /// # Errors
    ///
    /// Names the entry, e.g. `stimulus[3]: unknown label`.
    fn execution(entries: &[Self::StimulusEntry], assembly: &Assembly) -> Result<Self::Execution, Problem>;

    /// Resolves the lines of `events`.
    ///
    /// # Errors
    ///
    /// Names the entry.
    fn expected(entries: &[Self::EventEntry], assembly: &Assembly) -> Result<Vec<Expected<Self>>, Problem>;

    /// Turns the lines of `wire` into the bytes of the trace.
    ///
    /// # Errors
    ///
    /// Names the line.
    fn wire(lines: &[String], parameters: &Self::Parameters) -> Result<Vec<u8>, Problem>;

    /// The inverse of [`wire`](Self::wire), for display: one line per transport unit.
    fn show_wire(bytes: &[u8], parameters: &Self::Parameters) -> Vec<String>;

    /// Names of the optional features without which a subject cannot handle this wire with these parameters.
    fn required_features(parameters: &Self::Parameters, wire: &[u8]) -> Vec<&'static str>;

    /// The same parameters without the optional hardware that leaves no trace in these packets: under both, the packets
    /// have the same bytes and the same meaning. So a subject without that hardware can be judged, too.
    #[must_use]
    fn without_unused(parameters: &Self::Parameters, _packets: &[Self::Packet]) -> Self::Parameters {
        parameters.clone()
    }
}

/// What a decoder must deliver next: an event, or a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected<P: Protocol> {
    /// An event (compared with [`Protocol::accepts`]).
    Event(P::Event),
    /// A fault.
    Fault(ExpectedFault),
}

/// A fault that a decoder must report (RVET-DEC-048 and its like: class and place, never text).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedFault {
    /// What kind of defect.
    pub class: FaultClass,
    /// Index of the packet at fault, from 0.
    pub packet: u64,
    /// Byte offset in the stream, transport headers included.
    pub byte: u64,
    /// Bit within that byte.
    #[serde(default)]
    pub bit: u8,
}

impl ExpectedFault {
    /// Where the fault is.
    #[must_use]
    pub const fn place(&self) -> Place {
        Place { packet: self.packet, byte: self.byte, bit: self.bit }
    }
}

/// One case, as written. [`Case::parse`] reads it, [`Case::resolve`] makes it ready to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(serialize = "P: CaseProtocol", deserialize = "P: CaseProtocol"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(
        rename = "Case",
        bound = "P: CaseProtocol, P::Parameters: schemars::JsonSchema, P::Policy: schemars::JsonSchema, P::StimulusEntry: schemars::JsonSchema, P::EventEntry: schemars::JsonSchema, P::Packet: schemars::JsonSchema"
    )
)]
pub struct Case<P: CaseProtocol> {
    /// Version of the case format: 1.
    pub schema: u32,
    /// Opaque, stable, never reused, e.g. `etr-0042`.
    pub id: String,
    /// Raised when the expectation changes.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub rev: u32,
    /// The family.
    pub family: Family,
    /// The protocol, which is also the name of the directory; absent = the family's main protocol, whose name is the
    /// family's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolId>,
    /// The behaviour in a few words.
    pub title: String,
    /// How binding the requirement is.
    pub level: Level,
    /// Requirement ids that this case proves, the central one first.
    pub clauses: Vec<String>,
    /// Whether the case shows the rule kept (`positive`) or broken by the wire (`negative`).
    pub polarity: Polarity,
    /// Which bug this case catches, in one line.
    pub catches: String,
    /// Where the expected values come from.
    pub provenance: Provenance,
    /// Named readings of contested clauses on which the expectation depends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<String>,
    /// The wire is what the reference packet writer makes of `packets`; `false` for forms that are only
    /// legal to receive, and for malformed ones.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub canonical: bool,
    /// Deviations from the family's default parameters.
    #[serde(default)]
    pub parameters: P::Parameters,
    /// Deviations from the default policy of an encoder.
    #[serde(default)]
    pub policy: P::Policy,
    /// The code, as assembly text with labels.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// The inputs of the hardware. Where present, an encoder must turn them into exactly `wire` and `packets`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stimulus: Vec<P::StimulusEntry>,
    /// The trace, one string per transport unit in the family's notation.
    pub wire: Vec<String>,
    /// What the wire means field by field; absent = not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<Vec<P::Packet>>,
    /// What a decoder must report, in order, faults included; absent = not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<P::EventEntry>>,
}

/// Bytes that the lines of `wire` may stand for.
const MOST_WIRE: usize = 16 << 20;

/// Refuses a line after which there are too many bytes.
fn check_wire(index: usize, bytes: &[u8]) -> Result<(), Problem> {
    if bytes.len() > MOST_WIRE {
        let message = format!("the lines stand for more than {MOST_WIRE} bytes");
        return Err(Problem::new(format!("wire[{index}]"), message));
    }
    Ok(())
}

const fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_one(rev: &u32) -> bool {
    *rev == 1
}

const fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_yes(flag: &bool) -> bool {
    *flag
}

/// How binding a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Level {
    /// The specification demands it.
    Must,
    /// The specification recommends it, or the clause is informative but nothing else works.
    Should,
    /// The specification allows it.
    May,
    /// The specification is silent; a good implementation does it.
    Robust,
}

/// Whether a case shows a rule kept or broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Polarity {
    /// The wire is legal.
    Positive,
    /// The wire breaks the rule and the decoder must report it.
    Negative,
}

/// Where the expected values of a case come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Provenance {
    /// Written by hand; bytes worked out by hand from the specification.
    Directed {
        /// How, where it is not obvious.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// A worked example that exists independently of this project's code.
    Example {
        /// Which, e.g. `ET 13.1 line 61` or `X46`.
        source: String,
    },
    /// Generated, then confirmed as described.
    Generated {
        /// Seed of the generator.
        seed: u64,
        /// What confirmed it.
        confirmed: String,
    },
    /// Captured from hardware or an emulator.
    Captured {
        /// From what.
        source: String,
    },
    /// Found by fuzzing and minimised.
    Fuzzed {
        /// Which target.
        target: String,
    },
}

/// A case ready to run.
#[derive(Clone, Debug)]
pub struct Resolved<P: CaseProtocol> {
    /// The code.
    pub program: Program,
    /// Labels and instruction addresses of the code.
    pub labels: Labels,
    /// What drives the encoder; `None` where the case is about decoding only.
    pub execution: Option<P::Execution>,
    /// The bytes that travel.
    pub wire: Vec<u8>,
    /// The expected packets.
    pub packets: Option<Vec<P::Packet>>,
    /// The expected events and faults.
    pub events: Option<Vec<Expected<P>>>,
}

impl<P: CaseProtocol> Case<P> {
    /// Reads a case from TOML text.
    ///
    /// # Errors
    ///
    /// With line and column: unknown or missing fields, wrong types, another schema version, family or protocol.
    pub fn parse(text: &str) -> Result<Self, CaseError> {
        let case: Self = toml::from_str(text).map_err(|error| CaseError::from_toml(text, &error))?;
        if case.schema != SCHEMA {
            return Err(CaseError::at_field(text, "schema", format!("this program reads schema {SCHEMA}")));
        }
        if case.family != P::FAMILY {
            return Err(CaseError::at_field(text, "family", format!("expected `{}`", P::FAMILY)));
        }
        if case.protocol.unwrap_or(ProtocolId::main(case.family)) != P::ID {
            return Err(CaseError::at_field(text, "protocol", format!("expected `{}`", P::ID)));
        }
        Ok(case)
    }

    /// Assembles the program and resolves labels, wire notation and expectations.
    ///
    /// # Errors
    ///
    /// Names the entry that cannot be resolved.
    pub fn resolve(&self) -> Result<Resolved<P>, Problem> {
        let assembly = P::assemble(&self.program, &self.parameters)?;
        let execution =
            if self.stimulus.is_empty() { None } else { Some(P::execution(&self.stimulus, &assembly)?) };
        let events = self.events.as_deref().map(|entries| P::expected(entries, &assembly)).transpose()?;
        Ok(Resolved {
            execution,
            wire: P::wire(&self.wire, &self.parameters)?,
            packets: self.packets.clone(),
            events,
            program: assembly.program,
            labels: assembly.labels,
        })
    }
}
