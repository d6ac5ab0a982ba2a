//! Notation of numbers in case files and JSON: addresses as `"0x…"` strings, signed differences as `"+0x…"`.
//!
//! JSON and TOML readers lose integers beyond 2^53 or 2^63; strings survive everywhere. Readers of these
//! modules accept plain integers too.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Visitor};

/// Parses `0x…` (hexadecimal), `0b…` (binary) or decimal text; `_` may separate digits.
#[must_use]
pub fn parse_u64(text: &str) -> Option<u64> {
    parse_u128(text).and_then(|value| u64::try_from(value).ok())
}

/// As [`parse_u64`], for 128 bits.
#[must_use]
pub fn parse_u128(text: &str) -> Option<u128> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, digits.get(2..)?),
        Some("0b" | "0B") => (2, digits.get(2..)?),
        _ => (10, digits.as_str()),
    };
    // `from_str_radix` takes a sign, a number in a file does not.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u128::from_str_radix(digits, radix).ok()
}

/// Parses `hex` bytes: pairs of digits, optionally separated by blanks.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for word in text.split_ascii_whitespace() {
        if word.len() % 2 != 0 || !word.is_ascii() {
            return None;
        }
        for pair in word.as_bytes().chunks(2) {
            let pair = core::str::from_utf8(pair).ok()?;
            if pair.starts_with(['+', '-']) {
                return None;
            }
            bytes.push(u8::from_str_radix(pair, 16).ok()?);
        }
    }
    Some(bytes)
}

/// Writes bytes as lower-case pairs separated by blanks.
#[must_use]
pub fn show_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 3);
    for (index, byte) in bytes.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// A number as `0x…`, written without the formatter: listings write one for each range of instructions.
#[derive(Clone, Copy, Debug)]
pub struct HexText {
    /// Filled from the end.
    text: [u8; 19],
    first: usize,
}

impl HexText {
    /// The text of a number, as `{value:#x}` writes it.
    #[must_use]
    pub fn new(value: u64) -> Self {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        let (mut text, mut first, mut rest) = ([b'0'; 19], 19, value);
        for place in text.iter_mut().rev().take(16) {
            *place = DIGITS[(rest & 0xf) as usize];
            first -= 1;
            rest >>= 4;
            if rest == 0 {
                break;
            }
        }
        first -= 2;
        if let Some(x) = text.get_mut(first + 1) {
            *x = b'x';
        }
        Self { text, first }
    }

    /// The text after a sign: `+0x10`, `-0x10`.
    #[must_use]
    pub fn signed(value: i64) -> Self {
        let mut with_sign = Self::new(value.unsigned_abs());
        with_sign.first -= 1;
        if let Some(sign) = with_sign.text.get_mut(with_sign.first) {
            *sign = if value < 0 { b'-' } else { b'+' };
        }
        with_sign
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// The text, all ASCII.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.text.get(self.first..).unwrap_or_default()
    }
}

/// Schema of a number written as `"0x…"` or as an integer.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub enum Hex {
    /// A hexadecimal, binary or decimal number; `_` may separate digits.
    Text(#[schemars(regex(pattern = r"^(0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9_]+)$"))] String),
    /// A plain integer.
    Number(u64),
}

struct HexVisitor;

impl Visitor<'_> for HexVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as \"0x80000000\" or 12")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u64, E> {
        u64::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<u64, E> {
        parse_u64(value).ok_or_else(|| E::invalid_value(de::Unexpected::Str(value), &self))
    }
}

/// `u64` as a `"0x…"` string: `#[serde(with = "notation::hex")]`.
pub mod hex {
    use super::{HexText, HexVisitor};
    use serde::{Deserializer, Serializer};

    /// Writes `"0x…"`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HexText::new(*value).as_str())
    }

    /// Reads a string or an integer.
    ///
    /// # Errors
    ///
    /// When the value is not a number of 64 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(HexVisitor)
    }
}

/// `Option<u64>` as a `"0x…"` string; combine with `default` and `skip_serializing_if`.
pub mod hex_option {
    use super::hex;
    use serde::{Deserializer, Serializer};

    /// Writes `"0x…"`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => hex::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a string or an integer.
    ///
    /// # Errors
    ///
    /// When the value is not a number of 64 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        hex::deserialize(deserializer).map(Some)
    }
}

/// `u8` as a `"0x…"` string.
pub mod hex8 {
    use super::{HexText, HexVisitor, format};
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    /// Writes `"0x…"`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &u8, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HexText::new((*value).into()).as_str())
    }

    /// Reads a string or an integer.
    ///
    /// # Errors
    ///
    /// When the value is not a number of 8 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
        let value = deserializer.deserialize_any(HexVisitor)?;
        u8::try_from(value).map_err(|_| D::Error::custom(format!("{value:#x} has more than 8 bits")))
    }
}

/// `u32` as a `"0x…"` string: `#[serde(with = "notation::hex32")]`.
pub mod hex32 {
    use super::hex;
    use serde::de::{self, Unexpected};
    use serde::{Deserializer, Serializer};

    /// Writes `"0x…"`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        hex::serialize(&u64::from(*value), serializer)
    }

    /// Reads a string or an integer.
    ///
    /// # Errors
    ///
    /// When the value is not a number of 32 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let value = hex::deserialize(deserializer)?;
        u32::try_from(value)
            .map_err(|_| de::Error::invalid_value(Unexpected::Unsigned(value), &"a number of 32 bits"))
    }
}

/// `Option<u32>` as a `"0x…"` string; combine with `default` and `skip_serializing_if`.
pub mod hex32_option {
    use super::hex32;
    use serde::{Deserializer, Serializer};

    /// Writes `"0x…"`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => hex32::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a string or an integer.
    ///
    /// # Errors
    ///
    /// When the value is not a number of 32 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
        hex32::deserialize(deserializer).map(Some)
    }
}

struct WideVisitor;

impl Visitor<'_> for WideVisitor {
    type Value = u128;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as \"0x80000000\" or 12")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u128, E> {
        Ok(u128::from(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u128, E> {
        u128::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<u128, E> {
        parse_u128(value).ok_or_else(|| E::invalid_value(de::Unexpected::Str(value), &self))
    }
}

/// `u128` as a `"0x…"` string: `#[serde(with = "notation::hex128")]`.
pub mod hex128 {
    use super::{WideVisitor, format};
    use serde::{Deserializer, Serializer};

    /// Writes `"0x…"`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:#x}"))
    }

    /// Reads a string or an integer.
    ///
    /// # Errors
    ///
    /// When the value is not a number of 128 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        deserializer.deserialize_any(WideVisitor)
    }
}

/// `Option<u128>` as a `"0x…"` string; combine with `default` and `skip_serializing_if`.
pub mod hex128_option {
    use super::hex128;
    use serde::{Deserializer, Serializer};

    /// Writes `"0x…"`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &Option<u128>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => hex128::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a string or an integer.
    ///
    /// # Errors
    ///
    /// When the value is not a number of 128 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u128>, D::Error> {
        hex128::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_text_is_that_of_the_formatter() {
        for shift in 0..64 {
            for value in [1_u64 << shift, (1 << shift) - 1, 0xfedc_ba98_7654_3210 >> shift, u64::MAX >> shift]
            {
                assert_eq!(HexText::new(value).as_str(), format!("{value:#x}"));
                let (delta, positive) = (value.cast_signed(), value >> 1);
                let sign = if delta < 0 { '-' } else { '+' };
                assert_eq!(HexText::signed(delta).as_str(), format!("{sign}{:#x}", delta.unsigned_abs()));
                assert_eq!(HexText::signed(positive.cast_signed()).as_str(), format!("+{positive:#x}"));
            }
        }
    }

    #[test]
    fn numbers_are_read_strictly() {
        assert_eq!(parse_u64("0xffff_ffff_8000_0000"), Some(0xffff_ffff_8000_0000));
        assert_eq!(parse_u64("0b101"), Some(5));
        assert_eq!(parse_u64("31"), Some(31));
        for wrong in ["", "0x", "-1", "+1", "0x+1", "1g", "0x1_0000_0000_0000_0000"] {
            assert_eq!(parse_u64(wrong), None, "{wrong}");
        }
        assert_eq!(parse_u128("0x1_0000_0000_0000_0000"), Some(1 << 64));
        assert_eq!(parse_u128("0xffffffffffffffffffffffffffffffff"), Some(u128::MAX));
        for wrong in ["", "0x", "-1", "+1", "0x+1", "0x100000000000000000000000000000000"] {
            assert_eq!(parse_u128(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bytes_are_read_in_pairs() {
        assert_eq!(parse_bytes("73 00 0f"), Some(alloc::vec![0x73, 0, 0x0f]));
        assert_eq!(parse_bytes("73000f"), Some(alloc::vec![0x73, 0, 0x0f]));
        assert_eq!(parse_bytes(""), Some(alloc::vec![]));
        for wrong in ["7", "7g", "+1", "é"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
        assert_eq!(show_bytes(&[0x73, 0, 0x0f]), "73 00 0f");
    }
}
