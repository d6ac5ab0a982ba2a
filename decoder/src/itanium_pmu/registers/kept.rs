//! The bits that a register keeps, those that ignore writes, and those that are copies of others.

use traceproof_vectors::itanium_pmu::{Register, RegisterClass};

use crate::itanium_pmu::slice::bit;

/// Bits that PMC\[0\] to PMC\[13\] keep. Spec: ITA-REG-002 to ITA-REG-010.
const PMC: [u64; 14] = [
    0xf1,
    0,
    0,
    0,
    0x037f_7f7f,
    0x037f_7f7f,
    0x033f_7f7f,
    0x033f_7f7f,
    0xffff_fffe_3fff_fff8,
    0xffff_fffe_3fff_fff8,
    0x030f_00cf,
    0x130f_00cf,
    0xffcf,
    1,
];

/// Bits of `register` that read as 0 and drop what is written. All of them where the processor implements no such
/// register.
///
/// Bits of a data register that are copies of another bit are not ignored bits, neither is any bit of PSR and PMV.
///
/// Spec: ITA-REG-001 to ITA-REG-017.
#[must_use]
pub fn ignored(register: Register) -> u64 {
    let odd = register.index % 2 == 1;
    match register.class {
        _ if !register.is_implemented() => u64::MAX,
        RegisterClass::Pmc => PMC.get(usize::from(register.index)).map_or(u64::MAX, |kept| !kept),
        RegisterClass::Pmd => match register.index {
            0 => 0x1c,
            1 => !0xfff,
            3 => !0xc000_0000_0000_0fff,
            16 => !0xf,
            17 => 0x2,
            _ => 0,
        },
        RegisterClass::Ibr if odd => 0x7000_0000_0000_0000,
        RegisterClass::Dbr if odd => 0x3000_0000_0000_0000,
        RegisterClass::Ibr | RegisterClass::Dbr | RegisterClass::Psr | RegisterClass::Pmv => 0,
    }
}

/// The value read from `register` after this value was written to it: ignored bits are 0, and of a data register
/// {63:32} are copies of {31} (counters) or {60:51} of {50} (addresses).
///
/// Spec: ITA-REG-001 to ITA-REG-017, ITA-CNT-001, ITA-CNT-002.
#[must_use]
pub fn stored(register: Register, value: u64) -> u64 {
    let value = value & !ignored(register);
    let Some((sign, copies)) = copies(register) else { return value };
    if bit(value, sign) { value | copies } else { value & !copies }
}

/// Which bit is copied, and the mask of its copies.
const fn copies(register: Register) -> Option<(u8, u64)> {
    match register {
        Register { class: RegisterClass::Pmd, index: 0 | 2 | 17 } => Some((50, 0x1ff8_0000_0000_0000)),
        Register { class: RegisterClass::Pmd, index: 4..=7 } => Some((31, 0xffff_ffff_0000_0000)),
        _ => None,
    }
}

/// The lowest bit of a value read that should copy another one and does not. The upper half of a counter may be 0
/// instead.
///
/// Spec: ITA-DEC-004, ITA-DEC-005.
pub(super) fn no_copy(register: Register, value: u64) -> Option<u8> {
    let (sign, copies) = copies(register)?;
    if sign == 31 && value & copies == 0 {
        return None;
    }
    let wrong = if bit(value, sign) { !value & copies } else { value & copies };
    (wrong != 0).then(|| wrong.trailing_zeros() as u8)
}
