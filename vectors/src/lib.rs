//! The contract of Traceproof: the inputs of a trace encoder, the wire, and what a decoder must report.
//!
//! Everything here is vocabulary; nothing here encodes or decodes. `traceproof-decoder` and `traceproof-encoder-model`
//! are two independent implementations of the specifications that share only this vocabulary; every third-party subject
//! implements the same two traits.
//!
//! | purpose | place |
//! |---|---|
//! | Families and their types | [`Protocol`], [`ProtocolId`], [`Family`] |
//! | Interface of decoders and encoders | [`Decoder`], [`Encoder`], [`Capabilities`] |
//! | Receivers of results | [`Sink`], [`EncoderSink`], [`Log`] |
//! | Faults of a trace and their places | [`Fault`], [`FaultClass`], [`Place`] |
//! | Loss after a fault | [`Recovery`] |
//! | Limits of work and memory | [`DecoderLimits`] |
//! | Meaning of the bits of a packet | [`Dissection`], [`Field`] |
//! | Code and processor state | [`Program`], [`MemorySpace`] |
//! | Notation of addresses in files | [`Address`], [`Address32`] |
//! | Optional features of a subject | [`Feature`] |
//! | Interpretations of a requirement that the specification leaves open | [`Reading`] |
//! | The vocabulary of one specification | [`riscv_etrace`], [`arm_etm`], [`arm_etm_formatter`], [`arm_pft`], [`arm_ete`], [`arm_ete_unit`], [`itanium_pmu`]; shared by the ARM families: [`arm`] |
#![cfg_attr(feature = "cases", doc = "| Test cases on disk | [`case`] |")]
#![cfg_attr(feature = "cases", doc = "| Requirements that cases prove | [`clause`] |")]
#![cfg_attr(feature = "cases", doc = "| Reading files of limited size | [`bounded`] |")]
//!
//! The crate is `no_std` (with `alloc`) unless the feature `cases` is on.
#![cfg_attr(not(feature = "cases"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod address;
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
#[cfg(feature = "cases")]
pub mod bounded;
#[cfg(feature = "cases")]
pub mod case;
#[cfg(feature = "cases")]
pub mod clause;
mod dissection;
mod fault;
mod feature;
#[cfg(feature = "itanium_pmu")]
pub mod itanium_pmu;
mod limits;
#[cfg(feature = "serde")]
pub mod notation;
mod program;
mod protocol;
mod reading;
mod recovery;
#[cfg(feature = "riscv_etrace")]
pub mod riscv_etrace;
#[cfg(feature = "cases")]
pub mod shipped;
mod space;
mod state;
mod subject;

pub use address::{Address, Address32};
pub use dissection::{Dissection, Field};
pub use fault::{Fault, FaultClass, Place};
pub use feature::Feature;
pub use limits::{DecoderLimits, Limit, LimitError};
pub use program::{Program, ProgramError, Section};
pub use protocol::{Family, Protocol, ProtocolId, UnknownFamily, UnknownProtocol};
pub use reading::{Binds, Reading};
pub use recovery::Recovery;
pub use space::{ExceptionLevels, MemorySpace, NoExceptionLevel, ParseMemorySpaceError};
pub use state::DecoderState;
pub use subject::{
    Capabilities, Decoder, Encoder, EncoderSink, Entry, FaultDetail, Layer, Log, Refusal, Sink,
};
