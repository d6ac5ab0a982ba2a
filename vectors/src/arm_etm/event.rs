//! What a decoder reports about the traced execution, in which order, and which faults.

use super::v3::ExceptionInformation;
use super::{DataAddress, Isa, Reason};
use crate::Address32;

/// One thing that happened in the traced execution.
///
/// The rules below are those of ETMv2; those of ETMv1 stand in [`v1`](super::v1), what differs in ETMv3 in [`v3`](super::v3).
///
/// # Order
///
/// Events come in the order in which the capture tells them, not in program order: a status is reported in its cycle,
/// what a packet says is reported when its last byte was read. `cycle` and `when` are the index of the record (from 0, counted from
/// `begin` or `reset`) in which something *happened*; of a packet, the cycle that placed it in the FIFO; of a TFO packet, the
/// cycle with status TD (perhaps replaced by TR), even where the TFO value travels later (PC-8, PC-9).
///
/// Within one record:
///
/// 1. [`Trigger`](Event::Trigger), if PIPESTAT is TR;
/// 2. the [`Instruction`](Event::Instruction)s of the (true) status, a phantom first: IE and DE one executed, IN and DN
///    one not executed, WT, DW and TD none;
/// 3. for each packet whose last byte this record carries: the packet, then
///
/// | packet | events |
/// |---|---|
/// | branch address | `Branch` |
/// | Normal Data, Value Not Traced | `Transfer` |
/// | Load Miss Occurred | `Missing`… of what its tag stood for, if superseded; `Transfer` |
/// | Load Miss Data | `MissData`, or `IgnoredData` |
/// | Context ID | `ContextId` |
/// | TFO | `Synchronisation`, then `Instruction` (executed, of the TFO cycle) if the reason is periodic or an LSM is in progress |
///
/// In front of a packet's own events comes `Missing` with [`MissingReason::Incomplete`], if the packet stands where the
/// second half of a 64-bit datum should. Several `Missing` at the same point come in the order of `transfer`.
///
/// At the end of the capture: `Incomplete`, if bytes of a packet or group are still to come; then `Missing` with
/// [`MissingReason::End`] for every miss without data.
///
/// # Transfers
///
/// Every Normal Data, Load Miss Occurred and Value Not Traced packet is one `Transfer` of one word (or less). They are
/// numbered from 0, counted from `begin` or `reset`. A 64-bit item is two consecutive numbers, lower address first.
///
/// `address` is what the packet says, completed with the bits of the base (see [`DataAddress`]); without the A bit it is
/// that of the transfer before plus 4 (ETM2-ND-011), modulo the known bits. It is `None` if addresses are not traced; if the
/// A bit is 0 and there is no transfer before, or that one has none; or if the A bit is 0 and
/// [`monitor_cprt`](super::Parameters::monitor_cprt) is set, for then it may be a coprocessor transfer. "Before" does not reach
/// back over a TFO packet with a reason other than periodic, and neither does the base: its bits are unknown there until
/// they travel again (ETM2-DA-003, ETM2-TFO-023).
///
/// # Misses
///
/// Per tag there is at most one outstanding item, of one or two transfers (ETM2-LM-017 to 025, 036 to 047).
///
/// * A placeholder directly behind a placeholder with the same tag, no packet of any kind between, whatever their
///   cycles and A bits, is the second half of a 64-bit item; a third one is a new item.
/// * A new item with the tag of an outstanding one supersedes it: `Missing` for each of its transfers that have no value.
/// * Data go to the outstanding item of their tag: to its only transfer, or to its first and then, if directly
///   behind, to its second.
/// * Data without an outstanding item are `IgnoredData`. So is a second datum for a 64-bit item that is not directly
///   behind the first.
/// * Where values are not traced there are no outstanding items (PC-12): placeholders have [`Value::Off`], all
///   miss data are `IgnoredData`.
///
/// # Faults
///
/// While the decoder is not synchronised it reports only `Trigger` and the faults of the record format. It is
/// synchronised from a TFO cycle on. "Lost" = everything pending is dropped, `Missing` with
/// [`MissingReason::SynchronisationLost`] follows the fault, and the decoder waits for the next TFO cycle.
///
/// | condition | class | place | then |
/// |---|---|---|---|
/// | a bit of a record is set that is always 0 | `framing` | that byte, bit 4 | lost; the record is skipped |
/// | the capture ends inside a record | `truncated` | first byte of the record | |
/// | reserved header (ETM2-HDR-002) | `reserved-encoding` | header | lost |
/// | reserved TFO packet header; J bit before 2.1 | `reserved-encoding` | header | lost |
/// | data packet with neither addresses nor values traced; Context ID packet of size 0 | `illegal-in-state` | header | lost |
/// | byte 5 of a branch address with no state pattern, with bit 7, or Java state before 2.1 | `reserved-encoding` | byte 5 | lost |
/// | bit 0 of the first byte of the current address in a TFO packet with an LSM in progress is 0 | `reserved-encoding` | that byte | lost |
/// | byte 5 of a data address with a bit of \[7:4\] | `overlong` | byte 5 | lost |
/// | TFO value with b111 in \[3:1\], not cycle-accurate (PC-7) | `reserved-encoding` | TRACEPKT | lost |
/// | TR that replaces TR; TR that replaces TD and no TFO value in the next cycle that is not TR | `reserved-encoding` | TRACEPKT | lost |
/// | the byte where a TFO packet should start is not the first one behind a whole group or packet | `contradiction` | that byte | see below |
/// | TD without TFO while bytes are pending | `contradiction` | PIPESTAT | goes on |
/// | WT, not replaced by TR, while nothing is pending | `contradiction` | PIPESTAT | goes on |
/// | more than 127 groups pending: no TFO value could count their bytes | `limit` | PIPESTAT | lost |
/// | more than 127 TFO packets pending | `limit` | PIPESTAT | lost |
/// | miss data although values are not traced (PC-12) | `suspicious` | header | goes on |
/// | tag superseded without any TFO of a reason other than periodic since its placeholder | `suspicious` | header | goes on |
/// | another packet where the second half of a 64-bit datum should be | `suspicious` | that packet | goes on |
///
/// `TRACEPKT` and `PIPESTAT` are the first byte of that part of the record at fault. "Header" and "byte 5" are the TRACEPKT byte
/// that carried it (on a 4-bit port, its low half). The bit is 0 unless stated otherwise. The packet index is that of the
/// packet that is being read or comes next (of a `contradiction`, that of the TFO packet); a packet counts from its
/// first byte on, even if it is given up later, and bytes that are skipped belong to no packet. Faults about a status or
/// a TFO value come behind the instructions of their record; those about a packet come in front of its events, and behind
/// the packet itself if it is delivered; a `contradiction` and its `Missing` come in front of the TFO packet. The two
/// conditions about TD and WT are reported once for a run of consecutive records.
///
/// A `contradiction` at a TFO packet is reported when the position is reached that the TFO value tells, counted in FIFO
/// bytes from the TFO cycle. The TFO is trusted: groups older than the TFO cycle that are not complete are dropped, bytes
/// behind complete ones up to the position are skipped, outstanding misses are `Missing` with
/// [`MissingReason::SynchronisationLost`], data addresses are unknown, and the TFO packet is read (ETM2-TFO-018).
///
/// Never faults: miss data without a placeholder, a placeholder without data, a capture that ends inside a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Event {
    /// An instruction was executed, or not because its condition failed.
    Instruction {
        /// When.
        cycle: u64,
        /// It was executed.
        executed: bool,
        /// It is a folded direct branch; executed means taken (6.1.2).
        phantom: bool,
    },
    /// The trigger occurred (6.1.7).
    Trigger {
        /// When.
        when: u64,
    },
    /// A TFO packet, or in ETMv1 a branch address with such a reason: where execution is (5.5.4, 6.5). [`Reason::Overflow`] also says that instructions are lost before `cycle`
    /// (ETM2-FIFO-007).
    Synchronisation {
        /// The TFO cycle, or that of BE or BD.
        cycle: u64,
        /// Why.
        reason: Reason,
        /// The instruction that the TFO cycle implies (periodic), or the first one behind it; in ETMv1 always the one behind it. Without Thumb bit.
        address: Address32,
        /// Its state.
        isa: Isa,
        /// Present if Context IDs are traced.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
        /// Address of the LSM instruction that is in progress; its execution is implied.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        lsm: Option<Address32>,
    },
    /// The instruction of this cycle branched, or an exception did.
    Branch {
        /// When.
        cycle: u64,
        /// Where to.
        address: Address32,
        /// The state there.
        isa: Isa,
    },
    /// The Context ID changed.
    ContextId {
        /// When.
        when: u64,
        /// The new one.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u32,
    },
    /// A data transfer of the most recently traced data instruction.
    Transfer {
        /// Its number.
        transfer: u64,
        /// When its packet was placed in the FIFO.
        when: u64,
        /// Where; `None` if the trace does not tell.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<DataAddress>,
        /// What.
        value: Value,
        /// The latest full data address says that data are big-endian (ETMv3, ETM3-DAT-004).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        big_endian: bool,
    },
    /// The value of a transfer that was outstanding.
    MissData {
        /// The transfer.
        transfer: u64,
        /// When the data returned.
        when: u64,
        /// The value, zero-extended.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u32,
    },
    /// The value of an outstanding transfer will not be told. Never an error (ETM2-LM-032).
    Missing {
        /// The transfer.
        transfer: u64,
        /// Why.
        reason: MissingReason,
    },
    /// Miss data that belong to no outstanding transfer (ETM2-LM-019).
    IgnoredData {
        /// When they were placed in the FIFO.
        when: u64,
        /// Their tag.
        tag: u8,
    },
    /// The capture ends before all bytes of this cycle's packets were seen (ETM-GEN-012). Reported for the oldest such
    /// cycle only; of a TFO packet, the TFO cycle. In ETMv1 also: the data of this cycle are cut off, or cannot be told apart.
    Incomplete {
        /// The cycle.
        when: u64,
    },
    /// ETMv1: an instruction was executed, or not because its condition failed (5.1).
    InstructionAt {
        /// When.
        cycle: u64,
        /// Where, without Thumb bit; `None` where the decoder cannot know it.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address32>,
        /// The state it is in; ARM while the decoder cannot know it.
        isa: Isa,
        /// Its condition passed.
        executed: bool,
    },
    /// ETMv3: an E or N atom, that is an instruction (7.3.1).
    Atom {
        /// The instruction, without Thumb bit; `None` where the decoder cannot know it.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address32>,
        /// The state it is in.
        isa: Isa,
        /// E: its condition passed.
        executed: bool,
        /// W atoms since the E or N atom before, its own included; `None` unless cycle-accurate (ETM3-PH-013).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycles: Option<u64>,
    },
    /// ETMv3: an I-sync packet (7.10.5). [`Reason::Overflow`] also says that instructions are lost in front of it.
    InstructionSync {
        /// Why.
        reason: Reason,
        /// The next instruction, without Thumb bit; `None` in data-only mode.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address32>,
        /// The state there.
        isa: Isa,
        /// Non-secure state.
        non_secure: bool,
        /// Hyp mode.
        hyp: bool,
        /// Present if Context IDs are traced.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
        /// The data instruction that is in progress; its execution is implied.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        in_progress: Option<Address32>,
    },
    /// ETMv3: cycles in which nothing was traced (ETM3-CC-005).
    Gap {
        /// So many; `None` if the macrocell does not know.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycles: Option<u64>,
    },
    /// ETMv3: a branch packet (7.3.5).
    BranchTo {
        /// The next instruction, without Thumb bit.
        address: Address32,
        /// The state there.
        isa: Isa,
        /// What the exception information bytes say, if there are any.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        exception: Option<ExceptionInformation>,
    },
    /// ETMv3: end of an exception return (7.5, 7.6).
    ExceptionReturn {
        /// When.
        when: u64,
    },
    /// ETMv3, ARMv7-M: the transfers that follow are those of the automatic stacking (7.5.3).
    ExceptionEntry {
        /// When.
        when: u64,
    },
    /// ETMv3: the VMID.
    Vmid {
        /// When.
        when: u64,
        /// The new one.
        value: u8,
    },
    /// ETMv3: a timestamp (7.7).
    Timestamp {
        /// The natural binary value; `None` if it is 0, or has bits that never travelled.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        value: Option<u64>,
        /// A clock frequency changed since the timestamp before.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        clock_change: bool,
    },
    /// ETMv3: this store, of a store-exclusive, did not happen (7.4.7).
    StoreFailed {
        /// Its number.
        transfer: u64,
    },
    /// ETMv3: transfers from here on are not told; those of the latest data instruction are incomplete (7.4.6).
    DataSuppressed {
        /// When.
        when: u64,
    },
}

/// What is known of a transfer's value when its packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Value {
    /// The value, zero-extended.
    Known(
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u32,
    ),
    /// Load miss with this tag; a `MissData` or `Missing` for this transfer will follow.
    Pending(u8),
    /// Load miss with this tag, second half of a 64-bit item whose first half is the transfer before.
    PendingHigh(u8),
    /// Filtered out: Value Not Traced.
    NotTraced,
    /// Values are not traced.
    Off,
}

/// Why the value of a load miss will not be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MissingReason {
    /// A newer placeholder has its tag.
    Superseded,
    /// Only the first half of a 64-bit datum came.
    Incomplete,
    /// Synchronisation was lost.
    SynchronisationLost,
    /// The capture ended.
    End,
}
