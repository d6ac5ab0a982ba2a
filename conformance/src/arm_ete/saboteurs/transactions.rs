//! Transactions: what opens and closes them, and what their failure costs.

use traceproof_vectors::Decoder;
use traceproof_vectors::arm_ete::{ArmEte, Event, Packet};

use super::layers::{self, Followed, Following};
use super::{decoder, following, follows};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    decoder(
        "first-t-bit-ignored",
        ignore_first_t_bit,
        "T of the first Trace Info does not open a transaction.",
        "ETE-DEC-TRX-002; the Start is the only thing that opens one",
    ),
    decoder(
        "t-bit-is-bit-5",
        || {
            follows(|packet| {
                if let Packet::TraceInfo { info: Some(info), .. } = packet {
                    info.bits = info.bits & !0x40 | (info.bits & 0x20) << 1;
                }
            })
        },
        "T is bit 5 of INFO.",
        "ETE-PKT-TI-003; ETMv4 has P0_STORE there",
    ),
    decoder(
        "later-t-bit-closes",
        || {
            layers::with(|_, _| {
                let mut started = false;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    if let Packet::TraceInfo { info, .. } = packet
                        && core::mem::replace(&mut started, true)
                        && info.is_none_or(|info| info.bits & 0x40 == 0)
                    {
                        followed.silent(&Packet::TransactionCommit);
                    }
                    followed.packet(packet);
                }))
            })
        },
        "T = 0 of a later Trace Info closes an open transaction.",
        "ETE-DEC-TI-002; T is taken over from every Trace Info",
    ),
    decoder(
        "transactions-are-only-marked",
        || {
            following(|packet, followed| {
                followed.packet(packet);
                if *packet == Packet::TransactionStart {
                    followed.silent(&Packet::TransactionCommit);
                }
            })
        },
        "What a transaction executes is reported at once, and its Failure takes nothing back.",
        "ETE-DEC-TRX-001; OpenCSD does so",
    ),
    decoder(
        "pe-reset-commits-a-transaction",
        || layers::with(|_, _| Box::new(Following(reset_commits))),
        "PE Reset lets an open transaction take effect.",
        "ETE-DEC-TRX-003; only a Failure packet is a failure",
    ),
    decoder(
        "failure-drops-events",
        || failing(|event| matches!(event, Event::Event { .. })),
        "A Transaction Failure drops Event elements.",
        "ETE-DEC-TRX-001; a buffer that is emptied",
    ),
    decoder(
        "failure-drops-timestamps",
        || failing(|event| matches!(event, Event::Timestamp { .. })),
        "A Transaction Failure drops Timestamp elements.",
        "ETE-DEC-TRX-001; a buffer that is emptied",
    ),
    decoder(
        "failure-drops-instrumentation",
        || failing(|event| matches!(event, Event::Instrumentation { .. })),
        "A Transaction Failure drops Instrumentation elements.",
        "ETE-DEC-TRX-001; a buffer that is emptied",
    ),
    decoder(
        "failure-drops-cycles",
        || failing(|event| matches!(event, Event::Cycles { .. })),
        "A Transaction Failure drops cycle counts.",
        "ETE-DEC-TRX-001, ETE-DEC-AN-007; a buffer that is emptied",
    ),
];

/// Such events before the failure of a transaction are not reported.
fn failing(drops: fn(&Event) -> bool) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            followed.packet(packet);
            let fails = followed.events().any(|event| *event == Event::TransactionFailure);
            followed.retain_events(|event| !(fails && drops(event)));
        }))
    })
}

fn reset_commits(packet: &Packet, followed: &mut Followed<'_>) {
    if matches!(packet, Packet::Exception { number: 0, .. }) {
        followed.silent(&Packet::TransactionCommit);
    }
    followed.packet(packet);
}

/// T of the first Trace Info is reported, and otherwise ignored.
fn ignore_first_t_bit() -> Box<dyn Decoder<ArmEte>> {
    layers::with(|_, _| {
        let mut is_first = true;
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            let (mut changed, mut patches) = (*packet, false);
            if let Packet::TraceInfo { info, .. } = &mut changed
                && core::mem::replace(&mut is_first, false)
                && let Some(info) = info
            {
                patches = info.bits & 0x40 != 0;
                info.bits &= !0x40;
            }
            followed.packet(&changed);
            for event in followed.events() {
                if let Event::TraceInfo { transactional, .. } = event {
                    *transactional |= patches;
                }
            }
        }))
    })
}
