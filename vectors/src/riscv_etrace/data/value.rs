//! Coding of a data value: whole, or compared with an earlier one.

use core::fmt;

/// The data of a data trace packet (ET 8.1.3), of as many bytes as the access has, whatever `data_len` is.
///
/// In files a value has no sign (`"0x12345678"`), an exclusive or has a `^` (`"^0x1"`), a difference its sign
/// (`"+0x10"`, `"-0x10"`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedData {
    /// The value itself, zero-extended from the size of the access.
    Full(u128),
    /// The value ^ the previous one, zero-extended from the size of the access.
    Xor(u128),
    /// The value - the previous one, sign-extended from the size of the access.
    Delta(i128),
}

impl fmt::Display for ReportedData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Full(value) => write!(f, "{value:#x}"),
            Self::Xor(value) => write!(f, "^{value:#x}"),
            Self::Delta(delta) if delta < 0 => write!(f, "-{:#x}", delta.unsigned_abs()),
            Self::Delta(delta) => write!(f, "+{delta:#x}"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ReportedData {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ReportedData {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use crate::notation::parse_u128;
        use alloc::string::String;
        let text = String::deserialize(deserializer)?;
        let parsed = if let Some(value) = text.strip_prefix('^') {
            parse_u128(value).map(Self::Xor)
        } else if let Some(magnitude) = text.strip_prefix('+') {
            parse_u128(magnitude).and_then(|value| i128::try_from(value).ok()).map(Self::Delta)
        } else if let Some(magnitude) = text.strip_prefix('-') {
            parse_u128(magnitude).and_then(|value| 0_i128.checked_sub_unsigned(value)).map(Self::Delta)
        } else {
            parse_u128(&text).map(Self::Full)
        };
        parsed.ok_or_else(|| {
            serde::de::Error::invalid_value(
                serde::de::Unexpected::Str(&text),
                &"a value such as \"0x12345678\", an exclusive or such as \"^0x1\", or a difference such as \"-0x10\"",
            )
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ReportedData {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "ReportedData".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[+^-]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9_]+)$",
            "description": "A value without sign, an exclusive or after `^`, or a difference with its sign."
        })
    }
}

#[cfg(all(test, feature = "cases"))]
mod tests {
    use super::*;

    #[test]
    fn reported_data_keep_their_kind_through_text() {
        for (data, text) in [
            (ReportedData::Full(0), "\"0x0\""),
            (ReportedData::Full(u128::MAX), "\"0xffffffffffffffffffffffffffffffff\""),
            (ReportedData::Xor(1), "\"^0x1\""),
            (ReportedData::Delta(0), "\"+0x0\""),
            (ReportedData::Delta(-0x10), "\"-0x10\""),
            (ReportedData::Delta(i128::MIN), "\"-0x80000000000000000000000000000000\""),
        ] {
            assert_eq!(serde_json::to_string(&data).expect("serialises"), text);
            assert_eq!(serde_json::from_str::<ReportedData>(text).expect("reads back"), data, "{text}");
        }
        for wrong in ["\"+0x80000000000000000000000000000000\"", "\"^-1\"", "\"--1\"", "\"\""] {
            assert!(serde_json::from_str::<ReportedData>(wrong).is_err(), "{wrong}");
        }
    }
}
