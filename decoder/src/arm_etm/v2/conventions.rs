//! How the reader uses bits that no text available to this project confirms (PC-1 to PC-16). Their values are those of
//! [`traceproof_vectors::arm_etm::v2::conventions`], where there is a number.
//!
//! | convention | place |
//! |---|---|
//! | PC-1 | [`Pipestat::from_code`](traceproof_vectors::arm_etm::v2::Pipestat::from_code) |
//! | PC-2, PC-2b | [`TFO_LSM`], [`TFO_REASON`], [`TFO_JAZELLE`], [`TFO_ZERO`] |
//! | PC-3 | [`VALUE_MARK`], [`VALUE_HIGH`], [`VALUE_LOW`] |
//! | PC-4 | `fifo_latency` of the parameters |
//! | PC-5 | [`BRANCH_FIRST`], [`state`] |
//! | PC-6 | the order of parts in [`Plan::tfo`](super::packet::Plan::tfo) |
//! | PC-7 | [`VALUE_HIGH_RESERVED`] |
//! | PC-8 | [`VALUE_GAP`], [`VALUE_SECOND`] |
//! | PC-9 | [`VALUE_WAIT_AFTER_TRIGGER`] |
//! | PC-10 | nothing depends on it |
//! | PC-11 | one slot for each tag in [`MissTable`](crate::arm_etm::misses::MissTable) |
//! | PC-12 | [`Flow`](super::Flow), where values are not traced |
//! | PC-13 | [`Port`](super::Port): a reserved header loses synchronisation |
//! | PC-14 | [`byte_of_number`] |
//! | PC-15 | [`is_exception`] |
//! | PC-16 | `TAKEN_BACK_WITHOUT_BIT` in [`Flow`](super::Flow) |

use traceproof_vectors::arm_etm::Isa;
use traceproof_vectors::arm_etm::v2::conventions::{
    self, BRANCH_ARM, BRANCH_EXCEPTION, BRANCH_JAZELLE, BRANCH_THUMB, TFO_LSM_IN_PROGRESS, TFO_REASON_SHIFT,
};

/// Some neighbouring bits of a byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    pub(super) name: &'static str,
    pub(super) first: u8,
    pub(super) width: u8,
}

impl Bits {
    pub(super) const fn new(name: &'static str, first: u8, width: u8) -> Self {
        Self { name, first, width }
    }

    /// The one bit of this mask.
    const fn of_mask(name: &'static str, mask: u8) -> Self {
        Self { name, first: mask.trailing_zeros() as u8, width: 1 }
    }

    /// Their value in `byte`.
    pub(super) const fn of(self, byte: u8) -> u8 {
        (byte >> self.first) & (0xff >> (8 - self.width))
    }

    /// Whether any of them is set in `byte`.
    pub(super) const fn any(self, byte: u8) -> bool {
        self.of(byte) != 0
    }
}

/// PC-2: a TFO packet is in the LSM-in-progress format.
pub(super) const TFO_LSM: Bits = Bits::of_mask("L", TFO_LSM_IN_PROGRESS);
/// PC-2: the reason.
pub(super) const TFO_REASON: Bits = Bits::new("RR", TFO_REASON_SHIFT as u8, 2);
/// PC-2b: Java state, with `tfo_jazelle`.
pub(super) const TFO_JAZELLE: Bits = Bits::of_mask("J", conventions::TFO_JAZELLE);
/// PC-2: 0 in every TFO packet header that is not reserved.
pub(super) const TFO_ZERO: u8 = !(TFO_LSM_IN_PROGRESS | 0b11 << TFO_REASON_SHIFT | conventions::TFO_JAZELLE);

/// TRACEPKT\[0\] of a TD cycle: there is a TFO value (6.1.6).
pub(super) const VALUE_MARK: Bits = Bits::new("TFO", 0, 1);
/// PC-3: upper part of a TFO value, on every port.
pub(super) const VALUE_HIGH: Bits = Bits::new("N[6:4]", 1, 3);
/// PC-3: lower part of a TFO value, ports of 8 and 16 bits.
pub(super) const VALUE_LOW: Bits = Bits::new("N[3:0]", 4, 4);
/// PC-7: upper part that is no TFO value, but in cycle-accurate trace an empty cycle.
pub(super) const VALUE_HIGH_RESERVED: u8 = 0b111;

/// PC-8: lower part of a TFO value, 4-bit port, in a cycle of its own.
pub(super) const VALUE_SECOND: Bits = Bits::new("N[3:0]", 0, 4);
/// PC-8: cycles between the two parts of a TFO value on a 4-bit port; the FIFO stalls in them.
pub(super) const VALUE_GAP: u8 = 1;
/// PC-9: cycles between a TR that replaces TD and the TFO value.
pub(super) const VALUE_WAIT_AFTER_TRIGGER: u8 = 0;

/// PC-5: address bits in the first byte of a branch address.
pub(super) const BRANCH_FIRST: Bits = Bits::new("address", 1, 6);

/// PC-5: the state that byte 5 of a branch address carries, and how many address bits are below that pattern.
pub(super) const fn state(byte_5: u8) -> Option<(Isa, u32)> {
    let byte_5 = byte_5 & !BRANCH_EXCEPTION;
    let (isa, (mask, _)) = if has(byte_5, BRANCH_ARM) {
        (Isa::Arm, BRANCH_ARM)
    } else if has(byte_5, BRANCH_THUMB) {
        (Isa::Thumb, BRANCH_THUMB)
    } else if has(byte_5, BRANCH_JAZELLE) {
        (Isa::Jazelle, BRANCH_JAZELLE)
    } else {
        return None;
    };
    Some((isa, mask.trailing_zeros()))
}

/// Whether a byte has this pattern under its mask, and bit 7 is 0.
const fn has(byte: u8, (mask, pattern): (u8, u8)) -> bool {
    byte & (mask | 0x80) == pattern
}

/// PC-15: whether byte 5 of a branch address has the exception bit. Spec: ETM2-EXC-007.
pub(super) const fn is_exception(byte_5: u8) -> bool {
    byte_5 & BRANCH_EXCEPTION != 0
}

/// PC-14: what byte `index` of a number of several bytes adds to it.
pub(super) const fn byte_of_number(index: u8, byte: u8) -> u32 {
    (byte as u32) << (8 * (index & 3))
}
