//! Wrong decoders and models of Itanium event qualification.

mod data_ranges;
mod decoding;
mod encoding;
mod layers;

use traceproof_vectors::itanium_pmu::ItaniumPmu;

use crate::family::{Saboteur, Saboteurs, Side};
use crate::saboteurs::decoders::{parameters, results};
use layers::{Belief, believing, logging, seeing};

/// The table, and what its rows are made of, without a bug.
pub(super) const SABOTEURS: Saboteurs<ItaniumPmu> = Saboteurs {
    table: TABLE,
    harmless: &[
        Side::Decoder(|| believing(Belief { of: |_, _| true, mask: u64::MAX, change: |byte, _| byte })),
        Side::Encoder(|| seeing(|_| Box::new(Some))),
    ],
};

const TABLE: &[Saboteur<ItaniumPmu>] = &[
    Saboteur {
        name: "opcode-mask-polarity",
        side: Side::Decoder(|| believing(decoding::OPCODE_MASK_INVERTED)),
        bug: "Mask bits of PMC[8] and PMC[9] that are 1 are compared, those that are 0 are not.",
        source: "ITA-OPC-004; masks of breakpoints have the other polarity",
    },
    Saboteur {
        name: "ibr-plm-ignored",
        side: Side::Decoder(|| believing(decoding::IBR_PLM_IGNORED)),
        bug: "A pair of instruction breakpoint registers matches at every privilege level.",
        source: "ITA-IBR-001; data breakpoints do match so here",
    },
    Saboteur {
        name: "x-bits-ignored",
        side: Side::Decoder(|| believing(decoding::X_BITS_IGNORED)),
        bug: "An instruction breakpoint that is enabled does not switch the range check off.",
        source: "ITA-IBR-011; x is an enable everywhere else",
    },
    Saboteur {
        name: "x-bits-of-other-pairs-ignored",
        side: Side::Decoder(|| believing(decoding::X_BITS_OF_OTHER_PAIRS_IGNORED)),
        bug: "Of the four x bits only that of the first pair switches the range check off.",
        source: "ITA-IBR-011; x of one pair also stops the other pairs",
    },
    Saboteur {
        name: "mask-of-51-bits",
        side: Side::Decoder(|| believing(decoding::MASK_OF_51_BITS)),
        bug: "Mask bits {55:51} of breakpoint registers are dropped.",
        source: "ITA-IBR-003; the processor implements 51 address bits",
    },
    Saboteur {
        name: "high-bits-by-bit-60",
        side: Side::Decoder(|| believing(decoding::HIGH_BITS_BY_BIT_60)),
        bug: "Of {60:56} of a breakpoint address only bit 60 is compared.",
        source: "ITA-IBR-004, ITA-IBR-014, ITA-DBR-004; addresses that are made canonical when they are stored",
    },
    Saboteur {
        name: "instruction-sets-swapped",
        side: Side::Decoder(|| believing(decoding::INSTRUCTION_SETS_SWAPPED)),
        bug: "The two bits of ism of counters change places.",
        source: "ITA-CNT-006; each bit blocks, and blocks what the other one lets pass",
    },
    Saboteur {
        name: "privileged-monitors-are-user-monitors",
        side: Side::Decoder(|| believing(decoding::PM_IGNORED)),
        bug: "Counters with pm = 1 are started by PSR.up.",
        source: "ITA-CNT-005",
    },
    Saboteur {
        name: "two-privilege-levels",
        side: Side::Decoder(|| believing(decoding::TWO_PRIVILEGE_LEVELS)),
        bug: "Counters have the privilege levels 1 and 2 enabled if and only if level 3 is.",
        source: "ITA-CNT-004; systems use the levels 0 and 3 alone",
    },
    Saboteur {
        name: "threshold-reached",
        side: Side::Decoder(|| believing(decoding::THRESHOLD_REACHED)),
        bug: "PMD[4] and PMD[5] with a threshold T of 2 or more add 1 if n = T.",
        source: "ITA-CNT-007; `>=` for `>`",
    },
    Saboteur {
        name: "threshold-of-three-bits",
        side: Side::Decoder(|| believing(decoding::THRESHOLD_OF_THREE_BITS)),
        bug: "Bit 22 of PMC[6] and PMC[7] belongs to their thresholds.",
        source: "ITA-CNT-008; it does in PMC[4] and PMC[5]",
    },
    Saboteur {
        name: "every-overflow-freezes",
        side: Side::Decoder(|| believing(decoding::EVERY_OVERFLOW_FREEZES)),
        bug: "Overflows freeze and interrupt although oi = 0.",
        source: "ITA-OVF-003; drivers nearly always set oi",
    },
    Saboteur {
        name: "debug-does-not-switch-range-checks-off",
        side: Side::Decoder(|| believing(decoding::DB_IGNORED)),
        bug: "PSR.db = 1 leaves range checks on.",
        source: "ITA-IBR-010, ITA-DBR-003; the registers are shared with the debugger",
    },
    Saboteur {
        name: "pt-inverted",
        side: Side::Decoder(|| believing(decoding::PT_INVERTED)),
        bug: "pt = 1 that software writes switches the data range check on, pt = 0 switches it off.",
        source: "ITA-DBR-006; ta and pt switch off, most bits switch on",
    },
    Saboteur {
        name: "secure-monitors-readable",
        side: Side::Decoder(|| believing(decoding::SP_IGNORED)),
        bug: "PSR.sp = 1 hides nothing from reads at other privilege levels.",
        source: "ITA-CNT-012",
    },
    Saboteur {
        name: "one-opcode-tag",
        side: Side::Decoder(|| results(decoding::one_opcode_tag)),
        bug: "Tag(PMC[9]) is reported as Tag(PMC[8]).",
        source: "ITA-OPC-009; a loop over matchers that uses the first one's result",
    },
    Saboteur {
        name: "data-tag-without-its-instruction",
        side: Side::Decoder(|| results(decoding::data_tag_is_match)),
        bug: "DBRRangeTag is reported as what the address alone says.",
        source: "ITA-DBR-005, ITA-DBR-006",
    },
    Saboteur {
        name: "one-overflow-in-a-cycle",
        side: Side::Decoder(|| results(decoding::one_overflow_in_a_cycle)),
        bug: "Of two counters that overflow in one cycle only the first is reported.",
        source: "ITA-OVF-007; a search for the first bit of PMC[0]",
    },
    Saboteur {
        name: "lines-of-64-bytes",
        side: Side::Decoder(|| results(decoding::lines_of_64_bytes)),
        bug: "The address of a captured line is aligned to 64 bytes.",
        source: "ITA-EAR-005; later processors have such lines",
    },
    Saboteur {
        name: "latency-of-11-bits",
        side: Side::Decoder(|| results(decoding::latency_of_11_bits)),
        bug: "The top bit of a captured latency is dropped.",
        source: "ITA-EAR-016",
    },
    Saboteur {
        name: "levels-swapped",
        side: Side::Decoder(|| results(decoding::levels_swapped)),
        bug: "Captured levels 1 and 2, second-level TLB and walker, change places.",
        source: "ITA-EAR-013",
    },
    Saboteur {
        name: "record-that-is-none",
        side: Side::Decoder(|| results(decoding::record_that_is_none)),
        bug: "Instruction event address registers with v = 0 are reported as a record.",
        source: "ITA-DEC-008; a consumer that looks at the fields alone",
    },
    Saboteur {
        name: "first-miss-kept",
        side: Side::Decoder(|| parameters(decoding::first_miss_kept)),
        bug: "Event address registers keep the first miss.",
        source: "ITA-EAR-019",
    },
    Saboteur {
        name: "latency-wraps",
        side: Side::Decoder(|| parameters(decoding::latency_wraps)),
        bug: "Latencies of more than 12 bits are recorded modulo 4096.",
        source: "ITA-EAR-016",
    },
    Saboteur {
        name: "latency-threshold-exceeded",
        side: Side::Decoder(|| parameters(decoding::threshold_exceeded)),
        bug: "A miss whose latency equals the threshold is not captured.",
        source: "ITA-EAR-002; `>` for `>=`",
    },
    Saboteur {
        name: "low-address-bits-ignored",
        side: Side::Decoder(|| parameters(decoding::low_address_bits_ignored)),
        bug: "Bits {3:0} of instruction breakpoint addresses are not compared.",
        source: "ITA-IBR-017; the address of a bundle has none",
    },
    Saboteur {
        name: "long-syllable-never-matches",
        side: Side::Decoder(|| parameters(decoding::long_syllable_never_matches)),
        bug: "The long syllable of an MLX bundle matches no opcode.",
        source: "ITA-OPC-017; a type that mifb has no bit for",
    },
    Saboteur {
        name: "counts-up-to-the-overflow",
        side: Side::Decoder(|| parameters(decoding::counts_up_to_the_overflow)),
        bug: "In the cycle that freezes, counters after the one that overflowed do not count.",
        source: "ITA-OVF-013; freezing inside the loop over counters",
    },
    Saboteur {
        name: "data-misses-qualified-by-opcode",
        side: Side::Decoder(|| parameters(decoding::data_misses_qualified_by_opcode)),
        bug: "A data miss is captured wherever its address is.",
        source: "ITA-EAR-021",
    },
    Saboteur {
        name: "type-bits-reversed",
        side: Side::Decoder(|| believing(decoding::TYPE_BITS_REVERSED)),
        bug: "Syllable types of PMC[8] and PMC[9] are read in reverse: {60} is m, {63} is b.",
        source: "ITA-OPC-005, ITA-OPC-011; the field is called mifb",
    },
    Saboteur {
        name: "region-is-sign",
        side: Side::Decoder(|| believing(decoding::REGION_IS_SIGN)),
        bug: "The region number of a breakpoint address is taken for copies of its bit 60.",
        source: "ITA-IBR-005, ITA-DBR-004; other processors extend the sign up to bit 63",
    },
    Saboteur {
        name: "es-of-eight-bits",
        side: Side::Decoder(|| believing(decoding::ES_OF_EIGHT_BITS)),
        bug: "Bit 15 of PMC[4] to PMC[7] belongs to es, so that no event is selected.",
        source: "ITA-CNT-009; the architecture has eight bits there",
    },
    Saboteur {
        name: "masked-interrupts-are-raised",
        side: Side::Decoder(|| believing(decoding::MASKED_INTERRUPTS)),
        bug: "PMV.m = 1 masks no interrupt.",
        source: "ITA-OVF-011; vectors alone are looked at",
    },
    Saboteur {
        name: "ia32-code-has-opcode-tags",
        side: Side::Decoder(|| results(decoding::ia32_code_has_opcode_tags)),
        bug: "IA-32 instructions with IBRRangeTag are reported with both opcode tags.",
        source: "ITA-OPC-012, ITA-QUA-006; with ta = 1 both instruction sets count",
    },
    Saboteur {
        name: "debugging-overrules-ta",
        side: Side::Decoder(|| results(decoding::debugging_overrules_ta)),
        bug: "PSR.db = 1 or an x bit removes all tags although ta = 1.",
        source: "ITA-IBR-008; a parenthesis in the wrong place",
    },
    Saboteur {
        name: "wrapped-counters-begin-at-0",
        side: Side::Decoder(|| results(decoding::wrapped_counters_begin_at_0)),
        bug: "A counter that overflows is reported as 0, whatever it was incremented by.",
        source: "ITA-OVF-006; most increments are 1",
    },
    Saboteur {
        name: "overflows-need-oi",
        side: Side::Decoder(|| results(decoding::overflows_need_oi)),
        bug: "Overflows of counters with oi = 0 are not reported.",
        source: "ITA-OVF-001; oi is taken for what enables overflows",
    },
    Saboteur {
        name: "threshold-of-the-maximum-counts",
        side: Side::Decoder(|| results(decoding::threshold_of_the_maximum_counts)),
        bug: "A threshold that equals the most occurrences in a cycle gives no warning that nothing is counted.",
        source: "ITA-CNT-007; a check with `>` for `>=`",
    },
    Saboteur {
        name: "targets-and-paths-swapped",
        side: Side::Decoder(|| results(decoding::targets_and_paths_swapped)),
        bug: "ptm and ppm of PMC[12] change places.",
        source: "ITA-BTB-001, ITA-REG-018; two fields of the same width side by side",
    },
    Saboteur {
        name: "zeroed-data-pairs-match-nothing",
        side: Side::Decoder(|| results(data_ranges::zeroed_pairs_match_nothing)),
        bug: "A pair of data breakpoint registers with address 0 and mask 0 is reported to match nothing.",
        source: "ITA-DBR-010; Linux leaves unused pairs so, and instruction pairs of zeros match nothing",
    },
    Saboteur {
        name: "prefetches-are-not-tagged",
        side: Side::Decoder(|| results(data_ranges::prefetches_are_not_tagged)),
        bug: "lfetch is reported without DBRRangeTag.",
        source: "ITA-DBR-007; it neither loads nor stores a register",
    },
    Saboteur {
        name: "walks-pass-with-pt",
        side: Side::Decoder(|| results(data_ranges::walks_pass_with_pt)),
        bug: "With pt = 1, accesses of the walker and of the register stack engine are reported as tagged.",
        source: "ITA-DBR-008; with pt = 0 they need no tag of their instruction",
    },
    Saboteur {
        name: "squashed-instructions-do-not-retire",
        side: Side::Encoder(|| seeing(encoding::squashed_do_not_retire)),
        bug: "Instructions whose predicate is 0 are not counted as retired.",
        source: "ITA-CNT-013; they do nothing",
    },
    Saboteur {
        name: "wrong-paths-retire",
        side: Side::Encoder(|| seeing(encoding::wrong_paths_retire)),
        bug: "Instructions on a wrong path are counted as retired.",
        source: "ITA-CNT-013; counting at issue",
    },
    Saboteur {
        name: "syllables-of-40-bits",
        side: Side::Encoder(|| seeing(encoding::syllables_of_40_bits)),
        bug: "Bit 40 of a syllable is taken for 0 when it is matched.",
        source: "ITA-OPC-002; it is the top bit of the major opcode",
    },
    Saboteur {
        name: "sign-of-ip-in-bit-60",
        side: Side::Encoder(|| seeing(encoding::sign_of_ip_in_bit_60)),
        bug: "Bit 60 of an IP stands for its bit 50 too.",
        source: "ITA-IBR-006; both are the same wherever code can be",
    },
    Saboteur {
        name: "counters-of-31-bits",
        side: Side::Encoder(|| seeing(encoding::counters_of_31_bits)),
        bug: "Bit 31 of what software writes to a counter is not stored.",
        source: "ITA-CNT-002; some processors do have 31 bits and an overflow bit",
    },
    Saboteur {
        name: "counters-without-sign",
        side: Side::Encoder(|| logging(encoding::counters_without_sign)),
        bug: "Counters are read with zeros in {63:32} whatever bit 31 is.",
        source: "ITA-CNT-001; the counter is unsigned, its register is not",
    },
    Saboteur {
        name: "walker-reads-are-stores",
        side: Side::Encoder(|| seeing(encoding::walker_reads_are_stores)),
        bug: "Accesses of the walker and of the register stack engine need the tag of their instruction.",
        source: "ITA-DBR-009",
    },
    Saboteur {
        name: "unfreezing-clears-overflows",
        side: Side::Encoder(|| seeing(encoding::unfreezing_clears_overflows)),
        bug: "Clearing PMC[0].fr also clears the overflow bits.",
        source: "ITA-OVF-010, ITA-OVF-012; drivers write 0, so the bug goes unnoticed",
    },
    Saboteur {
        name: "key-of-adjacent-bits",
        side: Side::Encoder(|| seeing(encoding::key_of_adjacent_bits)),
        bug: "The 27 bits that are matched are taken for the upper ones of the syllable, {40:14}.",
        source: "ITA-OPC-001, ITA-OPC-013; the fields match and mask have no gap",
    },
    Saboteur {
        name: "tag-events-swapped",
        side: Side::Encoder(|| seeing(encoding::tag_events_swapped)),
        bug: "Of the tagged retired instructions, umask 2 counts those of PMC[8] and umask 3 those of PMC[9].",
        source: "ITA-CNT-011; the other order is that of the registers",
    },
    Saboteur {
        name: "no-threshold-captures-all",
        side: Side::Encoder(|| seeing(encoding::no_threshold_captures_all)),
        bug: "In cache mode, umask 15 of PMC[10] and PMC[11] captures misses of 4 clocks or more.",
        source: "ITA-EAR-003, ITA-EAR-010; the name LAT_NONE in libpfm",
    },
    Saboteur {
        name: "levels-from-bit-0",
        side: Side::Encoder(|| seeing(encoding::levels_from_bit_0)),
        bug: "In TLB mode, bits 0 to 2 of umask of PMC[11] select levels 1 to 3, and bit 3 none.",
        source: "ITA-EAR-012; level n is at bit n, not at bit n - 1",
    },
    Saboteur {
        name: "undefined-registers-read-as-0",
        side: Side::Encoder(|| logging(encoding::undefined_reads_as_0)),
        bug: "Registers whose contents are undefined are logged as read with the value 0.",
        source: "ITA-EAR-017, ITA-DEC-006; a log without a mark for undefined values",
    },
];
