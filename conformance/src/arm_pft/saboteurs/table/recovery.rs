//! Bugs after faults and resets, and in what is reported.

use traceproof_vectors::arm_pft::ArmPft;

use crate::arm_pft::saboteurs::{flow, layers, reporting};
use crate::family::{Saboteur, Side};
use crate::saboteurs::decoders::results;

pub(super) const ROWS: &[Saboteur<ArmPft>] = &[
    Saboteur {
        name: "reserved-headers-are-skipped",
        side: Side::Decoder(|| layers::with(|_, _| Box::new(flow::GoesOn))),
        bug: "After a reserved header the next byte is taken for a header, and the flow goes on.",
        source: "PFT-ERR-002 to PFT-ERR-004; one bad byte seems not worth a search",
    },
    Saboteur {
        name: "resumes-at-the-next-sync",
        side: Side::Decoder(|| layers::with(|_, _| Box::new(flow::GoesOnToTheNextSync))),
        bug: "After a reserved header no A-sync is looked for, only an I-sync.",
        source: "PFT-ERR-001 to PFT-ERR-003; the packet layer of OpenCSD does so",
    },
    Saboteur {
        name: "flow-over-lost-synchronisation",
        side: Side::Decoder(|| layers::with(|_, _| Box::new(flow::KeepsTheFlow))),
        bug: "After the next A-sync the flow goes on where synchronisation was lost.",
        source: "PFT-ERR-003, PFT-ERR-004; the search is a matter of the packet layer alone",
    },
    Saboteur {
        name: "reset-keeps-the-flow",
        side: Side::Decoder(|| layers::with(|_, _| Box::new(flow::ResetsTheReader))),
        bug: "A reset keeps states, return stack, timestamp and cycle total.",
        source: "contract of `Decoder::reset`, PFT-DEC-001, PFT-DEC-002; only the packet layer is reset",
    },
    Saboteur {
        name: "reset-keeps-the-cycles",
        side: Side::Decoder(|| layers::with(|_, _| Box::new(flow::CyclesSurvive))),
        bug: "A reset keeps the cycle total.",
        source: "contract of `Decoder::reset`, PFT-DEC-060; one reset for two purposes",
    },
    Saboteur {
        name: "timestamps-survive",
        side: Side::Decoder(|| results(reporting::timestamps_survive)),
        bug: "A partial timestamp is completed with one from before synchronisation was lost.",
        source: "PFT-ERR-020, PFT-ERR-019; a reset that forgets too little",
    },
    Saboteur {
        name: "periodic-syncs-unreported",
        side: Side::Decoder(|| results(reporting::periodic_syncs_unreported)),
        bug: "Periodic I-syncs are not reported.",
        source: "PFT-DEC-004; OpenCSD reports the first one only",
    },
    Saboteur {
        name: "periodic-syncs-unchecked",
        side: Side::Decoder(|| results(reporting::periodic_syncs_unchecked)),
        bug: "Periodic I-syncs are believed without a check.",
        source: "PFT-DEC-006; OpenCSD does so",
    },
    Saboteur {
        name: "direct-targets-unchecked",
        side: Side::Decoder(|| results(reporting::direct_targets_unchecked)),
        bug: "A branch address on a direct branch is believed whatever its target is.",
        source: "PFT-DEC-025; OpenCSD does so",
    },
    Saboteur {
        name: "branches-out-of-nowhere-unreported",
        side: Side::Decoder(|| results(reporting::branches_out_of_nowhere_unreported)),
        bug: "A branch address that defines the flow again is not reported.",
        source: "PFT-ERR-008, PFT-DEC-079; it has no instruction that could be reported",
    },
    Saboteur {
        name: "second-trigger-lost",
        side: Side::Decoder(|| results(reporting::one_trigger_only)),
        bug: "Every trigger but the first is lost.",
        source: "PFT-DEC-015; a flag instead of an event",
    },
    Saboteur {
        name: "updated-instruction-was-executed",
        side: Side::Decoder(|| results(reporting::updated_instruction_executed)),
        bug: "The instruction that a waypoint update names is reported as executed.",
        source: "PFT-DEC-051; it is the only run without an outcome",
    },
    Saboteur {
        name: "empty-stack-is-no-stack",
        side: Side::Decoder(|| results(reporting::empty_stack_is_no_stack)),
        bug: "An E atom with an empty return stack is reported like one without return stack.",
        source: "PFT-DEC-037; both leave the target open",
    },
    Saboteur {
        name: "unreachable-updates-unreported",
        side: Side::Decoder(|| results(reporting::unreachable_updates_unreported)),
        bug: "A waypoint update that is not reached is not reported.",
        source: "PFT-DEC-053, PFT-ERR-025; OpenCSD goes over waypoints silently",
    },
    Saboteur {
        name: "jazelle-is-no-code",
        side: Side::Decoder(|| results(reporting::unsupported_mode_is_no_code)),
        bug: "Atoms in Jazelle state are reported as missing code.",
        source: "PFT-ERR-011; there is no code that could be read",
    },
    Saboteur {
        name: "vmid-without-virtualization-believed",
        side: Side::Decoder(|| results(reporting::vmid_without_virtualization_believed)),
        bug: "A VMID packet without Virtualization Extensions is reported as a VMID.",
        source: "PFT-ERR-016; the header alone says what it is",
    },
    Saboteur {
        name: "exception-returns-of-v1-0-believed",
        side: Side::Decoder(|| results(reporting::exception_return_of_v1_0_believed)),
        bug: "An exception return packet of PFTv1.0 is reported as an exception return.",
        source: "PFT-ERR-017; the header alone says what it is",
    },
];
