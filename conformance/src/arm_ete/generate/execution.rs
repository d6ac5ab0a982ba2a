//! The execution that shows a trace unit the stimuli of a scenario: every instruction, speculation step by step.

use std::collections::VecDeque;

use traceproof_encoder_model::arm_ete::ExecutionProblem;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::{
    Action, Exception, Execute, P0, P0Kind, Signal, State, Step, TakenException,
};

use super::{Instruction, Kind, Scenario, oracle};

/// Type of a PE Reset, and of the entry to Debug state.
pub(super) const RESET: u16 = 0;
pub(super) const DEBUG_HALT: u16 = 1;

/// A step of an execution, and what a processor shows of it.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) step: Step,
    /// The signal, if it has one; or why no processor does that.
    pub(super) signal: Result<Option<Signal>, ExecutionProblem>,
    /// The next instruction after it; `None` in Debug state.
    pub(super) next: Option<State>,
    /// Steps that are unresolved after it.
    pub(super) unresolved: u32,
    /// The youngest step after it, if it is a P0 instruction.
    pub(super) youngest: Option<P0>,
}

/// An instruction or exception of an execution.
#[derive(Clone, Copy, Debug)]
struct Taken {
    at: State,
    /// Instructions since the latest P0 instruction or exception before it.
    executed: u32,
    /// Uncommitted P0 elements that stand for it.
    elements: u32,
    p0: Option<(P0, Instruction)>,
}

impl Taken {
    /// A64 instructions without condition are taken in the end (ETE-RNYNV-001).
    fn is_impossible(&self) -> bool {
        self.p0.is_some_and(|(p0, item)| !p0.taken && !item.conditional && item.isa == InstructionSet::A64)
    }
}

/// Finds the execution, as far as it has no step that no processor takes.
///
/// # Errors
///
/// Where the scenario leaves the program, which would be a fault of the generator.
pub(super) fn of(scenario: &Scenario) -> Result<Vec<Shown>, String> {
    let mut finder = Finder {
        scenario,
        elements: oracle::elements_of_steps(scenario)?,
        index: 0,
        at: None,
        executed: 0,
        window: VecDeque::new(),
        resolved: None,
        shown: Vec::new(),
        cycles: 0,
    };
    while finder.index < scenario.stimuli.len() {
        if !finder.stimulus()? {
            break;
        }
        finder.index += 1;
    }
    Ok(finder.shown)
}

struct Finder<'a> {
    scenario: &'a Scenario,
    /// P0 elements of each stimulus.
    elements: Vec<u32>,
    /// Of the stimulus.
    index: usize,
    /// The next instruction.
    at: Option<State>,
    executed: u32,
    /// Unresolved, oldest first.
    window: VecDeque<Taken>,
    /// The latest one that is resolved.
    resolved: Option<Taken>,
    shown: Vec<Shown>,
    /// Of the stimulus, as far as no step had them.
    cycles: u32,
}

impl Finder<'_> {
    /// The steps of a stimulus. Whether the execution goes on.
    fn stimulus(&mut self) -> Result<bool, String> {
        let stimulus = self.scenario.stimuli[self.index];
        self.cycles = stimulus.cycles;
        match stimulus.signal {
            Signal::P0(p0) => return self.p0(&p0),
            Signal::Exception(exception) => self.exception(&exception)?,
            Signal::Commit(count) => self.commit(count),
            Signal::Cancel { count, next } => self.cancel(count, next),
            Signal::Mispredict(next) | Signal::Redirect(next) => self.correct(stimulus.signal, next)?,
            signal => self.pass(signal),
        }
        Ok(true)
    }

    fn push(&mut self, action: Action, signal: Result<Option<Signal>, ExecutionProblem>) {
        let timestamp = self.scenario.stimuli[self.index].timestamp;
        let cycles = if signal.is_err() { 0 } else { core::mem::take(&mut self.cycles) };
        self.shown.push(Shown {
            step: Step { cycles, timestamp, action },
            signal,
            next: self.at,
            unresolved: self.window.len() as u32,
            youngest: self.window.back().or(self.resolved.as_ref()).and_then(|taken| taken.p0).map(|it| it.0),
        });
    }

    /// Every other step says what may be left out.
    const fn is_verbose(&self) -> bool {
        self.shown.len() % 2 == 1
    }

    fn item(&self, at: State) -> Result<Instruction, String> {
        let place = self.scenario.program.place(at.address);
        place
            .map(|place| *self.scenario.program.at(place))
            .ok_or_else(|| format!("no instruction at {at:x?}"))
    }

    /// Instructions that are no P0 instructions, until so many were executed.
    fn plain(&mut self, executed: u32) -> Result<(), String> {
        while self.executed < executed {
            let at = self.at.ok_or("an instruction in Debug state")?;
            let next = State { address: self.item(at)?.end(), ..at };
            self.take(Taken { at, executed: self.executed, elements: 0, p0: None });
            self.executed += 1;
            self.at = Some(next);
            let to = self.is_verbose().then_some(next);
            self.push(Action::Execute(Execute { address: at.address, to, ..Execute::default() }), Ok(None));
        }
        Ok(())
    }

    fn p0(&mut self, p0: &P0) -> Result<bool, String> {
        self.plain(p0.instructions - 1)?;
        let at = self.at.ok_or("an instruction in Debug state")?;
        let leads = p0.taken && matches!(p0.kind, P0Kind::Indirect | P0Kind::ExceptionReturn);
        let to = (leads || self.is_verbose() && p0.taken).then_some(p0.next);
        let P0 { address, broadcast, .. } = *p0;
        let action =
            Action::Execute(Execute { address, not_taken: !p0.taken, to, broadcast, ..Execute::default() });
        let taken = Taken {
            at,
            executed: self.executed,
            elements: self.elements[self.index],
            p0: Some((*p0, self.item(at)?)),
        };
        if self.implies_impossible(taken.elements) {
            self.push(action, Err(ExecutionProblem::Unconditional));
            return Ok(false);
        }
        self.take(taken);
        self.arrive(p0.next);
        self.push(action, Ok(Some(Signal::P0(*p0))));
        Ok(true)
    }

    fn exception(&mut self, exception: &Exception) -> Result<(), String> {
        self.plain(exception.instructions)?;
        let Exception { number, returns_to, handler, fault_pending, .. } = *exception;
        if number == RESET {
            self.lose();
        }
        let elements = self.elements[self.index];
        self.take(Taken { at: returns_to, executed: self.executed, elements, p0: None });
        self.arrive(handler);
        if number == DEBUG_HALT {
            self.at = None;
        }
        let taken = TakenException { number, returns_to: returns_to.address, handler, fault_pending };
        self.push(Action::Exception(taken), Ok(Some(Signal::Exception(*exception))));
        Ok(())
    }

    fn arrive(&mut self, at: State) {
        self.at = Some(at);
        self.executed = 0;
    }

    /// A signal that passes as it is.
    fn pass(&mut self, signal: Signal) {
        match signal {
            Signal::Enable(next)
            | Signal::ProhibitedExit(next)
            | Signal::DebugExit(next)
            | Signal::TransactionFailure(next)
            | Signal::Mispredict(next)
            | Signal::Redirect(next)
            | Signal::Cancel { next, .. } => self.arrive(next),
            Signal::Context(context) => self.at = self.at.map(|at| State { context, ..at }),
            _ => {}
        }
        let elements = self.elements[self.index];
        if let Some(latest) = self.window.back_mut() {
            latest.elements += elements;
        } else if elements > 0 && self.scenario.parameters.maxspec > 0 {
            let at = self.at.unwrap_or_default();
            self.window.push_back(Taken { at, executed: self.executed, elements, p0: None });
        }
        self.commit_surplus();
        if matches!(signal, Signal::Enable(_) | Signal::Disable | Signal::Overflow(true)) {
            self.lose();
        }
        self.push(Action::Signal(signal), Ok(Some(signal)));
    }

    /// One more step. What is more than MAXSPEC is committed (ETE-YKLRM-001).
    fn take(&mut self, taken: Taken) {
        if self.scenario.parameters.maxspec == 0 {
            self.resolved = Some(taken);
            return;
        }
        self.window.push_back(taken);
        self.commit_surplus();
    }

    fn open(&self) -> u32 {
        self.window.iter().map(|taken| taken.elements).sum()
    }

    fn commit_surplus(&mut self) {
        let mut surplus = self.open().saturating_sub(self.scenario.parameters.maxspec);
        while surplus > 0
            && let Some(oldest) = self.window.front_mut()
        {
            let elements = surplus.min(oldest.elements);
            oldest.elements -= elements;
            surplus -= elements;
            if oldest.elements == 0 {
                self.resolved = self.window.pop_front();
            }
        }
    }

    /// Whether so many more P0 elements commit a step that cannot have happened.
    fn implies_impossible(&self, elements: u32) -> bool {
        let maxspec = self.scenario.parameters.maxspec;
        let mut surplus = (self.open() + elements).saturating_sub(maxspec);
        let resolves = |taken: &&Taken| {
            let is_resolved = surplus > 0;
            surplus = surplus.saturating_sub(taken.elements);
            is_resolved
        };
        maxspec > 0 && self.window.iter().take_while(resolves).any(Taken::is_impossible)
    }

    /// What is uncommitted is lost in the trace; the steps are still unresolved.
    fn lose(&mut self) {
        self.window.iter_mut().for_each(|taken| taken.elements = 0);
    }

    /// So many of the oldest P0 elements: as many of the oldest steps have, or else as a signal.
    fn commit(&mut self, count: u32) {
        let has_elements = |taken: &Taken| taken.elements > 0;
        if self.is_verbose() && self.window.front().is_some_and(|oldest| !has_elements(oldest)) {
            self.resolve(1, None);
        }
        let mut sum = 0;
        let reaches = |taken: &Taken| {
            sum += taken.elements;
            sum >= count
        };
        let steps = self.window.iter().position(reaches).map_or(0, |last| last + 1);
        let elements: u32 = self.window.iter().take(steps).map(|taken| taken.elements).sum();
        let is_impossible = self.window.iter().take(steps).any(Taken::is_impossible);
        if elements == count && !is_impossible {
            return self.resolve(steps, Some(Signal::Commit(count)));
        }
        if is_impossible {
            self.push(Action::Resolve(steps as u32), Err(ExecutionProblem::Unconditional));
        }
        let mut left = count;
        while left > 0
            && let Some(oldest) = self.window.front_mut()
        {
            let elements = left.min(oldest.elements);
            oldest.elements -= elements;
            left -= elements;
            if oldest.elements == 0 {
                self.resolved = self.window.pop_front();
            }
        }
        self.push(Action::Signal(Signal::Commit(count)), Ok(Some(Signal::Commit(count))));
    }

    fn resolve(&mut self, steps: usize, signal: Option<Signal>) {
        self.resolved = self.window.drain(..steps).next_back().or(self.resolved);
        self.push(Action::Resolve(steps as u32), Ok(signal));
    }

    /// So many of the youngest P0 elements: those of the youngest steps, back to where execution goes on; before the
    /// correction of a branch, back to that branch.
    fn cancel(&mut self, count: u32, next: State) {
        let following = self.scenario.stimuli.get(self.index + 1).map(|stimulus| stimulus.signal);
        let is_wrong_path = matches!(following, Some(Signal::Mispredict(_) | Signal::Redirect(_)));
        let (mut steps, mut sum) = (0, 0);
        for taken in self.window.iter().rev() {
            let is_enough = match is_wrong_path {
                true => taken.p0.is_some() || taken.elements > 0,
                false => {
                    let oldest = self.window[self.window.len() - steps.max(1)];
                    steps > 0 && (oldest.at.address, oldest.at.isa) == (next.address, next.isa)
                }
            };
            if sum == count && is_enough {
                break;
            }
            steps += 1;
            sum += taken.elements;
        }
        let oldest = self.window.get(self.window.len() - steps).copied();
        let Some(oldest) = oldest.filter(|oldest| sum == count && (is_wrong_path || oldest.at == next))
        else {
            return self.pass_cancel(count, next);
        };
        // The other form says nothing of the instructions before.
        if self.is_verbose() && !is_wrong_path && oldest.executed == 0 {
            return self.pass_cancel(count, next);
        }
        self.window.truncate(self.window.len() - steps);
        (self.at, self.executed) = (Some(oldest.at), oldest.executed);
        let action = Action::Squash { steps: steps as u32, next: oldest.at };
        self.push(action, Ok(Some(Signal::Cancel { count, next: oldest.at })));
    }

    fn pass_cancel(&mut self, count: u32, next: State) {
        let mut left = count;
        while left > 0
            && let Some(youngest) = self.window.back_mut()
        {
            let elements = left.min(youngest.elements);
            youngest.elements -= elements;
            left -= elements;
            if youngest.elements == 0 {
                self.window.pop_back();
            }
        }
        self.pass(Signal::Cancel { count, next });
    }

    /// The youngest step has another outcome or target.
    fn correct(&mut self, signal: Signal, right: State) -> Result<(), String> {
        let is_redirect = matches!(signal, Signal::Redirect(_));
        let youngest = self.window.back_mut().or(self.resolved.as_mut());
        let Some((p0, item)) = youngest.and_then(|taken| taken.p0.as_mut()) else {
            return Err(format!("{signal:x?} of no P0 instruction"));
        };
        let (was, target) = (*p0, p0.next);
        let taken = is_redirect || !p0.taken;
        // Of several corrections the last one is right.
        let later = &self.scenario.stimuli[self.index + 1..];
        let more = later.iter().take_while(|later| matches!(later.signal, Signal::Mispredict(_))).count();
        let following = State { address: item.end(), isa: item.isa, context: right.context };
        let next = match item.kind {
            _ if is_redirect || more % 2 == 0 => right,
            _ if !taken => following,
            Kind::Direct { to, isa, .. } => State { address: to, isa, ..following },
            _ => target,
        };
        *p0 = P0 { taken, next, ..was };
        let signal = if is_redirect { Signal::Redirect(next) } else { Signal::Mispredict(next) };
        if is_redirect && next == target {
            self.push(Action::Correct { taken, next }, Err(ExecutionProblem::NothingToCorrect));
            self.pass(signal);
        } else {
            self.arrive(next);
            self.push(Action::Correct { taken, next }, Ok(Some(signal)));
        }
        Ok(())
    }
}
