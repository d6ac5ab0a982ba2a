//! Compares decoders with the reference decoders on any stream.
//!
//! It is the light part of the harness, with few dependencies, so that a fuzz project of another repository builds it
//! with instrumentation in little time. `traceproof-conformance` judges with the same code.
//!
//! | question | place |
//! |---|---|
//! | How are results compared with an expectation? | [`judge`] |
//! | What is the first difference? | [`Divergence`] |
//! | What holds without any expectation? | [`relations`] |
//! | Does a decoder differ from the reference on a stream? | [`Examination`], [`Finding`] |
//! | How does a stream become smaller? | [`shrink`] |
//! | How does it become another one, packet by packet? | [`mutation`] |
//! | What does it exercise? | [`novelty`] |
//! | How do files hold streams? | [`Stream`] |
//! | What does a fuzz target do? | [`fuzz`] |
//! | What must a protocol define? | [`JudgedProtocol`] |
#![forbid(unsafe_code)]

#[cfg(feature = "arm_ete")]
mod arm_ete;
#[cfg(feature = "arm_ete")]
mod arm_ete_unit;
#[cfg(feature = "arm_etm")]
mod arm_etm;
#[cfg(feature = "arm_etm")]
mod arm_etm_formatter;
#[cfg(feature = "arm_pft")]
mod arm_pft;
mod compare;
mod divergence;
mod finding;
pub mod fuzz;
#[cfg(feature = "itanium_pmu")]
mod itanium_pmu;
pub mod judge;
pub mod line;
mod message;
pub mod mutation;
pub mod novelty;
mod protocol;
pub mod relations;
#[cfg(feature = "riscv_etrace")]
mod riscv_etrace;
mod shrink;
pub mod stream;

pub use compare::{Decoded, compare};
pub use divergence::{Divergence, Row};
pub use finding::{Examination, Finding, examine};
pub use message::{Claims, Item};
pub use protocol::JudgedProtocol;
pub use shrink::{shrink, shrink_while};
pub use stream::Stream;
