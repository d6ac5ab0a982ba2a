//! How decoders of ARM PFT follow correctly read packets wrongly.

use traceproof_decoder::arm_pft::Flow;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    ArmPft, CycleCount, Event, ExceptionInformation, Packet, Parameters, Reason, State,
};
use traceproof_vectors::{Entry, Fault, FaultClass, Program};

use super::layers::{Bug, Followed};
use super::model::{Deviation, Model};
use super::spelled::{full, sync};

/// A closure that follows packets, beside a model that is right. It returns whether the flow goes on.
struct Watched<F> {
    model: Model,
    follow: F,
}

impl<F: FnMut(&Model, &Packet, &mut Followed<'_>) -> bool> Bug for Watched<F> {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        let follows = (self.follow)(&self.model, packet, followed);
        self.model.take(packet);
        if !follows {
            self.model.states.current = None;
        }
    }

    fn lose(&mut self, flow: &mut Flow) -> bool {
        self.model.lose();
        flow.lose_synchronisation();
        false
    }
}

fn watched(
    parameters: &Parameters,
    program: &Program,
    follow: impl FnMut(&Model, &Packet, &mut Followed<'_>) -> bool + 'static,
) -> Box<dyn Bug> {
    Box::new(Watched { model: Model::new(Deviation::None, parameters, program), follow })
}

const fn is_contradiction(entry: &Entry<ArmPft>) -> bool {
    matches!(entry, Entry::Fault(Fault { class: FaultClass::Contradiction, .. }))
}

/// The check of a periodic I-sync is made only where `checks` says so.
fn checked(
    parameters: &Parameters,
    program: &Program,
    checks: fn(Option<State>, State, bool) -> bool,
) -> Box<dyn Bug> {
    watched(parameters, program, move |model, packet, followed| {
        let follows = followed.packet(packet);
        if let Packet::InstructionSync { context_id, .. } = *packet {
            let same_context = context_id.is_none() || context_id == model.states.context_id;
            let checked = checks(model.states.current, model.of_sync(packet), same_context);
            followed.retain(|entry| checked || !is_contradiction(entry));
        }
        follows
    })
}

pub(super) fn only_addresses_are_checked(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    checked(parameters, program, |current, sync, _| {
        current.is_some_and(|current| current.address != sync.address)
    })
}

pub(super) fn instruction_sets_are_not_checked(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    checked(parameters, program, |current, sync, same_context| {
        !same_context || current.is_some_and(|current| State { isa: sync.isa, ..current } != sync)
    })
}

pub(super) fn context_ids_are_not_checked(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    checked(parameters, program, |current, sync, _| current != Some(sync))
}

pub(super) fn every_sync_is_checked(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    watched(parameters, program, |model, packet, followed| {
        let follows = followed.packet(packet);
        if let Packet::InstructionSync { reason, .. } = packet
            && *reason != Reason::Periodic
            && model.states.current.is_some_and(|current| current != model.of_sync(packet))
        {
            followed.fault(FaultClass::Contradiction);
        }
        follows
    })
}

/// The flow goes on where it was.
pub(super) fn contradicted_sync_is_not_believed(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    watched(parameters, program, |model, packet, followed| {
        let follows = followed.packet(packet);
        if let Packet::InstructionSync { reason: Reason::Periodic, .. } = packet
            && let Some(current) = model.states.current
            && current != model.of_sync(packet)
        {
            followed.silent(&sync(current, Reason::Periodic));
        }
        follows
    })
}

pub(super) fn contexts_wait_for_the_flow(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    watched(parameters, program, |model, packet, followed| {
        let is_context = matches!(packet, Packet::ContextId { .. } | Packet::Vmid(_));
        (is_context && model.states.current.is_none()) || followed.packet(packet)
    })
}

/// An exception directly after an I-sync: its instruction is taken for one that was executed.
pub(super) fn synchronised_instruction_was_executed(
    parameters: &Parameters,
    program: &Program,
) -> Box<dyn Bug> {
    let mut after_sync = false;
    watched(parameters, program, move |model, packet, followed| {
        if let Packet::BranchAddress { exception: Some(ExceptionInformation { number: 1.., .. }), .. } =
            packet
            && after_sync
            && let Some(State { address, isa, .. }) = model.states.current
            && model.reach().is_some_and(|waypoint| waypoint.address != address)
        {
            let information = (isa == InstructionSet::T32Ee).then_some(0x40);
            let update = Packet::WaypointUpdate { address: full(address, isa), information, even: false };
            followed.packet(&update);
        }
        after_sync = matches!(packet, Packet::InstructionSync { .. });
        followed.packet(packet)
    })
}

/// As OpenCSD does: information bytes make an exception, number 0 or not.
pub(super) struct InformationIsAnException;

impl Bug for InformationIsAnException {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        let mut packet = *packet;
        if let Packet::BranchAddress {
            exception: Some(ExceptionInformation { number: number @ 0, .. }),
            ..
        } = &mut packet
        {
            *number = UNUSED;
        }
        followed.packet(&packet);
    }

    fn report(&mut self, mut entry: Entry<ArmPft>) -> Option<Entry<ArmPft>> {
        if let Entry::Event(Event::Exception { number: number @ UNUSED, .. }) = &mut entry {
            *number = 0;
        }
        Some(entry)
    }
}

/// A generic exception, which stands for number 0 while the packet is followed.
const UNUSED: u16 = 13;

/// As OpenCSD does: only I-syncs select the memory.
pub(super) struct MemoryOfTheSync {
    model: Model,
    of_sync: bool,
}

impl MemoryOfTheSync {
    pub(super) fn new(parameters: &Parameters, program: &Program) -> Self {
        Self { model: Model::new(Deviation::None, parameters, program), of_sync: false }
    }
}

impl Bug for MemoryOfTheSync {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        let before = self.model.states.last.non_secure;
        let context_id = self.model.states.context_id;
        let agrees = match packet {
            Packet::InstructionSync { context_id: Some(stated), .. } if context_id != Some(*stated) => false,
            _ => self.model.states.current == Some(self.model.of_sync(packet)),
        };
        self.model.take(packet);
        let mut packet = *packet;
        match &mut packet {
            Packet::InstructionSync { non_secure, .. } => self.of_sync = *non_secure,
            Packet::BranchAddress { exception: Some(exception), .. } => exception.non_secure = self.of_sync,
            _ => {}
        }
        followed.packet(&packet);
        followed.retain(|entry| !(agrees && is_contradiction(entry)));
        let after = self.model.states.last.non_secure;
        followed.patch(|event| match event {
            Event::Instructions { non_secure, .. } => *non_secure = before,
            Event::Exception { non_secure, .. } | Event::BranchTo { non_secure, .. } => *non_secure = after,
            _ => {}
        });
    }
}

/// Packets between the first A-sync and the first I-sync are followed.
#[derive(Default)]
pub(super) struct NothingIsDiscarded {
    synchronised: bool,
}

impl Bug for NothingIsDiscarded {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        if !self.synchronised {
            // The flow is undefined after an entry to Debug state.
            self.synchronised = true;
            let nowhere = State::default();
            followed.silent(&sync(nowhere, Reason::TraceEnabled));
            let exception = Some(ExceptionInformation { number: 1, ..Default::default() });
            let address = full(nowhere.address, nowhere.isa);
            followed.silent(&Packet::BranchAddress { address, exception, cycle_count: None });
        }
        followed.packet(packet);
    }

    fn lose(&mut self, flow: &mut Flow) -> bool {
        self.synchronised = false;
        flow.lose_synchronisation();
        false
    }
}

/// What cannot be read costs nothing but itself.
pub(super) struct GoesOn;

impl Bug for GoesOn {
    fn lose(&mut self, _: &mut Flow) -> bool {
        true
    }
}

/// The next byte is a header, but an I-sync must come.
pub(super) struct GoesOnToTheNextSync;

impl Bug for GoesOnToTheNextSync {
    fn lose(&mut self, flow: &mut Flow) -> bool {
        flow.lose_synchronisation();
        true
    }
}

/// After the search the flow is where it was.
pub(super) struct KeepsTheFlow;

impl Bug for KeepsTheFlow {
    fn lose(&mut self, _: &mut Flow) -> bool {
        false
    }
}

/// A reset forgets nothing that the flow knows.
pub(super) struct ResetsTheReader;

impl Bug for ResetsTheReader {
    fn reset(&mut self, _: &mut Flow) {}
}

/// A reset forgets everything but the cycle total.
pub(super) struct CyclesSurvive;

impl Bug for CyclesSurvive {
    fn reset(&mut self, flow: &mut Flow) {
        flow.lose_synchronisation();
    }
}

/// Cycle counts that are added, or not.
pub(super) struct Cycles {
    /// Whether the count of a packet is added, given whether the flow is defined.
    adds: fn(&Packet, bool) -> bool,
    model: Model,
    total: u64,
}

impl Cycles {
    fn boxed(adds: fn(&Packet, bool) -> bool, parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
        Box::new(Self { adds, model: Model::new(Deviation::None, parameters, program), total: 0 })
    }

    fn count(packet: &Packet) -> Option<CycleCount> {
        match *packet {
            Packet::Atoms { cycle_count, .. }
            | Packet::BranchAddress { cycle_count, .. }
            | Packet::InstructionSync { cycle_count, .. }
            | Packet::Timestamp { cycle_count, .. } => cycle_count,
            _ => None,
        }
    }
}

impl Bug for Cycles {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        let defined = self.model.states.current.is_some();
        self.model.take(packet);
        let synchronised = self.model.is_synchronised();
        if !followed.packet(packet) {
            self.model.states.current = None;
        }
        followed.retain(|entry| !matches!(entry, Entry::Event(Event::Cycles { .. })));
        if let Some(CycleCount { value, .. }) = Self::count(packet).filter(|_| synchronised)
            && (self.adds)(packet, defined)
        {
            self.total = self.total.saturating_add(value.into());
            followed.event_before_others(Event::Cycles { count: value, total: self.total });
        }
    }

    fn lose(&mut self, flow: &mut Flow) -> bool {
        self.model.lose();
        flow.lose_synchronisation();
        false
    }
}

const fn is_sync_after_a_gap(packet: &Packet) -> bool {
    matches!(packet, Packet::InstructionSync { reason: Reason::Overflow | Reason::DebugExit, .. })
}

pub(super) fn every_count_is_added(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    Cycles::boxed(|_, _| true, parameters, program)
}

pub(super) fn counts_of_timestamps_are_not_added(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    Cycles::boxed(
        |packet, _| !matches!(packet, Packet::Timestamp { .. }) && !is_sync_after_a_gap(packet),
        parameters,
        program,
    )
}

/// As OpenCSD does.
pub(super) fn counts_need_the_flow(parameters: &Parameters, program: &Program) -> Box<dyn Bug> {
    Cycles::boxed(
        |packet, defined| match packet {
            Packet::Atoms { .. } | Packet::BranchAddress { .. } => defined,
            _ => !is_sync_after_a_gap(packet),
        },
        parameters,
        program,
    )
}
