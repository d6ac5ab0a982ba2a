//! The packets of waypoints, exceptions and entries to Debug state (4.2, 4.5, chapter 5).

use traceproof_vectors::Address32;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{Atoms, Exception, Packet, Policy, Reason, State, Waypoint, WaypointKind};

use super::address::LONGEST;
use super::ptm::Ptm;

/// Exception number of an entry to Debug state. Spec: PFT-ENC-019 (5.3.8).
const DEBUG_ENTRY: u16 = 1;
/// Exception number of reset, which never has a waypoint update. Spec: PFT-ENC-014 (5.3.1).
pub(super) const RESET: u16 = 8;

impl Ptm {
    /// Spec: PFT-ENC-004 to 006, 021, 029, 037, 040, 050, 051 (2.1, 4.2, 4.5).
    pub(super) fn waypoint(&mut self, waypoint: &Waypoint) {
        if waypoint.kind == WaypointKind::Barrier && !self.parameters.barrier_waypoints {
            // An instruction like others.
            if self.parameters.barrier_timestamps {
                self.timestamp();
            }
            return;
        }
        let next = self.visible(waypoint.next);
        let traced = self.tracing;
        if traced {
            self.update_in_long_block(waypoint);
            self.trace(waypoint, next);
        }
        self.arrive(next, Reason::TraceEnabled);
        // Nothing follows a branch into Jazelle state.
        if traced && self.tracing {
            self.follow(waypoint);
        }
    }

    /// A long block is cut before its waypoint. Spec: PFT-ENC-021, 022 (4.5.5).
    fn update_in_long_block(&mut self, waypoint: &Waypoint) {
        let from_start = |address: Address32| address.wrapping_offset_from(self.next.address);
        let length = from_start(waypoint.address);
        if self.policy.long_block_updates
            && length > Policy::LONG_BLOCK
            && let Some(previous) = waypoint.previous
            && from_start(previous) < length
        {
            self.waypoint_update(previous);
        }
    }

    /// An atom or a branch address. Spec: PFT-ENC-004 to 006, 029 to 036, 050 (2.1.1, 4.2, 4.13).
    fn trace(&mut self, waypoint: &Waypoint, next: State) {
        self.unsent.waypoint_time = self.now;
        if !waypoint.executed {
            self.atom(false);
            return;
        }
        // A decoder pushes the security state that the trace has stated before this branch.
        let State { non_secure, hyp, .. } = self.last.state();
        if self.needs_branch(waypoint, next) {
            self.branch(next, 0, self.policy.min_address_bytes);
        } else {
            self.atom(true);
        }
        if waypoint.link {
            let address = waypoint.address.wrapping_add(waypoint.size.into());
            self.returns.push(State { address, isa: waypoint.isa, non_secure, hyp });
        }
    }

    /// Whether the target of a waypoint that was executed travels. A match with the return stack is used up
    /// here.
    ///
    /// Spec: PFT-ENC-030, 031, 033, 035, 039, 042, 060, 065 (4.6, 4.12.2, 4.13, 4.17), reading
    /// `pft-exception-return-is-a-packet`.
    fn needs_branch(&mut self, waypoint: &Waypoint, next: State) -> bool {
        let broadcast = self.parameters.branch_broadcast;
        match waypoint.kind {
            WaypointKind::Barrier => false,
            WaypointKind::Isb => broadcast && self.policy.broadcast_isb,
            WaypointKind::Direct => broadcast || self.last.differs_in_security(next),
            WaypointKind::Indirect => {
                broadcast
                    || waypoint.exception_return
                    || next.isa == InstructionSet::Jazelle
                    || self.last.differs_in_security(next)
                    || !self.returns.pop_matching(next)
            }
        }
    }

    /// What follows a traced waypoint: exception return, Context ID, VMID, timestamp.
    ///
    /// Spec: PFT-ENC-037, 040, 041 (4.5.7, 4.5.10, 4.14).
    fn follow(&mut self, waypoint: &Waypoint) {
        let returned = waypoint.exception_return && waypoint.executed;
        if returned && self.parameters.has_exception_returns() {
            self.flush_atoms();
            self.push(Packet::ExceptionReturn);
        }
        self.trace_registers();
        let wanted = match waypoint.kind {
            WaypointKind::Isb => self.policy.timestamp_waypoints && waypoint.executed,
            WaypointKind::Barrier => self.parameters.barrier_timestamps,
            WaypointKind::Direct | WaypointKind::Indirect => self.policy.timestamp_waypoints && returned,
        };
        if wanted {
            self.timestamp();
        }
    }

    /// Spec: PFT-ENC-010 to 018, 038, 066 (5.2, 5.3), reading `pft-context-id-after-exceptions`.
    pub(super) fn exception(&mut self, exception: &Exception) {
        let Exception { number, last, handler } = *exception;
        if !(1..=0x1ff).contains(&number) {
            return;
        }
        let handler = self.visible(handler);
        if !self.tracing {
            self.arrive(handler, Reason::TraceEnabled);
            return;
        }
        self.unsent.waypoint_time = self.now;
        if let Some(last) = last.filter(|_| number != RESET) {
            self.waypoint_update(last);
        }
        self.branch(handler, number, self.policy.min_address_bytes);
        self.arrive(handler, Reason::TraceEnabled);
        self.trace_registers();
        if self.policy.timestamp_waypoints {
            self.timestamp();
        }
    }

    /// Target 0 in ARM state; what else the packet says is not valid, so nothing in it changes. No timestamp
    /// follows, nor a Context ID (reading `pft-debug-entry-context`).
    ///
    /// Spec: PFT-ENC-019 (5.3.8).
    pub(super) fn debug_entry(&mut self, last: Option<Address32>) {
        if self.tracing {
            self.complete_sync();
            if let Some(last) = last {
                self.waypoint_update(last);
            }
            let State { non_secure, hyp, .. } = self.last.state();
            let nowhere = State { address: Address32(0), isa: InstructionSet::A32, non_secure, hyp };
            self.branch(nowhere, DEBUG_ENTRY, LONGEST);
        }
        self.close_for_debug();
    }

    /// Held until there are enough, or a packet with the cycles. Spec: PFT-ENC-007 (4.2, 4.3).
    fn atom(&mut self, executed: bool) {
        if let Some(cycle_count) = self.count_cycles() {
            self.push(Packet::Atoms { atoms: Atoms::one(executed), cycle_count: Some(cycle_count) });
        } else if self.unsent.atoms.push(executed) {
            self.flush_atoms();
        }
    }

    fn branch(&mut self, target: State, number: u16, min_bytes: u8) {
        self.flush_atoms();
        let sent = self.last.branch(target, number, min_bytes);
        let cycle_count = self.count_cycles();
        self.push(Packet::BranchAddress { address: sent.address, exception: sent.exception, cycle_count });
    }

    /// Names the latest instruction that was executed. Spec: PFT-ENC-010, 022 (4.5.5).
    fn waypoint_update(&mut self, at: Address32) {
        self.flush_atoms();
        let (address, information) = self.last.update(at.0, self.next.isa);
        self.push(Packet::WaypointUpdate { address, information, even: false });
    }

    /// A Context ID and VMID that were written before the latest waypoint.
    ///
    /// Spec: PFT-ENC-037, 038 (4.5.7), reading `pft-vmid-like-context-id`.
    fn trace_registers(&mut self) {
        let context_id = &mut self.context_id;
        if context_id.in_force != context_id.written {
            context_id.in_force = context_id.written;
            if self.parameters.context_id_bytes > 0 {
                let value = Some(context_id.in_force);
                self.flush_atoms();
                self.push(Packet::ContextId { value });
            }
        }
        let vmid = &mut self.unsent.vmid;
        if self.parameters.vmid && vmid.in_force != vmid.written {
            vmid.in_force = vmid.written;
            let value = vmid.in_force;
            self.flush_atoms();
            self.push(Packet::Vmid(value));
        }
    }
}
