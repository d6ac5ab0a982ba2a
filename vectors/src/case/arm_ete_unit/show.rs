//! Records as items of a line: the inverse of [`line`](super::line).

use super::words::{BARRIERS, OUTCOMES, RESOURCES, SPACES, STATUS_BITS, VISIBLE, name_of};
use crate::arm_ete_unit::{
    Access, Agent, Input, Operation, Packet, Poll, Power, ProcessorEvent, Reset, Signal, Sink, SinkState,
};

/// The item that stands for a record.
pub(super) fn packet(packet: &Packet) -> String {
    match packet {
        Packet::Access(access) => show_access(access),
        Packet::Poll(Poll { agent, bit, value, timed_out }) => {
            let agent = agent_letter(*agent);
            let end = if *timed_out { " timeout" } else { "" };
            format!("poll {agent} {}={}{end}", name_of(&STATUS_BITS, *bit), u8::from(*value))
        }
        Packet::Input(input) => show_input(*input),
        Packet::Output { sink, bytes } => format!("out {} {bytes}", sink_name(*sink)),
        Packet::State(state) => format!("st {}", state.name()),
        Packet::Signal(signal) => show_signal(*signal),
    }
}

const fn agent_letter(agent: Agent) -> char {
    match agent {
        Agent::System => 's',
        Agent::External => 'x',
        Agent::Memory => 'm',
    }
}

fn sink_name(sink: Sink) -> String {
    match sink {
        Sink::TraceBuffer => "trbu".to_owned(),
        Sink::Interface(n) => format!("if{n}"),
    }
}

fn show_access(access: &Access) -> String {
    let Access { agent, space, operation, register, double, value, outcome } = *access;
    let (letter, sign) = if operation == Operation::Write { ('w', "=") } else { ('r', "->") };
    let mut text = format!("{}{letter}{} {register}", agent_letter(agent), if double { "64" } else { "" });
    if let Some(value) = value {
        text.push_str(&format!("{sign}{value:#x}"));
    }
    if let Some(space) = space {
        text.push_str(&format!(" @{}", name_of(&SPACES, space)));
    }
    match name_of(&OUTCOMES, outcome) {
        "" => text,
        outcome => format!("{text} {outcome}"),
    }
}

fn show_input(input: Input) -> String {
    let bit = u8::from;
    match input {
        Input::Barrier(barrier) => name_of(&BARRIERS, barrier).to_owned(),
        Input::OsLock { agent: Agent::System, locked } => format!("oslk {}", bit(locked)),
        Input::OsLock { agent, locked } => format!("{}oslk {}", agent_letter(agent), bit(locked)),
        Input::TraceFilter { prohibited } => format!("trf {}", if prohibited { 'P' } else { 'A' }),
        Input::TraceBuffer { enabled } => format!("tb {}", bit(enabled)),
        Input::Processor(event) => format!("pe {}", show_processor(event)),
        Input::Reset(reset) => match reset {
            Reset::TraceUnit => "rst".to_owned(),
            Reset::Cold => "cold".to_owned(),
            Reset::Warm => "warm".to_owned(),
        },
        Input::Power(power) => match power {
            Power::Off => "pw 0".to_owned(),
            Power::On => "pw 1".to_owned(),
            Power::Retention => "pw ret".to_owned(),
        },
        Input::Sink { sink, state } => {
            let state = match state {
                SinkState::Blocked => "0",
                SinkState::Accepting => "1",
                SinkState::Stopped => "stop",
            };
            format!("sink {} {state}", sink_name(sink))
        }
        Input::Interfaces { enabled } => format!("ifc {}", bit(enabled)),
        Input::ExternalAccess { etad } => format!("etad {etad}"),
        Input::Event(n) => format!("ev {n}"),
        Input::FlushRequest => "flush".to_owned(),
        Input::Wait(time) => format!("wait {time}"),
        Input::Visibility { what, shown } => format!("see {} {}", name_of(&VISIBLE, what), bit(shown)),
        Input::Gap => "gap".to_owned(),
        Input::End => "end".to_owned(),
    }
}

fn show_processor(event: ProcessorEvent) -> String {
    match event {
        ProcessorEvent::DebugEntry => "debug".to_owned(),
        ProcessorEvent::DebugExit => "run".to_owned(),
        ProcessorEvent::Level { level, space } => format!("el{level} {}", name_of(&SPACES, space)),
        ProcessorEvent::ProhibitedEntry => "prohibited".to_owned(),
        ProcessorEvent::ProhibitedExit => "allowed".to_owned(),
        ProcessorEvent::LowPowerEntry => "low-power".to_owned(),
        ProcessorEvent::LowPowerExit => "awake".to_owned(),
    }
}

fn show_signal(signal: Signal) -> String {
    let (name, value) = match signal {
        Signal::Enabled(value) => ("enabled", value),
        Signal::Operative(value) => ("operative", value),
        Signal::ViewInst(value) => ("viewinst", value),
        Signal::Overflow(value) => ("overflow", value),
        Signal::Stall(value) => ("stall", value),
        Signal::FlushAcknowledge => return "sig ack".to_owned(),
        Signal::Resources(resources) => return format!("sig resources {}", name_of(&RESOURCES, resources)),
    };
    format!("sig {name} {}", u8::from(value))
}
