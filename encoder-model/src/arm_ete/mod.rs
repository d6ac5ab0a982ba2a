//! ARM FEAT_ETE and ETMv4: what a trace unit sees of its processing element -> packets -> buffer -> bytes.
//!
//! ```
//! use traceproof_encoder_model::arm_ete::{Core, Encoder};
//! use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
//! use traceproof_vectors::arm_ete::{Action, ArmEte, Execute, Parameters, Policy, Signal, State, Step};
//! use traceproof_vectors::{Address, Encoder as _, Log, Program, Section};
//!
//! // 1000: NOP, and a branch to itself.
//! let mut program = Program::new();
//! program.insert(Section::new(0x1000_u64, vec![0x1f, 0x20, 3, 0xd5, 0, 0, 0, 0x14], "code")).unwrap();
//! let context = Context::default()
//!     .with_security(SecurityState::NonSecure)
//!     .with_exception_level(Some(ExceptionLevel::El1))
//!     .with_64_bit(true);
//! let state = State { address: Address(0x1000), isa: InstructionSet::A64, context };
//! let step = |action| Step { cycles: 1, timestamp: 0, action };
//! let at = |address| Execute { address: Address(address), ..Execute::default() };
//! let execution = [
//!     step(Action::Signal(Signal::Enable(state))),
//!     step(Action::Execute(at(0x1000))),
//!     step(Action::Execute(at(0x1004))),
//!     step(Action::Signal(Signal::Disable)),
//! ];
//!
//! let (parameters, policy) = (Parameters::default(), Policy::default());
//! let mut encoder = Encoder::default();
//! encoder.begin(&parameters, &policy).unwrap();
//! let mut log = Log::<ArmEte>::default();
//! let mut core = Core::new(&program, &parameters, &policy);
//! core.run(execution, &mut |stimulus| encoder.step(stimulus, &mut log)).unwrap();
//! encoder.finish(&mut log);
//!
//! // Trace Info, Trace On, Target Address with Context, one E atom.
//! assert_eq!(log.wire[12..], [0x01, 0, 0x04, 0x82, 0, 0x08, 0, 0, 0x31, 0xf7]);
//! ```
//!
//! | question | place |
//! |---|---|
//! | Which packets and bytes does a trace unit make of what it sees? | [`Encoder`] |
//! | What does a processor show it when it executes a program? | [`Core`], [`ExecutionError`] |
//! | Which bytes is a packet? | [`write_packet`], [`UnencodablePacket`] |
//!
//! Inside, `unit` decides when tracing starts, stops and overflows, `gates` what keeps it from tracing. `trace` makes
//! the packets of P0 instructions and exceptions, `speculation` those of Commit, Cancel and Mispredict, `transactions`,
//! `q` and `sync` what their names say. `pipeline` knows the uncommitted P0 elements, `held` what is sent with what
//! comes next, and `flush` sends it. `history` and `contexts` shorten addresses and contexts, `atoms`, `returns`,
//! `cycles` and `timestamps` hold what their names say, `check` and `packet` write bytes. `processor` and `window` are
//! the processor.
//!
//! Choices where the specification is silent, besides those in [`Policy`](traceproof_vectors::arm_ete::Policy) and the
//! readings:
//! * A-sync and Trace Info come when tracing is enabled and after an overflow; Trace On, context and address before the
//!   next P0 element. A requested synchronization comes at once while tracing is active, one of the period before the
//!   next P0 instruction or exception; inactive ones wait for it where the policy says so.
//! * Order before a P0 element: Trace On, Transaction Start, context, address; a Start that is a P0 element comes after
//!   them.
//! * Held atoms are sent before every packet that is no Mispredict or Cancel; Commit packets that are merged, before
//!   every packet that is no P0 element; a Cancel, with the Mispredict or before anything else; events, before anything
//!   else.
//! * Each Cancel of the stimulus has a packet of its own. After it the context is repeated if the one in effect was
//!   cancelled, and the address if execution goes on outside of the block in which the oldest cancelled element began.
//! * The return stack is emptied at Trace On, Trace Info, Discard, Overflow, Transaction Failure, Q elements, calls in
//!   regions of branch broadcasting, and where an address overrides a match: it is always the top of a decoder's. A
//!   cancelled return puts its entry back.
//! * Q elements only without speculation, because what they replace must not be cancelled in part.
//! * A Source Address that is not taken after all is cancelled.
//! * A cycle count is sent with the first Commit at which the counter has reached the threshold, implied ones included.
//!   The count of a timestamp whose element stands before the latest cycle count is 0.
//! * A timestamp is sent at the end of the step that requests it; after Trace Info, at the end of the next step with a
//!   P0, Event or Instrumentation element. A disable requests one by policy alone.
//! * Instrumentation is not traced in prohibited regions, nor during an overflow.
//! * PE Reset discards what is uncommitted; then neither context nor address precede it. Its address travels as 70, in
//!   ETMv4 as 0.
//! * At a disable Transaction Failure closes a transaction whose Start was traced; Discard follows only if P0 elements
//!   are uncommitted.
//! * An overflow of the stimulus sends first what is held. One of the buffer loses the packets of a whole step; what
//!   was held before is sent when there is room again, then events that were lost, then Overflow. A flush and a disable
//!   empty the buffer, so their packets always have room.
//! * An overflow before the first A-sync of a session has no Overflow packet.
//! * An exception with a reserved number is no exception; transactions without FEAT_TME are none.
//! * No more than 65,536 uncommitted blocks are remembered one by one. A Cancel beyond them repeats the address.

mod atom_headers;
mod atoms;
mod check;
mod contexts;
mod cycles;
mod encoder;
mod execution_error;
mod field;
mod flush;
mod gates;
mod held;
mod history;
mod packet;
mod pipeline;
mod processor;
mod q;
mod returns;
mod speculation;
mod sync;
mod timestamps;
mod trace;
mod transactions;
mod under_way;
mod unencodable;
mod unit;
mod window;

#[cfg(test)]
mod tests;

pub use encoder::Encoder;
pub use execution_error::{ExecutionError, ExecutionProblem};
pub use packet::write_packet;
pub use processor::Core;
pub use unencodable::UnencodablePacket;
