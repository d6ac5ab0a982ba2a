//! Calls whose return need not be reported (ET 3.2.5).

use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::Parameters;

use super::irets::ReturnCount;

/// What implicit return mode knows about the calls since the latest synchronisation packet.
#[derive(Clone, Debug)]
pub(super) struct Returns {
    /// Addresses after the calls, as a ring; only for the stack variant.
    links: Vec<Link>,
    /// How often consecutive calls with one link share an entry.
    most_repeats: u32,
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
    /// With `irets`; otherwise packets have `irdepth`.
    count: Option<ReturnCount>,
}

/// An entry of the return stack.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    address: u64,
    /// Further calls with the same link.
    repeats: u32,
}

/// What a return is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnKind {
    /// An uninferable discontinuity.
    Uninferable,
    /// Inferable, whatever its target (call counter).
    Inferable,
    /// The same, but its target must be reported, for no more returns can be left out.
    Excess,
    /// Inferable if it goes to this address (return address stack).
    Predicted(u64),
}

impl Returns {
    /// A stack where `return_stack_size_p` is not 0, otherwise a call counter.
    ///
    /// The nesting that a counter of size p follows is 2^p deep, or 2^p - 1 where its register has p bits. `irdepth`,
    /// which has p bits, can carry both: a depth is only reported after a return, which has left the deepest level.
    /// `count` is there exactly where packets have `irets`.
    pub(super) fn new(parameters: &Parameters, count: Option<ReturnCount>) -> Self {
        let stack = parameters.return_stack_size_p > 0;
        let deepest = match (parameters.return_stack_size_p, parameters.call_counter_size_p) {
            (0, 0) => 0,
            (0, counter) => (1 << counter.min(15)) - u32::from(parameters.call_counter_fits_irdepth),
            (size, _) => 1 << size.min(15),
        };
        // Spec: RVET5-ENC-013; reading repeated-links-share-an-entry.
        let most_repeats =
            if count.is_some() { (1 << parameters.call_counter_size_p.min(15)) - 1 } else { 0 };
        Self {
            links: if stack { vec![Link::default(); deepest as usize] } else { Vec::new() },
            most_repeats,
            top: 0,
            depth: 0,
            deepest,
            returned: false,
            branched: false,
            left_out: false,
            count,
        }
    }

    /// A synchronisation packet; `keeps`: calls stay known. Spec: RVET-ENC-054 (ET 3.2.5), RVET5-ENC-015.
    pub(super) const fn synchronised(&mut self, keeps: bool) {
        if !keeps {
            self.depth = 0;
        }
        self.returned = false;
        self.branched = false;
        self.reported();
    }

    /// A call retires; on overflow the oldest one is forgotten.
    pub(super) fn call(&mut self, link: u64) {
        self.returned = false;
        let newest = self.newest();
        if let Some(entry) = self.links.get_mut(newest)
            && self.depth > 0
            && entry.address == link
            && entry.repeats < self.most_repeats
        {
            entry.repeats += 1;
            return;
        }
        self.depth = (self.depth + 1).min(self.deepest);
        if let Some(entry) = self.links.get_mut(self.top) {
            *entry = Link { address: link, repeats: 0 };
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
            return if self.leave_out() { ReturnKind::Inferable } else { ReturnKind::Excess };
        }
        let link = self.links.get(self.newest()).map_or(0, |entry| entry.address);
        if self.failed_return_pops() {
            self.pop();
        }
        ReturnKind::Predicted(link)
    }

    /// The latest return went where its call came from; `false` if its target must be reported, for no more returns can
    /// be left out.
    pub(super) fn confirm(&mut self) -> bool {
        if !self.failed_return_pops() {
            self.pop();
        }
        self.leave_out()
    }

    /// Whether a return that does not go where its call came from consumes the entry, too.
    ///
    /// Spec: RVET5-ENC-012; readings failed-return-pops, failed-return-does-not-pop.
    const fn failed_return_pops(&self) -> bool {
        self.count.is_some()
    }

    /// The position of the newest link.
    const fn newest(&self) -> usize {
        let links = self.links.len();
        if links == 0 { 0 } else { (self.top + links - 1) % links }
    }

    fn pop(&mut self) {
        let newest = self.newest();
        match self.links.get_mut(newest) {
            Some(entry) if entry.repeats > 0 => entry.repeats -= 1,
            _ => {
                self.top = newest;
                self.depth = self.depth.saturating_sub(1);
            }
        }
    }

    /// A return gets no packet; `false` if its target must get one.
    const fn leave_out(&mut self) -> bool {
        self.left_out = true;
        match &mut self.count {
            Some(count) => count.leave(),
            None => true,
        }
    }

    /// The next instruction is reached.
    pub(super) const fn arrive(&mut self) {
        if let Some(count) = &mut self.count {
            count.arrive();
        }
    }

    /// A branch retires.
    pub(super) const fn branch(&mut self) {
        self.branched = true;
        self.reported();
    }

    /// A packet reports the way up to here.
    pub(super) const fn reported(&mut self) {
        self.left_out = false;
        if let Some(count) = &mut self.count {
            count.restart();
        }
    }

    /// The number that `irets` reports; `None` where packets have `irdepth`.
    pub(super) const fn count(&self) -> Option<&ReturnCount> {
        self.count.as_ref()
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
