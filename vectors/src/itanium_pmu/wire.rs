//! The bytes of a log: one record of 16 bytes for everything that happens at the performance monitor.
//!
//! Numbers are little-endian. Bits that no column names are 0.
//!
//! | kind | code (byte 0) | byte 1 | bytes 2 to 7 | bytes 8 to 15 |
//! |---|---|---|---|---|
//! | [`Reset`](Kind::Reset) | 0 | | | |
//! | [`Write`](Kind::Write) | 1 | class of the register | byte 2: index | value |
//! | [`Read`](Kind::Read) | 2 | class of the register | byte 2: index | value |
//! | [`ReadUndefined`](Kind::ReadUndefined) | 3 | class of the register | byte 2: index | |
//! | [`Instruction`](Kind::Instruction) | 4 | {1:0} slot, {2} retired, {3} squashed, {6:4} syllable type | {40:0} of 48 bits: enco | IP |
//! | [`Access`](Kind::Access) | 5 | kind | | address |
//! | [`InstructionCacheMiss`](Kind::InstructionCacheMiss) | 6 | | bytes 4 to 7: latency | IP |
//! | [`InstructionTlbMiss`](Kind::InstructionTlbMiss) | 7 | resolution | | IP |
//! | [`DataCacheMiss`](Kind::DataCacheMiss) | 8 | | bytes 4 to 7: latency | |
//! | [`DataTlbMiss`](Kind::DataTlbMiss) | 9 | level, 1 to 3 | | |
//! | [`Occurrence`](Kind::Occurrence) | 10 | {6:0} es | byte 2: {3:0} umask; byte 3: count | |
//! | [`Cycle`](Kind::Cycle) | 11 | | | |
//! | [`Tags`](Kind::Tags) | 12 | {0} IBRRangeTag, {1} Tag(PMC\[8\]), {2} Tag(PMC\[9\]) | | |
//! | [`DataTag`](Kind::DataTag) | 13 | {0} DBRRangeTag | | |
//! | [`Interrupt`](Kind::Interrupt) | 14 | | | |
//!
//! Classes, kinds, types, resolutions and levels are the numbers of [`RegisterClass`](super::RegisterClass),
//! [`AccessKind`](super::AccessKind), [`SyllableType`](super::SyllableType),
//! [`InstructionTlbResolution`](super::InstructionTlbResolution) and [`DataTlbLevel`](super::DataTlbLevel).
//!
//! The value of a write is all 64 bits that software writes, ignored ones included; the value of a read is all 64 bits
//! that it gets.

/// Bytes of a record.
pub const RECORD: usize = 16;

/// Kind of a record. The number is byte 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The processor is reset.
    Reset = 0,
    /// Software writes a register.
    Write = 1,
    /// Software reads a register.
    Read = 2,
    /// Software reads a register that holds nothing defined.
    ReadUndefined = 3,
    /// An instruction is fetched.
    Instruction = 4,
    /// The latest instruction accesses memory.
    Access = 5,
    /// A fetch misses the L1 instruction cache.
    InstructionCacheMiss = 6,
    /// A fetch misses the instruction TLB.
    InstructionTlbMiss = 7,
    /// The latest access misses the L1 data cache.
    DataCacheMiss = 8,
    /// The latest access misses the first-level data TLB.
    DataTlbMiss = 9,
    /// An event occurs.
    Occurrence = 10,
    /// The cycle ends.
    Cycle = 11,
    /// Tags of the latest instruction.
    Tags = 12,
    /// DBRRangeTag of the latest access.
    DataTag = 13,
    /// An interrupt is raised.
    Interrupt = 14,
}

impl Kind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Self; 15] = [
        Self::Reset,
        Self::Write,
        Self::Read,
        Self::ReadUndefined,
        Self::Instruction,
        Self::Access,
        Self::InstructionCacheMiss,
        Self::InstructionTlbMiss,
        Self::DataCacheMiss,
        Self::DataTlbMiss,
        Self::Occurrence,
        Self::Cycle,
        Self::Tags,
        Self::DataTag,
        Self::Interrupt,
    ];
}
