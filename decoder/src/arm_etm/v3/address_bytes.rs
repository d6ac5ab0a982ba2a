//! The address of a branch packet, byte by byte, in either encoding.

use traceproof_vectors::arm_etm::CompressedAddress;
use traceproof_vectors::arm_etm::v3::InByteException;

/// The encoding of the state in byte 5 of a branch packet (Table of 7.3.5): the low 6 bits, and which of them are
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatePattern {
    Arm,
    Thumb,
    Jazelle,
}

impl StatePattern {
    /// Spec: ETM3-BR-003, ETM3-BR-004 (7.3.5).
    pub(super) const fn of(byte: u8) -> Option<Self> {
        if byte & 0x20 != 0 {
            Some(Self::Jazelle)
        } else if byte & 0x10 != 0 {
            Some(Self::Thumb)
        } else if byte & 0x08 != 0 {
            Some(Self::Arm)
        } else {
            None
        }
    }

    /// Address bits below the pattern.
    pub(super) const fn width(self) -> u32 {
        match self {
            Self::Arm => 3,
            Self::Thumb => 4,
            Self::Jazelle => 5,
        }
    }
}

/// The address bytes taken so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressBytes {
    bits: u64,
    bytes: u8,
}

/// What follows an address byte. `arm`: byte 5 says whether the state is ARM.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    More,
    End {
        arm: Option<bool>,
    },
    /// Exception information follows.
    Exception {
        arm: Option<bool>,
    },
    /// Byte 5 has bit 7 set: in the original encoding and ARM state it holds an exception.
    InByte(InByteException),
}

impl AddressBytes {
    pub(super) const EMPTY: Self = Self { bits: 0, bytes: 0 };

    pub(super) const fn is_empty(self) -> bool {
        self.bytes == 0
    }

    pub(super) const fn bytes(self) -> u8 {
        self.bytes
    }

    pub(super) const fn address(self) -> CompressedAddress {
        CompressedAddress { bits: self.bits, bytes: self.bytes }
    }

    /// The next byte; `None` if it has no state pattern.
    ///
    /// Spec: ETM3-BR-002 to 009 (7.3.5).
    pub(super) const fn take(&mut self, byte: u8, alternative: bool) -> Option<Step> {
        let place = (7 * self.bytes as u32).saturating_sub(1);
        self.bytes += 1;
        let follows = byte & 0x80 != 0;
        match self.bytes {
            1 => self.bits = (byte >> 1 & 0x3f) as u64,
            2..=4 if alternative && !follows => self.bits |= (byte as u64 & 0x3f) << place,
            2..=4 => self.bits |= (byte as u64 & 0x7f) << place,
            _ => return self.take_fifth(byte),
        }
        Some(if follows {
            Step::More
        } else if alternative && self.bytes > 1 && byte & 0x40 != 0 {
            Step::Exception { arm: None }
        } else {
            Step::End { arm: None }
        })
    }

    /// Spec: ETM3-BR-003 to 006 (7.3.5).
    const fn take_fifth(&mut self, byte: u8) -> Option<Step> {
        if byte & 0x80 != 0 {
            self.bits |= (byte as u64 & 7) << 27;
            return Some(Step::InByte(InByteException { code: byte >> 3 & 7, cancel: byte & 0x40 != 0 }));
        }
        let Some(pattern) = StatePattern::of(byte) else { return None };
        let arm = Some(matches!(pattern, StatePattern::Arm));
        self.bits |= (byte as u64 & 0x3f) << 27;
        Some(if byte & 0x40 != 0 { Step::Exception { arm } } else { Step::End { arm } })
    }
}
