//! What `explain` shows of a log: the fields of a record cover every bit once, and together say what the packet says.

use traceproof_decoder::arm_ete_unit::dissect;
use traceproof_vectors::Program;
use traceproof_vectors::arm_ete_unit::{Access, Input, Packet, Poll, ProcessorEvent, Register, Signal, Sink};

use super::{Scenario, log};
use crate::generate::{Columns, Entropy, Records};

/// Takes the log of a scenario apart.
///
/// # Errors
///
/// A bit that no field or a second one has, or a field that contradicts the packet.
pub(super) fn judge(scenario: &Scenario, entropy: &mut Entropy<'_>) -> Result<(), String> {
    let made = log(scenario).map_err(|refusal| refusal.to_string())?;
    let parameters = &scenario.parameters;
    let records = Records { dissect: &|wire| dissect(wire, parameters, &Program::new()), columns };
    records.judge(&made.wire, &made.packets, entropy)
}

/// The fields of registers that rules are about, each with its first bit, by the specification's names.
const fn value_fields(register: Register) -> &'static [(&'static str, u32)] {
    match register.offset() {
        0x004 => &[("EN", 0), ("-", 1)],
        0x00C => &[("IDLE", 0), ("PMSTABLE", 1), ("-", 2)],
        0x010 => &[
            ("-", 0),
            ("INSTP0", 1),
            ("BB", 3),
            ("CCI", 4),
            ("-", 5),
            ("CID", 6),
            ("VMID", 7),
            ("COND", 8),
            ("TS", 11),
            ("RS", 12),
            ("QE", 13),
            ("VMIDOPT", 15),
            ("-", 16),
        ],
        0x024 => &[("INSTEN", 0), ("-", 4), ("ATB", 11), ("LPOVERRIDE", 12), ("OE", 13), ("-", 14)],
        0x028 => &[("EXTIN", 0), ("-", 4), ("EVENT", 8), ("TA", 12), ("-", 13)],
        0x02C => &[("LEVEL", 0), ("-", 4), ("ISTALL", 8), ("-", 9), ("NOOVERFLOW", 13), ("-", 14)],
        0x304 => &[("OSLM", 0), ("OSLK", 1), ("-", 2), ("OSLM", 3), ("-", 5)],
        0x314 => &[("POWER", 0), ("STICKYPD", 1), ("-", 2), ("OSLK", 5), ("-", 6)],
        _ => &[("value", 0)],
    }
}

/// The columns of a record.
fn columns(packet: &Packet, _: u64) -> Columns {
    let columns = match *packet {
        Packet::Access(access) => return of_access(access),
        Packet::Poll(Poll { agent, bit, value, timed_out }) => Columns::of(2)
            .field("agent", 2, agent as u8)
            .field("bit", 1, bit as u8)
            .field("value", 1, value)
            .field("timed out", 1, timed_out),
        Packet::Input(input) => of_input(input),
        Packet::Output { sink, bytes } => {
            Columns::of(18).field("sink", 8, number(sink)).value(&[("bytes", 0)], bytes)
        }
        Packet::State(state) => Columns::of(19).field("state", 8, state as u8),
        Packet::Signal(signal) => of_signal(signal),
    };
    columns.up_to(128)
}

fn of_access(access: Access) -> Columns {
    let Access { agent, space, operation, register, double, value, outcome } = access;
    Columns::of(1)
        .field("agent", 2, agent as u8)
        .field("operation", 1, operation as u8)
        .field("double", 1, double)
        .field("known", 1, value.is_some())
        .field("outcome", 3, outcome as u8)
        .field("register", 16, register.offset())
        .field("space", 8, space.map_or(0, |space| space as u8 + 1))
        .value(value_fields(register), value.unwrap_or(0))
}

fn number(sink: Sink) -> u8 {
    match sink {
        Sink::TraceBuffer => 0,
        Sink::Interface(n) => n + 1,
    }
}

fn of_input(input: Input) -> Columns {
    match input {
        Input::Gap => Columns::of(0),
        Input::Barrier(barrier) => Columns::of(3).field("barrier", 8, barrier as u8),
        Input::OsLock { agent, locked } => {
            Columns::of(4).field("agent", 2, agent as u8).field("locked", 1, locked)
        }
        Input::TraceFilter { prohibited } => Columns::of(5).field("prohibited", 1, prohibited),
        Input::TraceBuffer { enabled } => Columns::of(6).field("enabled", 1, enabled),
        Input::Processor(event) => {
            let columns = |code: u8| Columns::of(7).field("event", 8, code);
            match event {
                ProcessorEvent::DebugEntry => columns(0),
                ProcessorEvent::DebugExit => columns(1),
                ProcessorEvent::Level { level, space } => {
                    columns(2).field("level", 8, level).field("space", 8, space as u8)
                }
                ProcessorEvent::ProhibitedEntry => columns(3),
                ProcessorEvent::ProhibitedExit => columns(4),
                ProcessorEvent::LowPowerEntry => columns(5),
                ProcessorEvent::LowPowerExit => columns(6),
            }
        }
        Input::Reset(reset) => Columns::of(8).field("reset", 8, reset as u8),
        Input::Power(power) => Columns::of(9).field("power", 8, power as u8),
        Input::Sink { sink, state } => {
            Columns::of(10).field("sink", 8, number(sink)).field("state", 8, state as u8)
        }
        Input::Interfaces { enabled } => Columns::of(11).field("enabled", 1, enabled),
        Input::ExternalAccess { etad } => {
            Columns::of(12).field("ETAD", 1, etad & 1).field("ETADE", 1, etad >> 1)
        }
        Input::Event(n) => Columns::of(13).field("event", 8, n),
        Input::FlushRequest => Columns::of(14),
        Input::Wait(time) => Columns::of(15).value(&[("time", 0)], time),
        Input::Visibility { what, shown } => {
            Columns::of(16).field("what", 8, what as u8).field("shown", 1, shown)
        }
        Input::End => Columns::of(17),
    }
}

fn of_signal(signal: Signal) -> Columns {
    let flag = |code: u8, value: bool| Columns::of(20).field("signal", 8, code).field("value", 1, value);
    match signal {
        Signal::Enabled(value) => flag(0, value),
        Signal::Operative(value) => flag(1, value),
        Signal::ViewInst(value) => flag(2, value),
        Signal::Overflow(value) => flag(3, value),
        Signal::Stall(value) => flag(4, value),
        Signal::FlushAcknowledge => Columns::of(20).field("signal", 8, 5_u8),
        Signal::Resources(resources) => {
            Columns::of(20).field("signal", 8, 6_u8).field("value", 8, resources as u8)
        }
    }
}
