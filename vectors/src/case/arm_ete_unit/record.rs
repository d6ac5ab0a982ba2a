//! Records as bytes and back, for the notation only: [`wire`](crate::arm_ete_unit::wire) is the format.

use crate::arm_ete_unit::wire::{Kind, RECORD};
use crate::arm_ete_unit::{
    Access, Agent, Barrier, Input, Operation, Outcome, Packet, Poll, Power, ProcessorEvent, ProgrammingState,
    Register, Reset, Resources, Signal, Sink, SinkState, Space, StatusBit, Visible,
};

/// The bytes of a record.
pub(super) fn pack(packet: &Packet) -> [u8; RECORD] {
    match packet {
        Packet::Access(access) => pack_access(access),
        Packet::Poll(Poll { agent, bit, value, timed_out }) => {
            let flags = *agent as u8 | (*bit as u8) << 2 | u8::from(*value) << 3 | u8::from(*timed_out) << 4;
            record(Kind::Poll, flags, 0, 0)
        }
        Packet::Input(input) => pack_input(*input),
        Packet::Output { sink, bytes } => record(Kind::Output, sink_code(*sink), 0, *bytes),
        Packet::State(state) => record(Kind::State, *state as u8, 0, 0),
        Packet::Signal(signal) => {
            let (code, value) = signal_code(*signal);
            record(Kind::Signal, code, value, 0)
        }
    }
}

/// A record with these bytes 0 to 2 and this value in bytes 8 to 15.
fn record(kind: Kind, first: u8, second: u8, value: u64) -> [u8; RECORD] {
    let [v0, v1, v2, v3, v4, v5, v6, v7] = value.to_le_bytes();
    [kind as u8, first, second, 0, 0, 0, 0, 0, v0, v1, v2, v3, v4, v5, v6, v7]
}

const fn sink_code(sink: Sink) -> u8 {
    match sink {
        Sink::TraceBuffer => 0,
        Sink::Interface(n) => n.saturating_add(1),
    }
}

fn signal_code(signal: Signal) -> (u8, u8) {
    match signal {
        Signal::Enabled(value) => (0, u8::from(value)),
        Signal::Operative(value) => (1, u8::from(value)),
        Signal::ViewInst(value) => (2, u8::from(value)),
        Signal::Overflow(value) => (3, u8::from(value)),
        Signal::Stall(value) => (4, u8::from(value)),
        Signal::FlushAcknowledge => (5, 0),
        Signal::Resources(resources) => (6, resources as u8),
    }
}

fn pack_access(access: &Access) -> [u8; RECORD] {
    let Access { agent, space, operation, register, double, value, outcome } = *access;
    let flags = agent as u8
        | (operation as u8) << 2
        | u8::from(double) << 3
        | u8::from(value.is_some()) << 4
        | (outcome as u8) << 5;
    let mut bytes = record(Kind::Access, flags, 0, value.unwrap_or(0));
    let [low, high] = register.offset().to_le_bytes();
    let [_, _, b2, b3, b4, ..] = &mut bytes;
    (*b2, *b3, *b4) = (low, high, space.map_or(0, |space| space as u8 + 1));
    bytes
}

fn pack_input(input: Input) -> [u8; RECORD] {
    let bit = |value: bool| u8::from(value);
    match input {
        Input::Barrier(barrier) => record(Kind::Barrier, barrier as u8, 0, 0),
        Input::OsLock { agent, locked } => record(Kind::OsLock, agent as u8 | bit(locked) << 2, 0, 0),
        Input::TraceFilter { prohibited } => record(Kind::TraceFilter, bit(prohibited), 0, 0),
        Input::TraceBuffer { enabled } => record(Kind::TraceBuffer, bit(enabled), 0, 0),
        Input::Processor(event) => pack_processor(event),
        Input::Reset(reset) => record(Kind::Reset, reset as u8, 0, 0),
        Input::Power(power) => record(Kind::Power, power as u8, 0, 0),
        Input::Sink { sink, state } => record(Kind::Sink, sink_code(sink), state as u8, 0),
        Input::Interfaces { enabled } => record(Kind::Interfaces, bit(enabled), 0, 0),
        Input::ExternalAccess { etad } => record(Kind::ExternalAccess, etad, 0, 0),
        Input::Event(n) => record(Kind::Event, n, 0, 0),
        Input::FlushRequest => record(Kind::FlushRequest, 0, 0, 0),
        Input::Wait(time) => record(Kind::Wait, 0, 0, time),
        Input::Visibility { what, shown } => record(Kind::Visibility, what as u8, bit(shown), 0),
        Input::Gap => record(Kind::Gap, 0, 0, 0),
        Input::End => record(Kind::End, 0, 0, 0),
    }
}

fn pack_processor(event: ProcessorEvent) -> [u8; RECORD] {
    let code = match event {
        ProcessorEvent::DebugEntry => 0,
        ProcessorEvent::DebugExit => 1,
        ProcessorEvent::Level { .. } => 2,
        ProcessorEvent::ProhibitedEntry => 3,
        ProcessorEvent::ProhibitedExit => 4,
        ProcessorEvent::LowPowerEntry => 5,
        ProcessorEvent::LowPowerExit => 6,
    };
    let mut bytes = record(Kind::Processor, code, 0, 0);
    if let ProcessorEvent::Level { level, space } = event {
        let [_, _, b2, b3, ..] = &mut bytes;
        (*b2, *b3) = (level, space as u8);
    }
    bytes
}

/// The record with these bytes; none where they are no legal record.
pub(super) fn unpack(bytes: &[u8]) -> Option<Packet> {
    let bytes: &[u8; RECORD] = bytes.try_into().ok()?;
    // What no field has is lost on the way back.
    meant(bytes).filter(|packet| pack(packet) == *bytes && is_legal(packet))
}

/// Whether the values of the fields are among those that the format allows together.
fn is_legal(packet: &Packet) -> bool {
    match packet {
        Packet::Access(access) => {
            let register = access.register;
            let known = register.is_named() || (register.offset() < 0x1000 && register.offset() % 4 == 0);
            let narrow = access.value.is_none_or(|value| access.value_bits() == 64 || value >> 32 == 0);
            known && narrow && !(access.agent.is_direct() && (access.double || access.space.is_some()))
        }
        Packet::Output { bytes, .. } => *bytes > 0,
        Packet::Input(Input::Sink { sink, state }) => {
            *sink == Sink::TraceBuffer || *state != SinkState::Stopped
        }
        Packet::Input(Input::ExternalAccess { etad }) => *etad < 4,
        Packet::Input(Input::Event(n)) => *n < 4,
        Packet::Input(Input::Processor(ProcessorEvent::Level { level, .. })) => *level < 4,
        _ => true,
    }
}

/// The record whose fields these are; bits that belong to no field are ignored.
fn meant(bytes: &[u8; RECORD]) -> Option<Packet> {
    let [code, first, second, third, fourth, _, _, _, value @ ..] = *bytes;
    let value = u64::from_le_bytes(value);
    let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == code)?;
    let flag = first & 1 == 1;
    Some(Packet::Input(match kind {
        Kind::Access => {
            return meant_access(first, u16::from_le_bytes([second, third]), fourth, value)
                .map(Packet::Access);
        }
        Kind::Poll => {
            return Some(Packet::Poll(Poll {
                agent: find(&Agent::ALL, first & 3)?,
                bit: find(&StatusBit::ALL, first >> 2 & 1)?,
                value: first >> 3 & 1 == 1,
                timed_out: first >> 4 & 1 == 1,
            }));
        }
        Kind::Output => return Some(Packet::Output { sink: sink(first)?, bytes: value }),
        Kind::State => return find(&ProgrammingState::ALL, first).map(Packet::State),
        Kind::Signal => return meant_signal(first, second).map(Packet::Signal),
        Kind::Gap => Input::Gap,
        Kind::Barrier => Input::Barrier(find(&Barrier::ALL, first)?),
        Kind::OsLock => Input::OsLock { agent: find(&Agent::ALL, first & 3)?, locked: first >> 2 & 1 == 1 },
        Kind::TraceFilter => Input::TraceFilter { prohibited: flag },
        Kind::TraceBuffer => Input::TraceBuffer { enabled: flag },
        Kind::Processor => Input::Processor(meant_processor(first, second, third)?),
        Kind::Reset => Input::Reset(find(&Reset::ALL, first)?),
        Kind::Power => Input::Power(find(&Power::ALL, first)?),
        Kind::Sink => Input::Sink { sink: sink(first)?, state: find(&SinkState::ALL, second)? },
        Kind::Interfaces => Input::Interfaces { enabled: flag },
        Kind::ExternalAccess => Input::ExternalAccess { etad: first },
        Kind::Event => Input::Event(first),
        Kind::FlushRequest => Input::FlushRequest,
        Kind::Wait => Input::Wait(value),
        Kind::Visibility => Input::Visibility { what: find(&Visible::ALL, first)?, shown: second & 1 == 1 },
        Kind::End => Input::End,
    }))
}

/// A value by the number that travels.
trait Coded: Copy {
    fn code(self) -> u8;
}

macro_rules! coded {
    ($($name:ty),+) => { $(impl Coded for $name { fn code(self) -> u8 { self as u8 } })+ };
}

coded!(
    Agent,
    Barrier,
    Operation,
    Outcome,
    Power,
    ProgrammingState,
    Reset,
    Resources,
    SinkState,
    Space,
    StatusBit,
    Visible
);

fn find<T: Coded>(all: &[T], code: u8) -> Option<T> {
    all.iter().copied().find(|value| value.code() == code)
}

fn sink(code: u8) -> Option<Sink> {
    match code {
        0 => Some(Sink::TraceBuffer),
        _ => Some(Sink::Interface(code - 1)).filter(|_| code <= Sink::INTERFACES),
    }
}

fn meant_access(flags: u8, register: u16, space: u8, value: u64) -> Option<Access> {
    Some(Access {
        agent: find(&Agent::ALL, flags & 3)?,
        space: if space == 0 { None } else { Some(find(&Space::ALL, space - 1)?) },
        operation: find(&Operation::ALL, flags >> 2 & 1)?,
        register: Register(register),
        double: flags >> 3 & 1 == 1,
        value: (flags >> 4 & 1 == 1).then_some(value),
        outcome: find(&Outcome::ALL, flags >> 5)?,
    })
}

fn meant_processor(code: u8, level: u8, space: u8) -> Option<ProcessorEvent> {
    Some(match code {
        0 => ProcessorEvent::DebugEntry,
        1 => ProcessorEvent::DebugExit,
        2 => ProcessorEvent::Level { level, space: find(&Space::ALL, space)? },
        3 => ProcessorEvent::ProhibitedEntry,
        4 => ProcessorEvent::ProhibitedExit,
        5 => ProcessorEvent::LowPowerEntry,
        6 => ProcessorEvent::LowPowerExit,
        _ => return None,
    })
}

fn meant_signal(code: u8, value: u8) -> Option<Signal> {
    let flag = value & 1 == 1;
    Some(match code {
        0 => Signal::Enabled(flag),
        1 => Signal::Operative(flag),
        2 => Signal::ViewInst(flag),
        3 => Signal::Overflow(flag),
        4 => Signal::Stall(flag),
        5 => Signal::FlushAcknowledge,
        6 => Signal::Resources(find(&Resources::ALL, value)?),
        _ => return None,
    })
}
