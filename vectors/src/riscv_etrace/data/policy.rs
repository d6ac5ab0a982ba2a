//! Legal choices of an encoder in data trace.

/// The free choices of data trace (ET 8.1.3, 8.1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataPolicy {
    /// Which `diff` or `resp` a packet has where both bases are known and the options allow it.
    pub compression: DataCompression,
    /// `data_len` and `op_len`.
    pub length: DataLength,
}

/// Which `diff` or `resp` a packet has. What the options forbid, what is not offered, and what lacks a base is full; a
/// full address with compressed data, which has no code, gives way to full data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataCompression {
    /// Whichever makes the payload shortest in bytes; among equals full, then the other codes in rising order.
    #[default]
    Shortest,
    /// Differential address, XOR data.
    Xor,
    /// Differential address, differential data.
    Differential,
    /// Differential address, full data.
    FullData,
    /// Full address, full data.
    Full,
}

/// How many bytes of data and operands travel before other fields (RVET-DATA-012).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataLength {
    /// As few as sign extension can restore.
    #[default]
    Minimal,
    /// As many as the access has.
    Whole,
}
