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
//! | purpose | place |
//! |---|---|
//! | Bytes to packets and events | [`Decoder`] |
//! | Boundaries of packets in the byte stream | [`Deframer`], [`Unit`], [`Content`], [`Receiver`], [`Header`], [`Payload`] |
//! | Packets of a stream by source | [`Demultiplexer`], [`Routed`] |
//! | Fields of a packet | [`PacketReader`]; for display: [`dissect`] |
//! | The execution from packets | [`Flow`]; its limits: [`DecoderLimits`](traceproof_vectors::DecoderLimits) |
//! | Data accesses | [`Decoder`], where [`Parameters::data`](traceproof_vectors::riscv_etrace::Parameters::data) is there |
//! | Effect of the code on the flow | [`ProgramMap`], [`InstructionSet`], [`Instruction`], [`Class`] |
//! | Every retired instruction by itself | [`Instructions`] |
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
mod modes;
mod outcomes;
mod packet;
mod predictor;
mod program_map;
mod report;
mod return_stack;
mod slot;
mod standard_support;
mod starts;
mod step;
mod trap_chain;
mod trouble;
mod walk;
mod walker;

#[cfg(test)]
mod tests;

pub use bits::Payload;
pub use decoder::Decoder;
pub use dissect::{dissect, dissect_each};
pub use encapsulation::{Content, Deframer, Demultiplexer, Header, Routed, Unit};
pub use fast_path::Receiver;
pub use flow::Flow;
pub use instruction::{Class, Instruction, InstructionSet};
pub use instructions::Instructions;
pub use packet::PacketReader;
pub use program_map::ProgramMap;
