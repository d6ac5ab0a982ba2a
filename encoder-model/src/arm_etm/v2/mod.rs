//! Architecture 2: what a processor does, cycle by cycle -> packets -> FIFO -> pins.
//!
//! ```
//! use traceproof_encoder_model::arm_etm::v2::Encoder;
//! use traceproof_vectors::arm_etm::{ArmEtm, Instruction, Parameters, Policy, Stimulus};
//! use traceproof_vectors::{Address32, Encoder as _, Log};
//!
//! let mut encoder = Encoder::default();
//! encoder.begin(&Parameters::default(), &Policy::default()).unwrap();
//! let mut log = Log::<ArmEtm>::default();
//! let instruction = Instruction { address: Address32(0x8000), executed: true, ..Instruction::default() };
//! encoder.step(&Stimulus::default(), &mut log);
//! encoder.step(
//!     &Stimulus { trace_enable: true, instruction: Some(instruction), ..Stimulus::default() },
//!     &mut log,
//! );
//! encoder.finish(&mut log);
//!
//! // TD with TFO value 0; IE; WT until the TFO packet 20 00 80 00 00 has left.
//! assert_eq!(log.wire, [7, 0x01, 0, 0x20, 4, 0x00, 4, 0x80, 4, 0x00, 4, 0x00]);
//! ```
//!
//! | purpose | place |
//! |---|---|
//! | Packets and pins of a cycle | [`Encoder`] |
//! | Bytes of a packet | [`write_packet`], [`UnencodablePacket`] |
//!
//! Inside, `macrocell` decides what is traced in a cycle, `transfers` makes data packets of it,
//! `compression` shortens addresses, `packet` writes bytes, `port` holds them and drives the pins; `conventions` has
//! every bit that no available text confirms.
//!
//! Choices where the specification is silent, besides the conventions and those in
//! [`Policy`](traceproof_vectors::arm_etm::Policy):
//! * A TFO that starts tracing stands in the cycle before the first traced instruction. If it cannot be announced there
//!   (another one is still being output, or a byte is half sent on a 4-bit port), the instructions until it can are
//!   lost; if it does not fit in the FIFO, that is an overflow.
//! * The synchronisation counter runs all the time and starts again with every TFO.
//! * Without J bit (PC-2b) a TFO in Java state looks like one in ARM state, at an odd address like one in Thumb state;
//!   the next branch has five bytes and gives its state.
//! * A branch address is in the group of its instruction, never in a cycle without one; waits are WT, or TD where the
//!   FIFO is empty.
//! * Miss data that arrive while an overflow drains are lost; placeholders that were output stay outstanding.
//! * The overflow is forgotten if TraceEnable is off when the FIFO is empty; debug state keeps it.
//! * With more load misses outstanding than there are tags, the oldest one loses its tag and its data.
//! * Reset forgets outstanding misses and interrupted LSMs, nothing else.
//! * An LSM that an overflow interrupts is treated like one that was in progress before tracing started.
//! * Coprocessor register transfers are traced if monitored, whatever ViewData, and only where values are.
//! * A transfer that is the only one of its instruction may come between those of an LSM.

mod compression;
mod conventions;
mod encoder;
mod macrocell;
mod packet;
mod port;
mod sync_timer;
mod transfers;

#[cfg(test)]
mod tests;

pub use super::UnencodablePacket;
pub use encoder::Encoder;
pub use packet::write_packet;
