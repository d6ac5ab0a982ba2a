//! A record of an ETMv1 port.

use core::fmt;
use core::str::FromStr;

use crate::arm_etm::Parameters;
use crate::arm_etm::v2::{self, MalformedCycle, UPPER_NIBBLE};

/// TRACESYNC in the first byte of a record.
const TRACESYNC: u8 = 1 << 3;

/// One record: PIPESTAT in bits \[2:0\] and TRACESYNC in bit 3 of its first byte, then TRACEPKT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cycle {
    /// Status of the cycle.
    pub pipestat: Pipestat,
    /// The first packet of a branch address begins.
    pub tracesync: bool,
    /// TRACEPKT, zero-extended to 16 bits.
    pub tracepkt: u16,
}

impl Cycle {
    /// Bytes of one record: 2, or 3 for a 16-bit port.
    #[must_use]
    pub const fn size(parameters: &Parameters) -> usize {
        v2::Cycle::size(parameters)
    }

    /// The record as bytes; only the first [`size`](Self::size) of them belong to it. Bits that the port does
    /// not have are dropped.
    #[must_use]
    pub const fn to_bytes(self, parameters: &Parameters) -> [u8; 3] {
        let [low, high] = self.tracepkt.to_le_bytes();
        let first = self.pipestat.code() | if self.tracesync { TRACESYNC } else { 0 };
        match parameters.port_width {
            4 => [first, low & !UPPER_NIBBLE, 0],
            16 => [first, low, high],
            _ => [first, low, 0],
        }
    }

    /// Reads one record.
    ///
    /// # Errors
    ///
    /// When the length is not [`size`](Self::size), or bits are set that are always 0.
    pub fn from_bytes(bytes: &[u8], parameters: &Parameters) -> Result<Self, MalformedCycle> {
        let (first, tracepkt) = match (bytes, parameters.port_width) {
            (&[first, low], 4 | 8) => (first, u16::from(low)),
            (&[first, low, high], 16) => (first, u16::from_le_bytes([low, high])),
            _ => return Err(MalformedCycle { byte: bytes.len() }),
        };
        let pipestat = Pipestat::from_code(first & !TRACESYNC).ok_or(MalformedCycle { byte: 0 })?;
        if parameters.port_width == 4 && tracepkt & u16::from(UPPER_NIBBLE) != 0 {
            return Err(MalformedCycle { byte: 1 });
        }
        Ok(Self { pipestat, tracesync: first & TRACESYNC != 0, tracepkt })
    }
}

/// PIPESTAT\[2:0\] of ETMv1. The discriminant is the code.
///
/// Spec: ETM1-PS-001 (5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Pipestat {
    /// Instruction executed.
    Ie = 0b000,
    /// Instruction executed, with data.
    Id = 0b001,
    /// Instruction not executed: its condition failed.
    In = 0b010,
    /// Wait: no instruction, the FIFO is being drained.
    Wt = 0b011,
    /// Branch executed, with its address.
    Be = 0b100,
    /// Branch executed, with data and its address.
    Bd = 0b101,
    /// Trigger; the status that it replaces is on TRACEPKT\[2:0\].
    Tr = 0b110,
    /// Trace disabled: no instruction, nothing is output.
    Td = 0b111,
}

impl Pipestat {
    /// Every status, in the order of the codes.
    pub const ALL: [Self; 8] =
        [Self::Ie, Self::Id, Self::In, Self::Wt, Self::Be, Self::Bd, Self::Tr, Self::Td];

    /// The code on the pins.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The status with this code; `None` above 7.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name, e.g. `BE`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ie => "IE",
            Self::Id => "ID",
            Self::In => "IN",
            Self::Wt => "WT",
            Self::Be => "BE",
            Self::Bd => "BD",
            Self::Tr => "TR",
            Self::Td => "TD",
        }
    }

    /// A branch address is output.
    #[must_use]
    pub const fn has_address(self) -> bool {
        matches!(self, Self::Be | Self::Bd)
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

/// The text is the name of no status of ETMv1.
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
            [(4, 0x05, &[0x0c, 0x05][..]), (8, 0xa5, &[0x0c, 0xa5]), (16, 0x82a5, &[0x0c, 0xa5, 0x82])]
        {
            let parameters = Parameters { port_width, ..Parameters::default() };
            let cycle = Cycle { pipestat: Pipestat::Be, tracesync: true, tracepkt };
            assert_eq!(cycle.to_bytes(&parameters).get(..Cycle::size(&parameters)), Some(bytes));
            assert_eq!(Cycle::from_bytes(bytes, &parameters), Ok(cycle));
        }
    }

    #[test]
    fn bits_that_are_always_0_are_checked() {
        let wide = Parameters::default();
        let narrow = Parameters { port_width: 4, ..Parameters::default() };
        assert_eq!(Cycle::from_bytes(&[0x10, 0], &wide), Err(MalformedCycle { byte: 0 }));
        assert_eq!(Cycle::from_bytes(&[8, 0x10], &narrow), Err(MalformedCycle { byte: 1 }));
        assert_eq!(Cycle::from_bytes(&[0], &wide), Err(MalformedCycle { byte: 1 }));
    }

    #[test]
    fn names_and_codes_agree() {
        for (code, status) in Pipestat::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(status.code()), code);
            assert_eq!(status.name().parse(), Ok(status));
        }
        assert_eq!(Pipestat::from_code(8), None);
    }
}
