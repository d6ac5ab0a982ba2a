//! Which packet carries the exception program counter of a trap (ET 7.3.1, ET 11).

use traceproof_vectors::riscv_etrace::Epc;
use traceproof_vectors::{Address, FaultClass};

use super::instruction::Class;
use super::program_map::ProgramMap;
use super::step::Step;
use super::trouble::Trouble;
use super::walker::Walker;

/// Traps that were reported by packets with `thaddr` = 0 and whose handler is still to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TrapChain {
    /// There are none.
    #[default]
    Closed,
    /// Each packet with `thaddr` = 0 has the EPC of its own trap.
    Own,
    /// This is the EPC of the next trap: the packet before it brought the address.
    Next(u64),
    /// One or the other: the chain began with an interrupt after an updiscon, or as first item, which encoders report
    /// in two ways (RVET-ENC-081).
    OwnOrNext(u64),
}

/// What the flow knows when a trap packet comes.
pub(super) struct Situation<'a> {
    pub(super) walker: &'a Walker,
    pub(super) map: &'a ProgramMap,
    /// No instruction was reported yet.
    pub(super) start_of_trace: bool,
}

impl TrapChain {
    pub(super) fn is_open(self) -> bool {
        self != Self::Closed
    }

    /// The EPC of an exception whose packet has this `thaddr` and address. Spec: RVET-DEC-028 to 031 (ET 7.3.1).
    ///
    /// # Errors
    ///
    /// `MissingAddress` when the exception hit the target of an updiscon and the packet does not give its address.
    pub(super) fn epc(
        self,
        situation: &Situation<'_>,
        thaddr: bool,
        address: Option<Address>,
    ) -> Result<Epc, Trouble> {
        // With `thaddr` = 1 the address is the handler's.
        let own = if thaddr { Epc::Unknown } else { address.map_or(Epc::Unknown, Epc::At) };
        match self {
            Self::Next(address) => Ok(Epc::At(Address(address))),
            Self::Own => Ok(own),
            // An encoder that reports the interrupt with its own address would have reported this trap in the same way.
            Self::OwnOrNext(address) if thaddr => Ok(Epc::At(Address(address))),
            Self::OwnOrNext(_) => Ok(Epc::Unknown),
            Self::Closed if situation.start_of_trace => Ok(own),
            Self::Closed => match situation.next() {
                Next::Discontinuity if thaddr => {
                    Err(Trouble::at(FaultClass::MissingAddress, situation.walker.pc))
                }
                Next::Discontinuity => Ok(own),
                // The packet does not distinguish a wrongly predicted return from a second trap; it is taken for the
                // former.
                Next::ImplicitReturn(_) if !thaddr => Ok(own),
                Next::ImplicitReturn(next) | Next::At(next) => Ok(Epc::At(Address(next))),
                Next::Unknown => Ok(Epc::Unknown),
            },
        }
    }

    /// The chain after a packet with `thaddr` = 0 and this address.
    pub(super) fn link(self, situation: &Situation<'_>, interrupt: bool, address: u64) -> Self {
        match self {
            Self::Closed => {
                let unreached = situation.start_of_trace
                    || matches!(situation.next(), Next::Discontinuity | Next::ImplicitReturn(_));
                match (unreached, interrupt) {
                    (true, true) => Self::OwnOrNext(address),
                    (true, false) => Self::Own,
                    (false, _) => Self::Next(address),
                }
            }
            Self::Own => Self::Own,
            Self::Next(_) => Self::Next(address),
            Self::OwnOrNext(_) => Self::OwnOrNext(address),
        }
    }
}

/// The instruction that would have retired next.
enum Next {
    At(u64),
    /// Unless the return went elsewhere, which the encoder would have noticed.
    ImplicitReturn(u64),
    Discontinuity,
    Unknown,
}

impl Situation<'_> {
    /// Takes one step without moving. Spec: RVET-DEC-053 (ET 11).
    fn next(&self) -> Next {
        let walker = self.walker;
        let Some(here) = self.map.locate(walker.pc) else { return Next::Unknown };
        let slot = self.map.slot(here);
        // Only harts that let it retire report it; it is its own EPC then.
        if slot.class == Class::EnvironmentCall {
            return Next::At(walker.pc);
        }
        match walker.step(self.map, slot, None) {
            Step::ImplicitReturn(next) if walker.returns.is_checked() => Next::ImplicitReturn(next),
            Step::To(next) | Step::Sequential(next) | Step::ImplicitReturn(next) => Next::At(next),
            Step::Discontinuity => Next::Discontinuity,
            Step::Branch(target, fall_through) => match walker.outcomes.peek() {
                Some(true) => Next::At(target),
                Some(false) => Next::At(fall_through),
                None => Next::Unknown,
            },
        }
    }
}
