//! What a device answered, at four levels side by side, and the relations between cases.

mod case;
mod semantic;

pub use case::judge_case;
pub(crate) use semantic::judge as decoded;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pack::{Pack, PackCase};
use crate::{Device, Finding, Format, MonitorLog};

/// How a level came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it must be.
    Pass,
    /// It differs, first like this.
    Fail {
        /// The first difference.
        message: String,
        /// Only the end of tracing differs, not the body of the trace.
        tail_only: bool,
    },
    /// It cannot be judged, because of this.
    NotJudged(String),
}

impl Outcome {
    /// Whether it differs.
    #[must_use]
    pub const fn failed(&self) -> bool {
        matches!(self, Self::Fail { .. })
    }

    /// A word for tables.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail { tail_only: true, .. } => "fail (tail)",
            Self::Fail { .. } => "fail",
            Self::NotJudged(_) => "not judged",
        }
    }
}

/// The verdicts of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseVerdict {
    /// Its id.
    pub id: String,
    /// Packets expected and packets that came.
    pub packets: (usize, usize),
    /// The bytes of the policy of `dut.toml`.
    pub exact: Outcome,
    /// The packets, field by field, whatever their compression.
    pub fields: Outcome,
    /// What the specification allows.
    pub legal: Outcome,
    /// A decoder reports the execution.
    pub semantic: Outcome,
    /// The same packets as the case that it is a variant of.
    pub relation: Outcome,
    /// Clocks of the latest packet after its row, and the bound.
    pub latency: Outcome,
    /// What is not legal.
    pub findings: Vec<Finding>,
    /// Why the bytes are others although they are legal.
    pub freedoms: BTreeMap<String, usize>,
    /// Packets whose layout is one of `dut.toml`, by format.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layouts: BTreeMap<Format, usize>,
    /// What the wrapper reported.
    pub reports: Vec<String>,
}

/// Findings with one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The clause.
    pub clause: String,
    /// The field.
    pub field: String,
    /// Why the packet was due; absent where none was.
    pub reason: Option<String>,
    /// How many findings.
    pub findings: usize,
    /// In how many cases.
    pub cases: usize,
    /// In how many cases it is the first finding, but for those that disturb nothing. 0: it may have the same root as
    /// another group.
    pub first_in: usize,
    /// About the end of tracing only.
    pub tail: bool,
    /// The first one: case and finding.
    pub example: (String, Finding),
}

/// A format whose fields have another order or width than those of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutFinding {
    /// The format.
    pub format: Format,
    /// The clause that has its layout.
    pub clause: String,
    /// The fields with their widths, as specified.
    pub expected: String,
    /// Those of the device.
    pub got: String,
    /// How many packets.
    pub packets: usize,
    /// In how many cases.
    pub cases: usize,
}

/// The verdict about a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The device.
    pub device: String,
    /// What is wrong with the run as a whole: rows, checksum, end, missing cases, no packets.
    pub run: Vec<String>,
    /// Formats with a layout that is not that of the specification: a finding each, whatever their fields hold.
    #[serde(default)]
    pub layout: Vec<LayoutFinding>,
    /// The cases.
    pub cases: Vec<CaseVerdict>,
    /// The findings by cause, the most frequent first findings first.
    pub groups: Vec<Group>,
}

/// One of the levels of a case.
pub type LevelOf = fn(&CaseVerdict) -> &Outcome;

/// The levels by name.
pub const LEVELS: [(&str, LevelOf); 6] = [
    ("exact", |case| &case.exact),
    ("fields", |case| &case.fields),
    ("legal", |case| &case.legal),
    ("semantic", |case| &case.semantic),
    ("relation", |case| &case.relation),
    ("latency", |case| &case.latency),
];

impl Verdict {
    /// Whether the device does what its specification demands: `exact` and `fields` do not count.
    #[must_use]
    pub fn passes(&self) -> bool {
        let demanded = LEVELS.iter().skip(2);
        self.run.is_empty()
            && self.layout.is_empty()
            && demanded.clone().all(|(_, level)| !self.cases.iter().any(|case| level(case).failed()))
    }

    /// How many cases pass, fail and are not judged at a level.
    #[must_use]
    pub fn counts(&self, level: LevelOf) -> [usize; 3] {
        let mut counts = [0; 3];
        for case in &self.cases {
            let index = match level(case) {
                Outcome::Pass => 0,
                Outcome::Fail { .. } => 1,
                Outcome::NotJudged(_) => 2,
            };
            counts[index] += 1;
        }
        counts
    }
}

/// Judges the log of a run of a pack.
#[must_use]
pub fn judge(pack: &Pack, log: &MonitorLog) -> Verdict {
    let mut run = run_problems(pack, log);
    let mut cases: Vec<CaseVerdict> = Vec::with_capacity(pack.cases.len());
    let mut payloads: BTreeMap<&str, Vec<Vec<u8>>> = BTreeMap::new();
    let clocks = case::row_clocks(pack);
    for case in &pack.cases {
        let Some(came) = log.cases.iter().find(|came| came.number == case.entry.number) else {
            run.push(format!("case {} was not driven", case.entry.id));
            continue;
        };
        let (mut verdict, bytes) = judge_case(pack, case, came, &clocks);
        verdict.relation = relation(case, &payloads, &bytes);
        payloads.insert(&case.entry.id, bytes);
        cases.push(verdict);
    }
    if cases.is_empty() {
        run.push(String::from("no case was judged"));
    } else if cases.iter().all(|case| case.packets.1 == 0) {
        run.push(String::from("no packet came"));
    }
    name_tval(&mut cases);
    let groups = groups(&cases);
    let layout = layout(&pack.device, &cases);
    Verdict { device: pack.device.name.clone(), run, layout, cases, groups }
}

/// The layouts of the device that are not those of the specification, as far as packets came with them.
fn layout(device: &Device, cases: &[CaseVerdict]) -> Vec<LayoutFinding> {
    let finding = |(format, expected, got): (Format, String, String)| {
        let counts: Vec<usize> = cases.iter().filter_map(|case| case.layouts.get(&format).copied()).collect();
        let clause = format.clause().to_owned();
        (!counts.is_empty()).then(|| LayoutFinding {
            format,
            clause,
            expected,
            got,
            packets: counts.iter().sum(),
            cases: counts.len(),
        })
    };
    device.layout.differences(&device.payload_parameters()).into_iter().filter_map(finding).collect()
}

fn run_problems(pack: &Pack, log: &MonitorLog) -> Vec<String> {
    let mut problems = Vec::new();
    if !log.ended {
        problems.push(String::from("the log has no line `E`: the simulation stopped before its end"));
    }
    let expected = (pack.manifest.rows, u32::from_str_radix(&pack.manifest.checksum, 16).unwrap_or(0));
    match log.driven {
        None => problems.push(String::from("the log has no line `R`: rows and checksum are unknown")),
        Some((rows, _)) if rows != expected.0 => {
            problems.push(format!("{rows} rows were driven, the pack has {}", expected.0));
        }
        Some((_, checksum)) if checksum != expected.1 => problems.push(format!(
            "the checksum is {checksum:08x}, not {:08x}: the device did not see the rows of the pack",
            expected.1
        )),
        Some(_) => {}
    }
    problems
}

/// A variant must have the packets of the case that it is a variant of.
fn relation(case: &PackCase, payloads: &BTreeMap<&str, Vec<Vec<u8>>>, came: &[Vec<u8>]) -> Outcome {
    let (Some(of), Some(relation)) = (&case.entry.variant_of, case.entry.relation) else {
        return Outcome::NotJudged(String::from("no variant"));
    };
    let Some(base) = payloads.get(of.as_str()) else {
        return Outcome::NotJudged(format!("{of} was not driven"));
    };
    if base == came {
        return Outcome::Pass;
    }
    let at = base.iter().zip(came).take_while(|(a, b)| a == b).count();
    let clause = relation.clause();
    let message = format!(
        "{clause}: packet {at} differs from that of {of}, which differs in `{}` only",
        relation.name()
    );
    Outcome::Fail { message, tail_only: false }
}

/// A short `tval` looks like wrong filling. It is what it is if interrupts have one elsewhere, and nothing but
/// interrupts is filled wrongly. Spec: RVET-PKT-003, RVET-PKT-017.
fn name_tval(cases: &mut [CaseVerdict]) {
    let all = || cases.iter().flat_map(|case| &case.findings);
    let of_interrupts = all()
        .filter(|finding| finding.field == case::PADDING)
        .all(|finding| finding.expected.ends_with("of an interrupt"));
    if !of_interrupts || !all().any(|finding| finding.field == "tval" && finding.clause == "RVET-PKT-017") {
        return;
    }
    for finding in cases.iter_mut().flat_map(|case| &mut case.findings) {
        if finding.field == case::PADDING {
            "tval".clone_into(&mut finding.field);
            "RVET-PKT-017".clone_into(&mut finding.clause);
            "no tval of an interrupt".clone_into(&mut finding.expected);
        }
    }
    for case in cases {
        case.legal = case::legal(&case.findings);
    }
}

fn groups(cases: &[CaseVerdict]) -> Vec<Group> {
    let mut groups: BTreeMap<(String, String, Option<String>), Group> = BTreeMap::new();
    for case in cases {
        let mut seen: Vec<(String, String, Option<String>)> = Vec::new();
        let mut disturbed = false;
        for finding in &case.findings {
            let reason = finding.reason.map(|reason| reason.name().to_owned());
            let key = (finding.clause.clone(), finding.field.clone(), reason.clone());
            let group = groups.entry(key.clone()).or_insert_with(|| Group {
                clause: finding.clause.clone(),
                field: finding.field.clone(),
                reason,
                findings: 0,
                cases: 0,
                first_in: 0,
                tail: true,
                example: (case.id.clone(), finding.clone()),
            });
            group.findings += 1;
            let is_new = !seen.contains(&key);
            group.first_in += usize::from(is_new && !disturbed);
            group.tail &= finding.tail;
            disturbed |= !finding.is_harmless();
            if is_new {
                group.cases += 1;
                seen.push(key);
            }
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.first_in), std::cmp::Reverse(group.findings)));
    groups
}
