//! ARM Program Flow Trace (PTM): bytes to packets to events.
//!
//! ```
//! use traceproof_decoder::arm_pft::Decoder;
//! use traceproof_vectors::arm_pft::{Event, Outcome, Parameters};
//! use traceproof_vectors::{Decoder as _, Log, Program, Section};
//!
//! // 0x8000: nop; beq 0x800c; nop; b 0x8000
//! let words = [0xe320_f000_u32, 0x0a00_0000, 0xe320_f000, 0xeaff_fffb];
//! let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
//! let mut program = Program::new();
//! program.insert(Section::new(0x8000, bytes, "loop"))?;
//!
//! let mut decoder = Decoder::default();
//! decoder.begin(&Parameters::default(), &program)?;
//! let mut log = Log::default();
//! // A-sync; tracing is enabled at 0x8000; the first branch is taken, then the second.
//! decoder.push(&[0, 0, 0, 0, 0, 0x80, 0x08, 0x00, 0x80, 0, 0, 0x21, 0x88], &mut log);
//! decoder.finish(&mut log);
//!
//! assert_eq!(log.faults().count(), 0);
//! let executed: Vec<_> = log
//!     .events()
//!     .filter_map(|event| match event {
//!         Event::Instructions { first, count, last: Outcome::Executed, .. } => Some((first.0, *count)),
//!         _ => None,
//!     })
//!     .collect();
//! assert_eq!(executed, [(0x8000, 2), (0x800c, 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | question | place |
//! |---|---|
//! | Bytes to packets and events in one go? | [`Decoder`] |
//! | Where do packets begin and end? | [`PacketReader`], [`Listener`] |
//! | What are their fields, for people? | [`dissect`] |
//! | What do packets say about instructions and time? | [`Flow`] |
//!
//! Source references are those of [`traceproof_vectors::arm_pft`].

mod code;
mod decoder;
mod dissect;
mod fast_path;
mod flow;
mod frequent;
mod headers;
mod layout;
mod listener;
mod oddities;
mod operations;
mod packet;
mod parse;
mod return_stack;
mod state;
mod tables;
mod track;

#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use dissect::dissect;
pub use flow::Flow;
pub use listener::Listener;
pub use packet::PacketReader;
