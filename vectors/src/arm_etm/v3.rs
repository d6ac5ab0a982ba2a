//! ETMv3: one string of bytes, its fields, and the contract of its events.
//!
//! # The wire
//!
//! The bytes of one trace source, as they leave a formatter. With
//! [`bare_port`](super::Parameters::bare_port) each byte is a record of two: TRACECTL (bit 0; the others are 0), then
//! TRACEDATA (ETM3-MISC-007): with TRACECTL = 0 the byte is trace; with TRACECTL = 1 and TRACEDATA\[0\] = 0 it is a
//! trigger, an [`Event::Trigger`] without packet, at any time, whose place is that of TRACECTL; with TRACECTL = 1 and
//! TRACEDATA\[0\] = 1 nothing. Places of packets are those of TRACEDATA.
//!
//! # Order of events
//!
//! Every packet is delivered when its last byte was read, then its events, at the packet's place:
//!
//! | packet | events |
//! |---|---|
//! | A-sync, Ignore | none |
//! | P-header | an [`Atom`](Event::Atom) for each E and N, oldest first |
//! | cycle count | [`Gap`](Event::Gap) |
//! | I-sync | `Gap` (header 70); [`InstructionSync`](Event::InstructionSync); then an `Atom` (executed, no cycles) at `in_progress`, if a load or store is |
//! | branch, with or without exception | [`BranchTo`](Event::BranchTo) |
//! | Context ID, VMID, timestamp, trigger | [`ContextId`](Event::ContextId), [`Vmid`](Event::Vmid), [`Timestamp`](Event::Timestamp), [`Trigger`](Event::Trigger) |
//! | Normal Data, placeholder, Value Not Traced | `Missing`… of what the tag stood for, if superseded; [`Transfer`](Event::Transfer) |
//! | out-of-order data | [`MissData`](Event::MissData), or [`IgnoredData`](Event::IgnoredData) |
//! | store failed, data suppressed | [`StoreFailed`](Event::StoreFailed), [`DataSuppressed`](Event::DataSuppressed) |
//! | exception entry, exit | [`ExceptionEntry`](Event::ExceptionEntry), [`ExceptionReturn`](Event::ExceptionReturn) |
//!
//! `when` is the number of `Atom`s reported before, counted from `begin` or `reset`. Data belong to the latest data
//! instruction among them. The rules of misses, pairs and `Missing` are those of [`Event`], with two differences: an
//! Ignore packet does not separate the halves of a 64-bit item, every other packet does (ETM3-OOO-006); tags are 1 to
//! 3. `StoreFailed` is about the transfer that the packet before (Ignore packets apart) is about; there is none after
//! data that were ignored. Without [`virtualization`](super::Parameters::virtualization) a Hyp bit is reported as 0
//! (ETM3-ISY-011); `hyp` of an exception is still there if its information byte 1 is; of exceptions above 15, which are
//! those of ARMv7-M, a decoder may leave it out. Faults after which decoding goes on follow their packet and precede
//! its events. At the end of the trace: [`Incomplete`](Event::Incomplete), if a packet is cut off; then `Missing` of
//! every miss without data.
//!
//! # Synchronisation
//!
//! A decoder looks for an A-sync first; the bytes up to it belong to no packet. From there to the first I-sync of any
//! reason packets are delivered, but of events only `Trigger`, `Timestamp`, `ContextId` and `Vmid`. W atoms count from
//! that I-sync on. Faults that go on are only reported after that I-sync. The A-sync that ends a search has all zeros
//! before the 80, back to the byte where the search began; bytes that only a search saw are never `Incomplete`. A
//! timestamp has no value until each of its bits has travelled since the latest search. Bits \[7:6\] of the seventh
//! byte of a 48-bit timestamp mean nothing.
//!
//! # Addresses of instructions
//!
//! The next instruction is known after an I-sync and after a branch packet. An atom is the instruction there. After it:
//! not executed, or no branch: the instruction after it; an executed direct branch: its target; an executed indirect
//! branch (or exception return): unknown until a branch packet or I-sync. A branch packet sets the next instruction
//! whatever was before; of several in a row each does. Where the program has no code, the atom there still has its
//! address, those after it none. In Java state no atom has an address, not even the first one or that of a load in
//! progress. A 32-bit Thumb instruction is one atom or two, the second at the second half-word, see
//! [`thumb32_single`](super::Parameters::thumb32_single). Before the first I-sync there are no addresses.
//!
//! A short branch packet is read in the state in force: that of the latest I-sync or branch packet, which a BLX of a
//! label since then does not change. Its base is the address of the latest I-sync (with a load or store in progress the
//! current one, not that of the load) or branch packet. Before the first I-sync its missing bits are taken as 0 and its
//! state as ARM; nothing depends on them.
//!
//! The Thumb pattern of byte 5 is ThumbEE if the exception information has AltISA or, without information, if the state
//! in force is ThumbEE. Exception information after fewer bytes makes Thumb of ThumbEE or ThumbEE of Thumb in the same
//! way. Before ETMv3.3 there is no ThumbEE, whatever AltISA is (ETM3-ISY-011).
//!
//! # Cycles
//!
//! W atoms are counted since the latest E or N atom. [`Atom`](Event::Atom)`.cycles` is that count, its own W included,
//! and sets it to 0. A non-periodic I-sync saves the count and sets it to 0; its cycle count (header 70), or that of
//! the next cycle count packet if it has none, makes a `Gap` of the saved count plus the packet's value, or of `None`
//! if the value is 0. A cycle count packet that no such I-sync waits for makes a `Gap` of its own value. The cycle
//! count of a periodic I-sync (header 70) is read as if it were a cycle count packet before the I-sync. The `Atom` of a
//! load or store in progress has `None` for its cycles and does not change the count. If the next non-periodic I-sync
//! comes first, there is no `Gap` (ETM3-CC-004). Counts saturate. Before the first I-sync there is no `Gap` but that of
//! the I-sync itself: its own count alone, for no W atom before it counts.
//!
//! # Data addresses
//!
//! As in ETMv2, `None` or completed from the base; unknown bits at the first I-sync after an A-sync search and at every
//! non-periodic I-sync, and after Data Suppressed up to ETMv3.2 (ETM3-DAT-014). A Value Not Traced packet with an
//! address is a base too. "Transfer before" does not extend across these points; `big_endian` does, until `reset`.
//!
//! A count of 0 means that the gap is unknown (ETM3-CC-007). In ETMv3.0 the count of an I-sync with the reason overflow
//! or debug exit is read and ignored, in ETMv3.5 that with the reason overflow: the `Gap` is `None` (ETM3-CC-009).
//!
//! # Exceptions
//!
//! A branch packet without exception information is a branch, wherever it goes (ETM3-EXC-013). In an exception inside
//! byte 5, code 0 is any exception without a code of its own: its type is that of the vector at its address, in the
//! table that [`hivecs`](super::Parameters::hivecs) selects, with [`VectorBase::Unknown`](super::VectorBase::Unknown) in
//! either; [`Event::BranchTo`] has the number 8, 9, 10, 11, 12, 14 or 15 for the offsets 0x00, 0x04, 0x08, 0x0C, 0x10,
//! 0x18 and 0x1C, and [`InByteException::OTHER`] at any other address (ETM3-EXC-014). Atoms that an exception cancels
//! stay reported, and so do their data: the consumer applies `cancel`.
//!
//! # VMID
//!
//! With [`vmid`](super::Parameters::vmid), a VMID packet follows each I-sync before the next P-header. A P-header that
//! comes first is a fault (ETM3-VMID-001, 004), and the VMID is unknown until the next `Vmid`. The model outputs the
//! VMID after each I-sync and its cycle count, if that is a packet of its own, also the reset value 0 (ETM3-VMID-003);
//! and each change as a Context ID, after the instruction that made it.
//!
//! # Periodic synchronisation
//!
//! The model counts, up to ETMv3.0 cycles, from ETMv3.1 on bytes that enter the FIFO, from the first byte of the latest
//! A-sync on. When [`sync_period`](super::Policy::sync_period) is reached, the next traced instruction is preceded by
//! what is pending, an A-sync and a periodic I-sync; if it follows a gap in the trace, by an A-sync and the non-periodic
//! I-sync. Decoders take the parts at any distance from each other (ETM3-SYN-018). An A-sync is the first packet after
//! the Programming bit is cleared (ETM3-SYN-019), but Cortex-M3 up to r1p1-00rel0 may omit the second one
//! (ETM3-SYN-020): a decoder in synchronisation goes on with an I-sync alone.
//!
//! # Faults
//!
//! "Lost" = `Missing` with `synchronisation_lost` follows for every outstanding miss, and the decoder looks for an
//! A-sync again, from the byte at fault on. The others go on.
//!
//! | condition | class | place | then |
//! |---|---|---|---|
//! | reserved header or P-header; VMID, timestamp before 3.5; exception entry, exit before 3.4 | `reserved-encoding` | header | lost |
//! | data packet (Normal Data, placeholder, Value Not Traced, data suppressed) with neither addresses nor values traced; out-of-order data or store failed without values; Context ID of size 0; timestamp, VMID or cycle count (04, 70) not enabled; exception entry without data or not ARMv7-M; exception exit in 3.4 and not ARMv7-M | `illegal-in-state` | header | lost |
//! | branch, P-header or data suppressed with [`data_only`](super::Parameters::data_only) (ETM3-DO-001) | `illegal-in-state` | header | lost |
//! | 00 that does not begin an A-sync: something else than 80 after five zeros or more, or fewer zeros | `framing` | first zero | lost; the search begins at the byte that is not zero |
//! | byte 5 of a branch packet or current address without a state pattern; with bit 7, unless of a branch packet in the original scheme and ARM state (reading `etm3-byte-5-exception-in-arm-state`) | `reserved-encoding` | byte 5 | lost |
//! | current address that announces exception information | `reserved-encoding` | the byte that does | lost |
//! | first byte of the address under a load or store with bit 0 = 0; information byte with bit 0 = 0 | `reserved-encoding` | that byte | lost |
//! | exception information byte 2 (the third one, or the second one with bit 6) with bit 7 | `overlong` | that byte | lost |
//! | byte 5 of a data address with a bit of \[7:5\]; byte 5 of a cycle count with a bit of \[7:4\] | `overlong` | byte 5 | lost |
//! | store failed not directly after Normal Data or out-of-order data | `contradiction` | header | goes on, without event |
//! | an atom after an executed indirect branch, before a branch packet or I-sync | `missing-address` | P-header | goes on; once |
//! | no code where an atom is, with a program that has code somewhere; `address` says where | `no-code` | P-header | goes on; once until an address is known again |
//! | periodic I-sync at another address or state (with a load or store in progress: of that) than the next instruction, if that is known | `contradiction` | I-sync | goes on there |
//! | tag superseded without a non-periodic I-sync, or exception 4 (imprecise data abort) or 8 (reset), of ARMv7-M 17 (reset) or 21 (BusFault), since its placeholder | `suspicious` | header | goes on |
//! | a P-header after an I-sync without VMID between, with [`vmid`](super::Parameters::vmid) | `contradiction` | P-header | goes on; once for that I-sync |
//! | another packet where the second half of a 64-bit datum should be | `suspicious` | that packet | goes on |
//! | a record of a bare port with bits of TRACECTL\[7:1\] | `framing` | TRACECTL | lost; the record is skipped |
//! | the stream of a bare port ends inside a record | `truncated` | TRACECTL | before the events of the end |
//!
//! Faults of atoms precede the atom. The bit is 0. The packet index is that of the packet that is being read or comes
//! next; a packet counts from its first byte on, even if it is given up, and bytes that are skipped belong to no
//! packet.

#[cfg(doc)]
use super::Event;

/// A number in as many bytes of 7 bits as its sender chooses, the lowest first (cycle counts, timestamps).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VariableField {
    /// Payload bits, first byte in the lowest bits.
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub bits: u64,
    /// Number of bytes: 1 to 5 (cycle count), 1 to 7 (timestamp of 48 bits) or 1 to 9 (of 64 bits).
    pub bytes: u8,
}

/// The contents of the exception information bytes of a branch packet (7.3.5).
///
/// | byte | \[7\] | \[6\] | \[5\] | \[4:0\] |
/// |---|---|---|---|---|
/// | 0 | another follows | AltISA | Cancel | \[4:1\] exception\[3:0\], \[0\] NS |
/// | 1 | another follows | 0 | Hyp | exception\[8:4\] |
/// | 2 | 0 | 1 | 0 | \[3:0\] resume |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExceptionInformation {
    /// Exception\[8:0\]; 0 = no exception, only a change of state. \[8:4\] are 0 without byte 1.
    pub number: u16,
    /// The most recently traced instruction was cancelled.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub cancel: bool,
    /// AltISA: a Thumb state of this packet is ThumbEE.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub alt_isa: bool,
    /// Non-secure state.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub non_secure: bool,
    /// Hyp mode; present if byte 1 is.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub hyp: Option<bool>,
    /// Resume count (ARMv7-M); present if byte 2 is.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub resume: Option<u8>,
}

/// The exception inside byte 5 of a branch packet (original scheme, bit 7 = 1, deprecated).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InByteException {
    /// Bits \[5:3\]: 0 other, by its vector, 1 IRQ, 4 Jazelle, 5 FIQ, 6 asynchronous data abort, 7 debug halt.
    pub code: u8,
    /// Bit \[6\]: the most recently traced instruction was cancelled.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub cancel: bool,
}

impl InByteException {
    /// The number of code 0 where its type is not known: a generic exception (ETM3-EXC-014).
    pub const OTHER: u16 = 13;

    /// The exception number of [`ExceptionInformation`] that `code` stands for; [`Event::BranchTo`] reports that. The
    /// reserved codes 2 and 3 become the reserved numbers 6 and 7; code 0 becomes [`OTHER`](Self::OTHER), which a
    /// decoder replaces by the number of its vector.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self.code {
            0 => Self::OTHER,
            1 => 14,
            2 => 6,
            3 => 7,
            4 => 5,
            5 => 15,
            6 => 4,
            _ => 1,
        }
    }
}
