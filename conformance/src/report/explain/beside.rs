//! The output of a subject for each packet, beside that of the reference.

use std::collections::{BTreeMap, BTreeSet};

use traceproof_vectors::{Capabilities, Entry, Fault, FaultDetail, Layer, Log};

use crate::family::FamilyRules;
use crate::judge::events::canonical;
use crate::judge::faults::{FaultClaims, FaultFilter};
use crate::judge::{self, Expectation};
use crate::line::line;
use crate::observe::Observed;
use crate::verdict::Divergence;

/// The packets for which a subject differs from the reference.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// Its lines for each packet that differs.
    pub(super) differing: BTreeMap<u64, Vec<String>>,
}

impl Beside {
    /// Compares, packet by packet, what the subject claims. If the subject did not finish, only its output up to that
    /// point is compared.
    pub(super) fn new<P: FamilyRules>(ours: &Log<P>, theirs: &Observed<P>) -> Self {
        let Some(claims) = &theirs.claims else { return Self::default() };
        let (ours, of_subject) = (by_packet(ours, claims), by_packet(&theirs.log, claims));
        let last = match (&theirs.ended, of_subject.keys().next_back()) {
            (None, _) => Some(u64::MAX),
            (Some(_), last) => last.copied(),
        };
        let packets: BTreeSet<u64> = ours.keys().chain(of_subject.keys()).copied().collect();
        let nothing = Reported::default();
        let differing = packets
            .into_iter()
            .filter(|packet| last.is_some_and(|last| *packet <= last))
            .filter_map(|packet| {
                let (ours, subject) = [&ours, &of_subject].map(|side| side.get(&packet)).into();
                let (ours, subject) = (ours.unwrap_or(&nothing), subject.unwrap_or(&nothing));
                (!ours.agrees(subject, claims)).then(|| (packet, subject.lines.clone()))
            })
            .collect();
        Self { differing }
    }
}

/// The first difference as the judge finds it: over the whole stream, however a subject splits its events.
pub(super) fn first_difference<P: FamilyRules>(
    ours: &Log<P>,
    theirs: &Observed<P>,
) -> Option<Box<Divergence>> {
    let claims = theirs.claims.as_ref()?;
    let (packets, events): (Vec<_>, Vec<_>) = (ours.packets().cloned().collect(), judge::expected(ours));
    let expected = Expectation { packets: Some(&packets), events: Some(&events) };
    judge::decoding(expected, &theirs.log, claims).err()
}

/// What was reported for one packet.
#[derive(Clone, Debug)]
struct Reported<P: FamilyRules> {
    packets: Vec<P::Packet>,
    /// In canonical form, without state that was already in force.
    events: Vec<P::Event>,
    /// Only those that are judged.
    faults: Vec<Fault>,
    /// All entries, for display.
    lines: Vec<String>,
}

impl<P: FamilyRules> Default for Reported<P> {
    fn default() -> Self {
        Self { packets: Vec::new(), events: Vec::new(), faults: Vec::new(), lines: Vec::new() }
    }
}

impl<P: FamilyRules> Reported<P> {
    /// Whether a subject with these claims may report `got` instead of this.
    fn agrees(&self, got: &Self, claims: &Capabilities) -> bool {
        let has = |layer| claims.layers.contains(&layer);
        let packets = !has(Layer::Packets) || self.packets == got.packets;
        let accepted = || self.events.iter().zip(&got.events).all(|(ours, got)| P::accepts(ours, got));
        let events = !has(Layer::Events) || self.events.len() == got.events.len() && accepted();
        let same_fault = |(ours, got): (&Fault, &Fault)| match claims.faults {
            FaultDetail::Flag => true,
            FaultDetail::Class => ours.class == got.class,
            FaultDetail::Place => ours.class == got.class && ours.place == got.place,
        };
        let same_faults = || self.faults.iter().zip(&got.faults).all(same_fault);
        packets && events && self.faults.len() == got.faults.len() && same_faults()
    }
}

fn by_packet<P: FamilyRules>(log: &Log<P>, claims: &Capabilities) -> BTreeMap<u64, Reported<P>> {
    let mut filter = FaultFilter::<P>::new(FaultClaims::of(claims));
    let mut packets: BTreeMap<u64, Reported<P>> = BTreeMap::new();
    for (place, entry) in &log.entries {
        let reported = packets.entry(place.packet).or_default();
        reported.lines.push(entry_line::<P>(entry));
        match entry {
            Entry::Packet(packet) => reported.packets.push(packet.clone()),
            Entry::Event(event) => {
                filter.event(event);
                reported.events.push(event.clone());
            }
            Entry::Fault(fault) if filter.takes(fault.class, fault.place, None) => {
                reported.faults.push(*fault);
            }
            Entry::Fault(_) => {}
        }
    }
    let mut in_force: Vec<P::Event> = Vec::new();
    for reported in packets.values_mut() {
        let events = std::mem::take(&mut reported.events);
        let until_now: Vec<P::Event> = in_force.iter().chain(&events).cloned().collect();
        reported.events = canonical::<P>(&in_force, events);
        in_force = P::in_force(&until_now);
    }
    packets
}

/// One entry as a line: `=` a packet, `>` an event, `!` a fault.
pub(super) fn entry_line<P: FamilyRules>(entry: &Entry<P>) -> String {
    match entry {
        Entry::Packet(packet) => format!("= {}", line(packet)),
        Entry::Event(event) => format!("> {}", line(event)),
        Entry::Fault(fault) => format!("! {fault}"),
    }
}
