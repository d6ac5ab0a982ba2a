//! Architecture 3: what a processor does, cycle by cycle -> packets -> FIFO -> bytes.
//!
//! ```
//! use traceproof_encoder_model::arm_etm::v3::Encoder;
//! use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Instruction, Parameters, Policy, Stimulus};
//! use traceproof_vectors::{Address32, Encoder as _, Log};
//!
//! let parameters = Parameters { architecture: Architecture::V3, ..Parameters::default() };
//! let mut encoder = Encoder::default();
//! encoder.begin(&parameters, &Policy::default()).unwrap();
//! let mut log = Log::<ArmEtm>::default();
//! let instruction = Instruction { address: Address32(0x8000), executed: true, ..Instruction::default() };
//! encoder.step(
//!     &Stimulus { trace_enable: true, instruction: Some(instruction), ..Stimulus::default() },
//!     &mut log,
//! );
//! // TraceEnable goes low, and the P-header of the last instruction goes out.
//! encoder.step(&Stimulus::default(), &mut log);
//! encoder.finish(&mut log);
//!
//! // A-sync, I-sync (tracing enabled), one E atom.
//! assert_eq!(log.wire, [0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0x00, 0x80, 0, 0, 0x84]);
//! ```
//!
//! | purpose | place |
//! |---|---|
//! | Packets and bytes of a cycle | [`Encoder`] |
//! | Bytes of a packet | [`write_packet`], [`UnencodablePacket`] |
//!
//! Inside, `macrocell` decides when tracing starts, stops and overflows, `group` puts the packets of a cycle in order,
//! `atoms`, `branches`, `data` and `timestamps` make them, `schedule` knows when synchronisation is due, `check` and
//! `packet` write bytes, `fifo` holds them and feeds the port.
//!
//! Choices where the specification is silent, besides those in [`Policy`](traceproof_vectors::arm_etm::Policy):
//! * Order in a cycle: trigger (in the first cycle after the A-sync); miss data; A-sync; I-sync, its cycle count, VMID; the rest of an earlier LSM, if this
//!   cycle's instruction has transfers itself; atoms; exception exit (M profile: after the data); exception entry;
//!   data; Context ID; VMID; branch; timestamp.
//! * The packets of a cycle go into the FIFO all or none. If they do not fit, the cycle is lost and all after it until
//!   the FIFO is empty; atoms of the cycles before go out before the I-sync.
//! * An overflow is forgotten if TraceEnable is off when the FIFO is empty; debug state keeps it.
//! * Periodic synchronisation waits for 48 free bytes, for the end of an LSM and of suppressed data. If it had to, and
//!   two periods have passed, it forces an overflow.
//! * How many cycles passed between programming and the first instruction is not known: their count is 0, the reset
//!   value of the counter.
//! * A reset sets the VMID to 0, which is output like any change. In instruction trace its packet might be missing.
//! * After an overflow, too, the cycle count is that of the gap, though ETMv3.0 and ETMv3.5 let decoders ignore it.
//! * A timestamp follows every non-periodic I-sync; timestamp events while nothing is traced are forgotten.
//! * Miss data that arrive while an overflow drains, or in debug state, are lost; their placeholders stay unanswered.
//!   Suppression leaves miss data alone.
//! * With more load misses outstanding than there are tags, the oldest one loses its tag and its data.
//! * Reset forgets outstanding misses and interrupted LSMs, nothing else.
//! * A coprocessor register transfer is traced only where values are.
//! * In data-only mode data are never suppressed, for no packet can say so: what does not fit is an overflow.
//! * Tracing starts in the cycle of an instruction; in data-only mode in any cycle, and needs no LSM to wait for.
//! * The deprecated exception inside byte 5 and the Ignore packet are never sent.

mod atoms;
mod branches;
mod check;
mod data;
mod encoder;
mod fifo;
mod group;
mod macrocell;
mod packet;
mod schedule;
mod timestamps;

#[cfg(test)]
mod tests;

pub use super::UnencodablePacket;
pub use encoder::Encoder;
pub use packet::write_packet;
