//! Compares events and faults in the form in which two decoders can be compared.

use std::ops::Range;

use traceproof_vectors::case::{Expected, ExpectedFault};
use traceproof_vectors::{Entry, Fault, FaultClass, FaultDetail, Log, Place};

use super::difference::{divergence, fault_line, first_difference};
use super::faults::{FaultClaims, FaultFilter};
use crate::Divergence;
use crate::JudgedProtocol;
use crate::line::line;

/// Compares what a decoder reported with what was expected.
///
/// # Errors
///
/// The first difference.
pub fn compare<P: JudgedProtocol>(
    expected: &[Expected<P>],
    got: &Log<P>,
    claims: FaultClaims,
) -> Result<(), Box<Divergence>> {
    let detail = claims.detail;
    let (wanted, classes) = wanted(expected, claims);
    let came = came(got, claims, &classes);

    let same = |index: usize| match (wanted.items.get(index), came.items.get(index)) {
        (Some(expected), Some(got)) => expected.accepts(got, detail),
        (None, None) => true,
        _ => false,
    };
    let rows = |index: usize| {
        let text = |items: &[Item<P>]| items.get(index).map(|item| item.line(detail));
        (text(&wanted.items), text(&came.items))
    };
    match first_difference(wanted.items.len().max(came.items.len()), same, rows) {
        None => Ok(()),
        Some((index, rows)) => {
            let place = match wanted.items.get(index) {
                Some(Item::Expected(fault)) => Some(fault.place()),
                _ => came.source(got, index),
            };
            Err(Box::new(divergence("events", index, place, rows)))
        }
    }
}

/// What is judged of an expectation, and the classes of its faults.
fn wanted<P: JudgedProtocol>(
    expected: &[Expected<P>],
    claims: FaultClaims,
) -> (Sequence<P>, Vec<FaultClass>) {
    let mut sequence = Sequence::new();
    let mut filter = FaultFilter::<P>::new(claims);
    let mut classes = Vec::new();
    for (index, entry) in expected.iter().enumerate() {
        match entry {
            Expected::Event(event) => {
                filter.event(event);
                sequence.open.push(event.clone());
            }
            Expected::Fault(fault) if filter.takes(fault.class, fault.place(), None) => {
                classes.push(fault.class);
                sequence.fault(Item::Expected(*fault), index, fault.class == FaultClass::Limit);
            }
            Expected::Fault(_) => {}
        }
    }
    sequence.close(expected.len(), false);
    (sequence, classes)
}

/// What is judged of a log; `classes` are those of the faults that are expected.
fn came<P: JudgedProtocol>(got: &Log<P>, claims: FaultClaims, classes: &[FaultClass]) -> Sequence<P> {
    let mut sequence = Sequence::new();
    let mut filter = FaultFilter::<P>::new(claims);
    let mut classes = classes.iter().copied();
    let mut next = classes.next();
    for (index, (_, entry)) in got.entries.iter().enumerate() {
        match entry {
            Entry::Packet(_) => {}
            Entry::Event(event) => {
                filter.event(event);
                sequence.open.push(event.clone());
            }
            Entry::Fault(fault) if filter.takes(fault.class, fault.place, next) => {
                // A subject that does not claim the class has the expected one.
                let limit = [Some(fault.class), next].contains(&Some(FaultClass::Limit));
                next = classes.next();
                sequence.fault(Item::Reported(*fault), index, limit);
            }
            Entry::Fault(_) => {}
        }
    }
    sequence.close(got.entries.len(), false);
    sequence
}

/// An element of the comparison.
#[derive(Clone, Debug)]
enum Item<P: JudgedProtocol> {
    Event(P::Event),
    Expected(ExpectedFault),
    Reported(Fault),
}

impl<P: JudgedProtocol> Item<P> {
    fn line(&self, detail: FaultDetail) -> String {
        let of = |class, place| fault_line(class, (detail == FaultDetail::Place).then_some(place));
        match self {
            Self::Event(event) => line(event),
            Self::Expected(fault) => of(fault.class, fault.place()),
            Self::Reported(fault) => of(fault.class, fault.place),
        }
    }

    fn accepts(&self, got: &Self, detail: FaultDetail) -> bool {
        match (self, got) {
            (Self::Event(expected), Self::Event(got)) => P::accepts(expected, got),
            (Self::Expected(expected), Self::Reported(got)) => match detail {
                FaultDetail::Flag => true,
                FaultDetail::Class => expected.class == got.class,
                FaultDetail::Place => expected.class == got.class && expected.place() == got.place,
            },
            _ => false,
        }
    }
}

/// One side: canonical events between faults.
struct Sequence<P: JudgedProtocol> {
    items: Vec<Item<P>>,
    segments: Vec<Segment<P>>,
    /// The events since the latest fault.
    open: Vec<P::Event>,
    in_force: Vec<P::Event>,
    /// First entry of the log after the latest fault.
    start: usize,
}

/// The events between two faults.
struct Segment<P: JudgedProtocol> {
    /// Index of its first item.
    first_item: usize,
    /// Its entries in the log.
    entries: Range<usize>,
    /// What was in force before it.
    seed: Vec<P::Event>,
}

impl<P: JudgedProtocol> Sequence<P> {
    const fn new() -> Self {
        Self { items: Vec::new(), segments: Vec::new(), open: Vec::new(), in_force: Vec::new(), start: 0 }
    }

    /// A fault, the entry of the log with this index.
    fn fault(&mut self, item: Item<P>, index: usize, limit: bool) {
        self.close(index, limit);
        self.items.push(item);
        self.start = index + 1;
    }

    /// The events up to an entry of the log are complete. `limit`: the last of them are not judged.
    fn close(&mut self, end: usize, limit: bool) {
        let mut events = std::mem::take(&mut self.open);
        while limit && events.last().is_some_and(P::is_open_at_limit) {
            events.pop();
        }
        let seed = std::mem::take(&mut self.in_force);
        let first_item = self.items.len();
        let entries = self.start..end;
        let since: Vec<P::Event> = seed.iter().chain(&events).cloned().collect();
        self.in_force = P::in_force(&since);
        self.items.extend(canonical::<P>(&seed, events).into_iter().map(Item::Event));
        self.segments.push(Segment { first_item, entries, seed });
    }

    /// The place of the last entry that the item at `index` was made of; of the last entry if there is no such item.
    fn source(&self, got: &Log<P>, index: usize) -> Option<Place> {
        let segment = self.segments.iter().rfind(|segment| segment.first_item <= index)?;
        let offset = index - segment.first_item;
        let events: Vec<(Place, P::Event)> = got
            .entries
            .get(segment.entries.clone())?
            .iter()
            .filter_map(|(place, entry)| match entry {
                Entry::Event(event) => Some((*place, event.clone())),
                _ => None,
            })
            .collect();
        // Canonical form joins neighbours and drops repetitions, so a longer beginning never has a shorter form: the
        // item is complete before the first event that makes the form longer than it.
        let (mut complete, mut beyond) = (0, events.len());
        while complete < beyond {
            let middle = complete.midpoint(beyond);
            let beginning = events.iter().take(middle + 1).map(|(_, event)| event.clone()).collect();
            if canonical::<P>(&segment.seed, beginning).len() > offset + 1 {
                beyond = middle;
            } else {
                complete = middle + 1;
            }
        }
        let event = complete.checked_sub(1).and_then(|last| events.get(last)).map(|(place, _)| *place);
        // A fault where an event was expected follows its segment.
        let fault = || got.entries.get(segment.entries.end).or(got.entries.last()).map(|(place, _)| *place);
        if offset < events.len() { event } else { fault().or(event) }
    }
}

/// The canonical form of events that come while `seed` is in force.
pub fn canonical<P: JudgedProtocol>(seed: &[P::Event], mut events: Vec<P::Event>) -> Vec<P::Event> {
    events.splice(0..0, seed.iter().cloned());
    let mut events = P::canonical(events);
    events.drain(..seed.len());
    events
}
