//! Architecture 1: what a processor does, cycle by cycle -> packets -> FIFO -> pins.
//!
//! ```
//! use traceproof_encoder_model::arm_etm::v1::Encoder;
//! use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Instruction, Parameters, Policy, Stimulus};
//! use traceproof_vectors::{Address32, Encoder as _, Log};
//!
//! let parameters = Parameters { architecture: Architecture::V1, ..Parameters::default() };
//! let mut encoder = Encoder::default();
//! encoder.begin(&parameters, &Policy::default()).unwrap();
//! let mut log = Log::<ArmEtm>::default();
//! let instruction = Instruction { address: Address32(0x8124), executed: true, ..Instruction::default() };
//! for _ in 0..3 {
//!     encoder.step(&Stimulus::default(), &mut log);
//! }
//! encoder.step(
//!     &Stimulus { trace_enable: true, instruction: Some(instruction), ..Stimulus::default() },
//!     &mut log,
//! );
//! encoder.finish(&mut log);
//!
//! // BE with TRACESYNC, its APO of 0, IE, WT: the full address a4 82 82 80 10 leaves, a byte in each record.
//! assert_eq!(log.wire, [0x0c, 0xa4, 0, 0x82, 0, 0x82, 0, 0x80, 3, 0x10]);
//! ```
//!
//! | purpose | place |
//! |---|---|
//! | Packets and pins of a cycle | [`Encoder`] |
//! | Bytes of a packet | [`write_packet`], [`UnencodablePacket`] |
//!
//! Inside, `macrocell` decides what is traced in a cycle, `branches` which branches output an address and in which
//! form, `data` makes data packets, `packet` writes bytes, `port` holds them and drives the pins, `offset` computes
//! where an address is.
//!
//! Choices where specification and [contract](traceproof_vectors::arm_etm::v1) are silent:
//! * Reason and Context ID of a restart take into account what happens up to the first traced instruction: the
//!   macrocell knows it as well as the instruction. BE itself may stand where the processor is still in debug state.
//! * Every write of the Context ID counts, of the same value too; written in the cycle of a branch, that branch outputs
//!   it.
//! * The instruction that an exception interrupts is BE or BD even if the stimulus says that its condition failed.
//! * An overflow is remembered until the next restart, whatever TraceEnable and debug state do in between.
//! * An instruction without address output in an APO record, which cannot be, is not traced. BD in an APO record, if
//!   not everything fits, leaves nothing in the FIFO: no status could indicate the data. Both are lost.
//! * An access of a size other than 1, 2 and 4 bytes is a word.
//! * Coprocessor register transfers are traced if monitored, whatever ViewData.
//! * A load miss, which no processor with this macrocell shows, is a load that has its value.
//! * No speculative restart after an overflow (ETM1-SYN-006) is ever shown.

mod branches;
mod data;
mod encoder;
mod macrocell;
mod offset;
mod packet;
mod port;

#[cfg(test)]
mod tests;

pub use super::UnencodablePacket;
pub use encoder::Encoder;
pub use packet::write_packet;
