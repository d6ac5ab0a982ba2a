//! Trace units that see something else happen, or are built otherwise.

use traceproof_vectors::arm_ete::{ArmEte, P0Kind, Parameters, Policy, Signal, Stimulus};

use super::encoder;
use super::sending::moved;
use crate::family::Saboteur;
use crate::saboteurs::encoders::{configuration, steps};

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    encoder(
        "debug-halt-not-traced",
        || {
            steps::<ArmEte>(|_| {
                Box::new(|stimulus: Stimulus| {
                    let enters =
                        matches!(stimulus.signal, Signal::Exception(exception) if exception.number == 1);
                    Some(if enters { idle(stimulus) } else { stimulus })
                })
            })
        },
        "The entry to Debug state has no exception.",
        "ETE-XJXQS-001; it is no exception of the architecture",
    ),
    encoder(
        "return-address-of-a-call-is-the-call",
        || {
            steps::<ArmEte>(|_| {
                Box::new(|stimulus| returns_elsewhere(stimulus, |number| if number == 2 { -4 } else { 0 }))
            })
        },
        "The return address of SVC, HVC and SMC is that of the instruction itself.",
        "ETE-SFYMW-001; that of a trap is",
    ),
    encoder(
        "return-address-after-the-fault",
        || {
            steps::<ArmEte>(|_| {
                Box::new(|stimulus: Stimulus| {
                    returns_elsewhere(stimulus, |number| if matches!(number, 3 | 6..=0xc) { 4 } else { 0 })
                })
            })
        },
        "The return address of traps and faults is that of the next instruction.",
        "ETE-SFYMW-001; that of a call is",
    ),
    encoder(
        "events-need-viewinst",
        || {
            steps::<ArmEte>(|_| {
                let mut active = true;
                Box::new(move |stimulus: Stimulus| {
                    if let Signal::ViewInst(view) = stimulus.signal {
                        active = view;
                    }
                    let dropped = !active && matches!(stimulus.signal, Signal::Event(_));
                    Some(if dropped { idle(stimulus) } else { stimulus })
                })
            })
        },
        "Events while ViewInst is inactive are not traced.",
        "ETE-WJPTB-001; one enable for all packets",
    ),
    encoder(
        "events-lost-in-overflow",
        || {
            steps::<ArmEte>(|_| {
                let mut full = false;
                Box::new(move |stimulus: Stimulus| {
                    if let Signal::Overflow(overflows) = stimulus.signal {
                        full = overflows;
                    }
                    let dropped = full && matches!(stimulus.signal, Signal::Event(_));
                    Some(if dropped { idle(stimulus) } else { stimulus })
                })
            })
        },
        "Events during an overflow are lost.",
        "ETE-SHYMY-001; what happens while the buffer is full is lost",
    ),
    encoder(
        "counter-of-20-bits",
        || configuration(|parameters: &mut Parameters, _: &mut Policy| parameters.cycle_count_bits = 20),
        "The cycle counter has 20 bits whatever CCSIZE reads.",
        "ETE-TYNZR-001, ETE-YVWJW-001; the widest one that the packet holds",
    ),
    encoder(
        "maxspec-one-less",
        || {
            configuration(|parameters: &mut Parameters, _: &mut Policy| {
                parameters.maxspec -= u32::from(parameters.maxspec > 1);
            })
        },
        "A Commit is taken to be implied at one element less than MAXSPEC.",
        "ETE-GLQPL-001, ETE-YKLRM-002, ETE-ENC-CMT-001; greater or equal",
    ),
    encoder(
        "unit-return-stack-always",
        || configuration(|parameters: &mut Parameters, _: &mut Policy| parameters.return_stack = true),
        "The return stack is used whatever TRCCONFIGR.RS reads.",
        "ETE-HFCTC-001, ETE-QHSBN-001; the register is not read",
    ),
    encoder(
        "unit-pushes-no-indirect-calls",
        || {
            steps::<ArmEte>(|_| {
                Box::new(|mut stimulus: Stimulus| {
                    if let Signal::P0(p0) = &mut stimulus.signal {
                        p0.link &= p0.kind == P0Kind::Direct;
                    }
                    Some(stimulus)
                })
            })
        },
        "Indirect branches with link do not push.",
        "ETE-HFCTC-001, ETE-SLDXR-001; their target travels",
    ),
    encoder(
        "broadcast-ignored",
        || {
            steps::<ArmEte>(|_| {
                Box::new(|mut stimulus: Stimulus| {
                    if let Signal::P0(p0) = &mut stimulus.signal {
                        p0.broadcast = false;
                    }
                    Some(stimulus)
                })
            })
        },
        "Branch broadcasting is ignored.",
        "ETE-MHYFV-001; a bit that few tools set",
    ),
    encoder(
        "redirect-ignored",
        || {
            steps::<ArmEte>(|_| {
                Box::new(|stimulus: Stimulus| {
                    Some(if matches!(stimulus.signal, Signal::Redirect(_)) {
                        idle(stimulus)
                    } else {
                        stimulus
                    })
                })
            })
        },
        "A wrongly predicted target is not corrected.",
        "ETE-YMRGB-001; the branch was taken",
    ),
    encoder(
        "context-changes-without-branch-ignored",
        || {
            steps::<ArmEte>(|_| {
                Box::new(|stimulus: Stimulus| {
                    Some(if matches!(stimulus.signal, Signal::Context(_)) {
                        idle(stimulus)
                    } else {
                        stimulus
                    })
                })
            })
        },
        "A context that a system instruction changes is not traced until the next branch changes it.",
        "ETE-HXNXF-001, ETE-BDFDQ-001; contexts are compared at branches",
    ),
    encoder(
        "vmids-traced-always",
        || {
            configuration(|parameters: &mut Parameters, _: &mut Policy| {
                parameters.vmids = parameters.vmid_bytes > 0;
            })
        },
        "VMIDs are traced whatever TRCCONFIGR.VMID reads.",
        "ETE-VHQYV-001, ETE-BDFDQ-001; the register is not read",
    ),
    encoder(
        "q-region-never-ends",
        || {
            steps::<ArmEte>(|_| {
                Box::new(|stimulus: Stimulus| {
                    Some(if stimulus.signal == Signal::QRegion(false) { idle(stimulus) } else { stimulus })
                })
            })
        },
        "Q elements go on after their region.",
        "ETE-FPHFM-001; only its start is compared",
    ),
];

/// Nothing happens in place of this.
const fn idle(stimulus: Stimulus) -> Stimulus {
    Stimulus { signal: Signal::Idle, ..stimulus }
}

/// The return address of an exception is so many bytes further.
fn returns_elsewhere(mut stimulus: Stimulus, bytes: fn(u16) -> i64) -> Option<Stimulus> {
    if let Signal::Exception(exception) = &mut stimulus.signal {
        exception.returns_to = moved(exception.returns_to, bytes(exception.number));
    }
    Some(stimulus)
}
