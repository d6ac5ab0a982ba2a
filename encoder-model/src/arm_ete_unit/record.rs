//! The bytes of a record.

use traceproof_vectors::arm_ete_unit::wire::{Kind, RECORD};
use traceproof_vectors::arm_ete_unit::{
    Access, Input, Operation, Packet, ProcessorEvent, Register, Signal, Sink, SinkState,
};

use super::UnencodablePacket;

/// Bytes of one record.
pub type Record = [u8; RECORD];

/// The record of a packet.
///
/// # Errors
///
/// A field with a value that a reader of records would call a fault.
pub fn record_of(packet: &Packet) -> Result<Record, UnencodablePacket> {
    Ok(match *packet {
        Packet::Access(access) => return access_record(&access),
        Packet::Poll(poll) => {
            let bits = poll.agent as u8
                | (poll.bit as u8) << 2
                | u8::from(poll.value) << 3
                | u8::from(poll.timed_out) << 4;
            record(Kind::Poll, [bits, 0], 0)
        }
        Packet::Input(input) => return input_record(&input),
        Packet::Output { sink, bytes } => {
            check("bytes", bytes > 0)?;
            record(Kind::Output, [sink_code(sink)?, 0], bytes)
        }
        Packet::State(state) => record(Kind::State, [state as u8, 0], 0),
        Packet::Signal(signal) => {
            let (code, value) = match signal {
                Signal::Enabled(value) => (0, u8::from(value)),
                Signal::Operative(value) => (1, u8::from(value)),
                Signal::ViewInst(value) => (2, u8::from(value)),
                Signal::Overflow(value) => (3, u8::from(value)),
                Signal::Stall(value) => (4, u8::from(value)),
                Signal::FlushAcknowledge => (5, 0),
                Signal::Resources(resources) => (6, resources as u8),
            };
            record(Kind::Signal, [code, value], 0)
        }
    })
}

fn check(field: &'static str, fits: bool) -> Result<(), UnencodablePacket> {
    if fits { Ok(()) } else { Err(UnencodablePacket { field }) }
}

fn access_record(access: &Access) -> Result<Record, UnencodablePacket> {
    let Register(register) = access.register;
    check("register", register % 4 == 0 && (register < 0x1000 || access.register.is_named()))?;
    check("double", !(access.double && access.agent.is_direct()))?;
    let value = access.value.unwrap_or(0);
    check("value", access.value_bits() == 64 || value >> 32 == 0)?;
    let flags = access.agent as u8
        | u8::from(access.operation == Operation::Write) << 2
        | u8::from(access.double) << 3
        | u8::from(access.value.is_some()) << 4
        | (access.outcome as u8) << 5;
    let [low, high] = register.to_le_bytes();
    let mut bytes = record(Kind::Access, [flags, low], value);
    bytes[3] = high;
    bytes[4] = access.space.map_or(0, |space| space as u8 + 1);
    Ok(bytes)
}

fn input_record(input: &Input) -> Result<Record, UnencodablePacket> {
    let (kind, bytes, value) = match *input {
        Input::Barrier(barrier) => (Kind::Barrier, [barrier as u8, 0], 0),
        Input::OsLock { agent, locked } => (Kind::OsLock, [agent as u8 | u8::from(locked) << 2, 0], 0),
        Input::TraceFilter { prohibited } => (Kind::TraceFilter, [u8::from(prohibited), 0], 0),
        Input::TraceBuffer { enabled } => (Kind::TraceBuffer, [u8::from(enabled), 0], 0),
        Input::Processor(event) => return processor_record(event),
        Input::Reset(reset) => (Kind::Reset, [reset as u8, 0], 0),
        Input::Power(power) => (Kind::Power, [power as u8, 0], 0),
        Input::Sink { sink, state } => {
            check("state", state != SinkState::Stopped || sink == Sink::TraceBuffer)?;
            (Kind::Sink, [sink_code(sink)?, state as u8], 0)
        }
        Input::Interfaces { enabled } => (Kind::Interfaces, [u8::from(enabled), 0], 0),
        Input::ExternalAccess { etad } => {
            check("etad", etad < 4)?;
            (Kind::ExternalAccess, [etad, 0], 0)
        }
        Input::Event(n) => {
            check("event", n < 4)?;
            (Kind::Event, [n, 0], 0)
        }
        Input::FlushRequest => (Kind::FlushRequest, [0, 0], 0),
        Input::Wait(time) => (Kind::Wait, [0, 0], time),
        Input::Visibility { what, shown } => (Kind::Visibility, [what as u8, u8::from(shown)], 0),
        Input::Gap => (Kind::Gap, [0, 0], 0),
        Input::End => (Kind::End, [0, 0], 0),
    };
    Ok(record(kind, bytes, value))
}

fn processor_record(event: ProcessorEvent) -> Result<Record, UnencodablePacket> {
    let code = match event {
        ProcessorEvent::DebugEntry => 0,
        ProcessorEvent::DebugExit => 1,
        ProcessorEvent::Level { level, space } => {
            check("level", level < 4)?;
            let mut bytes = record(Kind::Processor, [2, level], 0);
            bytes[3] = space as u8;
            return Ok(bytes);
        }
        ProcessorEvent::ProhibitedEntry => 3,
        ProcessorEvent::ProhibitedExit => 4,
        ProcessorEvent::LowPowerEntry => 5,
        ProcessorEvent::LowPowerExit => 6,
    };
    Ok(record(Kind::Processor, [code, 0], 0))
}

fn sink_code(sink: Sink) -> Result<u8, UnencodablePacket> {
    match sink {
        Sink::TraceBuffer => Ok(0),
        Sink::Interface(n) if n < Sink::INTERFACES => Ok(n + 1),
        Sink::Interface(_) => Err(UnencodablePacket { field: "sink" }),
    }
}

/// A kind, bytes 1 and 2, and bytes 8 to 15.
const fn record(kind: Kind, [b1, b2]: [u8; 2], value: u64) -> Record {
    let [v0, v1, v2, v3, v4, v5, v6, v7] = value.to_le_bytes();
    [kind as u8, b1, b2, 0, 0, 0, 0, 0, v0, v1, v2, v3, v4, v5, v6, v7]
}
