//! Packets of ETMv2, field by field (6.4, 6.5).

use super::CompressedAddress;

/// One ETMv2 packet, as it stands in the FIFO.
///
/// `more` is the C bit: another packet of the same cycle follows. `ss` is the size code of the value: 0, 1, 2, 3 for
/// 0, 1, 2, 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Packet {
    /// `cXXXXXX1`: where an indirect branch went. Always the last packet of its cycle (6.4, 6.7).
    BranchAddress(CompressedAddress),
    /// `C0A0SS10`: data of a store, of a load that hit, or of a coprocessor register transfer (6.4.2).
    NormalData {
        /// C bit.
        more: bool,
        /// A bit: first data packet of the instruction.
        first: bool,
        /// Present if `first` and data addresses are traced.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<CompressedAddress>,
        /// SS field; says nothing where `value` is absent.
        ss: u8,
        /// Zero-extended; present if data values are traced.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        value: Option<u32>,
    },
    /// `C1A1TT00`: placeholder of a load that missed (6.4.3).
    LoadMissOccurred {
        /// C bit.
        more: bool,
        /// A bit: first data packet of the instruction.
        first: bool,
        /// TT field, 0 to 3.
        tag: u8,
        /// Present if `first` and data addresses are traced.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<CompressedAddress>,
    },
    /// `CTT0SS00`: data of a load that missed (6.4.3).
    LoadMissData {
        /// C bit.
        more: bool,
        /// TT field, 0 to 3.
        tag: u8,
        /// SS field.
        ss: u8,
        /// Zero-extended.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u32,
    },
    /// `C1101010`: a transfer of an LSM that is not traced, behind one that is (6.4.4).
    ValueNotTraced {
        /// C bit.
        more: bool,
    },
    /// `C1101110`: the Context ID changed (6.5.7).
    ContextId {
        /// C bit.
        more: bool,
        /// Zero-extended.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u32,
    },
    /// The packet that a TFO cycle announces, with a header space of its own (6.5.3 to 6.5.5).
    TraceFifoOffset {
        /// RR field: why.
        reason: Reason,
        /// J bit: the instruction at `address` is in Java state (2.1).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        jazelle: bool,
        /// Present if Context IDs are traced; zero-extended.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
        /// All 32 bits as they travel; bit 0 is the Thumb bit unless `jazelle`. With an LSM in progress, the address
        /// of the LSM instruction.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        address: u32,
        /// Present in the LSM-in-progress format: the current instruction's address, in the form of a branch
        /// address packet compressed against `address` (PC-6).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        under_lsm: Option<CompressedAddress>,
    },
}

/// Why a TFO packet was sent. The discriminant is the RR field (6.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Reason {
    /// Periodic synchronisation; the TFO cycle implies an executed instruction without packets, at the address
    /// of the packet.
    Periodic = 0b00,
    /// Tracing was enabled.
    TraceEnabled = 0b01,
    /// Tracing starts again behind a FIFO overflow.
    Overflow = 0b10,
    /// The processor left debug state.
    DebugExit = 0b11,
}

impl Reason {
    /// The reason with this RR field; `None` above 3.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0b00 => Some(Self::Periodic),
            0b01 => Some(Self::TraceEnabled),
            0b10 => Some(Self::Overflow),
            0b11 => Some(Self::DebugExit),
            _ => None,
        }
    }

    /// The RR field.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}
