//! Wrong decoders and PTMs of ARM PFT.
//!
//! | what is wrong | place |
//! |---|---|
//! | how packets are read | `reading`, `reporting` |
//! | which instructions are waypoints | `classes` |
//! | states, return stack, checks, cycles, recovery | `flow`, and by a `Deviation` `model`, `spelled` |
//! | what is reported, and faults | `reporting` |
//! | what a PTM sees and sends | `encoding`; its return stack: `returns` |

mod classes;
mod encoding;
mod flow;
mod layers;
mod model;
mod reading;
mod reporting;
mod returns;
mod sending;
mod spelled;
mod table;

use traceproof_vectors::Program;
use traceproof_vectors::arm_pft::{ArmPft, Parameters};

use crate::family::{Saboteurs, Side};
use model::Deviation;
use returns::{Returns, Wrong};
use spelled::Spelled;

/// The table, and what its rows are made of, without a bug.
pub(super) const SABOTEURS: Saboteurs<ArmPft> = Saboteurs { table: table::TABLE, harmless: HARMLESS };

const HARMLESS: &[Side<ArmPft>] = &[
    Side::Decoder(|| layers::with(|_, _| Box::new(()))),
    Side::Decoder(|| layers::with(|parameters, program| deviating(Deviation::None, parameters, program))),
    Side::Encoder(|| sending::with(|_| Box::new(()))),
    Side::Encoder(|| sending::with(|parameters| Box::new(Returns::new(Wrong::Nothing, parameters)))),
];

/// A decoder whose states deviate.
fn deviating(deviation: Deviation, parameters: &Parameters, program: &Program) -> Box<dyn layers::Bug> {
    Box::new(Spelled::new(deviation, parameters, program))
}
