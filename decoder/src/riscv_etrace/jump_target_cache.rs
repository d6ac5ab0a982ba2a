//! The cache of jump target cache mode (ET 3.2.7).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::Parameters;

/// Direct-mapped, `2^cache_size_p` targets by target address. Spec: RVET-ENC-068, RVET-DEC-038 (ET 3.2.7).
#[derive(Clone, Debug, Default)]
pub(super) struct JumpTargetCache {
    entries: Vec<Option<u64>>,
    shift: u32,
    used: bool,
}

impl JumpTargetCache {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let size = if parameters.cache_size_p == 0 { 0 } else { 1 << parameters.cache_size_p };
        Self { entries: alloc::vec![None; size], shift: u32::from(parameters.iaddress_lsb_p), used: false }
    }

    /// Every synchronisation does this. Spec: RVET-DEC-039 (ET 3.2.7).
    pub(super) fn invalidate(&mut self) {
        if core::mem::take(&mut self.used) {
            self.entries.fill(None);
        }
    }

    /// The target that this entry holds since the latest synchronisation.
    pub(super) fn get(&self, index: u32) -> Option<u64> {
        *self.entries.get(usize::try_from(index).ok()?)?
    }

    /// For people: the entries in use.
    pub(super) fn shown(&self) -> impl Iterator<Item = String> {
        let entry =
            |(index, entry): (usize, &Option<u64>)| entry.map(|target| format!("{index}: {target:#x}"));
        self.entries.iter().enumerate().filter_map(entry)
    }

    /// The target of an uninferable discontinuity was reported. Spec: RVET-ENC-069 (ET 3.2.7).
    pub(super) fn store(&mut self, target: u64) {
        let index = (target >> self.shift) as usize & self.entries.len().wrapping_sub(1);
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = Some(target);
            self.used = true;
        }
    }
}
