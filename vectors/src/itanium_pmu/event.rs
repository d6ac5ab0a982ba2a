//! What a decoder reports: tags, counts, captures, records read back, and which faults.

use super::{DataTlbLevel, InstructionTlbResolution, Register, Tags};
use crate::Address;

/// How many misses of one cycle are looked at, instruction and data misses together. No processor has nearly as many.
///
/// The default of [`DecoderLimits::gathered`](crate::DecoderLimits::gathered), which this stands for wherever another
/// value is set.
pub const MISSES_PER_CYCLE: usize = crate::DecoderLimits::DEFAULT.gathered as usize;

/// One thing that a decoder works out.
///
/// A log is *followed* from its first reset record on: the decoder knows every register, qualifies what happens and
/// compares what is read with what it knows. What precedes a reset is a *dump*: registers are taken apart, and the
/// configuration is judged at the end.
///
/// # Order
///
/// After the packet, faults about it, then:
///
/// | record | events |
/// |---|---|
/// | instruction | `Tags` |
/// | access | `DataTag` |
/// | cycle | `InstructionMiss` and `DataMiss` captured in this cycle in the order of their records, `Count` of every counter that changed, `Overflow` (both in the order of counters), `Freeze`, `Interrupt` |
/// | read of an event address register, followed or not | `InstructionEar` if PMD\[0\] and PMD\[1\], `DataEar` if PMD\[2\], PMD\[3\] and PMD\[17\] were read by now |
/// | end of a log that was never followed | `Notice`s in the order of registers and of [`Notice`]'s variants |
///
/// `InstructionEar` and `DataEar` are reported when the last of their registers was read, in any order; each register
/// is used once, and a record of a write to PMC\[0\], PMC\[10\] or PMC\[11\], of a cycle or of a reset forgets those
/// read so far. A register read as undefined takes part in none, and neither does one that reads as 0 because of the
/// privilege level. Where the mode is not known (PMC\[10\], PMC\[11\] of a dump), its fields are undefined and absent.
///
/// # Qualification
///
/// * Tags are made when the instruction is fetched, DBRRangeTag when the access is made, both with the registers of
///   that moment, and carried; PMC\[4\] to PMC\[7\], plm, ism, pm and PSR of counting and capturing are those at the
///   end of the cycle.
/// * A counter counts occurrences whose es and umask are exactly its own. The event's
///   [`Qualifier`](super::events::Qualifier) determines which tag of the latest instruction or access must be set when
///   the occurrence is recorded.
/// * IA64_INST_RETIRED and its tagged kin count the retired instructions of the cycle that were fetched with PSR.is =
///   0; CPU_CYCLES counts 1; INSTRUCTION_EAR_EVENTS and DATA_EAR_EVENTS count the misses of the cycle that are enabled,
///   qualified and pass the umask, kept or not.
/// * Under [`Ia32Counting::Unrestricted`](super::Ia32Counting::Unrestricted), an occurrence recorded after an
///   instruction that was fetched with PSR.is = 1 counts for events with the qualifiers `Opcode` and `Data` if and only
///   if, when it is recorded, ta = 1, PMC\[8\] passes all (mifb = 1111, mask all ones) and pt = 1; "after" refers to
///   the latest instruction, for `Data` too, which needs an access nevertheless. `OtherOpcode` never counts there,
///   `Range` by IBRRangeTag. Under `ByTag` by the tags alone. Event address registers always go by the tags alone.
/// * A data cache miss is captured of an access of kind load only, a data TLB miss of any kind.
/// * An instruction miss is tagged when it is recorded, with the registers of that moment.
/// * A read gives what the register holds. Of PMDs at a privilege level other than 0: 0 if PSR.sp = 1; 0 of PMD\[4\] to
///   PMD\[7\] with pm = 1 of its PMC. PMD\[0\] to PMD\[3\] and PMD\[8\] to PMD\[17\] are undefined while PMC\[0\].fr =
///   0, unless they read as 0 for that reason. What recording branches would leave in PMD\[8\] to PMD\[16\] is not
///   modelled: they hold what software wrote.
/// * Fields that depend on the mode of an event address register depend, in reads and in writes, on PMC\[10\].tlb and
///   PMC\[11\].tlb as they are then. PSR and PMV hold all bits that are written, those that are no fields too.
/// * Several overflows with oi = 1 in one cycle raise one interrupt.
/// * Reset: PMC\[8\] = PMC\[9\] = 0xf00000003ffffff8, PMC\[11\] = 0x10000000, PMC\[13\] = 1, everything else 0, PSR and
///   PMV too.
///
/// # Faults
///
/// None stops decoding but a cut-off record at the end. "Dropped" = no packet, no effect.
///
/// | condition | class | place | then |
/// |---|---|---|---|
/// | unknown kind, class, access kind, syllable type, slot 3 of an instruction, level 0 or above 3, resolution above 1 | `reserved-encoding` | that field | dropped |
/// | a bit of a record is set that is always 0; a syllable of more than 41 bits (ITA-OPC-016) | `overlong` | lowest such bit | dropped |
/// | the log ends inside a record | `truncated` | first bit of the record | |
/// | a register that the processor does not implement (E-REG) | `invalid-reference` | index | packet is `Unimplemented` |
/// | an ignored bit of a value read is 1 (E-IGN) | `overlong`, lenient `suspicious` | lowest such bit | dropped; lenient: masked |
/// | an ignored bit of a value written is 1; {63:32} of a counter and {60:51} of PMD\[0\], PMD\[2\], PMD\[17\] are none, whatever is written there | `suspicious` | lowest such bit | masked |
/// | {63:32} of a counter read neither copies of {31} nor 0; {60:51} of PMD\[0\], PMD\[2\], PMD\[17\] read not copies of {50} (E-SXT) | `contradiction`, lenient `suspicious` | lowest bit that is no copy (of a counter: bit 32 or above that differs from bit 31) | dropped; lenient: made copies |
/// | a PMD of 0 to 3 or 8 to 17 is read without PMC\[0\].fr = 1 known (E-UNDEF) | `illegal-in-state`, lenient no fault | value | dropped; lenient: `Undefined` |
/// | PMD\[17\] read with v = 1 and slot 3 (E-SLOT) | `reserved-encoding`, lenient `suspicious` | slot | dropped; lenient: goes on |
/// | the event of PMC\[4\] to PMC\[7\] is not countable on that counter (E-CTR), written or read | `illegal-in-state`, lenient `suspicious` | es | goes on, and nothing is counted |
/// | a read gives other bits than the log has led to; undefined bits are not compared | `contradiction` | lowest such bit | the register is what was read |
/// | a register is read as undefined that is defined | `contradiction` | record | |
/// | tags differ from those worked out | `contradiction` | that bit | goes on |
/// | tags, an access or an occurrence that needs one without an instruction before; a data tag, a data miss or an occurrence that needs one without an access before | `invalid-reference` | record | packet is delivered, no effect |
/// | an occurrence of an event without a name | `reserved-encoding` | es | packet is delivered, no effect |
/// | an occurrence of an event that follows from the rest (see [`is_derived`](super::events::is_derived)) | `illegal-in-state` | es | packet is delivered, no effect |
/// | a miss in a cycle that has [`MISSES_PER_CYCLE`] already | `limit` | record | packet is delivered, no effect |
/// | an interrupt that was not due | `contradiction` | record | goes on |
/// | an interrupt was due, and the next record is another | `contradiction` | that record, or the end | goes on |
/// | a record of execution (instruction to interrupt) before any reset | `not-synchronised` | record; once until a reset | packet is delivered, no effect |
///
/// Places of a value are those of its bit: byte 8 + b / 8 of the record, bit b % 8. Of a dropped record only the first
/// fault of this table's order that drops it is reported, and all goes on as if the record were not there. Of any other
/// record all faults are reported, in this order; of tags, every bit that differs. A reset forgets the latest
/// instruction and access; a cycle does not, and an instruction does not forget the access before it.
///
/// * Of an occurrence only one of the three rows about occurrences holds: it has no name; else its event is derived;
///   else it lacks the instruction (qualifiers `Range`, `Opcode`, `OtherOpcode`) or the access (`Data`) that its
///   qualifier needs, in IA-32 code too.
/// * Reads that are 0 because of the privilege level are known in a followed log only. There such a register is defined
///   whatever PMC\[0\].fr is.
/// * Nothing else is reported of a register that the processor does not implement.
/// * The end is after the last byte: packet index and byte are those of a record that would follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Event {
    /// Tags of an instruction.
    Tags(Tags),
    /// Tag of an access.
    DataTag {
        /// DBRRangeMatch: the address matches a pair, and PSR.db = 0.
        matched: bool,
        /// DBRRangeTag.
        tag: bool,
    },
    /// A counter changed at the end of a cycle.
    Count {
        /// n of PMD\[n\], 4 to 7.
        counter: u8,
        /// By how much. Occurrences of one event in one cycle are counted up to 65535.
        increment: u16,
        /// To what.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex32"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        count: u32,
    },
    /// A counter carried out of bit 31; PMC\[0\]{n} is 1 now.
    Overflow {
        /// n of PMD\[n\], 4 to 7.
        counter: u8,
    },
    /// Hardware set PMC\[0\].fr.
    Freeze,
    /// An interrupt is raised: an overflow with oi = 1, and PMV.m = 0. An [`Interrupt`](super::Packet::Interrupt)
    /// record is due.
    Interrupt,
    /// This was written into the instruction event address registers.
    InstructionMiss(InstructionMiss),
    /// This was written into the data event address registers.
    DataMiss(DataMiss),
    /// What was read back from the instruction event address registers; `None` if PMD\[0\].v = 0.
    InstructionEar(Option<InstructionMiss>),
    /// What was read back from the data event address registers; `None` if PMD\[17\].v = 0.
    DataEar(Option<DataMiss>),
    /// A warning about a configuration for its author.
    Notice {
        /// Where.
        register: Register,
        /// What.
        notice: Notice,
    },
}

/// A record of the instruction event address registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstructionMiss {
    /// Address of the line of 32 bytes.
    pub line: Address,
    /// Clocks, 12 bits, in cache mode.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub latency: Option<u16>,
    /// Who resolved it, in TLB mode.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub tlb: Option<InstructionTlbResolution>,
}

/// A record of the data event address registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataMiss {
    /// Address of the data.
    pub address: Address,
    /// Address of the bundle.
    pub bundle: Address,
    /// Slot of the bundle.
    pub slot: u8,
    /// Clocks, 12 bits, in cache mode.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub latency: Option<u16>,
    /// Where it was resolved, in TLB mode.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub level: Option<DataTlbLevel>,
}

/// Warnings for the author of a configuration. A condition that needs a register which the dump does not show is not
/// met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Notice {
    /// PMC\[4\] to PMC\[7\], PMC\[10\], PMC\[11\]: ism = 3 or plm = 0; PMC\[8\], PMC\[9\]: no syllable type is selected
    /// (W-ISM).
    Disabled,
    /// PMC\[4\] to PMC\[7\]: es and umask select no named event (E-EVT).
    UnknownEvent,
    /// PMC\[4\] to PMC\[7\]: the threshold is not below the most occurrences in a cycle (E-THR).
    NeverCounts,
    /// PMC\[10\], PMC\[11\]: in cache mode, umask 11 to 15, and 7 of PMC\[11\] with shifted thresholds (W-UMASK).
    NoCapture,
    /// PMC\[11\]: in cache mode, umask 7 to 10, whose thresholds differ between sources (W-DISP).
    Disputed,
    /// PMC\[13\]: ta = 0, and PSR.db or the x bit of an odd IBR is 1. PMC\[11\]: pt = 0, and PSR.db is 1 (W-DBG).
    RangeCheckOff,
    /// An even DBR: pt = 0, and the pair is (0, 0), which matches half of region 0 (W-NEUT).
    MatchesRegionZero,
    /// An even IBR or DBR of a pair that is known: {60:56} of the address are not uniform, or the mask selects a bit of
    /// {55:50} of the address that differs from its bit 60 (W-NONCAN).
    NeverMatches,
}
