//! Calls whose return need not be reported (ET 3.2.5).

use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::Parameters;

/// What implicit return mode knows about the calls since the latest synchronisation packet.
#[derive(Clone, Debug)]
pub(super) struct Returns {
    /// Addresses after the calls, as a ring; only for the stack variant.
    links: Vec<u64>,
    /// Position after the newest link.
    top: usize,
    depth: u32,
    deepest: u32,
    /// There was a return since the latest call.
    returned: bool,
    /// There was a branch since the latest return.
    branched: bool,
    /// A return was left out since the latest branch or report.
    left_out: bool,
}

/// What a return is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnKind {
    /// An uninferable discontinuity.
    Uninferable,
    /// Inferable, whatever its target (call counter).
    Inferable,
    /// Inferable if it goes to this address (return address stack).
    Predicted(u64),
}

impl Returns {
    /// A stack where `return_stack_size_p` is not 0, otherwise a call counter.
    ///
    /// The nesting that a counter of size p follows is 2^p deep, or 2^p - 1 where its register has p bits. `irdepth`,
    /// which has p bits, can carry both: a depth is only reported after a return, which has left the deepest level.
    pub(super) fn new(parameters: &Parameters) -> Self {
        let stack = parameters.return_stack_size_p > 0;
        let deepest = match (parameters.return_stack_size_p, parameters.call_counter_size_p) {
            (0, 0) => 0,
            (0, counter) => (1 << counter.min(15)) - u32::from(parameters.call_counter_fits_irdepth),
            (size, _) => 1 << size.min(15),
        };
        Self {
            links: if stack { vec![0; deepest as usize] } else { Vec::new() },
            top: 0,
            depth: 0,
            deepest,
            returned: false,
            branched: false,
            left_out: false,
        }
    }

    /// Spec: RVET-ENC-054 (ET 3.2.5).
    pub(super) const fn synchronised(&mut self) {
        self.depth = 0;
        self.returned = false;
        self.branched = false;
        self.left_out = false;
    }

    /// A call retires; on overflow the oldest one is forgotten.
    pub(super) fn call(&mut self, link: u64) {
        self.returned = false;
        self.depth = (self.depth + 1).min(self.deepest);
        if let Some(entry) = self.links.get_mut(self.top) {
            *entry = link;
            self.top = (self.top + 1) % self.links.len();
        }
    }

    /// A return retires. Spec: RVET-ENC-053 (ET 3.2.5).
    pub(super) fn returns(&mut self) -> ReturnKind {
        self.returned = true;
        self.branched = false;
        if self.depth == 0 {
            return ReturnKind::Uninferable;
        }
        if self.links.is_empty() {
            self.depth -= 1;
            self.left_out = true;
            return ReturnKind::Inferable;
        }
        let newest = (self.top + self.links.len() - 1) % self.links.len();
        ReturnKind::Predicted(self.links.get(newest).copied().unwrap_or(0))
    }

    /// The latest return went where its call came from. One that did not leaves the stack as it is.
    pub(super) const fn confirm(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.left_out = true;
        if !self.links.is_empty() {
            self.top = (self.top + self.links.len() - 1) % self.links.len();
        }
    }

    /// A branch retires.
    pub(super) const fn branch(&mut self) {
        self.branched = true;
        self.left_out = false;
    }

    /// A packet that is no synchronisation packet reports the way up to here.
    pub(super) const fn reported(&mut self) {
        self.left_out = false;
    }

    /// Whether the way since the latest branch or report may have passed the same address twice: only a return that was
    /// left out leads back without either.
    pub(super) const fn may_have_come_back(&self) -> bool {
        self.left_out
    }

    /// Links or calls that are known.
    pub(super) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether a report that is no target of a return needs the depth to be unambiguous.
    ///
    /// Spec: RVET-ENC-058 (ET 7.6.3).
    pub(super) const fn ambiguous(&self) -> bool {
        self.returned && !self.branched
    }
}
