//! Stimulus packs for trace encoders in hardware, and the judge of what they answer.
//!
//! | purpose | place |
//! |---|---|
//! | What a device is: `dut.toml` | [`Device`] |
//! | One clock of stimulus, or an order to the testbench | [`Row`], [`Op`], [`Checksum`] |
//! | Executions until the bins of the ingress port are hit | [`generate`] |
//! | Signals that a simulation of a core wrote down | [`dump`] |
//! | A pack on disk | [`pack`] |
//! | A pack of shipped cases of any protocol | [`streams`] |
//! | What a testbench wrote | [`MonitorLog`] |
//! | Verdicts: exact, legal, fields, semantic | [`judge`] |
//! | The verbs `vectors` and `check-rtl` | [`verbs`] |
//!
//! The format of packs and logs is described in `docs/pack.md`.
#![forbid(unsafe_code)]

mod device;
pub mod dump;
mod filters;
pub mod generate;
mod items;
pub mod judge;
mod layout;
mod monitor;
pub mod pack;
mod problem;
mod referee;
pub mod report;
mod row;
pub mod streams;
pub mod verbs;

pub use device::{Control, Device, Ingress, OutputForm, Signal, TrapAddress};
pub use items::{Item, ItemKind, items};
pub use layout::{Format, Layout};
pub use monitor::{Beat, CaseLog, MonitorLog};
pub use problem::Problem;
pub use referee::{Due, Finding, Reason};
pub use row::{Checksum, Op, Row, Slot};
