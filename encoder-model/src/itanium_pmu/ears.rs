//! Which misses the event address registers capture.

use traceproof_vectors::itanium_pmu::{
    DataEarThresholds, DataTlbLevel, EarReplacement, InstructionTlbResolution, LatencyOverflow,
    LatencyThreshold,
};

use super::registers::Registers;

/// Latency thresholds: 4 clocks, doubled per step up to 4096.
const THRESHOLDS: u32 = 11;
/// Classes of misses: one per latency threshold, then one per way in which a TLB miss is resolved.
const CLASSES: usize = 14;
/// First class of the TLB misses.
const TLB: usize = THRESHOLDS as usize;

/// What decides whether a miss passes a unit mask: the highest latency threshold that it reaches, or the level that
/// resolved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(usize);

impl Class {
    /// `None` below every threshold.
    pub(super) fn of_latency(latency: u32, threshold: LatencyThreshold) -> Option<Self> {
        let reached = match threshold {
            LatencyThreshold::AtLeast => latency,
            LatencyThreshold::Exceeds => latency.saturating_sub(1),
        };
        let step = reached.checked_ilog2()?.checked_sub(2)?;
        Some(Self(step.min(THRESHOLDS - 1) as usize))
    }

    pub(super) const fn of_instruction_tlb(resolution: InstructionTlbResolution) -> Self {
        Self(TLB + resolution as usize)
    }

    /// `None` if there was no miss.
    pub(super) fn of_data_tlb(level: DataTlbLevel) -> Option<Self> {
        (level as usize).checked_sub(1).map(|index| Self(TLB + index))
    }
}

/// Bit n for class n: what PMC\[10\] selects. Cache-mode unit masks beyond the thresholds select nothing (ITA-EAR-002
/// to 004, 009).
pub(super) const fn selected_by_instruction_ear(configuration: u64) -> u16 {
    let umask = umask_of(configuration);
    if configuration & 0x80 != 0 {
        // Bit 2 of the unit mask is VHPT, bit 3 software.
        return (umask as u16 >> 2) << TLB;
    }
    from_step(umask)
}

/// Bit n for class n: what PMC\[11\] selects (ITA-EAR-010 to 012).
pub(super) const fn selected_by_data_ear(configuration: u64, thresholds: DataEarThresholds) -> u16 {
    let umask = umask_of(configuration);
    if configuration & 0x80 != 0 {
        // Bit 1 of the unit mask is the second-level TLB, bit 2 VHPT, bit 3 software.
        return (umask as u16 >> 1) << TLB;
    }
    match (thresholds, umask) {
        (DataEarThresholds::Shifted, 7) => 0,
        (DataEarThresholds::Shifted, 8..=10) => from_step(umask - 1),
        _ => from_step(umask),
    }
}

const fn umask_of(configuration: u64) -> u32 {
    (configuration >> 16) as u32 & 0xf
}

/// Every latency class from this step on.
const fn from_step(step: u32) -> u16 {
    if step < THRESHOLDS { (1 << THRESHOLDS) - (1 << step) } else { 0 }
}

/// A latency in 12 bits (MD-2).
pub(super) const fn recorded_latency(latency: u32, overflow: LatencyOverflow) -> u16 {
    match overflow {
        LatencyOverflow::Saturate if latency > 0xfff => 0xfff,
        _ => latency as u16 & 0xfff,
    }
}

/// The instruction event address registers after a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InstructionRecord {
    pub(super) ip: u64,
    pub(super) latency: u16,
    pub(super) software: bool,
}

impl InstructionRecord {
    /// PMD\[0\] and PMD\[1\] (ITA-EAR-005, 006).
    pub(super) fn write_into(self, pmd: &mut [u64; 18]) {
        pmd[0] = super::registers::canonical(self.ip) & !0x1f | u64::from(self.software) << 1 | 1;
        pmd[1] = u64::from(self.latency);
    }
}

/// The data event address registers after a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DataRecord {
    pub(super) address: u64,
    pub(super) ip: u64,
    pub(super) slot: u8,
    pub(super) latency: u16,
    pub(super) level: u8,
}

impl DataRecord {
    /// PMD\[2\], PMD\[3\] and PMD\[17\] (ITA-EAR-013 to 015).
    pub(super) fn write_into(self, pmd: &mut [u64; 18]) {
        pmd[2] = super::registers::canonical(self.address);
        pmd[3] = u64::from(self.level) << 62 | u64::from(self.latency);
        pmd[17] = super::registers::canonical(self.ip) & !0xf | u64::from(self.slot) << 2 | 1;
    }
}

/// The misses of one class in this cycle.
#[derive(Clone, Copy, Debug, Default)]
struct OfClass<T> {
    count: u16,
    first: (u32, T),
    last: (u32, T),
}

/// The qualified misses of a cycle that one set of event address registers may capture at its end, when it is known
/// which it selects.
#[derive(Clone, Debug)]
pub(super) struct Misses<T> {
    classes: [OfClass<T>; CLASSES],
    /// Bit n: class n is not empty.
    present: u16,
    /// How many so far; at most [`MISSES_PER_CYCLE`](traceproof_vectors::itanium_pmu::MISSES_PER_CYCLE).
    position: u32,
}

impl<T: Copy + Default> Default for Misses<T> {
    fn default() -> Self {
        Self { classes: [OfClass::default(); CLASSES], present: 0, position: 0 }
    }
}

impl<T: Copy + Default> Misses<T> {
    /// One more miss.
    pub(super) fn add(&mut self, class: Class, record: T) {
        let misses = &mut self.classes[class.0];
        let placed = (self.position, record);
        if self.present & 1 << class.0 == 0 {
            *misses = OfClass { count: 0, first: placed, last: placed };
            self.present |= 1 << class.0;
        }
        misses.count = misses.count.saturating_add(1);
        misses.last = placed;
        self.position = self.position.saturating_add(1);
    }

    /// How many are of the selected classes.
    pub(super) fn count(&self, selected: u16) -> u16 {
        self.of(selected).fold(0, |sum, class| sum.saturating_add(class.count))
    }

    /// The one of the selected classes that is kept (MD-3).
    pub(super) fn kept(&self, selected: u16, replacement: EarReplacement) -> Option<T> {
        let (_, record) = match replacement {
            EarReplacement::Last => {
                self.of(selected).map(|class| class.last).max_by_key(|(position, _)| *position)
            }
            EarReplacement::First => {
                self.of(selected).map(|class| class.first).min_by_key(|(position, _)| *position)
            }
        }?;
        Some(record)
    }

    fn of(&self, selected: u16) -> impl Iterator<Item = &OfClass<T>> {
        let chosen = selected & self.present;
        self.classes
            .iter()
            .enumerate()
            .filter(move |(class, _)| chosen & 1 << class != 0)
            .map(|(_, misses)| misses)
    }

    /// The next cycle begins.
    pub(super) fn clear(&mut self) {
        self.present = 0;
        self.position = 0;
    }
}

/// One set of event address registers: what it may capture, and whether it already has.
#[derive(Clone, Debug)]
pub(super) struct Ear<T> {
    /// The misses of this cycle.
    pub(super) misses: Misses<T>,
    /// A miss was captured since monitoring was last unfrozen.
    holds: bool,
}

impl<T: Copy + Default> Default for Ear<T> {
    fn default() -> Self {
        Self { misses: Misses::default(), holds: false }
    }
}

impl<T: Copy + Default> Ear<T> {
    /// How many misses of the cycle pass, kept or not.
    pub(super) fn passing(&self, registers: &Registers, configuration: u64, selected: u16) -> u16 {
        if self.misses.present & selected == 0 || !registers.enables(configuration) {
            return 0;
        }
        self.misses.count(selected)
    }

    /// What is captured, given that some pass.
    pub(super) fn capture(&mut self, selected: u16, replacement: EarReplacement) -> Option<T> {
        if replacement == EarReplacement::First && self.holds {
            return None;
        }
        self.holds = true;
        self.misses.kept(selected, replacement)
    }

    /// Software unfreezes.
    pub(super) fn unfreeze(&mut self) {
        self.holds = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a cache miss of this latency passes this unit mask.
    fn passes(selected: u16, latency: u32, threshold: LatencyThreshold) -> bool {
        Class::of_latency(latency, threshold).is_some_and(|class| selected & 1 << class.0 != 0)
    }

    /// ITA-EAR-002 to 004, 010, 011, A-10: around every threshold.
    #[test]
    fn latencies_pass_from_their_threshold_on() {
        let clocks = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
        let shifted = [4, 8, 16, 32, 64, 128, 256, u32::MAX, 512, 1024, 2048];
        for umask in 0..16_usize {
            let pmc = (umask as u64) << 16;
            let code = selected_by_instruction_ear(pmc);
            let data = selected_by_data_ear(pmc, DataEarThresholds::Regular);
            let other = selected_by_data_ear(pmc, DataEarThresholds::Shifted);
            for near in clocks {
                for latency in [near - 1, near, near + 1, 0, 1, 9000, u32::MAX - 1] {
                    let at_least = LatencyThreshold::AtLeast;
                    let expected = clocks.get(umask).is_some_and(|limit| latency >= *limit);
                    assert_eq!(passes(code, latency, at_least), expected, "{umask} {latency}");
                    assert_eq!(passes(data, latency, at_least), expected, "{umask} {latency}");
                    let exceeds = clocks.get(umask).is_some_and(|limit| latency > *limit);
                    assert_eq!(passes(code, latency, LatencyThreshold::Exceeds), exceeds);
                    let expected = shifted.get(umask).is_some_and(|limit| latency >= *limit);
                    assert_eq!(passes(other, latency, at_least), expected, "{umask} {latency}");
                }
            }
        }
    }

    #[test]
    fn unit_masks_select_who_resolved_a_tlb_miss() {
        use InstructionTlbResolution::{Software, Vhpt};
        for umask in 0..16_u64 {
            let pmc = umask << 16 | 0x80;
            let code = selected_by_instruction_ear(pmc);
            for (resolution, bit) in [(Vhpt, 4), (Software, 8)] {
                let class = Class::of_instruction_tlb(resolution);
                assert_eq!(code & 1 << class.0 != 0, umask & bit != 0);
            }
            let data = selected_by_data_ear(pmc, DataEarThresholds::Regular);
            for (level, bit) in [(DataTlbLevel::L2, 2), (DataTlbLevel::Vhpt, 4), (DataTlbLevel::Software, 8)]
            {
                let class = Class::of_data_tlb(level).unwrap();
                assert_eq!(data & 1 << class.0 != 0, umask & bit != 0);
            }
            assert_eq!((code | data) & ((1 << THRESHOLDS) - 1), 0);
        }
        assert_eq!(Class::of_data_tlb(DataTlbLevel::None), None);
    }

    #[test]
    fn the_last_and_the_first_are_distinguished_across_classes() {
        let mut misses = Misses::default();
        for (name, latency) in [(1, 600), (2, 5), (3, 70), (4, 9)] {
            misses.add(Class::of_latency(latency, LatencyThreshold::AtLeast).unwrap(), name);
        }
        let above = |umask: u64| selected_by_instruction_ear(umask << 16);
        for (umask, count, first, last) in [(0, 4, 1, 4), (1, 3, 1, 4), (2, 2, 1, 3), (5, 1, 1, 1)] {
            assert_eq!(misses.count(above(umask)), count);
            assert_eq!(misses.kept(above(umask), EarReplacement::First), Some(first));
            assert_eq!(misses.kept(above(umask), EarReplacement::Last), Some(last));
        }
        assert_eq!(misses.kept(above(8), EarReplacement::Last), None);
        misses.clear();
        assert_eq!((misses.count(above(0)), misses.kept(above(0), EarReplacement::First)), (0, None));
    }
}
