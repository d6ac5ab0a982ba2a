//! Wrong checkers and models of the trace unit.

mod beliefs;
mod layers;

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Errata, Parameters, Policy};

use crate::family::{Saboteur, Saboteurs, Side};
use crate::saboteurs::decoders::parameters;
use crate::saboteurs::encoders::configuration;
use layers::believing;

/// The table, and what its rows are made of, without a bug.
pub(super) const SABOTEURS: Saboteurs<ArmEteUnit> =
    Saboteurs { table: TABLE, harmless: &[Side::Decoder(|| believing(Some))] };

const TABLE: &[Saboteur<ArmEteUnit>] = &[
    Saboteur {
        name: "direct-accesses-are-external",
        side: Side::Decoder(|| believing(beliefs::direct_accesses_are_external)),
        bug: "Accesses by System instructions take effect at once and need no synchronisation.",
        source: "ETE-SYN-004, ETE-KNQWS-001; a checker that was written for debug interfaces",
    },
    Saboteur {
        name: "dsb-synchronises",
        side: Side::Decoder(|| believing(beliefs::dsb_synchronises)),
        bug: "DSB is taken for a context synchronisation event.",
        source: "ETE-SYN-004; drivers have both side by side",
    },
    Saboteur {
        name: "returns-do-not-synchronise",
        side: Side::Decoder(|| believing(beliefs::returns_do_not_synchronise)),
        bug: "An exception return is no context synchronisation event.",
        source: "ETE-SYN-004; a search for ISB alone",
    },
    Saboteur {
        name: "entries-do-not-synchronise",
        side: Side::Decoder(|| believing(beliefs::entries_do_not_synchronise)),
        bug: "An exception entry is no context synchronisation event.",
        source: "ETE-SYN-004; a search for ISB alone",
    },
    Saboteur {
        name: "tsb-is-a-dsb",
        side: Side::Decoder(|| believing(beliefs::tsb_is_a_dsb)),
        bug: "TSB CSYNC is taken for DSB.",
        source: "ETE-FCBLJ-001, ETE-SYN-010; it is a hint to assemblers that do not know it",
    },
    Saboteur {
        name: "debug-state-does-not-synchronise",
        side: Side::Decoder(|| believing(beliefs::debug_state_does_not_synchronise)),
        bug: "Entry to and exit from Debug state are ignored.",
        source: "ETE-KNQWS-001; a list of barriers alone",
    },
    Saboteur {
        name: "os-lock-ignored",
        side: Side::Decoder(|| believing(beliefs::os_lock_ignored)),
        bug: "The OS Lock disables nothing.",
        source: "ETE-TMLTF-001; EN alone is looked at",
    },
    Saboteur {
        name: "debug-component-is-direct",
        side: Side::Decoder(|| believing(beliefs::debug_component_is_direct)),
        bug: "The OS Lock written by the debug component waits for a context synchronisation event.",
        source: "ETE-SYN-001; one path for both writers",
    },
    Saboteur {
        name: "os-lock-at-once",
        side: Side::Decoder(|| believing(beliefs::os_lock_at_once)),
        bug: "OSLAR_EL1 takes effect with its record.",
        source: "ETE-JQTMC-001; one path for both writers",
    },
    Saboteur {
        name: "pmstable-is-idle",
        side: Side::Decoder(|| believing(beliefs::pmstable_is_idle)),
        bug: "A poll for PMSTABLE = 1 proves IDLE = 1.",
        source: "ETE-WMGGP-003; a driver's message says Idle where it polls PMSTABLE",
    },
    Saboteur {
        name: "polls-never-time-out",
        side: Side::Decoder(|| believing(beliefs::polls_never_time_out)),
        bug: "A poll that timed out proves the value that it waited for.",
        source: "ETE-PRG-011; return codes that are not looked at",
    },
    Saboteur {
        name: "warm-reset-resets",
        side: Side::Decoder(|| believing(beliefs::warm_reset_resets)),
        bug: "A Warm reset is taken for a trace unit reset.",
        source: "ETE-YYHBF-001, ETE-ST-004",
    },
    Saboteur {
        name: "warm-reset-ignored",
        side: Side::Decoder(|| believing(beliefs::warm_reset_ignored)),
        bug: "A Warm reset changes nothing, not even TRFCR_ELx and TRBLIMITR_EL1.",
        source: "ETE-YYHBF-001; it is said to keep the trace unit",
    },
    Saboteur {
        name: "cold-reset-keeps-the-lock",
        side: Side::Decoder(|| believing(beliefs::cold_reset_keeps_the_lock)),
        bug: "A Cold reset does not lock the OS Lock.",
        source: "ETE-ST-005",
    },
    Saboteur {
        name: "trace-unit-reset-ignored",
        side: Side::Decoder(|| believing(beliefs::trace_unit_reset_ignored)),
        bug: "A trace unit reset keeps EN and registers.",
        source: "ETE-PCXJC-001, ETE-ST-005",
    },
    Saboteur {
        name: "power-off-keeps",
        side: Side::Decoder(|| believing(beliefs::power_off_keeps)),
        bug: "Core power off keeps registers.",
        source: "ETE-PTZDH-001; taken for retention",
    },
    Saboteur {
        name: "retention-loses",
        side: Side::Decoder(|| believing(beliefs::retention_loses)),
        bug: "Retention loses registers.",
        source: "ETE-TWQJT-001; taken for power off",
    },
    Saboteur {
        name: "errors-write",
        side: Side::Decoder(|| believing(beliefs::errors_write)),
        bug: "An external access with an error response takes effect.",
        source: "ETE-ACC-001; the response is not looked at",
    },
    Saboteur {
        name: "trapped-accesses-write",
        side: Side::Decoder(|| believing(beliefs::trapped_accesses_write)),
        bug: "A trapped access reaches the unit.",
        source: "ETE-ACC-008; a hypervisor's guest log",
    },
    Saboteur {
        name: "undefined-accesses-write",
        side: Side::Decoder(|| believing(beliefs::undefined_accesses_write)),
        bug: "An UNDEFINED access reaches the unit.",
        source: "ETE-ACC-007",
    },
    Saboteur {
        name: "outputs-always-enabled",
        side: Side::Decoder(|| believing(beliefs::outputs_always_enabled)),
        bug: "TRCEVENTCTL1R.OE is taken for 1.",
        source: "ETE-PJYKY-001; tools that were written before ETE know no OE",
    },
    Saboteur {
        name: "status-of-two-bits",
        side: Side::Decoder(|| believing(beliefs::status_of_two_bits)),
        bug: "Bits above 1 of TRCSTATR are not looked at.",
        source: "ETE-ST-001",
    },
    Saboteur {
        name: "claim-clear-sets",
        side: Side::Decoder(|| believing(beliefs::claim_clear_sets)),
        bug: "Ones in TRCCLAIMCLR set tags.",
        source: "ETE-ACC-009; both registers written with the same function",
    },
    Saboteur {
        name: "spaces-ignored",
        side: Side::Decoder(|| believing(beliefs::spaces_ignored)),
        bug: "The address space of an external access decides nothing.",
        source: "ETE-ACC-006",
    },
    Saboteur {
        name: "access-control-ignored",
        side: Side::Decoder(|| believing(beliefs::access_control_ignored)),
        bug: "MDCR_EL3.{ETADE, ETAD} decide nothing.",
        source: "ETE-ACC-006",
    },
    Saboteur {
        name: "trace-buffer-switch-ignored",
        side: Side::Decoder(|| believing(beliefs::trace_buffer_switch_ignored)),
        bug: "TRBLIMITR_EL1.E decides nothing.",
        source: "ETE-LGVCX-001, ETE-FJFNS-001",
    },
    Saboteur {
        name: "stopped-buffer-accepts",
        side: Side::Decoder(|| believing(beliefs::stopped_buffer_accepts)),
        bug: "A stopped trace buffer unit is taken for one that accepts.",
        source: "ETE-RT-003",
    },
    Saboteur {
        name: "interface-switch-ignored",
        side: Side::Decoder(|| believing(beliefs::interface_switch_ignored)),
        bug: "Interfaces that their own mechanism disables are taken for enabled.",
        source: "ETE-FTSZG-002",
    },
    Saboteur {
        name: "prohibition-ignored",
        side: Side::Decoder(|| believing(beliefs::prohibition_ignored)),
        bug: "No region is prohibited.",
        source: "ETE-XLVQM-001, ETE-FCBLJ-001",
    },
    Saboteur {
        name: "one-interface",
        side: Side::Decoder(|| believing(beliefs::one_interface)),
        bug: "Bytes at any interface are taken for those of interface 0.",
        source: "ETE-SVDBD-001; one ATB is all that most units have",
    },
    Saboteur {
        name: "recovery-never-ends",
        side: Side::Decoder(|| believing(beliefs::recovery_never_ends)),
        bug: "The end of an overflow is not seen.",
        source: "ETE-RPSPH-001, ETE-ZVNKV-001",
    },
    Saboteur {
        name: "gaps-ignored",
        side: Side::Decoder(|| believing(beliefs::gaps_ignored)),
        bug: "What was known before a gap is known after it.",
        source: "ETE-ST-001; a ring buffer of a tracer that overran",
    },
    Saboteur {
        name: "ends-ignored",
        side: Side::Decoder(|| believing(beliefs::ends_ignored)),
        bug: "The end of a log is no end: what is left open there is not reported.",
        source: "ETE-PRG-001, ETE-DXFFN-002",
    },
    Saboteur {
        name: "visibility-ignored",
        side: Side::Decoder(|| believing(beliefs::visibility_ignored)),
        bug: "Changes of what the log shows are ignored.",
        source: "ETE-SYN-004",
    },
    Saboteur {
        name: "time-stands-still",
        side: Side::Decoder(|| believing(beliefs::time_stands_still)),
        bug: "Time does not pass.",
        source: "ETE-ZFPHC-001, ETE-CZHWF-001, ETE-TRZCP-003",
    },
    Saboteur {
        name: "barriers-always-shown",
        side: Side::Decoder(|| parameters(|p: &mut Parameters| p.shown.barriers = true)),
        bug: "Barriers that a log cannot show are taken for missing.",
        source: "ETE-SYN-004; register traces have no barriers",
    },
    Saboteur {
        name: "agents-always-shown",
        side: Side::Decoder(|| {
            parameters(|p: &mut Parameters| {
                p.shown.system = true;
                p.shown.external = true;
            })
        }),
        bug: "Accesses that a log cannot show are taken for missing.",
        source: "ETE-PRG-002",
    },
    Saboteur {
        name: "errata-ignored",
        side: Side::Decoder(|| parameters(|p: &mut Parameters| p.errata = Errata::default())),
        bug: "Errata that are on make no rule void.",
        source: "ETE-XLVQM-001",
    },
    Saboteur {
        name: "no-address-comparators",
        side: Side::Decoder(|| parameters(|p: &mut Parameters| p.address_pairs = 0)),
        bug: "TRCVIIECTLR and TRCVISSCTLR need not be written.",
        source: "ETE-PRG-005",
    },
    Saboteur {
        name: "every-unit-has-a-trace-buffer",
        side: Side::Decoder(|| parameters(|p: &mut Parameters| p.trace_buffer = true)),
        bug: "FEAT_TRBE is taken for granted.",
        source: "ETE-SVDBD-001, ETE-ACC-006",
    },
    Saboteur {
        name: "self-hosted-trace-always-enabled",
        side: Side::Decoder(|| parameters(|p: &mut Parameters| p.self_hosted = true)),
        bug: "The trace buffer unit works while self-hosted trace is disabled.",
        source: "ETE-RT-002",
    },
    Saboteur {
        name: "no-time-bound",
        side: Side::Decoder(|| parameters(|p: &mut Parameters| p.bound = None)),
        bug: "The time bound is ignored.",
        source: "ETE-ZFPHC-001",
    },
    Saboteur {
        name: "model-without-oe",
        side: Side::Encoder(|| {
            configuration(|p: &mut Parameters, _| {
                p.version = p.version.min(Version::Ete1_2);
                p.output_enable = false;
            })
        }),
        bug: "TRCEVENTCTL1R.OE is not implemented.",
        source: "ETE-PJYKY-001; it is new in ETE",
    },
    Saboteur {
        name: "model-without-a-trace-buffer",
        side: Side::Encoder(|| configuration(|p: &mut Parameters, _| p.trace_buffer = false)),
        bug: "The trace buffer unit gets nothing.",
        source: "ETE-LGVCX-001",
    },
    Saboteur {
        name: "model-with-self-hosted-trace",
        side: Side::Encoder(|| configuration(|p: &mut Parameters, _| p.self_hosted = true)),
        bug: "The trace buffer unit works while self-hosted trace is disabled.",
        source: "ETE-RT-002",
    },
    Saboteur {
        name: "model-of-etmv4",
        side: Side::Encoder(|| configuration(|p: &mut Parameters, _| p.version = Version::Etmv4_6)),
        bug: "TRCOSLSR and TRCPDCR are those of ETMv4.",
        source: "ETE-ACC-011, ETE-ACC-010",
    },
    Saboteur {
        name: "model-with-32-claim-tags",
        side: Side::Encoder(|| configuration(|p: &mut Parameters, _| p.claim_tags = 32)),
        bug: "TRCCLAIMSET reads as all ones.",
        source: "ETE-ACC-009; it does where 32 tags are implemented",
    },
    Saboteur {
        name: "model-without-no-overflow",
        side: Side::Encoder(|| configuration(|p: &mut Parameters, _| p.no_overflow = false)),
        bug: "TRCSTALLCTLR.NOOVERFLOW is ignored.",
        source: "ETE-STL-002",
    },
    Saboteur {
        name: "model-without-realms",
        side: Side::Encoder(|| configuration(|p: &mut Parameters, _| p.realms = false)),
        bug: "MDCR_EL3.ETADE is ignored.",
        source: "ETE-ACC-006",
    },
    Saboteur {
        name: "model-with-a-small-buffer",
        side: Side::Encoder(|| configuration(|_: &mut Parameters, policy: &mut Policy| policy.buffer = 8)),
        bug: "The buffers hold 8 bytes whatever they were built for.",
        source: "ETE-LDDLP-001",
    },
];
