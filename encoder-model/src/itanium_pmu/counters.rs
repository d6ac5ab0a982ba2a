//! What the generic counters do at the end of a cycle.

use traceproof_vectors::itanium_pmu::FreezeTiming;
use traceproof_vectors::itanium_pmu::events::{
    ES_CPU_CYCLES, ES_DATA_EAR_EVENTS, ES_IA64_INST_RETIRED, ES_INSTRUCTION_EAR_EVENTS,
};

use super::occurrences::{Occurrences, Row};
use super::registers::Registers;

/// Unit mask of IA64_TAGGED_INST_RETIRED_PMC9.
const TAGGED_PMC9: u8 = 2;

/// Where a counter gets its number from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Source {
    /// It counts nothing.
    #[default]
    Nothing,
    Cycles,
    RetiredPmc8,
    RetiredPmc9,
    InstructionEar,
    DataEar,
    Stated(Row),
}

/// One counter's configuration as it is in force, made when a register changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Configuration {
    source: Source,
    threshold: u16,
    interrupts: bool,
}

impl Configuration {
    /// From PMC\[`counter`\]. What is not countable there counts nothing (ITA-CNT-010).
    fn new(counter: u8, configuration: u64) -> Self {
        let es = (configuration >> 8) as u8 & 0x7f;
        let row = Row::find(es, (configuration >> 16) as u8 & 0xf);
        let source = match row {
            Some(row) if row.event().is_countable_on(counter) => match es {
                ES_CPU_CYCLES => Source::Cycles,
                ES_IA64_INST_RETIRED if row.event().umask == TAGGED_PMC9 => Source::RetiredPmc9,
                // The untagged one is qualified by Tag(PMC[8]) too (`ita-inst-retired-is-qualified`).
                ES_IA64_INST_RETIRED => Source::RetiredPmc8,
                ES_INSTRUCTION_EAR_EVENTS => Source::InstructionEar,
                ES_DATA_EAR_EVENTS => Source::DataEar,
                _ => Source::Stated(row),
            },
            _ => Source::Nothing,
        };
        // PMC[6] and PMC[7] do not keep the third bit of the threshold (ITA-CNT-008).
        Self { source, threshold: (configuration >> 20) as u16 & 7, interrupts: configuration & 0x20 != 0 }
    }

    /// What is added for so many occurrences (ITA-CNT-007).
    fn increment(self, occurrences: u16) -> u32 {
        if self.threshold == 0 { u32::from(occurrences) } else { u32::from(occurrences > self.threshold) }
    }
}

/// What the event address registers contribute to a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Captures {
    /// INSTRUCTION_EAR_EVENTS.
    pub(super) instruction: u16,
    /// DATA_EAR_EVENTS.
    pub(super) data: u16,
}

/// PMC\[4\] to PMC\[7\] as they are in force.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    configurations: [Configuration; 4],
}

impl Counters {
    /// PMC\[`counter`\] changed.
    pub(super) fn configure(&mut self, registers: &Registers) {
        for (counter, configuration) in (4..8).zip(&mut self.configurations) {
            *configuration = Configuration::new(counter, registers.pmc[usize::from(counter)]);
        }
    }

    /// Counts a cycle in which PMC\[0\].fr = 0 and sets overflow bits (ITA-OVF-001 to 007). Whether a counter with oi =
    /// 1 overflowed.
    pub(super) fn count(
        &self,
        registers: &mut Registers,
        occurrences: &Occurrences,
        captures: Captures,
        timing: FreezeTiming,
    ) -> bool {
        let mut freezes = false;
        for (counter, configuration) in (4..8).zip(&self.configurations) {
            let occurred = match configuration.source {
                Source::Nothing => 0,
                Source::Cycles => 1,
                Source::RetiredPmc8 => occurrences.retired_pmc8,
                Source::RetiredPmc9 => occurrences.retired_pmc9,
                Source::InstructionEar => captures.instruction,
                Source::DataEar => captures.data,
                Source::Stated(row) => occurrences.of(row),
            };
            if occurred == 0 || !registers.enables(registers.pmc[counter]) {
                continue;
            }
            let (sum, carry) =
                (registers.pmd[counter] as u32).overflowing_add(configuration.increment(occurred));
            registers.pmd[counter] = sum as i32 as u64;
            if carry {
                registers.pmc[0] |= 1 << counter;
                freezes |= configuration.interrupts;
                if freezes && timing == FreezeTiming::AtOverflow {
                    return true;
                }
            }
        }
        freezes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_exceeded_or_nothing_counts() {
        let nops = Configuration::new(4, 0x0250_3028);
        let increments: Vec<u32> = (0..=6).map(|n| nops.increment(n)).collect();
        assert_eq!(increments, [0, 0, 0, 0, 0, 0, 1]);
        let plain = Configuration::new(4, 0x0200_3028);
        assert_eq!(plain.increment(6), 6);
    }

    #[test]
    fn what_a_counter_cannot_count_is_nothing() {
        for es in [0x08, 0x2d, 0x30, 0x31, 0x56_u64] {
            for counter in 4..8 {
                let configuration = Configuration::new(counter, es << 8 | 0xf);
                assert_eq!(configuration.source == Source::Nothing, counter >= 6, "{es:#x} on {counter}");
            }
        }
        assert_eq!(Configuration::new(4, 0x0001_080f).source, Source::Nothing);
        assert_eq!(Configuration::new(4, 0x0002_080f).source, Source::RetiredPmc9);
        assert_eq!(Configuration::new(4, 0x0003_080f).source, Source::RetiredPmc8);
    }
}
