//! The files of a case.

use std::fmt::Write as _;

use traceproof_decoder::riscv_etrace::dissect;
use traceproof_encoder_model::riscv_etrace::write_payload;
use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::{Compression, Parameters};

use super::manifest::{Alternative, ExpectLine};
use crate::device::modes_after;
use crate::generate::ExpectedPacket;
use crate::monitor::to_hex;
use crate::referee::{Reason, Ruling};
use crate::{Device, Op, Row};

/// Rows with a line of names.
pub(super) fn stim(rows: &[Row], blocks: usize) -> String {
    let mut text = String::from("//");
    for (name, _) in Row::columns(blocks) {
        let _ = write!(text, " {name}");
    }
    text.push('\n');
    for row in rows {
        text.push_str(&row.text());
        text.push('\n');
    }
    text
}

/// Rows with one column per signal.
pub(super) fn csv(rows: &[Row], blocks: usize) -> String {
    let mut text = String::new();
    let names: Vec<String> = names(blocks);
    text.push_str(&names.join(","));
    text.push('\n');
    for row in rows {
        for (index, ((_, digits), value)) in Row::columns(blocks).zip(row.values()).enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ =
                if digits == 16 { write!(text, "{comma}{value:#x}") } else { write!(text, "{comma}{value}") };
        }
        text.push('\n');
    }
    text
}

/// The columns, those of blocks with the block's number: `iaddr_0`.
fn names(blocks: usize) -> Vec<String> {
    let head = crate::row::HEAD.len();
    let width = crate::row::BLOCK.len();
    Row::columns(blocks)
        .enumerate()
        .map(|(index, (name, _))| match index.checked_sub(head) {
            Some(in_blocks) => format!("{name}_{}", in_blocks / width),
            None => name.to_owned(),
        })
        .collect()
}

/// The stimulus as waveforms, one time unit per clock.
pub(super) fn vcd(rows: &[Row], blocks: usize) -> String {
    let mut text = String::from("$timescale 1ns $end\n$scope module stimulus $end\n");
    let code = |index: usize| char::from_u32(33 + index as u32).unwrap_or('!');
    for (index, (name, (_, digits))) in names(blocks).iter().zip(Row::columns(blocks)).enumerate() {
        let _ = writeln!(text, "$var wire {} {} {name} $end", 4 * digits, code(index));
    }
    text.push_str("$upscope $end\n$enddefinitions $end\n");
    let mut latest: Vec<Option<u64>> = vec![None; Row::columns(blocks).count()];
    let mut clock = 0;
    for row in rows {
        let _ = writeln!(text, "#{clock}");
        for (index, (value, before)) in row.values().into_iter().zip(&mut latest).enumerate() {
            if *before != Some(value) {
                let _ = writeln!(text, "b{value:b} {}", code(index));
                *before = Some(value);
            }
        }
        clock += row.clocks().max(1);
    }
    let _ = writeln!(text, "#{clock}");
    text
}

/// The program in the form of `objcopy -O verilog`.
pub(super) fn image(program: &Program) -> String {
    let mut text = String::new();
    for section in program.sections() {
        let _ = writeln!(text, "@{:x}", section.address.0);
        for line in section.bytes.chunks(16) {
            let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(text, "{}", bytes.join(" "));
        }
    }
    text
}

/// The expected packets with what is known of each. `first_row`: of the case in the pack.
pub(super) fn expect(
    device: &Device,
    packets: &[ExpectedPacket],
    ruling: &Ruling,
    first_row: usize,
) -> Vec<ExpectLine> {
    let parameters = device.payload_parameters();
    let mut modes = parameters.modes;
    let line = |(index, expected): (usize, &ExpectedPacket)| {
        let cause = ruling.causes.iter().find(|(packet, ..)| *packet == index);
        modes = modes_after(&parameters, modes, &expected.packet);
        let reason = cause.map(|(_, reason, _)| *reason);
        let undefined = cause.is_some_and(|(.., undefined)| *undefined);
        let whole = write_payload(&expected.packet, &parameters, modes, Compression::Mandatory);
        let alternatives = whole.ok().filter(|bytes| *bytes != expected.bytes).map(|bytes| Alternative {
            bytes: to_hex(&bytes),
            why: String::from("compression of format 3 is a recommendation (RVET-PKT-005)"),
        });
        ExpectLine {
            row: u32::try_from(first_row + expected.row).unwrap_or(u32::MAX),
            bytes: to_hex(&expected.bytes),
            mask: to_hex(&mask(&expected.bytes, undefined, &parameters)),
            packet: expected.packet,
            alternatives: alternatives.into_iter().collect(),
            clauses: reason.map(|reason| reason.clause().to_owned()).into_iter().collect(),
            tail: reason.is_some_and(Reason::is_tail),
        }
    };
    packets.iter().enumerate().map(line).collect()
}

/// All bits are defined, except for those of an address that is not.
fn mask(payload: &[u8], undefined: bool, parameters: &Parameters) -> Vec<u8> {
    let mut mask = vec![0xff; payload.len()];
    if undefined && let Ok(length) = u8::try_from(payload.len()) {
        let wire: Vec<u8> = core::iter::once(length).chain(payload.iter().copied()).collect();
        let fields = dissect(&wire, parameters).into_iter().flat_map(|unit| unit.fields);
        for field in fields.filter(|field| field.name == "address") {
            for bit in (field.bit..field.bit + u64::from(field.received)).map(|bit| bit.saturating_sub(8)) {
                if let Some(byte) = usize::try_from(bit / 8).ok().and_then(|byte| mask.get_mut(byte)) {
                    *byte &= !(1 << (bit % 8));
                }
            }
        }
    }
    mask
}

/// What a testbench needs to know when it is compiled.
pub(super) fn header(device: &Device, rows: usize) -> String {
    let parameters = &device.parameters;
    let blocks = device.blocks();
    let defines = [
        ("ROWS", rows as u64),
        ("BLOCKS", blocks as u64),
        ("WORDS", Row::words(blocks) as u64),
        ("IADDRESS_WIDTH", parameters.iaddress_width_p.into()),
        ("IADDRESS_LSB", parameters.iaddress_lsb_p.into()),
        ("ITYPE_WIDTH", parameters.itype_width_p.into()),
        ("ECAUSE_WIDTH", parameters.ecause_width_p.into()),
        ("PRIVILEGE_WIDTH", parameters.privilege_width_p.into()),
        ("CONTEXT_WIDTH", parameters.context_width().into()),
        ("TIME_WIDTH", parameters.time_width().into()),
        ("RETIRES", parameters.retires_p.into()),
    ];
    defines.iter().map(|(name, value)| format!("`define TP_{name} {value}\n")).collect()
}

/// The order of rows of a case, for `vectors check`: a case row first, a drain row last, neither in between.
pub(super) fn is_case(rows: &[Row], number: u32) -> bool {
    let (Some((first, rest)), Some(last)) = (rows.split_first(), rows.last()) else { return false };
    let inner = rest.split_last().map_or(rest, |(_, inner)| inner);
    first.op == Op::Case
        && first.cause == u64::from(number)
        && last.op == Op::Drain
        && !inner.iter().any(|row| matches!(row.op, Op::Case | Op::End))
}
