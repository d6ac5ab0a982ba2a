//! Bugs in states, return stack, checks and cycles.

use traceproof_vectors::arm_pft::ArmPft;

use crate::arm_pft::saboteurs::{deviating, flow, layers, model::Deviation, reporting};
use crate::family::{Saboteur, Side};
use crate::saboteurs::decoders::{parameters, results};

pub(super) const ROWS: &[Saboteur<ArmPft>] = &[
    Saboteur {
        name: "atoms-state-the-last",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::AtomsStateTheLast, parameters, program))
        }),
        bug: "After an E atom of a direct branch, addresses are relative to the branch target.",
        source: "PFT-DEC-040, PFT-DEC-041; one state where appendix B has two",
    },
    Saboteur {
        name: "exceptions-leave-the-last",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| {
                deviating(Deviation::ExceptionsLeaveTheLast, parameters, program)
            })
        }),
        bug: "Addresses after an exception are relative to the state before it.",
        source: "PFT-DEC-027; an exception is followed apart from branches",
    },
    Saboteur {
        name: "last-stops-with-the-flow",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| {
                deviating(Deviation::LastStopsWithTheFlow, parameters, program)
            })
        }),
        bug: "While the flow is lost, packets do not change the base of addresses.",
        source: "PFT-ERR-007, PFT-ERR-010; packets are dropped as a whole until the flow is found",
    },
    Saboteur {
        name: "short-address-in-the-current-set",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| {
                deviating(Deviation::ShortAddressInCurrentSet, parameters, program)
            })
        }),
        bug: "A branch address of one to four bytes is read in the current instruction set.",
        source: "PFT-PKT-042, PFT-DEC-041; after BLX by an E atom the last state has another one",
    },
    Saboteur {
        name: "secure-without-information",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| {
                deviating(Deviation::SecureWithoutInformation, parameters, program)
            })
        }),
        bug: "A branch without exception information is to Secure state.",
        source: "PFT-PKT-046; a field that is cleared for every packet",
    },
    Saboteur {
        name: "lost-until-the-next-sync",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::LostUntilSync, parameters, program))
        }),
        bug: "After the flow was lost, branch addresses do not define it again.",
        source: "PFT-ERR-008; OpenCSD waits in some cases",
    },
    Saboteur {
        name: "updates-are-exclusive",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::UpdatesAreExclusive, parameters, program))
        }),
        bug: "After a waypoint update the flow goes on with the instruction that it names.",
        source: "PFT-DEC-050; every other address in the trace is that of the next instruction",
    },
    Saboteur {
        name: "not-executed-blx-changes-state",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| {
                deviating(Deviation::NotExecutedChangesState, parameters, program)
            })
        }),
        bug: "An N atom of BLX (immediate) changes the instruction set.",
        source: "PFT-DEC-072; OpenCSD does so",
    },
    Saboteur {
        name: "pushes-before-it-pops",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::PushesFirst, parameters, program))
        }),
        bug: "An E atom of BLX (register) pushes the return address before it pops.",
        source: "PFT-DEC-039; no other instruction does both",
    },
    Saboteur {
        name: "full-stack-drops-the-newest",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::DropsNewest, parameters, program))
        }),
        bug: "Where the return stack is full, a return address is not pushed.",
        source: "PFT-DEC-042; a fixed array instead of a ring",
    },
    Saboteur {
        name: "not-executed-calls-push",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::NotExecutedPushes, parameters, program))
        }),
        bug: "An N atom of a branch with link pushes.",
        source: "PFT-DEC-038; the push stands before the look at the atom",
    },
    Saboteur {
        name: "branch-packets-do-not-push",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::BranchesDoNotPush, parameters, program))
        }),
        bug: "A branch with link that is traced with a branch address does not push.",
        source: "PFT-DEC-022; the push stands where atoms are followed",
    },
    Saboteur {
        name: "branch-packets-pop",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::BranchesPop, parameters, program))
        }),
        bug: "A branch address that matches the top of the return stack pops it.",
        source: "PFT-DEC-023, PFT-DEC-070; the encoder would have sent an atom, were its stack as deep",
    },
    Saboteur {
        name: "returns-stay-in-the-set",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::ReturnsInTheSameSet, parameters, program))
        }),
        bug: "A return address of the return stack has no instruction set.",
        source: "PFT-DEC-036; interworking veneers are rare",
    },
    Saboteur {
        name: "returns-after-four-bytes",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::ReturnsAfterFour, parameters, program))
        }),
        bug: "The return address of every branch with link is 4 bytes after it.",
        source: "PFT-WPT-028; only BLX (register) of Thumb state has 2 bytes",
    },
    Saboteur {
        name: "only-direct-calls-push",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::OnlyDirectLinks, parameters, program))
        }),
        bug: "BLX (register) does not push.",
        source: "PFT-DEC-038, PFT-WPT-028; table 4.12 lists it apart",
    },
    Saboteur {
        name: "stack-over-restarts",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| deviating(Deviation::StackOverRestarts, parameters, program))
        }),
        bug: "The return stack is kept over I-syncs of every reason.",
        source: "PFT-DEC-071; calls were lost, so that the wrong address is taken",
    },
    Saboteur {
        name: "stack-over-lost-synchronisation",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| {
                deviating(Deviation::StackOverLostSynchronisation, parameters, program)
            })
        }),
        bug: "Where synchronisation is lost the return stack is kept.",
        source: "PFT-ERR-004; a reset that forgets too little",
    },
    Saboteur {
        name: "updates-empty-the-stack",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| {
                deviating(Deviation::UpdatesEmptyTheStack, parameters, program)
            })
        }),
        bug: "A waypoint update empties the return stack.",
        source: "PFT-DEC-055; one routine for all packets with an address that are no branches",
    },
    Saboteur {
        name: "return-stack-of-half-the-entries",
        side: Side::Decoder(|| parameters(reporting::half_the_return_stack)),
        bug: "The return stack has half as many entries as it must have.",
        source: "PFT-DEC-042, PFT-DEC-044; no silicon is known to use more than one",
    },
    Saboteur {
        name: "only-addresses-are-checked",
        side: Side::Decoder(|| layers::with(flow::only_addresses_are_checked)),
        bug: "The check of a periodic I-sync compares addresses only.",
        source: "PFT-DEC-008 to PFT-DEC-010; the rest of the state lies elsewhere",
    },
    Saboteur {
        name: "instruction-sets-are-not-checked",
        side: Side::Decoder(|| layers::with(flow::instruction_sets_are_not_checked)),
        bug: "The check of a periodic I-sync does not compare instruction sets.",
        source: "PFT-DEC-008; ARM and Thumb code rarely have the same address",
    },
    Saboteur {
        name: "context-ids-are-not-checked",
        side: Side::Decoder(|| layers::with(flow::context_ids_are_not_checked)),
        bug: "The check of a periodic I-sync does not compare Context IDs.",
        source: "PFT-DEC-010; OpenCSD stores it silently",
    },
    Saboteur {
        name: "every-sync-is-checked",
        side: Side::Decoder(|| layers::with(flow::every_sync_is_checked)),
        bug: "I-syncs of all reasons are checked.",
        source: "PFT-DEC-011; the check without its condition",
    },
    Saboteur {
        name: "contradicted-sync-is-not-believed",
        side: Side::Decoder(|| layers::with(flow::contradicted_sync_is_not_believed)),
        bug: "After a periodic I-sync that contradicts the flow, the flow goes on where it was.",
        source: "PFT-DEC-013, PFT-DEC-014; an early return after the report",
    },
    Saboteur {
        name: "contexts-wait-for-the-flow",
        side: Side::Decoder(|| layers::with(flow::contexts_wait_for_the_flow)),
        bug: "Context ID and VMID packets are ignored while the flow is lost.",
        source: "PFT-DEC-077; packets are dropped as a whole until the flow is found",
    },
    Saboteur {
        name: "synchronised-instruction-was-executed",
        side: Side::Decoder(|| layers::with(flow::synchronised_instruction_was_executed)),
        bug: "An exception directly after an I-sync is preceded by the instruction that the I-sync names.",
        source: "PFT-DEC-073; ETMv1 and ETMv2 imply it",
    },
    Saboteur {
        name: "information-is-an-exception",
        side: Side::Decoder(|| layers::with(|_, _| Box::new(flow::InformationIsAnException))),
        bug: "A branch address with exception information is an exception, of number 0 if need be.",
        source: "PFT-PKT-047, PFT-DEC-029; OpenCSD does so",
    },
    Saboteur {
        name: "memory-of-the-latest-sync",
        side: Side::Decoder(|| {
            layers::with(|parameters, program| Box::new(flow::MemoryOfTheSync::new(parameters, program)))
        }),
        bug: "Instructions are looked up in the security state of the latest I-sync.",
        source: "PFT-DEC-061; OpenCSD does so",
    },
    Saboteur {
        name: "nothing-is-discarded",
        side: Side::Decoder(|| layers::with(|_, _| Box::new(flow::NothingIsDiscarded::default()))),
        bug: "Packets between the first A-sync and the first I-sync are reported.",
        source: "PFT-DEC-002; one state where B.3.1 has two stages",
    },
    Saboteur {
        name: "every-count-is-added",
        side: Side::Decoder(|| layers::with(flow::every_count_is_added)),
        bug: "Counts of I-syncs after overflow and Debug state are added in PFTv1.1, too.",
        source: "PFT-DEC-060; it was right in PFTv1.0",
    },
    Saboteur {
        name: "timestamp-counts-are-not-added",
        side: Side::Decoder(|| layers::with(flow::counts_of_timestamps_are_not_added)),
        bug: "Cycle counts of timestamps are ignored.",
        source: "PFT-DEC-060, PFT-PKT-064; they are 0 in PFTv1.1 silicon",
    },
    Saboteur {
        name: "counts-need-the-flow",
        side: Side::Decoder(|| layers::with(flow::counts_need_the_flow)),
        bug: "Cycle counts of atoms and branches are ignored while the flow is lost.",
        source: "PFT-DEC-075; OpenCSD does so",
    },
    Saboteur {
        name: "totals-of-32-bits",
        side: Side::Decoder(|| results(reporting::totals_of_32_bits)),
        bug: "Cycle totals have 32 bits.",
        source: "PFT-PKT-031; a count has 32 bits, so its sum got as many",
    },
];
