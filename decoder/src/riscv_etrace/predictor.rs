//! The branch predictor of branch prediction mode (ET 3.2.6).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::Parameters;

/// One entry: bit 1 predicts taken, bit 0 is the latest outcome.
type Entry = u8;

/// Spec: RVET-ENC-062 (ET 3.2.6).
const INITIAL: Entry = 0b01;

/// `2^bpred_size_p` two-bit predictors by branch address. Spec: RVET-ENC-060, RVET-DEC-038 (ET 3.2.6).
#[derive(Clone, Debug, Default)]
pub(super) struct Predictor {
    entries: Vec<Entry>,
    shift: u32,
    used: bool,
}

impl Predictor {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let size = if parameters.bpred_size_p == 0 { 0 } else { 1 << parameters.bpred_size_p };
        Self { entries: alloc::vec![INITIAL; size], shift: u32::from(parameters.iaddress_lsb_p), used: false }
    }

    /// Every synchronisation does this. Spec: RVET-DEC-039 (ET 3.2.6).
    pub(super) fn reset(&mut self) {
        if core::mem::take(&mut self.used) {
            self.entries.fill(INITIAL);
        }
    }

    /// Whether the branch at `address` is predicted to be taken.
    pub(super) fn predict(&self, address: u64) -> bool {
        self.entries.get(self.index(address)).is_some_and(|entry| entry & 0b10 != 0)
    }

    /// Learns what the branch at `address` did. Spec: RVET-ENC-061 (ET 3.2.6).
    pub(super) fn learn(&mut self, address: u64, taken: bool) {
        let index = self.index(address);
        if let Some(entry) = self.entries.get_mut(index) {
            let outcome = Entry::from(taken);
            // The prediction follows the outcome only where it was wrong the last time too.
            let prediction = if *entry >> 1 == *entry & 1 { *entry >> 1 } else { outcome };
            *entry = prediction << 1 | outcome;
            self.used = true;
        }
    }

    /// For people: the entries that have learnt something.
    pub(super) fn shown(&self) -> impl Iterator<Item = String> {
        let learnt = self.entries.iter().enumerate().filter(|(_, entry)| **entry != INITIAL);
        learnt.map(|(index, entry)| format!("{index}: {entry:02b}"))
    }

    fn index(&self, address: u64) -> usize {
        (address >> self.shift) as usize & self.entries.len().wrapping_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of ET 3.2.6.
    #[test]
    fn transitions() {
        let mut predictor =
            Predictor::new(&Parameters { bpred_size_p: 1, f0s_width_p: 1, ..Parameters::default() });
        for (state, taken, next) in [
            (0b00, false, 0b00),
            (0b00, true, 0b01),
            (0b01, false, 0b00),
            (0b01, true, 0b11),
            (0b11, false, 0b10),
            (0b11, true, 0b11),
            (0b10, false, 0b00),
            (0b10, true, 0b11),
        ] {
            predictor.entries = alloc::vec![state, INITIAL];
            assert_eq!(predictor.predict(0x1000), state >= 0b10);
            predictor.learn(0x1000, taken);
            assert_eq!(predictor.entries, [next, INITIAL], "{state:#b} {taken}");
        }
        predictor.learn(0x1002, true);
        predictor.reset();
        assert_eq!(predictor.entries, [INITIAL; 2]);
    }
}
