//! ARM PFT: where a decoder may join, and what it can know then.
//!
//! A sync point is the first byte of an A-sync. Its tail is what is reported from the first I-sync at or after it on. A
//! late decoder cannot know the cycles before that I-sync, nor the bits of a timestamp that only earlier packets
//! carried: there it may report less, and nothing else.

use traceproof_vectors::arm_pft::{ArmPft, Event, Packet, Parameters};
use traceproof_vectors::{Entry, FaultClass, Log, Place, Program, Protocol, Recovery};

use crate::family::{Garbage, JudgedProtocol, PriorState, SyncPoints, Tail};
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

/// Bytes that looking for calls before sync points may decode, as a multiple of the stream's. A PTM that empties its
/// return stack at every I-sync costs 1; of streams for which this is too little, sync points are left out.
const MOST_WORK: usize = 8;

fn points(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<usize> {
    let mut decoder = ArmPft::reference_decoder();
    if decoder.begin(parameters, program).is_err() {
        return Vec::new();
    }
    let log = push_all(decoder.as_mut(), [wire]);
    let syncs = syncs(&log);
    if !parameters.return_stack {
        return syncs.into_iter().map(|sync| sync.alignment).collect();
    }
    let returns_into_past = |piece: &[u8]| {
        decoder.reset();
        let log = push_all(decoder.as_mut(), [piece]);
        log.faults().any(|fault| fault.class == FaultClass::InvalidReference)
    };
    without_older_calls(wire, &syncs, returns_into_past)
}

/// The first byte of an A-sync, and of the first I-sync after it; the end of the stream if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sync {
    alignment: usize,
    instruction: usize,
}

fn syncs(log: &Log<ArmPft>) -> Vec<Sync> {
    let mut syncs = Vec::new();
    let mut instruction = usize::MAX;
    for (place, entry) in log.entries.iter().rev() {
        let byte = usize::try_from(place.byte).unwrap_or(usize::MAX);
        match entry {
            Entry::Packet(Packet::InstructionSync { .. }) => instruction = byte,
            Entry::Packet(Packet::AlignmentSync { .. }) => syncs.push(Sync { alignment: byte, instruction }),
            _ => {}
        }
    }
    syncs.reverse();
    syncs
}

/// The sync points after which no return goes to a call before them. A PTM empties its return stack at every I-sync
/// (PFT-ENC-034), but a decoder may keep it (reading `pft-return-stack-over-periodic-sync`), so a case may have such a
/// stream. `returns_into_past` says whether a piece of the stream has a return without a call in it.
///
/// From the I-sync of such a point on, a decoder that joined earlier has all that one has which joined there, and
/// possibly older calls. So only what is before that I-sync can be wrong with the point before it: going backwards,
/// every byte is decoded once where all points are good.
fn without_older_calls(
    wire: &[u8],
    syncs: &[Sync],
    mut returns_into_past: impl FnMut(&[u8]) -> bool,
) -> Vec<usize> {
    let mut good = Vec::new();
    let (mut end, mut work) = (wire.len(), wire.len().saturating_mul(MOST_WORK));
    for sync in syncs.iter().rev() {
        let piece = wire.get(sync.alignment..end).unwrap_or_default();
        let Some(left) = work.checked_sub(piece.len()) else { break };
        work = left;
        if !returns_into_past(piece) {
            good.push(sync.alignment);
            end = sync.instruction.min(wire.len());
        }
    }
    good.reverse();
    good
}

fn garbage(_: &Parameters, index: usize) -> Vec<u8> {
    GARBAGE.get(index % GARBAGE.len()).copied().unwrap_or_default().to_vec()
}

fn tail(log: &Log<ArmPft>, from: usize, _: &Parameters) -> Tail<ArmPft> {
    let is_start = |(place, entry): &&(Place, Entry<ArmPft>)| {
        place.byte >= from as u64 && matches!(entry, Entry::Packet(Packet::InstructionSync { .. }))
    };
    let Some((start, _)) = log.entries.iter().find(is_start) else {
        return Tail::default();
    };
    let first = log.entries.iter().position(|(place, _)| place.packet >= start.packet);
    let (before, after) = log.entries.split_at(first.unwrap_or(log.entries.len()));
    let before_total = before.iter().rev().find_map(|(_, entry)| match entry {
        Entry::Event(Event::Cycles { total, .. }) => Some(*total),
        _ => None,
    });
    // No I-sync carries the VMID: a late decoder reports its next packet even where it changes nothing.
    let vmid = before.iter().rev().find_map(|(_, entry)| match entry {
        Entry::Event(event @ Event::Vmid(_)) => Some(*event),
        _ => None,
    });
    let mut tail = Tail { in_force: vmid.into_iter().collect(), ..Tail::default() };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A-sync, I-sync and two more bytes, so many times.
    fn stream(count: usize) -> (Vec<u8>, Vec<Sync>) {
        let syncs = (0..count).map(|index| Sync { alignment: 14 * index, instruction: 14 * index + 6 });
        ([0, 0, 0, 0, 0, 0x80, 8, 0, 0x80, 0, 0, 1, 0x84, 0x84].repeat(count), syncs.collect())
    }

    #[test]
    fn each_byte_is_decoded_once_where_all_points_are_good() {
        let (wire, syncs) = stream(1000);
        let mut decoded = 0;
        let points = without_older_calls(&wire, &syncs, |piece| {
            decoded += piece.len();
            false
        });
        assert_eq!(points, (0..1000).map(|index| 14 * index).collect::<Vec<_>>());
        // Up to the I-sync of the next point: its A-sync is decoded twice.
        assert_eq!(decoded, wire.len() + 999 * 6);
    }

    /// A call at the beginning from which only the end returns.
    #[test]
    fn work_is_bounded_where_no_point_is_good() {
        let (wire, syncs) = stream(1000);
        let mut decoded = 0;
        let points = without_older_calls(&wire, &syncs, |piece| {
            decoded += piece.len();
            true
        });
        assert_eq!(points, Vec::<usize>::new());
        assert!(decoded <= MOST_WORK * wire.len(), "{decoded}");
    }

    /// 8000: BL 8010; 8004: B . ; 8010: BX LR.
    fn program() -> Program {
        let words = [0xeb00_0002_u32, 0xeaff_fffe, 0xe1a0_0000, 0xe1a0_0000, 0xe12f_ff1e];
        let mut program = Program::new();
        let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        program.insert(traceproof_vectors::Section::new(0x8000, code, "")).expect("free");
        program
    }

    #[test]
    fn no_point_lies_between_a_call_and_its_return() {
        const ALIGNMENT: [u8; 6] = [0, 0, 0, 0, 0, 0x80];
        let wire = [
            &ALIGNMENT[..],
            &[0x08, 0x00, 0x80, 0, 0, 0x21, 0x84], // enabled at 8000; the call
            &ALIGNMENT,
            &[0x08, 0x10, 0x80, 0, 0, 0x01, 0x84], // periodic at 8010; the return
            &ALIGNMENT,
            &[0x08, 0x04, 0x80, 0, 0, 0x01, 0x84], // periodic at 8004
        ]
        .concat();
        let on = Parameters { return_stack: true, ..Parameters::default() };
        assert_eq!(points(&wire, &on, &program()), [0, 26]);
        assert_eq!(points(&wire, &Parameters::default(), &program()), [0, 13, 26]);
    }

    /// A late decoder discards what is before its first I-sync; an earlier one does not.
    #[test]
    fn a_return_between_a_sync_and_i_sync_counts() {
        let wire = [
            &[0, 0, 0, 0, 0, 0x80, 0x08, 0x10, 0x80, 0, 0, 0x21][..], // enabled at 8010
            &[0, 0, 0, 0, 0, 0x80, 0x84],                             // an A-sync, then a return to nowhere
            &[0x08, 0x04, 0x80, 0, 0, 0x01, 0x84],                    // periodic at 8004
        ]
        .concat();
        let on = Parameters { return_stack: true, ..Parameters::default() };
        assert_eq!(points(&wire, &on, &program()), [12]);
    }
}
