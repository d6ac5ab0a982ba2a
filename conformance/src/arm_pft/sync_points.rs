//! ARM PFT: where a decoder may join, and what it can know then.
//!
//! A sync point is the first byte of an A-sync. Its tail is what is reported from the first I-sync at or after it on. A
//! late decoder cannot know the cycles before that I-sync, nor the bits of a timestamp that only earlier packets
//! carried: there it may report less, and nothing else.

use traceproof_vectors::arm_pft::{ArmPft, Event, Packet, Parameters};
use traceproof_vectors::{Entry, FaultClass, Log, Place, Program, Protocol, Recovery};

use crate::family::{FamilyRules, Garbage, PriorState, SyncPoints, Tail};
use crate::relations::push_all;

/// Bytes that belong to no stream: address bytes without end; the beginning of an I-sync; the beginning of a timestamp;
/// reserved headers.
const GARBAGE: [&[u8]; 4] =
    [&[0xff; 7], &[0x08, 0x3c, 0x13, 0x88], &[0x42, 0xd5, 0x9e, 0x81], &[0x1c, 0x24, 0x30, 0x7c]];

/// Where decoding of ARM PFT may start late.
pub(super) const SYNC_POINTS: SyncPoints<ArmPft> = SyncPoints {
    points,
    tail,
    first_wrong,
    garbage: Some(Garbage { bytes: garbage, takes_a_point: |_| true }),
};

fn points(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<usize> {
    let mut decoder = ArmPft::reference_decoder();
    if decoder.begin(parameters, program).is_err() {
        return Vec::new();
    }
    let log = push_all(decoder.as_mut(), [wire]);
    let point = |(place, entry): &(Place, Entry<ArmPft>)| match entry {
        Entry::Packet(Packet::AlignmentSync { .. }) => usize::try_from(place.byte).ok(),
        _ => None,
    };
    let points = log.entries.iter().filter_map(point);
    points
        .filter(|&from| !parameters.return_stack || has_no_older_returns(&wire[from..], parameters, program))
        .collect()
}

/// Whether no return after the sync point goes to a call before it. A PTM empties its return stack at every I-sync
/// (PFT-ENC-034), but a decoder may keep it (reading `pft-return-stack-over-periodic-sync`), so a case may have such a
/// stream.
fn has_no_older_returns(wire: &[u8], parameters: &Parameters, program: &Program) -> bool {
    let mut decoder = ArmPft::reference_decoder();
    if decoder.begin(parameters, program).is_err() {
        return false;
    }
    let log = push_all(decoder.as_mut(), [wire]);
    log.faults().all(|fault| fault.class != FaultClass::InvalidReference)
}

fn garbage(_: &Parameters, index: usize) -> Vec<u8> {
    GARBAGE.get(index % GARBAGE.len()).copied().unwrap_or_default().to_vec()
}

fn tail(log: &Log<ArmPft>, from: usize, _: &Parameters) -> Tail<ArmPft> {
    let is_start = |(place, entry): &&(Place, Entry<ArmPft>)| {
        place.byte >= from as u64 && matches!(entry, Entry::Packet(Packet::InstructionSync { .. }))
    };
    let Some((start, _)) = log.entries.iter().find(is_start) else {
        return Tail { packets: Vec::new(), events: Vec::new(), errors: 0 };
    };
    let first = log.entries.iter().position(|(place, _)| place.packet >= start.packet);
    let (before, after) = log.entries.split_at(first.unwrap_or(log.entries.len()));
    let before_total = before.iter().rev().find_map(|(_, entry)| match entry {
        Entry::Event(Event::Cycles { total, .. }) => Some(*total),
        _ => None,
    });
    let mut tail = Tail { packets: Vec::new(), events: Vec::new(), errors: 0 };
    for (_, entry) in after {
        match entry {
            Entry::Packet(packet) => tail.packets.push(*packet),
            Entry::Event(event) => tail.events.push(counted_from(*event, before_total.unwrap_or(0))),
            // A late decoder does not know what was before, so that nothing can contradict it.
            Entry::Fault(fault) if ArmPft::recovery(fault.class) != Recovery::GoesOn => tail.errors += 1,
            Entry::Fault(_) => {}
        }
    }
    tail
}

/// The event, with cycles counted from a later start.
fn counted_from(event: Event, before: u64) -> Event {
    match event {
        Event::Cycles { count, total } => Event::Cycles { count, total: total.saturating_sub(before) },
        other => other,
    }
}

fn first_wrong(expected: &[Event], got: &[Event], prior: PriorState) -> Option<usize> {
    (0..expected.len().max(got.len())).find(|&index| match (expected.get(index), got.get(index)) {
        (Some(expected), Some(got)) => !agree(expected, got, prior == PriorState::Garbled),
        _ => true,
    })
}

/// Whether a late decoder may report `got` where `expected` is reported from the beginning.
fn agree(expected: &Event, got: &Event, garbled: bool) -> bool {
    match (*expected, *got) {
        (
            Event::Timestamp { value: whole, clock_change: changed },
            Event::Timestamp { value, clock_change },
        ) => changed == clock_change && (garbled || value.is_none() || value == whole),
        (Event::Cycles { count: whole, .. }, Event::Cycles { count, .. }) if garbled => count == whole,
        _ => expected == got,
    }
}
