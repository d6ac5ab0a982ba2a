//! Bugs in reading packets.

use traceproof_vectors::arm_pft::ArmPft;

use crate::arm_pft::saboteurs::{layers, reading, reporting};
use crate::family::{Saboteur, Side};
use crate::saboteurs::decoders::{bytes, parameters, results};

pub(super) const ROWS: &[Saboteur<ArmPft>] = &[
    Saboteur {
        name: "atoms-newest-first",
        side: Side::Decoder(|| layers::with(reading::atoms_newest_first)),
        bug: "Atoms of one packet are taken newest first.",
        source: "PFT-PKT-022; ptm2human prints them in this order",
    },
    Saboteur {
        name: "fifth-atom-always-executed",
        side: Side::Decoder(|| layers::with(reading::fifth_atom_executed)),
        bug: "The oldest of five atoms is taken for E.",
        source: "PFT-PKT-020; the mask of the marker for four atoms hides it",
    },
    Saboteur {
        name: "two-byte-addresses-one-bit-short",
        side: Side::Decoder(|| layers::with(reading::second_byte_of_five_bits)),
        bug: "The top bit of a branch address of two bytes is dropped.",
        source: "PFT-PKT-034, PFT-PKT-041; the last byte has an announcement besides six address bits",
    },
    Saboteur {
        name: "four-byte-addresses-one-bit-short",
        side: Side::Decoder(|| layers::with(reading::fourth_byte_of_five_bits)),
        bug: "The top bit of a branch address of four bytes is dropped.",
        source: "PFT-PKT-034, PFT-PKT-041; most programs never need this bit",
    },
    Saboteur {
        name: "thumb-addresses-of-31-bits",
        side: Side::Decoder(|| layers::with(reading::thumb_without_bit_31)),
        bug: "Bit 31 of a Thumb address of five bytes is dropped.",
        source: "PFT-PKT-038, PFT-PKT-073; the mask of ARM state, whose fifth byte has one bit less",
    },
    Saboteur {
        name: "jazelle-is-thumb",
        side: Side::Decoder(|| layers::with(reading::jazelle_is_thumb)),
        bug: "A branch into Jazelle state is taken for one into Thumb state.",
        source: "PFT-PKT-038; a fifth byte that is compared with two patterns only",
    },
    Saboteur {
        name: "information-after-five-bytes-only",
        side: Side::Decoder(|| layers::with(reading::information_after_five_bytes_only)),
        bug: "Exception information is expected after an address of five bytes only.",
        source: "PFT-PKT-034, PFT-PKT-035; ptm2human does so and loses the packet boundary",
    },
    Saboteur {
        name: "exception-numbers-of-four-bits",
        side: Side::Decoder(|| layers::with(reading::exception_number_of_four_bits)),
        bug: "The exception number of the second information byte is dropped.",
        source: "PFT-PKT-044, PFT-PKT-051; no exception of the A and R profiles has one",
    },
    Saboteur {
        name: "exception-numbers-of-eight-bits",
        side: Side::Decoder(|| layers::with(reading::exception_number_of_eight_bits)),
        bug: "Bit 8 of an exception number is dropped.",
        source: "PFT-PKT-044, PFT-DEC-064; the C type `uint8_t`",
    },
    Saboteur {
        name: "exception-number-keeps-high-bits",
        side: Side::Decoder(|| layers::with(reading::exception_without_byte_1_keeps_the_number)),
        bug: "Without the second information byte Exception[8:4] is that of the exception before.",
        source: "PFT-PKT-045; Hyp does stay, and has the same byte",
    },
    Saboteur {
        name: "alt-isa-of-branches-ignored",
        side: Side::Decoder(|| layers::with(reading::alt_isa_of_branches_ignored)),
        bug: "AltISA of a branch address is ignored.",
        source: "PFT-PKT-043; the last of ThumbEE was seen years ago",
    },
    Saboteur {
        name: "alt-isa-of-syncs-ignored",
        side: Side::Decoder(|| layers::with(reading::alt_isa_of_syncs_ignored)),
        bug: "AltISA of an I-sync is ignored.",
        source: "PFT-PKT-012; ptm2human does so",
    },
    Saboteur {
        name: "hyp-of-syncs-ignored",
        side: Side::Decoder(|| layers::with(reading::hyp_of_syncs_ignored)),
        bug: "The Hyp bit of an I-sync is ignored.",
        source: "PFT-PKT-011, PFT-DEC-076; PFTv1.0 has no such bit",
    },
    Saboteur {
        name: "hyp-of-branches-ignored",
        side: Side::Decoder(|| layers::with(reading::hyp_of_branches_ignored)),
        bug: "The Hyp bit of a branch address is ignored.",
        source: "PFT-PKT-044; PFTv1.0 has no such bit",
    },
    Saboteur {
        name: "security-needs-an-exception",
        side: Side::Decoder(|| layers::with(reading::security_without_exception_ignored)),
        bug: "NS is ignored where the exception field is 0.",
        source: "PFT-PKT-047, PFT-DEC-029; return to Non-secure state is the only frequent use",
    },
    Saboteur {
        name: "second-information-byte-read-twice",
        side: Side::Decoder(|| layers::with(reading::second_information_byte_read_twice)),
        bug: "The second information byte is taken for the header of the next packet, too.",
        source: "PFT-PKT-044; ptm2human does not advance over it",
    },
    Saboteur {
        name: "thumb-syncs-at-words",
        side: Side::Decoder(|| layers::with(reading::thumb_syncs_at_words)),
        bug: "Bit 1 of the address of a Thumb I-sync is dropped.",
        source: "PFT-PKT-010, PFT-PKT-012; the address is aligned as in ARM state",
    },
    Saboteur {
        name: "debug-exit-is-overflow",
        side: Side::Decoder(|| layers::with(reading::debug_exit_is_overflow)),
        bug: "An I-sync after Debug state is reported like one after an overflow.",
        source: "PFT-PKT-013, PFT-DEC-065; whatever is no start is taken for a gap",
    },
    Saboteur {
        name: "counts-of-four-bytes",
        side: Side::Decoder(|| layers::with(reading::counts_of_four_bytes)),
        bug: "A cycle count ends with its fourth byte.",
        source: "PFT-PKT-027; no capture has counts of 2^25 and more",
    },
    Saboteur {
        name: "counts-continue-by-bit-7",
        side: Side::Decoder(|| layers::with(reading::counts_continue_by_bit_7)),
        bug: "Bit 7 of the first byte of a cycle count is taken for its continuation bit.",
        source: "PFT-PKT-026; all other fields continue by bit 7",
    },
    Saboteur {
        name: "later-count-bytes-one-bit-low",
        side: Side::Decoder(|| layers::with(reading::later_count_bytes_one_bit_low)),
        bug: "From the third byte on a cycle count is shifted by one bit too few.",
        source: "PFT-PKT-027; shifts that start from 3, not from 4",
    },
    Saboteur {
        name: "periodic-syncs-have-counts",
        side: Side::Decoder(|| layers::with(reading::periodic_syncs_have_counts)),
        bug: "A cycle count is expected in periodic I-syncs, too.",
        source: "PFT-PKT-014; only the reason code says that there is none",
    },
    Saboteur {
        name: "updates-have-counts",
        side: Side::Decoder(|| layers::with(reading::updates_have_counts)),
        bug: "A cycle count is expected in waypoint updates.",
        source: "PFT-PKT-032; they are read by the code that reads branch addresses",
    },
    Saboteur {
        name: "exception-returns-have-counts",
        side: Side::Decoder(|| layers::with(reading::exception_returns_have_counts)),
        bug: "A cycle count is expected after an exception return.",
        source: "PFT-PKT-032; other packets of waypoints have one",
    },
    Saboteur {
        name: "context-id-before-the-count",
        side: Side::Decoder(|| layers::with(reading::context_id_before_the_count)),
        bug: "In I-syncs the Context ID is read before the cycle count.",
        source: "PFT-PKT-015; ETMv3 has the count before the address, so that the order is often guessed",
    },
    Saboteur {
        name: "context-ids-in-big-endian",
        side: Side::Decoder(|| layers::with(reading::context_id_in_big_endian)),
        bug: "The bytes of a Context ID are read most significant first.",
        source: "PFT-PKT-057; with one byte it makes no difference",
    },
    Saboteur {
        name: "context-id-packets-of-two-bytes",
        side: Side::Decoder(|| layers::with(reading::context_id_packet_of_two_bytes)),
        bug: "Of Context IDs of four bytes, Context ID packets are taken to have two.",
        source: "PFT-PKT-057, PFT-CFG-001; the size is decoded in two places",
    },
    Saboteur {
        name: "vmid-of-seven-bits",
        side: Side::Decoder(|| layers::with(reading::vmid_of_seven_bits)),
        bug: "Bit 7 of a VMID is dropped.",
        source: "PFT-PKT-058; one reader for all bytes, which takes bit 7 for a continuation bit",
    },
    Saboteur {
        name: "clock-change-ignored",
        side: Side::Decoder(|| layers::with(reading::clock_change_ignored)),
        bug: "R of a timestamp is ignored.",
        source: "PFT-PKT-059; OpenCSD does so",
    },
    Saboteur {
        name: "ninth-timestamp-byte-continues",
        side: Side::Decoder(|| layers::with(reading::ninth_timestamp_byte_continues)),
        bug: "Bit 7 of the ninth byte of a timestamp is taken for a continuation bit.",
        source: "PFT-PKT-062; every byte before it has one",
    },
    Saboteur {
        name: "eighth-timestamp-byte-continues",
        side: Side::Decoder(|| layers::with(reading::eighth_timestamp_byte_continues)),
        bug: "A ninth byte is read after every timestamp of eight bytes.",
        source: "PFT-PKT-070; ptm2human does so",
    },
    Saboteur {
        name: "short-timestamps",
        side: Side::Decoder(|| parameters(reporting::timestamps_end_early)),
        bug: "Timestamps end with their seventh byte whatever ETMCCER[29] reads.",
        source: "PFT-PKT-062, PFT-CFG-005; PFTv1.0 has no other ones",
    },
    Saboteur {
        name: "gray-code-reported",
        side: Side::Decoder(|| results(reporting::gray_code_is_binary)),
        bug: "Timestamps in Gray code are reported as they travel.",
        source: "PFT-PKT-065, PFT-CFG-006; OpenCSD does so",
    },
    Saboteur {
        name: "gray-code-before-merging",
        side: Side::Decoder(|| results(reporting::gray_code_before_merging)),
        bug: "Bits of a timestamp in Gray code are converted before they are merged with the others.",
        source: "PFT-PKT-065, PFT-PKT-063; a base that is kept in binary",
    },
    Saboteur {
        name: "unsent-timestamp-bits-are-zero",
        side: Side::Decoder(|| results(reporting::unsent_timestamp_bits_are_zero)),
        bug: "Bits of a timestamp that did not travel are reported as 0.",
        source: "PFT-PKT-063; ptm2human does so",
    },
    Saboteur {
        name: "more-than-five-zeros-are-no-alignment",
        side: Side::Decoder(|| bytes(reporting::six_zeros_are_no_alignment)),
        bug: "An A-sync with more than five zeros is not recognised.",
        source: "PFT-PKT-004, PFT-ERR-022; hardware sends five",
    },
    Saboteur {
        name: "sixteen-zeros-are-no-alignment",
        side: Side::Decoder(|| bytes(reporting::sixteen_zeros_are_no_alignment)),
        bug: "An A-sync with sixteen or more zeros is not recognised.",
        source: "PFT-PKT-006; OpenCSD reports a bad sequence",
    },
    Saboteur {
        name: "aligned-at-once",
        side: Side::Decoder(|| layers::with(|_, _| Box::new(reading::AlignedAtOnce))),
        bug: "The first byte of a capture is taken for a header.",
        source: "PFT-DEC-001; most captures do begin with an A-sync",
    },
];
