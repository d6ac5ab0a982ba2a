//! Trace unit events and instrumentation, which have an order of their own.

use std::collections::HashSet;

use traceproof_vectors::arm::ExceptionLevel;
use traceproof_vectors::arm_ete::Signal;

use super::timeline::Timeline;
use crate::arm_ete::generate::Scenario;

/// An event that occurred.
#[derive(Clone, Copy, Debug)]
struct Occurred {
    number: u8,
    /// Events of one group may be reported in any order: one packet carries those between which nothing is traced.
    group: usize,
    /// Another one of the same overflow stands for it (`R_SHYMY`).
    optional: bool,
}

/// Events and instrumentation that were not reported so far.
#[derive(Debug)]
pub(super) struct Marks {
    events: Vec<Occurred>,
    values: std::vec::IntoIter<(ExceptionLevel, u64)>,
    /// Numbers of events that occurred and were never reported, by bit.
    unseen: u32,
    /// Instrumentation may be lost, and events be merged.
    lossy: bool,
}

impl Marks {
    pub(super) fn new(scenario: &Scenario, timeline: &Timeline) -> Self {
        let (mut events, mut values): (Vec<Occurred>, _) = (Vec::new(), Vec::new());
        let mut occurred = 0;
        // Numbers that occurred in the overflow, if there is one.
        let (mut group, mut overflow): (_, Option<u32>) = (0, None);
        let traced: HashSet<usize> = timeline.elements.iter().skip(1).map(|element| element.step).collect();
        for (step, stimulus) in scenario.stimuli.iter().enumerate() {
            match stimulus.signal {
                Signal::Event(number) => {
                    let bit = 1 << number;
                    let optional = overflow.is_some_and(|numbers| numbers & bit != 0);
                    overflow = overflow.map(|numbers| numbers | bit);
                    events.push(Occurred { number, group, optional });
                    occurred |= bit;
                }
                Signal::Overflow(true) => overflow = overflow.or(Some(0)),
                Signal::Overflow(false) => overflow = None,
                Signal::Instrumentation { exception_level, value } if overflow.is_none() => {
                    values.push((exception_level, value));
                }
                _ => {}
            }
            group += usize::from(overflow.is_none() && traced.contains(&step));
        }
        let values = values.into_iter();
        Self { events, values, unseen: occurred, lossy: scenario.policy.fifo_bytes > 0 }
    }

    /// Spec: ETE-SMLVB-001, `R_GZWHY`.
    pub(super) fn event(&mut self, number: u8) -> Result<(), String> {
        let first = self.events.iter().find(|event| !event.optional).map(|event| event.group);
        let is_next = |event: &Occurred| self.lossy || first.is_none_or(|first| event.group <= first);
        let fits = |event: &Occurred| event.number == number && is_next(event);
        let required = self.events.iter().position(|event| fits(event) && !event.optional);
        let found = required.or_else(|| self.events.iter().position(fits));
        let Some(found) = found else { return Err(format!("event {:?}", self.events.first())) };
        self.events.remove(found);
        self.unseen &= !(1 << number);
        Ok(())
    }

    /// Spec: ETE-STQSN-001, ETE-CJRNL-001.
    pub(super) fn instrumentation(&mut self, level: ExceptionLevel, value: u64) -> Result<(), String> {
        let is_it = |(el, written): (ExceptionLevel, u64)| (el, written) == (level, value);
        let found = if self.lossy { self.values.any(is_it) } else { self.values.next().is_some_and(is_it) };
        if found { Ok(()) } else { Err("instrumentation in the order of TRCIT".to_owned()) }
    }

    /// Everything must have been reported. Of what a small buffer cannot hold, one event of each number at least.
    pub(super) fn finish(&self) -> Result<(), String> {
        if self.lossy {
            return match self.unseen {
                0 => Ok(()),
                unseen => Err(format!("an event of each number of {unseen:#06b}")),
            };
        }
        if let Some(event) = self.events.iter().find(|event| !event.optional) {
            return Err(format!("{event:?}"));
        }
        match self.values.as_slice().first() {
            Some(value) => Err(format!("instrumentation {value:x?}")),
            None => Ok(()),
        }
    }
}
