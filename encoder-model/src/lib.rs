//! Reference encoder models: stimulus -> packets -> bytes, one module per family.
//!
//! An implementation of the specifications that shares only vocabulary with `traceproof-decoder`.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
// Some shared parts serve few families; a build with fewer of them does not use these.
#![cfg_attr(not(feature = "families"), allow(dead_code, unused_imports))]

extern crate alloc;

pub mod arm;
#[cfg(feature = "arm_ete")]
pub mod arm_ete;
#[cfg(feature = "arm_ete")]
pub mod arm_ete_unit;
#[cfg(feature = "arm_etm")]
pub mod arm_etm;
#[cfg(feature = "arm_etm")]
pub mod arm_etm_formatter;
#[cfg(feature = "arm_pft")]
pub mod arm_pft;
#[cfg(feature = "itanium_pmu")]
pub mod itanium_pmu;
#[cfg(feature = "riscv_etrace")]
pub mod riscv_etrace;
