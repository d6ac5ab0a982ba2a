//! The jump target cache (ET 3.2.7).

use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::Parameters;

/// Targets of uninferable discontinuities, direct mapped by target address. Spec: RVET-ENC-068 (ET 3.2.7).
#[derive(Clone, Debug)]
pub(super) struct TargetCache {
    entries: Vec<Option<u64>>,
    shift: u32,
    /// An entry is valid.
    filled: bool,
}

impl TargetCache {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            entries: vec![None; 1 << parameters.cache_size_p.min(15)],
            shift: parameters.iaddress_lsb_p.into(),
            filled: false,
        }
    }

    /// The index of `target`; on a miss the target takes its entry. Spec: RVET-ENC-069 (ET 3.2.7).
    pub(super) fn find_or_store(&mut self, target: u64) -> Option<u32> {
        let index = (target >> self.shift) as usize & (self.entries.len() - 1);
        let entry = self.entries.get_mut(index)?;
        if *entry == Some(target) {
            return u32::try_from(index).ok();
        }
        *entry = Some(target);
        self.filled = true;
        None
    }

    /// Forgets everything. Spec: RVET-ENC-071 (ET 3.2.7).
    pub(super) fn invalidate(&mut self) {
        if self.filled {
            self.entries.fill(None);
            self.filled = false;
        }
    }
}
