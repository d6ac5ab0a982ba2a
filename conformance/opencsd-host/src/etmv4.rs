//! ETMv4 and ETE: registers, and packets as OpenCSD reads them.

use serde::{Deserialize, Serialize};

/// The registers that OpenCSD reads a stream by, and what no register says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "names of registers")]
pub struct Configuration {
    pub trcidr0: u32,
    pub trcidr1: u32,
    pub trcidr2: u32,
    pub trcidr8: u32,
    /// 0 for ETMv4; otherwise the stream is decoded as ETE.
    pub trcdevarch: u32,
    pub trcconfigr: u32,
    pub trctraceidr: u32,
    /// The architecture profile.
    pub profile: Profile,
}

/// Architecture and profile of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Armv8-A or later, any state.
    #[default]
    A,
    /// Armv8-R.
    R,
    /// Armv7-M.
    V7M,
    /// Armv8-M.
    V8M,
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// All bits that the library knows.
    pub value: u64,
    /// IS1.
    pub is1: bool,
    /// How it travelled.
    pub form: Form,
}

/// How an address travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// An entry of the address history.
    ExactMatch(u8),
    /// So many low bits.
    Bits(u8),
}

/// A context that travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "names of bits")]
pub struct Context {
    pub el: u8,
    pub sf: bool,
    pub ns: bool,
    pub nse: bool,
    pub vmid: Option<u32>,
    pub context_id: Option<u32>,
}

/// The contents of a packet. Atoms are text, oldest first: E or N.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after the protocol's")]
pub enum Body {
    /// Bytes before the first A-sync; not a packet of the protocol.
    NotSynchronised,
    /// The stream ended inside the packet.
    Incomplete,
    /// A byte that does not fit the packet that it stands in (`ocsd_etmv4_i_pkt_type` of the packet).
    BadSequence {
        of: u32,
    },
    /// A reserved header.
    Reserved,
    /// A header that is reserved in this configuration.
    ReservedForConfiguration,
    ASync,
    Discard,
    Overflow,
    TraceOn,
    FunctionReturn,
    ExceptionReturn,
    TransactionStart,
    TransactionCommit,
    TransactionFailure,
    PeReset,
    Ignore,
    TimestampMarker,
    /// Values of sections that are absent are 0.
    TraceInfo {
        info: u32,
        key: u32,
        speculation: u32,
        threshold: u32,
    },
    /// `bits`: how many low bits of the value are new.
    Timestamp {
        value: u64,
        bits: u8,
        count: Option<u32>,
    },
    /// E is `interpretation`. The address is a packet of its own, with ETE, too.
    Exception {
        number: u16,
        interpretation: u8,
        fault_pending: bool,
    },
    Instrumentation {
        el: u8,
        value: u64,
    },
    /// The count has the threshold in it; an UNKNOWN count is 0.
    CycleCount {
        commit: Option<u32>,
        count: u32,
        threshold: u32,
    },
    NumberedDataSyncMarker {
        number: u8,
    },
    UnnumberedDataSyncMarker {
        atoms: u8,
    },
    Commit {
        count: u32,
    },
    /// Every format of Cancel, and Mispredict with count 0.
    Cancel {
        count: u32,
        atoms: String,
        mispredict: bool,
    },
    Event {
        bits: u8,
    },
    /// `None`: the same as before.
    Context {
        context: Option<Context>,
    },
    Address {
        address: Address,
        context: Option<Context>,
    },
    SourceAddress {
        address: Address,
    },
    Q {
        address: Option<Address>,
        count: Option<u32>,
    },
    Atoms {
        atoms: String,
    },
    /// Another type (`ocsd_etmv4_i_pkt_type`).
    Other {
        kind: u32,
    },
}
