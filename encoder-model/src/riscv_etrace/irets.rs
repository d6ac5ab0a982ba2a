//! `irets` of the implicit return extension: how many returns were left out, and which reports carry that number.

use traceproof_vectors::riscv_etrace::{IretsLimit, Policy, PredictedReturn};

/// Implicit returns since the latest branch or report.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReturnCount {
    /// Returns that were left over their link and whose target no packet reported.
    left: u32,
    /// The same when the instruction at hand was reached: its own branch does not count yet.
    at_arrival: u32,
    /// The target of the next return after so many is reported.
    most: u32,
    /// Whether a predicted return that is reported for another reason counts.
    counts_reported: bool,
}

/// How the reported instruction was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// By a return that did not go where the stack has it.
    FailedReturn,
    /// By a return that went where stack or counter have it, but the count is full.
    ExcessReturn,
    /// By a return that went where stack or counter have it.
    PredictedReturn,
    /// By a return without a known call.
    LoneReturn,
    /// By any other uninferable discontinuity.
    Updiscon,
    /// In a way that a decoder knows.
    Inferably,
}

impl ReturnCount {
    /// Spec: RVET5-ENC-005; readings irets-limit-is-255, irets-counts-the-predicted-return.
    pub(super) const fn new(policy: &Policy) -> Self {
        let most = match policy.irets_limit {
            IretsLimit::At255 => 255,
            IretsLimit::At254 => 254,
        };
        let counts_reported = matches!(policy.predicted_return, PredictedReturn::Counted);
        Self { left: 0, at_arrival: 0, most, counts_reported }
    }

    /// A return is left over its link; `false` if its target has to be reported.
    pub(super) const fn leave(&mut self) -> bool {
        self.left += 1;
        self.left <= self.most
    }

    /// An instruction is reached.
    pub(super) const fn arrive(&mut self) {
        self.at_arrival = self.left;
    }

    /// A branch retires, or a packet reports where execution is. Spec: RVET5-ENC-011.
    pub(super) const fn restart(&mut self) {
        self.left = 0;
    }

    /// `irets` of a report with the flag `irreport`; `None` without the flag. A return that is itself the reported
    /// instruction is not counted (reading irets-leaves-out-the-last-return).
    ///
    /// Spec: RVET5-ENC-004 to 010.
    pub(super) fn report(&self, reached: Reached) -> Option<u8> {
        let unless_none = |count: u32| if count > 0 { Some(count as u8) } else { None };
        match reached {
            Reached::FailedReturn => Some(self.at_arrival as u8),
            Reached::PredictedReturn if self.counts_reported => Some(self.at_arrival as u8),
            // The count includes the return that led here.
            Reached::PredictedReturn | Reached::ExcessReturn => Some(self.at_arrival.saturating_sub(1) as u8),
            Reached::LoneReturn => unless_none(self.at_arrival),
            // A branch that is reported has itself restarted the count.
            Reached::Inferably => unless_none(self.left),
            Reached::Updiscon => None,
        }
    }
}
