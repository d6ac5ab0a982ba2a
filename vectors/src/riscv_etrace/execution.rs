//! An execution before it is cut into ingress cycles, as written by hand or by a simulator.

use crate::Address;

/// One step of an execution: what retired or trapped, and what the outside did in between.
///
/// An execution does not contain itypes or blocks; together with the program it determines them. Nor does a step state
/// whether it is traced: that follows from the stimuli around it and the filters of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An instruction retired.
    Retire(Retire),
    /// A trap was taken.
    Trap(Trap),
    /// A stimulus that is not a retirement, or a hand-made ingress cycle; passed on as it is.
    Stimulus(super::Stimulus),
}

/// An instruction retired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retire {
    /// Its byte address.
    pub address: Address,
    /// Outcome if it is a conditional branch. `None`: taken exactly when the next retired address is not the
    /// fall-through address; directly before an exception its `epc` is that next address. A branch before an interrupt,
    /// or that is the last step, counts as not taken.
    pub taken: Option<bool>,
    /// Privilege level it retired at.
    pub privilege: u8,
    /// Context it retired in.
    pub context: u64,
    /// Time of the retirement.
    pub time: u64,
    /// How a context change at this instruction is to be reported (ingress `ctype`).
    pub ctype: u8,
    /// A trigger asks for a report of this instruction.
    pub notify: bool,
    /// A multi-memory access instruction of which this is an access other than the last: the port reports it with itype
    /// 0, and the same instruction is going to be reported again (RVET-ING-012, ET 4.3). In version 2.0.5 the port reports
    /// only the last one (reading `multi-access-instruction-retires-once`).
    pub partial: bool,
}

/// A trap was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trap {
    /// Interrupt, not exception.
    pub interrupt: bool,
    /// The cause that the trap wrote.
    pub cause: u64,
    /// The trap value (exceptions only).
    pub tval: u64,
    /// The exception program counter (exceptions only).
    pub epc: Address,
    /// Privilege level before the trap.
    pub privilege: u8,
    /// Context before the trap.
    pub context: u64,
    /// Time of the trap.
    pub time: u64,
}
