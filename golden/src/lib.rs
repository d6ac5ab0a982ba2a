//! The encoder model of RISC-V E-Trace as golden model for simulators.
//!
//! | question | place |
//! |---|---|
//! | What does a model take, and what comes out? | [`Golden`] |
//! | How does C call it? | `include/traceproof_golden.h`; the functions are in `ffi` |
//! | How do SystemVerilog and Python? | `sv/` and `python/` |

mod error;
mod ffi;
mod model;

pub use error::GoldenError;
pub use ffi::*;
pub use model::{Golden, Signals};
