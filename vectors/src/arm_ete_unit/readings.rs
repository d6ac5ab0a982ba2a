//! Optional features, and the readings of what the text does not settle.

use crate::{Binds, Feature, Reading};

/// The optional features that a subject may claim in its capabilities. Everything else is mandatory.
pub const FEATURES: [Feature; 5] = [
    Feature::new("etmv4", "the version is one of ETMv4: a memory-mapped interface, TRCOSLAR, TRCPDCR.PU"),
    Feature::new(
        "hidden",
        "the log does not show everything: `shown` is not the default, or a record changes visibility",
    ),
    Feature::new("bound", "`bound` is set: what is finite by the text has a time"),
    Feature::new("errata", "an erratum is on"),
    Feature::new("interpretations", "`interpretation` is not the default"),
];

/// What is read into what the text leaves open.
pub const READINGS: [Reading; 23] = [
    reading(
        "eteu-lock-while-enabling",
        "A unit that becomes disabled in Enabling goes to Unstable, at once or after Running, or to Idle; the belief is \
         marked.",
    ),
    reading(
        "eteu-enabled-while-disabling",
        "A unit that becomes enabled in Unstable or Stable starts when Idle is reached, or at once; the belief is marked.",
    ),
    reading(
        "eteu-state-after-unpredictable-enable",
        "After an unpredictable change of EN the unit is as if EN had kept its value or had been given either one; the \
         belief is marked.",
    ),
    reading("eteu-overflow-while-enabling", "An overflow may happen in Enabling."),
    reading(
        "eteu-disabled-interfaces-with-oe",
        "With OE = 1, bytes may leave interfaces that their own mechanism disables, or not; \
         `Interpretation::disabled_interfaces_are_silent`.",
    ),
    reading(
        "eteu-atb-trigger-is-no-output",
        "An ATB trigger is no output of trace: OE does not matter to it.",
    ),
    reading(
        "eteu-pmstable-while-enabled",
        "PMSTABLE has any value at every read in Enabling and Running, also after a disable that was cancelled.",
    ),
    reading("eteu-reset-is-idle", "A trace unit reset leads to Idle with EN = 0."),
    reading(
        "eteu-power-up-keeps-no-lock",
        "After a power-up that is no Cold reset, the OS Lock may be either.",
    ),
    reading(
        "eteu-context-switch",
        "Arm's example of a context switch, which reads no TRCSTATR, is accepted with a note; \
         `Interpretation::accept_context_switch`.",
    ),
    reading(
        "eteu-restore-order",
        "With the OS Lock locked, registers may be written after EN = 1; the TRCSTATR read of S_HSXGZ is required all the \
         same.",
    ),
    reading(
        "eteu-save-without-synchronisation",
        "Reads of saved registers without a context synchronisation event after the poll are accepted; of TRCRSR and \
         TRCVICTLR with a note.",
    ),
    reading(
        "eteu-idle-is-static",
        "R_BPTKT holds in Idle, although I_TPTRW names idle among states with unstable values.",
    ),
    reading(
        "eteu-list-of-outputs",
        "The outputs of R_SVDBD, whose list is lost, are the trace buffer unit and IMPLEMENTATION DEFINED interfaces.",
    ),
    reading(
        "eteu-list-of-operative",
        "The unit becomes operative when recovery from an overflow completes, inoperative when an overflow begins: the \
         lost items of R_RDPSW and R_BDRKW.",
    ),
    reading(
        "eteu-external-procedure",
        "The procedure of the lost figure D4-2 is: EN = 0, poll IDLE = 1, program, EN = 1, poll IDLE = 0.",
    ),
    reading(
        "eteu-unpredictable-writes-cover-all",
        "R_RWYQD covers every register of the unit that can be written except TRCPRGCTLR, the claim tags and the lock \
         registers; not TRCPDCR of ETMv4.",
    ),
    reading(
        "eteu-first-disable",
        "A write of EN = 0 while EN is not known, and no write made it so, may be the first step of a procedure and is no \
         change in a wrong state: software cannot know that the unit is in Enabling. One that ignores it there contradicts \
         the log.",
    ),
    reading(
        "eteu-drained-bytes",
        "Bytes that leave between the end of a session and Idle belong to that session.",
    ),
    erratum(
        "eteu-erratum-tsb-may-not-flush",
        "`Errata::tsb_may_not_flush`: one TSB CSYNC does not flush, two do (2054223, 2067961).",
    ),
    erratum(
        "eteu-erratum-trace-buffer-ignores-writes",
        "`Errata::trace_buffer_ignores_writes`: writes after E = 0 are lost until TSB CSYNC and DSB (2064142).",
    ),
    erratum(
        "eteu-erratum-trace-buffer-needs-two-events",
        "`Errata::trace_buffer_needs_two_events`: a change of E takes two context synchronisation events (2038923).",
    ),
    erratum(
        "eteu-erratum-early-flush-acknowledge",
        "`Errata::early_flush_acknowledge`: an acknowledgement says nothing (853172, 852071).",
    ),
];

const fn reading(name: &'static str, text: &'static str) -> Reading {
    Reading { name, binds: Binds::Both, text }
}

/// Only a checker is lenient; a model has no errata.
const fn erratum(name: &'static str, text: &'static str) -> Reading {
    Reading { name, binds: Binds::Decoders, text }
}
