//! ARM ETMv1, ETMv2 and ETMv3: the packet writers and the macrocell models against the specification.
//!
//! Expected values are worked examples (`LM-n`, `E1-n`, `E2-n`, `E3-n`) or put together by hand; none comes from the code under test.

mod bench;
mod control;
mod load_misses;
mod packets;
mod pins;
mod transfers;
mod v1_bench;
mod v1_control;
mod v1_packets;
mod v1_pins;
mod v3_any;
mod v3_branches;
mod v3_cycles;
mod v3_data;
mod v3_packets;
