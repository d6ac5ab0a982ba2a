//! The bits that no available text confirms, one named constant or function each. See
//! [`READINGS`](traceproof_vectors::arm_etm::READINGS); PC-1 is the numbering of
//! [`Pipestat`](traceproof_vectors::arm_etm::v2::Pipestat), PC-4 a parameter.

use traceproof_vectors::arm_etm::{Isa, Reason};

/// PC-2: position of the reason in a TFO packet header.
const TFO_REASON_SHIFT: u8 = 5;
/// PC-2: bit of a TFO packet header that selects the LSM-in-progress format.
const TFO_LSM_IN_PROGRESS: u8 = 1 << 7;
/// PC-2: bit of a TFO packet header for Java state (architecture 2.1).
const TFO_JAZELLE: u8 = 1 << 4;

/// PC-2: header of a TFO packet.
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
    1 << (32 - address_shift(isa))
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
