//! The fields of a breakpoint register.

use traceproof_vectors::itanium_pmu::{Contents, Register, RegisterClass};

use crate::itanium_pmu::slice::{at, bit, put, slice, small};
use traceproof_vectors::Address;

/// Spec: ITA-REG-012 to ITA-REG-014.
pub(super) fn contents(register: Register, value: u64) -> Contents {
    let mask = slice(value, 55, 0);
    let plm = small(value, 59, 56);
    match (register.index % 2, register.class) {
        (0, _) => Contents::BreakpointAddress { register, addr: Address(value) },
        (_, RegisterClass::Ibr) => {
            Contents::InstructionBreakpointMask { register, mask, plm, x: bit(value, 63) }
        }
        _ => Contents::DataBreakpointMask { register, mask, plm, w: bit(value, 62), r: bit(value, 63) },
    }
}

pub(super) fn value(contents: &Contents) -> u64 {
    match *contents {
        Contents::BreakpointAddress { register: _, addr } => addr.0,
        Contents::InstructionBreakpointMask { register: _, mask, plm, x } => {
            put(mask, 55, 0) | put(u64::from(plm), 59, 56) | at(x, 63)
        }
        Contents::DataBreakpointMask { register: _, mask, plm, w, r } => {
            put(mask, 55, 0) | put(u64::from(plm), 59, 56) | at(w, 62) | at(r, 63)
        }
        _ => 0,
    }
}
