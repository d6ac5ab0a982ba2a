//! The logic of the fuzz targets.
//!
//! One file per property; each has a plain `run(&[u8])` that panics when the property does not hold. The
//! binaries in `fuzz_targets/` only hand libFuzzer's bytes to it, so everything here builds, and runs on seeds and
//! regressions, on the stable toolchain under `cargo test`.
#![forbid(unsafe_code)]

pub mod arm;
pub mod arm_etm;
pub mod itanium_pmu;
pub mod pieces;
pub mod riscv_etrace;
pub mod seeds;
pub mod targets;

pub use targets::{TARGETS, Target};
