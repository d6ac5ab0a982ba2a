//! The return addresses of implicit return mode (ET 3.2.5).

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;

use traceproof_vectors::riscv_etrace::Parameters;

/// Return addresses of the calls since the latest synchronisation, as many as the encoder counts or stores.
///
/// The encoder has either a return address stack or only a counter; the decoder needs the addresses in both cases.
#[derive(Clone, Debug, Default)]
pub(super) struct ReturnStack {
    links: VecDeque<Link>,
    /// Most entries.
    most: usize,
    /// Most calls that share the entry of another.
    most_repeats: u32,
    /// Calls of all entries.
    depth: u32,
    checked: bool,
}

/// Where one or more consecutive calls return to.
#[derive(Clone, Copy, Debug)]
struct Link {
    address: u64,
    /// Calls beyond the first one.
    repeats: u32,
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
        // Spec: RVET5-ENC-013.
        let most_repeats =
            if checked && parameters.iret_ext { (1 << parameters.call_counter_size_p) - 1 } else { 0 };
        Self { links: VecDeque::with_capacity(most), most, most_repeats, depth: 0, checked }
    }

    /// Whether the encoder compares targets with its own stack and reports returns that go elsewhere. One that only
    /// counts calls does not check targets. Spec: RVET-ENC-056 (ET 3.2.5).
    pub(super) const fn is_checked(&self) -> bool {
        self.checked
    }

    /// Every synchronisation does this. Spec: RVET-DEC-037 (ET 3.2.5).
    pub(super) fn clear(&mut self) {
        self.links.clear();
        self.depth = 0;
    }

    /// For people, the newest first.
    pub(super) fn shown(&self) -> impl Iterator<Item = String> {
        self.links.iter().rev().map(|link| match link.repeats {
            0 => format!("{:#x}", link.address),
            more => format!("{:#x} ({} times)", link.address, more.saturating_add(1)),
        })
    }

    pub(super) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Where the next implicit return goes.
    pub(super) fn top(&self) -> Option<u64> {
        self.links.back().map(|link| link.address)
    }

    /// A return was left: where it was predicted to go, if anywhere.
    pub(super) fn pop(&mut self) -> Option<u64> {
        let top = self.links.back_mut()?;
        let address = top.address;
        match top.repeats.checked_sub(1) {
            Some(repeats) => top.repeats = repeats,
            None => {
                self.links.pop_back();
            }
        }
        self.depth -= 1;
        Some(address)
    }

    /// A call was left; on overflow the oldest entry is removed. Whether that was so. Spec: RVET-DEC-035 (ET 3.2.5).
    pub(super) fn push(&mut self, address: u64) -> bool {
        if self.most == 0 {
            return false;
        }
        if let Some(top) = self.links.back_mut()
            && top.address == address
            && top.repeats < self.most_repeats
        {
            top.repeats += 1;
            self.depth += 1;
            return false;
        }
        let lost = if self.links.len() >= self.most { self.links.pop_front() } else { None };
        self.depth = self.depth + 1 - lost.map_or(0, |link| link.repeats + 1);
        self.links.push_back(Link { address, repeats: 0 });
        lost.is_some()
    }
}
