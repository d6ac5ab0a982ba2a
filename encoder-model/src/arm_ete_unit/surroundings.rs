//! The processor and its power, as far as the unit depends on them.

use traceproof_vectors::arm_ete_unit::{Parameters, Power, Space};

#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) power: Power,
    pub(super) debug_state: bool,
    /// A prohibited region for another reason than TRFCR_ELx.
    pub(super) region_prohibited: bool,
    /// By TRFCR_ELx, in effect.
    pub(super) filter_prohibits: bool,
    /// A write of TRFCR_ELx waits for a context synchronisation event.
    pub(super) pending_filter: Option<bool>,
    /// A TSB CSYNC has completed in this prohibited region.
    pub(super) trace_synchronised: bool,
    pub(super) low_power: bool,
    pub(super) at_el0: bool,
    /// MDCR_EL3.{ETADE, ETAD}.
    pub(super) etad: u8,
    /// ViewInst, without Debug state.
    pub(super) view_inst: bool,
    /// TRCPDSR.STICKYPD.
    pub(super) sticky_power_down: bool,
}

impl Surroundings {
    /// After a power-up, above EL0, outside of prohibited regions.
    pub(super) const fn new() -> Self {
        Self {
            power: Power::On,
            debug_state: false,
            region_prohibited: false,
            filter_prohibits: false,
            pending_filter: None,
            trace_synchronised: false,
            low_power: false,
            at_el0: false,
            etad: 0,
            view_inst: true,
            sticky_power_down: true,
        }
    }

    pub(super) fn is_powered(&self) -> bool {
        self.power == Power::On
    }

    pub(super) const fn is_prohibited(&self) -> bool {
        self.region_prohibited || self.filter_prohibits
    }

    /// Spec: ETE-YMJFJ-001.
    pub(super) const fn view_inst_active(&self) -> bool {
        self.view_inst && !self.debug_state
    }

    /// A write of TRFCR_ELx takes effect.
    pub(super) fn synchronise(&mut self) {
        if let Some(prohibited) = self.pending_filter.take() {
            self.filter_prohibits = prohibited;
        }
        self.trace_synchronised &= self.is_prohibited();
    }

    /// A Warm or Cold reset: TRFCR_ELx prohibits, and the processor is at its highest exception level.
    pub(super) const fn reset(&mut self) {
        self.filter_prohibits = true;
        self.pending_filter = None;
        self.at_el0 = false;
    }

    /// `AllowExternalTraceAccess`. An access without a space counts as Non-secure.
    ///
    /// Spec: ETE-ACC-006.
    pub(super) fn allows(&self, space: Option<Space>, parameters: &Parameters) -> bool {
        let space = space.unwrap_or(Space::NonSecure);
        match self.etad {
            _ if !parameters.trace_buffer => true,
            0 if parameters.realms => true,
            1 if parameters.realms => matches!(space, Space::Root | Space::Secure),
            2 if parameters.realms => matches!(space, Space::Root | Space::Realm),
            _ if parameters.realms => space == Space::Root,
            etad => space == Space::Secure || space == Space::NonSecure && etad & 1 == 0,
        }
    }
}
