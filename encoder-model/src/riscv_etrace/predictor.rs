//! The branch predictor (ET 3.2.6).

use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::Parameters;

/// State of an entry after reset: not taken is predicted, the latest outcome was taken.
const INITIAL: u8 = 0b01;

/// A table of two-bit entries: bit 1 is the prediction, bit 0 the latest outcome, 1 = taken.
///
/// Spec: RVET-ENC-060 (ET 3.2.6).
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    entries: Vec<u8>,
    shift: u32,
    /// An entry has been updated since the latest reset.
    touched: bool,
}

impl Predictor {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            entries: vec![INITIAL; 1 << parameters.bpred_size_p.min(15)],
            shift: parameters.iaddress_lsb_p.into(),
            touched: false,
        }
    }

    /// Learns an outcome; whether the prediction was right. Spec: RVET-ENC-061 (ET 3.2.6).
    pub(super) fn update(&mut self, address: u64, taken: bool) -> bool {
        let index = (address >> self.shift) as usize & (self.entries.len() - 1);
        let Some(entry) = self.entries.get_mut(index) else { return false };
        self.touched = true;
        let predicted = *entry & 0b10 != 0;
        *entry = match (*entry, taken) {
            (0b00, true) => 0b01,
            (0b11, false) => 0b10,
            (_, true) => 0b11,
            (_, false) => 0b00,
        };
        predicted == taken
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        if self.touched {
            self.entries.fill(INITIAL);
            self.touched = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of ET 3.2.6: state, next state if not taken, next state if taken.
    const TRANSITIONS: [(u8, u8, u8); 4] =
        [(0b00, 0b00, 0b01), (0b01, 0b00, 0b11), (0b11, 0b10, 0b11), (0b10, 0b00, 0b11)];

    #[test]
    fn entries_follow_the_table() {
        let mut predictor = Predictor::new(&Parameters { bpred_size_p: 4, ..Parameters::default() });
        for (state, not_taken, taken) in TRANSITIONS {
            for (outcome, next) in [(false, not_taken), (true, taken)] {
                predictor.entries[3] = state;
                assert_eq!(predictor.update(0x1026, outcome), (state & 0b10 != 0) == outcome);
                assert_eq!(predictor.entries[3], next, "{state:02b} {outcome}");
            }
        }
    }
}
