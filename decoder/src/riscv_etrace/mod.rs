//! RISC-V Efficient Trace 2.0: instruction trace and data trace.
//!
//! ```
//! use traceproof_decoder::riscv_etrace::Decoder;
//! use traceproof_vectors::riscv_etrace::{Event, Parameters};
//! use traceproof_vectors::{Address, Decoder as _, Log, Program, Section};
//!
//! // Four nops at 0x1000.
//! let mut program = Program::new();
//! program.insert(Section::new(0x1000, [0x13, 0, 0, 0].repeat(4), "nops"))?;
//!
//! let mut decoder = Decoder::default();
//! decoder.begin(&Parameters::default(), &program)?;
//! let mut log = Log::default();
//! // Start at 0x1000 in machine mode; the instruction 8 bytes on is reported; tracing ended.
//! decoder.push(&[3, 0x73, 0x00, 0x04, 1, 0x12, 1, 0x5f], &mut log);
//! decoder.finish(&mut log);
//!
//! assert_eq!(log.faults().count(), 0);
//! let retired = Event::Retire { first: Address(0x1000), end: Address(0x100c), count: 3 };
//! assert_eq!(log.canonical_events().get(1), Some(&retired));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | question | place |
//! |---|---|
//! | Bytes to packets and events in one go? | [`Decoder`] |
//! | Where do packets begin and end in the byte stream? | [`Deframer`], [`Unit`], [`Content`], [`Receiver`], [`Header`], [`Payload`] |
//! | Which packets of a stream are whose? | [`Demultiplexer`], [`Routed`] |
//! | What are the fields of a packet? | [`PacketReader`]; for people: [`dissect`] |
//! | The execution from packets | [`Flow`]; how much work is too much: [`DecoderLimits`](traceproof_vectors::DecoderLimits) |
//! | Which data were accessed? | [`Decoder`], where [`Parameters::data`](traceproof_vectors::riscv_etrace::Parameters::data) is there |
//! | What does the code do to the flow? | [`ProgramMap`], [`InstructionSet`], [`Instruction`], [`Class`] |
//! | Every retired instruction by itself? | [`Instructions`] |
//!
//! Source references are those of [`traceproof_vectors::riscv_etrace`].

mod bits;
mod data;
mod decoder;
mod dissect;
mod effort;
mod encapsulation;
mod fast_path;
mod flow;
mod goal;
mod instruction;
mod instructions;
mod jump_target_cache;
mod lengths;
mod modes;
mod outcomes;
mod packet;
mod predictor;
mod program_map;
mod report;
mod return_stack;
mod slot;
mod step;
mod trap_chain;
mod trouble;
mod walk;
mod walker;

#[cfg(test)]
mod tests;

pub use bits::Payload;
pub use decoder::Decoder;
pub use dissect::dissect;
pub use encapsulation::{Content, Deframer, Demultiplexer, Header, Routed, Unit};
pub use fast_path::Receiver;
pub use flow::Flow;
pub use instruction::{Class, Instruction, InstructionSet};
pub use instructions::Instructions;
pub use packet::PacketReader;
pub use program_map::ProgramMap;
