//! ARM ETE and ETMv4: where a decoder may join, and what it can know then.
//!
//! A sync point is the first byte of an A-sync with a Trace Info before the next A-sync. Its tail is what packets at or
//! after it report, in the order of packets: when elements are released depends on what was uncommitted before. Until
//! both a context and a target address came after the Trace Info, a late decoder does not know where execution is. A
//! Trace Info with uncommitted P0 elements or within a transaction is no point: what becomes of them, and of the
//! addresses after them, a late decoder learns only in part. Nor is one that denies them while older elements still
//! wait, as in a damaged stream: its event waits, too. With a return stack, neither is one after which P0 elements come
//! before context and address: calls among them are pushed only by who knows the code.

use std::collections::BTreeSet;

use traceproof_vectors::arm_ete::{
    ArmEte, Atoms, Event, Outcome, Packet, Parameters, TimestampOf, VariableField,
};
use traceproof_vectors::{Address, Entry, FaultClass, Log, Place, Program, Protocol, Recovery};

use crate::family::{Garbage, JudgedProtocol, PriorState, SyncPoints, Tail};
use crate::relations::push_all;

/// Bytes that belong to no stream: reserved headers; the beginning of an address, of a timestamp, of an exception.
const GARBAGE: [&[u8]; 4] =
    [&[0x93, 0x99, 0xba, 0x6c], &[0x85, 0x02, 0x13, 0x88], &[0x02, 0xd5, 0x9e, 0x81], &[0x06, 0x1d]];

/// T of INFO.
const TRANSACTIONAL: u64 = 0x40;

/// Where decoding may start late.
pub(super) const SYNC_POINTS: SyncPoints<ArmEte> = SyncPoints {
    points,
    tail,
    first_wrong,
    garbage: Some(Garbage { bytes: garbage, takes_a_point: |_| true }),
};

fn points(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<usize> {
    let mut decoder = ArmEte::reference_decoder();
    if decoder.begin(parameters, program).is_err() {
        return Vec::new();
    }
    let log = push_all(decoder.as_mut(), [wire]);
    let (mut points, mut point) = (Vec::new(), None);
    // What came since the Trace Info of a point that is not yet taken: context, address.
    let mut unknown: Option<(usize, bool, bool)> = None;
    let mut entries = log.entries.iter().peekable();
    while let Some((place, entry)) = entries.next() {
        let Entry::Packet(packet) = entry else { continue };
        match packet {
            Packet::AlignmentSync { zeros } => {
                // A decoder that searches takes the last 11 zeros.
                point = usize::try_from(place.byte + zeros.saturating_sub(11)).ok();
            }
            Packet::TraceInfo { info, speculation, .. } => {
                let is_at_once = matches!(entries.peek(), Some((_, Entry::Event(Event::TraceInfo { .. }))));
                let is_fit =
                    is_at_once && is_absent_or(*speculation, u64::MAX) && is_absent_or(*info, TRANSACTIONAL);
                points.extend(unknown.take().map(|(point, ..)| point));
                unknown = point.take().filter(|_| is_fit).map(|point| (point, false, false));
            }
            Packet::Atoms(_) | Packet::SourceAddress { .. } | Packet::Q { .. } if parameters.return_stack => {
                unknown = None;
            }
            _ => {
                let (has_context, has_address) = carries(packet);
                if let Some((point, context, address)) = &mut unknown {
                    (*context, *address) = (*context || has_context, *address || has_address);
                    if *context && *address {
                        points.push(*point);
                        unknown = None;
                    }
                }
            }
        }
    }
    points.extend(unknown.map(|(point, ..)| point));
    points
}

/// Whether these bits of a field are 0.
fn is_absent_or(field: Option<VariableField>, mask: u64) -> bool {
    field.is_none_or(|field| field.bits & mask == 0)
}

fn garbage(_: &Parameters, index: usize) -> Vec<u8> {
    GARBAGE.get(index % GARBAGE.len()).copied().unwrap_or_default().to_vec()
}

/// What of a log is known from a sync point on.
struct Known {
    /// Index of the packet that has the first byte after the zeros before the point.
    first: u64,
    /// That of the first Trace Info.
    information: u64,
    /// That of the packet after which both context and address are known.
    flow: u64,
}

impl Known {
    fn of(log: &Log<ArmEte>, from: usize) -> Option<Self> {
        let packets = log.entries.iter().filter_map(|(place, entry)| match entry {
            Entry::Packet(packet) => Some((place, packet)),
            _ => None,
        });
        // The zeros before a point belong to its A-sync.
        let begins = |place: &Place, packet: &Packet| match packet {
            Packet::AlignmentSync { zeros } => place.byte + zeros >= from as u64,
            _ => place.byte >= from as u64,
        };
        let mut after = packets.filter(|(place, packet)| begins(place, packet)).peekable();
        let first = after.peek()?.0.packet;
        let is_info = |packet: &Packet| matches!(packet, Packet::TraceInfo { .. });
        let information = after.find(|(_, packet)| is_info(packet))?.0.packet;
        let mut whereabouts = Whereabouts::default();
        after.for_each(|(place, packet)| whereabouts.pass(place.packet, packet));
        let flow = whereabouts.since;
        Some(Self { first, information, flow: flow.unwrap_or(u64::MAX) })
    }
}

/// What packets after a Trace Info say of where execution is.
#[derive(Default)]
struct Whereabouts {
    context: bool,
    address: bool,
    /// The next address is where an exception returns to, not where execution is.
    returns: bool,
    /// The packet since which both are known for good.
    since: Option<u64>,
    /// P0 elements after it that are not cancelled: whether each is an atom.
    elements: Vec<bool>,
}

impl Whereabouts {
    fn pass(&mut self, number: u64, packet: &Packet) {
        let Resolution { atoms, elements, cancelled, mispredicts } = Resolution::of(packet);
        self.elements.resize(self.elements.len() + elements, false);
        self.elements.resize(self.elements.len() + atoms, true);
        match self.elements.len().checked_sub(cancelled) {
            Some(left) => self.elements.truncate(left),
            // Execution goes on before they were known.
            None => *self = Self::default(),
        }
        if mispredicts && (self.since.is_none() || !self.elements.contains(&true)) {
            // Execution goes on after an atom before they were known, elsewhere.
            (self.address, self.since) = (false, None);
        }
        if self.since.is_some() {
            return;
        }
        let (has_context, mut has_address) = carries(packet);
        if matches!(packet, Packet::TargetAddress { .. }) && core::mem::take(&mut self.returns) {
            has_address = false;
        }
        self.returns |= matches!(packet, Packet::ExceptionV4 { .. });
        // Of where P0 elements lead nothing is known before both are.
        self.address &= !loses_address(packet);
        (self.context, self.address) = (self.context || has_context, self.address || has_address);
        if self.context && self.address {
            self.since = Some(number);
            self.elements.clear();
        }
    }
}

/// What a packet adds to the P0 elements, and takes from them after that. What is one under some parameters only is left
/// out: then less is known.
#[derive(Default)]
struct Resolution {
    atoms: usize,
    /// Other P0 elements.
    elements: usize,
    cancelled: usize,
    /// It changes the outcome of the youngest atom.
    mispredicts: bool,
}

impl Resolution {
    fn of(packet: &Packet) -> Self {
        let length = |atoms: Option<Atoms>| atoms.map_or(0, Atoms::len);
        let changed = Self { mispredicts: true, ..Self::default() };
        match *packet {
            Packet::Atoms(atoms) => Self { atoms: atoms.len(), ..Self::default() },
            Packet::Exception { .. }
            | Packet::ExceptionV4 { .. }
            | Packet::SourceAddress { .. }
            | Packet::Q { .. } => Self { elements: 1, ..Self::default() },
            Packet::Cancel1 { count, mispredict } => Self {
                cancelled: usize::try_from(count.bits).unwrap_or(usize::MAX),
                mispredicts: mispredict,
                ..Self::default()
            },
            Packet::Cancel2 { atoms } => Self { atoms: length(atoms), cancelled: 1, ..changed },
            Packet::Cancel3 { atom, count } => {
                Self { atoms: atom.into(), cancelled: count.into(), ..changed }
            }
            Packet::Mispredict { atoms } => Self { atoms: length(atoms), ..changed },
            _ => Self::default(),
        }
    }
}

/// Whether a packet has a context, and whether it has a target address.
const fn carries(packet: &Packet) -> (bool, bool) {
    match packet {
        Packet::Context(_) | Packet::ContextSame => (true, false),
        Packet::TargetAddress { context, .. } => (context.is_some(), true),
        // Its address is where execution was.
        Packet::Exception { context, .. } => (context.is_some(), false),
        Packet::Q { address, .. } => (false, address.is_some()),
        _ => (false, false),
    }
}

/// Whether it leaves the address undefined where context or address are.
const fn loses_address(packet: &Packet) -> bool {
    matches!(
        packet,
        Packet::Atoms(_)
            | Packet::SourceAddress { .. }
            | Packet::Q { .. }
            | Packet::Exception { .. }
            | Packet::ExceptionV4 { .. }
            | Packet::TraceOn
    )
}

/// Whether a decoder reports it before the first Trace Info.
const fn is_early(event: &Event) -> bool {
    matches!(event, Event::Event { .. } | Event::Instrumentation { .. } | Event::Discard | Event::Overflow)
}

/// Whether it depends on where execution is.
const fn is_flow(event: &Event) -> bool {
    matches!(event, Event::Instructions { .. } | Event::UnknownPath { .. })
}

/// Whether such a fault says that the code where execution is cannot be followed.
const fn is_of_flow(fault: FaultClass) -> bool {
    matches!(fault, FaultClass::NoCode | FaultClass::UnsupportedMode)
}

fn tail(log: &Log<ArmEte>, from: usize, _: &Parameters) -> Tail<ArmEte> {
    let mut tail = Tail::default();
    let Some(known) = Known::of(log, from) else { return tail };
    let mut entries: Vec<&(Place, Entry<ArmEte>)> = log.entries.iter().collect();
    entries.sort_by_key(|(place, _)| place.packet);
    let (before, after): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|(place, _)| place.packet < known.first);
    tail.contradicted = contradicts(log, known.information) || waits(log, known.information);
    let mut total = before.iter().rev().find_map(|(_, entry)| match entry {
        Entry::Event(Event::Cycles { total, .. }) => Some(*total),
        Entry::Fault(fault) if ArmEte::recovery(fault.class) == Recovery::SynchronisationLost => Some(0),
        _ => None,
    });
    for (place, entry) in after {
        match entry {
            Entry::Packet(Packet::AlignmentSync { .. }) => {}
            Entry::Packet(packet) => tail.packets.push(*packet),
            Entry::Event(event) if place.packet < known.information && !is_early(event) => {}
            Entry::Event(event) if place.packet <= known.flow && is_flow(event) => {}
            // In AArch32 state an address has 32 bits; who came late may not know the state yet.
            Entry::Event(Event::Exception { number, returns_to: Some(to), fault_pending })
                if place.packet <= known.flow =>
            {
                let returns_to = Some(Address(to.0 & u64::from(u32::MAX)));
                let (number, fault_pending) = (*number, *fault_pending);
                tail.events.push(Event::Exception { number, returns_to, fault_pending });
            }
            // The atom that it corrects may be one from before.
            Entry::Event(Event::Mispredict) if !has_outcome(&tail.events) => {}
            Entry::Event(event) => tail.events.push(counted_from(*event, &mut total)),
            // Who came late does not look for this code.
            Entry::Fault(fault) if place.packet <= known.flow && is_of_flow(fault.class) => {}
            Entry::Fault(fault) if ArmEte::recovery(fault.class) != Recovery::GoesOn => {
                tail.errors += 1;
                total = total.filter(|_| ArmEte::recovery(fault.class) != Recovery::SynchronisationLost);
            }
            Entry::Fault(_) => {}
        }
    }
    tail
}

/// Whether one of the Trace Infos up to this packet states another speculation depth than the decoder has. What it does
/// with its elements then is a reading, `ete-later-speculation-depth`.
fn contradicts(log: &Log<ArmEte>, last: u64) -> bool {
    let is_info = |entry: &Entry<ArmEte>| matches!(entry, Entry::Packet(Packet::TraceInfo { .. }));
    let entries = log.entries.iter().filter(|(place, _)| place.packet <= last);
    let infos: BTreeSet<u64> =
        entries.clone().filter(|(_, entry)| is_info(entry)).map(|(place, _)| place.packet).collect();
    entries.clone().any(|(place, entry)| matches!(entry, Entry::Fault(_)) && infos.contains(&place.packet))
}

/// Whether the event of this Trace Info waits for elements before it, which it denies: what becomes of them is open, too.
fn waits(log: &Log<ArmEte>, information: u64) -> bool {
    if log.events().next().is_none() {
        // Who reads packets alone has no elements.
        return false;
    }
    let mut entries = log.entries.iter();
    let is_it = |(place, entry): &(Place, Entry<ArmEte>)| {
        place.packet == information && matches!(entry, Entry::Packet(_))
    };
    entries.any(is_it) && !matches!(entries.next(), Some((_, Entry::Event(Event::TraceInfo { .. }))))
}

fn has_outcome(events: &[Event]) -> bool {
    let has = |event: &Event| matches!(event, Event::Instructions { last, .. } if *last != Outcome::Passed);
    events.iter().any(has)
}

/// The event, with cycles counted from a later start up to the next UNKNOWN count.
fn counted_from(event: Event, before: &mut Option<u64>) -> Event {
    match event {
        Event::Cycles { count: None, .. } => {
            *before = None;
            event
        }
        Event::Cycles { count, total } => {
            Event::Cycles { count, total: total.saturating_sub(before.unwrap_or(0)) }
        }
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
        // Its marker came before the sync point.
        (
            Event::Timestamp { value: whole, cycles: since, .. },
            Event::Timestamp { value, cycles, of: TimestampOf::BeforeTrace },
        ) => (whole, since) == (value, cycles),
        (Event::Cycles { count: whole, .. }, Event::Cycles { count, .. }) if garbled => count == whole,
        _ => expected == got,
    }
}
