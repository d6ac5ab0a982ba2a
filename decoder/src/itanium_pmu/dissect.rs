//! A log taken apart bit by bit, for display.

use alloc::vec::Vec;

use traceproof_vectors::itanium_pmu::wire::{Kind, RECORD};
use traceproof_vectors::itanium_pmu::{Event, ItaniumPmu, Packet, Parameters, Register, RegisterClass};
use traceproof_vectors::{Dissection, Fault, Field, Place, Program, Sink};

use super::Decoder;
use super::record::{INDEX, VALUE, kind};
use super::registers::fields;

/// Dissects a log, record by record, in the columns of [`wire`](traceproof_vectors::itanium_pmu::wire).
///
/// Values of registers are cut into their fields by the specification's names (`plm`, `es`, `mask`); `ig` are ignored
/// bits, `sxt` the upper half of a counter, `-` bits that the performance monitor does not use. Bits of a record that
/// are always 0 are called `0`. A record that is dropped has the fields before its fault, and a record that is cut off
/// has none.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<ItaniumPmu>> {
    let mut decoder = Decoder::new(parameters);
    let mut collector = Collector::default();
    let mut units = Vec::new();
    for (index, bytes) in wire.chunks(RECORD).enumerate() {
        collector.packet = None;
        decoder.push_into(bytes, &mut collector);
        let first = (index * RECORD) as u64;
        let place = Place { packet: index as u64, byte: first, bit: 0 };
        let bytes_range = first..first + bytes.len() as u64;
        let Ok(record) = bytes.try_into() else {
            decoder.finish_into(&mut collector);
            units.push(Dissection {
                place,
                bytes: bytes_range,
                fields: Vec::new(),
                packet: collector.packet,
            });
            break;
        };
        let mut fields = columns(record, first * 8);
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

impl Sink<ItaniumPmu> for Collector {
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

    /// Bits that are always 0, up to `end`.
    fn zeros(&mut self, end: u8) {
        for border in [VALUE, 128] {
            let end = end.min(border);
            if end > self.next {
                self.add("0", end - self.next);
            }
        }
    }
}

fn columns(record: &[u8; RECORD], first: u64) -> Vec<Field> {
    let mut columns = Columns { record: u128::from_le_bytes(*record), first, next: 0, fields: Vec::new() };
    columns.add("record", 8);
    let Some(kind) = kind(record[0]) else { return columns.fields };
    match kind {
        Kind::Reset | Kind::Cycle | Kind::Interrupt => {}
        Kind::Write | Kind::Read => {
            columns.add("class", 8);
            columns.add("index", 8);
            columns.zeros(VALUE);
            match RegisterClass::ALL.into_iter().find(|class| *class as u8 == record[1]) {
                Some(class) => {
                    for field in fields(Register { class, index: record[usize::from(INDEX / 8)] }) {
                        columns.add(field.name, field.width);
                    }
                }
                None => columns.add("value", 64),
            }
        }
        Kind::ReadUndefined => {
            columns.add("class", 8);
            columns.add("index", 8);
        }
        Kind::Instruction => {
            columns.add("slot", 2);
            columns.add("retired", 1);
            columns.add("squashed", 1);
            columns.add("itype", 3);
            columns.zeros(16);
            columns.add("enco", 41);
            columns.zeros(VALUE);
            columns.add("IP", 64);
        }
        Kind::Access => value(&mut columns, Some("kind"), None, Some("address")),
        Kind::InstructionCacheMiss => value(&mut columns, None, Some("latency"), Some("IP")),
        Kind::InstructionTlbMiss => value(&mut columns, Some("resolution"), None, Some("IP")),
        Kind::DataCacheMiss => value(&mut columns, None, Some("latency"), None),
        Kind::DataTlbMiss => value(&mut columns, Some("level"), None, None),
        Kind::Occurrence => {
            columns.add("es", 7);
            columns.zeros(16);
            columns.add("umask", 4);
            columns.zeros(24);
            columns.add("count", 8);
        }
        Kind::Tags => {
            columns.add("IBRRangeTag", 1);
            columns.add("Tag(PMC8)", 1);
            columns.add("Tag(PMC9)", 1);
        }
        Kind::DataTag => columns.add("DBRRangeTag", 1),
    }
    columns.zeros(128);
    columns.fields
}

/// Byte 1, bytes 4 to 7, bytes 8 to 15, where they have a name.
fn value(
    columns: &mut Columns,
    small: Option<&'static str>,
    middle: Option<&'static str>,
    large: Option<&'static str>,
) {
    if let Some(name) = small {
        columns.add(name, 8);
    }
    if let Some(name) = middle {
        columns.zeros(32);
        columns.add(name, 32);
    }
    columns.zeros(VALUE);
    if let Some(name) = large {
        columns.add(name, 64);
    }
}
