//! ARM ETM: where a decoder may join, and what it can know then.
//!
//! | | ETMv1, ETMv2 | ETMv3 |
//! |---|---|---|
//! | a sync point | the cycle of a synchronisation; in ETMv1, one whose APO can be read | the first record of an A-sync |
//! | its suffix | what happened from that cycle on, whenever it is reported | what is reported from the first I-sync after it on |
//! | garbage | records with bits set that are always 0 | bytes that begin packets, in records of a bare port |
//!
//! A decoder that starts at a sync point cannot know state from before it: bits of data addresses and timestamps, load
//! misses, cycles of the first instruction and before it, in ETMv1 the position of the branch whose address
//! synchronises. There it may report less, but nothing different.

use traceproof_vectors::arm_etm::v2::{Cycle, UPPER_NIBBLE};
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, DataAddress, Event, Packet, Parameters, v1};
use traceproof_vectors::{Entry, Log, Place, Program, Protocol, Recovery};

use crate::family::{Garbage, JudgedProtocol, PriorState, SyncPoints, Tail};
use crate::relations::push_all;

/// Bytes that belong to no ETMv3 stream: branch bytes without end; the beginning of an I-sync, which takes the bytes of
/// the next A-sync for its own; the beginning of a timestamp; data and reserved headers.
const GARBAGE: [&[u8]; 4] = [
    &[0xff; 7],
    &[0x55, 0xaa, 0x3c, 0x13, 0x88, 0x08, 0x21],
    &[0x77, 0x1e, 0xd5, 0x42, 0x81],
    &[0x2a, 0x11, 0x66, 0x94, 0x16],
];

/// Where decoding of ARM ETM may start late.
pub(super) const SYNC_POINTS: SyncPoints<ArmEtm> = SyncPoints {
    points,
    tail,
    first_wrong,
    garbage: Some(Garbage { bytes: garbage, takes_a_point: garbage_takes_a_point }),
};

fn points(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<usize> {
    let mut decoder = ArmEtm::reference_decoder();
    if decoder.begin(parameters, program).is_err() {
        return Vec::new();
    }
    let log = push_all(decoder.as_mut(), [wire]);
    let record = record(parameters) as u64;
    let point = |(place, entry): &(Place, Entry<ArmEtm>)| match entry {
        Entry::Packet(Packet::AlignmentSync { .. }) => Some(place.byte - place.byte % record),
        Entry::Event(Event::Synchronisation { cycle, .. }) => {
            Some(cycle * record).filter(|&byte| can_join(wire, byte, parameters))
        }
        _ => None,
    };
    log.entries.iter().filter_map(point).filter_map(|byte| usize::try_from(byte).ok()).collect()
}

fn tail(log: &Log<ArmEtm>, from: usize, parameters: &Parameters) -> Tail<ArmEtm> {
    match parameters.architecture {
        Architecture::V3 => bytes_from(&log.entries, from as u64),
        Architecture::V1 | Architecture::V2 => {
            let cycle = (from / record(parameters)) as u64;
            // Data of ETMv1 come before the branch address that synchronises, those of ETMv2 after the TFO packet.
            let data = cycle + u64::from(parameters.architecture == Architecture::V1);
            cycles_from(&log.entries, cycle, data)
        }
    }
}

fn garbage(parameters: &Parameters, index: usize) -> Vec<u8> {
    match parameters.architecture {
        Architecture::V3 => {
            let bytes = GARBAGE.get(index % GARBAGE.len()).copied().unwrap_or_default();
            let record = |&byte: &u8| if parameters.bare_port { vec![0, byte] } else { vec![byte] };
            bytes.iter().flat_map(record).collect()
        }
        Architecture::V1 | Architecture::V2 => vec![UPPER_NIBBLE; record(parameters) * (1 + index % 3)],
    }
}

const fn garbage_takes_a_point(parameters: &Parameters) -> bool {
    matches!(parameters.architecture, Architecture::V3)
}

fn first_wrong(expected: &[Event], got: &[Event], knowledge: PriorState) -> Option<usize> {
    let first = |wanted: fn(&Event) -> bool| expected.iter().position(wanted);
    let counted = [
        first(|event| matches!(event, Event::Atom { .. })),
        // Of the I-sync that begins the suffix; the cycle count packet may follow it.
        first(|event| matches!(event, Event::Gap { .. })),
    ];
    (0..expected.len().max(got.len())).find(|&index| match (expected.get(index), got.get(index)) {
        (Some(expected), Some(got)) => !agree(expected, got, counted.contains(&Some(index)), knowledge),
        _ => true,
    })
}

/// Bytes of what is captured at once; decoding can only begin with a whole one.
const fn record(parameters: &Parameters) -> usize {
    match parameters.architecture {
        Architecture::V3 if parameters.bare_port => 2,
        Architecture::V3 => 1,
        Architecture::V1 | Architecture::V2 => Cycle::size(parameters),
    }
}

/// Whether the address of BE or BD at `byte` can be found from there on: its APO is there and fits (ETMv1).
fn can_join(wire: &[u8], byte: u64, parameters: &Parameters) -> bool {
    if parameters.architecture != Architecture::V1 {
        return true;
    }
    let suffix = usize::try_from(byte).ok().and_then(|byte| wire.get(byte..)).unwrap_or_default();
    let mut apo = suffix.chunks_exact(record(parameters)).skip(1).take(2).map(|record| {
        let pins = v1::Cycle::from_bytes(record, parameters).ok()?;
        let code = match pins.pipestat {
            v1::Pipestat::Tr => (pins.tracepkt & 0b111) as u8,
            status => status.code(),
        };
        (code < 4).then_some(code)
    });
    match (apo.next().flatten(), apo.next().flatten()) {
        (Some(low), Some(high)) => (high << 2 | low) < 15,
        _ => false,
    }
}

/// What is reported from the first I-sync at or after byte `from` on.
fn bytes_from(entries: &[(Place, Entry<ArmEtm>)], from: u64) -> Tail<ArmEtm> {
    let start = |wanted: fn(&Entry<ArmEtm>) -> bool| {
        let found = entries.iter().position(|(place, entry)| place.byte >= from && wanted(entry));
        entries.split_at_checked(found.unwrap_or(entries.len())).unwrap_or_default()
    };
    let (_, packets) = start(|entry| matches!(entry, Entry::Packet(Packet::InstructionSync { .. })));
    let (before, suffix) = start(|entry| matches!(entry, Entry::Event(Event::InstructionSync { .. })));
    let atoms = events(before).filter(|event| matches!(event, Event::Atom { .. })).count() as u64;
    let transfers = events(before).filter(|event| matches!(event, Event::Transfer { .. })).count() as u64;
    Tail {
        packets: packets_of(packets),
        events: events(suffix).filter_map(|event| shifted(event, atoms, transfers)).collect(),
        errors: errors_of(suffix),
        ..Tail::default()
    }
}

/// What happened from `cycle` on, and data from `data` on, whenever it is reported. Packets and faults are those after
/// the first that synchronises: earlier ones were sent before.
fn cycles_from(entries: &[(Place, Entry<ArmEtm>)], cycle: u64, data: u64) -> Tail<ArmEtm> {
    let all = events(entries).collect::<Vec<_>>();
    let ignored = |index: usize| ignored_in(all.get(index..).unwrap_or_default());
    let transfers = all.iter().enumerate().filter_map(|(index, event)| match **event {
        Event::Transfer { transfer, when, .. } if when < data => Some(transfer + 1),
        Event::IgnoredTransfers { last, .. } if ignored(index) < data => Some(last + 1),
        _ => None,
    });
    let transfers = transfers.max().unwrap_or(0);
    let kept = all.iter().enumerate().filter(|(index, event)| match ***event {
        Event::Instruction { cycle: when, .. }
        | Event::InstructionAt { cycle: when, .. }
        | Event::Synchronisation { cycle: when, .. }
        | Event::Branch { cycle: when, .. }
        | Event::Exception { cycle: when, .. }
        | Event::PossibleException { cycle: when, .. }
        | Event::Trigger { when }
        | Event::ContextId { when, .. }
        | Event::MissData { when, .. }
        | Event::IgnoredData { when, .. } => when >= cycle,
        Event::Transfer { when, .. } => when >= data,
        Event::IgnoredTransfers { .. } => ignored(*index) >= data,
        // Of the oldest cycle only, which may be an older one.
        Event::Incomplete { .. } => false,
        _ => true,
    });
    let synchronises = |(_, entry): &(Place, Entry<ArmEtm>)| matches!(entry, Entry::Event(Event::Synchronisation { cycle: when, .. }) if *when >= cycle);
    let start = entries.iter().position(synchronises).unwrap_or(entries.len());
    let suffix = entries.get(start..).unwrap_or_default();
    Tail {
        packets: packets_of(suffix),
        events: kept.filter_map(|(_, event)| shifted(event, cycle, transfers)).collect(),
        errors: errors_of(suffix),
        ..Tail::default()
    }
}

/// The cycle of the exception that ignores transfers: the event that follows says it.
fn ignored_in(events: &[&Event]) -> u64 {
    let exception = events.iter().find_map(|event| match event {
        Event::Exception { cycle, .. } => Some(*cycle),
        _ => None,
    });
    exception.unwrap_or(0)
}

fn events(entries: &[(Place, Entry<ArmEtm>)]) -> impl Iterator<Item = &Event> {
    entries.iter().filter_map(|(_, entry)| match entry {
        Entry::Event(event) => Some(event),
        _ => None,
    })
}

fn packets_of(entries: &[(Place, Entry<ArmEtm>)]) -> Vec<Packet> {
    let packet = |(_, entry): &(Place, Entry<ArmEtm>)| match entry {
        Entry::Packet(packet) => Some(*packet),
        _ => None,
    };
    entries.iter().filter_map(packet).collect()
}

fn errors_of(entries: &[(Place, Entry<ArmEtm>)]) -> usize {
    let error = |entry: &Entry<ArmEtm>| match entry {
        // What was before, a late decoder does not know, so that nothing can contradict it.
        Entry::Fault(fault) => ArmEtm::recovery(fault.class) != Recovery::GoesOn,
        _ => false,
    };
    entries.iter().filter(|(_, entry)| error(entry)).count()
}

/// The event as if the stream began at the sync point: numbers and times from there on, data of older misses as data of
/// no miss. `None` if it concerns only older ones.
fn shifted(event: &Event, time: u64, transfers: u64) -> Option<Event> {
    let at = |when: u64| when.saturating_sub(time);
    let number = |transfer: u64| transfer.checked_sub(transfers);
    Some(match *event {
        Event::MissData { transfer, when, .. } if transfer < transfers => {
            Event::IgnoredData { when: at(when), tag: 0 }
        }
        Event::IgnoredData { when, .. } => Event::IgnoredData { when: at(when), tag: 0 },
        Event::MissData { transfer, when, value } => {
            Event::MissData { transfer: number(transfer)?, when: at(when), value }
        }
        Event::Missing { transfer, reason } => Event::Missing { transfer: number(transfer)?, reason },
        Event::Transfer { transfer, when, address, value, big_endian } => {
            Event::Transfer { transfer: number(transfer)?, when: at(when), address, value, big_endian }
        }
        Event::StoreFailed { transfer } => Event::StoreFailed { transfer: number(transfer)? },
        Event::InstructionAt { cycle, address, isa, executed } => {
            Event::InstructionAt { cycle: at(cycle), address, isa, executed }
        }
        Event::Instruction { cycle, executed, phantom } => {
            Event::Instruction { cycle: at(cycle), executed, phantom }
        }
        Event::Synchronisation { cycle, reason, address, isa, context_id, lsm } => {
            Event::Synchronisation { cycle: at(cycle), reason, address, isa, context_id, lsm }
        }
        Event::Branch { cycle, address, isa } => Event::Branch { cycle: at(cycle), address, isa },
        Event::Exception { cycle, kind, vector, at: place, cancelled } => {
            Event::Exception { cycle: at(cycle), kind, vector, at: place, cancelled: cancelled.map(at) }
        }
        Event::PossibleException { cycle, vector } => Event::PossibleException { cycle: at(cycle), vector },
        Event::IgnoredTransfers { first, last } => {
            Event::IgnoredTransfers { first: number(first)?, last: number(last)? }
        }
        Event::Trigger { when } => Event::Trigger { when: at(when) },
        Event::ContextId { when, value } => Event::ContextId { when: at(when), value },
        Event::Incomplete { when } => Event::Incomplete { when: at(when) },
        Event::ExceptionReturn { when } => Event::ExceptionReturn { when: at(when) },
        Event::ExceptionEntry { when } => Event::ExceptionEntry { when: at(when) },
        Event::Vmid { when, value } => Event::Vmid { when: at(when), value },
        Event::DataSuppressed { when } => Event::DataSuppressed { when: at(when) },
        // The others have no number and no time: atoms, I-syncs, gaps, branches, timestamps.
        _ => *event,
    })
}

/// Whether `got` agrees with `expected`, as far as a late decoder can know it. `first`: it is the first instruction, or
/// the first gap.
fn agree(expected: &Event, got: &Event, first: bool, knowledge: PriorState) -> bool {
    let garbled = knowledge == PriorState::Garbled;
    match (*expected, *got) {
        (
            Event::Timestamp { value: reported, clock_change: changed },
            Event::Timestamp { value, clock_change },
        ) => changed == clock_change && (garbled || value.is_none() || value == reported),
        (
            Event::Atom { address, isa, executed, cycles: Some(reported) },
            Event::Atom { cycles: Some(cycles), .. },
        ) if first => {
            // The cycles before it may lie before the sync point.
            let same = Event::Atom { address, isa, executed, cycles: Some(cycles) } == *got;
            same && (garbled || cycles <= reported)
        }
        (Event::Gap { cycles: Some(reported) }, Event::Gap { cycles: Some(cycles) }) if first => {
            garbled || cycles <= reported
        }
        // The branch whose address synchronises.
        (
            Event::InstructionAt { cycle: 0, executed: reported, .. },
            Event::InstructionAt { cycle: 0, executed, address: None, .. },
        ) => executed == reported,
        (
            Event::Exception { cycle: 0, kind: reported, vector: to, cancelled: None, .. },
            Event::Exception { cycle: 0, kind, vector, at: None, cancelled: None },
        ) => (kind, vector) == (reported, to),
        (
            Event::Transfer { transfer, when, address: reported, value, big_endian },
            Event::Transfer { address, big_endian: late, .. },
        ) => {
            let same = Event::Transfer { transfer, when, address, value, big_endian: late } == *got;
            // The big-endian flag may have been sent only before the sync point.
            same && (garbled || (within(address, reported) && (!late || big_endian)))
        }
        _ => expected == got,
    }
}

/// Whether all known bits of `address` agree with `reported`.
fn within(address: Option<DataAddress>, reported: Option<DataAddress>) -> bool {
    match (address, reported) {
        (None, _) => true,
        (Some(address), Some(reported)) => {
            address.known() & !reported.known() == 0
                && (address.value() ^ reported.value()) & address.known() == 0
        }
        (Some(_), None) => false,
    }
}
