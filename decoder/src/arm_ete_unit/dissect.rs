//! A log taken apart bit by bit, for display.

use alloc::vec::Vec;

use traceproof_vectors::arm_ete_unit::wire::{Kind, RECORD};
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Event, Packet, Parameters, Register};
use traceproof_vectors::{Dissection, Fault, Field, Place, Program, Sink};

use super::Decoder;
use super::record::{VALUE, kind};

/// Dissects a log, record by record, in the columns of [`wire`](traceproof_vectors::arm_ete_unit::wire).
///
/// Values of registers with fields that rules are about are cut into these (`EN`, `IDLE`, `PMSTABLE`); `-` are their
/// other bits. Bits of a record that are always 0 are called `0`. A record that is dropped has the fields before its
/// fault, and a record that is cut off has none.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<ArmEteUnit>> {
    let mut decoder = Decoder::new(parameters);
    let mut collector = Collector::default();
    let mut units = Vec::new();
    for (index, bytes) in wire.chunks(RECORD).enumerate() {
        collector.packet = None;
        decoder.push_into(bytes, &mut collector);
        let first = (index * RECORD) as u64;
        let place = Place { packet: index as u64, byte: first, bit: 0 };
        let bytes_range = first..first + bytes.len() as u64;
        let mut fields = match bytes.try_into() {
            Ok(record) => columns(record, first * 8),
            Err(_) => {
                decoder.finish_into(&mut collector);
                Vec::new()
            }
        };
        if let Some(Err(fault)) = &collector.packet {
            let at = fault.place.byte * 8 + u64::from(fault.place.bit);
            fields.retain(|field| field.bit + u64::from(field.width) <= at);
        }
        units.push(Dissection { place, bytes: bytes_range, fields, packet: collector.packet });
    }
    units
}

/// What the decoder reported first about a record: its packet, or the fault that dropped it.
#[derive(Default)]
struct Collector {
    packet: Option<Result<Packet, Fault>>,
}

impl Sink<ArmEteUnit> for Collector {
    fn packet(&mut self, _: Place, packet: &Packet) {
        self.packet.get_or_insert(Ok(*packet));
    }

    fn event(&mut self, _: Place, _: &Event) {}

    fn fault(&mut self, fault: &Fault) {
        self.packet.get_or_insert(Err(*fault));
    }
}

/// The fields of a record, lowest bit first.
struct Columns {
    record: u128,
    first: u64,
    next: u8,
    fields: Vec<Field>,
}

impl Columns {
    fn add(&mut self, name: &'static str, width: u8) {
        let value = (self.record >> self.next) as u64 & (u64::MAX >> (64 - width));
        let width = u32::from(width);
        let bit = self.first + u64::from(self.next);
        self.fields.push(Field { name, bit, width, received: width, value });
        self.next += width as u8;
    }

    /// Bits up to `end`, which are always 0 or are called otherwise.
    fn up_to(&mut self, end: u8, name: &'static str) {
        for border in [VALUE, 128] {
            let end = end.min(border);
            if end > self.next {
                self.add(name, end - self.next);
            }
        }
    }

    fn all(&mut self, fields: &[(&'static str, u8)]) {
        for (name, width) in fields {
            self.add(name, *width);
        }
    }
}

fn columns(record: &[u8; RECORD], first: u64) -> Vec<Field> {
    let mut columns = Columns { record: u128::from_le_bytes(*record), first, next: 0, fields: Vec::new() };
    columns.add("record", 8);
    let Some(kind) = kind(record[0]) else { return columns.fields };
    columns.all(match kind {
        Kind::Gap | Kind::FlushRequest | Kind::End | Kind::Wait => &[],
        Kind::Access => &[
            ("agent", 2),
            ("operation", 1),
            ("double", 1),
            ("known", 1),
            ("outcome", 3),
            ("register", 16),
            ("space", 8),
        ],
        Kind::Poll => &[("agent", 2), ("bit", 1), ("value", 1), ("timed out", 1)],
        Kind::Barrier => &[("barrier", 8)],
        Kind::OsLock => &[("agent", 2), ("locked", 1)],
        Kind::TraceFilter => &[("prohibited", 1)],
        Kind::TraceBuffer | Kind::Interfaces => &[("enabled", 1)],
        Kind::Processor if record[1] == 2 => &[("event", 8), ("level", 8), ("space", 8)],
        Kind::Processor => &[("event", 8)],
        Kind::Reset => &[("reset", 8)],
        Kind::Power => &[("power", 8)],
        Kind::Sink => &[("sink", 8), ("state", 8)],
        Kind::ExternalAccess => &[("ETAD", 1), ("ETADE", 1)],
        Kind::Event => &[("event", 8)],
        Kind::Visibility => &[("what", 8), ("shown", 1)],
        Kind::Output => &[("sink", 8)],
        Kind::State => &[("state", 8)],
        Kind::Signal if record[1] == 6 => &[("signal", 8), ("value", 8)],
        Kind::Signal if record[1] == 5 => &[("signal", 8)],
        Kind::Signal => &[("signal", 8), ("value", 1)],
    });
    match kind {
        Kind::Access => access_value(&mut columns, record),
        Kind::Wait => last(&mut columns, "time"),
        Kind::Output => last(&mut columns, "bytes"),
        _ => {}
    }
    columns.up_to(128, "0");
    columns.fields
}

/// A field of bytes 8 to 15.
fn last(columns: &mut Columns, name: &'static str) {
    columns.up_to(VALUE, "0");
    columns.add(name, 64);
}

/// The value of an access, in the fields of its register.
fn access_value(columns: &mut Columns, record: &[u8; RECORD]) {
    let fields: &[(&str, u8)] = match Register(u16::from_le_bytes([record[2], record[3]])) {
        Register::PRGCTLR => &[("EN", 1)],
        Register::STATR => &[("IDLE", 1), ("PMSTABLE", 1)],
        Register::CONFIGR => &[
            ("-", 1),
            ("INSTP0", 2),
            ("BB", 1),
            ("CCI", 1),
            ("-", 1),
            ("CID", 1),
            ("VMID", 1),
            ("COND", 3),
            ("TS", 1),
            ("RS", 1),
            ("QE", 2),
            ("VMIDOPT", 1),
        ],
        Register::EVENTCTL1R => &[("INSTEN", 4), ("-", 7), ("ATB", 1), ("LPOVERRIDE", 1), ("OE", 1)],
        Register::RSR => &[("EXTIN", 4), ("-", 4), ("EVENT", 4), ("TA", 1)],
        Register::STALLCTLR => &[("LEVEL", 4), ("-", 4), ("ISTALL", 1), ("-", 4), ("NOOVERFLOW", 1)],
        Register::OSLSR => &[("OSLM", 1), ("OSLK", 1), ("-", 1), ("OSLM", 2)],
        Register::PDSR => &[("POWER", 1), ("STICKYPD", 1), ("-", 3), ("OSLK", 1)],
        _ => return last(columns, "value"),
    };
    columns.up_to(VALUE, "0");
    columns.all(fields);
    columns.up_to(128, "-");
}
