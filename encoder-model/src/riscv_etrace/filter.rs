//! What the filters let pass (ET 5).

use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Filter, Itype, TrapFilter};
use traceproof_vectors::{Address, Refusal};

/// The filters of an encoder.
#[derive(Clone, Debug, Default)]
pub(super) struct Filters {
    filters: Vec<Watched>,
    /// Address of the latest instruction or exception: where interrupts are.
    address: u64,
}

#[derive(Clone, Debug)]
struct Watched {
    filter: Filter,
    /// Traps that have not returned, from the one that the filter waited for on.
    nested: u32,
}

/// A trap as the port shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrapSignals {
    pub(super) interrupt: bool,
    pub(super) cause: u64,
    /// The EPC of an exception.
    pub(super) epc: Option<u64>,
}

impl Filters {
    /// # Errors
    ///
    /// When a range is empty.
    pub(super) fn new(filters: &[Filter]) -> Result<Self, Refusal> {
        let empty = filters.iter().any(|filter| {
            filter.addresses.iter().any(|range| range.first > range.last)
                || filter.trap.iter().flat_map(|trap| &trap.causes).any(|range| range.first > range.last)
        });
        if empty {
            return Err(Refusal::invalid("filters", "a range ends before it begins"));
        }
        let filters = filters.iter().map(|filter| Watched { filter: filter.clone(), nested: 0 }).collect();
        Ok(Self { filters, address: 0 })
    }

    /// Whether there are none, so that everything passes.
    pub(super) fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Whether a block that retires passes. `iaddr` is where it starts.
    pub(super) fn retire(&mut self, iaddr: u64, itype: Itype, privilege: u8, context: u64) -> bool {
        self.address = iaddr;
        let mut passes = self.is_empty();
        for watched in &mut self.filters {
            passes |= watched.passes(iaddr, privilege, context);
            // The return itself is still part of the handler.
            if itype == Itype::TrapReturn {
                watched.nested = watched.nested.saturating_sub(1);
            }
        }
        passes
    }

    /// Whether a trap passes.
    pub(super) fn trap(&mut self, trap: TrapSignals, privilege: u8, context: u64) -> bool {
        self.address = trap.epc.unwrap_or(self.address);
        let mut passes = self.is_empty();
        for watched in &mut self.filters {
            let awaited = watched.filter.trap.as_ref().is_some_and(|awaited| takes(awaited, trap));
            if watched.nested > 0 || awaited {
                watched.nested = watched.nested.saturating_add(1);
            }
            passes |= watched.passes(self.address, privilege, context);
        }
        passes
    }
}

impl Watched {
    fn passes(&self, address: u64, privilege: u8, context: u64) -> bool {
        let Filter { addresses, privileges, contexts, trap } = &self.filter;
        (addresses.is_empty()
            || addresses.iter().any(|range| (range.first..=range.last).contains(&Address(address))))
            && (privileges.is_empty() || privileges.contains(&privilege))
            && (contexts.is_empty() || contexts.contains(&context))
            && (trap.is_none() || self.nested > 0)
    }
}

fn takes(awaited: &TrapFilter, trap: TrapSignals) -> bool {
    let TrapFilter { interrupt, causes } = awaited;
    interrupt.is_none_or(|interrupt| interrupt == trap.interrupt)
        && (causes.is_empty() || causes.iter().any(|range| (range.first..=range.last).contains(&trap.cause)))
}
