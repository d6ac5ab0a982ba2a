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

/// The bytes of a record.
const RECORD: usize = 16;
#[cfg(feature = "arm_ete")]
const _: () = assert!(traceproof_vectors::arm_ete_unit::wire::RECORD == RECORD);
#[cfg(feature = "itanium_pmu")]
const _: () = assert!(traceproof_vectors::itanium_pmu::wire::RECORD == RECORD);
