//! Wrong assumptions about what a record means.

use traceproof_vectors::arm_ete_unit::{
    Access, Agent, Barrier, Input, Operation, Outcome, Packet, Power, ProcessorEvent, Register, Reset,
    Signal, Sink, SinkState, StatusBit,
};

/// An input that is taken for another one, or for none.
fn input(packet: Packet, change: impl Fn(Input) -> Option<Input>) -> Option<Packet> {
    match packet {
        Packet::Input(input) => change(input).map(Packet::Input),
        other => Some(other),
    }
}

/// An access that is taken for another one.
fn access(packet: Packet, change: impl Fn(&mut Access)) -> Option<Packet> {
    Some(match packet {
        Packet::Access(mut access) => {
            change(&mut access);
            Packet::Access(access)
        }
        other => other,
    })
}

/// A barrier that is taken for another one.
fn barrier(packet: Packet, from: Barrier, to: Barrier) -> Option<Packet> {
    input(packet, |input| Some(if input == Input::Barrier(from) { Input::Barrier(to) } else { input }))
}

/// A reset that is taken for another one, or for none.
fn reset(packet: Packet, from: Reset, to: Option<Reset>) -> Option<Packet> {
    input(packet, |input| if input == Input::Reset(from) { to.map(Input::Reset) } else { Some(input) })
}

pub(super) fn direct_accesses_are_external(packet: Packet) -> Option<Packet> {
    access(packet, |access| {
        if access.agent.is_direct() && !access.register.is_of_processor() && access.outcome == Outcome::Ok {
            access.agent = Agent::External;
        }
    })
}

pub(super) fn dsb_synchronises(packet: Packet) -> Option<Packet> {
    barrier(packet, Barrier::Dsb, Barrier::Isb)
}

pub(super) fn returns_do_not_synchronise(packet: Packet) -> Option<Packet> {
    barrier(packet, Barrier::ExceptionReturn, Barrier::Dsb)
}

pub(super) fn entries_do_not_synchronise(packet: Packet) -> Option<Packet> {
    barrier(packet, Barrier::ExceptionEntry, Barrier::Dsb)
}

pub(super) fn tsb_is_a_dsb(packet: Packet) -> Option<Packet> {
    barrier(packet, Barrier::Tsb, Barrier::Dsb)
}

pub(super) fn debug_state_does_not_synchronise(packet: Packet) -> Option<Packet> {
    input(packet, |input| match input {
        Input::Processor(ProcessorEvent::DebugEntry | ProcessorEvent::DebugExit) => None,
        other => Some(other),
    })
}

pub(super) fn os_lock_ignored(packet: Packet) -> Option<Packet> {
    input(packet, |input| if matches!(input, Input::OsLock { .. }) { None } else { Some(input) })
}

pub(super) fn debug_component_is_direct(packet: Packet) -> Option<Packet> {
    input(packet, |input| match input {
        Input::OsLock { locked, .. } => Some(Input::OsLock { agent: Agent::System, locked }),
        other => Some(other),
    })
}

pub(super) fn os_lock_at_once(packet: Packet) -> Option<Packet> {
    input(packet, |input| match input {
        Input::OsLock { locked, .. } => Some(Input::OsLock { agent: Agent::External, locked }),
        other => Some(other),
    })
}

pub(super) fn pmstable_is_idle(packet: Packet) -> Option<Packet> {
    Some(match packet {
        Packet::Poll(mut poll) if poll.value => {
            poll.bit = StatusBit::Idle;
            Packet::Poll(poll)
        }
        other => other,
    })
}

pub(super) fn polls_never_time_out(packet: Packet) -> Option<Packet> {
    Some(match packet {
        Packet::Poll(mut poll) => {
            poll.timed_out = false;
            Packet::Poll(poll)
        }
        other => other,
    })
}

pub(super) fn warm_reset_resets(packet: Packet) -> Option<Packet> {
    reset(packet, Reset::Warm, Some(Reset::TraceUnit))
}

pub(super) fn warm_reset_ignored(packet: Packet) -> Option<Packet> {
    reset(packet, Reset::Warm, None)
}

pub(super) fn cold_reset_keeps_the_lock(packet: Packet) -> Option<Packet> {
    reset(packet, Reset::Cold, Some(Reset::TraceUnit))
}

pub(super) fn trace_unit_reset_ignored(packet: Packet) -> Option<Packet> {
    reset(packet, Reset::TraceUnit, None)
}

pub(super) fn power_off_keeps(packet: Packet) -> Option<Packet> {
    input(packet, |input| {
        Some(if input == Input::Power(Power::Off) { Input::Power(Power::Retention) } else { input })
    })
}

pub(super) fn retention_loses(packet: Packet) -> Option<Packet> {
    input(packet, |input| {
        Some(if input == Input::Power(Power::Retention) { Input::Power(Power::Off) } else { input })
    })
}

pub(super) fn errors_write(packet: Packet) -> Option<Packet> {
    access(packet, |access| {
        if access.outcome == Outcome::Error {
            access.outcome = Outcome::Unknown;
        }
    })
}

pub(super) fn trapped_accesses_write(packet: Packet) -> Option<Packet> {
    access(packet, |access| {
        if access.outcome == Outcome::Trapped {
            access.outcome = Outcome::Unknown;
        }
    })
}

pub(super) fn undefined_accesses_write(packet: Packet) -> Option<Packet> {
    access(packet, |access| {
        if access.outcome == Outcome::Undefined {
            access.outcome = Outcome::Unknown;
        }
    })
}

pub(super) fn outputs_always_enabled(packet: Packet) -> Option<Packet> {
    access(packet, |access| {
        if access.register == Register::EVENTCTL1R {
            access.value = access.value.map(|value| value | 0x2000);
        }
    })
}

pub(super) fn status_of_two_bits(packet: Packet) -> Option<Packet> {
    access(packet, |access| {
        if access.register == Register::STATR {
            access.value = access.value.map(|value| value & 3);
        }
    })
}

pub(super) fn claim_clear_sets(packet: Packet) -> Option<Packet> {
    access(packet, |access| {
        if access.register == Register::CLAIMCLR && access.operation == Operation::Write {
            access.register = Register::CLAIMSET;
        }
    })
}

pub(super) fn spaces_ignored(packet: Packet) -> Option<Packet> {
    access(packet, |access| access.space = None)
}

pub(super) fn access_control_ignored(packet: Packet) -> Option<Packet> {
    input(packet, |input| if matches!(input, Input::ExternalAccess { .. }) { None } else { Some(input) })
}

pub(super) fn trace_buffer_switch_ignored(packet: Packet) -> Option<Packet> {
    input(packet, |input| if matches!(input, Input::TraceBuffer { .. }) { None } else { Some(input) })
}

pub(super) fn stopped_buffer_accepts(packet: Packet) -> Option<Packet> {
    input(packet, |input| match input {
        Input::Sink { sink, state: SinkState::Stopped } => {
            Some(Input::Sink { sink, state: SinkState::Accepting })
        }
        other => Some(other),
    })
}

pub(super) fn interface_switch_ignored(packet: Packet) -> Option<Packet> {
    input(packet, |input| if matches!(input, Input::Interfaces { .. }) { None } else { Some(input) })
}

pub(super) fn prohibition_ignored(packet: Packet) -> Option<Packet> {
    input(packet, |input| match input {
        Input::TraceFilter { .. } => Some(Input::TraceFilter { prohibited: false }),
        Input::Processor(ProcessorEvent::ProhibitedEntry) => None,
        other => Some(other),
    })
}

pub(super) fn one_interface(packet: Packet) -> Option<Packet> {
    Some(match packet {
        Packet::Output { sink: Sink::Interface(_), bytes } => {
            Packet::Output { sink: Sink::Interface(0), bytes }
        }
        other => other,
    })
}

pub(super) fn recovery_never_ends(packet: Packet) -> Option<Packet> {
    if packet == Packet::Signal(Signal::Overflow(false)) { None } else { Some(packet) }
}

pub(super) fn gaps_ignored(packet: Packet) -> Option<Packet> {
    input(packet, |input| if input == Input::Gap { None } else { Some(input) })
}

pub(super) fn ends_ignored(packet: Packet) -> Option<Packet> {
    input(packet, |input| if input == Input::End { None } else { Some(input) })
}

pub(super) fn visibility_ignored(packet: Packet) -> Option<Packet> {
    input(packet, |input| if matches!(input, Input::Visibility { .. }) { None } else { Some(input) })
}

pub(super) fn time_stands_still(packet: Packet) -> Option<Packet> {
    input(packet, |input| if matches!(input, Input::Wait(_)) { None } else { Some(input) })
}
