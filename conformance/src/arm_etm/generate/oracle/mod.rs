//! The expected report of a run, by rules that use stimulus and filters but no packets.

mod filters;
mod report;

use std::collections::BTreeMap;
use std::fmt;

use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Event, ExceptionKind, Parameters, Stimulus};
use traceproof_vectors::{FaultClass, Log};

use self::filters::Filters;
use self::report::{Heard, Report, Reported};
use super::Scenario;

/// The first difference between the run and the report.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The cycle.
    pub cycle: usize,
    /// What should have come.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}: expected {}, got {}", self.cycle, self.expected, self.got)
    }
}

/// The amount of reported events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Instructions.
    pub instructions: usize,
    /// Data transfers.
    pub transfers: usize,
    /// Load misses whose data came, by words.
    pub answered: usize,
    /// Load misses whose data did not come, by words.
    pub unanswered: usize,
    /// Times that tracing started.
    pub starts: usize,
    /// Overflows.
    pub overflows: usize,
    /// Automatic stackings (ARMv7-M).
    pub stackings: usize,
    /// Exceptions (ETMv2).
    pub exceptions: usize,
    /// Those whose instruction has transfers.
    pub ignored: usize,
    /// Branches that may be exceptions (ETMv2).
    pub possible_exceptions: usize,
}

/// What of a run is visible, in the order in which it happens within a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visible {
    /// Tracing starts before this instruction (in data-only mode the instruction is unknown).
    Start { address: Option<u32>, in_progress: Option<u32> },
    /// An instruction; `cycles` since the one before, of a load or store in progress none.
    Instruction { address: u32, executed: bool, cycles: Option<u64> },
    /// An address that is not in the code.
    Branch { address: u32, thumb: bool, exception: Option<(u16, bool)> },
    /// ETMv2: the branch is an exception; `ignored` words of data belong to the instruction.
    Exception { kind: ExceptionKind, cancels: bool, ignored: usize },
    /// ETMv2: the branch may be an exception.
    PossibleException,
    /// A word of data.
    Transfer { address: Option<u32>, value: Word, big_endian: bool },
    /// The store before failed.
    StoreFailed,
    /// A Context ID.
    Context(u32),
    /// An exception return.
    Return,
    /// Automatic stacking begins (ARMv7-M).
    Entry,
}

/// The value of a word that is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Known(u32),
    NotTraced,
    Off,
    /// Half (0 or 1) of the load miss of this number.
    Miss(u32, u32),
}

/// The answer to a load miss: when, and what.
type Answers = BTreeMap<u32, (usize, u64)>;

/// Whether a decoder's log is what a run must produce. `starts` are the cycles in which tracing started, from the
/// encoder; after lost cycles (ETMv3) there is no other source for them.
///
/// # Errors
///
/// The first difference.
pub fn judge(scenario: &Scenario, log: &Log<ArmEtm>, starts: &[usize]) -> Result<Returned, Mismatch> {
    check_faults(scenario, log)?;
    let report = Report::read(scenario, log)?;
    let answers: Answers = scenario
        .cycles
        .iter()
        .enumerate()
        .flat_map(|(cycle, now)| now.returns.iter().map(move |answer| (answer.miss, (cycle, answer.value))))
        .collect();
    let mut judge = Judge {
        scenario,
        report: &report,
        starts,
        answers: &answers,
        filters: Filters::new(scenario, starts),
        at: 0,
        lost: false,
        latest: None,
        latest_instruction: None,
        lenient: false,
        losses: Vec::new(),
        unseen: Vec::new(),
        misses: Vec::new(),
        returned: Returned::default(),
    };
    for cycle in 0..scenario.cycles.len() {
        judge.cycle(cycle)?;
    }
    judge.finish()
}

/// A sound stream has no faults, except for tags of misses from before a reset.
fn check_faults(scenario: &Scenario, log: &Log<ArmEtm>) -> Result<(), Mismatch> {
    let reset = scenario.cycles.iter().any(|cycle| cycle.reset);
    for fault in log.faults() {
        if !(reset && fault.class == FaultClass::Suspicious) {
            return Err(Mismatch { cycle: 0, expected: "no fault".into(), got: format!("{fault:?}") });
        }
    }
    match log.events().find(|event| matches!(event, Event::IgnoredData { .. } | Event::Incomplete { .. })) {
        Some(event) => Err(Mismatch { cycle: 0, expected: "whole data".into(), got: format!("{event:x?}") }),
        None => Ok(()),
    }
}

struct Judge<'a> {
    scenario: &'a Scenario,
    report: &'a Report,
    starts: &'a [usize],
    answers: &'a Answers,
    filters: Filters<'a>,
    /// Of the report.
    at: usize,
    /// An overflow is losing cycles.
    lost: bool,
    /// The latest cycle of which something came.
    latest: Option<usize>,
    /// The latest cycle of which an instruction came.
    latest_instruction: Option<usize>,
    /// Data suppressed: some may be missing.
    lenient: bool,
    /// Cycles of which perhaps nothing came.
    losses: Vec<(usize, usize)>,
    /// Cycles in which data of a miss are not traced although nothing overflowed.
    unseen: Vec<usize>,
    /// Words of load misses, and what came.
    misses: Vec<(usize, u32, u32, Reported)>,
    returned: Returned,
}

impl Judge<'_> {
    fn cycle(&mut self, cycle: usize) -> Result<(), Mismatch> {
        if self.lost && self.restarts(cycle) {
            self.lost = false;
            self.losses.push((self.after_latest(), cycle));
            if !self.explains_loss(cycle) {
                let expected = "a start after an overflow".into();
                return Err(Mismatch { cycle, expected, got: "another start after lost cycles".into() });
            }
        }
        if !self.lost && self.overflow_ends(cycle) {
            // Nothing visible was lost before.
            self.losses.push((self.after_latest(), cycle));
            self.filters.interrupt();
        }
        let items = self.filters.cycle(cycle, self.lost);
        if self.filters.loses_answers(cycle) {
            self.unseen.push(cycle);
        }
        if self.lost {
            return Ok(());
        }
        let begin = (self.at, self.misses.len(), self.lenient, self.latest_instruction, self.returned);
        let mut failed = None;
        for item in &items {
            if let Err(mismatch) = self.item(cycle, item) {
                failed = Some(mismatch);
                break;
            }
        }
        match failed {
            None => {
                if !items.is_empty() {
                    self.latest = Some(cycle);
                }
                Ok(())
            }
            // All of a cycle or nothing, and the trace goes on with a start.
            Some(mismatch) => {
                (self.at, _, self.lenient, self.latest_instruction, self.returned) = begin;
                self.misses.truncate(begin.1);
                if !self.may_be_lost() {
                    return Err(mismatch);
                }
                self.lost = true;
                self.filters.interrupt();
                Ok(())
            }
        }
    }

    /// Whether the report has no entries left before its next start.
    fn may_be_lost(&self) -> bool {
        let mut rest = self.report.heard.get(self.at..).unwrap_or_default();
        while let [Heard { reported: Reported::Suppressed, .. }, others @ ..] = rest {
            rest = others;
        }
        matches!(rest, [Heard { reported: Reported::Start { .. }, .. }, ..])
    }

    /// Whether the report continues with a start in this cycle although nothing visible was lost.
    fn overflow_ends(&self, cycle: usize) -> bool {
        let next = self.report.heard.get(self.at).map(|heard| heard.reported);
        matches!(next, Some(Reported::Start { .. })) && self.restarts(cycle) && self.explains_loss(cycle)
    }

    /// Whether the start in this cycle is one after an overflow, or after one that was forgotten because tracing was
    /// off when the FIFO was empty.
    fn explains_loss(&self, cycle: usize) -> bool {
        let mut rest = self.report.heard.iter().skip(self.at);
        let overflow = rest.find_map(|heard| match heard.reported {
            Reported::Start { overflow, .. } => Some(overflow),
            _ => None,
        });
        let off = |now: &Stimulus| !now.trace_enable || now.debug;
        overflow == Some(true) || self.scenario.cycles[self.after_latest()..=cycle].iter().any(off)
    }

    fn after_latest(&self) -> usize {
        self.latest.map_or(0, |latest| latest + 1)
    }

    /// Whether the start that comes next is in this cycle.
    fn restarts(&self, cycle: usize) -> bool {
        let mut rest = self.report.heard.iter().skip(self.at);
        let start = rest.find_map(|heard| match heard.reported {
            Reported::Start { number, .. } => Some((number, heard.cycle)),
            _ => None,
        });
        match start {
            Some((_, Some(at))) => at == cycle as u64,
            Some((number, None)) => self.starts.get(number) == Some(&cycle),
            None => false,
        }
    }

    fn item(&mut self, cycle: usize, item: &Visible) -> Result<(), Mismatch> {
        while let Some(Heard { reported: Reported::Suppressed, .. }) = self.report.heard.get(self.at) {
            self.lenient = true;
            self.at += 1;
        }
        let data = matches!(item, Visible::Transfer { .. } | Visible::StoreFailed);
        let heard = self.report.heard.get(self.at);
        match heard {
            Some(heard) if self.agrees(cycle, item, heard) => {
                self.at += 1;
                Ok(())
            }
            _ if data && self.lenient => Ok(()),
            other => Err(Mismatch {
                cycle,
                expected: format!("{item:x?}"),
                got: other.map_or_else(|| "the end".into(), |other| format!("{other:x?}")),
            }),
        }
    }

    fn agrees(&mut self, cycle: usize, item: &Visible, heard: &Heard) -> bool {
        let tells_addresses = self.scenario.parameters.architecture == Architecture::V3;
        if heard.cycle.is_some_and(|at| at != cycle as u64) {
            return false;
        }
        match (*item, heard.reported) {
            (
                Visible::Start { address, in_progress },
                Reported::Start { address: a, in_progress: p, gap, overflow, debug, .. },
            ) => {
                self.lenient = false;
                self.returned.starts += 1;
                self.returned.overflows += usize::from(overflow);
                // One start may look like another whose packet was lost.
                self.restarts(cycle)
                    && (address, in_progress) == (a, p)
                    && self.gap_agrees(cycle, gap, overflow, debug)
            }
            (
                Visible::Instruction { address, executed, cycles },
                Reported::Instruction { address: a, executed: e, cycles: c },
            ) => {
                self.returned.instructions += 1;
                // The execution of a load or store in progress is implied; it has no cycle.
                if cycles.is_some() {
                    self.latest_instruction = Some(cycle);
                }
                let accurate = tells_addresses && self.scenario.parameters.cycle_accurate;
                executed == e && (!tells_addresses || a == Some(address)) && (!accurate || c == cycles)
            }
            (
                Visible::Transfer { address, value, big_endian },
                Reported::Transfer { address: a, big_endian: b, .. },
            ) => {
                let agrees = address == a && (!tells_addresses || big_endian == b);
                self.returned.transfers += usize::from(agrees);
                agrees && self.value_agrees(cycle, value, heard.reported)
            }
            (
                Visible::Branch { address, thumb, exception },
                Reported::Branch { address: a, thumb: t, exception: e },
            ) => (address, thumb) == (a, t) && (!tells_addresses || exception == e),
            (Visible::StoreFailed, Reported::StoreFailed) | (Visible::Return, Reported::Return) => true,
            (Visible::Entry, Reported::Entry) => {
                self.returned.stackings += 1;
                true
            }
            (
                Visible::Exception { kind, cancels, ignored },
                Reported::Exception { kind: k, cancelled, ignored: i },
            ) => {
                self.returned.exceptions += 1;
                self.returned.ignored += usize::from(ignored > 0);
                let next = self.returned.transfers as u64;
                let own = (ignored > 0).then(|| (next - ignored as u64, next - 1));
                (kind, cancels.then_some(cycle as u64), own) == (k, cancelled, i)
            }
            (Visible::PossibleException, Reported::PossibleException) => {
                self.returned.possible_exceptions += 1;
                true
            }
            (Visible::Context(value), Reported::Context(v)) => value == v,
            _ => false,
        }
    }

    fn value_agrees(&mut self, cycle: usize, value: Word, reported: Reported) -> bool {
        let Reported::Transfer { value: got, outstanding, .. } = reported else { return false };
        match value {
            Word::Known(value) => got == Word::Known(value) && !outstanding,
            Word::NotTraced | Word::Off => got == value,
            Word::Miss(number, half) => {
                self.misses.push((cycle, number, half, reported));
                outstanding
            }
        }
    }

    /// Every cycle after the latest instruction is in the gap; 0 cycles are not known, nor are cycles in which the
    /// counter of this version did not count. Those since programming may be counted or unknown: the text does not say
    /// whether the counter stays at its reset value. Spec: ETM3-CC-005, ETM3-CC-007, ETM3-CC-009 (7.3.4).
    fn gap_agrees(&self, cycle: usize, gap: Option<Option<u64>>, overflow: bool, debug: bool) -> bool {
        let Parameters { architecture, minor, cycle_accurate, .. } = self.scenario.parameters;
        if !cycle_accurate {
            return gap.is_none();
        }
        let counted = match minor {
            0 => !overflow && !debug,
            1..=4 => true,
            _ => !overflow,
        };
        let passed = self.latest_instruction.map_or(cycle, |latest| cycle - latest - 1) as u64;
        // ETMv2 has no cycle counts: its capture has a record for each cycle.
        let first = self.latest_instruction.is_none() && gap == Some(None);
        architecture != Architecture::V3 || first || gap == Some((passed > 0 && counted).then_some(passed))
    }

    fn finish(mut self) -> Result<Returned, Mismatch> {
        let end = self.scenario.cycles.len();
        let rest = self.report.heard.get(self.at..).unwrap_or_default();
        if self.lost || !rest.is_empty() {
            let got = format!("{:x?}", rest.first());
            return Err(Mismatch { cycle: end, expected: "the end of the run".into(), got });
        }
        for &(cycle, number, half, reported) in &self.misses {
            let Reported::Transfer { value: got, .. } = reported else { continue };
            let answer = self.answers.get(&number);
            let expected = answer.map(|&(_, value)| Word::Known((value >> (32 * half)) as u32));
            match got {
                Word::Known(_) if Some(got) == expected => self.returned.answered += 1,
                // ETM2-LM-027 to 030: why data may be missing.
                Word::NotTraced if answer.is_none_or(|&(at, _)| self.may_miss(at)) => {
                    self.returned.unanswered += 1;
                }
                _ => {
                    let expected = format!("{expected:x?} for miss {number}, answered in {answer:x?}");
                    return Err(Mismatch { cycle, expected, got: format!("{got:x?}") });
                }
            }
        }
        Ok(self.returned)
    }

    /// Whether the data that came in this cycle may be missing: lost with an overflow, or in a cycle that carries none.
    fn may_miss(&self, at: usize) -> bool {
        self.losses.iter().any(|&(from, to)| (from..=to).contains(&at)) || self.unseen.contains(&at)
    }
}
