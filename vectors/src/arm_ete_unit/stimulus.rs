//! What drives a model: the accesses and inputs of a log without the unit's answers, and the unit's inner progress.

use super::{Access, Agent, Input, StatusBit};

/// One step of a model.
///
/// The model writes the record of an access with its value and outcome, of a poll with how it ended, of an input as it
/// is; then, in this order, what follows from the step: `State` if [`Shown::states`](super::Shown) is on and the state
/// has changed (each state passed through has a record), `Signal` if the signal has changed and
/// [`Shown::states`](super::Shown) is on, `Output` for each sink in the order of [`Sink`](super::Sink). Signals are in
/// the order enabled, overflow, operative, ViewInst, stall, resources: the unit is operative only without an overflow,
/// and inoperative while enabled only with one (ETE-ZVNKV-001). `FlushAcknowledge` is written without regard to
/// `Shown`, when the flush is complete, after the bytes that it acknowledges (ETE-HGYLG-001). `Generate`, `Progress`
/// and `Drain` have no record of their own.
///
/// What a record means has happened is written before it: bytes and states of a poll, bytes that a TSB CSYNC flushes,
/// and what the bound makes happen during a `Wait`. An external write of a register that is only read, and a read of
/// one that is only written, are accesses to a reserved register (ETE-SVSNR-001, ETE-WXKDP-001). A poll whose reads
/// give no value is written as one such read.
///
/// A register of the model holds every bit that is written in Idle, TRCPRGCTLR bit 0 only, TRCPDCR none; its
/// identification registers have the numbers of [`Parameters`](super::Parameters). A read of System instructions sees
/// direct writes before it at once, an external read what has taken effect.
///
/// A step makes no inner progress beyond what it says: the state machine moves on in `Progress`, bytes leave in
/// `Drain`, and both happen in `Poll`.
///
/// A model begins as after a power-up that the log does not show: Idle, EN = 0, TRCEVENTCTL1R.OE = 0, no claim tag set,
/// TRCPDSR.STICKYPD = 1, the OS Lock unlocked, nothing that prohibits tracing, the trace buffer unit disabled, the
/// processor above EL0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Stimulus {
    /// An access. Of a read, `value` is `None`; `outcome` is `Ok`, or `Trapped` where the processor traps it, and the
    /// model replaces both.
    Access(Access),
    /// TRCSTATR is read. As long as the bit has another value, the model makes a `Progress`; where none is possible, a
    /// `Drain`; where that is not possible either or [`Policy::poll_steps`](super::Policy) are spent, the poll times
    /// out. Outputs and states that it passes through are written before the record of the poll. Of System
    /// instructions, direct writes take effect at the first of these steps, as the events between the reads demand.
    Poll {
        /// By what.
        agent: Agent,
        /// Which bit.
        bit: StatusBit,
        /// Which value it waits for.
        value: bool,
    },
    /// Something comes from outside.
    Input(Input),
    /// The processor executes code whose trace has so many bytes: they enter the unit's buffers if the unit generates
    /// trace now (Running, or Enabling by [`Policy::trace_in_enabling`](super::Policy); operative; ViewInst active; not
    /// in a prohibited region, Debug state or low power). Bytes that find no room make an overflow; its Overflow
    /// element counts 2 bytes and enters the buffers as soon as there is room for it.
    Generate {
        /// How many.
        bytes: u32,
    },
    /// ViewInst becomes active or inactive. Active at first.
    ViewInst(bool),
    /// The state machine makes one step if its condition holds: Enabling to Running, Unstable to Stable, Stable to Idle
    /// if the buffers are empty.
    Progress,
    /// The buffers output so many bytes, or all that they hold, to the sinks that are enabled, as far as those accept
    /// them; with every output disabled they are discarded.
    Drain {
        /// At most so many; absent = all.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        bytes: Option<u32>,
    },
}
