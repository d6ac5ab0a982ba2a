//! Reference encoder models: stimulus -> packets -> bytes, one module per family.
//!
//! An implementation of the specifications that shares only vocabulary with `traceproof-decoder`.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod arm;
pub mod arm_ete;
pub mod arm_ete_unit;
pub mod arm_etm;
pub mod arm_etm_formatter;
pub mod arm_pft;
pub mod itanium_pmu;
pub mod riscv_etrace;
