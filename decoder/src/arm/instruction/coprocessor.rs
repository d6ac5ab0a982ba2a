//! Coprocessor, floating-point and CP15 encodings, which A32 and T32 share below bit 28 (DDI 0406 A5.6, A7.5 to A7.9).

use super::{Barrier, Instruction, Transfers, field, is};

/// `code` with bits 27:24 = 1100, 1101 or 1110; `straight` has set and length.
pub(super) const fn decode(code: u32, straight: Instruction) -> Instruction {
    let load = is(code, 0x0010_0000, 0x0010_0000);
    if is(code, 0x0f00_0000, 0x0e00_0000) {
        if !is(code, 0x10, 0x10) {
            // CDP, floating-point data processing
            return straight;
        }
        return register_transfer(code, straight.transfers(Transfers::coprocessor(load, 1)));
    }
    if is(code, 0x0fe0_0000, 0x0c40_0000) {
        // MCRR, MRRC
        return straight.transfers(Transfers::coprocessor(load, 2));
    }
    if is(code, 0x0fa0_0000, 0x0c00_0000) {
        // Undefined.
        return straight;
    }
    straight.transfers(load_store(code, load))
}

/// LDC, STC, VLDR, VSTR, VLDM, VSTM, VPUSH, VPOP.
const fn load_store(code: u32, load: bool) -> Transfers {
    if code >> 28 == 0xf {
        // LDC2, STC2: no floating point.
        return Transfers::words(load, 0);
    }
    let single = is(code, 0x0120_0000, 0x0100_0000);
    let words = field(code, 0, 8) as u8;
    match field(code, 8, 4) {
        9 if single => Transfers::memory(load, 1, 2),
        10 if single => Transfers::words(load, 1),
        11 if single => Transfers::words(load, 2),
        10 => Transfers::words(load, words),
        // An odd number is FLDMX, FSTMX: registers of two words, and a word that means nothing.
        11 => Transfers::words(load, words & !1),
        _ => Transfers::words(load, 0),
    }
}

/// MCR, MRC: some operations of CP15 are barriers.
const fn register_transfer(code: u32, instruction: Instruction) -> Instruction {
    match code & 0x0fff_0fff {
        _ if code >> 28 == 0xf => instruction,
        // c7, c5, 4
        0x0e07_0f95 => instruction.barrier(Barrier::Isb),
        // c7, c10, 4 and 5
        0x0e07_0f9a => instruction.barrier(Barrier::Dsb),
        0x0e07_0fba => instruction.barrier(Barrier::Dmb),
        _ => instruction,
    }
}
