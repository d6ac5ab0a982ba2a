//! ARM FEAT_ETE and ETMv4, one packet protocol: bytes to packets to events.
//!
//! ```
//! use traceproof_decoder::arm_ete::Decoder;
//! use traceproof_vectors::arm_ete::{Event, Outcome, Parameters};
//! use traceproof_vectors::{Decoder as _, Log, Program, Section};
//!
//! // 0x1000: nop; b.eq 0x100c; nop; b 0x1000
//! let words = [0xd503_201f_u32, 0x5400_0040, 0xd503_201f, 0x17ff_fffd];
//! let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
//! let mut program = Program::new();
//! program.insert(Section::new(0x1000, bytes, "loop"))?;
//!
//! let mut decoder = Decoder::default();
//! decoder.begin(&Parameters::default(), &program)?;
//! let mut log = Log::default();
//! // A-sync; Trace Info; Trace On; 0x1000 at EL1, Non-secure, AArch64; two E atoms.
//! decoder.push(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0, 0x04], &mut log);
//! decoder.push(&[0x82, 0, 0x08, 0, 0, 0x31, 0xdb], &mut log);
//! decoder.finish(&mut log);
//!
//! assert_eq!(log.faults().count(), 0);
//! let executed: Vec<_> = log
//!     .events()
//!     .filter_map(|event| match event {
//!         Event::Instructions { first, count, last: Outcome::Taken, .. } => Some((first.0, *count)),
//!         _ => None,
//!     })
//!     .collect();
//! assert_eq!(executed, [(0x1000, 2), (0x100c, 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | question | place |
//! |---|---|
//! | Bytes to packets and events in one go? | [`Decoder`] |
//! | Where do packets begin and end? | [`PacketReader`], [`Listener`] |
//! | What are their fields, for people? | [`dissect`] |
//! | What do packets say about instructions and time? | [`Analyzer`] |
//!
//! The analyser has the stages of K10: packets to elements (`analyzer`, `history`), resolution of speculation and
//! transactions (`resolution`, `speculation`, `transaction`), elements to instructions (`flow`).
//!
//! Source references are those of [`traceproof_vectors::arm_ete`].

mod analyzer;
mod decoder;
mod dissect;
mod element;
mod flow;
mod frequent;
mod headers;
mod history;
mod layout;
mod listener;
mod oddities;
mod packet;
mod parse;
mod resolution;
mod speculation;
mod transaction;

#[cfg(test)]
mod tests;

pub use analyzer::Analyzer;
pub use decoder::Decoder;
pub use dissect::{Dissector, dissect};
pub use listener::Listener;
pub use packet::PacketReader;
