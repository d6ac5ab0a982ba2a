//! Whether an address matches a pair of breakpoint registers: the comparison that instruction and data ranges share,
//! bit by bit.

use crate::itanium_pmu::slice::bit;

/// What bit `b` of a breakpoint address is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparedWith {
    /// This bit of the address: b, or 50 where the address only has copies of bit 50.
    pub bit: u8,
    /// Whether a mask bit of 0 excuses it.
    pub maskable: bool,
}

impl ComparedWith {
    /// The row of the formula that bit `b` stands in, 0 to 63.
    ///
    /// Spec: ITA-IBR-002 to ITA-IBR-005, ITA-DBR-004.
    #[must_use]
    pub const fn of(b: u8) -> Self {
        match b {
            0..=50 => Self { bit: b, maskable: true },
            51..=55 => Self { bit: 50, maskable: true },
            56..=60 => Self { bit: 50, maskable: false },
            _ => Self { bit: b, maskable: false },
        }
    }
}

/// Why a pair does not match: one bit that is compared and differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitDifference {
    /// The bit of the breakpoint address.
    pub bit: u8,
    /// Its value there.
    pub register: bool,
    /// What it is compared with.
    pub with: ComparedWith,
}

/// Whether bit `b` of the breakpoint address `register` agrees with `address` under the mask of the odd register
/// `control`.
#[inline]
fn agrees(register: u64, control: u64, address: u64, b: u8) -> bool {
    let row = ComparedWith::of(b);
    let of_address = bit(address, row.bit);
    if row.maskable {
        let mask = bit(control, b);
        (bit(register, b) & mask) == (of_address & mask)
    } else {
        bit(register, b) == of_address
    }
}

/// Whether every bit from `lowest` on agrees.
pub(super) fn matches(register: u64, control: u64, address: u64, lowest: u8) -> bool {
    (lowest..64).all(|b| agrees(register, control, address, b))
}

/// The highest bit from `lowest` on that differs.
pub(in crate::itanium_pmu) fn difference(
    register: u64,
    control: u64,
    address: u64,
    lowest: u8,
) -> Option<BitDifference> {
    let b = (lowest..64).rev().find(|b| !agrees(register, control, address, *b))?;
    Some(BitDifference { bit: b, register: bit(register, b), with: ComparedWith::of(b) })
}
