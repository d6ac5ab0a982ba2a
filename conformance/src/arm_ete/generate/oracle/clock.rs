//! Cycle counts and timestamps of an execution.

use traceproof_vectors::arm_ete::{Signal, TimestampOf};

use super::timeline::Timeline;
use crate::arm_ete::generate::Scenario;

/// When things happen, and which of it was reported.
pub(super) struct Clock<'a> {
    scenario: &'a Scenario,
    timeline: &'a Timeline,
    /// Cycles up to each stimulus, that of the stimulus included.
    cycles: Vec<u64>,
    /// Times that the latest cycle count can have; empty before the first one.
    counted: Vec<u64>,
    /// Those of all counts since synchronization.
    all_counted: Vec<u64>,
    total: u64,
    /// What a timestamp after the latest marker can belong to: stimuli.
    marked: Option<Vec<usize>>,
    overflowed: bool,
}

impl<'a> Clock<'a> {
    pub(super) fn new(scenario: &'a Scenario, timeline: &'a Timeline) -> Self {
        let mut now = 0;
        let cycles = scenario.stimuli.iter().map(|stimulus| {
            now += u64::from(stimulus.cycles);
            now
        });
        Self {
            scenario,
            timeline,
            cycles: cycles.collect(),
            counted: Vec::new(),
            all_counted: Vec::new(),
            total: 0,
            marked: None,
            overflowed: false,
        }
    }

    /// The first count after it is UNKNOWN, and no marker survives it (`R_HQKWH`, `R_JNWJY`).
    pub(super) fn overflow(&mut self) {
        self.counted.clear();
        self.all_counted.clear();
        self.marked = None;
        self.overflowed = true;
    }

    /// Numbers of the elements that can be the latest one there: those from the latest reported one on, up to the next
    /// one. What was cancelled or failed lies between.
    fn latest(&self, at: usize) -> std::ops::Range<usize> {
        let items = &self.timeline.items;
        let passes = |index: &usize| *index > 0 && (items[*index].q || !items[*index].is_element());
        let mut before = at.checked_sub(1);
        while let Some(index) = before.filter(passes) {
            before = Some(index - 1);
        }
        let first = before.map_or(0, |before| items[before].element);
        let end = match items.get(at) {
            Some(item) if item.is_element() => item.element,
            Some(item) => item.element + 1,
            None => self.timeline.elements.len(),
        };
        first..end.max(first + 1)
    }

    /// Spec: ETE-VZXNN-001, ETE-BMVKB-001, ETE-TYNZR-001, ETE-YFMWB-001, ETE-HQKWH-001, ETE-YVWJW-001, ETE-DEC-AN-007.
    pub(super) fn cycles(&mut self, at: &[usize], count: Option<u32>, total: u64) -> Result<(), String> {
        if !self.scenario.parameters.cycle_counting {
            return Err("no cycle counts".into());
        }
        let mut times: Vec<u64> = at.iter().flat_map(|at| self.commit_times(*at)).collect();
        times.sort_unstable();
        times.dedup();
        let most = (1_u64 << self.scenario.parameters.cycle_count_bits) - 1;
        let least = u64::from(self.scenario.policy.cycle_threshold);
        let before = core::mem::take(&mut self.counted);
        let is_right = |time: &u64| match count {
            None => before.is_empty() || before.iter().any(|before| time.saturating_sub(*before) >= most),
            Some(count) => {
                let count = u64::from(count);
                count >= least && count <= most && before.iter().any(|before| before + count == *time)
            }
        };
        self.counted = times.iter().copied().filter(is_right).collect();
        if self.counted.is_empty() {
            return Err(format!("a cycle count from {before:?} to {times:?}"));
        }
        self.all_counted.extend(&self.counted);
        self.total = count.map_or(0, |count| self.total.saturating_add(count.into()));
        if total == self.total { Ok(()) } else { Err(format!("a total of {}", self.total)) }
    }

    /// When the latest Commit element there can have been generated: when its P0 element was resolved, and if commits
    /// are merged, at any time from then on until later P0 elements imply it (`R_ZHWDD`, `R_YKLRM`).
    fn commit_times(&self, at: usize) -> Vec<u64> {
        let elements = &self.timeline.elements;
        let latest = self.latest(at);
        let end = self.cycles.len() - 1;
        // A Q element is made when the next one comes, or its region ends.
        let is_q = at.checked_sub(1).is_some_and(|before| self.timeline.items[before].q);
        let made = elements.get(latest.end).map_or(end, |element| element.step);
        let merges = self.scenario.policy.merged_commits > 1;
        let committed = latest.filter_map(|element| {
            let step = elements[element].committed?;
            let last = match elements[element].implied {
                _ if is_q => made,
                implied if merges => implied.unwrap_or(end),
                _ => step,
            };
            Some(step..=last.max(step))
        });
        committed.flatten().map(|step| self.cycles[step]).collect()
    }

    /// Stimuli of the P0, Event and Instrumentation elements that can be the latest one there.
    fn stamped(&self, at: &[usize]) -> Vec<usize> {
        let stimuli = &self.scenario.stimuli;
        let mut found = Vec::new();
        for &at in at {
            let elements = self.latest(at);
            let step = |element: usize| self.timeline.elements.get(element).map(|element| element.step);
            let first = if elements.start == 0 { 0 } else { step(elements.start).unwrap_or(0) };
            let end = step(elements.end).unwrap_or(stimuli.len()).max(first);
            found.extend(elements.filter(|element| *element > 0).filter_map(step));
            let is_mark = |step: &usize| {
                matches!(stimuli[*step].signal, Signal::Event(_) | Signal::Instrumentation { .. })
            };
            found.extend((first..end).filter(is_mark));
            // A Q element is made when the next one comes, or its region ends.
            if at.checked_sub(1).is_some_and(|before| self.timeline.items[before].q) {
                found.extend(first..(end + 1).min(stimuli.len()));
            }
        }
        found
    }

    /// Spec: ETE-RFYPT-001.
    pub(super) fn marker(&mut self, at: &[usize]) -> Result<(), String> {
        if !self.scenario.parameters.timestamp_markers {
            return Err("no markers".into());
        }
        self.marked = Some(self.stamped(at));
        Ok(())
    }

    /// Spec: ETE-MCSGX-001, ETE-DGTJZ-001, ETE-ZMQLT-001, ETE-CWHHW-001, ETE-TS0-001.
    pub(super) fn timestamp(
        &mut self,
        at: &[usize],
        value: Option<u64>,
        cycles: Option<u32>,
        of: TimestampOf,
    ) -> Result<(), String> {
        let parameters = &self.scenario.parameters;
        if !parameters.timestamps {
            return Err("no timestamps".into());
        }
        let steps = match (of, parameters.timestamp_markers) {
            (TimestampOf::Latest, false) => self.stamped(at),
            // A Discard drops a marker that it did not report, and keeps the timestamp.
            (TimestampOf::Marker, true) => self.marked.take().unwrap_or_else(|| self.stamped(at)),
            // Its marker was lost.
            (TimestampOf::BeforeTrace, true) if self.overflowed => (0..self.cycles.len()).collect(),
            _ => return Err("a timestamp of the latest element or marker".into()),
        };
        let stimuli = &self.scenario.stimuli;
        let is_value = |step: &usize| value.unwrap_or(0) == stimuli[*step].timestamp;
        let steps: Vec<usize> = steps.into_iter().filter(is_value).collect();
        if steps.is_empty() {
            return Err("the time of an element there".into());
        }
        let Some(cycles) = cycles else { return Ok(()) };
        // An element may be older than the commit of the latest count.
        let since = |step: &usize, counted: &u64| {
            counted + u64::from(cycles) == self.cycles[*step] || cycles == 0 && *counted > self.cycles[*step]
        };
        let is_counted = steps.iter().any(|step| self.all_counted.iter().any(|counted| since(step, counted)));
        let has_counter = parameters.cycle_counting;
        if has_counter && is_counted { Ok(()) } else { Err("cycles since a cycle count".into()) }
    }
}
