//! The programming states: what moves the unit from one to another.

use alloc::vec::Vec;

use traceproof_vectors::arm_ete_unit::{
    DisabledWhileEnabling, EnableChange, EnabledWhileDisabling, Policy, ProgrammingState,
};

/// State, EN and OS Lock as they are in effect, and direct writes that are not yet.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) state: ProgrammingState,
    /// TRCPRGCTLR.EN.
    pub(super) enable: bool,
    pub(super) locked: bool,
    /// Direct writes that wait for a context synchronisation event. Of two of one register the second counts
    /// (ETE-SYN-002).
    pub(super) pending_enable: Option<bool>,
    pub(super) pending_lock: Option<bool>,
    /// The states that this step has passed through.
    pub(super) passed: Vec<ProgrammingState>,
}

impl Machine {
    /// Idle with EN = 0 and the OS Lock unlocked.
    pub(super) const fn new() -> Self {
        Self {
            state: ProgrammingState::Idle,
            enable: false,
            locked: false,
            pending_enable: None,
            pending_lock: None,
            passed: Vec::new(),
        }
    }

    /// Spec: ETE-VBMLV-001, ETE-TMLTF-001.
    pub(super) const fn wanted(&self) -> bool {
        self.enable && !self.locked
    }

    fn go(&mut self, state: ProgrammingState) {
        if self.state != state {
            self.state = state;
            self.passed.push(state);
        }
    }

    /// What is pending takes effect, all of it together.
    pub(super) fn synchronise(&mut self, policy: &Policy, drained: bool) {
        let (enable, lock) = (self.pending_enable.take(), self.pending_lock.take());
        if enable.is_some() || lock.is_some() {
            self.write(enable, lock, policy, drained);
        }
    }

    /// EN and the OS Lock get values, now. `drained`: the buffers are empty.
    ///
    /// Spec: ETE-DXFFN-001, ETE-DXFFN-002, ETE-TZSRP-001, ETE-TZSRP-002, ETE-MDZDN-001 to ETE-MDZDN-003.
    pub(super) fn write(&mut self, enable: Option<bool>, lock: Option<bool>, policy: &Policy, drained: bool) {
        use ProgrammingState::{Enabling, Idle, Running, Stable, Unstable};
        let before = (self.enable, self.locked);
        if let Some(enable) = enable.filter(|enable| *enable != self.enable) {
            self.enable = match (self.state, policy.enable_change) {
                (Idle | Running, _) => enable,
                (_, EnableChange::Ignored) => self.enable,
                (_, EnableChange::Zero) => false,
                (_, EnableChange::One) => true,
            };
        }
        self.locked = lock.unwrap_or(self.locked);
        if before == (self.enable, self.locked) {
            return;
        }
        match (self.state, self.wanted()) {
            (Idle, true) => self.go(Enabling),
            (Running, false) => self.go(Unstable),
            (Enabling, false) => match policy.disabled_while_enabling {
                DisabledWhileEnabling::AfterRunning => {}
                // Idle is drained (ETE-SES-001): what the buffers hold has to leave first.
                DisabledWhileEnabling::Idle if drained => self.go(Idle),
                DisabledWhileEnabling::Unstable | DisabledWhileEnabling::Idle => self.go(Unstable),
            },
            (Unstable | Stable, true) => match policy.enabled_while_disabling {
                EnabledWhileDisabling::AfterIdle => {}
                EnabledWhileDisabling::AtOnce => self.go(Enabling),
            },
            _ => {}
        }
    }

    /// One step of inner progress; whether there was one. What has changed while it could not take effect takes effect
    /// in the state that is reached.
    ///
    /// Spec: ETE-ZFPHC-001, ETE-CZHWF-001, ETE-TRZCP-001.
    pub(super) fn progress(&mut self, drained: bool) -> bool {
        use ProgrammingState::{Enabling, Idle, Running, Stable, Unstable};
        match self.state {
            Enabling => {
                self.go(Running);
                if !self.wanted() {
                    self.go(Unstable);
                }
            }
            Unstable => self.go(Stable),
            Stable if drained => {
                self.go(Idle);
                if self.wanted() {
                    self.go(Enabling);
                }
            }
            Idle | Running | Stable => return false,
        }
        true
    }

    /// A trace unit reset: Idle with EN = 0. The OS Lock is none of its own; a pending write of it has taken effect.
    ///
    /// Spec: ETE-PCXJC-001, ETE-ST-005.
    pub(super) fn reset(&mut self) {
        self.pending_enable = None;
        self.locked = self.pending_lock.take().unwrap_or(self.locked);
        self.enable = false;
        self.go(ProgrammingState::Idle);
    }
}
