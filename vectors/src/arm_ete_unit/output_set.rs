//! Where bytes may go.

#[cfg(feature = "serde")]
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// Where bytes of the unit may go (ETE-SVDBD-001): one or more of the trace buffer unit, the interfaces, and nowhere,
/// which counts as output (ETE-NLSSL-001).
///
/// The first row that fits; where a column is unknown, the union of the rows for its values:
///
/// | trace buffer unit | interfaces | OE | set |
/// |---|---|---|---|
/// | enabled, not stopped | | | trace buffer |
/// | enabled, stopped | | | discarded |
/// | disabled | none | | discarded |
/// | disabled | enabled | 1 or not implemented | interfaces |
/// | disabled | disabled by their own mechanism | 1 | interfaces and discarded; under `disabled_interfaces_are_silent` discarded |
/// | disabled | disabled by their own mechanism | not implemented | discarded |
/// | disabled | any | 0 | discarded |
///
/// While bytes are in flight: the union of the sets for the trace buffer unit enabled and disabled, and discarded. None
/// are where the trace buffer unit is always disabled: without FEAT_TRBE, and while self-hosted trace is disabled
/// without FEAT_TRBE_EXT (ETE-RT-002).
///
/// Written as words separated by blanks: `trace-buffer`, `interfaces`, `discarded`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputSet(u8);

impl OutputSet {
    /// No place.
    pub const EMPTY: Self = Self(0);
    /// The trace buffer unit.
    pub const TRACE_BUFFER: Self = Self(1);
    /// One or more interfaces.
    pub const INTERFACES: Self = Self(2);
    /// Nowhere.
    pub const DISCARDED: Self = Self(4);

    const NAMES: [(Self, &str); 3] = [
        (Self::TRACE_BUFFER, "trace-buffer"),
        (Self::INTERFACES, "interfaces"),
        (Self::DISCARDED, "discarded"),
    ];

    /// The places of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all places of the other are among these.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for OutputSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Self::NAMES.into_iter().filter(|(place, _)| self.contains(*place));
        for (index, (_, name)) in names.enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// A word that is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownOutput;

impl fmt::Display for UnknownOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no set of outputs; write one or more of trace-buffer, interfaces, discarded")
    }
}

impl core::error::Error for UnknownOutput {}

impl FromStr for OutputSet {
    type Err = UnknownOutput;

    fn from_str(text: &str) -> Result<Self, UnknownOutput> {
        let mut set = Self::EMPTY;
        for word in text.split_ascii_whitespace() {
            let (place, _) = Self::NAMES.into_iter().find(|(_, name)| *name == word).ok_or(UnknownOutput)?;
            set = set.union(place);
        }
        if set == Self::EMPTY { Err(UnknownOutput) } else { Ok(set) }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for OutputSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for OutputSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for OutputSet {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "OutputSet".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Where bytes may go, e.g. `interfaces discarded`.",
            "pattern": r"^(trace-buffer|interfaces|discarded)( (trace-buffer|interfaces|discarded))*$"
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn sets_are_read_as_they_are_written() {
        for text in ["trace-buffer", "interfaces discarded", "trace-buffer interfaces discarded"] {
            assert_eq!(text.parse::<OutputSet>().map(|set| set.to_string()), Ok(text.to_string()));
        }
        assert_eq!("".parse::<OutputSet>(), Err(UnknownOutput));
        assert_eq!("none".parse::<OutputSet>(), Err(UnknownOutput));
    }
}
