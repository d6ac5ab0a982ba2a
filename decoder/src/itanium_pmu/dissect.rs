//! A log taken apart bit by bit, for display.

use alloc::vec::Vec;

use traceproof_vectors::itanium_pmu::wire::{Kind, RECORD};
use traceproof_vectors::itanium_pmu::{ItaniumPmu, Parameters, Register, RegisterClass};
use traceproof_vectors::{Dissection, Field, Program};

use super::Decoder;
use super::record::{INDEX, VALUE, kind};
use super::registers::fields;
use crate::register_log::{Columns, units};

/// Dissects a log, record by record, in the columns of [`wire`](traceproof_vectors::itanium_pmu::wire).
///
/// Values of registers are cut into their fields by the specification's names (`plm`, `es`, `mask`); `ig` are ignored
/// bits, `sxt` the upper half of a counter, `-` bits that the performance monitor does not use. Bits of a record that
/// are always 0 are called `0`. A record that is dropped has the fields before its fault, and a record that is cut off
/// has none.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<ItaniumPmu>> {
    units(wire, &mut Decoder::new(parameters), columns)
}

fn columns(record: &[u8; RECORD], first: u64) -> Vec<Field> {
    let mut columns = Columns::new(record, first);
    columns.add("record", 8);
    let Some(kind) = kind(record[0]) else { return columns.fields() };
    match kind {
        Kind::Reset | Kind::Cycle | Kind::Interrupt => {}
        Kind::Write | Kind::Read => {
            columns.add("class", 8);
            columns.add("index", 8);
            columns.up_to(VALUE, "0");
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
            columns.up_to(16, "0");
            columns.add("enco", 41);
            columns.up_to(VALUE, "0");
            columns.add("IP", 64);
        }
        Kind::Access => value(&mut columns, Some("kind"), None, Some("address")),
        Kind::InstructionCacheMiss => value(&mut columns, None, Some("latency"), Some("IP")),
        Kind::InstructionTlbMiss => value(&mut columns, Some("resolution"), None, Some("IP")),
        Kind::DataCacheMiss => value(&mut columns, None, Some("latency"), None),
        Kind::DataTlbMiss => value(&mut columns, Some("level"), None, None),
        Kind::Occurrence => {
            columns.add("es", 7);
            columns.up_to(16, "0");
            columns.add("umask", 4);
            columns.up_to(24, "0");
            columns.add("count", 8);
        }
        Kind::Tags => {
            columns.add("IBRRangeTag", 1);
            columns.add("Tag(PMC8)", 1);
            columns.add("Tag(PMC9)", 1);
        }
        Kind::DataTag => columns.add("DBRRangeTag", 1),
    }
    columns.up_to(128, "0");
    columns.fields()
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
        columns.up_to(32, "0");
        columns.add(name, 32);
    }
    columns.up_to(VALUE, "0");
    if let Some(name) = large {
        columns.add(name, 64);
    }
}
