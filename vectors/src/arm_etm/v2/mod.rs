//! Architecture 2: the wire, and what a decoder reports.
//!
//! # The wire
//!
//! One record per trace clock, PIPESTAT and TRACEPKT: see [`Cycle`].
//!
//! # Order
//!
//! Events come in the order in which the capture carries them, not in program order: a status is reported in its cycle,
//! the contents of a packet are reported when its last byte was read. `cycle` and `when` are the index of the record
//! (from 0, counted from `begin` or `reset`) in which something *happened*; of a packet, the cycle that placed it in
//! the FIFO; of a TFO packet, the cycle with status TD (perhaps replaced by TR), even where the TFO value travels later
//! (PC-8, PC-9).
//!
//! Within one record:
//!
//! 1. [`Trigger`](Event::Trigger), if PIPESTAT is TR;
//! 2. the [`Instruction`](Event::Instruction)s of the (true) status, a phantom first: IE and DE one executed, IN and DN
//!    one not executed, WT, DW and TD none;
//! 3. for each packet whose last byte this record carries: the packet, then
//!
//! | packet | events |
//! |---|---|
//! | branch address | `Branch`; before it, of an exception, what the next section says |
//! | Normal Data, Value Not Traced | `Transfer` |
//! | Load Miss Occurred | `Missing`… of what its tag stood for, if superseded; `Transfer` |
//! | Load Miss Data | `MissData`, or `IgnoredData` |
//! | Context ID | `ContextId` |
//! | TFO | `Synchronisation`, then `Instruction` (executed, of the TFO cycle) if the reason is periodic or an LSM is in progress |
//!
//! Before a packet's own events comes `Missing` with [`MissingReason::Incomplete`], if the packet stands where the
//! second half of a 64-bit datum should. Several `Missing` at the same point come in the order of `transfer`.
//!
//! At the end of the capture: `Incomplete`, if bytes of a packet or group are still to come; then `Missing` with
//! [`MissingReason::End`] for every miss without data.
//!
//! # Exceptions
//!
//! A branch address with all its bits known, to an ARM instruction at a vector of the table that
//! [`hivecs`](super::Parameters::hivecs) selects, is an exception; offset 0x14 has no vector. Its instruction is the
//! latest one whose status is in a cycle up to that which placed the packet, and not before the latest non-periodic TFO
//! (a branch address may come with DW). A phantom branch keeps its outcome. The decoder reports, when the packet is
//! read:
//!
//! 1. [`IgnoredTransfers`](Event::IgnoredTransfers), if the instruction was aborted (offset 0x10) or is taken back, and
//!    has transfers: those from the latest `Transfer` on whose packet has the A bit, if the packet's cycle is not before
//!    that of the instruction. Misses among them are matched as always, before and after: `MissData` and `Missing`
//!    follow for them, too (ETM2-EXC-008);
//! 2. [`Exception`](Event::Exception) without `at`. `cancelled` is the cycle of the instruction if it is taken back: the
//!    exception bit is 1 (ETM2-EXC-002), or the offset is that of reset, undefined instruction, prefetch abort, IRQ or
//!    FIQ (ETM2-EXC-005, PC-16). Then it was not executed, although it was reported before. Without bit, the offset of
//!    SVC or data abort takes nothing back;
//! 3. `Branch`.
//!
//! A branch with the exception bit to another place, or to any with [`VectorBase::Unknown`](super::VectorBase::Unknown),
//! is an `Exception` of kind [`Unknown`](super::ExceptionKind::Unknown) that takes its instruction back
//! (ETM2-EXC-010). Without bit and with `VectorBase::Unknown`, a branch to one of the seven vectors of either table is
//! reported as [`PossibleException`](Event::PossibleException) and `Branch`, and nothing is taken back. A branch without
//! bit to any other place, and one to Thumb or Java state, is only a `Branch`. The address of a TFO packet is never an
//! exception.
//!
//! # Transfers
//!
//! Every Normal Data, Load Miss Occurred and Value Not Traced packet is one `Transfer` of one word (or less). They are
//! numbered from 0, counted from `begin` or `reset`. A 64-bit item is two consecutive numbers, lower address first.
//!
//! `address` is what the packet says, completed with the bits of the base (see [`DataAddress`]); without the A bit it
//! is that of the transfer before plus 4 (ETM2-ND-011, a should; reading `etm2-words-follow-on`), modulo the known
//! bits. It is `None` if addresses are not traced; if the A bit is 0 and there is no transfer before, or that one has
//! none; or if the A bit is 0 and [`monitor_cprt`](super::Parameters::monitor_cprt) is set, for then it may be a
//! coprocessor transfer. "Before" does not extend across a TFO packet with a reason other than periodic, and neither
//! does the base: its bits are unknown there until they travel again (ETM2-DA-003, ETM2-TFO-023).
//!
//! # Misses
//!
//! Per tag there is at most one outstanding item, of one or two transfers (ETM2-LM-017 to 025, 036 to 047).
//!
//! * A placeholder directly after a placeholder with the same tag, no packet of any kind between, whatever their cycles
//!   and A bits, is the second half of a 64-bit item; a third one is a new item.
//! * A new item with the tag of an outstanding one supersedes it: `Missing` for each of its transfers that have no
//!   value.
//! * Data go to the outstanding item of their tag: to its only transfer, or to its first and then, if directly after,
//!   to its second.
//! * Data without an outstanding item are `IgnoredData`. So is a second datum for a 64-bit item that is not directly
//!   after the first.
//! * Where values are not traced there are no outstanding items (PC-12): placeholders have [`Value::Off`], all
//!   miss data are `IgnoredData`.
//!
//! # Faults
//!
//! While the decoder is not synchronised it reports only `Trigger` and the faults of the record format. It is
//! synchronised from a TFO cycle on. "Lost" = everything pending is dropped, `Missing` with
//! [`MissingReason::SynchronisationLost`] follows the fault, and the decoder waits for the next TFO cycle.
//!
//! | condition | class | place | then |
//! |---|---|---|---|
//! | a bit of a record is set that is always 0 | `framing` | that byte, bit 4 | lost; the record is skipped |
//! | the capture ends inside a record | `truncated` | first byte of the record | |
//! | reserved header (ETM2-HDR-002) | `reserved-encoding` | header | lost |
//! | reserved TFO packet header; J bit without [`tfo_jazelle`](super::Parameters::tfo_jazelle) | `reserved-encoding` | header | lost |
//! | data packet with neither addresses nor values traced; Context ID packet of size 0 | `illegal-in-state` | header | lost |
//! | byte 5 of a branch address with no state pattern, with bit 7, or Java state before 2.1 | `reserved-encoding` | byte 5 | lost |
//! | bit 0 of the first byte of the current address in a TFO packet with an LSM in progress is 0 | `reserved-encoding` | that byte | lost |
//! | byte 5 of a data address with a bit of \[7:4\] | `overlong` | byte 5 | lost |
//! | TFO value with b111 in \[3:1\], not cycle-accurate (PC-7) | `reserved-encoding` | TRACEPKT | lost |
//! | TR that replaces TR; TR that replaces TD and no TFO value in the next cycle that is not TR | `reserved-encoding` | TRACEPKT | lost |
//! | the byte where a TFO packet should start is not the first one after a whole group or packet | `contradiction` | that byte | see below |
//! | TD without TFO while bytes are pending | `contradiction` | PIPESTAT | goes on |
//! | WT, not replaced by TR, while nothing is pending | `contradiction` | PIPESTAT | goes on |
//! | more than 127 groups pending: no TFO value could count their bytes | `limit` | PIPESTAT | lost |
//! | more than 127 TFO packets pending | `limit` | PIPESTAT | lost |
//! | miss data although values are not traced (PC-12) | `suspicious` | header | goes on |
//! | branch address with the exception bit to a place that is no vector of the selected table (of `VectorBase::Unknown`: of neither table), or not to ARM state | `suspicious` | byte 5 | goes on |
//! | tag superseded without any TFO of a reason other than periodic, or exception of kind `reset`, since its placeholder | `suspicious` | header | goes on |
//! | another packet where the second half of a 64-bit datum should be | `suspicious` | that packet | goes on |
//!
//! `TRACEPKT` and `PIPESTAT` are the first byte of that part of the record at fault. "Header" and "byte 5" are the
//! TRACEPKT byte that carried it (on a 4-bit port, its low half). The bit is 0 unless stated otherwise. The packet
//! index is that of the packet that is being read or comes next (of a `contradiction`, that of the TFO packet); a
//! packet counts from its first byte on, even if it is given up later, and bytes that are skipped belong to no packet.
//! Faults about a status or a TFO value follow the instructions of their record; those about a packet precede its
//! events, and follow the packet itself if it is delivered; a `contradiction` and its `Missing` precede the TFO packet.
//! The two conditions about TD and WT are reported once for a run of consecutive records.
//!
//! A `contradiction` at a TFO packet is reported when the position is reached that the TFO value gives, counted in FIFO
//! bytes from the TFO cycle. The TFO is trusted: groups older than the TFO cycle that are not complete are dropped,
//! bytes after complete ones up to the position are skipped, outstanding misses are `Missing` with
//! [`MissingReason::SynchronisationLost`], data addresses are unknown, and the TFO packet is read (ETM2-TFO-018).
//!
//! Never faults: miss data without a placeholder, a placeholder without data, a capture that ends inside a packet.
//!
//! # What a macrocell does with exceptions
//!
//! The group of the cycle has the data packets of the instruction, if they are traced, then the branch address with the
//! vector, which is the base of the next one. The status is that of an executed instruction with data, DE. The
//! exception bit is set as [`conventions::SET_EXCEPTION_BIT`] says; a branch address with it has five bytes
//! (ETM2-EXC-007), others as few as always. Any TFO reloads the synchronisation counter (ETM2-TFO-025).

#[cfg(doc)]
use super::{DataAddress, Event, MissingReason, Value};

pub mod conventions;
mod wire;

pub use wire::{Cycle, MalformedCycle, Pipestat, UPPER_NIBBLE, UnknownPipestat};
