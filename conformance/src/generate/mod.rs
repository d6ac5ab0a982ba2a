//! Scenarios made from entropy: one generator feeds proptest, quickcheck, arbitrary, fuzzers and seeded vectors.
//!
//! A generator turns any byte string into a legal scenario. Property-test engines and fuzzers own the bytes:
//! they choose, mutate and shrink them; shorter strings and smaller bytes give simpler scenarios.

pub(crate) mod case;
mod entropy;
mod records;
mod round_trip;
mod sweep;
mod tiles;

pub use case::{DEFAULT_GENERATED_PER_FAMILY, Seed};
pub use entropy::{Entropy, seeded};
pub(crate) use records::{Columns, Records};
pub(crate) use round_trip::compare_packets;
pub use round_trip::{Cause, Failure};
pub use sweep::{OpcodeSweep, generated_case};
pub(crate) use tiles::tiles;
