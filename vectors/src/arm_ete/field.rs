//! Parts of packets: atoms, addresses, contexts, conditional results.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::arm::{ExceptionLevel, SecurityState};
use crate::arm_etm::v3::VariableField;
use crate::{Address, Address32};

/// The atoms of one packet: 1 to 24, oldest first (sheet 5.10).
///
/// As text: `E` for taken, `N` for not taken, e.g. `ENE`. The text determines the header: each of the 64 headers C0 to
/// FF stands for another list, and a list that none of them stands for (such as `EENE`) is no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Atoms {
    /// 1 = E; the oldest atom is bit 0.
    taken: u32,
    count: u8,
}

impl Atoms {
    /// The most atoms of a packet: 23 and one more in format 6.
    pub const MOST: u8 = 24;

    /// One atom.
    #[must_use]
    pub const fn one(taken: bool) -> Self {
        Self { taken: taken as u32, count: 1 }
    }

    /// These atoms, `true` = E, oldest first; `None` if there are none or more than 24.
    #[must_use]
    pub fn new(taken: &[bool]) -> Option<Self> {
        let count = u8::try_from(taken.len()).ok().filter(|count| (1..=Self::MOST).contains(count))?;
        let bits = taken.iter().rev().fold(0, |bits, &taken| bits << 1 | u32::from(taken));
        Some(Self { taken: bits, count })
    }

    /// The atoms of `bits`, 1 = E, the oldest in bit 0; `None` if `count` is 0 or more than 24. Higher bits are
    /// ignored.
    #[must_use]
    pub const fn from_bits(bits: u32, count: u8) -> Option<Self> {
        if count == 0 || count > Self::MOST {
            return None;
        }
        Some(Self { taken: bits & ((1 << count) - 1), count })
    }

    /// How many.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub const fn len(self) -> usize {
        self.count as usize
    }

    /// 1 = E; the oldest atom is bit 0, the newest bit `len() - 1`.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.taken
    }

    /// Whether each was taken, oldest first.
    pub fn taken(self) -> impl Iterator<Item = bool> {
        (0..self.count).map(move |bit| self.taken >> bit & 1 == 1)
    }
}

impl fmt::Display for Atoms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.taken().try_for_each(|taken| f.write_str(if taken { "E" } else { "N" }))
    }
}

/// The text is no list of atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseAtomsError {
    text: String,
}

impl fmt::Display for ParseAtomsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no list of atoms; write 1 to 24 of E and N, oldest first", self.text)
    }
}

impl core::error::Error for ParseAtomsError {}

impl FromStr for Atoms {
    type Err = ParseAtomsError;

    fn from_str(text: &str) -> Result<Self, ParseAtomsError> {
        let error = || ParseAtomsError { text: text.into() };
        let mut taken = [false; Self::MOST as usize];
        for (index, letter) in text.bytes().enumerate() {
            *taken.get_mut(index).ok_or_else(error)? = match letter {
                b'E' => true,
                b'N' => false,
                _ => return Err(error()),
            };
        }
        taken.get(..text.len()).and_then(Self::new).ok_or_else(error)
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
        "AtomsOfEtePacket".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Atoms of a packet, oldest first, e.g. `ENE`",
            "type": "string",
            "pattern": "^[EN]{1,24}$",
        })
    }
}

/// `sub_isa`: with SF of the context, the instruction set of an address (R_FXNDF).
///
/// | SF | IS0 | IS1 |
/// |---|---|---|
/// | 0 | A32 | T32 |
/// | 1 | A64 | reserved |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SubIsa {
    /// IS0: address bits \[1:0\] are 0 and do not travel.
    #[default]
    Is0,
    /// IS1: address bit 0 is 0 and does not travel.
    Is1,
}

/// An address as it travels (sheet 5.4): the form, and the address bits of the form at their own places, all other bits
/// 0. What address it is follows from the address history, which a packet does not carry.
///
/// | form | bytes after the header | bits that travel, IS0 | IS1 |
/// |---|---|---|---|
/// | exact match | 0 | none | none |
/// | short, 1 byte | `0 A[8:2]` or `0 A[7:1]` | \[8:2\] | \[7:1\] |
/// | short, 2 bytes | `1 A[8:2]`, `A[16:9]` or `1 A[7:1]`, `A[15:8]` | \[16:2\] | \[15:1\] |
/// | 32 bits | 4 | \[31:2\] | \[31:1\] |
/// | 64 bits | 8 | \[63:2\] | \[63:1\] |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AddressField {
    /// Entry 0, 1 or 2 of the address history, 0 = newest; its `sub_isa`, too.
    ExactMatch(u8),
    /// 7 or 15 bits of the address; the others are those of entry 0.
    Short {
        /// From the header.
        #[cfg_attr(feature = "serde", serde(default))]
        sub_isa: SubIsa,
        /// The bits that travel, at their places.
        bits: Address32,
        /// 1 or 2.
        bytes: u8,
    },
    /// The low 32 bits; bits \[63:32\] are those of entry 0.
    #[cfg_attr(feature = "serde", serde(rename = "bits_32"))]
    Bits32 {
        /// From the header.
        #[cfg_attr(feature = "serde", serde(default))]
        sub_isa: SubIsa,
        /// The bits that travel, at their places.
        bits: Address32,
        /// Bit 0 is \[7\] of the first byte, bit 1 is \[7\] of the second one (IS0 only): they must be 0.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
        reserved: u8,
    },
    /// All 64 bits.
    #[cfg_attr(feature = "serde", serde(rename = "bits_64"))]
    Bits64 {
        /// From the header.
        #[cfg_attr(feature = "serde", serde(default))]
        sub_isa: SubIsa,
        /// The bits that travel, at their places.
        bits: Address,
        /// As of 32 bits.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
        reserved: u8,
    },
}

/// A context as it travels (sheet 5.5): the information byte `C V NS SF NSE 0 EL[1:0]`, then the VMID, then the Context
/// ID, each little-endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextField {
    /// Bits \[1:0\].
    pub exception_level: ExceptionLevel,
    /// NSE (bit 3) and NS (bit 5): 00 Secure, 01 Non-secure, 10 Root, 11 Realm. NSE of ETMv4 is reserved.
    pub security: SecurityState,
    /// SF, bit 4: `AArch64` state.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub is_64_bit: bool,
    /// Present if V (bit 6) is 1. With [`vmid_bytes`](super::Parameters::vmid_bytes) 0 it is 0 and has no bytes.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub vmid: Option<u32>,
    /// Present if C (bit 7) is 1. With [`context_id_bytes`](super::Parameters::context_id_bytes) 0 it is 0 and has no
    /// bytes.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub context_id: Option<u32>,
    /// Bit 2, which must be 0.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub reserved: bool,
}

/// One payload of a conditional result packet of format 1 (ETMv4): `C KEY[2:0] RESULT[3:0]`, then up to 5 bytes with 7
/// bits of the key each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConditionalResult {
    /// CI, from the header: conditional instructions up to this key are implied.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub implied: bool,
    /// Bits \[3:0\] of the first byte.
    pub result: u8,
    /// 3 bits of the first byte, then 7 of each other; 8 of the sixth. The value is `bits`\[31:0\].
    pub key: VariableField,
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) const fn is_zero(bits: &u8) -> bool {
    *bits == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_are_text_oldest_first() {
        for (text, bits) in [("E", 1), ("N", 0), ("NE", 2), ("ENN", 1), ("NENE", 10), ("EEEEEN", 31)] {
            let atoms: Atoms = text.parse().expect(text);
            assert_eq!((atoms.bits(), atoms.len()), (bits, text.len()));
            assert_eq!(alloc::format!("{atoms}"), text);
            assert_eq!(Atoms::from_bits(bits | 1 << text.len(), atoms.count), Some(atoms));
        }
        let most = "EEEEEEEEEEEEEEEEEEEEEEEN";
        let atoms: Atoms = most.parse().expect("24 atoms");
        assert_eq!((atoms.bits(), alloc::format!("{atoms}")), (0x007f_ffff, String::from(most)));
        for wrong in ["", "e", "EEEEEEEEEEEEEEEEEEEEEEEEE", "E N", "W"] {
            assert!(wrong.parse::<Atoms>().is_err(), "{wrong}");
        }
        assert_eq!((Atoms::one(false).bits(), Atoms::new(&[])), (0, None));
        assert_eq!((Atoms::from_bits(1, 0), Atoms::from_bits(1, 25)), (None, None));
    }

    #[cfg(feature = "cases")]
    #[test]
    fn what_does_not_travel_is_left_out() {
        let context = ContextField { vmid: Some(9), is_64_bit: true, ..ContextField::default() };
        let text = r#"{"exception_level":"el0","security":"secure","is_64_bit":true,"vmid":"0x9"}"#;
        assert_eq!(serde_json::to_string(&context).expect("text"), text);
        assert_eq!(serde_json::from_str::<ContextField>(text).expect("a context"), context);
        let address = AddressField::Bits32 { sub_isa: SubIsa::Is1, bits: Address32(0x1002), reserved: 0 };
        let text = r#"{"bits_32":{"sub_isa":"is1","bits":"0x1002"}}"#;
        assert_eq!(serde_json::to_string(&address).expect("text"), text);
        assert_eq!(serde_json::from_str::<AddressField>(text).expect("an address"), address);
    }
}
