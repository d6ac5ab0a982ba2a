//! PTM: packets as OpenCSD reads them. Its registers are those of ETMv3.

use serde::{Deserialize, Serialize};

use crate::Isa;

pub use crate::etmv3::{Address, Configuration, State};

/// The contents of a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after the protocol's")]
pub enum Body {
    /// Bytes before the first A-sync; not a packet of the protocol.
    NotSynchronised,
    /// The stream ended inside the packet.
    Incomplete,
    ASync,
    Branch {
        address: Address,
        isa: Isa,
        /// The number in the packet, if it has exception information.
        exception: Option<u16>,
        /// As it stands after the packet, whether the packet brought it or not.
        state: State,
        cycle_count: Option<u32>,
    },
    ISync {
        /// 0 periodic, 1 tracing enabled, 2 restart after overflow, 3 exit from debug state.
        reason: u32,
        address: Address,
        isa: Isa,
        state: State,
        context_id: Option<u32>,
        cycle_count: Option<u32>,
    },
    Atoms {
        /// One character per atom, oldest first: E or N.
        atoms: String,
        cycle_count: Option<u32>,
    },
    WaypointUpdate {
        address: Address,
        isa: Isa,
    },
    Trigger,
    Ignore,
    ContextId {
        value: u32,
    },
    Vmid {
        value: u8,
    },
    Timestamp {
        /// All bits as the library knows them now. It does not convert Gray code.
        value: u64,
        /// How many low bits the packet brought.
        bits: u8,
        cycle_count: Option<u32>,
    },
    ExceptionReturn,
    /// A byte that does not fit the packet that it stands in (`ocsd_ptm_pkt_type` of the packet).
    BadSequence {
        of: u32,
    },
    /// A reserved header.
    Reserved,
    /// Another type (`ocsd_ptm_pkt_type`).
    Other {
        kind: u32,
    },
}
