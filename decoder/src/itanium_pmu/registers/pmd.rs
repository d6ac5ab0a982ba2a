//! The fields of a data register, and the modes in which they are defined.

use traceproof_vectors::itanium_pmu::{Contents, DataTlbLevel, InstructionTlbResolution, Known, Register};

use super::Context;
use crate::itanium_pmu::slice::{at, bit, put, slice, small};
use traceproof_vectors::Address;

/// Spec: ITA-EAR-005 to ITA-EAR-015, ITA-EAR-024, ITA-BTB-001.
pub(super) fn contents(register: Register, value: u64, context: &Context) -> Contents {
    let latency = slice(value, 11, 0) as u16;
    match register.index {
        0 => Contents::InstructionEarLine {
            v: bit(value, 0),
            tlb: in_mode(context.instruction_tlb, true, resolution(bit(value, 1))),
            line: Address(value & !0x1f),
        },
        1 => Contents::InstructionEarLatency { latency: in_mode(context.instruction_tlb, false, latency) },
        2 => Contents::DataEarAddress { address: Address(value) },
        3 => Contents::DataEarLatency {
            latency: in_mode(context.data_tlb, false, latency),
            level: in_mode(context.data_tlb, true, level(small(value, 63, 62))),
        },
        4..=7 => Contents::Counter { register, count: value as u32 },
        8..=15 => Contents::BranchTraceEntry {
            register,
            b: bit(value, 0),
            mp: bit(value, 1),
            slot: small(value, 3, 2),
            address: Address(value & !0xf),
        },
        16 => Contents::BranchTraceIndex { bbi: small(value, 2, 0), full: bit(value, 3) },
        17 => Contents::DataEarInstruction {
            v: bit(value, 0),
            slot: small(value, 3, 2),
            bundle: Address(value & !0xf),
        },
        _ => Contents::Unimplemented(register),
    }
}

/// A field that is defined only while `tlb` of the configuration is `asked`.
fn in_mode<T>(tlb: Option<bool>, asked: bool, value: T) -> Known<T> {
    if tlb == Some(asked) { Known::Value(value) } else { Known::Undefined }
}

const fn resolution(tlb: bool) -> InstructionTlbResolution {
    if tlb { InstructionTlbResolution::Software } else { InstructionTlbResolution::Vhpt }
}

const fn level(level: u8) -> DataTlbLevel {
    match level {
        0 => DataTlbLevel::None,
        1 => DataTlbLevel::L2,
        2 => DataTlbLevel::Vhpt,
        _ => DataTlbLevel::Software,
    }
}

/// The bits of PMD\[`index`\] that are defined in the modes of `context`.
pub(super) const fn defined(index: u8, context: &Context) -> u64 {
    match (index, context.instruction_tlb, context.data_tlb) {
        (0, None | Some(false), _) => !0x2,
        (1, None | Some(true), _) => !0xfff,
        (3, _, None) => !0xc000_0000_0000_0fff,
        (3, _, Some(true)) => !0xfff,
        (3, _, Some(false)) => !0xc000_0000_0000_0000,
        _ => u64::MAX,
    }
}

pub(super) fn value(contents: &Contents) -> u64 {
    match *contents {
        Contents::Counter { register: _, count } => u64::from(count),
        Contents::InstructionEarLine { v, tlb, line } => {
            let tlb = tlb.value().is_some_and(|tlb| tlb == InstructionTlbResolution::Software);
            at(v, 0) | at(tlb, 1) | (line.0 & !0x1f)
        }
        Contents::InstructionEarLatency { latency } => twelve(latency),
        Contents::DataEarAddress { address } => address.0,
        Contents::DataEarLatency { latency, level } => {
            twelve(latency) | put(level.value().map_or(0, |level| level as u64), 63, 62)
        }
        Contents::DataEarInstruction { v, slot, bundle } => {
            at(v, 0) | put(u64::from(slot), 3, 2) | (bundle.0 & !0xf)
        }
        Contents::BranchTraceEntry { register: _, b, mp, slot, address } => {
            at(b, 0) | at(mp, 1) | put(u64::from(slot), 3, 2) | (address.0 & !0xf)
        }
        Contents::BranchTraceIndex { bbi, full } => put(u64::from(bbi), 2, 0) | at(full, 3),
        _ => 0,
    }
}

fn twelve(latency: Known<u16>) -> u64 {
    put(latency.value().map_or(0, u64::from), 11, 0)
}
