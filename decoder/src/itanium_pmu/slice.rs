//! A range of bits of a number: `{h:l}`, 0 = least significant.

/// Bit `index`, 0 to 63.
pub(super) const fn bit(value: u64, index: u8) -> bool {
    value >> index & 1 == 1
}

/// Bits {`high`:`low`}, shifted down.
pub(super) const fn slice(value: u64, high: u8, low: u8) -> u64 {
    value >> low & (u64::MAX >> (63 - (high - low)))
}

/// A slice of at most 8 bits.
pub(super) const fn small(value: u64, high: u8, low: u8) -> u8 {
    slice(value, high, low) as u8
}

/// `flag` at bit `index`.
pub(super) const fn at(flag: bool, index: u8) -> u64 {
    (flag as u64) << index
}

/// The low bits of `value` that fit {`high`:`low`}, there.
pub(super) const fn put(value: u64, high: u8, low: u8) -> u64 {
    slice(value, high - low, 0) << low
}
