//! Reference decoders: bytes -> packets -> events, one module per family.
//!
//! An implementation of the specifications that shares only vocabulary with `traceproof-encoder-model`.
//!
//! | module | specification |
//! |---|---|
//! | [`riscv_etrace`] | RISC-V Efficient Trace |
//! | [`arm_etm`] | ARM ETM v1, v2, v3 |
//! | [`arm_etm_formatter`] | frames of the CoreSight formatter |
//! | [`arm_pft`] | ARM Program Flow Trace (PTM) |
//! | [`arm_ete`] | ARM FEAT_ETE and ETMv4 |
//! | [`arm_ete_unit`] | the register log of its trace unit |
//! | [`itanium_pmu`] | Itanium event qualification |
//! | [`arm`] | what the ARM families share |
#![no_std]
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
#[cfg(any(feature = "arm_ete", feature = "itanium_pmu"))]
mod register_log;
#[cfg(feature = "riscv_etrace")]
pub mod riscv_etrace;
