//! What the lines of `stimulus` mean, once the program is assembled.

use super::StimulusEntry;
use crate::Address;
use crate::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use crate::arm_ete::{Exception, P0, P0Kind, Signal, State, Stimulus};
use crate::case::{Assembly, Labels, Location, Problem};

/// No case has more steps: a slip of the pen shall not fill the memory.
const MOST_STEPS: usize = 1 << 20;

pub(super) fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Stimulus>, Problem> {
    let mut levels = Levels::new(&assembly.labels);
    let mut steps = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let under = |problem: Problem| problem.under(&format!("stimulus[{index}]"));
        let step = levels.step(entry).map_err(under)?;
        let count = usize::try_from(entry.repeat.unwrap_or(1)).unwrap_or(usize::MAX);
        if count > MOST_STEPS - steps.len() {
            return Err(under(Problem::new("repeat", format!("more than {MOST_STEPS} steps up to here"))));
        }
        steps.extend(std::iter::repeat_n(step, count));
    }
    Ok(steps)
}

/// A signal after which the next instruction is known.
type Resume = fn(State) -> Signal;

/// A signal with the key that stands for it.
type Keyed = (&'static str, Signal);

/// What stays in force from line to line; the address says nothing.
struct Levels<'a> {
    labels: &'a Labels,
    timestamp: u64,
    state: State,
}

impl<'a> Levels<'a> {
    fn new(labels: &'a Labels) -> Self {
        let context = Context::default()
            .with_exception_level(Some(ExceptionLevel::El1))
            .with_security(SecurityState::NonSecure)
            .with_64_bit(true)
            .with_vmid(Some(0))
            .with_context_id(Some(0));
        Self { labels, timestamp: 0, state: State { address: Address(0), isa: InstructionSet::A64, context } }
    }

    fn step(&mut self, entry: &StimulusEntry) -> Result<Stimulus, Problem> {
        self.timestamp = entry.timestamp.unwrap_or(self.timestamp);
        let before = self.state;
        self.change_state(entry)?;
        let mut signals = self.execution(entry, before)?;
        signals.extend(self.resumptions(entry)?);
        signals.extend(without_place(entry));
        let signal = match signals.as_slice() {
            [] => self.without_signal(entry)?,
            [(_, signal)] => *signal,
            [_, (key, _), ..] => return Err(Problem::new(*key, "a step has one signal")),
        };
        check_dangling(entry)?;
        Ok(Stimulus { cycles: entry.cycles.unwrap_or(1), timestamp: self.timestamp, signal })
    }

    fn change_state(&mut self, entry: &StimulusEntry) -> Result<(), Problem> {
        if let Some(isa) = entry.isa {
            if !matches!(isa, InstructionSet::A64 | InstructionSet::A32 | InstructionSet::T32) {
                return Err(Problem::new("isa", format!("ETE knows no {isa}")));
            }
            self.state.isa = isa;
            self.state.context = self.state.context.with_64_bit(isa.is_64_bit());
        }
        if let Some(context) = &entry.context {
            let changed = context.changed(self.state.context).map_err(|problem| problem.under("context"))?;
            self.state.context = changed;
        }
        Ok(())
    }

    /// P0 instructions, exceptions and cancels: what `to` belongs to.
    fn execution(&self, entry: &StimulusEntry, before: State) -> Result<Vec<Keyed>, Problem> {
        let mut signals = Vec::new();
        for (key, taken, location) in [("taken", true, &entry.taken), ("not_taken", false, &entry.not_taken)]
        {
            if let Some(location) = location {
                let at = self.address(location, key)?;
                signals.push((key, Signal::P0(self.p0(entry, at, taken, before.isa)?)));
            }
        }
        if let Some(exception) = &entry.exception {
            let returns_to = match &exception.returns_to {
                Some(location) => self.address(location, "exception.returns_to")?,
                None if exception.number == 0 => 0,
                None => return Err(Problem::new("exception.returns_to", "only PE Reset (0) has none")),
            };
            let exception = Exception {
                number: exception.number,
                returns_to: State { address: Address(returns_to), ..before },
                handler: self.destination(entry, "an exception has a handler")?,
                instructions: entry.instructions.unwrap_or(0),
                fault_pending: exception.fault_pending,
            };
            signals.push(("exception", Signal::Exception(exception)));
        }
        if let Some(count) = entry.cancel {
            let next = self.destination(entry, "execution goes on somewhere after a cancel")?;
            signals.push(("cancel", Signal::Cancel { count, next }));
        }
        Ok(signals)
    }

    fn p0(&self, entry: &StimulusEntry, at: u64, taken: bool, isa: InstructionSet) -> Result<P0, Problem> {
        let size = self.labels.size_at(at).and_then(|size| u8::try_from(size).ok());
        let size = size.ok_or_else(|| {
            Problem::new("", format!("no instruction of the program starts at {}", Address(at)))
        })?;
        let kind = entry.kind.unwrap_or_default();
        let branches = taken && matches!(kind, P0Kind::Direct | P0Kind::Indirect | P0Kind::ExceptionReturn);
        let next = match (&entry.to, branches) {
            (Some(_), true) => self.destination(entry, "")?,
            (None, false) => {
                let mask = isa.address_mask() & self.labels.address_mask();
                self.next(at.wrapping_add(size.into()) & mask)
            }
            (None, true) => return Err(Problem::new("to", "a branch that is taken has a target")),
            (Some(_), false) => return Err(Problem::new("to", "there is no branch that is taken")),
        };
        Ok(P0 {
            address: Address(at),
            isa,
            size,
            kind,
            link: entry.link,
            taken,
            next,
            instructions: entry.instructions.unwrap_or(1),
            broadcast: entry.broadcast,
        })
    }

    /// Signals with the place where execution goes on.
    fn resumptions(&self, entry: &StimulusEntry) -> Result<Vec<Keyed>, Problem> {
        let states: [(&'static str, &Option<Location>, Resume); 6] = [
            ("enable", &entry.enable, Signal::Enable),
            ("mispredict", &entry.mispredict, Signal::Mispredict),
            ("redirect", &entry.redirect, Signal::Redirect),
            ("transaction_failure", &entry.transaction_failure, Signal::TransactionFailure),
            ("prohibited_exit", &entry.prohibited_exit, Signal::ProhibitedExit),
            ("debug_exit", &entry.debug_exit, Signal::DebugExit),
        ];
        let mut signals = Vec::new();
        for (key, location, signal) in states {
            if let Some(location) = location {
                signals.push((key, signal(self.next(self.address(location, key)?))));
            }
        }
        Ok(signals)
    }

    /// Idle, or a change of context.
    fn without_signal(&self, entry: &StimulusEntry) -> Result<Signal, Problem> {
        if entry.isa.is_some() {
            return Err(Problem::new("isa", "nothing changes it in this step"));
        }
        Ok(if entry.context.is_some() { Signal::Context(self.state.context) } else { Signal::Idle })
    }

    fn destination(&self, entry: &StimulusEntry, missing: &str) -> Result<State, Problem> {
        let to = entry.to.as_ref().ok_or_else(|| Problem::new("to", missing))?;
        Ok(self.next(self.address(to, "to")?))
    }

    fn next(&self, address: u64) -> State {
        State { address: Address(address), ..self.state }
    }

    fn address(&self, location: &Location, key: &str) -> Result<u64, Problem> {
        location.resolve(self.labels).map_err(|problem| problem.under(key))
    }
}

/// Signals that name no place.
fn without_place(entry: &StimulusEntry) -> Vec<Keyed> {
    let values = [
        ("view_inst", entry.view_inst.map(Signal::ViewInst)),
        ("commit", entry.commit.map(Signal::Commit)),
        ("event", entry.event.map(Signal::Event)),
        ("q_region", entry.q_region.map(Signal::QRegion)),
        ("overflow", entry.overflow.map(Signal::Overflow)),
        ("insert", entry.insert.map(Signal::Insert)),
    ];
    let flags = [
        ("disable", entry.disable, Signal::Disable),
        ("transaction_start", entry.transaction_start, Signal::TransactionStart),
        ("transaction_commit", entry.transaction_commit, Signal::TransactionCommit),
        ("timestamp_request", entry.timestamp_request, Signal::TimestampRequest),
        ("sync_request", entry.sync_request, Signal::SyncRequest),
        ("flush", entry.flush, Signal::Flush),
        ("prohibited_entry", entry.prohibited_entry, Signal::ProhibitedEntry),
    ];
    let mut signals: Vec<Keyed> =
        values.into_iter().filter_map(|(key, signal)| Some((key, signal?))).collect();
    signals.extend(flags.into_iter().filter(|(_, there, _)| *there).map(|(key, _, signal)| (key, signal)));
    if let Some(written) = &entry.instrumentation {
        let (exception_level, value) = (written.exception_level, written.value);
        signals.push(("instrumentation", Signal::Instrumentation { exception_level, value }));
    }
    signals
}

/// What belongs to a signal that the line does not have.
fn check_dangling(entry: &StimulusEntry) -> Result<(), Problem> {
    let has_p0 = entry.taken.is_some() || entry.not_taken.is_some();
    let has_exception = entry.exception.is_some();
    let dangling = [
        ("kind", entry.kind.is_some() && !has_p0),
        ("link", entry.link && !has_p0),
        ("broadcast", entry.broadcast && !has_p0),
        ("instructions", entry.instructions.is_some() && !has_p0 && !has_exception),
        ("to", entry.to.is_some() && !has_p0 && !has_exception && entry.cancel.is_none()),
    ];
    match dangling.into_iter().find(|(_, there)| *there) {
        Some((key, _)) => Err(Problem::new(key, "there is no P0 instruction in this step")),
        None => Ok(()),
    }
}
