//! Follows a decoder's events through the timeline of an execution.

use traceproof_vectors::arm_etm::Reason;
use traceproof_vectors::arm_pft::{Event, State};

use super::clock::{Clock, next_step};
use super::timeline::{Item, Reasons, What, show};
use super::{Mismatch, Returned};
use crate::arm_pft::generate::Scenario;

mod flow;
mod registers;

/// A place at which a report can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    /// Index of the next item.
    at: usize,
    /// Whether instructions can be reported as Secure, and as Non-secure: both are possible where a change of
    /// state is not yet visible, or may be (4.12.2).
    secure: bool,
    non_secure: bool,
    /// Cycles up to the latest count; `None` where that is not determined (4.4, PFT-DEC-060).
    time: Option<u64>,
    /// The step of the latest waypoint or exception since tracing started.
    latest: Option<usize>,
}

impl Position {
    const fn in_state(self, non_secure: bool) -> Self {
        Self { secure: !non_secure, non_secure, ..self }
    }

    const fn allows(self, non_secure: bool) -> bool {
        if non_secure { self.non_secure } else { self.secure }
    }
}

/// Different positions, in the order in which they were found. There are many where packets are lost, but few at one
/// item.
#[derive(Default)]
struct Found {
    positions: Vec<Position>,
    /// For each position the one that was found before it at the same item.
    before: Vec<Option<usize>>,
    /// For each item the position that was found there last.
    latest: Vec<Option<usize>>,
}

impl Found {
    fn add(&mut self, position: Position) {
        if self.latest.len() <= position.at {
            self.latest.resize(position.at + 1, None);
        }
        let latest = self.latest[position.at];
        let mut next = latest;
        while let Some(index) = next {
            if self.positions[index] == position {
                return;
            }
            next = self.before[index];
        }
        self.latest[position.at] = Some(self.positions.len());
        self.before.push(latest);
        self.positions.push(position);
    }
}

/// Where a position leads with an event, or what should have come instead.
type Next = Result<Position, String>;

/// The place of the latest timestamp, in steps.
#[derive(Clone, Copy, Debug)]
struct Stamped {
    earliest: usize,
    latest: usize,
}

/// Compares events with a timeline.
pub(super) struct Judge<'a> {
    scenario: &'a Scenario,
    items: &'a [Item],
    clock: Clock,
    /// For each item the first stop from it on: its index, and from where on atoms before it may be lost.
    stops: Vec<Option<(usize, usize)>>,
    positions: Vec<Position>,
    /// A cycle count whose packet has not reported anything else yet.
    count: Option<u32>,
    total: u64,
    began: bool,
    context_id: Option<u32>,
    vmid: Option<u8>,
    /// The registers are those of an I-sync after which there was no waypoint.
    synchronised: bool,
    /// `None` where a timestamp may be lost.
    stamped: Option<Stamped>,
    triggers: usize,
    returned: Returned,
}

impl<'a> Judge<'a> {
    pub(super) fn new(scenario: &'a Scenario, items: &'a [Item]) -> Self {
        let position = Position { at: 0, secure: true, non_secure: true, time: None, latest: None };
        Self {
            scenario,
            items,
            clock: Clock::new(&scenario.steps),
            stops: stops(items),
            positions: vec![position],
            count: None,
            total: 0,
            began: false,
            context_id: None,
            vmid: None,
            synchronised: false,
            stamped: None,
            triggers: 0,
            returned: Returned::default(),
        }
    }

    pub(super) fn event(&mut self, event: &Event) -> Result<(), Mismatch> {
        if !self.began && !matches!(event, Event::TraceOn { .. } | Event::Cycles { .. }) {
            return Err(self.mismatch("an I-sync first", event));
        }
        match *event {
            Event::Cycles { count, total } => return self.cycles(count, total, event),
            Event::TraceOn { reason, .. } => self.trace_on(reason, event)?,
            Event::Instructions { .. } => self.instructions(event)?,
            Event::Exception { .. } => self.exception(event)?,
            Event::ExceptionReturn => self.exception_return(event)?,
            Event::ContextId(value) => self.context_id(value, event)?,
            Event::Vmid(value) => self.vmid(value, event)?,
            Event::Timestamp { value, clock_change } => self.timestamp(value, clock_change, event)?,
            Event::Trigger => self.trigger(event)?,
            _ => return Err(self.mismatch("a flow that is never lost", event)),
        }
        match self.count {
            Some(_) => Err(self.mismatch("a packet that has a cycle count", event)),
            None => Ok(()),
        }
    }

    /// The report is complete.
    pub(super) fn finish(self) -> Result<Returned, Mismatch> {
        let end = |expected: String| Mismatch { step: self.step(), expected, got: "the end".into() };
        if self.count.is_some() {
            return Err(end("what a cycle count belongs to".into()));
        }
        if self.loses_packets() || self.joins_late() && !self.began {
            return Ok(self.returned);
        }
        let reachable = self.reachable();
        if !reachable.iter().any(|position| position.at == self.items.len()) {
            return Err(end(self.expected(&reachable)));
        }
        if self.triggers == 0 && !self.joins_late() && self.clock.is_triggered(self.items) {
            return Err(end("a trigger".into()));
        }
        Ok(self.returned)
    }

    /// Whether the FIFO can be full at any place (4.8).
    const fn loses_packets(&self) -> bool {
        self.scenario.policy.fifo_bytes > 0
    }

    /// Whether the beginning of the trace is lost.
    const fn joins_late(&self) -> bool {
        self.scenario.policy.capture_from > 0
    }

    const fn is_cycle_accurate(&self) -> bool {
        self.scenario.parameters.cycle_accurate
    }

    /// All positions that can be reached without an event.
    fn reachable(&self) -> Vec<Position> {
        let mut found = Found::default();
        self.positions.iter().for_each(|&position| found.add(position));
        let mut index = 0;
        while let Some(&position) = found.positions.get(index) {
            index += 1;
            self.silent(position.at).into_iter().for_each(|at| found.add(Position { at, ..position }));
        }
        found.positions
    }

    /// Where the report may go on without an event.
    fn silent(&self, at: usize) -> Vec<usize> {
        let mut next = Vec::new();
        if let Some(Item { what: What::Start { optional, .. }, .. }) = self.items.get(at) {
            let stops = matches!(self.items.get(at + 1), Some(Item { what: What::Stop { .. }, .. }));
            next.extend(optional.then_some(at + 1));
            next.extend(stops.then_some(at + 2));
            return next;
        }
        // Atoms before this edge are not those of a later one.
        let stop = self.stops.get(at).copied().flatten();
        if let Some((index, lossy_from)) = stop
            && lossy_from.min(index) <= at
        {
            next.push(index + 1);
        }
        next
    }

    /// Replaces the positions by where `event` leads from them.
    fn advance(
        &mut self,
        event: &Event,
        mut lead: impl FnMut(&Self, Position) -> Next,
    ) -> Result<(), Mismatch> {
        let reachable = self.reachable();
        let (mut next, mut first_wrong) = (Found::default(), None);
        for &position in &reachable {
            match lead(self, position) {
                Ok(position) => next.add(position),
                Err(expected) => first_wrong = first_wrong.or(Some(expected)),
            }
        }
        if next.positions.is_empty() {
            let expected = first_wrong.unwrap_or_else(|| self.expected(&reachable));
            return Err(self.mismatch(&expected, event));
        }
        self.positions = next.positions;
        Ok(())
    }

    fn cycles(&mut self, count: u32, total: u64, event: &Event) -> Result<(), Mismatch> {
        if !self.is_cycle_accurate() {
            return Err(self.mismatch("no cycle counts", event));
        }
        if self.count.is_some() {
            return Err(self.mismatch("what the cycle count before belongs to", event));
        }
        if total != self.total.saturating_add(count.into()) {
            let expected = format!("a total of {}", self.total.saturating_add(count.into()));
            return Err(self.mismatch(&expected, event));
        }
        self.total = total;
        self.count = Some(count);
        self.returned.cycles += 1;
        Ok(())
    }

    /// The cycle count of a packet that must have one in cycle-accurate mode, and has none otherwise.
    fn take_count(&mut self, event: &Event, has_count: bool) -> Result<Option<u32>, Mismatch> {
        let count = self.count.take();
        if count.is_some() == (has_count && self.is_cycle_accurate()) {
            return Ok(count);
        }
        let expected = if count.is_some() { "no cycle count with it" } else { "a cycle count before it" };
        Err(self.mismatch(expected, event))
    }

    /// A packet at `step` with this count (4.4, PFT-ENC-045).
    fn at_time(&self, position: Position, count: Option<u32>, step: usize) -> Next {
        let Some(count) = count else { return Ok(position) };
        let now = self.clock.cycles(step);
        match position.time {
            Some(before) if before + u64::from(count) != now => {
                Err(format!("a cycle count of {} at step {step}", i128::from(now) - i128::from(before)))
            }
            _ => Ok(Position { time: Some(now), ..position }),
        }
    }

    fn expected(&self, positions: &[Position]) -> String {
        let item = |position: &Position| self.items.get(position.at).map_or("the end".into(), show);
        positions.first().map_or_else(|| "nothing".into(), item)
    }

    fn step(&self) -> usize {
        let first = self.positions.first().and_then(|position| self.items.get(position.at));
        first.map_or(self.scenario.steps.len(), |item| item.step)
    }

    fn mismatch(&self, expected: &str, event: &Event) -> Mismatch {
        Mismatch { step: self.step(), expected: expected.into(), got: format!("{event:x?}") }
    }
}

/// For each item the first stop from it on: its index, and from where on atoms before it may be lost.
fn stops(items: &[Item]) -> Vec<Option<(usize, usize)>> {
    let mut next = None;
    let mut stops = Vec::new();
    for (index, item) in items.iter().enumerate().rev() {
        if let What::Stop { lossy_from } = item.what {
            next = Some((index, lossy_from));
        }
        stops.push(next);
    }
    stops.reverse();
    stops
}
