//! The fields of processor status and interrupt vector that the performance monitor uses.

use traceproof_vectors::itanium_pmu::Contents;

use crate::itanium_pmu::slice::{at, bit, put, small};

pub(super) fn processor_status(value: u64) -> Contents {
    Contents::ProcessorStatus {
        up: bit(value, 2),
        i: bit(value, 14),
        sp: bit(value, 20),
        pp: bit(value, 21),
        db: bit(value, 24),
        cpl: small(value, 33, 32),
        is: bit(value, 34),
    }
}

pub(super) fn interrupt_vector(value: u64) -> Contents {
    Contents::InterruptVector { vector: small(value, 7, 0), m: bit(value, 16) }
}

pub(super) fn value(contents: &Contents) -> u64 {
    match *contents {
        Contents::ProcessorStatus { up, i, sp, pp, db, cpl, is } => {
            at(up, 2)
                | at(i, 14)
                | at(sp, 20)
                | at(pp, 21)
                | at(db, 24)
                | put(u64::from(cpl), 33, 32)
                | at(is, 34)
        }
        Contents::InterruptVector { vector, m } => put(u64::from(vector), 7, 0) | at(m, 16),
        _ => 0,
    }
}
