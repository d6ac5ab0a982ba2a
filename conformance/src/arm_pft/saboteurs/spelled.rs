//! Decoders whose states deviate: the reference follows packets that state the deviating states in full.
//!
//! As long as the deviation makes no difference, packets are followed as they are.

use traceproof_decoder::arm_pft::Flow;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    Atoms, CompressedAddress, CycleCount, ExceptionInformation, Packet, Parameters, Reason, State,
};
use traceproof_vectors::{Address32, Program};

use super::layers::{Bug, Followed};
use super::model::{Deviation, Model};

/// States as they should be, and as they are.
pub(super) struct Spelled {
    right: Model,
    wrong: Model,
    diverged: bool,
}

impl Spelled {
    pub(super) fn new(deviation: Deviation, parameters: &Parameters, program: &Program) -> Self {
        let right = Model::new(Deviation::None, parameters, program);
        Self { right, wrong: Model::new(deviation, parameters, program), diverged: false }
    }

    fn lose_flow(&mut self) {
        self.right.states.current = None;
        self.wrong.states.current = None;
    }

    /// The packet, stated in full.
    fn spell(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        match *packet {
            Packet::Atoms { atoms, cycle_count } => {
                for executed in atoms.executed() {
                    if !self.spell_atom(executed, cycle_count, followed) {
                        return self.lose_flow();
                    }
                }
            }
            Packet::BranchAddress { address, exception, cycle_count } => {
                let target = self.wrong.target(address, exception);
                self.wrong.take(packet);
                let number = exception.map_or(0, |exception| exception.number);
                if number != 0 || self.wrong.states.current.is_some() {
                    let full = self.branch(target, exception.unwrap_or_default(), cycle_count);
                    self.follow(&full, followed);
                }
            }
            Packet::WaypointUpdate { address, information, even } => {
                let State { address, isa, .. } = self.wrong.updated(address, information);
                let information = (isa == InstructionSet::T32Ee).then_some(0x40);
                self.wrong.take(packet);
                let full = Packet::WaypointUpdate { address: full(address, isa), information, even };
                self.follow(&full, followed);
            }
            _ => {
                self.wrong.take(packet);
                self.follow(packet, followed);
            }
        }
        self.go_to_current(followed);
    }

    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        if !followed.packet(packet) {
            self.lose_flow();
        }
    }

    /// Whether the flow goes on.
    fn spell_atom(
        &mut self,
        executed: bool,
        cycle_count: Option<CycleCount>,
        followed: &mut Followed<'_>,
    ) -> bool {
        self.go_to_current(followed);
        let (before, waypoint) = (self.wrong.states.current, self.wrong.reach());
        self.wrong.atom(executed);
        let mut atom = Packet::Atoms { atoms: Atoms::one(executed), cycle_count };
        let returns = executed && waypoint.is_some_and(|waypoint| waypoint.is_indirect);
        if returns && self.wrong.parameters.return_stack {
            match (self.wrong.states.current, before) {
                (Some(target), _) => {
                    let information =
                        ExceptionInformation { non_secure: target.non_secure, ..Default::default() };
                    atom = self.branch(target, information, cycle_count);
                }
                // The return stack of the reference may hold something that this one does not.
                (None, Some(before)) => followed.silent(&sync(before, Reason::TraceEnabled)),
                (None, None) => {}
            }
        }
        followed.packet(&atom)
    }

    /// The flow goes on in the current state.
    fn go_to_current(&self, followed: &mut Followed<'_>) {
        if let Some(current) = self.wrong.states.current
            && current.isa != InstructionSet::Jazelle
        {
            followed.silent(&sync(current, Reason::Periodic));
        }
    }

    fn branch(
        &self,
        target: State,
        information: ExceptionInformation,
        cycle_count: Option<CycleCount>,
    ) -> Packet {
        let State { address, isa, non_secure, hyp } = target;
        let exception = Some(ExceptionInformation {
            alt_isa: isa == InstructionSet::T32Ee,
            non_secure,
            hyp: self.wrong.parameters.virtualization.then_some(hyp),
            ..information
        });
        Packet::BranchAddress { address: full(address, isa), exception, cycle_count }
    }
}

impl Bug for Spelled {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        let before = self.wrong.states.clone();
        self.right.take(packet);
        self.wrong.take(packet);
        if !self.diverged && self.right.states == self.wrong.states {
            return self.follow(packet, followed);
        }
        self.diverged = true;
        self.wrong.states = before;
        self.spell(packet, followed);
        if let Packet::InstructionSync { reason, .. } = packet
            && *reason != Reason::Periodic
        {
            self.diverged = self.right.states != self.wrong.states;
        }
    }

    fn lose(&mut self, flow: &mut Flow) -> bool {
        self.right.lose();
        self.wrong.lose();
        self.diverged = self.right.states != self.wrong.states;
        flow.lose_synchronisation();
        false
    }
}

/// An I-sync with this state.
pub(super) fn sync(state: State, reason: Reason) -> Packet {
    let State { address, isa, non_secure, hyp } = state;
    Packet::InstructionSync {
        address: Address32(address.0 | u32::from(isa.is_thumb())),
        reason,
        non_secure,
        alt_isa: isa == InstructionSet::T32Ee,
        hyp,
        reserved: 0,
        cycle_count: None,
        context_id: None,
    }
}

/// The address in five bytes.
pub(super) fn full(address: Address32, isa: InstructionSet) -> CompressedAddress {
    let marker = match isa {
        InstructionSet::Jazelle => 32,
        InstructionSet::T32 | InstructionSet::T32Ee => 31,
        InstructionSet::A32 | InstructionSet::A64 => 30,
    };
    CompressedAddress { bits: u64::from(address.0 >> isa.alignment_bits()) | 1 << marker, bytes: 5 }
}
