//! The results of a run, as `conformance --json` writes them.
//!
//! This crate reads what reports need and ignores other fields, so that it does not depend on the harness. A test of
//! the program `traceproof` compares both for every kind of verdict.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::error::Error;

/// Version of the results that can be read.
pub const SCHEMA: u64 = 1;

/// The results of one subject.
#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    /// Version of the format.
    pub schema: u64,
    /// Version of harness and suite.
    pub harness: String,
    /// The words before a verb in commands.
    #[serde(default = "traceproof")]
    pub invocation: String,
    /// The argument of `--suite`, if it was not the shipped suite.
    #[serde(default)]
    pub suite: Option<String>,
    /// The subject.
    pub subject: Subject,
    /// Whether the run was stopped before its end.
    #[serde(default)]
    pub incomplete: bool,
    /// The cases, in the order of the run.
    pub cases: Vec<Case>,
    /// Real programs.
    #[serde(default)]
    pub programs: Vec<ProgramRun>,
    /// The clauses of the families that were judged.
    #[serde(default)]
    pub clauses: Vec<Clause>,
    /// More about cases, by id.
    #[serde(default)]
    pub details: BTreeMap<String, Detail>,
}

fn traceproof() -> String {
    String::from("traceproof")
}

/// The subject of a run.
#[derive(Clone, Debug, Deserialize)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its name or file after `--subject`.
    #[serde(default)]
    pub argument: Option<String>,
}

/// A case with its checks.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// Its id.
    pub id: String,
    /// Revision of its expectation.
    #[serde(default)]
    pub rev: u64,
    /// The family.
    pub family: String,
    /// The protocol, unless it is the family's main protocol.
    #[serde(default)]
    pub protocol: Option<String>,
    /// Its file, relative to the directory of suites.
    pub path: String,
    /// The behaviour in a few words.
    pub title: String,
    /// How binding it is.
    pub level: String,
    /// Whether it shows the rule kept or broken.
    pub polarity: String,
    /// The clauses that it cites.
    #[serde(default)]
    pub clauses: Vec<Cited>,
    /// Which bug it catches.
    #[serde(default)]
    pub catches: String,
    /// One for each direction that was judged.
    pub checks: Vec<Check>,
    /// The command that judges it again, if it is not the usual one.
    #[serde(default)]
    pub reproduce: Option<String>,
}

/// More about a case than what came out.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Detail {
    /// The text of its file.
    #[serde(default)]
    pub source: Option<String>,
    /// Wire and dissection, of examples of failures.
    #[serde(default)]
    pub evidence: Option<Evidence>,
}

/// A clause that a case cites.
#[derive(Clone, Debug, Deserialize)]
pub struct Cited {
    /// Its id.
    pub id: String,
    /// What it requires.
    pub summary: String,
}

/// A clause of a registry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Clause {
    /// The family of the registry.
    pub family: String,
    /// Its id.
    pub id: String,
    /// What it requires.
    pub summary: String,
    /// Chapter and section of the specification.
    pub source: String,
    /// How binding it is.
    pub level: String,
    /// What is built and covered together.
    pub scope: String,
    /// Whether a wire can violate it.
    #[serde(default)]
    pub violable: bool,
    /// Why no case can cover it.
    #[serde(default)]
    pub untestable: Option<String>,
}

/// What `explain` shows of a case, as data.
#[derive(Clone, Debug, Default, serde::Serialize, Deserialize)]
pub struct Evidence {
    /// The wire, a transport unit per item.
    #[serde(default)]
    pub wire: Vec<String>,
    /// The dissection of the wire, with the output of both decoders.
    #[serde(default)]
    pub units: Vec<Unit>,
    /// The first difference, or why the subject did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<String>,
    /// The wire of the subject's encoder, if it is not the expected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<Encoder>,
    /// Number of packets that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The wire of an encoder and its dissection.
#[derive(Clone, Debug, Default, serde::Serialize, Deserialize)]
pub struct Encoder {
    /// A transport unit per item.
    #[serde(default)]
    pub wire: Vec<String>,
    /// Its dissection by the reference decoder.
    #[serde(default)]
    pub units: Vec<Unit>,
}

/// One unit of a dissection.
#[derive(Clone, Debug, Default, serde::Serialize, Deserialize)]
pub struct Unit {
    /// Packet, byte and bytes.
    pub heading: String,
    /// The table of its fields.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fields: String,
    /// What the reference reports for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<String>,
    /// What the subject reports for it, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Vec<String>>,
    /// Why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What the packet changes in the state of the reference decoder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<String>,
}

/// A real program under a set of parameters.
#[derive(Clone, Debug, Deserialize)]
pub struct ProgramRun {
    /// The family.
    pub family: String,
    /// The protocol, unless it is the family's main protocol.
    #[serde(default)]
    pub protocol: Option<String>,
    /// The program.
    pub program: String,
    /// The set of parameters.
    pub set: String,
    /// Instructions that passed the round trip.
    pub instructions: u64,
    /// Packets.
    pub packets: u64,
    /// Bytes of trace.
    pub bytes: u64,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl ProgramRun {
    /// Program and set.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.program, self.set)
    }
}

/// One direction of a case.
#[derive(Clone, Debug, Deserialize)]
pub struct Check {
    /// The direction.
    pub direction: String,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// A verdict with its details; each kind of verdict has some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Outcome {
    /// The verdict.
    pub verdict: String,
    /// `fail`: what was compared.
    #[serde(default)]
    pub what: String,
    /// `fail`: index of the first item that differs.
    #[serde(default)]
    pub index: u64,
    /// `fail`: the packet that led to it.
    #[serde(default)]
    pub place: Option<Place>,
    /// `fail`: that packet, read by the reference.
    #[serde(default)]
    pub packet: Option<String>,
    /// `fail`: the items around the difference.
    #[serde(default)]
    pub rows: Vec<Row>,
    /// `crash`, `protocol-error`, `state-leak`: what happened.
    #[serde(default)]
    pub message: String,
    /// `crash`, `protocol-error`: the end of the standard error.
    #[serde(default)]
    pub stderr: Option<String>,
    /// `timeout`: the deadline.
    #[serde(default)]
    pub milliseconds: u64,
    /// `overflow`: the largest answer in bytes.
    #[serde(default)]
    pub limit: u64,
    /// `flaky`: the outcomes.
    #[serde(default)]
    pub seen: Vec<Seen>,
    /// `unsupported`: what is not claimed.
    #[serde(default)]
    pub needs: Vec<String>,
    /// `undeclared`: the refusal.
    #[serde(default)]
    pub refusal: String,
    /// `expected-failure`: the verdict without the baseline.
    #[serde(default)]
    pub outcome: String,
    /// `expected-failure`, `unexpected-pass`: the reason in the baseline.
    #[serde(default)]
    pub reason: String,
    /// `expected-failure`: where the reason is explained.
    #[serde(default)]
    pub finding: String,
}

/// A packet of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
pub struct Place {
    /// Index of the packet.
    pub packet: u64,
    /// Its first byte.
    #[serde(default)]
    pub byte: u64,
    /// The bit in it.
    #[serde(default)]
    pub bit: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {}, byte {}.{}", self.packet, self.byte, self.bit)
    }
}

/// One item of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
pub struct Row {
    /// Whether both sides agree.
    pub same: bool,
    /// What was expected; nothing after the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What came; nothing after the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
}

/// One outcome of a flaky check.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Seen {
    /// The outcome, as in a line of a baseline.
    pub outcome: String,
    /// How often.
    pub times: u64,
}

/// Something with a verdict: a case in one direction, or a real program.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// Id of the case, or program and set.
    pub name: String,
    /// The direction.
    pub direction: &'a str,
    /// The protocol.
    pub protocol: &'a str,
    /// The outcome.
    pub outcome: &'a Outcome,
}

impl Run {
    /// Reads results.
    ///
    /// # Errors
    ///
    /// With line and column: no JSON, missing fields; results of another schema.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let run: Self = serde_json::from_str(text).map_err(|error| Error::json("results", &error))?;
        if run.schema == SCHEMA { Ok(run) } else { Err(Error::Schema { found: run.schema, known: SCHEMA }) }
    }

    /// Every check, and every real program as the direction `round-trip`.
    pub fn judged(&self) -> impl Iterator<Item = Judged<'_>> {
        let cases = self.cases.iter().flat_map(|case| {
            case.checks.iter().map(|check| Judged {
                name: case.id.clone(),
                direction: &check.direction,
                protocol: case.protocol(),
                outcome: &check.outcome,
            })
        });
        let programs = self.programs.iter().map(|run| Judged {
            name: run.name(),
            direction: "round-trip",
            protocol: run.protocol.as_deref().unwrap_or(&run.family),
            outcome: &run.outcome,
        });
        cases.chain(programs)
    }

    /// Name and version of the subject.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} {}", self.subject.name, self.subject.version)
    }

    /// A command about this subject.
    #[must_use]
    pub fn about_subject(&self, command: String) -> String {
        match &self.subject.argument {
            Some(argument) => format!("{command} --subject {argument}"),
            None => command,
        }
    }

    /// A command of the program about a case of the suite.
    #[must_use]
    pub fn command(&self, verb: &str, name: &str) -> String {
        let suite = self.suite.as_ref().map(|suite| format!(" --suite {suite}")).unwrap_or_default();
        format!("{} {verb} {name}{suite}", self.invocation)
    }

    /// The command that judges a case again.
    #[must_use]
    pub fn reproduce(&self, case: &Case) -> String {
        let usual = || self.command("conformance --filter", &case.id);
        self.about_subject(case.reproduce.clone().unwrap_or_else(usual))
    }

    /// The command that judges a real program again.
    #[must_use]
    pub fn reproduce_program(&self, program: &ProgramRun) -> String {
        let name = program.name();
        self.about_subject(format!("{} conformance --real-programs --filter {name}", self.invocation))
    }
}

impl Case {
    /// The protocol.
    #[must_use]
    pub fn protocol(&self) -> &str {
        self.protocol.as_deref().unwrap_or(&self.family)
    }

    /// The directory of its file.
    #[must_use]
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}
