//! ARM ETMv2: the packet writer and the macrocell model against the specification.
//!
//! Expected values are worked examples (`LM-n`, `E2-n`) or put together by hand; none comes from the code under test.

mod bench;
mod control;
mod load_misses;
mod packets;
mod pins;
mod transfers;
