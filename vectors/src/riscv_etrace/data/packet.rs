//! Data trace packets, field by field (ET 8).

use super::ReportedData;
use crate::riscv_etrace::ReportedAddress;

/// One data trace packet. Fields are named as in ET 8 and hold what travels, with these exceptions:
///
/// * `format` is the variant with its flags `unaligned` and `multi`; `subtype` is `op`;
/// * `diff` and `resp` are part of the values: [`ReportedAddress`] and [`ReportedData`]. A response without data is
///   `resp` = 0, an error;
/// * addresses are byte addresses: those of aligned formats and of atomics are shifted left by `size`, and lose what
///   does not fit `daddress_width_p` bits;
/// * data and operands are extended from the bytes that travel to the 2^`size` bytes of the access, a register of a CSR
///   access being `xlen` bits. What a data-only packet carries above the access is lost.
///
/// Which of address and data there are depends on the [options](super::DataOptions) in force:
///
/// | packet | address and data | `no_data` | `no_address` |
/// |---|---|---|---|
/// | unified [`Load`](Self::Load), [`Store`](Self::Store) | both | address | data |
/// | [`LoadRequest`](Self::LoadRequest), [`LoadData`](Self::LoadData) | each its own | become unified | become unified |
/// | unified [`Atomic`](Self::Atomic) | all | address | operand, data |
/// | [`AtomicRequest`](Self::AtomicRequest), [`AtomicData`](Self::AtomicData) | each its own | become unified | become unified, but each its own in version 2.0.5 and with [`MmaCas`](super::DataLayout::MmaCas) |
/// | [`Csr`](Self::Csr) | all | address | all |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataPacket {
    /// Formats 0 and 1: unified load (ET 8.1).
    Load(Transfer),
    /// Formats 2 and 3: store, of a split interface too (ET 8.1).
    Store(Transfer),
    /// Formats 0 and 1 of a split interface: load request (ET 8.1).
    LoadRequest(LoadRequest),
    /// Format 4: split load data (ET 8.1); with [`MmaCas`](super::DataLayout::MmaCas) format 3, of atomics too.
    LoadData(LoadData),
    /// Format 6: unified atomic (ET 8.2).
    Atomic(Atomic),
    /// Format 6 of a split interface: atomic request (ET 8.2).
    AtomicRequest(AtomicRequest),
    /// Format 7: split atomic data (ET 8.2).
    AtomicData(AtomicData),
    /// Format 5: CSR access (ET 8.3).
    Csr(Csr),
}

/// A load or store in one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transfer {
    /// The access has 2^`size` bytes.
    pub size: u8,
    /// The format is one of unaligned addresses.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub unaligned: bool,
    /// One of the accesses of a multi-memory access instruction, in layouts that distinguish them.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub multi: bool,
    /// Bytes of `data` that travel, minus 1; 0 where there is no such field.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::is_zero"))]
    pub data_len: u8,
    /// Absent with `no_data`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub data: Option<ReportedData>,
    /// Absent with `no_address`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub address: Option<ReportedAddress>,
}

/// The request of a split load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRequest {
    /// The access has 2^`size` bytes.
    pub size: u8,
    /// As in [`Transfer`].
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub unaligned: bool,
    /// As in [`Transfer`].
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub multi: bool,
    /// Links the request with its response.
    pub lrid: u16,
    /// The byte address.
    pub address: ReportedAddress,
}

/// The response of a split load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadData {
    /// The access has 2^`size` bytes.
    pub size: u8,
    /// That of the request.
    pub lrid: u16,
    /// Absent = error.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub data: Option<ReportedData>,
}

/// An atomic in one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Atomic {
    /// What it does.
    pub op: AtomicOperation,
    /// The access has 2^`size` bytes.
    pub size: u8,
    /// Bytes of `operand` that travel, minus 1; 0 where there is no such field.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::is_zero"))]
    pub op_len: u8,
    /// The source register before the operation. Absent with `no_data`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub operand: Option<ReportedData>,
    /// Bytes of `data` that travel, minus 1; 0 where there is no such field.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::is_zero"))]
    pub data_len: u8,
    /// What memory held before. Absent with `no_data`, and in a failed compare-and-swap.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub data: Option<ReportedData>,
    /// Absent with `no_address`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub address: Option<ReportedAddress>,
}

/// The request of a split atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtomicRequest {
    /// What it does.
    pub op: AtomicOperation,
    /// The access has 2^`size` bytes.
    pub size: u8,
    /// Links the request with its response.
    pub lrid: u16,
    /// Bytes of `operand` that travel, minus 1; 0 where there is no such field.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::is_zero"))]
    pub op_len: u8,
    /// The source register before the operation.
    pub operand: ReportedData,
    /// Absent with `no_address`, in layouts that have such a request.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub address: Option<ReportedAddress>,
}

/// The response of a split atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtomicData {
    /// The access has 2^`size` bytes. It does not travel: it is the size of the request.
    pub size: u8,
    /// That of the request.
    pub lrid: u16,
    /// Bytes of `data` that travel, minus 1; 0 on error.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::is_zero"))]
    pub data_len: u8,
    /// What memory held before. Absent = error.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub data: Option<ReportedData>,
}

/// A CSR access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Csr {
    /// What it does.
    pub op: CsrOperation,
    /// Bytes of `data` that travel, minus 1; 0 where there is no such field.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::is_zero"))]
    pub data_len: u8,
    /// What the register held before. Absent with `no_data`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub data: Option<ReportedData>,
    /// Bytes of `operand` that travel, minus 1; 0 where there is no such field.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::is_zero"))]
    pub op_len: u8,
    /// The source register or immediate before the operation. Absent with `no_data`, and where bits 11 and 10 of the
    /// address mark the register as read-only (RVET-DATA-021).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub operand: Option<ReportedData>,
    /// Number of the register, 12 bits; a difference, modulo 2^12, only with `no_data`.
    pub address: ReportedAddress,
}

/// What an atomic does (ET 4.4, 8.2). The discriminant is `dtype`; `subtype` is its low three bits (RVET-DATA-018).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AtomicOperation {
    /// Compare-and-swap that failed; only with [`MmaCas`](super::DataLayout::MmaCas).
    CompareAndSwapFailure = 7,
    /// Swap.
    Swap = 8,
    /// Add.
    Add = 9,
    /// Bitwise and.
    And = 10,
    /// Bitwise or.
    Or = 11,
    /// Bitwise exclusive or.
    Xor = 12,
    /// Maximum, signed or not.
    Max = 13,
    /// Minimum, signed or not.
    Min = 14,
    /// Conditional store that failed; only in packets without data. One that succeeds is a store.
    ConditionalStoreFailure = 15,
}

impl AtomicOperation {
    /// Every operation, in the order of `dtype`.
    pub const ALL: [Self; 9] = [
        Self::CompareAndSwapFailure,
        Self::Swap,
        Self::Add,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Max,
        Self::Min,
        Self::ConditionalStoreFailure,
    ];

    /// The value of `dtype`.
    #[must_use]
    pub const fn dtype(self) -> u8 {
        self as u8
    }

    /// The operation of a value of `dtype`.
    #[must_use]
    pub const fn from_dtype(dtype: u8) -> Option<Self> {
        match dtype {
            7 => Some(Self::CompareAndSwapFailure),
            8 => Some(Self::Swap),
            9 => Some(Self::Add),
            10 => Some(Self::And),
            11 => Some(Self::Or),
            12 => Some(Self::Xor),
            13 => Some(Self::Max),
            14 => Some(Self::Min),
            15 => Some(Self::ConditionalStoreFailure),
            _ => None,
        }
    }
}

/// What a CSR access does (ET 4.4, 8.3). The discriminant is `dtype`; `subtype` is its low two bits (RVET-DATA-020).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CsrOperation {
    /// Read and write.
    ReadWrite = 4,
    /// Read and set bits.
    ReadSet = 5,
    /// Read and clear bits.
    ReadClear = 6,
}

impl CsrOperation {
    /// Every operation, in the order of `subtype`.
    pub const ALL: [Self; 3] = [Self::ReadWrite, Self::ReadSet, Self::ReadClear];

    /// The value of `dtype`.
    #[must_use]
    pub const fn dtype(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_read_back() {
        for dtype in 0..=u8::MAX {
            match AtomicOperation::from_dtype(dtype) {
                Some(operation) => assert_eq!(operation.dtype(), dtype),
                None => assert!(!(7..=15).contains(&dtype), "{dtype}"),
            }
        }
        assert_eq!(AtomicOperation::ALL.map(AtomicOperation::dtype), [7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(CsrOperation::ALL.map(CsrOperation::dtype), [4, 5, 6]);
    }
}
