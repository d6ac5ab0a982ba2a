//! The contract of Traceproof: what goes into a trace encoder, what travels, and what a decoder must report.
//!
//! Everything here is vocabulary; nothing here encodes or decodes. `traceproof-decoder` and
//! `traceproof-encoder-model` are two independent readings of the specifications that share only these
//! words, and every third-party subject implements the same two traits.
//!
//! | question | place |
//! |---|---|
//! | Which families exist, and which types belong to one? | [`Protocol`], [`ProtocolId`], [`Family`] |
//! | What does a decoder or encoder have to offer? | [`Decoder`], [`Encoder`], [`Capabilities`] |
//! | Where do results go? | [`Sink`], [`EncoderSink`], [`Log`] |
//! | What can be wrong with a trace, and where? | [`Fault`], [`FaultClass`], [`Place`] |
//! | What does a fault cost? | [`Recovery`] |
//! | How much work and memory may a stream cause? | [`DecoderLimits`] |
//! | What do the bits of a packet mean? | [`Dissection`], [`Field`] |
//! | Which code was running, and in which state of the processor? | [`Program`], [`MemorySpace`] |
//! | How does an address stand in files? | [`Address`], [`Address32`] |
//! | What may a subject leave out? | [`Feature`] |
//! | What was read into a specification that leaves it open? | [`Reading`] |
//! | The words of one specification | [`riscv_etrace`], [`arm_etm`], [`arm_pft`], [`itanium_pmu`]; what the ARM families share: [`arm`] |
#![cfg_attr(feature = "cases", doc = "| What does a test case look like on disk? | [`case`] |")]
#![cfg_attr(feature = "cases", doc = "| Which requirement does a case prove? | [`clause`] |")]
//!
//! The crate is `no_std` (with `alloc`) unless the feature `cases` is on.
#![cfg_attr(not(feature = "cases"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod address;
pub mod arm;
pub mod arm_etm;
pub mod arm_pft;
#[cfg(feature = "cases")]
pub mod case;
#[cfg(feature = "cases")]
pub mod clause;
mod dissection;
mod fault;
mod feature;
pub mod itanium_pmu;
mod limits;
#[cfg(feature = "serde")]
pub mod notation;
mod program;
mod protocol;
mod reading;
mod recovery;
pub mod riscv_etrace;
#[cfg(feature = "cases")]
pub mod shipped;
mod space;
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
pub use subject::{
    Capabilities, Decoder, Encoder, EncoderSink, Entry, FaultDetail, Layer, Log, Refusal, Sink,
};
