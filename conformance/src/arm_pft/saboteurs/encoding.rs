//! How PTMs are made wrong.

use traceproof_vectors::Address32;
use traceproof_vectors::Program;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    ArmPft, CompressedAddress, CycleCount, ExceptionInformation, Packet, Parameters, Policy, Reason, Signal,
    State, Stimulus, Waypoint, WaypointKind,
};

use super::model::{Deviation, Model};
use super::sending::{Bug, Changing};
use super::spelled::full;
use crate::saboteurs::encoders::Steps;

/// Changes what happens.
fn signals(mut change: impl FnMut(&mut Signal) + 'static) -> Steps<ArmPft> {
    Box::new(move |mut stimulus| {
        change(&mut stimulus.signal);
        Some(stimulus)
    })
}

pub(super) fn updates_before_exceptions_not_sent(_: &Parameters) -> Steps<ArmPft> {
    signals(|signal| {
        if let Signal::Exception(exception) = signal
            && !matches!(exception.number, 2 | 9 | 10)
        {
            exception.last = None;
        }
    })
}

pub(super) fn calls_are_not_upgraded(_: &Parameters) -> Steps<ArmPft> {
    signals(|signal| {
        if let Signal::Exception(exception) = signal
            && matches!(exception.number, 2 | 9 | 10)
        {
            exception.last = None;
        }
    })
}

/// As if it had executed.
pub(super) fn aborting_instruction_is_named(_: &Parameters) -> Steps<ArmPft> {
    signals(|signal| {
        if let Signal::Exception(exception) = signal
            && matches!(exception.number, 11 | 12)
        {
            exception.last = exception.last.map(|last| last.wrapping_add(4));
        }
    })
}

pub(super) fn debug_entry_without_update(_: &Parameters) -> Steps<ArmPft> {
    signals(|signal| {
        if let Signal::DebugEntry(last) = signal {
            *last = None;
        }
    })
}

pub(super) fn indirect_calls_do_not_push(_: &Parameters) -> Steps<ArmPft> {
    signals(|signal| {
        if let Signal::Waypoint(waypoint) = signal
            && waypoint.kind == WaypointKind::Indirect
        {
            waypoint.link = false;
        }
    })
}

pub(super) fn isb_always_executes(_: &Parameters) -> Steps<ArmPft> {
    signals(|signal| {
        if let Signal::Waypoint(waypoint) = signal
            && waypoint.kind == WaypointKind::Isb
        {
            waypoint.executed = true;
        }
    })
}

pub(super) fn flush_ignored(_: &Parameters) -> Steps<ArmPft> {
    signals(|signal| {
        if *signal == Signal::Flush {
            *signal = Signal::Idle;
        }
    })
}

pub(super) fn trigger_lost_in_overflow(_: &Parameters) -> Steps<ArmPft> {
    let mut overflows = false;
    signals(move |signal| match signal {
        Signal::Overflow(full) => overflows = *full,
        Signal::Trigger if overflows => *signal = Signal::Idle,
        _ => {}
    })
}

pub(super) fn prohibited_regions_traced(_: &Parameters) -> Steps<ArmPft> {
    signals(|signal| {
        if *signal == Signal::ProhibitedEntry {
            *signal = Signal::Idle;
        }
    })
}

pub(super) fn return_stack_one_entry_deeper(parameters: &mut Parameters, policy: &mut Policy) {
    if let Some(depth) = parameters.return_stack_depth.checked_add(1) {
        parameters.return_stack_depth = depth;
        policy.return_stack_depth = policy.return_stack_depth.saturating_add(1).min(depth);
    }
}

pub(super) fn exception_returns_in_v1_0(parameters: &mut Parameters, _: &mut Policy) {
    parameters.minor = 1;
}

pub(super) fn barriers_are_waypoints(parameters: &mut Parameters, _: &mut Policy) {
    parameters.barrier_waypoints = true;
}

pub(super) fn broadcasts_nothing(parameters: &mut Parameters, _: &mut Policy) {
    parameters.branch_broadcast = false;
}

/// Changes the packets of a step.
fn steps(change: impl FnMut(&Stimulus, &mut Vec<Packet>) + 'static) -> Box<dyn Bug> {
    Box::new(Changing(change))
}

/// Changes packets one by one.
fn packets(mut change: impl FnMut(&mut Packet) + 'static) -> Box<dyn Bug> {
    steps(move |_, packets| packets.iter_mut().for_each(&mut change))
}

/// The packets that are `early` move before the last one that is `late`, if that comes before them.
fn overtakes(packets: &mut Vec<Packet>, early: fn(&Packet) -> bool, late: fn(&Packet) -> bool) {
    if let Some(from) = packets.iter().position(early)
        && let Some(to) = packets.iter().take(from).rposition(late)
    {
        let packet = packets.remove(from);
        packets.insert(to, packet);
    }
}

const fn is_flow(packet: &Packet) -> bool {
    matches!(packet, Packet::Atoms { .. } | Packet::BranchAddress { .. })
}

pub(super) fn context_id_before_the_waypoint(_: &Parameters) -> Box<dyn Bug> {
    steps(|_, packets| overtakes(packets, |packet| matches!(packet, Packet::ContextId { .. }), is_flow))
}

pub(super) fn timestamp_before_the_waypoint(_: &Parameters) -> Box<dyn Bug> {
    steps(|_, packets| overtakes(packets, |packet| matches!(packet, Packet::Timestamp { .. }), is_flow))
}

/// The order of ETMv3.
pub(super) fn exception_return_before_the_branch(_: &Parameters) -> Box<dyn Bug> {
    steps(|_, packets| {
        let is_branch = |packet: &Packet| matches!(packet, Packet::BranchAddress { .. });
        overtakes(packets, |packet| *packet == Packet::ExceptionReturn, is_branch);
    })
}

pub(super) fn timestamp_before_the_sync(_: &Parameters) -> Box<dyn Bug> {
    steps(|_, packets| {
        let is_sync = |packet: &Packet| matches!(packet, Packet::InstructionSync { .. });
        overtakes(packets, |packet| matches!(packet, Packet::Timestamp { .. }), is_sync);
    })
}

pub(super) fn update_before_held_atoms(_: &Parameters) -> Box<dyn Bug> {
    steps(|_, packets| {
        let is_atoms = |packet: &Packet| matches!(packet, Packet::Atoms { .. });
        overtakes(packets, |packet| matches!(packet, Packet::WaypointUpdate { .. }), is_atoms);
    })
}

pub(super) fn branch_before_held_atoms(_: &Parameters) -> Box<dyn Bug> {
    steps(|_, packets| {
        let is_atoms = |packet: &Packet| matches!(packet, Packet::Atoms { .. });
        overtakes(
            packets,
            |packet| matches!(packet, Packet::BranchAddress { exception: None, .. }),
            is_atoms,
        );
    })
}

fn reasons(change: impl Fn(&mut Reason) + 'static) -> Box<dyn Bug> {
    packets(move |packet| {
        if let Packet::InstructionSync { reason, .. } = packet {
            change(reason);
        }
    })
}

pub(super) fn restart_without_its_reason(_: &Parameters) -> Box<dyn Bug> {
    reasons(|reason| {
        if *reason == Reason::Overflow {
            *reason = Reason::TraceEnabled;
        }
    })
}

pub(super) fn debug_exit_without_its_reason(_: &Parameters) -> Box<dyn Bug> {
    reasons(|reason| {
        if *reason == Reason::DebugExit {
            *reason = Reason::TraceEnabled;
        }
    })
}

pub(super) fn count_of_sync_without_bit_7(_: &Parameters) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::InstructionSync { cycle_count: Some(count), .. } = packet {
            count.reserved |= 0x80;
        }
    })
}

pub(super) fn small_counts_in_two_bytes(_: &Parameters) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::InstructionSync { cycle_count: Some(count), .. } = packet {
            count.bytes = count.bytes.max(2);
        }
    })
}

pub(super) fn full_timestamp_without_its_last_byte(_: &Parameters) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::Timestamp { value, .. } = packet
            && value.bytes == 9
            && value.bits >> 56 == 0
        {
            value.bytes = 8;
        }
    })
}

pub(super) fn clock_change_stays(_: &Parameters) -> Box<dyn Bug> {
    let mut changed = false;
    packets(move |packet| {
        if let Packet::Timestamp { clock_change, .. } = packet {
            changed |= *clock_change;
            *clock_change = changed;
        }
    })
}

pub(super) fn hyp_is_never_left(_: &Parameters) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::BranchAddress { exception: Some(exception), .. } = packet
            && exception.hyp == Some(false)
            && exception.number < 16
        {
            exception.hyp = None;
        }
    })
}

/// The address of the waypoint itself.
pub(super) fn long_block_update_names_the_waypoint(_: &Parameters) -> Box<dyn Bug> {
    steps(|stimulus, packets| {
        let Signal::Waypoint(Waypoint { address: at, isa, .. }) = stimulus.signal else { return };
        for packet in packets {
            if let Packet::WaypointUpdate { address, .. } = packet {
                *address = full(at, isa);
            }
        }
    })
}

/// A periodic I-sync has no count, but the counter starts again.
pub(super) fn periodic_sync_takes_the_cycles(_: &Parameters) -> Box<dyn Bug> {
    let (mut elapsed, mut taken) = (0_u64, 0_u64);
    steps(move |stimulus, packets| {
        elapsed = elapsed.saturating_add(stimulus.cycles.into());
        for packet in packets {
            match packet {
                Packet::InstructionSync { reason: Reason::Periodic, .. } => taken = elapsed,
                Packet::Atoms { cycle_count: Some(count), .. }
                | Packet::BranchAddress { cycle_count: Some(count), .. }
                | Packet::InstructionSync { cycle_count: Some(count), .. } => {
                    *count = CycleCount::new(count.value.saturating_sub(taken as u32));
                    (elapsed, taken) = (0, 0);
                }
                _ => {}
            }
        }
    })
}

/// The model that knows what was sent.
fn sent(parameters: &Parameters) -> Model {
    Model::new(Deviation::None, parameters, &Program::new())
}

/// Changes branch addresses, given the last state before them and their target.
fn branches<F>(parameters: &Parameters, mut change: F) -> Box<dyn Bug>
where
    F: FnMut(&Model, State, &mut CompressedAddress, &mut Option<ExceptionInformation>) + 'static,
{
    let mut model = sent(parameters);
    packets(move |packet| {
        let right = *packet;
        if let Packet::BranchAddress { address, exception, .. } = packet {
            let target = model.target(*address, *exception);
            change(&model, target, address, exception);
        }
        model.take(&right);
    })
}

/// The address in as few bytes as a base in the same instruction set allows, but not fewer.
fn compressed(target: State, base: Address32, fewest: u8) -> CompressedAddress {
    let alignment = target.isa.alignment_bits();
    let changed = (target.address.0 ^ base.0) >> alignment;
    let field = u64::from(target.address.0 >> alignment);
    for (bytes, width) in [(1, 6), (2, 12), (3, 19), (4, 26)] {
        if bytes >= fewest && changed >> width == 0 {
            return CompressedAddress { bits: field & ((1 << width) - 1), bytes };
        }
    }
    full(target.address, target.isa)
}

const fn fewest(exception: Option<ExceptionInformation>) -> u8 {
    if exception.is_some() { 2 } else { 1 }
}

/// The base is that of the branch before, whatever I-syncs came since then.
pub(super) fn sync_is_no_base(parameters: &Parameters) -> Box<dyn Bug> {
    let mut base: Option<State> = None;
    branches(parameters, move |_, target, address, exception| {
        if let Some(base) = base.filter(|base| base.isa == target.isa) {
            *address = compressed(target, base.address, fewest(*exception));
        }
        base = Some(target);
    })
}

/// The base is that of the branch before, and exceptions are no branches.
pub(super) fn exception_is_no_base(parameters: &Parameters) -> Box<dyn Bug> {
    let mut base: Option<State> = None;
    branches(parameters, move |model, target, address, exception| {
        let stated = model.states.last;
        if let Some(base) = base.take().filter(|base| base.isa == target.isa && stated.isa == target.isa) {
            *address = compressed(target, base.address, fewest(*exception));
        }
        if exception.is_some_and(|exception| exception.number != 0) {
            base = Some(stated);
        }
    })
}

/// The base is the waypoint update alone.
pub(super) fn update_is_the_only_base(parameters: &Parameters) -> Box<dyn Bug> {
    let mut model = sent(parameters);
    let mut base: Option<State> = None;
    packets(move |packet| {
        let right = *packet;
        match packet {
            Packet::BranchAddress { address, exception, .. } => {
                let target = model.target(*address, *exception);
                if let Some(base) = base.take().filter(|base| base.isa == target.isa) {
                    *address = compressed(target, base.address, fewest(*exception));
                }
            }
            Packet::WaypointUpdate { address, information, .. } => {
                base = Some(model.updated(*address, *information));
            }
            _ => {}
        }
        model.take(&right);
    })
}

/// A branch to the instruction set of the branch instruction is short.
pub(super) fn short_address_in_the_current_set(parameters: &Parameters) -> Box<dyn Bug> {
    let mut model = sent(parameters);
    steps(move |stimulus, packets| {
        for packet in packets {
            let right = *packet;
            if let Packet::BranchAddress { address, exception, .. } = packet
                && let Signal::Waypoint(waypoint) = stimulus.signal
            {
                let target = model.target(*address, *exception);
                if target.isa == waypoint.isa && target.isa != InstructionSet::Jazelle {
                    *address = compressed(target, model.states.last.address, fewest(*exception));
                }
            }
            model.take(&right);
        }
    })
}

/// Where one address byte is enough, only one is sent.
pub(super) fn one_byte_without_information(parameters: &Parameters) -> Box<dyn Bug> {
    branches(parameters, |model, target, address, exception| {
        let last = model.states.last;
        let short = compressed(target, last.address, 1);
        let is_exception = exception.is_some_and(|exception| exception.number != 0);
        if !is_exception && exception.is_some() && last.isa == target.isa && short.bytes == 1 {
            (*address, *exception) = (short, None);
        }
    })
}

/// What is not ThumbEE needs no AltISA bit.
pub(super) fn leaving_thumb_ee_unsaid(parameters: &Parameters) -> Box<dyn Bug> {
    branches(parameters, |model, target, _, exception| {
        let last = model.states.last;
        let leaves = last.isa == InstructionSet::T32Ee && target.isa != last.isa;
        let same = (last.non_secure, last.hyp) == (target.non_secure, target.hyp);
        if leaves && same && exception.is_some_and(|exception| exception.number == 0) {
            *exception = None;
        }
    })
}

/// Hides a change of security state from waypoints of this kind.
struct Hiding {
    kind: WaypointKind,
    model: Model,
}

impl Bug for Hiding {
    fn see(&mut self, stimulus: &mut Stimulus) {
        if let Signal::Waypoint(waypoint) = &mut stimulus.signal
            && waypoint.kind == self.kind
            && !waypoint.exception_return
        {
            let State { non_secure, hyp, .. } = self.model.states.last;
            waypoint.next = State { non_secure, hyp, ..waypoint.next };
        }
    }

    fn send(&mut self, _: &Stimulus, packets: &mut Vec<Packet>) {
        packets.iter().for_each(|packet| self.model.take(packet));
    }
}

pub(super) fn direct_branch_hides_security(parameters: &Parameters) -> Box<dyn Bug> {
    Box::new(Hiding { kind: WaypointKind::Direct, model: sent(parameters) })
}

pub(super) fn return_hides_security(parameters: &Parameters) -> Box<dyn Bug> {
    if parameters.return_stack {
        Box::new(Hiding { kind: WaypointKind::Indirect, model: sent(parameters) })
    } else {
        Box::new(())
    }
}
