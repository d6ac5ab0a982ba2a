//! Speculation and Discard: which elements take effect.

use traceproof_vectors::arm_ete::{ArmEte, Event, Packet, Parameters, VariableField};
use traceproof_vectors::{Decoder, Entry, FaultClass};

use super::counted::{Counting, Held, RIGHT, Resolution, counting, number};
use super::layers::{self, Bug, Followed, Following};
use super::{decoder, follows};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    decoder(
        "implied-commit-one-late",
        || counting(Counting { most: |most| most + 1, ..RIGHT }),
        "A Commit is implied where the depth exceeds MAXSPEC by two.",
        "ETE-YKLRM-001, ETE-DEC-DEPTH-001; greater or equal, before or after counting",
    ),
    decoder(
        "implied-commit-one-early",
        || counting(Counting { most: |most| most - 1, ..RIGHT }),
        "A Commit is implied where the depth reaches MAXSPEC.",
        "ETE-YKLRM-001, ETE-DEC-DEPTH-001; greater or equal",
    ),
    decoder(
        "no-implied-commits",
        || counting(Counting { most: |_| u64::MAX, ..RIGHT }),
        "Only Commit packets commit.",
        "ETE-YKLRM-001; a large MAXSPEC is never reached",
    ),
    decoder(
        "source-address-is-no-p0",
        || {
            counting(Counting {
                weigh: |packet, count| except(matches!(packet, Packet::SourceAddress(_)), count),
                ..RIGHT
            })
        },
        "A Source Address is not counted by Commit and Cancel.",
        "ETE-WTRBB-001; OpenCSD does so for Cancel",
    ),
    decoder(
        "exception-is-no-p0",
        || {
            counting(Counting {
                weigh: |packet, count| except(matches!(packet, Packet::Exception { .. }), count),
                ..RIGHT
            })
        },
        "An exception is not counted by Commit and Cancel.",
        "ETE-RVVFW-001; it is no instruction",
    ),
    decoder(
        "pe-reset-is-no-p0",
        || {
            counting(Counting {
                weigh: |packet, count| except(matches!(packet, Packet::Exception { number: 0, .. }), count),
                ..RIGHT
            })
        },
        "PE Reset is not counted by Commit and Cancel.",
        "ETE-RVVFW-001; it has no return address, as Transaction Failure, which is not",
    ),
    decoder(
        "q-is-no-p0",
        || {
            counting(Counting {
                weigh: |packet, count| except(matches!(packet, Packet::Q { .. }), count),
                ..RIGHT
            })
        },
        "A Q element is not counted by Commit and Cancel.",
        "ETE-RVVFW-001; it stands for many",
    ),
    decoder(
        "transaction-failure-is-p0",
        || {
            counting(Counting {
                weigh: |packet, count| {
                    if matches!(packet, Packet::Exception { number: 0x18, .. }) { 1 } else { count }
                },
                ..RIGHT
            })
        },
        "Transaction Failure is counted as an exception.",
        "ETE-RVVFW-001; the K10 pseudocode does so",
    ),
    decoder(
        "transaction-commit-is-p0",
        || {
            counting(Counting {
                weigh: |packet, count| if matches!(packet, Packet::TransactionCommit) { 1 } else { count },
                ..RIGHT
            })
        },
        "Transaction Commit is counted where Transaction Start is not.",
        "ETE-RVVFW-001, ETE-CTLXL-001; two headers side by side",
    ),
    decoder(
        "commtrans-inverted",
        || layers::with_parameters(|_| {}, |parameters| parameters.commtrans ^= true, |_, _| Box::new(())),
        "Transaction Start is a P0 element if COMMTRANS is 1.",
        "ETE-CTLXL-001; the K10 pseudocode has both senses",
    ),
    decoder(
        "atom-packet-counts-once",
        || {
            counting(Counting {
                weigh: |packet, count| if matches!(packet, Packet::Atoms(_)) { 1 } else { count },
                ..RIGHT
            })
        },
        "An atom packet counts as one P0 element.",
        "ETE-RVVFW-001; a queue of packets in place of elements",
    ),
    decoder(
        "cancel-takes-unseen-first",
        || counting(Counting { unseen_first: true, ..RIGHT }),
        "A Cancel takes the elements from before the start first.",
        "ETE-DEC-CAN-003; the K10 pseudocode does so",
    ),
    decoder(
        "spec-ignored",
        || layers::with(|_, _| Box::new(Following(ignore_spec))),
        "SPEC of the first Trace Info is ignored.",
        "ETE-DEC-DEPTH-002, ETE-JKLZY-001; it is 0 in every capture",
    ),
    decoder(
        "mispredict-before-its-cancel",
        || {
            layers::with(|parameters, _| {
                let parameters = parameters.clone();
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    mispredict_first(packet, &parameters, followed);
                }))
            })
        },
        "2F and 34 to 3F flip an atom first, then cancel.",
        "ETE-PKT-CAN-001, ETE-PKT-CAN-002, ETE-PKT-CAN-003; the headers say Mispredict first",
    ),
    decoder(
        "cancel-2f-without-mispredict",
        || {
            follows(|packet| {
                if let Packet::Cancel1 { mispredict, .. } = packet {
                    *mispredict = false;
                }
            })
        },
        "2F has no Mispredict element.",
        "ETE-PKT-CAN-001; one case for two headers",
    ),
    decoder(
        "mispredict-keeps-addresses",
        keep_addresses,
        "A Mispredict keeps the Target Address after its atom.",
        "ETE-HVWCN-001; the address is an element of its own",
    ),
    decoder(
        "late-mispredict-is-an-error",
        || {
            held(|packet, held, followed| {
                if matches!(packet, Packet::Mispredict { atoms: None })
                    && held.len() == 0
                    && held.is_started()
                {
                    followed.lose(FaultClass::Contradiction);
                } else {
                    followed.packet(packet);
                }
            })
        },
        "A Mispredict of a committed atom costs synchronisation.",
        "ETE-MDSCN-001; OpenCSD does so",
    ),
    decoder(
        "late-mispredict-ignored",
        || {
            held(|packet, held, followed| {
                if !matches!(packet, Packet::Mispredict { atoms: None }) || held.len() > 0 {
                    followed.packet(packet);
                }
            })
        },
        "A Mispredict of a committed atom is ignored.",
        "ETE-MDSCN-001; the atom is no longer in the queue",
    ),
    decoder(
        "mispredicts-do-not-toggle",
        || {
            layers::with(|_, _| {
                let mut came = false;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    let is_another = matches!(packet, Packet::Mispredict { atoms: None });
                    if !(came && is_another) {
                        followed.packet(packet);
                    }
                    came = is_another || matches!(packet, Packet::Mispredict { .. });
                }))
            })
        },
        "A second Mispredict in a row is ignored.",
        "ETE-XYDNP-001; a flag in place of a change",
    ),
    decoder(
        "cancel-removes-events",
        || cancelling(|event| matches!(event, Event::Event { .. })),
        "A Cancel removes Event elements.",
        "ETE-DEC-CAN-002; the queue is cut after a P0 element",
    ),
    decoder(
        "cancel-removes-timestamps",
        || cancelling(|event| matches!(event, Event::Timestamp { .. })),
        "A Cancel removes Timestamp elements.",
        "ETE-DEC-CAN-001; the queue is cut after a P0 element",
    ),
    decoder(
        "cancel-removes-markers",
        || cancelling(|event| matches!(event, Event::TimestampMarker)),
        "A Cancel removes Timestamp Marker elements.",
        "ETE-DCRVK-001; what they mark is removed, too",
    ),
    decoder(
        "cancel-removes-instrumentation",
        || cancelling(|event| matches!(event, Event::Instrumentation { .. })),
        "A Cancel removes Instrumentation elements.",
        "ETE-CJRNL-001; the queue is cut after a P0 element",
    ),
    decoder(
        "cancel-removes-trace-info",
        || cancelling(|event| matches!(event, Event::TraceInfo { .. })),
        "A Cancel removes the Trace Info that it crosses.",
        "ETE-YZPCB-001; the text discards it, the table does not",
    ),
    decoder(
        "discard-drops-instrumentation",
        || discarding(|event| matches!(event, Event::Instrumentation { .. })),
        "Discard drops Instrumentation elements.",
        "ETE-DEC-DIS-001; OpenCSD does so",
    ),
    decoder(
        "discard-drops-events",
        || discarding(|event| matches!(event, Event::Event { .. })),
        "Discard drops Event elements.",
        "ETE-DEC-DIS-001; the queue is emptied",
    ),
    decoder(
        "discard-drops-timestamps",
        || discarding(|event| matches!(event, Event::Timestamp { .. })),
        "Discard drops Timestamp elements.",
        "ETE-DEC-DIS-001; the queue is emptied",
    ),
    decoder(
        "discard-commits",
        || {
            held(|packet, held, followed| {
                if matches!(packet, Packet::Discard | Packet::Overflow) && held.len() + held.unseen > 0 {
                    followed.silent(&Packet::Commit(number(held.len() + held.unseen)));
                }
                followed.packet(packet);
            })
        },
        "Discard and Overflow commit what is uncommitted.",
        "ETE-YHRPG-001, ETE-CTYFK-001; a queue that is flushed",
    ),
    decoder(
        "end-commits",
        || layers::with(|parameters, _| Box::new(EndCommits(Held::new(parameters)))),
        "What is uncommitted at the end of the stream is reported as executed.",
        "ETE-NQPPX-001, ETE-DEC-ERR-004; a queue that is flushed in a destructor",
    ),
    decoder(
        "discard-waits-for-trace-info",
        || {
            layers::with(|_, _| {
                let mut waits = false;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    waits &= !matches!(packet, Packet::TraceInfo { .. });
                    if !waits {
                        followed.packet(packet);
                    }
                    waits |= *packet == Packet::Discard;
                }))
            })
        },
        "After Discard nothing is followed up to the next Trace Info.",
        "ETE-DEC-AN-006, ETE-CTYFK-001; OpenCSD does so",
    ),
    decoder(
        "later-trace-info-discards",
        || {
            layers::with(|_, _| {
                let mut started = false;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    if matches!(packet, Packet::TraceInfo { .. }) && core::mem::replace(&mut started, true) {
                        followed.silent(&Packet::Discard);
                    }
                    followed.packet(packet);
                }))
            })
        },
        "A periodic Trace Info starts decoding anew.",
        "ETE-PKZKZ-001, ETE-DEC-SYNC-005; one function for the first and later ones",
    ),
];

const fn except(is_none: bool, count: usize) -> usize {
    if is_none { 0 } else { count }
}

/// Follows packets with the right P0 elements at hand, as they are before the packet.
fn held(follow: fn(&Packet, &Held, &mut Followed<'_>)) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |parameters, _| {
        let mut held = Held::new(parameters);
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            follow(packet, &held, followed);
            held.take(packet, 0);
        }))
    })
}

/// What was reported of such events between the oldest cancelled P0 element and the Cancel does not stay.
fn cancelling(drops: fn(&Event) -> bool) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |parameters, _| {
        let mut held = Held::new(parameters);
        let mut dropped: Vec<(u64, u64)> = Vec::new();
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            let index = followed.place.packet;
            if let Some(first) = held.take(packet, index) {
                dropped.push((first, index));
            }
            followed.packet(packet);
            let is_dropped = |packet: u64| dropped.iter().any(|(from, to)| (*from..=*to).contains(&packet));
            followed.retain(|place, entry| {
                !matches!(entry, Entry::Event(event) if drops(event) && is_dropped(place.packet))
            });
        }))
    })
}

/// Such events that come with a Discard or Overflow are not reported.
fn discarding(drops: fn(&Event) -> bool) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            followed.packet(packet);
            let is_discard = matches!(packet, Packet::Discard | Packet::Overflow);
            followed.retain_events(|event| !(is_discard && drops(event)));
        }))
    })
}

fn ignore_spec(packet: &Packet, followed: &mut Followed<'_>) {
    let mut without = *packet;
    let mut spec = None;
    if let Packet::TraceInfo { speculation, .. } = &mut without {
        spec = speculation.take();
    }
    followed.packet(&without);
    for event in followed.events() {
        if let Event::TraceInfo { speculation, .. } = event {
            *speculation = spec.map_or(0, |field: VariableField| field.bits as u32);
        }
    }
}

fn mispredict_first(packet: &Packet, parameters: &Parameters, followed: &mut Followed<'_>) {
    let Resolution { atoms, cancel, mispredict, .. } = Resolution::of(packet, parameters);
    if cancel == 0 || !mispredict {
        return followed.packet(packet);
    }
    if let Some(atoms) = atoms {
        followed.packet(&Packet::Atoms(atoms));
    }
    followed.packet(&Packet::Mispredict { atoms: None });
    followed.packet(&Packet::Cancel1 { count: number(cancel), mispredict: false });
}

/// The Target Address after an atom is repeated after its Mispredict.
fn keep_addresses() -> Box<dyn Decoder<ArmEte>> {
    layers::with(|_, _| {
        let mut latest = None;
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            let point = followed.point_of(packet);
            followed.packet(packet);
            match packet {
                Packet::TargetAddress { .. } => latest = point,
                Packet::Mispredict { atoms: None } => {
                    latest.into_iter().for_each(|point| followed.insert(point));
                }
                Packet::Atoms(_) | Packet::SourceAddress(_) | Packet::Exception { .. } | Packet::Q { .. } => {
                    latest = None;
                }
                _ => {}
            }
        }))
    })
}

struct EndCommits(Held);

impl Bug for EndCommits {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        followed.packet(packet);
        self.0.take(packet, 0);
    }

    fn finish(&mut self, followed: &mut Followed<'_>) {
        if self.0.len() > 0 {
            followed.silent(&Packet::Commit(number(self.0.len() + self.0.unseen)));
        }
    }
}
