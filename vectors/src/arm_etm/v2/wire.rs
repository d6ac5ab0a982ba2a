//! The wire: one record per trace clock (architecture 2; that of architecture 1 has one bit more, see
//! [`v1`](super::super::v1)).
//!
//! | port | bytes of a record |
//! |---|---|
//! | 4 bits | PIPESTAT, TRACEPKT (both in bits \[3:0\]; \[7:4\] are 0) |
//! | 8 bits | PIPESTAT, TRACEPKT |
//! | 16 bits | PIPESTAT, TRACEPKT\[7:0\], TRACEPKT\[15:8\] |
//!
//! Bits \[7:4\] of the PIPESTAT byte are 0. A lane that carries nothing is written as 0 by encoders and ignored by
//! decoders.
//!
//! In cycles that drain the FIFO (all but TD and TR, those in which TRACEPKT carries a TFO value, and the gap between
//! the two parts of such a value on a 4-bit port) an 8-bit port carries one FIFO byte, a 16-bit port up to two, the
//! first one on \[7:0\], and a 4-bit port one half of a FIFO byte, the low half in the earlier cycle (ETM2-FIFO-004,
//! 005). On a 4-bit port a TFO cycle never comes between the two halves of a byte: the value of the TFO could not
//! express where the halves belong.

use core::fmt;
use core::str::FromStr;

use crate::arm_etm::Parameters;

/// Bits of a PIPESTAT byte, and of a TRACEPKT byte of a 4-bit port, that are always 0.
pub const UPPER_NIBBLE: u8 = 0xf0;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cycle {
    /// Status of the cycle.
    pub pipestat: Pipestat,
    /// TRACEPKT, zero-extended to 16 bits.
    pub tracepkt: u16,
}

impl Cycle {
    /// Bytes of one record: 2, or 3 for a 16-bit port.
    #[must_use]
    pub const fn size(parameters: &Parameters) -> usize {
        if parameters.port_width == 16 { 3 } else { 2 }
    }

    /// The record as bytes; only the first [`size`](Self::size) of them belong to it. Bits that the port does
    /// not have are dropped.
    #[must_use]
    pub const fn to_bytes(self, parameters: &Parameters) -> [u8; 3] {
        let [low, high] = self.tracepkt.to_le_bytes();
        let pipestat = self.pipestat.code();
        match parameters.port_width {
            4 => [pipestat, low & !UPPER_NIBBLE, 0],
            16 => [pipestat, low, high],
            _ => [pipestat, low, 0],
        }
    }

    /// Reads one record.
    ///
    /// # Errors
    ///
    /// When the length is not [`size`](Self::size), or bits are set that are always 0.
    pub fn from_bytes(bytes: &[u8], parameters: &Parameters) -> Result<Self, MalformedCycle> {
        let (pipestat, tracepkt) = match (bytes, parameters.port_width) {
            (&[pipestat, low], 4 | 8) => (pipestat, u16::from(low)),
            (&[pipestat, low, high], 16) => (pipestat, u16::from_le_bytes([low, high])),
            _ => return Err(MalformedCycle { byte: bytes.len() }),
        };
        let pipestat = Pipestat::from_code(pipestat).ok_or(MalformedCycle { byte: 0 })?;
        if parameters.port_width == 4 && tracepkt & u16::from(UPPER_NIBBLE) != 0 {
            return Err(MalformedCycle { byte: 1 });
        }
        Ok(Self { pipestat, tracepkt })
    }
}

/// A record has another length, or bits set that are always 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedCycle {
    /// Index within the record of the byte at fault; its length if that is wrong.
    pub byte: usize,
}

impl fmt::Display for MalformedCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed record at its byte {}", self.byte)
    }
}

impl core::error::Error for MalformedCycle {}

/// PIPESTAT\[3:0\] of ETMv2. The discriminant is the code (PC-1).
///
/// A status with a D means that the cycle placed at least one packet of any type in the FIFO, one without that it
/// placed none (TFO cycles excepted; ETM2-PS-002).
///
/// Spec: ETM2-PS-001 (6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Pipestat {
    /// Instruction executed.
    Ie = 0b0000,
    /// Instruction executed, with data.
    De = 0b0001,
    /// Instruction not executed: its condition failed.
    In = 0b0010,
    /// Instruction not executed, with data.
    Dn = 0b0011,
    /// Wait: no instruction, the FIFO is not empty.
    Wt = 0b0100,
    /// Wait with data.
    Dw = 0b0101,
    /// Trigger; the status that it replaces is on TRACEPKT\[3:0\].
    Tr = 0b0110,
    /// Trace disabled, or a Trace FIFO Offset.
    Td = 0b0111,
    /// Phantom branch taken, then [`Pipestat::Ie`].
    PtIe = 0b1000,
    /// Phantom branch taken, then [`Pipestat::De`].
    PtDe = 0b1001,
    /// Phantom branch taken, then [`Pipestat::In`].
    PtIn = 0b1010,
    /// Phantom branch taken, then [`Pipestat::Dn`].
    PtDn = 0b1011,
    /// Phantom branch not taken, then [`Pipestat::Ie`].
    PnIe = 0b1100,
    /// Phantom branch not taken, then [`Pipestat::De`].
    PnDe = 0b1101,
    /// Phantom branch not taken, then [`Pipestat::In`].
    PnIn = 0b1110,
    /// Phantom branch not taken, then [`Pipestat::Dn`].
    PnDn = 0b1111,
}

impl Pipestat {
    /// Every status, in the order of the codes.
    pub const ALL: [Self; 16] = [
        Self::Ie,
        Self::De,
        Self::In,
        Self::Dn,
        Self::Wt,
        Self::Dw,
        Self::Tr,
        Self::Td,
        Self::PtIe,
        Self::PtDe,
        Self::PtIn,
        Self::PtDn,
        Self::PnIe,
        Self::PnDe,
        Self::PnIn,
        Self::PnDn,
    ];

    /// The code on the pins (PC-1).
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The status with this code (PC-1); `None` above 15.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name, e.g. `PT_IE`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ie => "IE",
            Self::De => "DE",
            Self::In => "IN",
            Self::Dn => "DN",
            Self::Wt => "WT",
            Self::Dw => "DW",
            Self::Tr => "TR",
            Self::Td => "TD",
            Self::PtIe => "PT_IE",
            Self::PtDe => "PT_DE",
            Self::PtIn => "PT_IN",
            Self::PtDn => "PT_DN",
            Self::PnIe => "PN_IE",
            Self::PnDe => "PN_DE",
            Self::PnIn => "PN_IN",
            Self::PnDn => "PN_DN",
        }
    }
}

impl fmt::Display for Pipestat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Pipestat {
    type Err = UnknownPipestat;

    fn from_str(text: &str) -> Result<Self, UnknownPipestat> {
        Self::ALL.into_iter().find(|status| status.name() == text).ok_or(UnknownPipestat)
    }
}

/// The text is the name of no status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPipestat;

impl fmt::Display for UnknownPipestat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown PIPESTAT; known are")?;
        for status in Pipestat::ALL {
            write!(f, " {status}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownPipestat {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_as_wide_as_the_port() {
        for (port_width, tracepkt, bytes) in
            [(4, 0x0c, &[9, 0x0c][..]), (8, 0xc4, &[9, 0xc4]), (16, 0x01c4, &[9, 0xc4, 0x01])]
        {
            let parameters = Parameters { port_width, ..Parameters::default() };
            let cycle = Cycle { pipestat: Pipestat::PtDe, tracepkt };
            assert_eq!(cycle.to_bytes(&parameters).get(..Cycle::size(&parameters)), Some(bytes));
            assert_eq!(Cycle::from_bytes(bytes, &parameters), Ok(cycle));
        }
    }

    #[test]
    fn bits_that_are_always_0_are_checked() {
        let wide = Parameters::default();
        let narrow = Parameters { port_width: 4, ..Parameters::default() };
        assert_eq!(Cycle::from_bytes(&[0x10, 0], &wide), Err(MalformedCycle { byte: 0 }));
        assert_eq!(Cycle::from_bytes(&[0, 0x10], &narrow), Err(MalformedCycle { byte: 1 }));
        assert_eq!(Cycle::from_bytes(&[0], &wide), Err(MalformedCycle { byte: 1 }));
    }

    #[test]
    fn names_and_codes_agree() {
        for (code, status) in Pipestat::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(status.code()), code);
            assert_eq!(status.name().parse(), Ok(status));
        }
        assert_eq!(Pipestat::from_code(16), None);
    }
}
