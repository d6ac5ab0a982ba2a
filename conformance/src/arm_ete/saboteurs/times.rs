//! Cycle counts, timestamps, events.

use traceproof_vectors::Decoder;
use traceproof_vectors::arm_ete::{ArmEte, Event, Packet, Parameters, TimestampOf, VariableField};

use super::counted::{Resolution, count_alone, number};
use super::layers::{self, Followed, Following};
use super::{decoder, events, following, follows};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    decoder(
        "threshold-not-added-to-short-counts",
        || {
            thresholds(|packet, count, threshold| match packet {
                Packet::CycleCount2 { .. } | Packet::CycleCount3 { .. } => {
                    count.map(|count| count - threshold)
                }
                _ => count,
            })
        },
        "The threshold is not added to counts of formats 2 and 3.",
        "ETE-PKT-CC4-001; they have no COUNT field",
    ),
    decoder(
        "threshold-not-added-to-format-1",
        || {
            thresholds(|packet, count, threshold| match packet {
                Packet::CycleCount1 { .. } => count.map(|count| count - threshold),
                _ => count,
            })
        },
        "The threshold is not added to counts of format 1.",
        "ETE-PKT-CC4-001; a public decoder never adds it",
    ),
    decoder(
        "unknown-count-is-the-threshold",
        || thresholds(|_, count, threshold| Some(count.unwrap_or(threshold))),
        "An UNKNOWN count is the threshold.",
        "ETE-PKT-CC1-001, ETE-PFZXK-001; a count of 0 to which it is added",
    ),
    decoder(
        "unknown-count-is-zero",
        || thresholds(|_, count, _| Some(count.unwrap_or(0))),
        "An UNKNOWN count is a count of 0.",
        "ETE-PFZXK-001, ETE-DEC-CC-001; OpenCSD reports it so",
    ),
    decoder(
        "threshold-without-cc",
        || following(threshold_without_cc),
        "CYCT holds whatever INFO.CC is.",
        "ETE-DEC-TI-004; OpenCSD does so",
    ),
    decoder(
        "threshold-survives-trace-info",
        || {
            layers::with(|_, _| {
                let mut latest = None;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    let mut packet = *packet;
                    if let Packet::TraceInfo { cycle_threshold, info, .. } = &mut packet {
                        *cycle_threshold = cycle_threshold.or(latest);
                        latest = cycle_threshold.filter(|_| info.is_some());
                    }
                    followed.packet(&packet);
                }))
            })
        },
        "A Trace Info without CYCT keeps the threshold.",
        "ETE-PKT-TI-002, ETE-PKT-TI-004; it is constant within a session",
    ),
    decoder(
        "unknown-count-keeps-the-total",
        || totals(|total, count, _| total + u64::from(count.unwrap_or(0)), |_| 0),
        "An UNKNOWN count leaves the sum of cycles as it is.",
        "ETE-DEC-AN-007; nothing is added",
    ),
    decoder(
        "total-of-20-bits",
        || totals(|total, count, _| count.map_or(0, |count| total + u64::from(count)) & 0xf_ffff, |_| 0),
        "The sum of cycles has 20 bits.",
        "ETE-DEC-AN-007; the counter has",
    ),
    decoder(
        "timestamp-counts-are-added",
        || totals(|total, count, _| count.map_or(0, |count| total + u64::from(count)), |cycles| cycles),
        "The count of a timestamp enters the sum of cycles.",
        "ETE-MWJHD-001, ETE-DEC-AN-007; a public decoder does so",
    ),
    decoder(
        "total-without-threshold",
        || {
            totals(
                |total, count, threshold| count.map_or(0, |count| total + u64::from(count - threshold)),
                |_| 0,
            )
        },
        "The sum of cycles has no thresholds in it.",
        "ETE-DEC-AN-007, ETE-PKT-CC4-001; it is added where a count is printed",
    ),
    decoder(
        "cycles-before-their-commit",
        || {
            layers::with(|parameters, _| {
                let parameters = parameters.clone();
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    cycles_first(packet, &parameters, followed);
                }))
            })
        },
        "A cycle count comes before what its Commit releases.",
        "ETE-BZQWX-001; the fields are read in one go",
    ),
    decoder(
        "format-3-commits-aa",
        || {
            commits(
                |packet, commit| {
                    if matches!(packet, Packet::CycleCount3 { .. }) { commit - 1 } else { commit }
                },
            )
        },
        "A cycle count of format 3 commits AA elements.",
        "ETE-PKT-CC3-001; AA+1",
    ),
    decoder(
        "small-format-2-commits-aaaa",
        || {
            commits(|packet, commit| match packet {
                Packet::CycleCount2 { large: false, .. } => commit - 1,
                _ => commit,
            })
        },
        "A cycle count of format 2 with a small commit commits AAAA elements.",
        "ETE-PKT-CC2-001; AAAA+1",
    ),
    decoder(
        "large-format-2-is-small",
        || {
            commits(|packet, commit| match packet {
                Packet::CycleCount2 { large: true, commit, .. } => u64::from(*commit) + 1,
                _ => commit,
            })
        },
        "0D commits AAAA+1 elements as 0C does.",
        "ETE-PKT-CC2-001; one function for both",
    ),
    decoder(
        "large-format-2-one-less",
        || {
            commits(|packet, commit| match packet {
                Packet::CycleCount2 { large: true, .. } => commit - 1,
                _ => commit,
            })
        },
        "0D commits MAXSPEC+AAAA-16 elements.",
        "ETE-PKT-CC2-001; AAAA has 16 values",
    ),
    decoder(
        "format-1-commits-one-more",
        || {
            commits(|packet, commit| match packet {
                Packet::CycleCount1 { .. } => commit + 1,
                _ => commit,
            })
        },
        "A cycle count of format 1 commits COMMIT+1 elements.",
        "ETE-PKT-CC1-001, ETE-PKT-CC1-002; the other formats count from 1",
    ),
    decoder(
        "unknown-count-commits-nothing",
        || {
            commits(|packet, commit| match packet {
                Packet::CycleCount1 { count: None, .. } => 0,
                _ => commit,
            })
        },
        "0F has no Commit element.",
        "ETE-PKT-CC1-001; with COMMOPT = 1 it has one byte",
    ),
    decoder(
        "cycle-count-commits-with-commopt",
        || {
            layers::with_parameters(
                |_| {},
                |parameters| parameters.commopt = false,
                |parameters, _| {
                    let commopt = parameters.commopt;
                    Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| match packet {
                        Packet::CycleCount3 { .. } if commopt => followed.packet(&count_alone(packet)),
                        _ => followed.packet(packet),
                    }))
                },
            )
        },
        "0D commits with COMMOPT = 1, too.",
        "ETE-PKT-CC2-002; the K10 pseudocode does so",
    ),
    decoder(
        "zero-timestamp-is-a-time",
        || {
            events(|mut event| {
                if let Event::Timestamp { value, .. } = &mut event {
                    *value = Some(value.unwrap_or(0));
                }
                Some(event)
            })
        },
        "A timestamp of 0 is the time 0.",
        "ETE-TS0-001; a number as any other",
    ),
    decoder(
        "zero-timestamp-count-is-none",
        || {
            events(|mut event| {
                if let Event::Timestamp { cycles, .. } = &mut event {
                    *cycles = cycles.filter(|cycles| *cycles != 0);
                }
                Some(event)
            })
        },
        "A timestamp's count of 0 is UNKNOWN.",
        "ETE-MWJHD-001, ETE-PKT-TS-002; a cycle count of 0 is",
    ),
    decoder(
        "timestamp-count-with-threshold",
        || {
            layers::with(|_, _| {
                let mut threshold = 0;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    take_threshold(packet, &mut threshold);
                    followed.packet(packet);
                    for event in followed.events() {
                        if let Event::Timestamp { cycles: Some(cycles), .. } = event {
                            *cycles += threshold;
                        }
                    }
                }))
            })
        },
        "The threshold is added to the count of a timestamp.",
        "ETE-PKT-TS-002, ETE-PKT-CC4-001; both are counts of cycles",
    ),
    decoder(
        "marker-survives-overflow",
        || marked(|packet, marker| marker && matches!(packet, Packet::Overflow)),
        "A marker before an Overflow belongs to the timestamp after it.",
        "ETE-JNWJY-001; Overflow drops instructions only",
    ),
    decoder(
        "marker-survives-discard",
        || marked(|packet, marker| marker && matches!(packet, Packet::Discard)),
        "A marker before a Discard belongs to the timestamp after it.",
        "ETE-JNWJY-001; Discard drops instructions only",
    ),
    decoder(
        "marker-survives-its-timestamp",
        || marked(|packet, marker| marker && matches!(packet, Packet::Timestamp { .. })),
        "A marker belongs to every timestamp after it.",
        "ETE-DGTJZ-001, ETE-MCSGX-001; a place that is kept",
    ),
    decoder(
        "markers-ignored",
        || {
            events(|mut event| {
                if let Event::Timestamp { of, .. } = &mut event {
                    *of = TimestampOf::Latest;
                }
                Some(event)
            })
        },
        "A timestamp belongs to the latest element whether there are markers or not.",
        "ETE-MCSGX-001, ETE-DGTJZ-001; ETE 1.0 has none",
    ),
    decoder(
        "timestamp-before-marker-is-latest",
        || {
            events(|mut event| {
                if let Event::Timestamp { of: of @ TimestampOf::BeforeTrace, .. } = &mut event {
                    *of = TimestampOf::Latest;
                }
                Some(event)
            })
        },
        "A timestamp without marker belongs to the latest element although there are markers.",
        "ETE-DGTJZ-001; right where there are none",
    ),
    decoder(
        "marker-events-once",
        || {
            layers::with(|_, _| {
                let mut pending = false;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    let is_marker = *packet == Packet::TimestampMarker;
                    if !(is_marker && pending) {
                        followed.packet(packet);
                    }
                    pending = is_marker || pending && !matches!(packet, Packet::Timestamp { .. });
                }))
            })
        },
        "Of two markers without timestamp between them the newer one is ignored.",
        "ETE-VWJVC-001; the first one is waiting",
    ),
    decoder(
        "events-as-a-number",
        || {
            following(|packet, followed| {
                followed.packet(packet);
                if let Packet::Event(mask) = *packet {
                    for event in followed.events() {
                        if let Event::Event { number } = event {
                            *number = mask;
                        }
                    }
                }
            })
        },
        "The number of an event is the mask of its packet.",
        "ETE-PKT-EVT-001; OpenCSD does so",
    ),
    decoder(
        "first-event-only",
        || {
            follows(|packet| {
                if let Packet::Event(events) = packet {
                    *events &= events.wrapping_neg();
                }
            })
        },
        "An Event packet has one Event element.",
        "ETE-PKT-EVT-001; one packet, one element",
    ),
    decoder(
        "highest-event-first",
        || {
            following(|packet, followed| match *packet {
                Packet::Event(events) => {
                    for number in (0..4).rev().filter(|number| events >> number & 1 == 1) {
                        followed.packet(&Packet::Event(1 << number));
                    }
                }
                _ => followed.packet(packet),
            })
        },
        "The Event elements of a packet come highest first.",
        "ETE-PKT-EVT-001; bits are taken off from the top",
    ),
];

fn take_threshold(packet: &Packet, threshold: &mut u32) {
    if let Packet::TraceInfo { info, cycle_threshold, .. } = packet {
        let counts = info.is_some_and(|info| info.bits & 1 == 1);
        *threshold = cycle_threshold.filter(|_| counts).map_or(0, |field| (field.bits & 0xfff) as u32);
    }
}

/// Changes counts of cycles, given their packet and the threshold.
fn thresholds(change: fn(&Packet, Option<u32>, u32) -> Option<u32>) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        let (mut threshold, mut sum) = (0, 0);
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            take_threshold(packet, &mut threshold);
            followed.packet(packet);
            for event in followed.events() {
                if let Event::Cycles { count, total } = event
                    && Resolution::is_cycle_count(packet)
                {
                    *count = change(packet, *count, threshold);
                    sum = count.map_or(0, |count| sum + u64::from(count));
                    *total = sum;
                }
            }
        }))
    })
}

/// Changes sums of cycles: by a count, given the threshold, and by a timestamp's count.
fn totals(add: fn(u64, Option<u32>, u32) -> u64, of_timestamp: fn(u64) -> u64) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        let (mut threshold, mut sum) = (0, 0);
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            take_threshold(packet, &mut threshold);
            followed.packet(packet);
            for event in followed.events() {
                match event {
                    Event::Cycles { count, total } => {
                        sum = add(sum, *count, threshold);
                        *total = sum;
                    }
                    Event::Timestamp { cycles: Some(cycles), .. } => sum += of_timestamp((*cycles).into()),
                    _ => {}
                }
            }
        }))
    })
}

/// Changes how many elements cycle counts commit.
fn commits(change: fn(&Packet, u64) -> u64) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |parameters, _| {
        let parameters = parameters.clone();
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            let commit = Resolution::of(packet, &parameters).commit;
            let speculates = Resolution::is_cycle_count(packet) && !parameters.commopt;
            let changed = if speculates { change(packet, commit) } else { commit };
            if changed == commit {
                return followed.packet(packet);
            }
            if changed > 0 {
                followed.packet(&Packet::Commit(number(changed)));
            }
            followed.packet(&count_alone(packet));
        }))
    })
}

fn cycles_first(packet: &Packet, parameters: &Parameters, followed: &mut Followed<'_>) {
    let commit = Resolution::of(packet, parameters).commit;
    if Resolution::is_cycle_count(packet) && commit > 0 {
        followed.packet(&count_alone(packet));
        followed.packet(&Packet::Commit(number(commit)));
    } else {
        followed.packet(packet);
    }
}

fn threshold_without_cc(packet: &Packet, followed: &mut Followed<'_>) {
    let mut changed = *packet;
    let mut counts = false;
    if let Packet::TraceInfo { info, cycle_threshold: Some(_), .. } = &mut changed {
        let field = info.get_or_insert(VariableField { bits: 0, bytes: 1 });
        counts = field.bits & 1 == 1;
        field.bits |= 1;
    }
    followed.packet(&changed);
    for event in followed.events() {
        if let (Event::TraceInfo { cycle_counting, .. }, Packet::TraceInfo { .. }) = (event, packet) {
            *cycle_counting &=
                counts || !matches!(changed, Packet::TraceInfo { cycle_threshold: Some(_), .. });
        }
    }
}

/// A marker is kept where it must be forgotten.
fn marked(keeps: fn(&Packet, bool) -> bool) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        let mut marker = false;
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            let restores = keeps(packet, marker);
            followed.packet(packet);
            match packet {
                Packet::TimestampMarker => marker = true,
                Packet::Timestamp { .. } | Packet::Discard | Packet::Overflow => marker = restores,
                _ => {}
            }
            if restores {
                followed.silent(&Packet::TimestampMarker);
            }
        }))
    })
}
