//! The results of a run as data: every report is created from this only.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use traceproof_vectors::ProtocolId;
use traceproof_vectors::case::{Level, Polarity};

use crate::verdict::{Direction, Kind, Verdict};
use crate::{Invocation, Options, ProtocolName, Subject};

/// Version of the results format. Raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// Everything that came out of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Version of this format: 1.
    pub schema: u32,
    /// Version of the harness and of the shipped suites.
    pub harness: String,
    /// The command that started it, e.g. `traceproof`; the commands of reports begin with it.
    #[serde(default)]
    pub invocation: Invocation,
    /// What names the suite after `--suite`, if it is not the shipped one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// The subject.
    pub subject: SubjectName,
    /// The run was stopped before its end: cases are missing.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub incomplete: bool,
    /// One result per selected case, in the order of families and paths.
    pub cases: Vec<CaseResult>,
    /// One result per real program and parameter set, if they ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramRun>,
    /// Trace sources of a snapshot whose protocol belongs to no family, e.g. `STM_0 (STM)`; they are not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_sources: Vec<String>,
}

/// What came of a real program whose execution went through an encoder and a decoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRun {
    /// The protocol.
    #[serde(flatten)]
    pub protocol: ProtocolName,
    /// The program.
    pub program: String,
    /// The set of parameters.
    pub set: String,
    /// Instructions that passed the round trip.
    pub instructions: u64,
    /// Traps that passed the round trip.
    pub traps: u64,
    /// Packets that the decoder read.
    pub packets: u64,
    /// Bytes that travelled.
    pub bytes: u64,
    /// Whether the execution passed the round trip.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl ProgramRun {
    /// Program and set, as filters match them: `mix.rv64gc/delta`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.program, self.set)
    }
}

/// The subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectName {
    /// The subject's name.
    pub name: String,
    /// The subject's version.
    pub version: String,
    /// Its name or file for `--subject`, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
}

/// What came out of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case's id.
    pub id: String,
    /// Revision of its expectation.
    pub rev: u32,
    /// The protocol.
    #[serde(flatten)]
    pub protocol: ProtocolName,
    /// The file, relative to the directory of suites, with `/`.
    pub path: String,
    /// The behaviour in a few words.
    pub title: String,
    /// How binding it is.
    pub level: Level,
    /// Whether the rule is kept or broken.
    pub polarity: Polarity,
    /// What the case proves.
    pub clauses: Vec<ClauseName>,
    /// The readings without a primary source on which it depends: what comes out of its checks is provisional.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provisional: Vec<String>,
    /// Which bug it catches.
    pub catches: String,
    /// What came out, one for each direction that the case and the subject allow.
    pub checks: Vec<Check>,
    /// The command that judges just this again, where no case has the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
}

/// A clause as reports show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClauseName {
    /// The clause's id.
    pub id: String,
    /// What it requires.
    pub summary: String,
}

/// What came out of one direction of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The direction.
    pub direction: Direction,
    /// What came out.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How many checks had which verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally(BTreeMap<Kind, usize>);

impl Tally {
    /// How many had this verdict.
    #[must_use]
    pub fn of(&self, kind: Kind) -> usize {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    /// How many checks there were.
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// How many were judged: all but those that the subject does not claim to support.
    #[must_use]
    pub fn applicable(&self) -> usize {
        self.total() - self.of(Kind::Unsupported)
    }

    /// How many make a run fail.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.0.iter().filter(|(kind, _)| kind.is_failure()).map(|(_, count)| count).sum()
    }

    fn add(&mut self, kind: Kind) {
        *self.0.entry(kind).or_default() += 1;
    }
}

impl FromIterator<Kind> for Tally {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        let mut tally = Self::default();
        for kind in kinds {
            tally.add(kind);
        }
        tally
    }
}

impl CaseResult {
    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.verdict.kind().is_failure())
    }

    /// Directory of the case within the suites, e.g. `riscv_etrace/branches`.
    #[must_use]
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl Run {
    /// These results, of a run of the subject with the options.
    pub(crate) fn of(
        subject: &Subject,
        options: &Options,
        cases: Vec<CaseResult>,
        programs: Vec<ProgramRun>,
    ) -> Self {
        Self {
            schema: SCHEMA,
            harness: env!("CARGO_PKG_VERSION").to_owned(),
            invocation: options.invocation.clone(),
            suite: options.directories.argument.clone(),
            subject: subject.title(),
            incomplete: options.stop.load(Ordering::Relaxed),
            cases,
            programs,
            foreign_sources: Vec::new(),
        }
    }

    /// A command about a case of the run's suite.
    pub(crate) fn command(&self, arguments: impl Display) -> String {
        let command = self.invocation.command(arguments);
        self.suite.as_ref().map_or_else(|| command.clone(), |suite| format!("{command} --suite {suite}"))
    }

    /// The cases with a failure.
    pub fn failed(&self) -> impl Iterator<Item = &CaseResult> {
        self.cases.iter().filter(|case| case.failures().next().is_some())
    }

    /// Whether checks passed and none failed. A run in which nothing was judged is no success, nor is one that was
    /// stopped.
    #[must_use]
    pub fn is_success(&self) -> bool {
        let judged = self.tally().applicable() + self.program_tally().applicable();
        !self.incomplete
            && judged > 0
            && self.failed().next().is_none()
            && self.failed_programs().next().is_none()
    }

    /// Everything that was checked, by its name in baselines: id of the case or program and set, direction, what came
    /// out.
    pub fn checks(&self) -> impl Iterator<Item = (String, Direction, &Verdict)> {
        let cases = self.cases.iter().flat_map(|case| {
            case.checks.iter().map(|check| (case.id.clone(), check.direction, &check.verdict))
        });
        cases.chain(self.programs.iter().map(|run| (run.name(), Direction::RoundTrip, &run.verdict)))
    }

    /// As [`checks`](Self::checks), to change what came out.
    pub fn checks_mut(&mut self) -> impl Iterator<Item = (String, Direction, &mut Verdict)> {
        let Self { cases, programs, .. } = self;
        let cases = cases.iter_mut().flat_map(|case| {
            let CaseResult { id, checks, .. } = case;
            checks.iter_mut().map(|check| (id.clone(), check.direction, &mut check.verdict))
        });
        cases.chain(programs.iter_mut().map(|run| (run.name(), Direction::RoundTrip, &mut run.verdict)))
    }

    /// The real programs that failed the round trip.
    pub fn failed_programs(&self) -> impl Iterator<Item = &ProgramRun> {
        self.programs.iter().filter(|run| run.verdict.kind().is_failure())
    }

    /// Verdicts over the real programs.
    #[must_use]
    pub fn program_tally(&self) -> Tally {
        self.programs.iter().map(|run| run.verdict.kind()).collect()
    }

    /// Verdicts by protocol and direction; without what was not checked.
    #[must_use]
    pub fn tallies(&self) -> BTreeMap<(ProtocolId, Direction), Tally> {
        let mut tallies = BTreeMap::new();
        for case in &self.cases {
            for check in &case.checks {
                let tally: &mut Tally = tallies.entry((case.protocol.0, check.direction)).or_default();
                tally.add(check.verdict.kind());
            }
        }
        tallies
    }

    /// How many judged checks depend on each reading without a primary source, and how many on any.
    #[must_use]
    pub fn provisional(&self) -> (BTreeMap<&str, usize>, usize) {
        let mut readings: BTreeMap<&str, usize> = BTreeMap::new();
        let mut all = 0;
        for case in self.cases.iter().filter(|case| !case.provisional.is_empty()) {
            let judged = case.checks.iter().filter(|check| check.verdict.kind() != Kind::Unsupported).count();
            all += judged;
            for name in &case.provisional {
                *readings.entry(name).or_default() += judged;
            }
        }
        readings.retain(|_, judged| *judged > 0);
        (readings, all)
    }

    /// Verdicts over all cases.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.cases.iter().flat_map(|case| &case.checks).map(|check| check.verdict.kind()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &str, protocol: ProtocolId, verdict: Verdict) -> CaseResult {
        CaseResult {
            id: id.to_owned(),
            rev: 1,
            protocol: ProtocolName(protocol),
            path: format!("{protocol}/{id}.toml"),
            title: String::new(),
            level: Level::Must,
            polarity: Polarity::Positive,
            clauses: Vec::new(),
            provisional: Vec::new(),
            catches: String::new(),
            checks: vec![Check { direction: Direction::Decode, verdict }],
            reproduce: None,
        }
    }

    fn run(cases: Vec<CaseResult>) -> Run {
        Run {
            schema: SCHEMA,
            harness: String::new(),
            invocation: Invocation::default(),
            suite: None,
            subject: SubjectName { name: String::new(), version: String::new(), argument: None },
            incomplete: false,
            cases,
            programs: Vec::new(),
            foreign_sources: Vec::new(),
        }
    }

    #[test]
    fn what_depends_on_an_unconfirmed_reading_is_counted() {
        let with = |id, verdict, readings: &[&str]| CaseResult {
            provisional: readings.iter().map(ToString::to_string).collect(),
            ..case(id, ProtocolId::ArmEtm, verdict)
        };
        let unsupported = Verdict::Unsupported { needs: vec![String::from("a decoder")] };
        let mut both = with("etm-0001", Verdict::Pass, &["etm-pc-1", "etm-pc-2"]);
        both.checks.push(Check { direction: Direction::Encode, verdict: Verdict::Pass });
        let run = run(vec![
            both,
            with("etm-0002", Verdict::Pass, &["etm-pc-1"]),
            with("etm-0003", unsupported, &["etm-pc-3"]),
            with("etm-0004", Verdict::Pass, &[]),
        ]);
        assert_eq!(run.provisional(), (BTreeMap::from([("etm-pc-1", 3), ("etm-pc-2", 2)]), 3));
        let text = serde_json::to_string(&run).expect("writes");
        assert!(text.contains(r#""provisional":["etm-pc-1","etm-pc-2"]"#), "{text}");
        assert_eq!(text.matches("provisional").count(), 3);
        assert_eq!(serde_json::from_str::<Run>(&text).expect("reads"), run);
    }

    #[test]
    fn protocols_of_a_family_are_counted_apart() {
        let unsupported = Verdict::Unsupported { needs: vec![String::from("a decoder")] };
        let run = run(vec![
            case("ete-0001", ProtocolId::ArmEte, Verdict::Pass),
            case("eteu-0001", ProtocolId::ArmEteUnit, unsupported),
            case("eteu-0002", ProtocolId::ArmEteUnit, Verdict::Pass),
        ]);
        let tallies = run.tallies();
        let of = |protocol, kind| tallies[&(protocol, Direction::Decode)].of(kind);
        assert_eq!((of(ProtocolId::ArmEte, Kind::Pass), of(ProtocolId::ArmEte, Kind::Unsupported)), (1, 0));
        assert_eq!(
            (of(ProtocolId::ArmEteUnit, Kind::Pass), of(ProtocolId::ArmEteUnit, Kind::Unsupported)),
            (1, 1)
        );
        let text = serde_json::to_string(&run).expect("writes");
        assert_eq!(serde_json::from_str::<Run>(&text).expect("reads"), run);
        assert!(text.contains(r#""family":"arm_ete","protocol":"arm_ete_unit""#), "{text}");
    }
}
