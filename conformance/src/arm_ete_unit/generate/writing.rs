//! Packets with fields at their limits and beyond: what fits its record is read back, and nothing else is written.

use traceproof_decoder::arm_ete_unit::Decoder;
use traceproof_encoder_model::arm_ete_unit::record_of;
use traceproof_vectors::arm_ete_unit::{
    Access, Agent, ArmEteUnit, Input, Operation, Outcome, Packet, Poll, Power, ProcessorEvent, Register,
    Resources, Signal, Sink, SinkState, Space, StatusBit,
};
use traceproof_vectors::{Decoder as _, Log};

/// A read of TRCSTATR by the debug interface.
const READ: Access = Access {
    agent: Agent::External,
    space: None,
    operation: Operation::Read,
    register: Register::STATR,
    double: false,
    value: Some(3),
    outcome: Outcome::Ok,
};

/// Writes packets with every limit of their fields, and reads what was written.
///
/// # Errors
///
/// The first packet that is refused although it fits, written although it does not, or read as another one.
pub(super) fn read_back() -> Result<(), String> {
    let accesses = accesses().into_iter().map(|(access, fits)| (Packet::Access(access), fits));
    accesses.chain(numbered()).chain(always()).try_for_each(|(packet, fits)| judge(&packet, fits))
}

fn judge(packet: &Packet, fits: bool) -> Result<(), String> {
    let record = match (record_of(packet), fits) {
        (Ok(record), true) => record,
        (Err(_), false) => return Ok(()),
        (Err(error), true) => return Err(format!("{packet:x?} is refused: {error}")),
        (Ok(record), false) => return Err(format!("{packet:x?} is written as {record:02x?}")),
    };
    let mut log = Log::<ArmEteUnit>::default();
    let mut decoder = Decoder::default();
    decoder.push(&record, &mut log);
    decoder.finish(&mut log);
    let read: Vec<&Packet> = log.packets().collect();
    if read == [packet] {
        Ok(())
    } else {
        Err(format!("{packet:x?} is written as {record:02x?}, and read as {read:x?}"))
    }
}

/// Accesses, and whether each of them fits.
fn accesses() -> Vec<(Access, bool)> {
    let registers = [(0, true), (2, false), (0xFFC, true), (0xFFE, false), (0x1000, true), (0x1FFC, false)];
    let mut all: Vec<(Access, bool)> = registers
        .into_iter()
        .map(|(register, fits)| (Access { agent: Agent::System, register: Register(register), ..READ }, fits))
        .collect();
    for outcome in Outcome::ALL {
        all.push((Access { outcome, ..READ }, true));
    }
    for space in Space::ALL {
        all.push((Access { space: Some(space), ..READ }, true));
    }
    let wide = Register(0x400);
    for agent in Agent::ALL {
        for operation in [Operation::Read, Operation::Write] {
            for double in [false, true] {
                // MRS and MSR have the size of the register.
                let has_size = !(double && agent.is_direct());
                let access = Access { agent, operation, double, ..READ };
                all.push((access, has_size));
                all.push((Access { value: None, ..access }, has_size));
                all.push((Access { value: Some(u32::MAX.into()), ..access }, has_size));
                all.push((Access { value: Some(1 << 32), ..access }, double && has_size));
                let register = Access { register: wide, value: Some(u64::MAX), ..access };
                all.push((register, has_size && (double || agent.is_direct())));
            }
        }
    }
    all
}

/// Packets with a number, and whether it fits.
fn numbered() -> Vec<(Packet, bool)> {
    let mut all = Vec::new();
    for number in 0..20 {
        let level = ProcessorEvent::Level { level: number, space: Space::Realm };
        all.push((Packet::Input(Input::Processor(level)), number < 4));
        all.push((Packet::Input(Input::ExternalAccess { etad: number }), number < 4));
        all.push((Packet::Input(Input::Event(number)), number < 4));
        let sink = Sink::Interface(number);
        all.push((Packet::Output { sink, bytes: 1 }, number < 15));
        for state in [SinkState::Accepting, SinkState::Blocked] {
            all.push((Packet::Input(Input::Sink { sink, state }), number < 15));
        }
        all.push((Packet::Input(Input::Sink { sink, state: SinkState::Stopped }), false));
    }
    for (bytes, fits) in [(0, false), (1, true), (u64::MAX, true)] {
        all.push((Packet::Output { sink: Sink::TraceBuffer, bytes }, fits));
    }
    all
}

/// Packets that always fit.
fn always() -> Vec<(Packet, bool)> {
    let mut all = Vec::new();
    for state in SinkState::ALL {
        all.push(Packet::Input(Input::Sink { sink: Sink::TraceBuffer, state }));
    }
    for power in Power::ALL {
        all.push(Packet::Input(Input::Power(power)));
    }
    for resources in Resources::ALL {
        all.push(Packet::Signal(Signal::Resources(resources)));
    }
    for agent in Agent::ALL {
        for (value, timed_out) in [(false, false), (false, true), (true, false), (true, true)] {
            for bit in StatusBit::ALL {
                all.push(Packet::Poll(Poll { agent, bit, value, timed_out }));
            }
            all.push(Packet::Input(Input::OsLock { agent, locked: value }));
        }
    }
    all.into_iter().map(|packet| (packet, true)).collect()
}
