//! Branch outcomes that wait to be reported (ET 3.2.6, 7.7, 7.8).

use super::predictor::Predictor;

/// Outcomes that fit a branch map.
pub(super) const MAP_SIZE: u64 = 31;

/// The outcomes of the branches since the latest report.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    /// Outcomes, all of them.
    pub(super) count: u64,
    /// The first 31, oldest in bit 0, 0 = taken. Spec: RVET-PKT-033 (ET 7.7).
    pub(super) map: u32,
    /// Outcomes that were predicted (`pbc`); 0 without prediction.
    predicted: u64,
    /// The latest outcome was not predicted.
    missed: bool,
    pub(super) predictor: Option<Predictor>,
}

impl Branches {
    /// `predictor` is there exactly while branch prediction is on.
    pub(super) const fn new(predictor: Option<Predictor>) -> Self {
        Self { count: 0, map: 0, predicted: 0, missed: false, predictor }
    }

    /// A branch retires. Spec: RVET-ENC-028 (ET 7.7).
    pub(super) fn record(&mut self, address: u64, taken: bool) {
        if self.count < MAP_SIZE {
            self.map |= u32::from(!taken) << self.count;
        }
        self.count += 1;
        if let Some(predictor) = &mut self.predictor {
            self.missed = !predictor.update(address, taken);
            self.predicted += u64::from(!self.missed);
        }
    }

    /// Whether any outcome waits.
    pub(super) const fn any(&self) -> bool {
        self.count > 0
    }

    /// How many outcomes wait; at most 31 unless all of them were predicted.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// The outcomes as a branch map.
    pub(super) const fn map(&self) -> u32 {
        self.map
    }

    /// `branch_count` if the outcomes can travel as a count. Spec: RVET-PKT-039 (ET 7.8).
    pub(super) fn excess(&self) -> Option<u32> {
        self.predicted.checked_sub(MAP_SIZE).map(|excess| u32::try_from(excess).unwrap_or(u32::MAX))
    }

    /// Whether the latest outcome is one that was not predicted.
    pub(super) const fn missed(&self) -> bool {
        self.missed
    }

    /// The outcomes must be reported now: a full map that is no count, or a count that ends with a failure.
    ///
    /// Spec: RVET-ENC-029 (ET 7.7.2), RVET-ENC-063, RVET-ENC-064 (ET 7.8, 9.1).
    pub(super) const fn full(&self) -> bool {
        if self.predicted < MAP_SIZE { self.count >= MAP_SIZE } else { self.missed }
    }

    /// The count cannot grow. Spec: RVET-ENC-067 (ET 7.8).
    pub(super) fn count_full(&self) -> bool {
        !self.missed && self.excess() == Some(u32::MAX)
    }

    /// The outcomes have been reported. Spec: RVET-ENC-037 (ET 9).
    pub(super) const fn clear(&mut self) {
        self.count = 0;
        self.map = 0;
        self.predicted = 0;
        self.missed = false;
    }

    /// A synchronisation packet reports an instruction, with its outcome if it is a branch.
    ///
    /// Spec: RVET-ENC-062, RVET-ENC-082 (ET 3.2.6): unless the predictor `keeps` what it knows, it forgets first, then
    /// learns that outcome.
    pub(super) fn synchronised(&mut self, own: Option<(u64, bool)>, keeps: bool) {
        self.clear();
        // What it keeps includes that outcome, which has been recorded.
        if let Some(predictor) = self.predictor.as_mut().filter(|_| !keeps) {
            predictor.reset();
            if let Some((address, taken)) = own {
                predictor.update(address, taken);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::riscv_etrace::Parameters;

    /// RVET-ENC-067: 0xffff_ffff + 31 right predictions are the most that travel.
    #[test]
    fn the_count_has_32_bits() {
        let predictor = Predictor::new(&Parameters { bpred_size_p: 1, ..Parameters::default() });
        let mut branches = Branches::new(Some(predictor));
        let most = u64::from(u32::MAX) + MAP_SIZE;
        branches.count = most - 1;
        branches.predicted = most - 1;
        assert_eq!((branches.excess(), branches.count_full()), (Some(u32::MAX - 1), false));
        // An untouched entry predicts "not taken".
        branches.record(0x1000, false);
        assert_eq!(
            (branches.excess(), branches.count_full(), branches.full()),
            (Some(u32::MAX), true, false)
        );
    }

    /// RVET5-ENC-015 and its other reading: an entry that has learnt "taken", before and after a synchronisation packet.
    #[test]
    fn the_predictor_forgets_unless_it_keeps() {
        for (keeps, missed) in [(false, true), (true, false)] {
            let predictor = Predictor::new(&Parameters { bpred_size_p: 1, ..Parameters::default() });
            let mut branches = Branches::new(Some(predictor));
            branches.record(0x1000, true);
            branches.record(0x1000, true);
            assert!(!branches.missed(), "learnt");
            branches.synchronised(None, keeps);
            assert!(!branches.any(), "nothing waits after it");
            branches.record(0x1000, true);
            assert_eq!(branches.missed(), missed, "keeps: {keeps}");
        }
    }

    /// RVET-ENC-061: the outcome that a synchronisation packet carries is learnt once. An entry at 00 goes to 01 with it,
    /// and a fresh one to 11.
    #[test]
    fn the_own_outcome_of_a_synchronisation_packet_counts_once() {
        for (keeps, missed) in [(false, false), (true, true)] {
            let predictor = Predictor::new(&Parameters { bpred_size_p: 1, ..Parameters::default() });
            let mut branches = Branches::new(Some(predictor));
            branches.record(0x1000, false);
            branches.record(0x1000, true);
            branches.synchronised(Some((0x1000, true)), keeps);
            branches.record(0x1000, true);
            assert_eq!(branches.missed(), missed, "keeps: {keeps}");
        }
    }
}
