//! The address of BE or BD: whether it is an exception, and where it leads.

use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{Event, ExceptionKind, Isa, Packet, VectorBase};
use traceproof_vectors::{Address32, Fault, FaultClass, Place};

use super::{Pairing, Stage};
use crate::arm_etm::v1::flow::{Here, Target};
use crate::arm_etm::v1::listener::{Consequence, Listener};
use crate::arm_etm::v1::waiting::{Status, Target as Use};
use crate::arm_etm::vectors::{Vector, vector_at};

/// A branch address that was read.
#[derive(Clone, Copy)]
struct Branch {
    /// Of its status.
    cycle: u64,
    /// The first bit of its packet.
    place: Place,
    reason: AddressReason,
    context_id: Option<u32>,
    /// Which branch it is for.
    how: Option<Use>,
    /// Where it leads, if all its bits are known.
    target: Option<Target>,
}

impl Pairing {
    /// The branch address of the first status is complete. Spec: ETM1-PKT-014, ETM1-PKT-015 (5.6.2, 5.8.1).
    pub(super) fn branch_address<L: Listener>(
        &mut self,
        place: Place,
        packet: &Packet,
        cut: bool,
        listener: &mut L,
    ) {
        let Some(Status { cycle, kind }) = self.waiting.first() else { return };
        let (reason, context_id) = match *packet {
            Packet::FullBranchAddress { reason, context_id, .. } => (reason, context_id),
            _ => (AddressReason::Branch, None),
        };
        listener.packet(place, packet);
        if cut && !reason.is_restart() {
            let fault = Fault::new(FaultClass::Contradiction, place);
            listener.fault(&fault, Consequence::GoesOn);
        }
        let target = self.flow.output(packet);
        let branch = Branch { cycle, place, reason, context_id, how: kind.target(), target };
        if reason.is_restart() {
            self.restart(&branch, listener);
        } else {
            self.execute(&branch, listener);
        }
        self.arrive(&branch, listener);
        // What follows does not belong to this packet.
        self.close();
        self.waiting.pop();
        self.stage = Stage::New;
        self.settle(listener);
    }

    /// A restart executes nothing, and is no exception; of BD the instruction is that of its data.
    ///
    /// Spec: ETM1-EXC-008 (5.8.1).
    fn restart<L: Listener>(&mut self, branch: &Branch, listener: &mut L) {
        if self.held.is_open() {
            self.report_branch(branch.cycle, true, None, listener);
        }
        self.data.forget();
    }

    /// Reports the instruction that branched or was interrupted.
    ///
    /// Spec: ETM1-EXC-001 to 005, ETM1-EXC-007, ETM1-EXC-009 to 013 (4.5.3).
    fn execute<L: Listener>(&mut self, branch: &Branch, listener: &mut L) {
        let Branch { cycle, place, how, target, .. } = *branch;
        let vector = target
            .filter(|target| target.isa == Isa::Arm && how != Some(Use::Unlocated))
            .and_then(|target| Some((vector_at(self.hivecs, target.address)?, Address32(target.address))));
        match vector {
            Some((Vector { kind, .. }, vector)) if self.hivecs != VectorBase::Unknown => {
                let executed = kind == ExceptionKind::Svc;
                let here = self.report_branch(cycle, executed, Some(place), listener);
                let at = here.address.map(Address32);
                listener.event(place, &Event::Exception { cycle, kind, vector, at, cancelled: None });
            }
            vector => {
                self.report_branch(cycle, true, None, listener);
                if let Some((_, vector)) = vector {
                    listener.event(place, &Event::PossibleException { cycle, vector });
                }
            }
        }
    }

    /// Goes to the target.
    fn arrive<L: Listener>(&mut self, branch: &Branch, listener: &mut L) {
        let Branch { cycle, place, reason, context_id, how, target } = *branch;
        match (how, target) {
            (Some(Use::Next), Some(target)) => {
                let (address, isa) = (target.address, target.isa);
                let event = match reason.synchronisation() {
                    None => Event::Branch { cycle, address: Address32(address), isa },
                    Some(reason) => Event::Synchronisation {
                        cycle,
                        reason,
                        address: Address32(address),
                        isa,
                        context_id,
                        lsm: None,
                    },
                };
                listener.event(place, &event);
                self.flow.go(target);
            }
            (Some(Use::Next), None) => self.flow.forget_next(),
            (how, _) => {
                if let Some(value) = context_id {
                    listener.event(place, &Event::ContextId { when: cycle, value });
                }
                if how == Some(Use::Unlocated) { self.flow.forget() } else { self.flow.forget_next() }
            }
        }
    }

    /// Reports the first status, BE or BD: its instruction, and the data of BD, which are `ignored` if that is a place.
    pub(super) fn report_branch<L: Listener>(
        &mut self,
        cycle: u64,
        executed: bool,
        ignored: Option<Place>,
        listener: &mut L,
    ) -> Here {
        let Some(here) = self.held.here() else { return self.step(cycle, executed, listener) };
        self.report(cycle, &here, executed, listener);
        self.held.report(self.status_place(cycle), cycle, ignored, listener);
        here
    }
}
