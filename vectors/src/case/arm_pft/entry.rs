//! One line of `stimulus`, and what it means once the program is assembled.

use serde::{Deserialize, Serialize};

use crate::Address32;
use crate::arm::InstructionSet;
use crate::arm_pft::{Exception, Signal, State, Stimulus, Waypoint, WaypointKind};
use crate::case::{Assembly, Labels, Location, Problem};

/// No case has more steps: a slip of the pen shall not fill the memory.
const MOST_STEPS: usize = 1 << 20;

/// One line of `stimulus`: one step with one signal, or `repeat` equal ones. A line without signal is idle.
///
/// `timestamp` (0 at first) stays in force until a later line changes it. `isa` (A32 at first), `non_secure` and `hyp`
/// (false at first) are the state of the next instruction, and stay in force, too. `non_secure` in a line of its own is
/// a write to SCR.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StimulusEntry {
    /// Cycles since the step before; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u32>,
    /// The timestamp counter from this step on.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub timestamp: Option<u64>,
    /// Instruction set of the next instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isa: Option<InstructionSet>,
    /// The next instruction is in Non-secure state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_secure: Option<bool>,
    /// The next instruction is in Hyp mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyp: Option<bool>,
    /// The PTM is enabled; the next instruction is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable: Option<Location>,
    /// The PTM is disabled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disable: bool,
    /// TraceEnable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_enable: Option<bool>,
    /// The waypoint instruction here is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execute: Option<Location>,
    /// The waypoint instruction here is not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<Location>,
    /// What that instruction is; `direct` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<WaypointKind>,
    /// It is a branch with link.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// It is an exception return.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exception_return: bool,
    /// Target of that instruction, or handler of the exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Location>,
    /// An exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionEntry>,
    /// Debug state is entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_entry: Option<DebugEntry>,
    /// Debug state is left; the next instruction is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_exit: Option<Location>,
    /// A region in which tracing is prohibited begins.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prohibited_entry: bool,
    /// It ends; the next instruction is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prohibited_exit: Option<Location>,
    /// Jazelle state is left; the next instruction is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jazelle_exit: Option<Location>,
    /// The Context ID register is written.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub context_id: Option<u32>,
    /// The VMID register is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vmid: Option<u8>,
    /// WFI or WFE.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
    /// The trigger occurs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trigger: bool,
    /// A timestamp is wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timestamp_event: bool,
    /// A clock frequency changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_change: bool,
    /// A periodic synchronisation is wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sync_request: bool,
    /// The trace port asks for all that is held.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flush: bool,
    /// `true`: the FIFO is full; `false`: it is empty again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow: Option<bool>,
    /// So many steps; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
}

/// An exception; `to` of the same line is its handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExceptionEntry {
    /// Exception\[8:0\].
    pub number: u16,
    /// The latest instruction that was executed since the latest waypoint; absent directly after a waypoint, and for
    /// reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Location>,
}

/// An entry to Debug state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DebugEntry {
    /// As [`ExceptionEntry::last`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Location>,
}

pub(super) fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Stimulus>, Problem> {
    let mut levels = Levels { timestamp: 0, state: State::default() };
    let mut steps = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let under = |problem: Problem| problem.under(&format!("stimulus[{index}]"));
        let step = levels.step(entry, &assembly.labels).map_err(under)?;
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

/// What stays in force from line to line; the address says nothing.
struct Levels {
    timestamp: u64,
    state: State,
}

impl Levels {
    fn step(&mut self, entry: &StimulusEntry, labels: &Labels) -> Result<Stimulus, Problem> {
        self.timestamp = entry.timestamp.unwrap_or(self.timestamp);
        let before = self.state;
        if entry.isa.is_some_and(InstructionSet::is_64_bit) {
            return Err(Problem::new("isa", "PFT knows no A64"));
        }
        self.state = State {
            address: Address32(0),
            isa: entry.isa.unwrap_or(before.isa),
            non_secure: entry.non_secure.unwrap_or(before.non_secure),
            hyp: entry.hyp.unwrap_or(before.hyp),
        };
        let signals = self.signals(entry, before.isa, labels)?;
        let signal = match signals.as_slice() {
            [] => self.without_signal(entry)?,
            [(_, signal)] => *signal,
            [_, (key, _), ..] => return Err(Problem::new(*key, "a step has one signal")),
        };
        check_dangling(entry)?;
        Ok(Stimulus { cycles: entry.cycles.unwrap_or(1), timestamp: self.timestamp, signal })
    }

    /// The signals of a line, which shall have one at most.
    fn signals(
        &self,
        entry: &StimulusEntry,
        isa: InstructionSet,
        labels: &Labels,
    ) -> Result<Vec<(&'static str, Signal)>, Problem> {
        let mut signals = Vec::new();
        for (key, executed, location) in [("execute", true, &entry.execute), ("skip", false, &entry.skip)] {
            if let Some(location) = location {
                let at = address(location, labels, key)?;
                signals.push((key, self.waypoint(entry, at, isa, executed, labels)?));
            }
        }
        let states: [(&str, &Option<Location>, Resume); 4] = [
            ("enable", &entry.enable, Signal::Enable),
            ("debug_exit", &entry.debug_exit, Signal::DebugExit),
            ("prohibited_exit", &entry.prohibited_exit, Signal::ProhibitedExit),
            ("jazelle_exit", &entry.jazelle_exit, Signal::JazelleExit),
        ];
        for (key, location, signal) in states {
            if let Some(location) = location {
                signals.push((key, signal(self.next(address(location, labels, key)?))));
            }
        }
        if let Some(exception) = &entry.exception {
            let to = entry.to.as_ref().ok_or_else(|| Problem::new("to", "an exception has a handler"))?;
            let last = optional(exception.last.as_ref(), labels, "exception.last")?;
            let handler = self.next(address(to, labels, "to")?);
            signals.push((
                "exception",
                Signal::Exception(Exception { number: exception.number, last, handler }),
            ));
        }
        if let Some(debug_entry) = &entry.debug_entry {
            let last = optional(debug_entry.last.as_ref(), labels, "debug_entry.last")?;
            signals.push(("debug_entry", Signal::DebugEntry(last)));
        }
        let levels = [
            ("trace_enable", entry.trace_enable.map(Signal::TraceEnable)),
            ("context_id", entry.context_id.map(Signal::ContextId)),
            ("vmid", entry.vmid.map(Signal::Vmid)),
            ("overflow", entry.overflow.map(Signal::Overflow)),
        ];
        signals.extend(levels.into_iter().filter_map(|(key, signal)| Some((key, signal?))));
        let flags = [
            ("disable", entry.disable, Signal::Disable),
            ("prohibited_entry", entry.prohibited_entry, Signal::ProhibitedEntry),
            ("wait", entry.wait, Signal::Wait),
            ("trigger", entry.trigger, Signal::Trigger),
            ("timestamp_event", entry.timestamp_event, Signal::TimestampEvent),
            ("clock_change", entry.clock_change, Signal::ClockChange),
            ("sync_request", entry.sync_request, Signal::SyncRequest),
            ("flush", entry.flush, Signal::Flush),
        ];
        signals
            .extend(flags.into_iter().filter(|(_, there, _)| *there).map(|(key, _, signal)| (key, signal)));
        Ok(signals)
    }

    fn waypoint(
        &self,
        entry: &StimulusEntry,
        at: Address32,
        isa: InstructionSet,
        executed: bool,
        labels: &Labels,
    ) -> Result<Signal, Problem> {
        let place = u64::from(at.0);
        let size = labels
            .size_at(place)
            .and_then(|size| u8::try_from(size).ok())
            .ok_or_else(|| Problem::new("", format!("no instruction of the program starts at {at}")))?;
        let kind = entry.kind.unwrap_or_default();
        let branches = executed && matches!(kind, WaypointKind::Direct | WaypointKind::Indirect);
        let next = match (&entry.to, branches) {
            (Some(to), true) => address(to, labels, "to")?,
            (None, false) => at.wrapping_add(size.into()),
            (None, true) => return Err(Problem::new("to", "a branch that is executed has a target")),
            (Some(_), false) => return Err(Problem::new("to", "there is no branch that is executed")),
        };
        let previous = labels.enclosing(place.saturating_sub(1));
        Ok(Signal::Waypoint(Waypoint {
            address: at,
            isa,
            size,
            kind,
            link: entry.link,
            exception_return: entry.exception_return,
            executed,
            next: self.next(next),
            previous: previous.map(|address| Address32(address as u32)),
        }))
    }

    /// Idle, or a write to SCR.
    fn without_signal(&self, entry: &StimulusEntry) -> Result<Signal, Problem> {
        match (entry.isa, entry.hyp) {
            (Some(_), _) => Err(Problem::new("isa", "nothing changes it in this step")),
            (_, Some(_)) => Err(Problem::new("hyp", "nothing changes it in this step")),
            _ => Ok(entry.non_secure.map_or(Signal::Idle, Signal::NonSecure)),
        }
    }

    fn next(&self, address: Address32) -> State {
        State { address, ..self.state }
    }
}

/// What belongs to a signal that the line does not have.
fn check_dangling(entry: &StimulusEntry) -> Result<(), Problem> {
    let waypoint = entry.execute.is_some() || entry.skip.is_some();
    let dangling = [
        ("kind", entry.kind.is_some() && !waypoint),
        ("link", entry.link && !waypoint),
        ("exception_return", entry.exception_return && !waypoint),
        ("to", entry.to.is_some() && !waypoint && entry.exception.is_none()),
    ];
    match dangling.into_iter().find(|(_, there)| *there) {
        Some((key, _)) => Err(Problem::new(key, "there is no waypoint in this step")),
        None => Ok(()),
    }
}

fn optional(location: Option<&Location>, labels: &Labels, key: &str) -> Result<Option<Address32>, Problem> {
    location.map(|location| address(location, labels, key)).transpose()
}

pub(super) fn address(location: &Location, labels: &Labels, key: &str) -> Result<Address32, Problem> {
    let address = location.resolve(labels).map_err(|problem| problem.under(key))?;
    u32::try_from(address)
        .map(Address32)
        .map_err(|_| Problem::new(key, format!("`{location}` is outside the address space")))
}
