//! Architecture 3: bytes to packets to events.
//!
//! ```
//! use traceproof_decoder::arm_etm::v3::Decoder;
//! use traceproof_vectors::arm_etm::{Architecture, Event, Parameters};
//! use traceproof_vectors::{Decoder as _, Log, Program, Section};
//!
//! // 0x8000: nop; beq 0x800c; nop; b 0x8000
//! let words = [0xe320_f000_u32, 0x0a00_0000, 0xe320_f000, 0xeaff_fffb];
//! let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
//! let mut program = Program::new();
//! program.insert(Section::new(0x8000, bytes, "loop"))?;
//!
//! let mut decoder = Decoder::default();
//! let parameters = Parameters { architecture: Architecture::V3, ..Parameters::default() };
//! decoder.begin(&parameters, &program)?;
//! let mut log = Log::default();
//! // A-sync; tracing is enabled at 0x8000; three instructions are executed.
//! decoder.push(&[0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0x00, 0x80, 0, 0, 0x8c], &mut log);
//! decoder.finish(&mut log);
//!
//! assert_eq!(log.faults().count(), 0);
//! let executed: Vec<_> = log
//!     .events()
//!     .filter_map(|event| match event {
//!         Event::Atom { address, executed: true, .. } => address.map(u32::from),
//!         _ => None,
//!     })
//!     .collect();
//! assert_eq!(executed, [0x8000, 0x8004, 0x800c]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | purpose | place |
//! |---|---|
//! | Bytes to packets and events | [`Decoder`] |
//! | Boundaries and fields of packets | [`PacketReader`], [`Listener`]; for display: [`dissect`] |
//! | Instructions, data and time from packets | [`Flow`] |
//!
//! Source references are those of [`traceproof_vectors::arm_etm`].

mod address;
mod address_bytes;
mod atoms;
mod automaton;
mod clock;
mod code;
mod decoder;
mod dissect;
mod exception_bytes;
mod fast_path;
mod fields;
mod flow;
mod headers;
mod information;
mod layout;
mod listener;
mod packet;
mod records;
mod transfers;
mod value_bytes;

#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use dissect::dissect;
pub use flow::Flow;
pub use listener::Listener;
pub use packet::PacketReader;
