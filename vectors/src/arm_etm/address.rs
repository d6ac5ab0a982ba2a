//! Addresses on the wire, and data addresses as far as they are known.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// A compressed address as it travels: payload bits without continue bits, and how many bytes there were.
///
/// Bit 7 of every byte but the last is 1 and belongs to none of `bits`.
///
/// | | byte 1 | bytes 2, 3, 4 | byte 5 |
/// |---|---|---|---|
/// | branch address (PC-5) | \[6:1\] -> `bits`\[5:0\]; \[0\] is 1 | \[6:0\] -> 7 bits each | \[6:0\] -> `bits`\[33:27\] |
/// | branch address (ETMv1) | \[6:0\] -> `bits`\[6:0\] | \[6:0\] -> 7 bits each | not in this form |
/// | data address | \[6:0\] -> `bits`\[6:0\] | \[6:0\] -> 7 bits each | \[3:0\] -> `bits`\[31:28\]; \[7:4\] are 0 |
///
/// Of a branch address of ETMv1, `bits` is the address with the Thumb bit in bit 0. Later, `bits` is the instruction
/// address shifted right by 2 (ARM), 1 (Thumb) or 0 (Java state), and byte 5 also carries the state: `00001aaa` ARM
/// A\[31:29\], `0001aaaa` Thumb A\[31:28\], `001aaaaa` Java A\[31:27\]. These state bits are part of `bits`. In ETMv2
/// so is bit 6 of byte 5, the exception bit, as `bits`\[33\] (PC-15).
///
/// In ETMv3 a bit that announces exception information (bit 6 of byte 5; in the alternative scheme, bit 6 of the last
/// of 2 to 4 bytes) is not part of `bits`, it is 0 there; and \[4\] of byte 5 of a data address is `bits`\[32\]: data
/// are big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompressedAddress {
    /// Payload bits, first byte in the lowest bits.
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub bits: u64,
    /// Number of bytes, 1 to 5.
    pub bytes: u8,
}

/// A data address of which perhaps only the low bits are known (ETM-GEN-011, ETM2-DA-006).
///
/// As text: `0x40000004`, or `0x1234/0x3fff` where only the bits of the mask are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct DataAddress {
    value: u32,
    known: u32,
}

impl DataAddress {
    /// A fully known address.
    #[must_use]
    pub const fn full(value: u32) -> Self {
        Self { value, known: u32::MAX }
    }

    /// An address of which the bits in `known` are known; the others of `value` are cleared.
    #[must_use]
    pub const fn partial(value: u32, known: u32) -> Self {
        Self { value: value & known, known }
    }

    /// The address; unknown bits are 0.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.value
    }

    /// Mask of the known bits.
    #[must_use]
    pub const fn known(self) -> u32 {
        self.known
    }

    /// Whether every bit is known.
    #[must_use]
    pub const fn is_full(self) -> bool {
        self.known == u32::MAX
    }
}

impl fmt::Display for DataAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_full() {
            write!(f, "{:#x}", self.value)
        } else {
            write!(f, "{:#x}/{:#x}", self.value, self.known)
        }
    }
}

/// The text is no data address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseDataAddressError {
    text: String,
}

impl fmt::Display for ParseDataAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no data address; write 0x40000004, or 0x1234/0x3fff (known bits)", self.text)
    }
}

impl core::error::Error for ParseDataAddressError {}

impl FromStr for DataAddress {
    type Err = ParseDataAddressError;

    /// Bits of the value outside the mask are errors: such a text contradicts itself.
    fn from_str(text: &str) -> Result<Self, ParseDataAddressError> {
        let number = |digits: &str| {
            let digits = digits.strip_prefix("0x").filter(|digits| !digits.starts_with(['+', '-']))?;
            u32::from_str_radix(digits, 16).ok()
        };
        let (value, known) = match text.split_once('/') {
            Some((value, known)) => (number(value), number(known)),
            None => (number(text), Some(u32::MAX)),
        };
        match (value, known) {
            (Some(value), Some(known)) if value & !known == 0 => Ok(Self { value, known }),
            _ => Err(ParseDataAddressError { text: text.into() }),
        }
    }
}

impl TryFrom<String> for DataAddress {
    type Error = ParseDataAddressError;

    fn try_from(text: String) -> Result<Self, ParseDataAddressError> {
        text.parse()
    }
}

impl From<DataAddress> for String {
    fn from(address: DataAddress) -> Self {
        format!("{address}")
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for DataAddress {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "DataAddress".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A data address, with the mask of its known bits where not all are known",
            "type": "string",
            "pattern": "^0x[0-9a-fA-F]{1,8}(/0x[0-9a-fA-F]{1,8})?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_addresses_are_text() {
        for (text, value, known) in
            [("0x40000004", 0x4000_0004, u32::MAX), ("0x1234/0x3fff", 0x1234, 0x3fff), ("0x0/0x0", 0, 0)]
        {
            let address = DataAddress::partial(value, known);
            assert_eq!(text.parse(), Ok(address));
            assert_eq!(format!("{address}"), text);
        }
        for wrong in ["", "12", "0x", "0x1/", "0x80/0x7f", "0x+1", "0x1ffffffff"] {
            assert!(wrong.parse::<DataAddress>().is_err(), "{wrong}");
        }
    }
}
