//! What must be known beforehand: the trace unit, what the log can show, and how the text is read.

use crate::arm_ete::Version;

/// What a checker and a model must know beforehand.
///
/// The numbers of resources are those of TRCIDR0 to TRCIDR5, so that a unit's ID registers give them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameters {
    /// Version of the architecture: ETE, or ETMv4, which has a memory-mapped interface, TRCOSLAR and TRCPDCR.PU.
    pub version: Version,
    /// FEAT_TRBE: there is a trace buffer unit. Default: true.
    pub trace_buffer: bool,
    /// FEAT_TRBE_EXT: the trace buffer unit can be used while self-hosted trace is disabled. Default: false.
    pub trace_buffer_external: bool,
    /// FEAT_RME: MDCR_EL3.ETADE exists. Default: false.
    pub realms: bool,
    /// Self-hosted trace is enabled. Default: true.
    pub self_hosted: bool,
    /// `ExternalInvasiveDebugEnabled()`. Default: true.
    pub invasive_debug: bool,
    /// Number of IMPLEMENTATION DEFINED trace output interfaces, 0 to 15. Default: 1.
    pub interfaces: u8,
    /// Interface 0 is an ATB. Default: true.
    pub atb: bool,
    /// TRCIDR5.OE: TRCEVENTCTL1R.OE is implemented. Default: true.
    pub output_enable: bool,
    /// TRCIDR5.TRACEIDSIZE is 7. Default: true.
    pub trace_id: bool,
    /// TRCIDR0.NUMEVENT + 1, 1 to 4. Default: 4.
    pub events: u8,
    /// TRCIDR0.QFILT: TRCQCTLR exists. Default: false.
    pub q_filter: bool,
    /// TRCIDR0.ITE: TRCITEEDCR exists. Default: false.
    pub instrumentation: bool,
    /// TRCIDR3.SYNCPR: TRCSYNCPR is read-only. Default: false.
    pub fixed_sync_period: bool,
    /// TRCIDR3.STALLCTL: TRCSTALLCTLR exists. Default: true.
    pub stall_control: bool,
    /// TRCIDR3.SYSSTALL. Default: true.
    pub system_stall: bool,
    /// TRCIDR3.NOOVERFLOW: TRCSTALLCTLR.NOOVERFLOW is implemented. Default: true.
    pub no_overflow: bool,
    /// TRCIDR4.NUMACPAIRS, 0 to 8. Default: 4.
    pub address_pairs: u8,
    /// TRCIDR4.NUMPC, 0 to 8. Default: 0.
    pub pe_comparators: u8,
    /// Number of pairs of resource selectors, that of selectors 0 and 1 included: TRCIDR4.NUMRSPAIR + 1, or 0. Default:
    /// 8.
    pub resource_pairs: u8,
    /// TRCIDR4.NUMSSCC, 0 to 8. Default: 1.
    pub single_shot: u8,
    /// TRCIDR4.NUMCIDC, 0 to 8. Default: 1.
    pub context_ids: u8,
    /// TRCIDR4.NUMVMIDC, 0 to 8. Default: 1.
    pub vmids: u8,
    /// TRCIDR5.NUMEXTINSEL, 0 to 4. Default: 4.
    pub external_inputs: u8,
    /// TRCIDR5.NUMSEQSTATE is 4. Default: true.
    pub sequencer: bool,
    /// TRCIDR5.NUMCNTR, 0 to 4. Default: 2.
    pub counters: u8,
    /// Number of claim tags, 0 to 32: TRCCLAIMSET reads as so many ones from bit 0. Default: 4.
    pub claim_tags: u8,
    /// What is finite by the text takes no more time than this, in the unit of `wait` records; absent = no bound.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub bound: Option<u64>,
    /// What the log shows from its first record on.
    pub shown: Shown,
    /// Errata of the unit.
    pub errata: Errata,
    /// How a checker reads what the text leaves open.
    pub interpretation: Interpretation,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            version: Version::default(),
            trace_buffer: true,
            trace_buffer_external: false,
            realms: false,
            self_hosted: true,
            invasive_debug: true,
            interfaces: 1,
            atb: true,
            output_enable: true,
            trace_id: true,
            events: 4,
            q_filter: false,
            instrumentation: false,
            fixed_sync_period: false,
            stall_control: true,
            system_stall: true,
            no_overflow: true,
            address_pairs: 4,
            pe_comparators: 0,
            resource_pairs: 8,
            single_shot: 1,
            context_ids: 1,
            vmids: 1,
            external_inputs: 4,
            sequencer: true,
            counters: 2,
            claim_tags: 4,
            bound: None,
            shown: Shown::default(),
            errata: Errata::default(),
            interpretation: Interpretation::default(),
        }
    }
}

impl Parameters {
    /// The parameters as a whole are those of no trace unit: a number is out of range (its name), or `output_enable` is
    /// off although ETE 1.3 with an interface has it (ETE-HBBDV-001), or `atb` is on without an interface or without
    /// `trace_id` (ETE-RWPFG-002). A model and a checker refuse them.
    #[must_use]
    pub fn contradiction(&self) -> Option<&'static str> {
        let ranges = [
            ("interfaces", self.interfaces, 0, 15),
            ("events", self.events, 1, 4),
            ("address_pairs", self.address_pairs, 0, 8),
            ("pe_comparators", self.pe_comparators, 0, 8),
            ("resource_pairs", self.resource_pairs, 0, 16),
            ("single_shot", self.single_shot, 0, 8),
            ("context_ids", self.context_ids, 0, 8),
            ("vmids", self.vmids, 0, 8),
            ("external_inputs", self.external_inputs, 0, 4),
            ("counters", self.counters, 0, 4),
            ("claim_tags", self.claim_tags, 0, 32),
        ];
        let outside = ranges.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value));
        let mandatory = self.version >= Version::Ete1_3 && self.interfaces > 0;
        match outside {
            Some((name, ..)) => Some(name),
            None if mandatory && !self.output_enable => Some("output_enable"),
            None if self.atb && self.interfaces > 0 && !self.trace_id => Some("trace_id"),
            None => None,
        }
    }
}

/// What the log shows. What it does not show is not held against software or the unit: each finding that would need it
/// is left out ([`Rule`](super::Rule) states for each what it needs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// Every barrier, exception and return. Where they are not shown, any number of them may be between two records.
    /// Default: true.
    pub barriers: bool,
    /// Every access by System instructions, and every write of OSLAR_EL1, TRFCR_ELx and TRBLIMITR_EL1. Default: true.
    pub system: bool,
    /// Every access by the external debug interface or by memory. Default: true.
    pub external: bool,
    /// Every change of the programming state, as `st` records. Default: false.
    pub states: bool,
    /// Every occurrence of an ETEEvent, as `ev` records. Default: false.
    pub events: bool,
}

impl Default for Shown {
    fn default() -> Self {
        Self { barriers: true, system: true, external: true, states: false, events: false }
    }
}

/// Errata that make rules void. All are off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Errata {
    /// 2054223, 2067961: one TSB CSYNC in a prohibited region may not flush; two TSB records without one of another
    /// kind between them count as one TSB CSYNC, a single one as none.
    pub tsb_may_not_flush: bool,
    /// 2064142: after TRBLIMITR_EL1.E is cleared, writes of it are ignored until a TSB CSYNC and a DSB: `tb` records
    /// before both leave the trace buffer unit in an unknown state.
    pub trace_buffer_ignores_writes: bool,
    /// 2038923: after a change of TRBLIMITR_EL1.E one context synchronisation event is not enough: it takes effect at
    /// the second one.
    pub trace_buffer_needs_two_events: bool,
    /// 853172, 852071: a flush is acknowledged before all data is out (ETMv4): nothing follows from an acknowledgement.
    pub early_flush_acknowledge: bool,
}

/// How a checker reads what the text leaves open. Each field is a reading ([`READINGS`](super::READINGS)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interpretation {
    /// Arm's example of a context switch reads no TRCSTATR between EN = 0 and other registers; it is accepted with a
    /// note. Default: true.
    pub accept_context_switch: bool,
    /// With OE = 1 and the interfaces disabled by their own mechanism, bytes there are a contradiction. Default: false.
    pub disabled_interfaces_are_silent: bool,
}

impl Default for Interpretation {
    fn default() -> Self {
        Self { accept_context_switch: true, disabled_interfaces_are_silent: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_a_trace_unit() {
        assert_eq!(Parameters::default().contradiction(), None);
    }

    #[test]
    fn what_is_no_trace_unit_is_named() {
        let default = Parameters::default;
        for (parameters, name) in [
            (Parameters { interfaces: 16, ..default() }, "interfaces"),
            (Parameters { events: 0, ..default() }, "events"),
            (Parameters { claim_tags: 33, ..default() }, "claim_tags"),
            (Parameters { output_enable: false, ..default() }, "output_enable"),
            (Parameters { trace_id: false, ..default() }, "trace_id"),
        ] {
            assert_eq!(parameters.contradiction(), Some(name));
        }
        let older = Parameters { version: Version::Ete1_2, output_enable: false, ..default() };
        assert_eq!(older.contradiction(), None);
        let private = Parameters { interfaces: 0, output_enable: false, trace_id: false, ..default() };
        assert_eq!(private.contradiction(), None);
    }
}
