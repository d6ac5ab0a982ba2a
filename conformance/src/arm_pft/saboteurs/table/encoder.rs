//! Bugs of PTMs.

use traceproof_vectors::arm_pft::ArmPft;

use crate::arm_pft::saboteurs::{
    encoding,
    returns::{Returns, Wrong},
    sending,
};
use crate::family::{Saboteur, Side};
use crate::saboteurs::encoders::{configuration, steps};

pub(super) const ROWS: &[Saboteur<ArmPft>] = &[
    Saboteur {
        name: "updates-before-exceptions-not-sent",
        side: Side::Encoder(|| steps(encoding::updates_before_exceptions_not_sent)),
        bug: "Interrupts and aborts have no waypoint update.",
        source: "PFT-ENC-010; the exception packet alone leads to the handler",
    },
    Saboteur {
        name: "calls-are-not-upgraded",
        side: Side::Encoder(|| steps(encoding::calls_are_not_upgraded)),
        bug: "SVC, SMC and undefined instructions have no waypoint update.",
        source: "PFT-ENC-015; they are no waypoints",
    },
    Saboteur {
        name: "aborting-instruction-is-named",
        side: Side::Encoder(|| steps(encoding::aborting_instruction_is_named)),
        bug: "The waypoint update of an abort names the instruction that aborts.",
        source: "PFT-ENC-017, PFT-ENC-018; that of SVC does so",
    },
    Saboteur {
        name: "debug-entry-without-update",
        side: Side::Encoder(|| steps(encoding::debug_entry_without_update)),
        bug: "The entry to Debug state has no waypoint update.",
        source: "PFT-ENC-010, PFT-ENC-019; most of its packet is not valid anyway",
    },
    Saboteur {
        name: "indirect-calls-do-not-push",
        side: Side::Encoder(|| steps(encoding::indirect_calls_do_not_push)),
        bug: "BLX (register) does not push onto the PTM's return stack.",
        source: "PFT-ENC-029; table 4.12 lists it apart",
    },
    Saboteur {
        name: "isb-always-executes",
        side: Side::Encoder(|| steps(encoding::isb_always_executes)),
        bug: "An ISB that did not execute has an E atom.",
        source: "PFT-ENC-050; Cortex-A9 does so, which is PFTv1.0",
    },
    Saboteur {
        name: "flush-ignored",
        side: Side::Encoder(|| steps(encoding::flush_ignored)),
        bug: "Held atoms stay where the trace port asks for them.",
        source: "PFT-ENC-009; a flush of the FIFO alone",
    },
    Saboteur {
        name: "trigger-lost-in-overflow",
        side: Side::Encoder(|| steps(encoding::trigger_lost_in_overflow)),
        bug: "A trigger during an overflow is lost.",
        source: "PFT-ENC-002 and 4.8; whatever happens while the FIFO is full is dropped",
    },
    Saboteur {
        name: "prohibited-regions-traced",
        side: Side::Encoder(|| steps(encoding::prohibited_regions_traced)),
        bug: "Prohibited regions are traced.",
        source: "PFT-ENC-047; authentication signals of the wrong state",
    },
    Saboteur {
        name: "ptm-stack-one-entry-deeper",
        side: Side::Encoder(|| configuration(encoding::return_stack_one_entry_deeper)),
        bug: "The PTM's return stack has one entry more than it should have.",
        source: "PFT-ENC-032; the decoder's may be too short then",
    },
    Saboteur {
        name: "exception-returns-in-v1-0",
        side: Side::Encoder(|| configuration(encoding::exception_returns_in_v1_0)),
        bug: "Exception return packets are sent in PFTv1.0.",
        source: "PFT-ENC-041; PFTv1.1 sends them",
    },
    Saboteur {
        name: "barriers-are-always-waypoints",
        side: Side::Encoder(|| configuration(encoding::barriers_are_waypoints)),
        bug: "DSB and DMB have atoms whatever ETMCCER[24] reads.",
        source: "PFT-ENC-051; ISB has one",
    },
    Saboteur {
        name: "broadcasts-nothing",
        side: Side::Encoder(|| configuration(encoding::broadcasts_nothing)),
        bug: "Branch broadcasting is ignored.",
        source: "PFT-ENC-042; a bit of ETMCR that few tools set",
    },
    Saboteur {
        name: "context-id-before-the-waypoint",
        side: Side::Encoder(|| sending::with(encoding::context_id_before_the_waypoint)),
        bug: "A Context ID packet comes before the waypoint after which it holds.",
        source: "PFT-ENC-037, PFT-ENC-038; it is sent when the register is written",
    },
    Saboteur {
        name: "timestamp-before-the-waypoint",
        side: Side::Encoder(|| sending::with(encoding::timestamp_before_the_waypoint)),
        bug: "A timestamp comes before the waypoint that requests it.",
        source: "PFT-ENC-008 and 4.14; it is sent at once, and the waypoint through a queue",
    },
    Saboteur {
        name: "exception-return-before-the-branch",
        side: Side::Encoder(|| sending::with(encoding::exception_return_before_the_branch)),
        bug: "The exception return packet comes before the branch address.",
        source: "PFT-ENC-040; ETMv3 has this order",
    },
    Saboteur {
        name: "timestamp-before-the-sync",
        side: Side::Encoder(|| sending::with(encoding::timestamp_before_the_sync)),
        bug: "The timestamp of a periodic synchronisation comes before its I-sync.",
        source: "PFT-ENC-057; A-sync and timestamp need no state",
    },
    Saboteur {
        name: "update-before-held-atoms",
        side: Side::Encoder(|| sending::with(encoding::update_before_held_atoms)),
        bug: "A waypoint update overtakes held atoms.",
        source: "PFT-ENC-008; atoms are flushed by branch addresses only",
    },
    Saboteur {
        name: "branch-before-held-atoms",
        side: Side::Encoder(|| sending::with(encoding::branch_before_held_atoms)),
        bug: "A branch address without exception information overtakes held atoms.",
        source: "PFT-ENC-008; atoms are flushed by exceptions only",
    },
    Saboteur {
        name: "restart-without-its-reason",
        side: Side::Encoder(|| sending::with(encoding::restart_without_its_reason)),
        bug: "The I-sync after an overflow has the reason of a start.",
        source: "PFT-ENC-002 and 4.8; a gap that is not reported",
    },
    Saboteur {
        name: "debug-exit-without-its-reason",
        side: Side::Encoder(|| sending::with(encoding::debug_exit_without_its_reason)),
        bug: "The I-sync after Debug state has the reason of a start.",
        source: "PFT-ENC-020; trace was off, and is on again",
    },
    Saboteur {
        name: "count-of-sync-without-bit-7",
        side: Side::Encoder(|| sending::with(encoding::count_of_sync_without_bit_7)),
        bug: "Bit 7 of the first byte of an I-sync's cycle count is 0.",
        source: "PFT-PKT-018, PFT-ENC-055; it is 0 in branches and timestamps",
    },
    Saboteur {
        name: "small-counts-in-two-bytes",
        side: Side::Encoder(|| sending::with(encoding::small_counts_in_two_bytes)),
        bug: "Cycle counts of I-syncs have two bytes at least.",
        source: "PFT-PKT-069, PFT-ENC-055; an A-sync can stand where none is",
    },
    Saboteur {
        name: "full-timestamps-of-eight-bytes",
        side: Side::Encoder(|| sending::with(encoding::full_timestamp_without_its_last_byte)),
        bug: "A full timestamp whose last byte is 0 goes without it.",
        source: "PFT-ENC-052, PFT-ENC-043; a receiver cannot know the upper bits then",
    },
    Saboteur {
        name: "clock-change-stays",
        side: Side::Encoder(|| sending::with(encoding::clock_change_stays)),
        bug: "After a clock change R is 1 in all timestamps.",
        source: "PFT-ENC-054; a flag that is not cleared",
    },
    Saboteur {
        name: "hyp-is-never-left",
        side: Side::Encoder(|| sending::with(encoding::hyp_is_never_left)),
        bug: "A branch out of Hyp mode has no second information byte.",
        source: "PFT-ENC-064, PFT-ENC-027; its bits are all 0",
    },
    Saboteur {
        name: "long-block-update-names-the-waypoint",
        side: Side::Encoder(|| sending::with(encoding::long_block_update_names_the_waypoint)),
        bug: "The waypoint update of a long block names its waypoint.",
        source: "PFT-ENC-022; other waypoint updates name the latest instruction",
    },
    Saboteur {
        name: "periodic-sync-takes-the-cycles",
        side: Side::Encoder(|| sending::with(encoding::periodic_sync_takes_the_cycles)),
        bug: "A periodic I-sync starts the cycle counter again, although it has no count.",
        source: "PFT-ENC-046, PFT-ENC-045; other I-syncs have one",
    },
    Saboteur {
        name: "sync-is-no-base",
        side: Side::Encoder(|| sending::with(encoding::sync_is_no_base)),
        bug: "Addresses are compressed relative to the branch before, whatever I-syncs came since then.",
        source: "PFT-ENC-023; the base is a register that only branches write",
    },
    Saboteur {
        name: "exception-is-no-base",
        side: Side::Encoder(|| sending::with(encoding::exception_is_no_base)),
        bug: "The branch after an exception is compressed relative to the state before it.",
        source: "PFT-ENC-023; an exception has a unit of its own",
    },
    Saboteur {
        name: "update-is-the-only-base",
        side: Side::Encoder(|| sending::with(encoding::update_is_the_only_base)),
        bug: "The branch after a waypoint update is compressed relative to the update alone.",
        source: "PFT-ENC-026; the text leaves open which one is the base",
    },
    Saboteur {
        name: "short-branch-after-blx",
        side: Side::Encoder(|| sending::with(encoding::short_address_in_the_current_set)),
        bug: "A branch in an instruction set that the trace has not stated is short.",
        source: "PFT-ENC-024; what was reached by an E atom of BLX is no last state",
    },
    Saboteur {
        name: "one-byte-without-information",
        side: Side::Encoder(|| sending::with(encoding::one_byte_without_information)),
        bug: "Where one address byte is enough, the exception information is left out.",
        source: "PFT-ENC-025, PFT-ENC-027; a byte that has no room for its announcement",
    },
    Saboteur {
        name: "leaving-thumb-ee-unsaid",
        side: Side::Encoder(|| sending::with(encoding::leaving_thumb_ee_unsaid)),
        bug: "A branch out of ThumbEE state has no exception information.",
        source: "PFT-ENC-028; AltISA is 0 there",
    },
    Saboteur {
        name: "direct-branch-hides-security",
        side: Side::Encoder(|| sending::with(encoding::direct_branch_hides_security)),
        bug: "A direct branch after a write to SCR has an E atom.",
        source: "PFT-ENC-039; the target is in the opcode",
    },
    Saboteur {
        name: "return-hides-security",
        side: Side::Encoder(|| sending::with(encoding::return_hides_security)),
        bug: "With the return stack, indirect branches do not state a changed security state.",
        source: "PFT-ENC-033, PFT-ENC-027; only addresses are compared",
    },
    Saboteur {
        name: "ptm-stack-over-periodic-syncs",
        side: Side::Encoder(|| {
            sending::with(|parameters| Box::new(Returns::new(Wrong::OverPeriodicSyncs, parameters)))
        }),
        bug: "A periodic I-sync does not empty the PTM's return stack.",
        source: "PFT-ENC-034, PFT-ENC-061; a decoder that starts there cannot follow",
    },
    Saboteur {
        name: "ptm-stack-over-debug-state",
        side: Side::Encoder(|| {
            sending::with(|parameters| Box::new(Returns::new(Wrong::OverDebugState, parameters)))
        }),
        bug: "The I-sync after Debug state does not empty the PTM's return stack.",
        source: "PFT-ENC-034; the processor goes on where it was",
    },
    Saboteur {
        name: "not-executed-calls-push-in-the-ptm",
        side: Side::Encoder(|| {
            sending::with(|parameters| Box::new(Returns::new(Wrong::NotExecutedPushes, parameters)))
        }),
        bug: "A branch with link whose condition failed pushes onto the PTM's return stack.",
        source: "PFT-ENC-036; the push stands before the look at the condition",
    },
    Saboteur {
        name: "ptm-pushes-before-it-compares",
        side: Side::Encoder(|| {
            sending::with(|parameters| Box::new(Returns::new(Wrong::PushesFirst, parameters)))
        }),
        bug: "BLX (register) pushes before it is compared with the PTM's return stack.",
        source: "PFT-ENC-035; no other instruction does both",
    },
    Saboteur {
        name: "full-ptm-stack-drops-the-newest",
        side: Side::Encoder(|| {
            sending::with(|parameters| Box::new(Returns::new(Wrong::DropsNewest, parameters)))
        }),
        bug: "Where the PTM's return stack is full, a return address is not pushed.",
        source: "PFT-ENC-032; a fixed array instead of a ring",
    },
    Saboteur {
        name: "mismatch-pops-in-the-ptm",
        side: Side::Encoder(|| {
            sending::with(|parameters| Box::new(Returns::new(Wrong::MismatchPops, parameters)))
        }),
        bug: "An indirect branch that does not match pops the PTM's return stack.",
        source: "PFT-ENC-031; a predictor of returns does so",
    },
    Saboteur {
        name: "ptm-stack-ignores-the-set",
        side: Side::Encoder(|| sending::with(|parameters| Box::new(Returns::new(Wrong::AnySet, parameters)))),
        bug: "Instruction sets are not compared with the PTM's return stack.",
        source: "PFT-ENC-030; interworking veneers are rare",
    },
];
