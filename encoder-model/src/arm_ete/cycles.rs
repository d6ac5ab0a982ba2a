//! Cycle counts (sheet 5.9, 7.9).

use traceproof_vectors::arm_ete::{Packet, Parameters, Policy};

use super::field::{longest, padded};

/// The cycle counter of the trace unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct CycleCounter {
    enabled: bool,
    /// Cycles since the commit of the latest count.
    count: u64,
    /// The most that can be counted.
    most: u64,
    threshold: u16,
    /// There was a count since tracing was enabled or overflowed.
    known: bool,
}

impl CycleCounter {
    pub(super) const fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            enabled: parameters.cycle_counting,
            count: 0,
            most: (1 << parameters.cycle_count_bits) - 1,
            threshold: policy.cycle_threshold,
            known: false,
        }
    }

    pub(super) fn pass(&mut self, cycles: u32) {
        self.count = self.count.saturating_add(cycles.into());
    }

    /// The first count after it is UNKNOWN. Spec: ETE-YFMWB-001, ETE-HQKWH-001.
    pub(super) const fn restart(&mut self) {
        self.count = 0;
        self.known = false;
    }

    /// Spec: ETE-GWQGS-001.
    pub(super) fn is_due(&self) -> bool {
        self.enabled && self.count >= self.threshold.into()
    }

    /// The count of a commit, which begins anew with it; `None` = UNKNOWN.
    ///
    /// Spec: ETE-BMVKB-001, ETE-YVWJW-001, ETE-YFMWB-001, ETE-HQKWH-001.
    pub(super) fn take(&mut self) -> Option<u32> {
        let count = self.value();
        self.count = 0;
        self.known = true;
        count
    }

    /// Cycles since the latest count. Spec: ETE-ZMQLT-001, ETE-JNSWW-001.
    pub(super) fn value(&self) -> Option<u32> {
        let known = self.enabled && self.known && self.count <= self.most;
        known.then_some(self.count as u32)
    }
}

/// The packet of a cycle count with a commit; with COMMOPT = 1 the commit has a packet of its own and is 0 here.
///
/// Spec: ETE-PKT-CC1-001, ETE-PKT-CC2-001, ETE-PKT-CC2-002, ETE-PKT-CC3-001, ETE-PKT-CC4-001, ETE-ENC-CC-001.
pub(super) fn packet(commit: u32, count: Option<u32>, parameters: &Parameters, policy: &Policy) -> Packet {
    // What is counted reaches the threshold.
    let above = count.map(|count| count.saturating_sub(policy.cycle_threshold.into()));
    let short =
        above.filter(|_| policy.short_cycle_counts).and_then(|above| short(commit, above, parameters));
    short.unwrap_or_else(|| Packet::CycleCount1 {
        commit: (!parameters.commopt).then(|| padded(commit.into(), longest::WORD, policy)),
        count: above.map(|above| padded(above.into(), longest::CYCLES, policy)),
    })
}

/// Formats 3 and 2, if they can say it.
fn short(commit: u32, above: u32, parameters: &Parameters) -> Option<Packet> {
    let count = u8::try_from(above).ok().filter(|count| *count <= 15)?;
    if parameters.commopt {
        return Some(match count {
            0..=3 => Packet::CycleCount3 { commit: 0, count },
            // What the units that are known send as AAAA.
            _ => Packet::CycleCount2 { large: true, commit: 15, count },
        });
    }
    let less_one = commit.checked_sub(1)?;
    match less_one {
        0..=3 if count <= 3 => Some(Packet::CycleCount3 { commit: less_one as u8, count }),
        0..=15 => Some(Packet::CycleCount2 { large: false, commit: less_one as u8, count }),
        _ => {
            let missing = parameters.maxspec.checked_sub(commit).filter(|missing| *missing <= 15)?;
            Some(Packet::CycleCount2 { large: true, commit: 15 - missing as u8, count })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::shortest;
    use super::*;
    use traceproof_vectors::arm_ete::VariableField;

    fn sent(commit: u32, count: Option<u32>, parameters: &Parameters) -> Packet {
        let policy = Policy { cycle_threshold: 0x10, ..Policy::default() };
        packet(commit, count, parameters, &policy)
    }

    /// Rows 22 to 30 of 10.1, D-06, D-08.
    #[test]
    fn the_shortest_format_that_fits() {
        let c0 = Parameters { commopt: false, maxspec: 78, ..Parameters::default() };
        let c1 = Parameters::default();
        let full = |commit: Option<u64>, count: Option<u64>| {
            let field = |bits| shortest(bits, longest::WORD);
            Packet::CycleCount1 { commit: commit.map(field), count: count.map(field) }
        };
        let large = |large, commit, count| Packet::CycleCount2 { large, commit, count };
        for (commit, count, parameters, expected) in [
            (3, Some(0x13), &c0, Packet::CycleCount3 { commit: 2, count: 3 }),
            (4, Some(0x10), &c0, Packet::CycleCount3 { commit: 3, count: 0 }),
            (4, Some(0x1a), &c0, large(false, 3, 10)),
            (5, Some(0x10), &c0, large(false, 4, 0)),
            (16, Some(0x1f), &c0, large(false, 15, 15)),
            (17, Some(0x10), &c0, full(Some(17), Some(0))),
            (78, Some(0x13), &c0, large(true, 15, 3)),
            (63, Some(0x13), &c0, large(true, 0, 3)),
            (62, Some(0x13), &c0, full(Some(62), Some(3))),
            (133, Some(0x494), &c0, full(Some(133), Some(0x484))),
            (1, Some(0x20), &c0, full(Some(1), Some(0x10))),
            (0, Some(0x15), &c0, full(Some(0), Some(5))),
            (3, None, &c0, full(Some(3), None)),
            (0, Some(0x12), &c1, Packet::CycleCount3 { commit: 0, count: 2 }),
            (0, Some(0x14), &c1, large(true, 15, 4)),
            (0, Some(0x494), &c1, full(None, Some(0x484))),
            (0, None, &c1, full(None, None)),
        ] {
            assert_eq!(sent(commit, count, parameters), expected, "{commit} {count:?}");
        }
        let small = Parameters { maxspec: 4, ..c0 };
        assert_eq!(sent(16, Some(0x10), &small), large(false, 15, 0));
        let one = VariableField { bits: 1, bytes: 1 };
        let policy = Policy { short_cycle_counts: false, ..Policy::default() };
        assert_eq!(
            packet(1, Some(2), &small, &policy),
            Packet::CycleCount1 { commit: Some(one), count: Some(one) }
        );
    }
}
