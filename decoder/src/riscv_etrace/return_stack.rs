//! The return addresses of implicit return mode (ET 3.2.5).

use alloc::collections::VecDeque;

use traceproof_vectors::riscv_etrace::Parameters;

/// Return addresses of the calls since the latest synchronisation, as many as the encoder counts or stores.
///
/// The encoder has either a return address stack or only a counter; the decoder needs the addresses in both cases.
#[derive(Clone, Debug, Default)]
pub(super) struct ReturnStack {
    links: VecDeque<u64>,
    most: usize,
    checked: bool,
}

impl ReturnStack {
    /// A stack of `2^return_stack_size_p` addresses, or without one as many calls as the counter counts: two to the
    /// power of `call_counter_size_p` (ET 11), less one if it is a register of so many bits (ET 10).
    pub(super) fn new(parameters: &Parameters) -> Self {
        let most = match (parameters.return_stack_size_p, parameters.call_counter_size_p) {
            (0, 0) => 0,
            (0, counter) if parameters.call_counter_fits_irdepth => (1 << counter) - 1,
            (0, counter) => 1 << counter,
            (stack, _) => 1 << stack,
        };
        let checked = parameters.return_stack_size_p > 0;
        Self { links: VecDeque::with_capacity(most), most, checked }
    }

    /// Whether the encoder compares targets with its own stack and reports returns that go elsewhere. One that only
    /// counts calls does not check targets. Spec: RVET-ENC-056 (ET 3.2.5).
    pub(super) const fn is_checked(&self) -> bool {
        self.checked
    }

    /// Every synchronisation does this. Spec: RVET-DEC-037 (ET 3.2.5).
    pub(super) fn clear(&mut self) {
        self.links.clear();
    }

    pub(super) fn depth(&self) -> u32 {
        self.links.len() as u32
    }

    /// Where the next implicit return goes.
    pub(super) fn top(&self) -> Option<u64> {
        self.links.back().copied()
    }

    pub(super) fn pop(&mut self) {
        self.links.pop_back();
    }

    /// A call was left; on overflow the oldest entry is removed and returned. Spec: RVET-DEC-035 (ET 3.2.5).
    pub(super) fn push(&mut self, link: u64) -> Option<u64> {
        let lost = if self.links.len() >= self.most { self.links.pop_front() } else { None };
        if self.most > 0 {
            self.links.push_back(link);
        }
        lost
    }
}
