//! Packets of ETMv1, ETMv2 and ETMv3, field by field (5.5, 6.4, 6.5, 7.2).

use super::CompressedAddress;
use super::v1::AddressReason;
use super::v3::{ExceptionInformation, InByteException, VariableField};
use crate::Address32;

/// One packet, as it stands in the FIFO.
///
/// ETMv1 has `BranchAddress`, `FullBranchAddress`, `DataAddress` and `DataValue`: each is what stands together of one
/// kind, for ETMv1 calls a single byte a packet. ETMv2 has the variants from `BranchAddress` to `TraceFifoOffset`.
/// ETMv3 has those after it and those before it; there `LoadMissOccurred` and `LoadMissData` are called out-of-order
/// placeholder and out-of-order data.
///
/// `more` is the C bit of ETMv2: another packet of the same cycle follows. It is false in ETMv3. `ss` is the size code
/// of the value: 0, 1, 2, 3 for 0, 1, 2, 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Packet {
    /// `cXXXXXX1`: where an indirect branch went. Always the last packet of its cycle (6.4, 6.7). In ETMv1, a branch
    /// address of 1 to 4 bytes (5.5.4).
    BranchAddress(CompressedAddress),
    /// `C0A0SS10`: data of a store, of a load that hit, or of a coprocessor register transfer (6.4.2).
    NormalData {
        /// C bit.
        #[cfg_attr(feature = "serde", serde(default))]
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
        #[cfg_attr(feature = "serde", serde(default))]
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
        #[cfg_attr(feature = "serde", serde(default))]
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
    /// `C1101010`: a transfer of an LSM that is not traced, after one that is (6.4.4).
    ValueNotTraced {
        /// C bit.
        #[cfg_attr(feature = "serde", serde(default))]
        more: bool,
        /// A bit, ETMv3 only: the transfer does not follow the one before (7.4.5).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        first: bool,
        /// Present if `first` and data addresses are traced.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<CompressedAddress>,
    },
    /// `C1101110`: the Context ID changed (6.5.7).
    ContextId {
        /// C bit.
        #[cfg_attr(feature = "serde", serde(default))]
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
        address: Address32,
        /// Present in the LSM-in-progress format: the current instruction's address, in the form of a branch
        /// address packet compressed against `address` (PC-6).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        under_lsm: Option<CompressedAddress>,
    },
    /// `00 00 00 00 00 … 80`: the next byte is a header (7.10.4).
    AlignmentSync {
        /// Zero bytes before the 80, 5 or more.
        zeros: u64,
    },
    /// `04`: cycles that no P-header carries (7.2).
    CycleCount(
        /// 0 = unknown.
        VariableField,
    ),
    /// `08`, `70`: where execution is (7.10.5).
    InstructionSync {
        /// Present with header 70.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycle_count: Option<VariableField>,
        /// Present if Context IDs are traced; zero-extended.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
        /// Information byte \[6:5\].
        reason: Reason,
        /// Information byte \[4\], J: Java state.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        jazelle: bool,
        /// Information byte \[3\], NS.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        non_secure: bool,
        /// Information byte \[2\], AltISA: with the Thumb bit, ThumbEE state.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        alt_isa: bool,
        /// Information byte \[1\].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        hyp: bool,
        /// All 32 bits as they travel, bit 0 is the Thumb bit unless `jazelle`; absent in data-only mode. With a
        /// load or store in progress, the address of that instruction.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address32>,
        /// Present if a load or store is in progress (LSiP, information byte \[7\]): the next instruction's address,
        /// in the form of a branch packet compressed against `address`.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        under_lsm: Option<CompressedAddress>,
    },
    /// `0C`: the trigger occurred.
    Trigger,
    /// `80` to `FE`, even: atoms (7.3.1). The header byte.
    PHeader(
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex8"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u8,
    ),
    /// A branch packet with exception information bytes (7.3.5).
    ExceptionBranch {
        /// Where to. In the alternative scheme the last of 2 to 4 address bytes holds 6 bits, \[5:0\].
        address: CompressedAddress,
        /// The exception information bytes.
        information: ExceptionInformation,
    },
    /// A branch packet of five bytes whose fifth holds an exception, bit 7 being 1 (original scheme, deprecated).
    InByteExceptionBranch {
        /// Where to; `bits` has A\[31:29\] of byte 5 in \[29:27\] and no state bits: the state is ARM.
        address: CompressedAddress,
        /// The rest of byte 5.
        exception: InByteException,
    },
    /// `42`, `46` (7.7).
    Timestamp {
        /// R bit: a clock frequency changed since the timestamp before.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        clock_change: bool,
        /// The payload bits as they travel (Gray code or binary).
        value: VariableField,
    },
    /// `3C`.
    Vmid(
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex8"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u8,
    ),
    /// `50` (7.4.7).
    StoreFailed,
    /// `62` (7.4.6).
    DataSuppressed,
    /// `66`: filling.
    Ignore,
    /// `76` (7.5, 7.6).
    ExceptionExit,
    /// `7E` (7.5.3).
    ExceptionEntry,
    /// ETMv1: a branch address of five bytes, and the Context ID after it (5.5.4, 5.6.3).
    FullBranchAddress {
        /// All 32 bits as they travel; bit 0 is the Thumb bit unless `jazelle`.
        address: Address32,
        /// Byte 5 \[6:4\].
        reason: AddressReason,
        /// Byte 5 \[7\], J: Java state (1.3).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        jazelle: bool,
        /// Present if Context IDs are traced and the reason is not a branch; zero-extended.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
    },
    /// ETMv1: where the first transfer of an instruction goes (5.7).
    DataAddress(CompressedAddress),
    /// ETMv1: the value of one transfer (5.7).
    DataValue {
        /// Number of bytes: 1, 2 or 4.
        bytes: u8,
        /// Zero-extended.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u32,
    },
}

/// Why a TFO or I-sync packet was sent. The discriminant is the RR field (6.5.4, 7.10.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Reason {
    /// Periodic synchronisation. In ETMv2 the TFO cycle implies an executed instruction without packets, at the address
    /// of the packet; in ETMv3 nothing is implied, the address is that of the next instruction.
    Periodic = 0b00,
    /// Tracing was enabled.
    TraceEnabled = 0b01,
    /// Tracing starts again after a FIFO overflow.
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
