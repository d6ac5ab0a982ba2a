//! Wrong decoders and encoders of RISC-V E-Trace.

mod decoding;
mod encoding;
mod layers;
mod version_205;

use traceproof_vectors::riscv_etrace::RiscvEtrace;

use crate::family::{Saboteur, Saboteurs, Side};
use crate::saboteurs::decoders::{bytes, parameters, program, results};
use crate::saboteurs::encoders::{configuration, steps};
use layers::{flow_parameters, following, reading};

/// The table, and what its rows are made of, without a bug.
pub(super) const SABOTEURS: Saboteurs<RiscvEtrace> =
    Saboteurs { table: TABLE, harmless: &[Side::Decoder(|| reading(|_| Box::new(|packet| packet)))] };

const TABLE: &[Saboteur<RiscvEtrace>] = &[
    Saboteur {
        name: "thirty-first-branch-taken",
        side: Side::Decoder(|| reading(decoding::thirty_first_branch_taken)),
        bug: "The last outcome of a full branch map is read as taken.",
        source: "RVET-PKT-032; 31 outcomes shifted as `(1 << 30) - 1`",
    },
    Saboteur {
        name: "difference-without-sign",
        side: Side::Decoder(|| reading(decoding::difference_without_sign)),
        bug: "Negative address differences are filled with zeros above the bits that travelled.",
        source: "RVET-PKT-003; the sign is that of the last byte received, not of a field",
    },
    Saboteur {
        name: "shift-of-one-for-every-address",
        side: Side::Decoder(|| reading(decoding::shift_of_one)),
        bug: "Addresses are shifted by 1 whatever iaddress_lsb_p is.",
        source: "discovery attribute iaddress_lsb_p; 1 is what nearly every hart has",
    },
    Saboteur {
        name: "time-of-32-bits",
        side: Side::Decoder(|| reading(decoding::time_of_32_bits)),
        bug: "Only 32 bits of the time are kept.",
        source: "RVET-PKT-011 (ET 7.2), field `time`; the C type `unsigned long` on some hosts",
    },
    Saboteur {
        name: "ecause-of-four-bits",
        side: Side::Decoder(|| reading(decoding::ecause_of_four_bits)),
        bug: "Only four bits of ecause are kept.",
        source: "RVET-PKT-016 (ET 7.3), ecause_width_p; the causes of the base architecture fit four bits",
    },
    Saboteur {
        name: "cache-index-one-bit-short",
        side: Side::Decoder(|| reading(decoding::cache_index_one_bit_short)),
        bug: "The top bit of a jump target cache index is dropped.",
        source: "RVET-PKT-042; a width that is the exponent of a size, not a size",
    },
    Saboteur {
        name: "updiscon-ignored",
        side: Side::Decoder(|| following(decoding::updiscon_ignored)),
        bug: "The updiscon flag is read and then ignored.",
        source: "RVET-PKT-026 (ET 7.6.2); it matters only where a loop makes two arrivals possible",
    },
    Saboteur {
        name: "notify-ignored",
        side: Side::Decoder(|| following(decoding::notify_ignored)),
        bug: "The notify flag is read and then ignored.",
        source: "RVET-DEC-015 (ET 7.6.1); the flag selects the first arrival",
    },
    Saboteur {
        name: "irreport-ignored",
        side: Side::Decoder(|| following(decoding::irreport_ignored)),
        bug: "The irreport flag is read and then ignored.",
        source: "RVET-PKT-027 (ET 7.6.3); it matters only where a return may be met more than once",
    },
    Saboteur {
        name: "ended-ntr-is-ended-rep",
        side: Side::Decoder(|| following(decoding::ended_ntr_is_ended_rep)),
        bug: "The end `ended_ntr` is followed like `ended_rep`.",
        source: "RVET-PKT-022 (ET 7.5); both report that tracing ended",
    },
    Saboteur {
        name: "base-stale-after-a-start",
        side: Side::Decoder(|| following(decoding::base_stale_after_a_start)),
        bug: "The base of differences keeps its value from before a start packet.",
        source: "RVET-DEC-027; the base is set by the code for formats 1 and 2 only",
    },
    Saboteur {
        name: "resynchronisation-starts-anew",
        side: Side::Decoder(|| following(decoding::resynchronisation_starts_anew)),
        bug: "A start packet in the running trace does not report what retired up to it.",
        source: "ET 11, resynchronisation; start packets handled alike, first or not",
    },
    Saboteur {
        name: "branch-bit-of-a-start-ignored",
        side: Side::Decoder(|| following(decoding::branch_at_a_start_ignored)),
        bug: "The branch bit of a start packet is not taken for the outcome of the branch there.",
        source: "RVET-PKT-011 (ET 7.2.1)",
    },
    Saboteur {
        name: "trap-at-its-handler-is-a-start",
        side: Side::Decoder(|| following(decoding::handler_is_a_start)),
        bug: "A trap packet whose address is the handler is followed without its cause: as a start packet.",
        source: "RVET-PKT-016 (ET 7.3), thaddr; the two packets look alike up to the address",
    },
    Saboteur {
        name: "return-stack-of-half-the-depth",
        side: Side::Decoder(|| flow_parameters(decoding::return_stack_of_half_the_depth)),
        bug: "The return stack, or the call counter, is half as deep as the parameters say.",
        source: "discovery attributes return_stack_size_p and call_counter_size_p are exponents",
    },
    Saboteur {
        name: "predictor-of-half-the-size",
        side: Side::Decoder(|| flow_parameters(decoding::predictor_of_half_the_size)),
        bug: "The branch predictor has half as many entries as the parameters say.",
        source: "discovery attribute bpred_size_p is an exponent",
    },
    Saboteur {
        name: "vectors-without-offset",
        side: Side::Decoder(|| flow_parameters(decoding::vectors_without_offset)),
        bug: "In implicit exception mode, vectored interrupts go to the base of the vectors.",
        source: "ET 2.1.3, implicit exception mode; mtvec read as an address",
    },
    Saboteur {
        name: "jal-to-t0-is-no-call",
        side: Side::Decoder(|| program(decoding::alternate_link_register_is_none)),
        bug: "Calls that link to x5 do not go to the return stack.",
        source: "RISC-V unprivileged specification, return-address stack hints: x5 is a link register, too",
    },
    Saboteur {
        name: "interrupt-flag-inverted",
        side: Side::Decoder(|| results(decoding::interrupt_flag_inverted)),
        bug: "Interrupts are reported as exceptions and the other way round.",
        source: "RVET-PKT-016 (ET 7.3), field `interrupt`; mcause has the bit at the other end",
    },
    Saboteur {
        name: "every-context-is-precise",
        side: Side::Decoder(|| results(decoding::every_context_is_precise)),
        bug: "A context packet is reported as if it had a position in the flow.",
        source: "RVET-DEC-021 (ET 7.4)",
    },
    Saboteur {
        name: "trace-lost-is-an-end",
        side: Side::Decoder(|| results(decoding::trace_lost_is_an_end)),
        bug: "Lost packets are reported like an ordinary end.",
        source: "RVET-PKT-022 (ET 7.5), qual_status",
    },
    Saboteur {
        name: "every-source-is-followed",
        side: Side::Decoder(|| bytes(decoding::every_source_is_followed)),
        bug: "srcID is ignored: packets of every source are accepted.",
        source: "RVET-ENCAP-007; a tool that was tried with one hart only",
    },
    Saboteur {
        name: "length-of-four-bits",
        side: Side::Decoder(|| bytes(decoding::length_of_four_bits)),
        bug: "Bit 4 of the length of a packet is taken for a flow bit.",
        source: "RVET-ENCAP-003 (EN 2.1.1); few packets have 16 bytes or more",
    },
    Saboteur {
        name: "first-options-swapped",
        side: Side::Decoder(|| parameters(decoding::first_options_swapped)),
        bug: "The first two option bits of a support packet change places.",
        source: "ET 7.5, ioptions; their order is the implementation's own",
    },
    Saboteur {
        name: "response-to-the-latest-request",
        side: Side::Decoder(|| results(decoding::response_to_the_latest_request)),
        bug: "The data of a split load go to the address of the latest request instead of that with its lrid.",
        source: "ET 8, lrid; right as long as one load is outstanding",
    },
    Saboteur {
        name: "data-of-32-bits",
        side: Side::Decoder(|| results(decoding::data_of_32_bits)),
        bug: "Only 32 bits of loaded and stored values are kept.",
        source: "ET 8.1.3; dsize_width_p and data_width_p",
    },
    Saboteur {
        name: "bus-error-loads-zero",
        side: Side::Decoder(|| results(decoding::bus_error_loads_zero)),
        bug: "The error response of a split load is reported as the value 0.",
        source: "ET 8, lresp; a response without data",
    },
    Saboteur {
        name: "notify-not-sent",
        side: Side::Encoder(|| steps(encoding::notify_not_sent)),
        bug: "The notify trigger sends no packet.",
        source: "RVET-ENC-036 (ET 4.2, trigger[2+])",
    },
    Saboteur {
        name: "sijump-not-seen",
        side: Side::Encoder(|| steps(encoding::sijump_ignored)),
        bug: "Sequentially inferable jumps are reported although the mode is on.",
        source: "RVET-ENC-051 (ET 4.2, sijump)",
    },
    Saboteur {
        name: "privilege-one-cycle-late",
        side: Side::Encoder(|| steps(encoding::privilege_one_cycle_late)),
        bug: "The privilege level is that of the cycle before.",
        source: "RVET-ENC-026 (ET 4.2, priv); a register too many between hart and encoder",
    },
    Saboteur {
        name: "trace-off-ignored",
        side: Side::Encoder(|| steps(encoding::trace_off_ignored)),
        bug: "The trace-off trigger does nothing.",
        source: "RVET-ENC-048 (ET 4.2, trigger[1])",
    },
    Saboteur {
        name: "halt-not-seen",
        side: Side::Encoder(|| steps(encoding::halt_not_seen)),
        bug: "Tracing goes on while the hart is halted.",
        source: "RVET-ENC-047 (ET 4.2, halted)",
    },
    Saboteur {
        name: "encoder-predictor-of-half-the-size",
        side: Side::Encoder(|| {
            configuration(|parameters, _| decoding::predictor_of_half_the_size(parameters))
        }),
        bug: "The branch predictor of the encoder has half as many entries as it says.",
        source: "discovery attribute bpred_size_p is an exponent",
    },
    Saboteur {
        name: "one-load-outstanding-at-most",
        side: Side::Encoder(|| steps(encoding::late_response_dropped)),
        bug: "Of two outstanding split loads only the first one to answer is reported.",
        source: "ET 8, lrid; one register for the outstanding request",
    },
    Saboteur {
        name: "standard-modes-in-the-old-order",
        side: Side::Decoder(|| reading(version_205::modes_in_the_old_order)),
        bug: "The modes of a standard support packet are read in the order of the older reference layout.",
        source: "RVET5-PKT-003; both packets are format 3 subformat 3",
    },
    Saboteur {
        name: "time-width-of-two-bits",
        side: Side::Decoder(|| reading(version_205::time_width_of_two_bits)),
        bug: "Only two bits of time_width are kept.",
        source: "RVET5-PKT-006; versions 0.8 and 0.81 of the draft had two",
    },
    Saboteur {
        name: "call-counter-size-of-three-bits",
        side: Side::Decoder(|| reading(version_205::call_counter_size_of_three_bits)),
        bug: "Only three bits of call_counter_size are kept.",
        source: "RVET5-PKT-001; the sizes on both sides of it have three",
    },
    Saboteur {
        name: "vendor-bits-of-one-byte",
        side: Side::Decoder(|| reading(version_205::vendor_bits_of_one_byte)),
        bug: "Only eight vendor bits are kept.",
        source: "RVET5-PKT-009; the number is the vendor's own",
    },
    Saboteur {
        name: "irets-as-wide-as-irdepth",
        side: Side::Decoder(|| reading(version_205::irets_as_wide_as_irdepth)),
        bug: "Only as many bits of irets are kept as irdepth would have.",
        source: "RVET5-PKT-012; the field in the same place has a width from the sizes",
    },
    Saboteur {
        name: "irets-is-signed",
        side: Side::Decoder(|| following(version_205::irets_is_signed)),
        bug: "Counts of 128 and more are taken for negative ones: for none.",
        source: "RVET5-PKT-014; the C type `char` of some compilers",
    },
    Saboteur {
        name: "count-of-none-is-no-report",
        side: Side::Decoder(|| following(version_205::count_of_none_is_no_report)),
        bug: "The irreport flag is ignored where irets is 0.",
        source: "RVET5-DEC-006; a count of 0 looks like no count",
    },
    Saboteur {
        name: "failed-return-is-counted",
        side: Side::Decoder(|| following(version_205::failed_return_is_counted)),
        bug: "The return whose target is reported is taken to be among those that irets counts.",
        source: "RVET5-ENC-004; the pseudo-code counts on arrival",
    },
    Saboteur {
        name: "everything-kept-without-resynchronisation",
        side: Side::Decoder(|| flow_parameters(version_205::everything_kept_without_resynchronisation)),
        bug: "While resynchronisation is disabled, return stack, predictor and cache survive start packets.",
        source: "RVET5-ENC-015; the pseudo-code keeps stack and predictor",
    },
    Saboteur {
        name: "counter-beside-a-stack-ignored",
        side: Side::Decoder(|| flow_parameters(version_205::counter_beside_a_stack_ignored)),
        bug: "Of a return stack and a call counter only the stack is there: repeated calls take entries.",
        source: "RVET5-ENC-013; in version 2.0 an encoder has one of them",
    },
    Saboteur {
        name: "irets-needs-a-stack",
        side: Side::Decoder(|| parameters(version_205::irets_needs_a_stack)),
        bug: "Packets of an encoder without return stack and call counter are read without irets.",
        source: "RVET5-PKT-012; irdepth has no bits there",
    },
    Saboteur {
        name: "data-format-always-two-bits",
        side: Side::Decoder(|| parameters(version_205::format_always_two_bits)),
        bug: "Data packets of the MMA/CAS extension always have a format of two bits.",
        source: "RVET5-PKT-016; the tables show two",
    },
    Saboteur {
        name: "multi-access-is-plain",
        side: Side::Decoder(|| results(version_205::multi_access_is_plain)),
        bug: "Accesses of multi-memory access instructions are reported like others.",
        source: "RVET5-ENC-016; the low format bit",
    },
    Saboteur {
        name: "failed-comparison-is-a-swap",
        side: Side::Decoder(|| results(version_205::failed_comparison_is_a_swap)),
        bug: "A compare-and-swap that failed is reported like one that succeeded: as a swap.",
        source: "RVET5-PKT-019 and RVET5-ENC-018",
    },
    Saboteur {
        name: "every-data-phase-is-of-a-load",
        side: Side::Decoder(|| results(version_205::every_data_phase_is_of_a_load)),
        bug: "The data of split atomics are reported as those of loads.",
        source: "RVET5-DEC-017; both come in the same packet",
    },
    Saboteur {
        name: "operand-of-a-request-is-whole",
        side: Side::Decoder(|| results(version_205::operand_of_a_request_is_whole)),
        bug: "The operand of a split atomic request is taken as it travels, whatever diff is.",
        source: "RVET5-PKT-020; older packets never compress it there",
    },
    Saboteur {
        name: "resynchronisation-never-disabled",
        side: Side::Encoder(|| configuration(version_205::resynchronisation_never_disabled)),
        bug: "resync_disabled is 0 although there is no periodic resynchronisation.",
        source: "RVET5-PKT-004; a control field on the other side of the encoder",
    },
    Saboteur {
        name: "multi-access-sent-as-plain",
        side: Side::Encoder(|| steps(version_205::multi_access_sent_as_plain)),
        bug: "Accesses of multi-memory access instructions are sent like others.",
        source: "RVET5-ENC-016; dtype 2 and 3 of the interface",
    },
    Saboteur {
        name: "failed-comparison-sent-as-a-swap",
        side: Side::Encoder(|| steps(version_205::failed_comparison_sent_as_a_swap)),
        bug: "A compare-and-swap that failed is sent like one that succeeded: as a swap.",
        source: "RVET5-PKT-019; dtype 7 of the interface",
    },
];
