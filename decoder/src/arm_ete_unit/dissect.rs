//! A log taken apart bit by bit, for display.

use alloc::vec::Vec;

use traceproof_vectors::arm_ete_unit::wire::{Kind, RECORD};
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Parameters, Register};
use traceproof_vectors::{Dissection, Field, Program};

use super::Decoder;
use super::record::{VALUE, kind};
use crate::register_log::{Columns, units};

/// Dissects a log, record by record, in the columns of [`wire`](traceproof_vectors::arm_ete_unit::wire).
///
/// Values of registers with fields that rules are about are cut into these (`EN`, `IDLE`, `PMSTABLE`); `-` are their
/// other bits. Bits of a record that are always 0 are called `0`. A record that is dropped has the fields before its
/// fault, and a record that is cut off has none.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<ArmEteUnit>> {
    units(wire, &mut Decoder::new(parameters), columns)
}

fn columns(record: &[u8; RECORD], first: u64) -> Vec<Field> {
    let mut columns = Columns::new(record, first);
    columns.add("record", 8);
    let Some(kind) = kind(record[0]) else { return columns.fields() };
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
    columns.fields()
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
