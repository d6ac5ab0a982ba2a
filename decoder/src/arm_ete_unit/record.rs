//! Contents of records: 16 bytes -> packets.

use traceproof_vectors::FaultClass;
use traceproof_vectors::arm_ete_unit::wire::{Kind, RECORD};
use traceproof_vectors::arm_ete_unit::{
    Access, Agent, Barrier, Input, Operation, Outcome, Packet, Poll, Power, ProcessorEvent, ProgrammingState,
    Register, Reset, Resources, Signal, Sink, SinkState, Space, StatusBit, Visible,
};

/// Why a record cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Defect {
    /// Counted from bit 0 of the record's byte 0.
    pub(super) bit: u8,
    pub(super) class: FaultClass,
}

/// First bits of columns.
const SMALL: u8 = 8;
const SECOND: u8 = 16;
const THIRD: u8 = 24;
const SPACE: u8 = 32;
pub(super) const VALUE: u8 = 64;

/// The kind with this code.
pub(super) fn kind(code: u8) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| *kind as u8 == code)
}

/// The bits of a record of this kind that may be set.
const fn used(kind: Kind) -> u128 {
    const WHOLE: u128 = (u64::MAX as u128) << VALUE;
    let columns = match kind {
        Kind::Gap | Kind::FlushRequest | Kind::End => 0,
        Kind::Access => 0xff_ffff_ff00 | WHOLE,
        Kind::Poll => 0x1f00,
        Kind::OsLock => 0x0700,
        Kind::TraceFilter | Kind::TraceBuffer | Kind::Interfaces => 0x0100,
        Kind::ExternalAccess => 0x0300,
        Kind::Barrier | Kind::Reset | Kind::Power | Kind::Event | Kind::State => 0xff00,
        // Which numbers the columns may have depends on the first one.
        Kind::Processor => 0xffff_ff00,
        Kind::Sink | Kind::Signal => 0xff_ff00,
        Kind::Visibility => 0x1_ff00,
        Kind::Wait => WHOLE,
        Kind::Output => 0xff00 | WHOLE,
    };
    columns | 0xff
}

/// The fields of a record, and the first thing that is wrong with it.
struct Fields {
    record: u128,
    first: Option<Defect>,
}

impl Fields {
    const fn byte(&self, index: usize) -> u8 {
        self.record.to_le_bytes()[index]
    }

    fn flag(&self, bit: u8) -> bool {
        self.record >> bit & 1 == 1
    }

    fn value(&self) -> u64 {
        (self.record >> VALUE) as u64
    }

    fn wrong(&mut self, class: FaultClass, bit: u8) {
        let defect = Defect { bit, class };
        self.first = Some(self.first.map_or(defect, |first| first.min(defect)));
    }

    /// Bits outside of `used` are 0.
    fn only(&mut self, used: u128) {
        let filled = self.record & !used;
        if filled != 0 {
            self.wrong(FaultClass::Overlong, filled.trailing_zeros() as u8);
        }
    }

    /// The value with this number, else a fault of the field that begins at `bit`.
    fn numbered<T: Copy>(&mut self, all: &[T], number: u8, bit: u8) -> Option<T> {
        let found = all.get(usize::from(number)).copied();
        if found.is_none() {
            self.wrong(FaultClass::ReservedEncoding, bit);
        }
        found
    }

    fn agent(&mut self) -> Option<Agent> {
        self.numbered(&Agent::ALL, self.byte(1) & 3, SMALL)
    }

    fn sink(&mut self) -> Option<Sink> {
        match self.byte(1) {
            0 => Some(Sink::TraceBuffer),
            number @ 1..=Sink::INTERFACES => Some(Sink::Interface(number - 1)),
            _ => {
                self.wrong(FaultClass::ReservedEncoding, SMALL);
                None
            }
        }
    }
}

/// Reads one record.
pub(super) fn parse(bytes: &[u8; RECORD]) -> Result<Packet, Defect> {
    let reserved = Defect { bit: 0, class: FaultClass::ReservedEncoding };
    let kind = kind(bytes[0]).ok_or(reserved)?;
    let mut fields = Fields { record: u128::from_le_bytes(*bytes), first: None };
    fields.only(used(kind));
    let packet = packet(kind, &mut fields);
    match fields.first {
        Some(defect) => Err(defect),
        // A packet lacks only where a defect was noted.
        None => packet.ok_or(reserved),
    }
}

fn packet(kind: Kind, fields: &mut Fields) -> Option<Packet> {
    let small = fields.byte(1);
    Some(match kind {
        Kind::Access => Packet::Access(access(fields)?),
        Kind::Poll => {
            let agent = fields.agent()?;
            let bit = if fields.flag(10) { StatusBit::Pmstable } else { StatusBit::Idle };
            Packet::Poll(Poll { agent, bit, value: fields.flag(11), timed_out: fields.flag(12) })
        }
        Kind::Output => {
            if fields.value() == 0 {
                fields.wrong(FaultClass::ReservedEncoding, VALUE);
            }
            Packet::Output { sink: fields.sink()?, bytes: fields.value() }
        }
        Kind::State => Packet::State(fields.numbered(&ProgrammingState::ALL, small, SMALL)?),
        Kind::Signal => Packet::Signal(signal(fields)?),
        _ => Packet::Input(input(kind, fields)?),
    })
}

fn access(fields: &mut Fields) -> Option<Access> {
    let agent = fields.agent();
    let (double, known) = (fields.flag(11), fields.flag(12));
    let outcome = fields.numbered(&Outcome::ALL, fields.byte(1) >> 5, 13);
    let register = Register(u16::from_le_bytes([fields.byte(2), fields.byte(3)]));
    if !register.0.is_multiple_of(4) || register.0 > 0xFFC && !register.is_named() {
        fields.wrong(FaultClass::ReservedEncoding, SECOND);
    }
    let space = match fields.byte(4) {
        0 => None,
        number => fields.numbered(&Space::ALL, number - 1, SPACE),
    };
    let operation = if fields.flag(10) { Operation::Write } else { Operation::Read };
    let direct = agent.is_some_and(Agent::is_direct);
    if direct {
        fields.only(!(1 << 11 | 0xff << SPACE));
    }
    let whole = Access {
        agent: agent?,
        space,
        operation,
        register,
        double,
        value: known.then(|| fields.value()),
        outcome: outcome?,
    };
    let bits = if known { whole.value_bits() } else { 0 };
    fields.only(u128::MAX.checked_shr(64 - bits).unwrap_or(0));
    Some(whole)
}

fn input(kind: Kind, fields: &mut Fields) -> Option<Input> {
    let small = fields.byte(1);
    let flag = fields.flag(SMALL);
    Some(match kind {
        Kind::Gap => Input::Gap,
        Kind::End => Input::End,
        Kind::FlushRequest => Input::FlushRequest,
        Kind::Wait => Input::Wait(fields.value()),
        Kind::Barrier => Input::Barrier(fields.numbered(&Barrier::ALL, small, SMALL)?),
        Kind::OsLock => Input::OsLock { agent: fields.agent()?, locked: fields.flag(10) },
        Kind::TraceFilter => Input::TraceFilter { prohibited: flag },
        Kind::TraceBuffer => Input::TraceBuffer { enabled: flag },
        Kind::Processor => Input::Processor(processor(fields)?),
        Kind::Reset => Input::Reset(fields.numbered(&Reset::ALL, small, SMALL)?),
        Kind::Power => Input::Power(fields.numbered(&Power::ALL, small, SMALL)?),
        Kind::Sink => {
            let sink = fields.sink();
            let state = fields.numbered(&SinkState::ALL, fields.byte(2), SECOND);
            if state == Some(SinkState::Stopped) && small != 0 {
                fields.wrong(FaultClass::ReservedEncoding, SECOND);
            }
            Input::Sink { sink: sink?, state: state? }
        }
        Kind::Interfaces => Input::Interfaces { enabled: flag },
        Kind::ExternalAccess => Input::ExternalAccess { etad: small & 3 },
        Kind::Event => {
            fields.numbered(&[(); 4], small, SMALL)?;
            Input::Event(small)
        }
        Kind::Visibility => {
            let what = fields.numbered(&Visible::ALL, small, SMALL)?;
            Input::Visibility { what, shown: fields.flag(SECOND) }
        }
        Kind::Access | Kind::Poll | Kind::Output | Kind::State | Kind::Signal => return None,
    })
}

fn processor(fields: &mut Fields) -> Option<ProcessorEvent> {
    if fields.byte(1) == 2 {
        let level = fields.byte(2);
        let known = fields.numbered(&[(); 4], level, SECOND);
        let space = fields.numbered(&Space::ALL, fields.byte(3), THIRD);
        known?;
        return Some(ProcessorEvent::Level { level, space: space? });
    }
    fields.only(!0xffff_0000);
    Some(match fields.byte(1) {
        0 => ProcessorEvent::DebugEntry,
        1 => ProcessorEvent::DebugExit,
        3 => ProcessorEvent::ProhibitedEntry,
        4 => ProcessorEvent::ProhibitedExit,
        5 => ProcessorEvent::LowPowerEntry,
        6 => ProcessorEvent::LowPowerExit,
        _ => {
            fields.wrong(FaultClass::ReservedEncoding, SMALL);
            return None;
        }
    })
}

fn signal(fields: &mut Fields) -> Option<Signal> {
    let flag = fields.flag(SECOND);
    let which = fields.byte(1);
    if which == 6 {
        let resources = fields.numbered(&Resources::ALL, fields.byte(2), SECOND)?;
        return Some(Signal::Resources(resources));
    }
    let unused: u128 = if which == 5 { 0xff } else { 0xfe };
    fields.only(!(unused << SECOND));
    Some(match which {
        0 => Signal::Enabled(flag),
        1 => Signal::Operative(flag),
        2 => Signal::ViewInst(flag),
        3 => Signal::Overflow(flag),
        4 => Signal::Stall(flag),
        5 => Signal::FlushAcknowledge,
        _ => {
            fields.wrong(FaultClass::ReservedEncoding, SMALL);
            return None;
        }
    })
}
