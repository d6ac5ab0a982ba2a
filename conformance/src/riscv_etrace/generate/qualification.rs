//! Which steps of an execution are traced, worked out from the words of the filters and the trigger pulses (ET 4.2.4,
//! 5).
//!
//! Independent of the encoder model: this is what its filter unit is held against.

use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{Cycle, Filter, Policy, Retire, Step, Stimulus, Trap, TrapFilter};

/// Follows an execution step by step. Instruction tracing as a whole (`Stimulus::Enable`) is not looked at.
#[derive(Clone, Debug)]
pub struct Qualification<'a> {
    filters: Vec<Watched<'a>>,
    /// Where the latest instruction or exception was: there interrupts are.
    address: Address,
    /// Between a trace-on and a trace-off pulse.
    triggered: bool,
    on_off: bool,
}

#[derive(Clone, Debug)]
struct Watched<'a> {
    filter: &'a Filter,
    /// Traps without their return, from the one that the filter waits for on.
    nested: u32,
}

impl<'a> Qualification<'a> {
    /// Before the first step.
    #[must_use]
    pub fn new(policy: &'a Policy) -> Self {
        Self {
            filters: policy.filters.iter().map(|filter| Watched { filter, nested: 0 }).collect(),
            address: Address(0),
            triggered: !policy.triggers.wait_for_on,
            on_off: policy.triggers.on_off,
        }
    }

    /// Whether each of `steps` is traced; of a stimulus, whether what retires next to it may be.
    pub fn of_all(policy: &'a Policy, steps: &[Step], returns_from_trap: impl Fn(u64) -> bool) -> Vec<bool> {
        let mut qualification = Self::new(policy);
        steps.iter().map(|step| qualification.step(step, &returns_from_trap)).collect()
    }

    /// The execution takes this step; whether it is traced. `returns_from_trap`: of the instruction at an address.
    pub fn step(&mut self, step: &Step, returns_from_trap: impl Fn(u64) -> bool) -> bool {
        let passes = match step {
            Step::Retire(retire) => self.retire(retire, returns_from_trap(retire.address.0)),
            Step::Trap(trap) => self.trap(trap),
            Step::Stimulus(Stimulus::Cycle(Cycle { trace_on, trace_off, .. })) if self.on_off => {
                self.triggered = (self.triggered || *trace_on) && !*trace_off;
                true
            }
            Step::Stimulus(_) => true,
        };
        passes && self.triggered
    }

    fn retire(&mut self, retire: &Retire, returns: bool) -> bool {
        self.address = retire.address;
        let passes = self.passes(retire.privilege, retire.context);
        if returns {
            for watched in &mut self.filters {
                watched.nested = watched.nested.saturating_sub(1);
            }
        }
        passes
    }

    fn trap(&mut self, trap: &Trap) -> bool {
        if !trap.interrupt {
            self.address = trap.epc;
        }
        for Watched { filter, nested } in &mut self.filters {
            let awaited = filter.trap.as_ref().is_some_and(|awaited| is_awaited(awaited, trap));
            *nested += u32::from(*nested > 0 || awaited);
        }
        self.passes(trap.privilege, trap.context)
    }

    fn passes(&self, privilege: u8, context: u64) -> bool {
        let mut filters = self.filters.iter();
        self.filters.is_empty() || filters.any(|watched| watched.passes(self.address, privilege, context))
    }
}

impl Watched<'_> {
    fn passes(&self, address: Address, privilege: u8, context: u64) -> bool {
        let Filter { addresses, privileges, contexts, trap } = self.filter;
        let in_range = addresses.iter().any(|range| range.first <= address && address <= range.last);
        (addresses.is_empty() || in_range)
            && (privileges.is_empty() || privileges.contains(&privilege))
            && (contexts.is_empty() || contexts.contains(&context))
            && (trap.is_none() || self.nested > 0)
    }
}

fn is_awaited(awaited: &TrapFilter, trap: &Trap) -> bool {
    let causes = &awaited.causes;
    awaited.interrupt.is_none_or(|interrupt| interrupt == trap.interrupt)
        && (causes.is_empty()
            || causes.iter().any(|range| range.first <= trap.cause && trap.cause <= range.last))
}
