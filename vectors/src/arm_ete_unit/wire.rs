//! The bytes of a log: one record of 16 bytes for everything that happens.
//!
//! Numbers are little-endian. Bits that no column names are 0.
//!
//! | kind | code (byte 0) | byte 1 | bytes 2 to 7 | bytes 8 to 15 |
//! |---|---|---|---|---|
//! | [`Gap`](Kind::Gap) | 0 | | | |
//! | [`Access`](Kind::Access) | 1 | {1:0} agent, {2} operation, {3} 64 bits, {4} the value is known, {7:5} outcome | bytes 2 and 3: register; byte 4: 0, or space + 1 | value, 0 if it is not known |
//! | [`Poll`](Kind::Poll) | 2 | {1:0} agent, {2} bit, {3} value, {4} timed out | | |
//! | [`Barrier`](Kind::Barrier) | 3 | barrier | | |
//! | [`OsLock`](Kind::OsLock) | 4 | {1:0} agent, {2} locked | | |
//! | [`TraceFilter`](Kind::TraceFilter) | 5 | {0} prohibited | | |
//! | [`TraceBuffer`](Kind::TraceBuffer) | 6 | {0} enabled | | |
//! | [`Processor`](Kind::Processor) | 7 | 0 Debug entry, 1 Debug exit, 2 level, 3 prohibited entry, 4 prohibited exit, 5 low-power entry, 6 low-power exit | of a level, byte 2: level 0 to 3, byte 3: space | |
//! | [`Reset`](Kind::Reset) | 8 | reset | | |
//! | [`Power`](Kind::Power) | 9 | power | | |
//! | [`Sink`](Kind::Sink) | 10 | sink | byte 2: its state | |
//! | [`Interfaces`](Kind::Interfaces) | 11 | {0} enabled | | |
//! | [`ExternalAccess`](Kind::ExternalAccess) | 12 | {0} ETAD, {1} ETADE | | |
//! | [`Event`](Kind::Event) | 13 | n, 0 to 3 | | |
//! | [`FlushRequest`](Kind::FlushRequest) | 14 | | | |
//! | [`Wait`](Kind::Wait) | 15 | | | time |
//! | [`Visibility`](Kind::Visibility) | 16 | what | byte 2: {0} shown | |
//! | [`End`](Kind::End) | 17 | | | |
//! | [`Output`](Kind::Output) | 18 | sink | | number of bytes, at least 1 |
//! | [`State`](Kind::State) | 19 | state | | |
//! | [`Signal`](Kind::Signal) | 20 | 0 enabled, 1 operative, 2 ViewInst, 3 overflow, 4 stall, 5 flush acknowledge, 6 resources | byte 2: value: {0}, of resources 0 to 2, of an acknowledge 0 | |
//!
//! A sink is 0 for the trace buffer unit, n + 1 for interface n. How many bits a value may have
//! is [`Access::value_bits`](super::Access::value_bits). Every other number is that of its type.
//!
//! | what is wrong with a record | class | place |
//! |---|---|---|
//! | a code, or a number of a field, that has no meaning: agent 3, outcome above 4, a register that is no multiple of 4 or is above 0xFFC without a name, space above 4, sink above 15, 0 bytes of output, a sink other than the trace buffer unit that is stopped | `reserved-encoding` | the field |
//! | a bit is set that is always 0; a value that is not known; a value of more bits than it may have; 64 bits of a direct access | `overlong` | the lowest such bit |
//! | the log ends inside a record | `truncated` | the first bit of the record |
//!
//! A record has one of these faults, the one of the lowest byte and bit; it is dropped.

/// Bytes of a record.
pub const RECORD: usize = 16;

/// Kind of a record. The number is byte 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the table describes them")]
pub enum Kind {
    Gap = 0,
    Access = 1,
    Poll = 2,
    Barrier = 3,
    OsLock = 4,
    TraceFilter = 5,
    TraceBuffer = 6,
    Processor = 7,
    Reset = 8,
    Power = 9,
    Sink = 10,
    Interfaces = 11,
    ExternalAccess = 12,
    Event = 13,
    FlushRequest = 14,
    Wait = 15,
    Visibility = 16,
    End = 17,
    Output = 18,
    State = 19,
    Signal = 20,
}

impl Kind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Self; 21] = [
        Self::Gap,
        Self::Access,
        Self::Poll,
        Self::Barrier,
        Self::OsLock,
        Self::TraceFilter,
        Self::TraceBuffer,
        Self::Processor,
        Self::Reset,
        Self::Power,
        Self::Sink,
        Self::Interfaces,
        Self::ExternalAccess,
        Self::Event,
        Self::FlushRequest,
        Self::Wait,
        Self::Visibility,
        Self::End,
        Self::Output,
        Self::State,
        Self::Signal,
    ];
}
