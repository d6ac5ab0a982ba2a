//! RISC-V Efficient Trace: a hart's execution -> ingress port -> packets -> bytes.
//!
//! ```
//! use traceproof_encoder_model::riscv_etrace::{Encoder, Hart, Retirement};
//! use traceproof_vectors::riscv_etrace::{Cycle, Parameters, Policy, Retire, RiscvEtrace, Step, Stimulus};
//! use traceproof_vectors::{Address, Encoder as _, Log, Program, Section};
//!
//! // Two times `nop` at 0x1000.
//! let mut program = Program::new();
//! let bytes = vec![0x13, 0, 0, 0, 0x13, 0, 0, 0];
//! program.insert(Section::new(0x1000, bytes, "")).unwrap();
//! let retire = |at| Step::Retire(Retire { address: Address(at), privilege: 3, ..Retire::default() });
//! // The end of tracing is a stimulus too: no encoder knows that nothing will follow.
//! let halted = Stimulus::Cycle(Cycle { halted: true, ..Cycle::default() });
//! let enable = Stimulus::Enable(true);
//! let steps = [Step::Stimulus(enable), retire(0x1000), retire(0x1004), Step::Stimulus(halted)];
//!
//! let parameters = Parameters::default();
//! let mut encoder = Encoder::default();
//! encoder.begin(&parameters, &Policy::default()).unwrap();
//! let mut log = Log::<RiscvEtrace>::default();
//! let mut hart = Hart::new(&program, &parameters, Retirement::Single);
//! hart.run(steps, &mut |stimulus| encoder.step(stimulus, &mut log)).unwrap();
//! encoder.finish(&mut log);
//!
//! // Support; start at 0x1000; address +4 of the final instruction; support with `ended_rep`.
//! assert_eq!(log.wire, [1, 0x1f, 3, 0x73, 0x00, 0x04, 1, 0x0a, 1, 0x5f]);
//! ```
//!
//! | purpose | place |
//! |---|---|
//! | Signals of an execution at the ingress port | [`Hart`], [`Retirement`], [`TrapPlacement`] |
//! | Class of an instruction | [`Instruction`], [`Class`], [`Isa`] |
//! | Packets of an encoder for these signals | [`Encoder`] |
//! | Bytes of a packet | [`write_payload`], [`write_packets`], [`UnencodablePacket`] |
//! | Transport of payloads | [`Framing`], [`Transport`], [`Multiplexer`] |
//!
//! Inside, an item stream (`items`) passes a window of three; a list of rules (`decide`) says which packet the
//! middle item gets; `tracer` and `report` make it and change the state; `packet` and `bits` turn it into bytes; `data`
//! does the same for data trace; `lanes` sends both.
//!
//! [`Encoder`] decides about an item when the next one comes, or when tracing stops: `Stimulus::Enable(false)`, a
//! trace-off pulse, a filter, `halted` or `reset` (ET 4.2.3, 4.2.4, 5, 7.5). `finish` decides nothing and sends
//! nothing: packets leave as they are made, so none is ever buffered.
//!
//! Choices where the specification is silent, besides those in
//! [`Policy`](traceproof_vectors::riscv_etrace::Policy):
//! * A change of modes that decoders must walk differently for (all but full address and implicit exception) is treated
//!   like an asynchronous discontinuity: the last instruction before it is reported, and the next one gets a
//!   synchronisation packet. Before a trap, or after a return that a return stack may find wrong, it waits for the next
//!   jump or branch.
//! * Modes that the parameters rule out cannot be switched on; asking for them has no effect.
//! * Parameters whose longest packet exceeds what an encapsulated one has room for are refused (RVET-ENCAP-006).
//! * Where the transport has timestamps every packet has one: the time of the latest item it could be about, 0 before
//!   the first. It is independent of the field `time`.
//! * Under arbitrary padding the padding is 0, so that it contains no data (RVET-ENCAP-010).
//! * Null packets that are lost with the transport are not sent again.
//! * The resynchronisation timer acts on the first or last instruction of a block, because the port does not show where
//!   the others are.
//! * `ctype` of a cycle without retirement is ignored: the trap in it is a discontinuity anyway.
//! * Trace-on and trace-off do not change `ienable`; only `Stimulus::Enable` does.
//! * Data packets come directly after the packets of their instruction, responses at once but never before their
//!   request. Accesses of instructions that are not traced are not traced, unless instruction trace is off. A response
//!   that the options in force have no packet for is dropped.
//! * With `irets`, a report for any reason other than an uninferable discontinuity has the flag `irreport` while there
//!   are implicit returns to count, notify requests and resynchronisations included (RVET5-ENC-009). A branch that is
//!   itself the reported instruction has restarted the count, unless a return led to it.
//! * The report that a full count of implicit returns forces is one of an updiscon target in all other respects: it may
//!   have the flag `updiscon`, and tracing may end with `ended_ntr` after it.
//! * Under the reading `resync-disabled-keeps-state`, a change of modes renews what it switches on and keeps the rest.
//! * In version 2.0.5 a multi-access instruction retires with its last access (reading
//!   `multi-access-instruction-retires-once`), and a trigger or context change of an earlier access waits for that.
//! * An imprecise context change is reported at once, before the packet that its instruction may get for another
//!   reason.

mod available;
mod bits;
mod blocks;
mod branches;
mod code_map;
mod data;
mod decide;
mod encapsulation;
mod encoder;
mod fast_path;
mod filter;
mod hart;
mod instruction;
mod irets;
mod items;
mod lanes;
mod model;
mod multiplexer;
mod output;
mod packet;
mod predictor;
mod report;
mod resync;
mod returns;
mod standard_support;
mod support;
mod target_cache;
mod tracer;
mod transport;
mod unencodable;
mod wire;

#[cfg(test)]
mod tests;

pub use encapsulation::{Frame, Framing, Trace, TraceKind};
pub use encoder::Encoder;
pub use hart::{Hart, HartError, Retirement, TrapPlacement};
pub use instruction::{Class, Instruction, Isa};
pub use multiplexer::Multiplexer;
pub use transport::Transport;
pub use unencodable::{Defect, UnencodablePacket};
pub use wire::{write_packets, write_payload};
