//! The saboteurs of ARM PFT, row by row.

mod classes;
mod encoder;
mod flow;
mod packets;
mod recovery;

use traceproof_vectors::arm_pft::ArmPft;

use crate::family::{Saboteur, Side};

/// All of them.
pub(super) const TABLE: &[Saboteur<ArmPft>] = &joined();

const PARTS: [&[Saboteur<ArmPft>]; 5] =
    [packets::ROWS, classes::ROWS, flow::ROWS, recovery::ROWS, encoder::ROWS];

const COUNT: usize = {
    let (mut count, mut part) = (0, 0);
    while part < PARTS.len() {
        count += PARTS[part].len();
        part += 1;
    }
    count
};

const fn joined() -> [Saboteur<ArmPft>; COUNT] {
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

const fn row(saboteur: &Saboteur<ArmPft>) -> Saboteur<ArmPft> {
    #[expect(clippy::needless_match, reason = "neither the row nor its side is Copy")]
    let side = match saboteur.side {
        Side::Decoder(make) => Side::Decoder(make),
        Side::Encoder(make) => Side::Encoder(make),
    };
    Saboteur { name: saboteur.name, side, bug: saboteur.bug, source: saboteur.source }
}
