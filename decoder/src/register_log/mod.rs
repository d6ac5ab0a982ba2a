//! What the logs of register accesses share: records of 16 bytes, in any chunks, taken apart into columns.
//!
//! | question | place |
//! |---|---|
//! | Where does a record end? | `records` |
//! | How is a log displayed? | `dissect` |

mod dissect;
mod records;

pub(crate) use dissect::{Columns, units};
pub(crate) use records::Records;

/// The bytes of a record. What a log gives to [`units`] takes its own number of them, so that another one is an error
/// of the compiler.
const RECORD: usize = 16;
