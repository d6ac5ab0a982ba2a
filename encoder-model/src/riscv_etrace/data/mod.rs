//! Data trace: accesses -> packets -> bit strings (ET 8).
//!
//! `fields` writes a packet as a bit string, `check` finds packets that cannot travel, `bases` remembers what
//! differences are relative to, `choice` decides how an access travels, `tracer` when.

mod bases;
mod check;
mod choice;
mod fields;
mod tracer;

pub(super) use fields::DataFields;
pub(super) use tracer::DataTracer;
