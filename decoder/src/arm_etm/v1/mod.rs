//! Architecture 1: pins to packets to events.
//!
//! ```
//! use traceproof_decoder::arm_etm::v1::Decoder;
//! use traceproof_vectors::arm_etm::{Architecture, Event, Parameters};
//! use traceproof_vectors::{Decoder as _, Log, Program, Section};
//!
//! // 0x8000: nop; beq 0x800c; nop; b 0x8000
//! let words = [0xe1a0_0000_u32, 0x0a00_0000, 0xe1a0_0000, 0xeaff_fffb];
//! let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
//! let mut program = Program::new();
//! program.insert(Section::new(0x8000, bytes, "loop"))?;
//!
//! let mut decoder = Decoder::default();
//! let parameters = Parameters { architecture: Architecture::V1, ..Parameters::default() };
//! decoder.begin(&parameters, &program)?;
//! let mut log = Log::default();
//! // 8-bit port: a byte of PIPESTAT and TRACESYNC, and a byte of TRACEPKT for each cycle. Tracing is enabled at 0x8000 (BE
//! // with TRACESYNC, an APO of 0 in the two records after it); three instructions are executed.
//! decoder.push(&[0xc, 0x80, 0, 0x80, 0, 0x82, 0, 0x80, 0, 0x10, 0, 0x00], &mut log);
//! decoder.finish(&mut log);
//!
//! assert_eq!(log.faults().count(), 0);
//! let executed: Vec<_> = log
//!     .events()
//!     .filter_map(|event| match event {
//!         Event::InstructionAt { address, executed: true, .. } => address.map(u32::from),
//!         _ => None,
//!     })
//!     .collect();
//! assert_eq!(executed, [0x8000, 0x8004, 0x800c]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | purpose | place |
//! |---|---|
//! | Captured cycles to packets and events | [`Decoder`] |
//! | Assigns bytes of the FIFO to statuses and reads them | [`Port`], [`Listener`] |
//! | The same bit by bit, for display | [`dissect`] |
//!
//! Source references are those of [`traceproof_vectors::arm_etm`].

mod data;
mod decoder;
mod dissect;
mod flow;
mod held;
mod listener;
mod packet;
mod pairing;
mod port;
mod waiting;
mod window;

#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use dissect::dissect;
pub use listener::{Consequence, Listener};
pub use port::Port;
