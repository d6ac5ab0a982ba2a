//! Follows a decoder's events through the timeline of an execution.

use traceproof_vectors::arm::Context;
use traceproof_vectors::arm_ete::{Event, Outcome};

use super::clock::Clock;
use super::marks::Marks;
use super::timeline::{Item, Timeline, What, is_certain, show};
use super::{Mismatch, Returned};
use crate::arm_ete::generate::Scenario;

/// Compares events with a timeline.
///
/// Where the architecture leaves open what a trace unit sends (what was lost in its buffer, which instructions a Q
/// element stands for), all places at which the report can be are followed.
pub(super) struct Judge<'a> {
    scenario: &'a Scenario,
    timeline: &'a Timeline,
    clock: Clock<'a>,
    marks: Marks,
    /// Indices of the next item.
    positions: Vec<usize>,
    /// Trace Info must come before anything that needs it (`R_HMDGL`).
    needs_info: bool,
    context: Option<Context>,
    /// An unknown part of the trace was lost: Trace On is next.
    lost: bool,
    returned: Returned,
}

impl<'a> Judge<'a> {
    pub(super) fn new(scenario: &'a Scenario, timeline: &'a Timeline) -> Self {
        Self {
            scenario,
            timeline,
            clock: Clock::new(scenario, timeline),
            marks: Marks::new(scenario, timeline),
            positions: vec![0],
            needs_info: true,
            context: None,
            lost: false,
            returned: Returned::default(),
        }
    }

    pub(super) fn event(&mut self, event: &Event) -> Result<(), Mismatch> {
        let early = matches!(event, Event::TraceInfo { .. } | Event::Event { .. } | Event::Overflow)
            || matches!(event, Event::Instrumentation { .. } | Event::Discard);
        if self.needs_info && !early {
            return Err(self.mismatch("a Trace Info first", event));
        }
        self.tally(event);
        match *event {
            Event::TraceInfo { .. } => self.trace_info(event),
            Event::Context(context) => {
                self.context = Some(context);
                Ok(())
            }
            Event::Instructions { .. } => self.advance(event, |judge, at| judge.walk(at, event)),
            Event::UnknownPath { count } => self.unknown_path(count, event),
            Event::Overflow => self.overflow(event),
            Event::TraceOn if self.lost => {
                self.lost = false;
                Ok(())
            }
            Event::Cycles { count, total } => {
                let done = self.clock.cycles(&self.reachable(), count, total);
                done.map_err(|expected| self.mismatch(&expected, event))
            }
            Event::Timestamp { value, cycles, of } => {
                let done = self.clock.timestamp(&self.reachable(), value, cycles, of);
                done.map_err(|expected| self.mismatch(&expected, event))
            }
            Event::TimestampMarker => {
                let done = self.clock.marker(&self.reachable());
                done.map_err(|expected| self.mismatch(&expected, event))
            }
            Event::Event { number } => {
                let done = self.marks.event(number);
                done.map_err(|expected| self.mismatch(&expected, event))
            }
            Event::Instrumentation { exception_level, value } => {
                let done = self.marks.instrumentation(exception_level, value);
                done.map_err(|expected| self.mismatch(&expected, event))
            }
            _ => self.advance(event, |judge, at| judge.single(at, event)),
        }
    }

    /// The report is complete.
    pub(super) fn finish(self) -> Result<Returned, Mismatch> {
        let end = |expected: String| Mismatch { step: self.step(), expected, got: "the end".into() };
        self.marks.finish().map_err(end)?;
        if self.loses_packets() {
            return Ok(self.returned);
        }
        let items = &self.timeline.items;
        let is_end = |at: &usize| {
            items[*at..].iter().all(|item| matches!(item.what, What::Discard { optional: true }) || item.q)
        };
        if !self.positions.iter().any(is_end) {
            return Err(end(self.expected()));
        }
        Ok(self.returned)
    }

    /// Whether the buffer can be full at any place.
    const fn loses_packets(&self) -> bool {
        self.scenario.policy.fifo_bytes > 0
    }

    fn tally(&mut self, event: &Event) {
        let returned = &mut self.returned;
        let amount = match event {
            Event::Instructions { count, last: Outcome::NotTaken, .. } => {
                returned.not_taken += 1;
                returned.instructions += count;
                return;
            }
            Event::Instructions { count, .. } => {
                returned.instructions += count;
                return;
            }
            Event::TraceInfo { .. } => &mut returned.trace_infos,
            Event::TraceOn => &mut returned.trace_ons,
            Event::Context(_) => &mut returned.contexts,
            Event::UnknownPath { .. } => &mut returned.unknown_paths,
            Event::Exception { .. } => &mut returned.exceptions,
            Event::TransactionCommit => &mut returned.transactions,
            Event::TransactionFailure => &mut returned.failed_transactions,
            Event::Cycles { .. } => &mut returned.cycles,
            Event::Timestamp { .. } => &mut returned.timestamps,
            Event::Event { .. } => &mut returned.events,
            Event::Instrumentation { .. } => &mut returned.instrumentations,
            Event::Overflow => &mut returned.overflows,
            Event::Discard => &mut returned.discards,
            _ => return,
        };
        *amount += 1;
    }

    /// Spec: ETE-DEC-TI-004, ETE-WJJNK-001, ETE-QMTSR-001.
    fn trace_info(&mut self, event: &Event) -> Result<(), Mismatch> {
        let Event::TraceInfo { cycle_counting, cycle_threshold, speculation, transactional } = *event else {
            return Ok(());
        };
        self.needs_info = false;
        let parameters = &self.scenario.parameters;
        let threshold = if parameters.cycle_counting { self.scenario.policy.cycle_threshold } else { 0 };
        if (cycle_counting, cycle_threshold) != (parameters.cycle_counting, threshold) {
            return Err(self.mismatch(&format!("a threshold of {threshold}"), event));
        }
        if speculation > parameters.maxspec {
            return Err(self.mismatch(&format!("at most {} uncommitted", parameters.maxspec), event));
        }
        let open = |at: &usize| {
            let mut ends = self.timeline.items[..*at].iter().rev();
            ends.find_map(|item| match item.what {
                What::TransactionStart => Some(true),
                What::TransactionCommit | What::TransactionFailure => Some(false),
                _ => None,
            })
            .unwrap_or(false)
        };
        // A Start that was cancelled after it is in no timeline, nor is a Failure that a Discard drops.
        let fails = |at: &usize| {
            matches!(self.timeline.items.get(*at), Some(Item { what: What::TransactionFailure, .. }))
        };
        let is_speculative = parameters.transactions && parameters.maxspec > 0;
        let cancelled = is_speculative && (transactional || self.positions.iter().any(fails));
        if !cancelled && self.positions.iter().all(|at| open(at) != transactional) {
            return Err(self.mismatch(&format!("T = {}", u8::from(!transactional)), event));
        }
        Ok(())
    }

    /// The positions, and those after items that a trace unit may leave out.
    fn reachable(&self) -> Vec<usize> {
        let mut found = self.positions.clone();
        let mut index = 0;
        while let Some(&at) = found.get(index) {
            index += 1;
            let is_optional = self.timeline.items.get(at).is_some_and(|item| match item.what {
                What::Discard { optional } => optional,
                What::ExceptionReturn => item.q,
                _ => false,
            });
            if is_optional && !found.contains(&(at + 1)) {
                found.push(at + 1);
            }
        }
        found
    }

    /// Replaces the positions by those to which `event` leads from them.
    fn advance(
        &mut self,
        event: &Event,
        lead: impl Fn(&Self, usize) -> Result<usize, String>,
    ) -> Result<(), Mismatch> {
        let (mut next, mut first_wrong) = (Vec::new(), None);
        for at in self.reachable() {
            match lead(self, at) {
                Ok(at) if next.contains(&at) => {}
                Ok(at) => next.push(at),
                Err(expected) => first_wrong = first_wrong.or(Some(expected)),
            }
        }
        if next.is_empty() {
            let expected = first_wrong.unwrap_or_else(|| self.expected());
            return Err(self.mismatch(&expected, event));
        }
        self.positions = next;
        self.lost = false;
        Ok(())
    }

    /// Instructions are those that were executed, one after the other.
    ///
    /// Spec: `R_SKGMZ`, `R_PJFBL`, `R_VDRPP`, `R_NZTGQ`.
    fn walk(&self, mut at: usize, event: &Event) -> Result<usize, String> {
        let Event::Instructions { first, end, count, isa, last } = *event else {
            return Err(self.expected_at(at));
        };
        let mut address = first;
        for index in 0..count {
            // Nor does a Q element that goes on after an exception return mark it.
            let is_return = |item: &Item| item.q && item.what == What::ExceptionReturn;
            if index > 0 && self.timeline.items.get(at).is_some_and(is_return) {
                at += 1;
            }
            let item = self.timeline.items.get(at).ok_or("the end")?;
            let What::Instruction { size, outcome, untraced } = item.what else { return Err(show(item)) };
            let is_right = match (outcome, last) {
                // Runs of Q elements may be joined.
                _ if index + 1 < count => outcome.is_none() || untraced && outcome == Some(false) || item.q,
                (Some(true), Outcome::Taken) => true,
                (Some(false), Outcome::NotTaken) | (None, Outcome::Passed) => true,
                (Some(_), Outcome::Passed) => untraced || item.q && !is_certain(self.scenario, item),
                _ => false,
            };
            if (item.at, item.isa) != (address, isa) || !is_right {
                return Err(show(item));
            }
            self.check_context(item)?;
            address = (address.wrapping_add(size.into()).0 & isa.address_mask()).into();
            at += 1;
        }
        let is_exception = |item: &Item| matches!(item.what, What::Exception { .. });
        let is_q =
            at.checked_sub(1).and_then(|last| self.timeline.items.get(last)).is_some_and(|item| item.q);
        if last == Outcome::Passed && !is_q && !self.timeline.items.get(at).is_some_and(is_exception) {
            return Err("more instructions, up to a P0 instruction".to_owned());
        }
        if address != end {
            return Err(format!("an end at {address}"));
        }
        Ok(at)
    }

    /// Spec: ETE-BDFDQ-001, ETE-HXNXF-001, ETE-XGXKK-001.
    fn check_context(&self, item: &Item) -> Result<(), String> {
        if self.context == Some(item.context) {
            return Ok(());
        }
        Err(format!("context {:x?} before {}", item.context, show(item)))
    }

    fn single(&self, at: usize, event: &Event) -> Result<usize, String> {
        let item = self.timeline.items.get(at).ok_or("the end")?;
        let is_there = match (item.what, *event) {
            (What::TraceOn, Event::TraceOn)
            | (What::ExceptionReturn, Event::ExceptionReturn)
            | (What::TransactionStart, Event::TransactionStart)
            | (What::TransactionCommit, Event::TransactionCommit)
            | (What::TransactionFailure, Event::TransactionFailure)
            | (What::Discard { .. }, Event::Discard) => true,
            (
                What::Exception { number: taken, returns_to: to, fault_pending: pending },
                Event::Exception { number, returns_to, fault_pending },
            ) => {
                if number != 0 {
                    self.check_context(item)?;
                }
                (taken, to, pending) == (number, returns_to, fault_pending)
            }
            _ => false,
        };
        if is_there { Ok(at + 1) } else { Err(show(item)) }
    }

    /// Spec: `R_XPNWS`, ETE-DEC-AN-004.
    fn unknown_path(&mut self, count: Option<u32>, event: &Event) -> Result<(), Mismatch> {
        let items = &self.timeline.items;
        let mut next = Vec::new();
        for at in self.reachable() {
            let is_q = |item: &&Item| item.q && matches!(item.what, What::Instruction { .. });
            let most = items[at..].iter().take_while(is_q).count();
            match count.map(|count| count as usize) {
                Some(count) if (1..=most).contains(&count) => next.push(at + count),
                Some(_) => {}
                None => next.extend((1..=most).map(|count| at + count)),
            }
        }
        if next.is_empty() {
            return Err(self.mismatch(&self.expected(), event));
        }
        next.sort_unstable();
        next.dedup();
        self.positions = next;
        Ok(())
    }

    /// An overflow of the stimulus, or one of a small buffer, after which the trace goes on anywhere.
    fn overflow(&mut self, event: &Event) -> Result<(), Mismatch> {
        self.needs_info = true;
        self.clock.overflow();
        let items = &self.timeline.items;
        if self.loses_packets() {
            let first = self.positions.iter().min().copied().unwrap_or(0);
            // After each element, and after each P0 instruction that none stands for.
            let is_left_out = |item: &Item| matches!(item.what, What::Instruction { untraced: true, .. });
            let begins = |at: &usize| {
                let Some(before) = at.checked_sub(1).map(|before| &items[before]) else { return true };
                items.get(*at).is_none_or(|item| item.element != before.element) || is_left_out(before)
            };
            self.positions = (first..=items.len()).filter(begins).collect();
            self.lost = true;
            return Ok(());
        }
        self.advance(event, |judge, at| match judge.timeline.items.get(at) {
            Some(Item { what: What::Overflow, .. }) => Ok(at + 1),
            _ => Err(judge.expected_at(at)),
        })
    }

    fn expected_at(&self, at: usize) -> String {
        self.timeline.items.get(at).map_or("the end".into(), show)
    }

    fn expected(&self) -> String {
        self.positions.first().map_or_else(|| "nothing".into(), |at| self.expected_at(*at))
    }

    fn step(&self) -> usize {
        let first = self.positions.first().and_then(|at| self.timeline.items.get(*at));
        first.map_or(self.scenario.stimuli.len(), |item| item.step)
    }

    fn mismatch(&self, expected: &str, event: &Event) -> Mismatch {
        Mismatch { step: self.step(), expected: expected.into(), got: format!("{event:x?}") }
    }
}
