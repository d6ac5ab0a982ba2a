//! The fields of a configuration register.

use traceproof_vectors::itanium_pmu::{Contents, Register};

use crate::itanium_pmu::slice::{at, bit, put, slice, small};

/// Spec: ITA-REG-018 (sections 2.2 to 2.9 of the layouts).
pub(super) fn contents(register: Register, value: u64) -> Contents {
    let plm = small(value, 3, 0);
    let pm = bit(value, 6);
    let umask = small(value, 19, 16);
    let ism = small(value, 25, 24);
    match register.index {
        0 => Contents::OverflowStatus { fr: bit(value, 0), overflow: small(value, 7, 4) << 4 },
        1..=3 => Contents::NoFields(register),
        4..=7 => Contents::CounterConfiguration {
            register,
            plm,
            ev: bit(value, 4),
            oi: bit(value, 5),
            pm,
            es: small(value, 14, 8),
            umask,
            threshold: threshold(register.index, value),
            ism,
        },
        8 | 9 => Contents::OpcodeMatch {
            register,
            m: bit(value, 63),
            i: bit(value, 62),
            f: bit(value, 61),
            b: bit(value, 60),
            value: slice(value, 59, 33) as u32,
            mask: slice(value, 29, 3) as u32,
        },
        10 => Contents::InstructionEarConfiguration { plm, pm, tlb: bit(value, 7), umask, ism },
        11 => Contents::DataEarConfiguration { plm, pm, tlb: bit(value, 7), umask, ism, pt: bit(value, 28) },
        12 => Contents::TraceBufferConfiguration {
            plm,
            pm,
            tar: bit(value, 7),
            tm: small(value, 9, 8),
            ptm: small(value, 11, 10),
            ppm: small(value, 13, 12),
            bpt: bit(value, 14),
            bac: bit(value, 15),
        },
        13 => Contents::InstructionRangeCheck { ta: bit(value, 0) },
        _ => Contents::Unimplemented(register),
    }
}

/// Three bits on PMC\[4\] and PMC\[5\], two on PMC\[6\] and PMC\[7\]. Spec: ITA-REG-004, ITA-REG-005.
const fn threshold(index: u8, value: u64) -> u8 {
    if index < 6 { small(value, 22, 20) } else { small(value, 21, 20) }
}

pub(super) fn value(contents: &Contents) -> u64 {
    match *contents {
        Contents::OverflowStatus { fr, overflow } => at(fr, 0) | u64::from(overflow & 0xf0),
        Contents::CounterConfiguration { register: _, plm, ev, oi, pm, es, umask, threshold, ism } => {
            monitor(plm, pm, umask, ism)
                | at(ev, 4)
                | at(oi, 5)
                | put(u64::from(es), 14, 8)
                | put(u64::from(threshold), 22, 20)
        }
        Contents::OpcodeMatch { register: _, m, i, f, b, value, mask } => {
            at(m, 63)
                | at(i, 62)
                | at(f, 61)
                | at(b, 60)
                | put(u64::from(value), 59, 33)
                | put(u64::from(mask), 29, 3)
        }
        Contents::InstructionEarConfiguration { plm, pm, tlb, umask, ism } => {
            monitor(plm, pm, umask, ism) | at(tlb, 7)
        }
        Contents::DataEarConfiguration { plm, pm, tlb, umask, ism, pt } => {
            monitor(plm, pm, umask, ism) | at(tlb, 7) | at(pt, 28)
        }
        Contents::TraceBufferConfiguration { plm, pm, tar, tm, ptm, ppm, bpt, bac } => {
            put(u64::from(plm), 3, 0)
                | at(pm, 6)
                | at(tar, 7)
                | put(u64::from(tm), 9, 8)
                | put(u64::from(ptm), 11, 10)
                | put(u64::from(ppm), 13, 12)
                | at(bpt, 14)
                | at(bac, 15)
        }
        Contents::InstructionRangeCheck { ta } => at(ta, 0),
        _ => 0,
    }
}

/// The fields that counters and event address registers share.
fn monitor(plm: u8, pm: bool, umask: u8, ism: u8) -> u64 {
    put(u64::from(plm), 3, 0) | at(pm, 6) | put(u64::from(umask), 19, 16) | put(u64::from(ism), 25, 24)
}
