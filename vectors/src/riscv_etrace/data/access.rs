//! An encoder's inputs for data accesses: the data interface (ET 4.4).

use super::{AtomicOperation, CsrOperation};
use crate::Address;

/// One data access that retires (`dretire`): the signals of one group of the data interface, separated.
///
/// It belongs to the last instruction of the latest [`Cycle`](crate::riscv_etrace::Cycle), which retires at the same
/// time. A split interface (parameters `split`) has `lrid` in loads and atomics, and their data come later as
/// [`DataResponse`]; a unified one has the data at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataAccess {
    /// `dtype` 0.
    Load(MemoryAccess),
    /// `dtype` 1. A conditional store that succeeds is one too.
    Store(MemoryAccess),
    /// `dtype` 7 to 15.
    Atomic(AtomicAccess),
    /// `dtype` 4 to 6.
    Csr(CsrAccess),
}

/// A load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryAccess {
    /// `daddr`.
    pub address: Address,
    /// `dsize`: the access has 2^`size` bytes.
    pub size: u8,
    /// `data`, or `sdata` of a split store; nothing for split loads.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex128"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub data: u128,
    /// `lrid`, for split loads.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub lrid: Option<u16>,
    /// One of the accesses of a multi-memory access instruction (`dtype` 2 or 3 in layouts that distinguish them).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub multi: bool,
    /// The filters do not let it pass.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub filtered: bool,
}

/// An atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtomicAccess {
    /// `dtype`.
    pub op: AtomicOperation,
    /// `daddr`.
    pub address: Address,
    /// `dsize`: memory is accessed with 2^`size` bytes.
    pub size: u8,
    /// The source register before the operation: one half of `data`, or `sdata`.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex128"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub operand: u128,
    /// What memory held before: the other half of `data`; nothing for split atomics.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex128"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub data: u128,
    /// `lrid`, for split atomics.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub lrid: Option<u16>,
    /// The filters do not let it pass.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub filtered: bool,
}

/// A CSR access. It is never split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CsrAccess {
    /// `dtype`.
    pub op: CsrOperation,
    /// `daddr`: number of the register.
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub address: u64,
    /// The source register or immediate before the operation: one half of `data`.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex128"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub operand: u128,
    /// What the register held before: the other half of `data`.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::notation::hex128"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub data: u128,
    /// The filters do not let it pass.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub filtered: bool,
}

/// The response to a split load or atomic (`lresp` is not 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataResponse {
    /// `lid`: the `lrid` of the request.
    pub lrid: u16,
    /// `ldata`; absent where `lresp` is 3, an error.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub data: Option<u128>,
}
