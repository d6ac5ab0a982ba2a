//! Compares the expectation with the results, and finds the first difference.

pub mod difference;
pub mod events;
pub mod faults;

use traceproof_vectors::case::{CaseProtocol, Expected, ExpectedFault};
use traceproof_vectors::{Capabilities, Entry, FaultDetail, Layer, Log, Place};

use crate::JudgedProtocol;
use crate::line::line;
use crate::{Divergence, Row};
use difference::{divergence, fault_line, first_difference};
use faults::FaultClaims;

/// What is expected of a decoder.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a, P: CaseProtocol> {
    /// The packets; `None` = not judged.
    pub packets: Option<&'a [P::Packet]>,
    /// The events and faults; `None` = not judged.
    pub events: Option<&'a [Expected<P>]>,
}

/// Compares a decoder's log with what was expected of it.
///
/// Only what the decoder claims is judged: its layers, the detail of its faults, its warnings. Events are compared in
/// canonical form, separately between every two faults; whether a decoder reports state again that is still in force
/// after a fault does not matter. Retirements directly before a `limit` fault are not compared.
///
/// # Errors
///
/// The first difference.
pub fn decoding<P: JudgedProtocol>(
    expected: Expectation<'_, P>,
    got: &Log<P>,
    claims: &Capabilities,
) -> Result<(), Box<Divergence>> {
    if claims.faults == FaultDetail::Place {
        order(got)?;
    }
    if let Some(packets) = expected.packets
        && claims.layers.contains(&Layer::Packets)
    {
        compare_packets(packets, got)?;
    }
    if let Some(events) = expected.events
        && claims.layers.contains(&Layer::Events)
    {
        events::compare(events, got, FaultClaims::of(claims))?;
    }
    Ok(())
}

/// Packets must come in stream order, and so must faults, unless the family resolves speculation. Events come when they
/// are committed, with the place of the packet that carried them, and so do faults of the flow in such a family.
fn order<P: JudgedProtocol>(got: &Log<P>) -> Result<(), Box<Divergence>> {
    let mut latest = 0;
    for (index, (place, entry)) in got.entries.iter().enumerate() {
        let text = match entry {
            Entry::Event(_) => continue,
            Entry::Fault(_) if P::RESOLVES_SPECULATION => continue,
            _ if place.packet >= latest => {
                latest = place.packet;
                continue;
            }
            Entry::Packet(packet) => line(packet),
            Entry::Fault(fault) => fault_line(fault.class, Some(fault.place)),
        };
        let row = Row {
            same: false,
            expected: Some(format!("something of packet {latest} or a later one")),
            got: Some(format!("{text} of packet {}", place.packet)),
        };
        return Err(Box::new(divergence("the order of results", index, Some(*place), vec![row])));
    }
    Ok(())
}

/// Compares packets one by one, whatever else is in the log.
///
/// # Errors
///
/// The first difference.
pub fn compare_packets<P: JudgedProtocol>(
    expected: &[P::Packet],
    got: &Log<P>,
) -> Result<(), Box<Divergence>> {
    let got: Vec<(Place, &P::Packet)> = got
        .entries
        .iter()
        .filter_map(|(place, entry)| match entry {
            Entry::Packet(packet) => Some((*place, packet)),
            _ => None,
        })
        .collect();
    let same = |index: usize| match (expected.get(index), got.get(index)) {
        (Some(expected), Some((_, got))) => expected == *got,
        (None, None) => true,
        _ => false,
    };
    let rows =
        |index: usize| (expected.get(index).map(line), got.get(index).map(|(_, packet)| line(*packet)));
    first_difference(expected.len().max(got.len()), same, rows).map_or(Ok(()), |(index, rows)| {
        Err(Box::new(divergence("packets", index, place_at(&got, index), rows)))
    })
}

/// The place of the element, or of the last one.
fn place_at<T>(got: &[(Place, T)], index: usize) -> Option<Place> {
    got.get(index).or(got.last()).map(|(place, _)| *place)
}

/// Compares two streams, transport unit by transport unit.
///
/// # Errors
///
/// The first difference.
pub fn bytes<P: JudgedProtocol>(
    what: &str,
    expected: &[u8],
    got: &[u8],
    parameters: &P::Parameters,
) -> Result<(), Box<Divergence>> {
    if expected == got {
        return Ok(());
    }
    let byte = expected.iter().zip(got).take_while(|(expected, got)| expected == got).count();
    let (expected, got) = (P::show_wire(expected, parameters), P::show_wire(got, parameters));
    let rows = |index: usize| (expected.get(index).cloned(), got.get(index).cloned());
    let same = |index: usize| expected.get(index) == got.get(index);
    let (index, rows) = first_difference(expected.len().max(got.len()), same, rows).unwrap_or_default();
    let place = Place { packet: index as u64, byte: byte as u64, bit: 0 };
    Err(Box::new(divergence(what, index, Some(place), rows)))
}

/// The events and faults of a log as an expectation.
#[must_use]
pub fn expected<P: JudgedProtocol>(log: &Log<P>) -> Vec<Expected<P>> {
    log.entries
        .iter()
        .filter_map(|(place, entry)| match entry {
            Entry::Packet(_) => None,
            Entry::Event(event) => Some(Expected::Event(event.clone())),
            Entry::Fault(fault) => Some(Expected::Fault(ExpectedFault {
                class: fault.class,
                packet: place.packet,
                byte: place.byte,
                bit: place.bit,
            })),
        })
        .collect()
}

/// Compares what a decoder made of the same stream twice: packets, events, and faults with their places whatever the
/// claimed detail. `how` names the difference of the second run.
///
/// # Errors
///
/// The first difference.
pub fn repetition<P: JudgedProtocol>(
    how: &str,
    first: &Log<P>,
    second: &Log<P>,
    claims: &Capabilities,
) -> Result<(), Box<Divergence>> {
    let claims = FaultClaims { detail: FaultDetail::Place, ..FaultClaims::of(claims) };
    let packets: Vec<P::Packet> = first.packets().cloned().collect();
    compare_packets(&packets, second)
        .and_then(|()| events::compare(&expected(first), second, claims))
        .map_err(|mut divergence| {
            divergence.what = format!("{} {how}", divergence.what);
            divergence
        })
}
