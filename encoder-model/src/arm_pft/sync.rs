//! The packets of synchronisation: A-sync, I-sync, full timestamps (4.11, 4.14).

use traceproof_vectors::Address32;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{CycleCount, Packet, Reason, State};

use super::ptm::Ptm;
use super::schedule::ALIGNMENT_SYNC;

impl Ptm {
    /// A synchronisation is due. One that is not done yet is completed first, so that none is late by more
    /// than a period.
    ///
    /// Spec: PFT-ENC-043, 056 (4.11).
    pub(super) fn request_sync(&mut self) {
        if !self.unsent.schedule.is_alignment_due() {
            self.complete_sync();
            self.unsent.schedule.request(self.parameters.timestamps);
        }
    }

    /// Ends a step with the parts of a synchronisation whose time has come.
    ///
    /// Spec: PFT-ENC-043, 057 (4.11), PFT-CFG-015.
    pub(super) fn synchronise(&mut self) {
        if self.tracing {
            if self.unsent.schedule.has_expired() {
                self.request_sync();
            }
            if self.unsent.schedule.is_alignment_due() {
                if self.policy.flush_before_alignment_sync {
                    self.flush_atoms();
                }
                self.alignment_sync();
            }
            let schedule = &self.unsent.schedule;
            if schedule.is_instruction_due() && schedule.is_spaced() {
                self.instruction_sync(Reason::Periodic);
            }
            let schedule = &self.unsent.schedule;
            if schedule.is_timestamp_due() && !schedule.is_instruction_due() && schedule.is_spaced() {
                self.full_timestamp();
            }
        }
        self.unsent.schedule.end_step();
    }

    /// What is missing of a synchronisation comes now, because tracing is going to stop.
    pub(super) fn complete_sync(&mut self) {
        if !self.tracing {
            return;
        }
        if self.unsent.schedule.is_instruction_due() {
            self.instruction_sync(Reason::Periodic);
        }
        if self.unsent.schedule.is_timestamp_due() {
            self.full_timestamp();
        }
    }

    pub(super) fn alignment_sync(&mut self) {
        self.push(ALIGNMENT_SYNC);
    }

    /// The state of the next instruction. A periodic one says what the trace has said: a change of security
    /// state or Context ID is seen when the next packet that states it comes.
    ///
    /// Spec: PFT-PKT-009 to 018, PFT-ENC-034, 044, 046, 061 to 063 (4.3, 4.4, 4.12.2).
    pub(super) fn instruction_sync(&mut self, reason: Reason) {
        self.flush_atoms();
        let periodic = reason == Reason::Periodic;
        let state = if periodic {
            let State { non_secure, hyp, .. } = self.last.state();
            State { non_secure, hyp, ..self.next }
        } else {
            self.context_id.in_force = self.context_id.written;
            self.unsent.waypoint_time = self.now;
            self.next
        };
        let thumb = state.isa.is_thumb();
        let aligned = state.address.0 & !((1 << state.isa.alignment_bits()) - 1);
        let cycle_count = if periodic { None } else { self.count_cycles() };
        let context_id = (self.parameters.context_id_bytes > 0).then_some(self.context_id.in_force);
        self.push(Packet::InstructionSync {
            address: Address32(aligned | u32::from(thumb)),
            reason,
            non_secure: state.non_secure,
            alt_isa: state.isa == InstructionSet::T32Ee,
            hyp: state.hyp,
            reserved: 0,
            cycle_count,
            context_id,
        });
        self.last.set(state);
        self.returns.clear();
        if self.parameters.vmid && self.policy.vmid_after_sync {
            let vmid = &mut self.unsent.vmid;
            if !periodic {
                vmid.in_force = vmid.written;
            }
            let value = vmid.in_force;
            self.push(Packet::Vmid(value));
        }
    }

    pub(super) fn full_timestamp(&mut self) {
        self.send_timestamp(true);
        self.unsent.schedule.timestamp_is_sent();
    }

    /// A timestamp was asked for. Spec: PFT-ENC-052 to 054 (4.14).
    pub(super) fn timestamp(&mut self) {
        self.send_timestamp(false);
    }

    /// The time of the packet in PFTv1.0, and that of the last traced waypoint in PFTv1.1. The count is 0, if cycles
    /// are not to be counted here.
    ///
    /// Spec: PFT-ENC-058 (1.1, 4.4, 4.14).
    fn send_timestamp(&mut self, full: bool) {
        if !self.parameters.timestamps || !self.tracing {
            return;
        }
        self.flush_atoms();
        let time = if self.parameters.minor == 0 { self.now } else { self.unsent.waypoint_time };
        let (clock_change, value) = self.unsent.timestamps.take(time, full);
        let cycle_count = if self.policy.cycles_in_timestamps {
            self.count_cycles()
        } else {
            self.parameters.cycle_accurate.then_some(CycleCount::new(0))
        };
        self.push(Packet::Timestamp { clock_change, value, cycle_count });
    }
}
