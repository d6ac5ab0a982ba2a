//! What a decoder reports about data accesses.

use super::{AtomicOperation, CsrOperation};
use crate::Address;

/// One data access of the traced execution, or the news that some are missing.
///
/// Its position is that of its packet among the other packets. Data packets may be sent ahead of the instruction packet
/// that covers their instruction (ET 8), so a position between retirements means only that the access is not younger
/// than what the next instruction packet reports.
///
/// All values are zero-extended from the size of the access. An access that is at fault is not reported, except where
/// the table says so. After a data packet that cannot be read, and after a fault of the transport, no base is known,
/// and that is not reported again.
///
/// | fault | at | when |
/// |---|---|---|
/// | `not-synchronised` | the packet | no synchronisation packet yet (RVET-DATA-022) |
/// | `not-synchronised` | `diff`, `resp` | a base is not known (RVET-DATA-007); reported once, until a full value of that size comes |
/// | `reserved-encoding` | `format`, `subformat`, `subtype`, `size`, `diff` | no meaning with these parameters and options |
/// | `illegal-in-state` | `format` | a response although the options exclude responses |
/// | `invalid-reference` | `lrid` | a response without request, where the size is that of the request (RVET-DATA-015) |
/// | `contradiction` | `lrid` | any other response without request (RVET-DATA-015) |
/// | `contradiction` | `lrid` | a request whose number is in flight (RVET-DATA-026); it is reported and counts |
/// | `contradiction` | `size` | a response of another size than its request |
/// | `contradiction` | `address` | an aligned format or an atomic, at an address that is no multiple of its size (RVET-DATA-006) |
/// | `overlong` | after the last field | as in instruction trace |
/// | `unsupported-mode` | the support packet | options that leave out both address and data; data packets are skipped |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum DataEvent {
    /// Unified load.
    Load {
        /// Byte address; absent where packets carry none.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address>,
        /// The access has 2^`size` bytes.
        size: u8,
        /// The value; absent where packets carry none.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        data: Option<u128>,
        /// One of the accesses of a multi-memory access instruction, in layouts that distinguish them.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        multi: bool,
    },
    /// Store.
    Store {
        /// As in [`DataEvent::Load`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address>,
        /// As in [`DataEvent::Load`].
        size: u8,
        /// As in [`DataEvent::Load`].
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        data: Option<u128>,
        /// As in [`DataEvent::Load`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        multi: bool,
    },
    /// Split load, when its instruction retired.
    LoadRequest {
        /// Number of the request.
        lrid: u16,
        /// Byte address.
        address: Address,
        /// The access has 2^`size` bytes.
        size: u8,
        /// As in [`DataEvent::Load`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        multi: bool,
    },
    /// Split load, when its data came.
    LoadResponse {
        /// Number of the request.
        lrid: u16,
        /// Byte address, that of the request.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address>,
        /// The access has 2^`size` bytes.
        size: u8,
        /// The value; absent = error.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        data: Option<u128>,
    },
    /// Unified atomic.
    Atomic {
        /// What it did.
        op: AtomicOperation,
        /// Byte address; absent where packets carry none.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address>,
        /// The access has 2^`size` bytes.
        size: u8,
        /// The source register before the operation; absent where packets carry none.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        operand: Option<u128>,
        /// What memory held before; absent where packets carry none.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        data: Option<u128>,
    },
    /// Split atomic, when its instruction retired.
    AtomicRequest {
        /// What it does.
        op: AtomicOperation,
        /// Number of the request.
        lrid: u16,
        /// Byte address; absent where packets carry none.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address>,
        /// The access has 2^`size` bytes.
        size: u8,
        /// The source register before the operation.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex128"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        operand: u128,
    },
    /// Split atomic, when its data came.
    AtomicResponse {
        /// What it did.
        op: AtomicOperation,
        /// Number of the request.
        lrid: u16,
        /// Byte address, that of the request; absent where packets carry none.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address>,
        /// The access has 2^`size` bytes.
        size: u8,
        /// What memory held before; absent = error.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        data: Option<u128>,
    },
    /// CSR access.
    Csr {
        /// What it did.
        op: CsrOperation,
        /// Number of the register.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        address: u64,
        /// The source register or immediate before the operation; absent where packets carry none.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        operand: Option<u128>,
        /// What the register held before; absent where packets carry none.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex128_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        data: Option<u128>,
    },
    /// Data packets are missing somewhere before this (`dloss` of a support packet, ET 7.5).
    Lost,
}
