//! Formats 0, 1 and 2: reports of outcomes and addresses.

use traceproof_vectors::riscv_etrace::{Packet, ReportedAddress, RiscvEtrace};
use traceproof_vectors::{FaultClass, Place, Sink};

use super::state::{Flow, Provisional};
use crate::riscv_etrace::goal::{Arrival, Goal, Until};
use crate::riscv_etrace::trouble::Trouble;

/// Formats 0, 1 and 2 in one shape.
pub(in crate::riscv_etrace) struct Reported {
    /// `None`: only outcomes.
    pub(in crate::riscv_etrace) address: Option<u64>,
    pub(in crate::riscv_etrace) notify: bool,
    pub(in crate::riscv_etrace) updiscon: bool,
    /// It can only mean an arrival by an updiscon.
    pub(in crate::riscv_etrace) definite: bool,
    /// `irdepth` or `irets`.
    pub(in crate::riscv_etrace) depth: Option<u32>,
}

impl Flow {
    /// Formats 0, 1 and 2. Spec: RVET-DEC-001, RVET-DEC-010 to 018, RVET-DEC-054 (ET 11).
    pub(super) fn advance<S>(&mut self, place: Place, packet: &Packet, sink: &mut S) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        if self.chain.is_open() {
            return Err(Trouble::new(FaultClass::IllegalInState));
        }
        if self.start_of_trace {
            return Err(Trouble::new(FaultClass::NotSynchronised));
        }
        // Before anything else, because this walk may store into the jump target cache (RVET-DEC-042).
        self.second_arrival(place, sink)?;
        self.last_before_synchronisation = false;
        let reported = self.reported(packet)?;
        self.approach(place, reported, sink)
    }

    /// Walks to what was reported.
    #[inline(always)]
    pub(in crate::riscv_etrace) fn approach<S>(
        &mut self,
        place: Place,
        reported: Option<Reported>,
        sink: &mut S,
    ) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let Some(Reported { address, notify, updiscon, definite, depth }) = reported else {
            return Ok(());
        };
        self.walker.begin_report();
        let Some(address) = address else {
            let goal = Goal { until: Until::LastBranch, address: 0, depth: None, synchronisation: false };
            return self.walk(&goal, place, sink).map(|_| ());
        };
        self.base = address;
        self.last_before_synchronisation = updiscon;
        let until = if definite || updiscon && !notify { Until::Discontinuity } else { Until::Arrival };
        let goal = Goal { until, address, depth, synchronisation: false };
        let arrival = self.walk(&goal, place, sink)?;
        // At a branch the number of outcomes distinguishes the two arrivals (RVET-DEC-023).
        if arrival == Arrival::Direct && !notify && self.walker.outcomes.len() == 0 {
            self.provisional = Some(Provisional { depth });
        }
        Ok(())
    }

    /// Queues the outcomes and finds the address; `None` if the packet is of another format.
    fn reported(&mut self, packet: &Packet) -> Result<Option<Reported>, Trouble> {
        match *packet {
            Packet::BranchCount {
                branch_count,
                branch_fmt,
                address,
                notify,
                updiscon,
                irreport,
                irdepth,
                irets,
            } => {
                // The walk relies on the absence of predictions in other modes.
                if !self.walker.modes().branch_prediction {
                    return Err(Trouble::new(FaultClass::IllegalInState));
                }
                let depth = self.reported_depth(irreport, irdepth.max(irets.into()));
                let predictions = u64::from(branch_count) + 31;
                if predictions > self.walker.limits.repeats {
                    return Err(Trouble::new(FaultClass::Limit));
                }
                // Spec: RVET-DEC-040 (ET 7.8): all but branch_fmt 2 end with a failed branch.
                self.walker.outcomes.predict(predictions, branch_fmt != 2);
                let address = address.map(|address| self.resolve(address));
                Ok(Some(Reported { address, notify, updiscon, definite: false, depth }))
            }
            Packet::JumpTargetIndex { index, branches, branch_map, irreport, irdepth, irets } => {
                let depth = self.reported_depth(irreport, irdepth.max(irets.into()));
                let invalid =
                    Trouble { class: FaultClass::InvalidReference, address: None, bit: self.hart.index_bit };
                let target = self.walker.cache.get(index).ok_or(invalid)?;
                self.walker.outcomes.append(branch_map, branches.into());
                // It reports the target of an updiscon by construction (RVET-DEC-023).
                Ok(Some(Reported {
                    address: Some(target),
                    notify: false,
                    updiscon: false,
                    definite: true,
                    depth,
                }))
            }
            Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth, irets } => {
                let depth = self.reported_depth(irreport, irdepth.max(irets.into()));
                // Spec: RVET-PKT-032 (ET 7.7).
                self.walker.outcomes.append(branch_map, if branches == 0 { 31 } else { branches.into() });
                let address = address.map(|address| self.resolve(address));
                Ok(Some(Reported { address, notify, updiscon, definite: false, depth }))
            }
            Packet::Address { address, notify, updiscon, irreport, irdepth, irets } => {
                let address = Some(self.resolve(address));
                let depth = self.reported_depth(irreport, irdepth.max(irets.into()));
                Ok(Some(Reported { address, notify, updiscon, definite: false, depth }))
            }
            _ => Ok(None),
        }
    }

    /// `irdepth` or `irets`, whichever the packet has, if it means something.
    #[inline]
    pub(in crate::riscv_etrace) fn reported_depth(&self, irreport: bool, returns: u32) -> Option<u32> {
        (irreport && self.walker.modes().implicit_return).then_some(returns)
    }

    /// Spec: RVET-DEC-027 (ET 3.2.1).
    #[inline]
    pub(in crate::riscv_etrace) const fn resolve(&self, address: ReportedAddress) -> u64 {
        match address {
            ReportedAddress::Delta(delta) => self.base.wrapping_add_signed(delta) & self.hart.mask,
            ReportedAddress::Full(address) => address & self.hart.mask,
        }
    }
}
