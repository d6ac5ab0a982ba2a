//! SS, the size of a value in the headers of ETMv2 and ETMv3.

/// How many bytes a value with this SS has. Spec: ETM2-HDR-010 (6.4.1).
pub(super) const fn value_bytes(ss: u8) -> usize {
    match ss {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// The smallest SS that holds the value. Spec: ETM2-HDR-012 (6.4.1).
pub(super) const fn minimal_ss(value: u32) -> u8 {
    match value {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 3,
    }
}
