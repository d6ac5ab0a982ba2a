//! What a decoder reports about the traced execution, in which order, and which faults.

use super::v3::ExceptionInformation;
use super::{DataAddress, Isa, Reason};
use crate::Address32;

/// One thing that happened in the traced execution.
///
/// The order and meaning of events and the faults are described with each architecture: [`v1`](super::v1),
/// [`v2`](super::v2), and the differences in [`v3`](super::v3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
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
    /// A TFO packet, or in ETMv1 a branch address with such a reason: where execution is (5.5.4, 6.5).
    /// [`Reason::Overflow`] also means that instructions are lost before `cycle` (ETM2-FIFO-007).
    Synchronisation {
        /// The TFO cycle, or that of BE or BD.
        cycle: u64,
        /// Why.
        reason: Reason,
        /// The instruction that the TFO cycle implies (periodic), or the first one after it; in ETMv1 always the one
        /// after it. Without Thumb bit.
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
    /// ETMv1, ETMv2: the branch to a vector, reported after this, is an exception (4.5.3); see [`v1`](super::v1) and
    /// [`v2`](super::v2).
    Exception {
        /// When: the cycle of the branch, as in `Branch`.
        cycle: u64,
        /// Which.
        kind: ExceptionKind,
        /// The address of the branch.
        vector: Address32,
        /// ETMv1: the instruction of the status that branched, without Thumb bit; absent where the decoder cannot know
        /// it, and in ETMv2.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        at: Option<Address32>,
        /// ETMv2: the `cycle` of the instruction that is taken back, the latest one of that cycle. It was reported
        /// before, but was not executed. Absent if none is.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cancelled: Option<u64>,
    },
    /// ETMv1, ETMv2, with [`VectorBase::Unknown`](super::VectorBase::Unknown): the branch reported after this goes to a
    /// place where one of the two tables has a vector. Whether it is an exception, and whether the instruction reported
    /// for it was executed, is unknown.
    PossibleException {
        /// When: the cycle of the branch.
        cycle: u64,
        /// The address of the branch.
        vector: Address32,
    },
    /// ETMv1, ETMv2: these transfers belong to an instruction that was aborted or taken back. Their addresses and
    /// values, and the data that return for them later, mean nothing.
    IgnoredTransfers {
        /// The number of the first one.
        first: u64,
        /// The number of the last one.
        last: u64,
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
        /// Where; `None` if the trace does not carry it.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<DataAddress>,
        /// What.
        value: Value,
        /// The latest full data address marks data as big-endian (ETMv3, ETM3-DAT-004).
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
    /// The value of an outstanding transfer will not be output. Never an error (ETM2-LM-032).
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
    /// cycle only; of a TFO packet, the TFO cycle. In ETMv1 also: the data of this cycle are cut off, or cannot be
    /// assigned.
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
    /// ETMv3: an I-sync packet (7.10.5). [`Reason::Overflow`] also means that instructions are lost before it.
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
        /// The contents of the exception information bytes, if there are any.
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
    /// ETMv3: transfers from here on are not output; those of the latest data instruction are incomplete (7.4.6).
    DataSuppressed {
        /// When.
        when: u64,
    },
}

/// Which exception a branch to a vector is. The offset is that of the vector in its table (4.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ExceptionKind {
    /// Offset 0x00.
    Reset,
    /// Offset 0x04: undefined instruction.
    Undefined,
    /// Offset 0x08: SVC, formerly SWI.
    Svc,
    /// Offset 0x0C: prefetch abort, or BKPT.
    PrefetchAbort,
    /// Offset 0x10. In ETMv2 it is imprecise if an instruction is taken back, otherwise precise.
    DataAbort,
    /// Offset 0x18.
    Irq,
    /// Offset 0x1C.
    Fiq,
    /// ETMv2: the exception bit is set, and the address is no vector, or the place of the vectors is unknown.
    Unknown,
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

/// Why the value of a load miss will not be output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
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

/// Equality, but for the Hyp bit of exceptions above 15: they are those of ARMv7-M, which has no Hyp mode. Their second
/// information byte carries the bit, as 0 (ETM3-EXC-002, ETM3-EXC-006), and a decoder may leave it out.
pub(super) fn accepts(expected: &Event, actual: &Event) -> bool {
    expected == actual || *expected == with_hyp_bit(*actual)
}

fn with_hyp_bit(mut event: Event) -> Event {
    if let Event::BranchTo { exception: Some(information), .. } = &mut event
        && information.number > 15
    {
        information.hyp.get_or_insert(false);
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hyp_bit_of_armv7_m_may_be_left_out() {
        let branch = |number, hyp| Event::BranchTo {
            address: Address32(0x200),
            isa: Isa::Thumb,
            exception: Some(ExceptionInformation { number, hyp, ..ExceptionInformation::default() }),
        };
        assert!(accepts(&branch(19, Some(false)), &branch(19, None)));
        assert!(!accepts(&branch(19, Some(false)), &branch(19, Some(true))));
        assert!(!accepts(&branch(19, None), &branch(19, Some(false))));
        assert!(!accepts(&branch(14, Some(false)), &branch(14, None)));
    }
}
