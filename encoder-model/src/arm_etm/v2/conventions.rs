//! What no available text confirms, one named function each. The bits are the constants of
//! [`conventions`](traceproof_vectors::arm_etm::v2::conventions); PC-1 is the numbering of
//! [`Pipestat`](traceproof_vectors::arm_etm::v2::Pipestat), PC-4 a parameter.

use traceproof_vectors::arm_etm::v2::conventions::{
    BRANCH_ARM, BRANCH_EXCEPTION, BRANCH_JAZELLE, BRANCH_THUMB, SET_EXCEPTION_BIT, TFO_JAZELLE,
    TFO_LSM_IN_PROGRESS, TFO_REASON_SHIFT,
};
use traceproof_vectors::arm_etm::{Exception, Isa, Reason};

/// Position of byte 5 in the bits of a branch address.
const BYTE_5: u32 = 27;

/// Bits of a branch address of five bytes, without and with exception bit.
pub(super) const BRANCH_BITS: u32 = 33;
pub(super) const EXCEPTION_BRANCH_BITS: u32 = 34;

/// PC-2, PC-2b: header of a TFO packet.
pub(super) const fn tfo_header(reason: Reason, lsm_in_progress: bool, jazelle: bool) -> u8 {
    let mut header = reason.code() << TFO_REASON_SHIFT;
    if lsm_in_progress {
        header |= TFO_LSM_IN_PROGRESS;
    }
    if jazelle {
        header |= TFO_JAZELLE;
    }
    header
}

/// PC-7: TRACEPKT of a TD cycle that is no TFO but is to be captured, in cycle-accurate mode.
pub(super) const EMPTY_CYCLE: u16 = 0b1111;

/// What TRACEPKT carries for a TFO value, in consecutive cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TfoLanes {
    /// 8-bit and 16-bit ports.
    Whole([u16; 1]),
    /// 4-bit port.
    Nibbles([u16; 3]),
}

impl TfoLanes {
    /// PC-3 and PC-8: how `bytes`, the number of bytes in the FIFO (at most 127), travels.
    pub(super) fn new(bytes: u8, port_width: u8) -> Self {
        let upper = u16::from(bytes >> 4 & 0b111) << 1 | 1;
        let lower = u16::from(bytes & 0b1111);
        if port_width == 4 { Self::Nibbles([upper, 0, lower]) } else { Self::Whole([lower << 4 | upper]) }
    }

    pub(super) const fn as_slice(&self) -> &[u16] {
        match self {
            Self::Whole(lanes) => lanes,
            Self::Nibbles(lanes) => lanes,
        }
    }
}

/// PC-5: instruction addresses travel shifted right by so many bits.
pub(super) const fn address_shift(isa: Isa) -> u32 {
    match isa {
        Isa::Arm => 2,
        Isa::Thumb | Isa::ThumbEe => 1,
        Isa::Jazelle => 0,
    }
}

/// PC-5: the bit of a 5-byte branch address, above the address bits, that gives the state.
pub(super) const fn state_marker(isa: Isa) -> u64 {
    let (_, pattern) = match isa {
        Isa::Arm => BRANCH_ARM,
        Isa::Thumb | Isa::ThumbEe => BRANCH_THUMB,
        Isa::Jazelle => BRANCH_JAZELLE,
    };
    (pattern as u64) << BYTE_5
}

/// PC-5: whether bits of a 5-byte branch address give a state.
pub(super) const fn has_state(bits: u64, jazelle: bool) -> bool {
    let byte = (bits >> BYTE_5) as u8;
    byte & BRANCH_ARM.0 == BRANCH_ARM.1
        || byte & BRANCH_THUMB.0 == BRANCH_THUMB.1
        || (jazelle && byte & BRANCH_JAZELLE.0 == BRANCH_JAZELLE.1)
}

/// PC-15: the exception bit of a branch address of five bytes.
pub(super) const EXCEPTION_BIT: u64 = (BRANCH_EXCEPTION as u64) << BYTE_5;

/// PC-16: whether the branch of an exception sets that bit.
///
/// Spec: ETM2-EXC-003 to 005 (6.8.1).
pub(super) fn sets_exception_bit(exception: &Exception) -> bool {
    SET_EXCEPTION_BIT.contains(&exception.number)
}

/// PC-12: load miss data travel only where values are traced.
pub(super) const fn miss_data_travel(data_value: bool) -> bool {
    data_value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tfo_values_travel_as_in_e2_04() {
        assert_eq!(TfoLanes::new(21, 8).as_slice(), [0x53]);
        assert_eq!(TfoLanes::new(0, 16).as_slice(), [0x01]);
        assert_eq!(TfoLanes::new(21, 4).as_slice(), [0x3, 0x0, 0x5]);
        assert_eq!(TfoLanes::new(111, 8).as_slice(), [0xfd]);
    }

    #[test]
    fn tfo_headers_travel_as_in_e2_04() {
        assert_eq!(tfo_header(Reason::Periodic, false, false), 0x00);
        assert_eq!(tfo_header(Reason::TraceEnabled, true, false), 0xa0);
        assert_eq!(tfo_header(Reason::DebugExit, false, true), 0x70);
    }
}
