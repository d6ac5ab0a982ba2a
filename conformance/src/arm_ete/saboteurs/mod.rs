//! Wrong decoders and trace units of ARM ETE and ETMv4.
//!
//! | what is wrong | place |
//! |---|---|
//! | fields of packets | `packets` |
//! | lengths and existence of packets | `existence` |
//! | addresses, contexts, timestamps that packets are relative to | `state`, by a `Deviation` of `history`, in `spelled` |
//! | speculation, Discard | `resolution`, by a `Counting` of `counted` |
//! | transactions | `transactions` |
//! | exceptions, Source Addresses, Q elements, synchronisation | `flow` |
//! | return stack | `returns` |
//! | cycle counts, timestamps, what is reported | `times` |
//! | which instructions are P0 instructions | `classes` |
//! | what a trace unit sends | `encoding`, by `sending` |
//! | what a trace unit sees, and its configuration | `stimulus` |

mod classes;
mod counted;
mod encoding;
mod existence;
mod flow;
mod history;
mod layers;
mod packets;
mod resolution;
mod returns;
mod sending;
mod spelled;
mod state;
mod stimulus;
mod times;
mod transactions;

use traceproof_vectors::arm_ete::{ArmEte, Event, Packet};
use traceproof_vectors::{Decoder, Encoder};

use crate::family::{Saboteur, Saboteurs, Side};
use layers::{Followed, Following, Reading};

/// The table, and what its rows are made of, without a bug.
pub(super) const SABOTEURS: Saboteurs<ArmEte> = Saboteurs { table: TABLE, harmless: HARMLESS };

const HARMLESS: &[Side<ArmEte>] = &[
    Side::Decoder(|| layers::with(|_, _| Box::new(()))),
    Side::Decoder(|| spelled::deviating(history::NONE)),
    Side::Decoder(|| counted::counting(counted::RIGHT)),
    Side::Decoder(|| returns::returning(returns::Wrong::Nothing)),
    Side::Encoder(|| sending::sends(|_, _| {})),
    Side::Encoder(|| sending::addressing(history::NONE)),
];

const TABLE: &[Saboteur<ArmEte>] = &joined();

const PARTS: [&[Saboteur<ArmEte>]; 11] = [
    packets::ROWS,
    existence::ROWS,
    state::ROWS,
    resolution::ROWS,
    transactions::ROWS,
    flow::ROWS,
    returns::ROWS,
    times::ROWS,
    classes::ROWS,
    encoding::ROWS,
    stimulus::ROWS,
];

const COUNT: usize = {
    let (mut count, mut part) = (0, 0);
    while part < PARTS.len() {
        count += PARTS[part].len();
        part += 1;
    }
    count
};

const fn joined() -> [Saboteur<ArmEte>; COUNT] {
    let mut table = [const { row(&packets::ROWS[0]) }; COUNT];
    let (mut at, mut part) = (0, 0);
    while part < PARTS.len() {
        let mut index = 0;
        while index < PARTS[part].len() {
            table[at] = row(&PARTS[part][index]);
            (at, index) = (at + 1, index + 1);
        }
        part += 1;
    }
    table
}

const fn row(saboteur: &Saboteur<ArmEte>) -> Saboteur<ArmEte> {
    match saboteur.side {
        Side::Decoder(make) => decoder(saboteur.name, make, saboteur.bug, saboteur.source),
        Side::Encoder(make) => encoder(saboteur.name, make, saboteur.bug, saboteur.source),
    }
}

/// A wrong decoder.
const fn decoder(
    name: &'static str,
    make: fn() -> Box<dyn Decoder<ArmEte>>,
    bug: &'static str,
    source: &'static str,
) -> Saboteur<ArmEte> {
    Saboteur { name, side: Side::Decoder(make), bug, source }
}

/// A wrong trace unit.
const fn encoder(
    name: &'static str,
    make: fn() -> Box<dyn Encoder<ArmEte>>,
    bug: &'static str,
    source: &'static str,
) -> Saboteur<ArmEte> {
    Saboteur { name, side: Side::Encoder(make), bug, source }
}

/// Packets are read with other fields.
fn reads(change: fn(&mut Packet)) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        Box::new(Reading(move |packet: &mut Packet| {
            change(packet);
            0
        }))
    })
}

/// Packets are read with so many bytes more.
fn lengthens(more: fn(&Packet) -> usize) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| Box::new(Reading(move |packet: &mut Packet| more(packet))))
}

/// Packets are reported as they are, and followed with other fields.
fn follows(change: fn(&mut Packet)) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            let mut packet = *packet;
            change(&mut packet);
            followed.packet(&packet);
        }))
    })
}

/// Packets are followed otherwise, without state.
fn following(follow: fn(&Packet, &mut Followed<'_>)) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| Box::new(Following(follow)))
}

/// Events are reported otherwise, or not; without state.
fn events(change: fn(Event) -> Option<Event>) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            followed.packet(packet);
            followed.retain_events(|event| change(*event).is_some());
            for event in followed.events() {
                *event = change(*event).unwrap_or(*event);
            }
        }))
    })
}
