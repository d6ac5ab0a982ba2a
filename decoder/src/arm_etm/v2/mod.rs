//! Architecture 2: pins to packets to events.
//!
//! ```
//! use traceproof_decoder::arm_etm::v2::Decoder;
//! use traceproof_vectors::arm_etm::{Event, Parameters};
//! use traceproof_vectors::{Decoder as _, Log, Program};
//!
//! let mut decoder = Decoder::default();
//! // 8-bit port: a byte of PIPESTAT and a byte of TRACEPKT for each cycle.
//! decoder.begin(&Parameters::default(), &Program::new())?;
//! let mut log = Log::default();
//! // Tracing is enabled at 0x8000 (TD with TRACEPKT[0] set), then five instructions, of which the last one stores the byte
//! // 0x42 to an address of which only the lowest 7 bits are output.
//! decoder.push(&[7, 0x01, 0, 0x20, 0, 0x00, 0, 0x80, 0, 0x00, 1, 0x00, 4, 0x26, 4, 0x40, 4, 0x42], &mut log);
//! decoder.finish(&mut log);
//!
//! assert_eq!(log.faults().count(), 0);
//! let executed = log.events().filter(|event| matches!(event, Event::Instruction { executed: true, .. }));
//! assert_eq!(executed.count(), 5);
//! assert!(matches!(log.events().last(), Some(Event::Transfer { when: 5, .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | purpose | place |
//! |---|---|
//! | Captured cycles to packets and events | [`Decoder`] |
//! | Bytes of the FIFO by cycle, and their packets | [`Port`], [`Listener`] |
//! | The same bit by bit, for display | [`dissect`] |
//! | Addresses, transfers and load misses from packets | [`Flow`] |
//!
//! Source references are those of [`traceproof_vectors::arm_etm`].

mod address;
mod conventions;
mod decoder;
mod dissect;
mod exceptions;
mod flow;
mod listener;
mod packet;
mod pending;
mod port;

#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use dissect::dissect;
pub use flow::Flow;
pub use listener::{Carrier, Consequence, FifoByte, Listener};
pub use port::Port;
