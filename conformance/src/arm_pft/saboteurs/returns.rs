//! PTMs whose return stack deviates: the reference has none, and sees direct branches where this one matches.

use traceproof_vectors::Program;
use traceproof_vectors::arm_pft::{
    Packet, Parameters, Policy, Reason, Signal, State, Stimulus, Waypoint, WaypointKind,
};

use super::model::{Deviation, Model};
use super::sending::Bug;

/// How a return stack deviates from 4.13.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Nothing,
    /// A periodic I-sync does not empty it.
    OverPeriodicSyncs,
    /// A branch with link pushes even if its condition failed.
    NotExecutedPushes,
    /// BLX (register) pushes before it compares.
    PushesFirst,
    /// Where it is full nothing is pushed.
    DropsNewest,
    /// A branch that does not match takes the top away.
    MismatchPops,
    /// The instruction set is not compared.
    AnySet,
    /// It is not emptied by the I-sync after an exit from Debug state.
    OverDebugState,
}

pub(super) struct Returns {
    wrong: Wrong,
    model: Model,
    depth: usize,
    /// The newest last.
    entries: Vec<State>,
    tracing: bool,
}

impl Returns {
    pub(super) fn new(wrong: Wrong, parameters: &Parameters) -> Self {
        let model = Model::new(Deviation::None, parameters, &Program::new());
        Self { wrong, model, depth: 0, entries: Vec::new(), tracing: false }
    }

    fn push(&mut self, waypoint: &Waypoint) {
        if !waypoint.link || self.depth == 0 {
            return;
        }
        if self.entries.len() >= self.depth {
            if self.wrong == Wrong::DropsNewest {
                return;
            }
            self.entries.remove(0);
        }
        let address = waypoint.address.wrapping_add(waypoint.size.into());
        self.entries.push(State { address, isa: waypoint.isa, ..self.model.states.last });
    }

    fn pop_matching(&mut self, next: State) -> bool {
        let any_set = self.wrong == Wrong::AnySet;
        let matches = self
            .entries
            .last()
            .is_some_and(|top| *top == if any_set { State { isa: top.isa, ..next } } else { next });
        if matches || self.wrong == Wrong::MismatchPops {
            self.entries.pop();
        }
        matches
    }

    /// Whether the waypoint is traced with an E atom although it is an indirect branch.
    fn waypoint(&mut self, waypoint: &Waypoint) -> bool {
        if !waypoint.executed {
            if self.wrong == Wrong::NotExecutedPushes {
                self.push(waypoint);
            }
            return false;
        }
        if self.wrong == Wrong::PushesFirst {
            self.push(waypoint);
        }
        let virtualization = self.model.parameters.virtualization;
        let next = State { hyp: waypoint.next.hyp && virtualization, ..waypoint.next };
        let last = self.model.states.last;
        let matches = waypoint.kind == WaypointKind::Indirect
            && !waypoint.exception_return
            && (last.non_secure, last.hyp) == (next.non_secure, next.hyp)
            && self.pop_matching(next);
        if self.wrong != Wrong::PushesFirst {
            self.push(waypoint);
        }
        matches
    }
}

impl Bug for Returns {
    fn configure(&mut self, policy: &mut Policy) {
        let is_used = self.model.parameters.return_stack;
        self.depth = if is_used { policy.return_stack_depth.into() } else { 0 };
        policy.return_stack_depth = 0;
    }

    fn see(&mut self, stimulus: &mut Stimulus) {
        match &mut stimulus.signal {
            Signal::Waypoint(waypoint) if self.tracing && self.waypoint(waypoint) => {
                waypoint.kind = WaypointKind::Direct;
            }
            Signal::Disable
            | Signal::TraceEnable(false)
            | Signal::DebugEntry(_)
            | Signal::ProhibitedEntry
            | Signal::Overflow(true) => self.tracing = false,
            _ => {}
        }
    }

    fn send(&mut self, _: &Stimulus, packets: &mut Vec<Packet>) {
        for packet in packets {
            self.model.take(packet);
            if let Packet::InstructionSync { reason, .. } = packet {
                self.tracing = true;
                let keeps = match self.wrong {
                    Wrong::OverPeriodicSyncs => *reason == Reason::Periodic,
                    Wrong::OverDebugState => *reason == Reason::DebugExit,
                    _ => false,
                };
                if !keeps {
                    self.entries.clear();
                }
            }
        }
    }
}
