//! The trace unit of ARM FEAT_ETE and ETMv4: what a log of register accesses, events and answers shows.
//!
//! | purpose | place |
//! |---|---|
//! | Which states the unit may be in, where bytes go, what software and the unit did wrong | [`Decoder`] |
//! | Names of the bits of a log | [`dissect`] |
//!
//! How a log is checked:
//!
//! | layer | answers |
//! |---|---|
//! | `record` | Boundaries and fields of records |
//! | `belief` | Which configurations the unit may be in, and how writes, synchronisation and progress change them |
//! | `software` | What software has done and proved, which step of a procedure is missing |
//! | `contents` | What registers and claim tags hold |
//! | `session` | What holds for one session: events, what must be programmed before |
//! | `surroundings` | Power, regions, trace buffer unit, sinks, signals, time |
//! | `access` | Whether an access may end as it did |
//! | `reads`, `writes`, `inputs`, `outputs` | What a record of each kind shows and changes |
//! | `checker` | The order of all this for one record, and what is reported |

mod access;
mod belief;
mod checker;
mod contents;
mod decoder;
mod dissect;
mod inputs;
mod outputs;
mod reads;
mod record;
mod report;
mod session;
mod software;
mod surroundings;
#[cfg(test)]
mod tests;
mod writes;

pub use decoder::Decoder;
pub use dissect::dissect;
