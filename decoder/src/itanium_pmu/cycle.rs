//! Occurrences of a cycle, and what its end counts and captures.

use alloc::vec::Vec;

use traceproof_vectors::itanium_pmu::events::{
    ES_CPU_CYCLES, ES_DATA_EAR_EVENTS, ES_IA64_INST_RETIRED, ES_INSTRUCTION_EAR_EVENTS, EVENTS,
    SelectableEvent,
};
use traceproof_vectors::itanium_pmu::{
    DataMiss, EarReplacement, Event, FreezeTiming, InstructionMiss, InstructionTlbResolution,
    MISSES_PER_CYCLE, Parameters, Register, Tags,
};

use super::Registers;
use super::qualification::counters::{self, COUNTERS};
use super::qualification::ears::{self, AccessMiss, FetchMiss};
use super::slice::at;

/// What happened since the latest end of a cycle.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    /// Qualified occurrences of each event of the table, in its order.
    occurrences: [u16; EVENTS.len()],
    /// Retired IA-64 instructions with Tag(PMC\[8\]), with Tag(PMC\[9\]).
    retired: [u16; 2],
    misses: Vec<Missed>,
    /// Whether `occurrences` has anything.
    counted: bool,
    /// How many misses are kept.
    limit: usize,
}

/// A miss, to be looked at when the cycle ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Missed {
    Fetch(FetchMiss),
    Access(AccessMiss),
}

/// Which event address registers hold a miss that the first-miss option protects.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    instruction: bool,
    data: bool,
}

/// What the end of a cycle does to counters.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// Increment and count of PMD\[4\] to PMD\[7\], if they changed.
    changes: [Option<(u16, u32)>; 4],
    /// Bit n: PMD\[n\] overflowed.
    overflowed: u64,
    freezes: bool,
}

impl Default for Cycle {
    fn default() -> Self {
        Self::new(MISSES_PER_CYCLE)
    }
}

impl Cycle {
    /// A cycle in which nothing happened yet, of which at most `limit` misses are kept.
    pub(super) const fn new(limit: usize) -> Self {
        Self { occurrences: [0; EVENTS.len()], retired: [0; 2], misses: Vec::new(), counted: false, limit }
    }

    /// An IA-64 instruction retires.
    pub(super) fn retire(&mut self, tags: Tags) {
        let [pmc8, pmc9] = &mut self.retired;
        *pmc8 = pmc8.saturating_add(tags.pmc8.into());
        *pmc9 = pmc9.saturating_add(tags.pmc9.into());
    }

    /// An event occurs, with the tag that qualifies it.
    pub(super) fn occur(&mut self, event: &SelectableEvent, count: u8) {
        if let Some(occurrences) = position(event).and_then(|index| self.occurrences.get_mut(index)) {
            *occurrences = occurrences.saturating_add(count.into());
            self.counted = true;
        }
    }

    /// Records a miss; `false` if there were too many already.
    pub(super) fn miss(&mut self, missed: Missed) -> bool {
        let room = self.misses.len() < self.limit;
        if room {
            self.misses.push(missed);
        }
        room
    }

    /// Forgets what happened.
    pub(super) fn clear(&mut self) {
        if self.counted {
            self.occurrences.fill(0);
            self.counted = false;
        }
        self.retired = [0; 2];
        self.misses.clear();
    }

    /// Ends the cycle: counters and event address registers take what happened. Reports it in the order of the
    /// contract, and returns whether an interrupt is raised.
    ///
    /// Spec: ITA-OVF-001 to ITA-OVF-013, ITA-EAR-018, ITA-EAR-019, ITA-EAR-026; reading `ita-md-5`.
    pub(super) fn end(
        &mut self,
        registers: &mut Registers,
        parameters: &Parameters,
        taken: &mut Taken,
        mut report: impl FnMut(Event),
    ) -> bool {
        if registers.is_frozen() {
            self.clear();
            return false;
        }
        let counted = self.count(registers, parameters);
        if !(counted.freezes && parameters.freeze == FreezeTiming::AtOverflow) {
            self.capture(registers, parameters, taken, &mut report);
        }
        for (counter, change) in COUNTERS.into_iter().zip(counted.changes) {
            if let Some((increment, count)) = change {
                report(Event::Count { counter, increment, count });
            }
        }
        for counter in COUNTERS {
            if counted.overflowed >> counter & 1 == 1 {
                report(Event::Overflow { counter });
            }
        }
        registers.pmc[0] |= counted.overflowed | at(counted.freezes, 0);
        let interrupts = counted.freezes && !registers.masks_interrupts();
        if counted.freezes {
            report(Event::Freeze);
        }
        if interrupts {
            report(Event::Interrupt);
        }
        self.clear();
        interrupts
    }

    fn count(&self, registers: &mut Registers, parameters: &Parameters) -> Counted {
        let mut counted = Counted::default();
        for (counter, change) in COUNTERS.into_iter().zip(&mut counted.changes) {
            if !counters::is_enabled(registers, counter) {
                continue;
            }
            let Some(event) = counters::selected(registers, counter) else { continue };
            let occurrences = self.occurrences(registers, parameters, event);
            let increment = counters::increment(registers, counter, occurrences);
            if increment == 0 {
                continue;
            }
            let pmd = Register::pmd(counter);
            let (count, carry) = counters::advance(registers.get(pmd) as u32, increment);
            registers.write(pmd, count.into());
            *change = Some((increment, count));
            counted.overflowed |= at(carry, counter);
            if carry && counters::freezes(registers, counter) {
                counted.freezes = true;
                if parameters.freeze == FreezeTiming::AtOverflow {
                    break;
                }
            }
        }
        counted
    }

    /// Spec: ITA-CNT-011, ITA-CNT-013, ITA-EAR-022; reading `ita-inst-retired-is-qualified`.
    fn occurrences(&self, registers: &Registers, parameters: &Parameters, event: &SelectableEvent) -> u16 {
        let [pmc8, pmc9] = self.retired;
        match (event.es, event.umask) {
            (ES_IA64_INST_RETIRED, 2) => pmc9,
            (ES_IA64_INST_RETIRED, _) => pmc8,
            (ES_CPU_CYCLES, _) => 1,
            (ES_INSTRUCTION_EAR_EVENTS | ES_DATA_EAR_EVENTS, _) => {
                let captured = self.misses.iter().filter(|missed| match missed {
                    Missed::Fetch(miss) => {
                        event.es == ES_INSTRUCTION_EAR_EVENTS
                            && ears::capture_fetch(registers, parameters, miss).is_some()
                    }
                    Missed::Access(miss) => {
                        event.es == ES_DATA_EAR_EVENTS
                            && ears::capture_access(registers, parameters, miss).is_some()
                    }
                });
                captured.count() as u16
            }
            _ => position(event).and_then(|index| self.occurrences.get(index)).copied().unwrap_or(0),
        }
    }

    fn capture(
        &self,
        registers: &mut Registers,
        parameters: &Parameters,
        taken: &mut Taken,
        report: &mut impl FnMut(Event),
    ) {
        for missed in &self.misses {
            match missed {
                Missed::Fetch(miss) => {
                    if let Some(record) = ears::capture_fetch(registers, parameters, miss)
                        && taken.instruction(parameters)
                    {
                        write_instruction(registers, &record);
                        report(Event::InstructionMiss(record));
                    }
                }
                Missed::Access(miss) => {
                    if let Some(record) = ears::capture_access(registers, parameters, miss)
                        && taken.data(parameters)
                    {
                        write_data(registers, &record);
                        report(Event::DataMiss(record));
                    }
                }
            }
        }
    }
}

impl Taken {
    /// Whether the instruction event address registers take another miss. Reading `ita-md-3`.
    fn instruction(&mut self, parameters: &Parameters) -> bool {
        let held = core::mem::replace(&mut self.instruction, true);
        !held || parameters.ear_replacement == EarReplacement::Last
    }

    /// Whether the data event address registers take another miss. Reading `ita-md-3`.
    fn data(&mut self, parameters: &Parameters) -> bool {
        let held = core::mem::replace(&mut self.data, true);
        !held || parameters.ear_replacement == EarReplacement::Last
    }
}

/// Fields outside of the mode become 0. Reading `ita-out-of-mode-fields-are-0`.
fn write_instruction(registers: &mut Registers, record: &InstructionMiss) {
    let tlb = record.tlb == Some(InstructionTlbResolution::Software);
    registers.write(Register::pmd(0), record.line.0 | at(tlb, 1) | 1);
    registers.write(Register::pmd(1), record.latency.unwrap_or(0).into());
}

fn write_data(registers: &mut Registers, record: &DataMiss) {
    let level = record.level.map_or(0, |level| level as u64);
    registers.write(Register::pmd(2), record.address.0);
    registers.write(Register::pmd(3), u64::from(record.latency.unwrap_or(0)) | level << 62);
    registers.write(Register::pmd(17), record.bundle.0 | u64::from(record.slot) << 2 | 1);
}

/// Where an event stands in the table.
fn position(event: &SelectableEvent) -> Option<usize> {
    EVENTS.binary_search_by_key(&(event.es, event.umask), |event| (event.es, event.umask)).ok()
}
