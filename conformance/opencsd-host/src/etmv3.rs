//! ETMv3: configuration, and packets as OpenCSD reads them.

use serde::{Deserialize, Serialize};

use crate::Isa;

/// The registers that OpenCSD reads the stream by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// ETMIDR, register 0x079.
    pub etmidr: u32,
    /// ETMCR, register 0x000.
    pub etmcr: u32,
    /// ETMCCER, register 0x07A.
    pub etmccer: u32,
    /// ETMTRACEIDR, register 0x080.
    pub etmtraceidr: u32,
    /// The core is of the M profile.
    pub m_profile: bool,
}

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
        exception: Option<Exception>,
        /// NS, Hyp and AltISA as they stand, if an exception information byte brought them.
        state: Option<State>,
    },
    CycleCount {
        count: u32,
    },
    ISync {
        /// 0 periodic, 1 tracing enabled, 2 restart after overflow, 3 exit from debug state.
        reason: u32,
        address: Option<Address>,
        isa: Isa,
        state: State,
        context_id: Option<u32>,
        cycle_count: Option<u32>,
        load_store_in_progress: bool,
        /// The address of the next instruction, with `load_store_in_progress`. OpenCSD keeps it with the data.
        next: Option<Address>,
    },
    Trigger,
    PHeader {
        /// As the library numbers the formats.
        format: u8,
        /// One character per atom, oldest first: E or N. The library counts W atoms in `cycles`.
        atoms: String,
        cycles: u32,
    },
    StoreFailed,
    OutOfOrderData {
        tag: u8,
        value: u32,
    },
    OutOfOrderPlaceholder {
        tag: u8,
        address: Option<Address>,
    },
    NormalData {
        address: Option<Address>,
        value: Option<u32>,
    },
    DataSuppressed,
    ValueNotTraced {
        address: Option<Address>,
    },
    Ignore,
    ContextId {
        value: u32,
    },
    Vmid {
        value: u8,
    },
    ExceptionEntry,
    ExceptionExit,
    Timestamp {
        value: u64,
        /// How many bits the packet brought.
        bits: u8,
    },
    /// A byte that does not fit the packet that it stands in (`ocsd_etmv3_pkt_type` of the packet).
    BadSequence {
        of: u32,
    },
    /// A packet that this configuration cannot have.
    BadTraceMode {
        of: u32,
    },
    /// A reserved header.
    Reserved,
    /// Another type (`ocsd_etmv3_pkt_type`).
    Other {
        kind: u32,
    },
}

/// An address, with what the packet brought of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The whole address as the library knows it now.
    pub value: u64,
    /// How many low bits the packet brought.
    pub bits: u8,
    /// How many low bits are known.
    pub known: u8,
}

/// Exception information of a branch packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The number in the packet.
    pub number: u16,
    /// The library's type (`ocsd_armv7_exception`).
    pub kind: u32,
    /// The most recently traced instruction was cancelled.
    pub cancelled: bool,
    /// Resume count, M profile.
    pub resume: u8,
}

/// State bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Non-secure.
    pub ns: bool,
    /// Hyp mode.
    pub hyp: bool,
    /// Alternative instruction set.
    pub alt_isa: bool,
}
