//! ARM Program Flow Trace: the waypoint interface of a PTM -> packets -> FIFO -> bytes.
//!
//! ```
//! use traceproof_encoder_model::arm_pft::{Core, Encoder};
//! use traceproof_vectors::arm_pft::{Action, ArmPft, Execute, Parameters, Policy, Signal, State, Step};
//! use traceproof_vectors::{Address32, Encoder as _, Log, Program, Section};
//!
//! // 8000: NOP, and a branch to itself.
//! let mut program = Program::new();
//! program.insert(Section::new(0x8000_u64, vec![0, 0, 0xa0, 0xe1, 0xfe, 0xff, 0xff, 0xea], "code")).unwrap();
//! let step = |action| Step { cycles: 1, timestamp: 0, action };
//! let at = |address| Execute { address: Address32(address), ..Execute::default() };
//! let execution = [
//!     step(Action::Signal(Signal::Enable(State { address: Address32(0x8000), ..State::default() }))),
//!     step(Action::Execute(at(0x8000))),
//!     step(Action::Execute(at(0x8004))),
//!     step(Action::Signal(Signal::Disable)),
//! ];
//!
//! let parameters = Parameters::default();
//! let mut encoder = Encoder::default();
//! encoder.begin(&parameters, &Policy::default()).unwrap();
//! let mut log = Log::<ArmPft>::default();
//! let mut core = Core::new(&program, &parameters);
//! core.run(execution, &mut |stimulus| encoder.step(stimulus, &mut log)).unwrap();
//! encoder.finish(&mut log);
//!
//! // A-sync, I-sync (tracing enabled), one E atom.
//! assert_eq!(log.wire, [0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x80, 0, 0, 0x21, 0x84]);
//! ```
//!
//! | question | place |
//! |---|---|
//! | Which packets and bytes does a PTM make of its waypoint interface? | [`Encoder`] |
//! | What does a processor show there when it executes a program? | [`Core`], [`ExecutionError`] |
//! | Which bytes is a packet? | [`write_packet`], [`UnencodablePacket`] |
//!
//! Inside, `ptm` decides when tracing starts, stops and overflows, `trace` makes the packets of waypoints and
//! exceptions, `sync` those of synchronisation and timestamps, `schedule` knows what is due of it.
//! `last_state` and `address` shorten addresses, `atoms`, `returns` and `timestamps` hold what their names
//! say, `check` and `packet` write bytes.
//!
//! Choices where the specification is silent, besides those in
//! [`Policy`](traceproof_vectors::arm_pft::Policy) and the readings:
//! * TraceEnable is high until the stimulus says otherwise; it outlasts a disable.
//! * After a waypoint: exception return, Context ID, VMID, timestamp. After an exception: Context ID, VMID,
//!   timestamp.
//! * The VMID stands between the I-sync and the full timestamp of a synchronisation.
//! * A periodic I-sync says the security state, Context ID and VMID that the trace has said so far; one that
//!   starts tracing says those of the next instruction.
//! * A synchronisation that is asked for while nothing is traced comes when tracing starts. One that is not
//!   done when the next is asked for, or when tracing is about to stop (not in prohibited regions and Jazelle
//!   state), is completed at once. So the only forced overflow is that of a FIFO without room.
//! * The first synchronisation has no full timestamp; the first timestamp that something asks for is full.
//! * An overflow of the stimulus sends held atoms first. One of the FIFO loses the packets of a whole step;
//!   atoms of the steps before are kept. When there is room again, they come first, then an A-sync that was
//!   lost, the I-sync, and triggers that were lost.
//! * Every trigger while the PTM is enabled is a packet, also where nothing is traced.
//! * Tracing that starts after an overflow has that reason, whatever else let it start.
//! * Entry to Debug state is a five-byte ARM address 0 with the security state and Hyp bit that the trace has
//!   said, and asks for no timestamp. Leaving Jazelle state or a prohibited region has the reason "tracing
//!   enabled".
//! * Timestamp events while nothing is traced are forgotten. A DMB or DSB asks for a timestamp also where it
//!   is no waypoint.
//! * The security state of a return address is the one that the trace has said before the branch with link.
//! * Cycles are counted while the PTM is enabled; what one count cannot hold is left for the next.
//! * An exception without number, or with one above 511, is no exception.

mod address;
mod atoms;
mod check;
mod encoder;
mod last_state;
mod packet;
mod processor;
mod ptm;
mod returns;
mod schedule;
mod sync;
mod timestamps;
mod trace;
mod unencodable;

#[cfg(test)]
mod tests;

pub use encoder::Encoder;
pub use packet::write_packet;
pub use processor::{Core, ExecutionError, ExecutionProblem};
pub use unencodable::UnencodablePacket;
