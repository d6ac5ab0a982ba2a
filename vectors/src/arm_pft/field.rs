//! Parts of packets: atoms, cycle counts, exception information bytes.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// The atoms of one packet: 1 to 5, oldest first (4.5.3, PFT-PKT-021, PFT-PKT-022).
///
/// As text: `E` for a waypoint instruction that was executed, `N` for one that was not, e.g. `EEN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Atoms {
    /// 1 = N; the newest atom is bit 0.
    not_executed: u8,
    count: u8,
}

impl Atoms {
    /// The most atoms of a packet (PFT-ENC-007).
    pub const MOST: u8 = 5;

    /// One atom: E if the waypoint instruction was executed, otherwise N.
    #[must_use]
    pub const fn one(executed: bool) -> Self {
        Self { not_executed: !executed as u8, count: 1 }
    }

    /// These atoms, `true` = E, oldest first; `None` if there are none or more than 5.
    #[must_use]
    pub const fn new(executed: &[bool]) -> Option<Self> {
        if executed.is_empty() || executed.len() > Self::MOST as usize {
            return None;
        }
        let mut atoms = Self { not_executed: 0, count: executed.len() as u8 };
        let mut rest = executed;
        while let [oldest, newer @ ..] = rest {
            atoms.not_executed = atoms.not_executed << 1 | !*oldest as u8;
            rest = newer;
        }
        Some(atoms)
    }

    /// How many.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub const fn len(self) -> usize {
        self.count as usize
    }

    /// The F bits as they travel: 0 = E, 1 = N; the newest atom is bit 0, the oldest bit `len() - 1`.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.not_executed
    }

    /// Whether each was executed, oldest first.
    pub fn executed(self) -> impl Iterator<Item = bool> {
        (0..self.count).rev().map(move |bit| self.not_executed >> bit & 1 == 0)
    }
}

impl fmt::Display for Atoms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.executed().try_for_each(|executed| f.write_str(if executed { "E" } else { "N" }))
    }
}

/// The text is no list of atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseAtomsError {
    text: String,
}

impl fmt::Display for ParseAtomsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no list of atoms; write 1 to 5 of E and N, oldest first", self.text)
    }
}

impl core::error::Error for ParseAtomsError {}

impl FromStr for Atoms {
    type Err = ParseAtomsError;

    fn from_str(text: &str) -> Result<Self, ParseAtomsError> {
        let error = || ParseAtomsError { text: text.into() };
        let mut executed = [false; Self::MOST as usize];
        for (index, letter) in text.bytes().enumerate() {
            *executed.get_mut(index).ok_or_else(error)? = match letter {
                b'E' => true,
                b'N' => false,
                _ => return Err(error()),
            };
        }
        executed.get(..text.len()).and_then(Self::new).ok_or_else(error)
    }
}

impl TryFrom<String> for Atoms {
    type Error = ParseAtomsError;

    fn try_from(text: String) -> Result<Self, ParseAtomsError> {
        text.parse()
    }
}

impl From<Atoms> for String {
    fn from(atoms: Atoms) -> Self {
        alloc::format!("{atoms}")
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Atoms {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "AtomsOfPacket".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Atoms of a packet, oldest first, e.g. `EEN`",
            "type": "string",
            "pattern": "^[EN]{1,5}$",
        })
    }
}

/// A cycle count of an atom, branch address, I-sync or timestamp packet (4.4, PFT-PKT-026 to PFT-PKT-032).
///
/// | byte | \[7\] | \[6\] | \[5:2\] | \[1:0\] |
/// |---|---|---|---|---|
/// | 0 | 1 in I-sync and atoms, 0 elsewhere | another follows | count\[3:0\] | 0; in atoms \[1\] is F |
/// | 1 to 4 | another follows (byte 4: 0) | \[6:0\] are count\[10:4\], \[17:11\], \[24:18\], \[31:25\] | | |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleCount {
    /// Cycles since the cycle count before; absent high bits are 0 (PFT-PKT-029).
    pub value: u32,
    /// Number of bytes, 1 to 5; conforming encoders use as few as they can (PFT-PKT-069).
    pub bytes: u8,
    /// Reserved bits that are wrong: \[7\], \[1\] and \[0\] of the first byte; \[2\] is bit 7 of the fifth.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::packet::is_zero"))]
    pub reserved: u8,
}

impl CycleCount {
    /// The count in as few bytes as it needs.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        let bytes = match value {
            0..0x10 => 1,
            0x10..0x800 => 2,
            0x800..0x4_0000 => 3,
            0x4_0000..0x200_0000 => 4,
            _ => 5,
        };
        Self { value, bytes, reserved: 0 }
    }
}

/// What the exception information bytes of a branch address packet say (4.5.4, PFT-PKT-043 to PFT-PKT-047).
///
/// | byte | \[7\] | \[6\] | \[5\] | \[4:0\] |
/// |---|---|---|---|---|
/// | 0 | byte 1 follows | AltISA | 0 | \[4:1\] exception\[3:0\], \[0\] NS |
/// | 1 | 0 | 0 | Hyp | exception\[8:4\] |
///
/// No bit cancels an instruction: what reaches the PTM is committed (PFT-PKT-068).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExceptionInformation {
    /// Exception\[8:0\]; 0 = no exception, only a state. \[8:4\] are 0 without byte 1.
    pub number: u16,
    /// AltISA: a Thumb state of this packet is ThumbEE.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub alt_isa: bool,
    /// NS: Non-secure state.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub non_secure: bool,
    /// Hyp mode; present if byte 1 is.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub hyp: Option<bool>,
    /// Reserved bits that are 1: \[5\] of byte 0, \[7:6\] of byte 1.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::packet::is_zero"))]
    pub reserved: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_are_text_oldest_first() {
        for (text, bits) in [("E", 0), ("N", 1), ("NE", 2), ("ENN", 3), ("EEEEN", 1), ("NEEEE", 16)] {
            let atoms: Atoms = text.parse().expect(text);
            assert_eq!((atoms.bits(), atoms.len()), (bits, text.len()));
            assert_eq!(alloc::format!("{atoms}"), text);
        }
        for wrong in ["", "e", "EEEEEE", "E N", "W"] {
            assert!(wrong.parse::<Atoms>().is_err(), "{wrong}");
        }
        assert_eq!((Atoms::one(false).bits(), Atoms::new(&[])), (1, None));
    }

    #[test]
    fn counts_have_as_few_bytes_as_they_need() {
        for (value, bytes) in [
            (0, 1),
            (15, 1),
            (16, 2),
            (2047, 2),
            (2048, 3),
            (262_143, 3),
            (262_144, 4),
            (33_554_431, 4),
            (33_554_432, 5),
            (u32::MAX, 5),
        ] {
            assert_eq!(CycleCount::new(value).bytes, bytes, "{value}");
        }
    }
}
