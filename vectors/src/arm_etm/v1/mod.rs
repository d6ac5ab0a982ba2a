//! ETMv1: statuses on pins, packets without headers, and the contract of its events.
//!
//! # The wire
//!
//! A record per trace clock as in ETMv2 (see [`v2::Cycle`](super::v2::Cycle)), but bits \[2:0\] of its first byte are
//! PIPESTAT, bit 3 is TRACESYNC, \[7:4\] are 0: [`Cycle`]. Every packet is a byte. An 8-bit port outputs one in a
//! record, a 16-bit port up to two, \[7:0\] first, a 4-bit port the low half and then the high half, in two records.
//! Nothing is output with TD (also after TR) and with TR. TRACESYNC is HIGH in the first record of the first packet of
//! every branch address. On a 16-bit port that packet is on \[7:0\]: after data that end on \[7:0\], \[15:8\] stays
//! empty (reading `etm1-address-starts-a-cycle`).
//!
//! # Packets
//!
//! What one status places in the FIFO, in this order; each a [`Packet`]:
//!
//! | [`Packet`] | status | bytes |
//! |---|---|---|
//! | `DataAddress` | ID, BD; if addresses are traced | as data addresses of ETMv2: 7 bits each, bit 7 = another follows; byte 5 A\[31:28\], its \[7:4\] are 0 |
//! | `DataValue`, one for each transfer | ID, BD; if values are traced | 1, 2 or 4, little-endian |
//! | `BranchAddress` | BE, BD | 1 to 4: A\[6:0\], A\[13:7\], A\[20:14\], A\[27:21\] in \[6:0\]; bit 7 = another follows. Reason 000 |
//! | or `FullBranchAddress` | BE, BD | four of these with bit 7, then A\[31:28\] in \[3:0\], reason in \[6:4\], J in \[7\]; if the reason is not 000, the Context ID (ETMv1.2 and later, little-endian) |
//!
//! A\[0\] is the Thumb bit, unless the state is Java. A short branch address keeps the bits above it, and the J bit, of
//! the branch address output before it; so does a data address. The branch address of an abandoned branch, and one
//! whose APO is 15, count as output (`etm1-every-address-is-a-base`).
//! [`context_id_bytes`](super::Parameters::context_id_bytes) means nothing before ETMv1.2.
//!
//! Data of an instruction: one address, that of the first transfer; then the value of each transfer. Their number and
//! sizes follow from the code: LDM and STM a word for each register, LDRD and STRD two words, SWP two of its size. MRC,
//! MCR and their like have no address, a word for each register, and need
//! [`monitor_cprt`](super::Parameters::monitor_cprt) (`etm1-cprt-has-no-address`). Where only addresses are traced no
//! code is needed.
//!
//! # APO
//!
//! The two records after BE and BD hold no instruction. Their \[1:0\] (on TRACEPKT if TR) are APO\[1:0\] and
//! APO\[3:2\]: how many TRACESYNC marks to skip, counted from the record of BE or BD on, that one included. They output
//! packets like any other. BE or BD in one of them abandons the branch before, and has two such records of its own. The
//! APO is not known if one of the two is TD, cannot be read, or is beyond the end of the capture: it is not checked
//! then, and the address is found by the order of the marks.
//!
//! # Events
//!
//! Events come in program order: those of a status, its data and its address included, are complete before those of the
//! next. Only [`Trigger`](Event::Trigger) is reported at once, before everything else of its record. `cycle` and `when`
//! are the index of the record with the status. A packet is delivered when its last byte was read, before its events.
//!
//! | status | events |
//! |---|---|
//! | IE, IN | [`InstructionAt`](Event::InstructionAt) |
//! | ID | `InstructionAt`; a [`Transfer`](Event::Transfer) with every `DataValue`, or with the `DataAddress` if values are not traced |
//! | BE, reason 000 | `InstructionAt`, [`Branch`](Event::Branch) |
//! | BE, reason 100 | `InstructionAt`, [`Synchronisation`](Event::Synchronisation) (`periodic`, address and state of the target) |
//! | BE, reason 001, 010, 011 | `Synchronisation` (`trace_enabled`, `overflow`, `debug_exit`) at the first instruction after it: a restart, nothing is executed |
//! | BD | as ID; then as BE, without a second `InstructionAt`, which is there whatever the reason |
//! | WT, TD | none |
//!
//! With reason 000 or 100, before `Branch` or `Synchronisation`, may come what the section on exceptions says.
//!
//! Of BE and BD that are abandoned or whose APO is 15 there is no `Branch` and no `Synchronisation`; with a Context ID,
//! [`ContextId`](Event::ContextId) instead. Nor is there, but for restarts and reason 100, while not all bits of the
//! target are known. `BE` that is a restart and abandoned gives nothing but that (ETM1-SYN-006).
//!
//! IE, IN are reported as soon as everything before them is. `InstructionAt` of ID comes as soon as everything before
//! it is reported, that of BE and BD with its address. Where everything is reported already, that is in their own
//! record, and an address, or data that come out in that record, are read after that. Of a 64-bit item or an LSM every
//! word is a `Transfer`.
//!
//! # Exceptions
//!
//! BE or BD with reason 000 or 100 and a target all bits of which are known, that is an ARM instruction at a vector of
//! the table that [`hivecs`](super::Parameters::hivecs) selects, is an exception; offset 0x14 has no vector. The
//! decoder reports, in this order:
//!
//! 1. `InstructionAt`, `executed` for SVC (offset 0x08) only. What other exceptions interrupt was not executed, with a
//!    data abort (offset 0x10) not completely. Its address is reported if it is known;
//! 2. of BD, whatever the offset, [`IgnoredTransfers`](Event::IgnoredTransfers) in place of each `Transfer`: their
//!    numbers are counted, their addresses and values are not reported. The data packets are read as always, and are
//!    the base of the next data address (ETM1-EXC-006);
//! 3. [`Exception`](Event::Exception), with `at` as in `InstructionAt`, without `cancelled`;
//! 4. `Branch`, or `Synchronisation` (`periodic`) with reason 100.
//!
//! With [`VectorBase::Unknown`](super::VectorBase::Unknown) nothing is claimed: a branch to one of the seven vectors of
//! either table is reported as any other, executed and with its transfers, and as
//! [`PossibleException`](Event::PossibleException) before its `Branch` or `Synchronisation`. An abandoned branch to a
//! vector is an exception all the same, if its address is known: `InstructionAt`, `Exception`, and nothing for the
//! address itself; the instruction that the later exception interrupts has no known address (ETM1-EXC-012). Of one with
//! APO 15 nothing is reported: whether an exception happened is unknown (ETM1-EXC-013). A restart never is one
//! (ETM1-EXC-008), nor is a target in Thumb or Java state (ETM1-EXC-009), nor a branch without address. A return to
//! wherever it goes is an ordinary branch. After an exception of kind `reset` no data of earlier instructions follow.
//!
//! # Synchronisation
//!
//! A decoder is synchronised from the first BE or BD on whose APO is 0 to 14. From there on it pairs TRACESYNC marks
//! with BE and BD, one by one in order; bytes before the first mark it looks for are skipped. Before that `Trigger` and
//! `InstructionAt` without addresses are reported (ID as IE, BD and BE as executed: `etm1-unlocated-branch-counts`),
//! and the faults of records, of TRACEPKT after TR, and of APO records.
//!
//! "Lost" = every status that waits is reported after the fault, without address (but the first, if its own is known),
//! BE as executed; the decoder is not synchronised then, nor does it know any address.
//!
//! At the end of the capture everything that waits is reported in the same way, and [`Incomplete`](Event::Incomplete)
//! after the first status of which bytes are missing.
//!
//! # Addresses of instructions
//!
//! The next instruction is known after a branch address all bits of which are known: from the first `FullBranchAddress`
//! on that was paired. (After an APO of 15 nothing is known until another `FullBranchAddress`.) After an instruction
//! that was not executed, or is no branch: the instruction after it; after an executed direct branch (IE, ID): its
//! target; after an executed indirect branch without BE or BD: unknown. After an abandoned branch it is unknown until
//! the next address. Thumb instructions are half-words: BL is two instructions of which the second branches. Where the
//! program has no code, the instruction there still has its address, those after it none. In Java state no instruction
//! has an address.
//!
//! # Data
//!
//! Transfers are numbered from 0. The first one of an instruction has the address that travelled, as far as its bits
//! are known; of the later ones each is 4 after the one before, modulo the known bits, but that of SWP is the same.
//! Without address tracing, and for coprocessor register transfers, there is none. Bits of data addresses are unknown
//! after a restart, until they travel again (`etm1-data-addresses-start-over`), and after data that are given up.
//! Values are zero-extended.
//!
//! Data are "given up" if they cannot be assigned to instructions, or are cut off: their status gets no more
//! `Transfer`s but an [`Incomplete`](Event::Incomplete), and bytes are skipped up to the next TRACESYNC mark, with the
//! data of all statuses up to that BE or BD (each `Incomplete`). That happens, without fault, where the address of the
//! instruction is not known and values are traced. A mark where data are expected cuts them off: an overflow may have
//! lost the rest of them (ETM1-SYN-005). Nothing indicates that a lane is empty there: what it holds is read as data,
//! too (the upper lane of a 16-bit port; with `fifo_latency` 1, the record of the next BE).
//!
//! # Faults
//!
//! | condition | class | place | then |
//! |---|---|---|---|
//! | a bit of a record is set that is always 0 | `framing` | that byte, bit 4 | lost; the record is skipped |
//! | the capture ends inside a record | `truncated` | first byte of the record | |
//! | TR that replaces TR | `reserved-encoding` | TRACEPKT | lost |
//! | TR that replaces TD, not in an APO record | `contradiction` | TRACEPKT | goes on, as WT |
//! | TD, also after TR, in an APO record | `suspicious` | PIPESTAT (TRACEPKT if TR) | goes on; the APO is not known |
//! | TRACESYNC with TD or TR | `contradiction` | PIPESTAT, bit 3 | goes on, it is no mark |
//! | ID or BD with neither addresses nor values traced | `contradiction` | PIPESTAT | goes on, as IE or BE |
//! | TD (not after TR, not in an APO record) while a branch address is to come or not complete | `contradiction` | PIPESTAT | goes on; once for a run of records |
//! | WT (not after TR) while nothing is to come or skipped | `contradiction` | PIPESTAT | goes on; once for a run of records |
//! | an APO of 0 to 14 that is not the number of older branch addresses that have not begun before its BE or BD | `contradiction` | PIPESTAT of BE or BD | the APO is trusted: see below |
//! | more than [`LIMIT`] statuses wait | `limit` | PIPESTAT of the last one, which waits, too | lost |
//! | TRACESYNC where no branch address is to come | `framing` | PIPESTAT, bit 3 | lost |
//! | TRACESYNC inside a branch address or its Context ID | `framing` | PIPESTAT, bit 3 | lost |
//! | no TRACESYNC where a branch address should begin | `contradiction` | the byte | goes on; skipped up to the next mark |
//! | data cut off by a branch address that is no restart | `contradiction` | first byte of the address | goes on |
//! | byte 5 of a branch address with reason 101 to 111, 100 before ETMv1.2, or bit 7 before ETMv1.3 | `reserved-encoding` | byte 5 | lost |
//! | byte 5 of a data address with a bit of \[7:4\] | `contradiction` | byte 5 | goes on; data given up |
//! | ID or BD, values traced: no code at the instruction, or code that does not determine how much is transferred (LDC, STC but for floating point, coprocessors 10 and 11); `address` says where | `no-code` | PIPESTAT of its record | goes on; data given up; once until an address is known again |
//! | ID or BD, values traced: by its code the instruction transfers nothing that is traced; `address` | `contradiction` | PIPESTAT of its record | goes on; data given up |
//! | an instruction after an executed indirect branch without BE or BD | `missing-address` | PIPESTAT of its record | goes on; once |
//! | no code where an instruction is, with a program that has code somewhere; `address` | `no-code` | PIPESTAT of its record | goes on; once until an address is known again |
//!
//! Places are those of ETMv2 (see [`v2`](super::v2)), the bit is 0 unless stated otherwise. Faults about a record
//! follow its `Trigger` and precede everything else of it, but those about marks that are due or not, and about bytes,
//! follow what its status alone gives; those about a status before its `InstructionAt`; `contradiction` and `no-code`
//! about data after it; those about a packet after the packet (or instead of it) and before its events. The packet
//! index is that of the packet that is being read or comes next. A packet counts from its first byte on, even if it is
//! given up. Before the decoder is synchronised, and where nothing waits, TD and WT are no faults.
//!
//! When an APO is trusted against the count, everything older that waits is reported as if lost, addresses are not
//! known, and bytes are skipped up to the mark that the APO gives; what was known of the branch addresses output before
//! is kept.
//!
//! # What a macrocell does
//!
//! Record i shows cycle i of the stimulus; after the last cycle records go on until the FIFO is empty. All transfers of
//! an instruction are in its own cycle, the one in which it completes, and only ViewData of that cycle counts. Misses,
//! folded branches and what came with later architectures do not exist. A branch stands with an instruction that is
//! executed; an exception stands with the instruction that it interrupts (see [`Exception`](super::Exception)), which is
//! BE, or BD if transfers of it are traced.
//!
//! 1. *Status.* No traced instruction: WT if the record outputs a byte, else TD (with TR, WT). Traced, executed, with
//!    traced transfers: ID, or BD if an address is output; without: IE or BE. Not executed: IN. An address is output
//!    for an indirect branch or exception, for every taken branch with `branch_broadcast`, and where one is forced (5,
//!    6). TRACEPKT of TD is 0, or 1 with `cycle_accurate` and TraceEnable.
//! 2. *FIFO.* The packets of a status enter in its record and may leave from it on (`fifo_latency` 0) or from the next
//!    one on (1).
//! 3. *Restart* (`etm1-restart-is-three-records-ahead`). A macrocell sees an instruction three cycles before it shows
//!    its status. While it does not trace, record i is BE with all five packets if cycle i + 3 has an instruction with
//!    TraceEnable, not in debug state; i + 1 and i + 2 are its APO records and i + 3 shows the instruction.
//!    Instructions in between are not traced. The reason is 010 after an overflow (then also: the FIFO is empty at the
//!    beginning of record i), otherwise 011 if it was in debug state since it traced last, otherwise 001. It stops to
//!    trace in a cycle without TraceEnable or in debug state.
//! 4. *APO.* The number of branch addresses of which no packet was output before the record of BE or BD, its own not
//!    counted; 15 if it is more than 14. An instruction in the two records after BE or BD cannot happen, unless it
//!    outputs an address itself: it abandons the first branch.
//! 5. *Full addresses.* When `sync_period` records have passed since the record of the latest full address (of any
//!    cause), the next indirect branch outputs one, if everything that enters with it fits. When half as many records
//!    again have passed, the next taken branch does, direct or indirect (`etm1-forced-address`). The reason is 100,
//!    before ETMv1.2 000. A full address that only compression needs, or the change of Java state, has reason 000.
//! 6. *Context ID* (ETMv1.2 and later, size not 0). Written while it traces, the next taken branch, direct or indirect,
//!    outputs it with reason 100.
//! 7. *Compression.* Branch addresses as few packets as the change needs, at least one. The data address after a
//!    restart or a periodic full address (5) has five packets; the others as few as needed
//!    (`etm1-data-addresses-start-over`). All have five without `minimal_addresses`.
//! 8. *Overflow* (`etm1-overflow-cuts-data-only`). If the packets of a status do not fit: data enter as far as they do;
//!    the branch address of BE or BD enters whole or not at all. ID is shown as ID; BD without room for its address as
//!    ID, BE without room as WT (or TD). From then on it does not trace: WT until the FIFO is empty.
//! 9. *Trigger.* As in ETMv2: the record is TR, the FIFO stalls.

#[cfg(doc)]
use super::{Event, Packet, Reason};

mod wire;

pub use wire::{Cycle, Pipestat, UnknownPipestat};

/// No more statuses can wait for an address or for data: a FIFO of 255 bytes on a 4-bit port needs 510 records to come
/// out.
///
/// The default of [`DecoderLimits::pending`](crate::DecoderLimits::pending), which this stands for wherever another
/// value is set.
pub const LIMIT: usize = crate::DecoderLimits::DEFAULT.pending as usize;

/// Why a branch address was output. The discriminant is the reason code, \[6:4\] of its fifth packet (5.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AddressReason {
    /// A branch (up to ETMv1.1 also periodic synchronisation).
    Branch = 0b000,
    /// Tracing was enabled.
    TraceEnabled = 0b001,
    /// Tracing starts again after a FIFO overflow.
    Overflow = 0b010,
    /// The processor left debug state.
    DebugExit = 0b011,
    /// A branch with periodic synchronisation or a new Context ID (ETMv1.2 and later).
    Periodic = 0b100,
}

impl AddressReason {
    /// The reason with this code; `None` for the reserved ones, 101 to 111, and above.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0b000 => Some(Self::Branch),
            0b001 => Some(Self::TraceEnabled),
            0b010 => Some(Self::Overflow),
            0b011 => Some(Self::DebugExit),
            0b100 => Some(Self::Periodic),
            _ => None,
        }
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// A run of trace starts here and the status executes nothing (5.8.1).
    #[must_use]
    pub const fn is_restart(self) -> bool {
        matches!(self, Self::TraceEnabled | Self::Overflow | Self::DebugExit)
    }

    /// As the reason of a [`Synchronisation`](Event::Synchronisation); `None` for a branch.
    #[must_use]
    pub const fn synchronisation(self) -> Option<super::Reason> {
        match self {
            Self::Branch => None,
            Self::TraceEnabled => Some(super::Reason::TraceEnabled),
            Self::Overflow => Some(super::Reason::Overflow),
            Self::DebugExit => Some(super::Reason::DebugExit),
            Self::Periodic => Some(super::Reason::Periodic),
        }
    }
}
