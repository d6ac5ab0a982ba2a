//! Judges any trace decoder or encoder against the contract.
//!
//! It is a library: a decoder of another project runs the whole suite in its own `cargo test`.
//!
//! ```no_run
//! use traceproof_conformance::{Options, Subject, report, run};
//! use traceproof_vectors::riscv_etrace::RiscvEtrace;
//! # use traceproof_decoder::riscv_etrace::Decoder as AcmeDecoder;
//!
//! let subject = Subject::new("acme", "2.3.1").with_decoder::<RiscvEtrace>(|| Box::new(AcmeDecoder::default()));
//! let run = run(&subject, &Options::default(), &|_| {}).expect("the shipped suite is sound");
//! assert!(run.is_success(), "{}", report::text::report(&run, report::text::Style::default()));
//! ```
//!
//! | question | place |
//! |---|---|
//! | What is a subject? | [`Subject`] |
//! | How is a subject in another process run? | [`process`]; the subject's side is [`adaptor`] |
//! | Which cases? | [`suite`] |
//! | How are they run? | [`run()`], [`Options`]; one by one: [`Loaded`] |
//! | How is one judged? | [`judge`] |
//! | Which outcomes are there? | [`Verdict`], [`Run`] |
//! | How are they reported? | [`report`], [`line`](mod@line) |
//! | How are names of others shown? | [`visible`] |
//! | Which requirements are covered? | [`coverage`] |
//! | What must a family define? | [`family`] |
//! | What holds for every stream? | [`relations`] |
//! | Every case as a test of another repository's `cargo test`? | [`trials`] |
//! | Which failures of a subject are known? | [`baseline`] |
//! | Where do two subjects disagree? | [`differential`] |
//! | Can a subject be judged? | [`smoke`] |
//! | Directories of captured ARM trace? | [`snapshot`], judged by [`captures`] |
//! | Which parameter would make a trace with faults readable? | [`hints`] |
//! | Files of programs and streams? | [`elf`], [`symbols`], [`listing`], [`stream`] |
//! | Where do random scenarios come from? | [`generate`] |
//! | What does a fuzz project of another repository begin with? | [`fuzz_project`] |
//! | How does a finding of a fuzzer become a case? | [`promote`] |
//! | What does a subject report for one stream, even if it crashes? | [`observe`] |
//! | The bytes of failing checks as files? | [`save`] |
//! | Texts, clauses and dissections for reports that are made of results alone? | [`details`] |
//! | Does the suite detect bugs? | [`saboteurs`] |
//! | Where is the code of one family? | [`riscv_etrace`], [`arm_etm`], [`arm_etm_formatter`], [`arm_pft`], [`arm_ete`], [`arm_ete_unit`], [`itanium_pmu`] |
//! | How fast are the reference models? | [`family::Bench`] |
//! | Which independent implementations are there? | [`peers`] |
#![forbid(unsafe_code)]
// Some parts serve a few families only; a build with fewer of them does not use these.
#![cfg_attr(not(feature = "families"), allow(dead_code, unused_imports, unused_macros))]

pub mod adaptor;
#[cfg(any(feature = "arm_etm", feature = "arm_pft"))]
mod arm;
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
pub mod baseline;
pub mod captures;
mod check;
pub mod coverage;
pub mod details;
pub mod differential;
pub mod elf;
mod encoding;
pub mod family;
pub mod fuzz_project;
pub mod generate;
pub mod hints;
mod invocation;
mod isolation;
#[cfg(feature = "itanium_pmu")]
pub mod itanium_pmu;
pub mod journal;
pub mod judge;
mod legal_search;
pub mod listing;
mod loaded;
pub mod observe;
pub mod peers;
pub mod process;
pub mod promote;
mod protocol_name;
mod reference;
pub mod relations;
mod repeat;
pub mod report;
#[cfg(feature = "riscv_etrace")]
pub mod riscv_etrace;
mod rounds;
pub mod run;
mod runner;
#[cfg(feature = "saboteurs")]
pub mod saboteurs;
pub mod save;
mod shard;
pub mod smoke;
pub mod snapshot;
pub mod stream;
mod subject;
pub mod suite;
pub mod symbols;
#[cfg(feature = "trials")]
pub mod trials;
pub mod verdict;
pub mod visible;

pub use encoding::{Agreement, UnknownAgreement};
pub use invocation::Invocation;
pub use isolation::THREAD_NAME;
pub use loaded::Loaded;
pub use protocol_name::ProtocolName;
pub use run::Run;
pub use runner::{Options, Progress, run};
pub use shard::{Shard, UnknownShard};
pub use subject::Subject;
pub use suite::Selection;
pub use traceproof_differential::line;
pub use verdict::{Direction, Verdict};
