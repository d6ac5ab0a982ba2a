//! Wrong decoders and macrocells of ARM ETM.

mod decoding;
mod encoding;
mod exceptions;
mod layers;

use traceproof_vectors::arm_etm::ArmEtm;

use crate::family::{Saboteur, Saboteurs, Side};
use crate::saboteurs::decoders::{bytes, parameters, program, results};
use crate::saboteurs::encoders::{configuration, steps};
use layers::reading;

/// The table, and what its rows are made of, without a bug.
pub(super) const SABOTEURS: Saboteurs<ArmEtm> =
    Saboteurs { table: TABLE, harmless: &[Side::Decoder(|| reading(|_| Box::new(|packet| packet)))] };

const TABLE: &[Saboteur<ArmEtm>] = &[
    Saboteur {
        name: "tag-bits-of-data-swapped",
        side: Side::Decoder(|| reading(decoding::tag_bits_of_data_swapped)),
        bug: "The two bits of the tag of load miss data change places.",
        source: "ETM2-LM-002; placeholders and data have the tag in different bits of the header",
    },
    Saboteur {
        name: "superseded-miss-revived",
        side: Side::Decoder(|| results(decoding::superseded_miss_revived)),
        bug: "Data whose tag was used again go to the miss that had the tag first.",
        source: "ETM2-LM-025; a queue of misses for each tag instead of one",
    },
    Saboteur {
        name: "data-for-the-oldest-miss",
        side: Side::Decoder(|| results(decoding::data_for_the_oldest_miss)),
        bug: "Data go to the oldest outstanding miss, whatever their tag.",
        source: "ETM2-LM-018; one queue for all misses, right while loads answer in order",
    },
    Saboteur {
        name: "pair-is-two-misses",
        side: Side::Decoder(|| results(decoding::pair_is_two_misses)),
        bug: "The second placeholder of a 64-bit miss is taken for a miss of its own.",
        source: "ETM2-LM-040; the packet itself does not show that it is half of a pair",
    },
    Saboteur {
        name: "ignore-parts-a-pair",
        side: Side::Decoder(|| results(decoding::ignore_parts_a_pair)),
        bug: "An Ignore packet between two placeholders makes two misses of a 64-bit one.",
        source: "ETM3-OOO-006; the latest packet is remembered whatever it was",
    },
    Saboteur {
        name: "misses-forgotten-at-periodic-synchronisation",
        side: Side::Decoder(|| results(decoding::misses_forgotten_at_periodic_synchronisation)),
        bug: "Data that arrive after a periodic synchronisation are ignored.",
        source: "ETM2-LM-055; one routine that starts anew, for every reason",
    },
    Saboteur {
        name: "missing-at-the-end-unreported",
        side: Side::Decoder(|| results(decoding::missing_at_the_end_unreported)),
        bug: "Misses without data at the end of the capture are not reported.",
        source: "ETM2-LM-057; an end of the stream that is not handled",
    },
    Saboteur {
        name: "data-address-base-never-forgotten",
        side: Side::Decoder(|| results(decoding::data_address_base_never_forgotten)),
        bug: "A short data address after a gap is completed with an address from before the gap.",
        source: "ETM2-DA-003, ETM3-SYN-012; stale bases after an overflow are a common bug",
    },
    Saboteur {
        name: "later-words-at-the-first-address",
        side: Side::Decoder(|| results(decoding::later_words_at_the_first_address)),
        bug: "All words of an LSM are reported at the address of the first one.",
        source: "ETM2-ND-011; the address is kept and not counted up",
    },
    Saboteur {
        name: "bytes-of-values-extended",
        side: Side::Decoder(|| results(decoding::bytes_of_values_extended)),
        bug: "Values that travelled in one byte are extended by their sign.",
        source: "ETM3-DAT-002, ETM-GEN-008; the C type `char`",
    },
    Saboteur {
        name: "big-endian-for-one-transfer",
        side: Side::Decoder(|| results(decoding::big_endian_for_one_transfer)),
        bug: "The byte order in a full data address is applied to that transfer only.",
        source: "ETM3-DAT-004; only a full address has the bit",
    },
    Saboteur {
        name: "half-words-are-words",
        side: Side::Decoder(|| program(decoding::half_words_are_words)),
        bug: "ETMv1: half-word loads and stores of ARM state are taken for words.",
        source: "ETM1-DAT-002; the extra load and store instructions have an encoding of their own",
    },
    Saboteur {
        name: "full-p-header-without-its-n",
        side: Side::Decoder(|| reading(decoding::full_p_header_without_its_n)),
        bug: "Of a P-header with 15 E atoms and an N atom the N atom is lost.",
        source: "ETM3-PH-001; a buffer of 15 atoms for a header that can hold 16",
    },
    Saboteur {
        name: "format-2-in-the-other-order",
        side: Side::Decoder(|| reading(decoding::format_2_in_the_other_order)),
        bug: "The two atoms of a format 2 P-header are reported in the other order.",
        source: "ETM3-PH-002; the first one is in the higher bit, unlike everything else",
    },
    Saboteur {
        name: "load-in-progress-not-executed",
        side: Side::Decoder(|| results(decoding::load_in_progress_not_executed)),
        bug: "The data instruction that was in progress at a synchronisation is not reported.",
        source: "ETM2-TFO-021, ETM3-ISY-007; no status and no atom stands for it",
    },
    Saboteur {
        name: "periodic-tfo-implies-nothing",
        side: Side::Decoder(|| results(decoding::periodic_tfo_implies_nothing)),
        bug: "The instruction that a periodic TFO stands for is not reported.",
        source: "ETM2-PS-013; later architectures imply nothing",
    },
    Saboteur {
        name: "overflow-is-trace-enabled",
        side: Side::Decoder(|| results(decoding::overflow_is_trace_enabled)),
        bug: "A restart after an overflow is reported like tracing that was enabled.",
        source: "ETM2-TFO-010, ETM3-ISY-004; a gap that is not reported",
    },
    Saboteur {
        name: "phantoms-are-taken",
        side: Side::Decoder(|| results(decoding::phantoms_are_taken)),
        bug: "Every folded branch is reported as taken.",
        source: "ETM2-PS-004; bit 2 of PIPESTAT decides, in these statuses only",
    },
    Saboteur {
        name: "failed-condition-executed",
        side: Side::Decoder(|| results(decoding::failed_condition_executed)),
        bug: "ETMv1: IN is reported like IE.",
        source: "ETM1-PS-001; both pass one instruction",
    },
    Saboteur {
        name: "offset-of-two-bits",
        side: Side::Decoder(|| bytes(decoding::offset_of_two_bits)),
        bug: "ETMv1: bits [3:2] of the APO are taken for 0.",
        source: "ETM1-APO-001; more than three branch addresses seldom wait",
    },
    Saboteur {
        name: "one-trigger-only",
        side: Side::Decoder(|| results(decoding::one_trigger_only)),
        bug: "Every trigger but the first is lost.",
        source: "ETM2-TRG-001; trace ports of old analysers could trigger once",
    },
    Saboteur {
        name: "no-fifo-latency",
        side: Side::Decoder(|| parameters(decoding::no_fifo_latency)),
        bug: "The byte of the status' own cycle is read where the FIFO takes a cycle.",
        source: "`fifo_latency`; which of the two a macrocell does is not in the trace",
    },
    Saboteur {
        name: "context-id-of-two-bytes",
        side: Side::Decoder(|| reading(decoding::context_id_of_two_bytes)),
        bug: "Only two bytes of a Context ID are kept.",
        source: "ETM2-CTX-001, ETM3-MISC-001; systems seldom have so many processes",
    },
    Saboteur {
        name: "cancel-ignored",
        side: Side::Decoder(|| reading(decoding::cancel_ignored)),
        bug: "The cancel bit of an exception is dropped.",
        source: "ETM3-EXC-008; the instruction that an interrupt cancelled counts as executed",
    },
    Saboteur {
        name: "exception-number-of-four-bits",
        side: Side::Decoder(|| reading(decoding::exception_number_of_four_bits)),
        bug: "The upper bits of an exception number are dropped.",
        source: "ETM3-EXC-011; only the M profile has numbers above 15",
    },
    Saboteur {
        name: "thumb-ee-is-thumb",
        side: Side::Decoder(|| results(decoding::thumb_ee_is_thumb)),
        bug: "ThumbEE state is reported as Thumb state.",
        source: "ETM3-ISY-005, ETM3-EXC-010; AltISA is ignored",
    },
    Saboteur {
        name: "blx-stays-in-arm-state",
        side: Side::Decoder(|| program(decoding::blx_stays_in_arm_state)),
        bug: "BLX of a label is followed like BL.",
        source: "ETM3-BR-014 and the instruction set; a direct branch that changes the state, and has bit 1 of its target in the opcode",
    },
    Saboteur {
        name: "original-branches-only",
        side: Side::Decoder(|| parameters(decoding::original_branches)),
        bug: "Branch packets are read by the original scheme whatever ETMIDR says.",
        source: "ETM3-BR-007; a scheme that only the newest macrocells have",
    },
    Saboteur {
        name: "thumb32-is-one-atom",
        side: Side::Decoder(|| parameters(decoding::thumb32_is_one_atom)),
        bug: "A 32-bit Thumb instruction takes one atom whatever ETMIDR says.",
        source: "ETMIDR[18], `thumb32_single`; most macrocells count it once",
    },
    Saboteur {
        name: "six-zeros-are-no-alignment",
        side: Side::Decoder(|| bytes(decoding::six_zeros_are_no_alignment)),
        bug: "An A-sync with more than five zeros is not recognised.",
        source: "ETM3-SYN-003; a comparison with the six bytes that are usual",
    },
    Saboteur {
        name: "unknown-gap-is-no-gap",
        side: Side::Decoder(|| results(decoding::unknown_gap_is_no_gap)),
        bug: "A cycle count of 0, which means unknown, is reported as no cycles.",
        source: "ETM3-CC-005; a number that is no number",
    },
    Saboteur {
        name: "timestamps-in-binary",
        side: Side::Decoder(|| parameters(decoding::timestamps_in_binary)),
        bug: "Timestamps in Gray code are reported as they travel.",
        source: "ETM3-TS-006; most macrocells count in binary",
    },
    Saboteur {
        name: "timestamps-of-48-bits",
        side: Side::Decoder(|| parameters(decoding::timestamps_of_48_bits)),
        bug: "Timestamps end with their seventh byte.",
        source: "ETM3-TS-001; 64 bits came later",
    },
    Saboteur {
        name: "vmid-of-four-bits",
        side: Side::Decoder(|| reading(decoding::vmid_of_four_bits)),
        bug: "The upper half of a VMID is dropped.",
        source: "ETM3-MISC-002; a nibble printed with `%x`",
    },
    Saboteur {
        name: "store-failed-ignored",
        side: Side::Decoder(|| results(decoding::store_failed_ignored)),
        bug: "A Store failed packet is read and not reported.",
        source: "ETM3-DAT-010",
    },
    Saboteur {
        name: "data-dropped-while-trace-is-off",
        side: Side::Encoder(|| steps(encoding::data_dropped_while_trace_is_off)),
        bug: "Load miss data that arrive while TraceEnable is low are dropped.",
        source: "ETM2-LM-012; what is true of everything else that arrives then",
    },
    Saboteur {
        name: "words-swapped",
        side: Side::Encoder(|| steps(encoding::words_swapped)),
        bug: "The upper word of a 64-bit transfer is output first.",
        source: "ETM2-ND-008, ETM-GEN-010; the order of the bus",
    },
    Saboteur {
        name: "macrocell-phantoms-are-taken",
        side: Side::Encoder(|| steps(encoding::phantoms_are_taken)),
        bug: "Folded branches that are not taken get a PT status.",
        source: "ETM2-PS-004; what a predictor is right about most of the time",
    },
    Saboteur {
        name: "misses-survive-a-reset",
        side: Side::Encoder(|| steps(encoding::misses_survive_a_reset)),
        bug: "A reset of the processor does not free the tags of its misses.",
        source: "ETM2-LM-029; the trace logic has a reset of its own",
    },
    Saboteur {
        name: "cancel-not-sent",
        side: Side::Encoder(|| steps(encoding::cancel_not_sent)),
        bug: "Exceptions never cancel an instruction.",
        source: "ETM3-EXC-008",
    },
    Saboteur {
        name: "byte-order-not-sent",
        side: Side::Encoder(|| steps(encoding::byte_order_not_sent)),
        bug: "Data addresses always say little-endian.",
        source: "ETM3-DAT-003",
    },
    Saboteur {
        name: "store-failed-not-sent",
        side: Side::Encoder(|| steps(encoding::store_failed_not_sent)),
        bug: "A store-exclusive that fails looks like one that succeeds.",
        source: "ETM3-DAT-010",
    },
    Saboteur {
        name: "period-one-cycle-long",
        side: Side::Encoder(|| configuration(encoding::period_one_cycle_long)),
        bug: "The synchronisation counter counts one cycle too many.",
        source: "ETM2-TFO-016; a counter that is reloaded in the cycle after 0",
    },
    Saboteur {
        name: "fifo-one-byte-short",
        side: Side::Encoder(|| configuration(encoding::fifo_one_byte_short)),
        bug: "The last byte of the FIFO is never used.",
        source: "ETM2-FIFO-001; a ring buffer that distinguishes full from empty by one free place",
    },
    Saboteur {
        name: "vectors-are-branches",
        side: Side::Decoder(|| results(exceptions::vectors_are_branches)),
        bug: "ETMv1, ETMv2: A branch to a vector is reported as a branch only.",
        source: "ETM1-EXC-001, ETM2-EXC-001; no packet says that it is an exception",
    },
    Saboteur {
        name: "possible-exceptions-unreported",
        side: Side::Decoder(|| results(exceptions::possible_exceptions_unreported)),
        bug: "ETMv1, ETMv2: Nothing is reported of a possible exception where HIVECS is not known.",
        source: "ETM1-EXC-007; what is not certain is left out",
    },
    Saboteur {
        name: "low-vectors-only",
        side: Side::Decoder(|| parameters(exceptions::low_vectors_only)),
        bug: "ETMv1, ETMv2: The vectors are expected at address 0 whatever HIVECS is.",
        source: "ETM1-EXC-007; most systems have them there",
    },
    Saboteur {
        name: "interrupted-instruction-executed",
        side: Side::Decoder(|| results(exceptions::interrupted_instruction_executed)),
        bug: "ETMv1: The instruction that an exception interrupts is reported as executed.",
        source: "ETM1-EXC-002; BE means executed for every other branch",
    },
    Saboteur {
        name: "ignored-transfers-unreported",
        side: Side::Decoder(|| results(exceptions::ignored_transfers_unreported)),
        bug: "ETMv1, ETMv2: The transfers of an aborted instruction are not reported as ignored.",
        source: "ETM1-EXC-005, ETM2-EXC-003; data packets that look like any others",
    },
    Saboteur {
        name: "ignored-transfers-not-counted",
        side: Side::Decoder(|| results(exceptions::ignored_transfers_not_counted)),
        bug: "ETMv1: Ignored transfers have no numbers.",
        source: "ETM1-EXC-006; data that are skipped leave the count as it was",
    },
    Saboteur {
        name: "aborts-exchanged",
        side: Side::Decoder(|| results(exceptions::aborts_exchanged)),
        bug: "ETMv1, ETMv2: The vectors of prefetch abort and data abort change places.",
        source: "ETM1-EXC-001; two neighbours in the table",
    },
    Saboteur {
        name: "exception-bit-ignored",
        side: Side::Decoder(|| reading(exceptions::exception_bit_ignored)),
        bug: "ETMv2: The exception bit of a branch address is dropped.",
        source: "ETM2-EXC-002; other branch addresses of five bytes do not have it set",
    },
    Saboteur {
        name: "only-the-bit-takes-back",
        side: Side::Decoder(|| results(exceptions::only_the_bit_takes_back)),
        bug: "ETMv2: An interrupt without the exception bit takes nothing back.",
        source: "ETM2-EXC-005; the bit alone decides about aborts",
    },
    Saboteur {
        name: "every-abort-takes-back",
        side: Side::Decoder(|| results(exceptions::every_abort_takes_back)),
        bug: "ETMv2: A precise data abort takes its instruction back.",
        source: "ETM2-EXC-003; all other aborts do",
    },
    Saboteur {
        name: "taken-back-in-the-cycle-of-the-branch",
        side: Side::Decoder(|| results(exceptions::taken_back_in_the_cycle_of_the_branch)),
        bug: "ETMv2: The instruction that is taken back is expected in the cycle of the branch.",
        source: "ETM2-EXC-006; a branch address in a cycle without instruction is rare",
    },
    Saboteur {
        name: "other-exception-is-reset",
        side: Side::Decoder(|| results(exceptions::other_exception_is_reset)),
        bug: "ETMv3: Code 0 of an exception inside byte 5 is reported as reset.",
        source: "ETM3-EXC-014; the first entry of the table of vectors",
    },
    Saboteur {
        name: "imprecise-aborts-look-precise",
        side: Side::Encoder(|| steps(exceptions::imprecise_aborts_look_precise)),
        bug: "ETMv2: Imprecise data aborts do not set the exception bit.",
        source: "ETM2-EXC-004; one vector for both",
    },
    Saboteur {
        name: "precise-aborts-take-back",
        side: Side::Encoder(|| steps(exceptions::precise_aborts_take_back)),
        bug: "ETMv2: Precise data aborts set the exception bit.",
        source: "ETM2-EXC-003; all other aborts do",
    },
    Saboteur {
        name: "svc-takes-itself-back",
        side: Side::Encoder(|| steps(exceptions::svc_takes_itself_back)),
        bug: "ETMv2: SVC sets the exception bit.",
        source: "ETM2-EXC-005; all other exceptions that are no precise abort do",
    },
    Saboteur {
        name: "interrupts-are-not-shown",
        side: Side::Encoder(|| steps(exceptions::interrupts_are_not_shown)),
        bug: "ETMv1, ETMv2: IRQ and FIQ output no branch address.",
        source: "ETM1-EXC-002, ETM2-EXC-001; no instruction branched",
    },
];
