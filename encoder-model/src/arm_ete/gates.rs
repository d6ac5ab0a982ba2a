//! What keeps a trace unit from tracing (sheet 4.2, 4.7).

use traceproof_vectors::arm_ete::Signal;

/// What the stimulus says of it, and the buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gates {
    pub(super) enabled: bool,
    /// `ViewInst`.
    pub(super) view: bool,
    pub(super) prohibited: bool,
    pub(super) debug: bool,
    /// The stimulus says that the buffer is full.
    pub(super) overflow: bool,
    /// The buffer of the model is full.
    pub(super) full: bool,
}

impl Gates {
    pub(super) const fn overflows(self) -> bool {
        self.overflow || self.full
    }

    /// Spec: ETE-ZVNKV-001.
    pub(super) const fn operative(self) -> bool {
        self.enabled && !self.overflows()
    }

    /// P0 instructions and exceptions are traced.
    pub(super) const fn active(self) -> bool {
        self.operative() && self.view && !self.prohibited && !self.debug
    }

    /// What a signal changes, but for the entry to Debug state.
    pub(super) const fn pass(&mut self, signal: &Signal) {
        match *signal {
            Signal::Enable(_) => {
                let Self { overflow, full, .. } = *self;
                *self = Self { enabled: true, view: true, prohibited: false, debug: false, overflow, full };
            }
            Signal::Disable => self.enabled = false,
            Signal::ViewInst(active) => self.view = active,
            Signal::ProhibitedEntry => self.prohibited = true,
            Signal::ProhibitedExit(_) => self.prohibited = false,
            Signal::DebugExit(_) => self.debug = false,
            Signal::Overflow(full) => self.overflow = full,
            _ => {}
        }
    }
}
