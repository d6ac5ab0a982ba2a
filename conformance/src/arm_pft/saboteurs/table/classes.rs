//! Bugs in which instructions are waypoints, and where they lead.

use traceproof_vectors::arm_pft::ArmPft;

use crate::arm_pft::saboteurs::{classes, reporting};
use crate::family::{Saboteur, Side};
use crate::saboteurs::decoders::{parameters, program};

pub(super) const ROWS: &[Saboteur<ArmPft>] = &[
    Saboteur {
        name: "h-of-blx-ignored",
        side: Side::Decoder(|| program(classes::h_of_blx_ignored)),
        bug: "The H bit of BLX (immediate) of ARM state is ignored.",
        source: "PFT-WPT-002; the offset of BL has no such bit",
    },
    Saboteur {
        name: "ldm-with-s-is-no-waypoint",
        side: Side::Decoder(|| program(classes::ldm_with_s_is_no_waypoint)),
        bug: "LDM with S bit and PC is no waypoint.",
        source: "PFT-WPT-004; without PC this encoding loads user registers",
    },
    Saboteur {
        name: "ldr-with-register-is-no-waypoint",
        side: Side::Decoder(|| program(classes::ldr_with_register_is_no_waypoint)),
        bug: "LDR PC with a register offset is no waypoint.",
        source: "PFT-WPT-005; the media instructions share this space",
    },
    Saboteur {
        name: "msr-writes-the-pc",
        side: Side::Decoder(|| program(classes::msr_writes_the_pc)),
        bug: "MSR, which has 1111 where Rd would be, is an indirect branch.",
        source: "PFT-WPT-007; OpenCSD takes several encodings of this space for branches",
    },
    Saboteur {
        name: "mrc-writes-the-pc",
        side: Side::Decoder(|| program(classes::mrc_writes_the_pc)),
        bug: "MRC to APSR, whose Rt is 15, is an indirect branch.",
        source: "PFT-WPT-023; every other write to register 15 is one",
    },
    Saboteur {
        name: "eret-is-no-waypoint",
        side: Side::Decoder(|| program(classes::eret_is_no_waypoint)),
        bug: "ERET of ARM state is no waypoint.",
        source: "PFT-WPT-009; OpenCSD does not know it",
    },
    Saboteur {
        name: "rfe-is-no-waypoint",
        side: Side::Decoder(|| program(classes::rfe_is_no_waypoint)),
        bug: "RFE of ARM state is no waypoint.",
        source: "PFT-WPT-008; the unconditional space is decoded apart, and rarely in full",
    },
    Saboteur {
        name: "bxj-is-no-waypoint",
        side: Side::Decoder(|| program(classes::bxj_is_no_waypoint)),
        bug: "BXJ of ARM state is no waypoint.",
        source: "PFT-WPT-003; compilers never use it",
    },
    Saboteur {
        name: "cp15-isb-is-no-waypoint",
        side: Side::Decoder(|| program(classes::cp15_isb_is_no_waypoint)),
        bug: "ISB as a CP15 operation is no waypoint.",
        source: "PFT-WPT-010; ARMv7 has an instruction of its own",
    },
    Saboteur {
        name: "cp15-barriers-are-no-waypoints",
        side: Side::Decoder(|| program(classes::cp15_barriers_are_no_waypoints)),
        bug: "DSB and DMB as CP15 operations are no waypoints.",
        source: "PFT-WPT-011; ARMv7 has instructions of their own",
    },
    Saboteur {
        name: "barriers-with-options-are-no-waypoints",
        side: Side::Decoder(|| program(classes::barriers_with_options_are_no_waypoints)),
        bug: "DSB and DMB of other domains than the full system are no waypoints.",
        source: "PFT-WPT-011, PFT-WPT-019; a comparison of all bits of the encoding",
    },
    Saboteur {
        name: "barriers-are-never-waypoints",
        side: Side::Decoder(|| parameters(reporting::barriers_are_no_waypoints)),
        bug: "DSB and DMB are no waypoints whatever ETMCCER[24] reads.",
        source: "PFT-CFG-008; they are none in all known silicon",
    },
    Saboteur {
        name: "waits-are-waypoints",
        side: Side::Decoder(|| program(classes::waits_are_waypoints)),
        bug: "WFI and WFE are waypoints.",
        source: "PFT-WPT-022; ETMv4 can be configured so",
    },
    Saboteur {
        name: "cbz-without-its-top-bit",
        side: Side::Decoder(|| program(classes::cbz_without_its_top_bit)),
        bug: "Bit 6 of the offset of CBZ and CBNZ is dropped.",
        source: "PFT-WPT-013; the offset lies in two fields",
    },
    Saboteur {
        name: "svc-is-a-branch",
        side: Side::Decoder(|| program(classes::svc_is_a_branch)),
        bug: "UDF and SVC of Thumb state are taken for branches with condition 1110 and 1111.",
        source: "PFT-WPT-014; they lie in the space of B with condition",
    },
    Saboteur {
        name: "short-blx-has-no-link",
        side: Side::Decoder(|| program(classes::short_blx_has_no_link)),
        bug: "BLX (register) of Thumb state is taken for BX.",
        source: "PFT-WPT-015; only bit 7 separates them",
    },
    Saboteur {
        name: "add-to-pc-is-no-waypoint",
        side: Side::Decoder(|| program(classes::add_to_pc_is_no_waypoint)),
        bug: "ADD PC, Rm of Thumb state is no waypoint.",
        source: "PFT-WPT-015; jump tables use MOV or TBB",
    },
    Saboteur {
        name: "j-bits-swapped",
        side: Side::Decoder(|| program(classes::j_bits_swapped)),
        bug: "J1 and J2 of the offset of B<c>.W change places.",
        source: "PFT-WPT-016; it is the only offset in which J2 is above J1",
    },
    Saboteur {
        name: "blx-rounds-up",
        side: Side::Decoder(|| program(classes::blx_rounds_up)),
        bug: "BLX (immediate) at an odd half-word of Thumb state goes to the word after its target.",
        source: "PFT-WPT-017; the PC is aligned upwards, or not before the offset is added",
    },
    Saboteur {
        name: "table-branches-are-no-waypoints",
        side: Side::Decoder(|| program(classes::table_branches_are_no_waypoints)),
        bug: "TBB and TBH are no waypoints.",
        source: "PFT-WPT-018; they lie among the loads of two registers",
    },
    Saboteur {
        name: "wide-pop-is-no-waypoint",
        side: Side::Decoder(|| program(classes::wide_pop_is_no_waypoint)),
        bug: "LDR PC with an immediate of 8 bits, as in POP.W {PC}, is no waypoint.",
        source: "PFT-WPT-018; LDR has several encodings",
    },
    Saboteur {
        name: "ldmdb-is-no-waypoint",
        side: Side::Decoder(|| program(classes::ldmdb_is_no_waypoint)),
        bug: "LDMDB of Thumb state with PC is no waypoint.",
        source: "PFT-WPT-018; only POP.W is common",
    },
    Saboteur {
        name: "subs-pc-lr-is-no-waypoint",
        side: Side::Decoder(|| program(classes::subs_pc_lr_is_no_waypoint)),
        bug: "SUBS PC, LR of Thumb state, and so ERET, is no waypoint.",
        source: "PFT-WPT-018; it lies among the branches and miscellaneous control",
    },
    Saboteur {
        name: "enterx-is-no-waypoint",
        side: Side::Decoder(|| program(classes::enterx_is_no_waypoint)),
        bug: "ENTERX and LEAVEX are no waypoints.",
        source: "PFT-WPT-020; OpenCSD does not know them",
    },
    Saboteur {
        name: "clrex-is-a-waypoint",
        side: Side::Decoder(|| program(classes::clrex_is_a_waypoint)),
        bug: "CLREX is taken for an ISB.",
        source: "PFT-WPT-019; it lies among the barriers",
    },
    Saboteur {
        name: "loops-are-branches",
        side: Side::Decoder(|| program(classes::loops_are_branches)),
        bug: "WLS and LE of ARMv8.1-M are direct branches.",
        source: "PFT-WPT-027; OpenCSD does so",
    },
    Saboteur {
        name: "last-half-word-unreadable",
        side: Side::Decoder(|| program(classes::last_half_word_unreadable)),
        bug: "An instruction of 16 bits at the end of the code cannot be read.",
        source: "PFT-WPT-029; OpenCSD always reads four bytes",
    },
];
