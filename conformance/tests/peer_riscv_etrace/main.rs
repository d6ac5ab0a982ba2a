//! The crate `riscv-etrace` as a peer. Needs the feature `peer-riscv-etrace`.

mod baseline;
mod directed;
mod findings;
#[path = "../shared/peer_baseline.rs"]
mod peer_baseline;
mod write;
