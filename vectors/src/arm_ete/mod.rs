//! ARM FEAT_ETE and ETMv4 (instruction trace), one packet protocol: the words of the specification.
//!
//! Source references: `R_…` and `I_…` are rules and statements of ARM DDI 0487 (D4, D5.3), K10 its analyser pseudocode;
//! `ETE-…` are requirements of `vectors/clauses/arm_ete.toml`; "sheet 5.4" is a section, "A14" and "D-24" are a row and
//! an example, of the project's digest of these texts. What they leave open is a reading (see [`READINGS`]).
//!
//! | question | place |
//! |---|---|
//! | What must be known beforehand? | [`Parameters`] |
//! | Which registers say it? | [`Registers`], [`Parameters::from_registers`] |
//! | What travels, packet by packet? | [`Packet`] |
//! | What does a decoder report? | [`Event`] |
//! | What does the processor do? | [`Step`] |
//! | What does the trace unit see? | [`Stimulus`] |
//! | Which legal choices does a trace unit make? | [`Policy`] |
//!
//! # Headers
//!
//! As sheet 5.1 and 2.3. A header is reserved, and costs synchronisation, if its packet does not exist:
//!
//! | header | exists |
//! |---|---|
//! | 05 | from ETMv4.2 to ETMv4.6 |
//! | 06, 2 or 3 bytes without address | ETMv4; with address: ETE |
//! | 07, 08, 20 to 2C, 40 to 46, 48 to 4A, 4C to 4E, 50 to 5F, 68 to 6F | ETMv4 |
//! | 00 07 | ETMv4.5, ETMv4.6 |
//! | 09 | [`instrumentation`](Parameters::instrumentation) |
//! | 0A, 0B, B0 to B2, B4 to B9 | ETE |
//! | 0C, 14 to 1F | [`commopt`](Parameters::commopt) off |
//! | 70 | from ETMv4.3 on |
//! | 88 | [`timestamp_markers`](Parameters::timestamp_markers) |
//! | A0 to A2, A5, A6, AA, AB, AC, AF | [`q_elements`](Parameters::q_elements) is not `none` |
//!
//! Other packets whose option is off are read and believed with a warning (`ete-disabled-options`): 05, 20 to 2C
//! without `data_trace`; 40 to 6F without `conditional_trace`; 00 07 on other than the M profile; 02, 03 with
//! `timestamp_bits` 0; 0A, 0B without `transactions`; 0C to 1F without `cycle_counting`; 2D to 2F, 34 to 3F with
//! `maxspec` 0; AF with `q_elements` `count`.
//!
//! # State of the packet stream
//!
//! It changes where a packet is read, whatever becomes of its elements (sheet 5.13): three addresses of the address
//! history with their `sub_isa`, the context, the timestamp, the cycle count threshold, the depth. Trace Info sets all
//! of them: addresses (0, IS0), context EL0, Secure, `AArch32`, ids 0, timestamp 0. Every address that travels is
//! pushed, exact matches too; `70` in an exception pushes (0, IS0). The depth counts P0 elements: one more for each, n
//! less for Commit(n) and Cancel(n), 0 after Discard and Overflow. If a P0 element makes it exceed
//! [`maxspec`](Parameters::maxspec), the oldest is committed directly after that element (R_YKLRM).
//!
//! # Elements
//!
//! | packet | elements, in order |
//! |---|---|
//! | atoms; Q; Source Address; Function Return | one **P0** each; Q with address: then Target Address |
//! | Exception, E = 01 | \[Context\], **Exception** |
//! | Exception, E = 10 | Target Address, \[Context\], **Exception**; an address that is UNKNOWN or missing is an UNKNOWN Target Address |
//! | PE Reset: Exception 0, on the M profile 1 | as any exception, whatever the address; the return address is UNKNOWN |
//! | Exception 18 (ETE) | Transaction Failure, no P0 |
//! | Exception of ETMv4 and the address packet after it | as that of ETE; its elements belong to the packet `06` |
//! | Exception Return | Exception Return; P0 on the M profile |
//! | Transaction Start | Transaction Start; P0 unless [`commtrans`](Parameters::commtrans) |
//! | address with context | Target Address, Context |
//! | Commit, Cancel, Mispredict, cycle counts | sheet 5.8, 5.9 |
//! | Event | one for each bit, ascending |
//! | unnumbered data synchronization marker | n E atoms, then the marker |
//! | Overflow | Overflow, which implies Discard |
//! | Trace Info, Trace On, Context, timestamp, marker, Instrumentation, Transaction Commit | one |
//! | A-sync, Ignore, conditional instructions, results and flush, branch future flush | none |
//!
//! Conditional packets have no events: no available text defines their elements well enough.
//!
//! # Resolution
//!
//! *Held* are the elements from the oldest uncommitted P0 element on. An element with none before it is *released* at
//! once, otherwise when all P0 elements before it are committed. Events are made when an element is released; their
//! place is the packet that carried the element, so places are not monotone. At `finish` what is held is not reported.
//!
//! Some elements are never held; they act where their packet is read:
//!
//! * Commit(n) takes first the P0 elements from before the start (`unseen`: SPEC of the first Trace Info), which
//!   release nothing, then the oldest held ones; each release takes along the other elements up to the next P0.
//! * Cancel(n) removes the n youngest P0 elements and what stands after the oldest of them, except Event, Timestamp,
//!   marker, Instrumentation and Trace Info, which keep their order. What stands before the oldest removed P0 element
//!   stays. If fewer are held, all of that kind is removed, the others come from `unseen`, context and address are
//!   undefined, and of what an open transaction kept back since its latest P0 element only these elements and cycle
//!   counts stay. A transaction whose Start came while `unseen` was not 0 is no longer open then, which has no event.
//! * Mispredict flips the youngest held atom and removes the Target Addresses after it. If no atom is held it flips the
//!   latest released one (I_MDSCN). If that atom is kept back by an open transaction, nothing is reported; if its
//!   instructions were reported, [`Event::Mispredict`] is; if they were not, or there is none, nothing is. If no P0
//!   element was released after the atom, Target Addresses since then are forgotten and the flow goes on from the other
//!   successor, and a pop is due if the instruction is an indirect one that is now taken, otherwise none is. If the
//!   atom had no instructions, or a Trace On, Discard or Overflow came after it, the address is undefined instead.
//! * A cycle count is reported at once, after what the Commit of its packet releases.
//! * Discard and Overflow drop what is held, except Event, Timestamp, Instrumentation and Trace Info, which are
//!   reported in order; then an open transaction fails; then comes [`Event::Discard`] or [`Event::Overflow`]. `unseen`
//!   becomes 0.
//!
//! # Transactions
//!
//! They take effect in the order of released elements (A14). Transaction Start is reported and opens one; T of the
//! first Trace Info opens one without such an event, except in ETMv4, which has none. While it is open, what is released
//! is kept back, cycle counts included, and nothing is looked up in the code. Transaction Commit: all of it is followed and reported in order,
//! then [`Event::TransactionCommit`]. Transaction Failure: of it Context, Event, Timestamp, marker, Instrumentation,
//! Trace Info and cycle counts are reported in order, then [`Event::TransactionFailure`]; the address is undefined, the
//! context is the latest. PE Reset, Discard and Overflow with an open transaction fail it at their own place: PE Reset
//! before its own event; Discard and Overflow after the elements that they keep, of the transaction first, then of what
//! is held. Commit and Failure without an open transaction are reported. A second Start while one is open is kept back
//! like any other element and dropped by a Failure.
//!
//! # Flow
//!
//! For each released element, in order. Code is looked up in the context in effect; the instruction set follows from SF
//! and `sub_isa`. In `AArch32` state addresses are modulo 2^32.
//!
//! | element | what is done |
//! |---|---|
//! | Context | it is in effect: [`Event::Context`] |
//! | Target Address | the address, undefined if UNKNOWN; a due pop is cancelled. The last one before a P0 element counts |
//! | Trace On | [`Event::TraceOn`]; the address is undefined, a due pop cancelled, the return stack empty; the context is undefined if a Trace Info was released after it |
//! | Trace Info | a due pop is done (A1), then the return stack is empty; nothing is pushed until both Context and Target Address were released; [`Event::TraceInfo`]. Context and address stay |
//! | Discard, Overflow | context and address undefined, return stack empty |
//! | atom | a due pop; instructions up to and including the next P0 instruction: `taken` or `not_taken`. After E: the target of a direct one, for ISB, TSTART, WFI and WFE the next instruction; of an indirect one the address is undefined, and a pop is due if [`return_stack`](Parameters::return_stack). After N: the next instruction |
//! | Exception | a due pop; instructions up to the return address, `passed`, P0 instructions not taken; [`Event::Exception`]. None of them for PE Reset. Then the address is undefined; of IMPLEMENTATION DEFINED types it is the return address |
//! | Source Address | a due pop; instructions up to and including the one there, P0 instructions before it not taken, `taken`; then as after an E atom |
//! | Q with count | a due pop; so many instructions, `passed`, over unconditional direct branches, `taken`; up to and including the first P0 instruction that is conditional or indirect. One that always goes on to the next instruction, such as ISB, is `passed` like the others. A branch of T32 that an IT instruction before it may govern counts as conditional, also if the element begins after that IT. What is missing is [`Event::UnknownPath`]. Nothing is pushed or popped. Then the address is undefined |
//! | Q without count, or count 0 | a due pop; [`Event::UnknownPath`] without count; the address is undefined |
//! | Function Return | [`Event::FunctionReturn`]; the address is undefined; a due pop is not done and stays due |
//! | Exception Return | [`Event::ExceptionReturn`]; address and due pop stay as they are |
//! | Transaction Start as P0 element | a due pop |
//!
//! A branch with link that was *initially* traced E, or whose Source Address was, pushes the next instruction, before
//! the pop of the same branch is due; if it was initially N it never does (R_GMTBD, R_NYHFH, R_SLDXR). The stack has
//! [`RETURN_STACK_DEPTH`](Parameters::RETURN_STACK_DEPTH) entries and loses the oldest. A pop that finds it empty
//! leaves the address undefined and is no fault.
//!
//! While context or address are undefined, P0 elements have no instructions and no faults, and leave the address
//! undefined; exceptions are reported, and Q elements as unknown path with their count.
//!
//! # Timestamps
//!
//! To which element a timestamp belongs ([`TimestampOf`]) follows from the order of packets, not of events: each marker
//! packet replaces the one before, a timestamp consumes it, Discard and Overflow drop it, also if it was already
//! reported.
//!
//! # Synchronisation
//!
//! A decoder looks for an A-sync first: 11 zeros and 80. The bytes up to the last 11 zeros belong to no packet and are
//! no fault. From there to the first Trace Info every packet is delivered, but only Event, Instrumentation, Discard and
//! Overflow have events, and faults that go on are reported only of these. An A-sync in sync has all zeros before its
//! 80 and changes nothing. After synchronisation is lost everything is undefined or empty, what was held is dropped, a
//! transaction is no longer open (no event), and the cycle total is 0.
//!
//! # Faults
//!
//! What each class costs is stated by [`recovery`](Protocol::recovery). "Lost" = the search begins at the byte at
//! fault. Warnings come before the packet's events, in the order of their bytes; faults of the flow after the
//! instructions that could be followed, when the element is released, with the place of its packet.
//!
//! | condition | class | place | then |
//! |---|---|---|---|
//! | reserved header | `reserved-encoding` | header | lost |
//! | 00 and another second byte than 00, 03, 05 (07) | `reserved-encoding` | second byte | lost |
//! | 2 to 10 zeros and a byte that is not 00; 11 or more and a byte that is neither 00 nor 80 | `reserved-encoding` | that byte | lost |
//! | exception with E = 00 or 11 | `reserved-encoding` | information byte | lost |
//! | exception (ETE) with a byte that is neither an address header nor 70; 70 with another type than 0 and 18; an address with type 18 | `reserved-encoding` | that byte, the third | lost |
//! | Commit or Cancel packet with count 0; cycle count of format 2 with a commit of 0 or less | `reserved-encoding` | second byte | lost |
//! | Commit or Cancel of more P0 elements than are held and `unseen` | `contradiction` | header | lost, without effect of that element |
//! | the stream ends inside a packet, zeros of an A-sync included | `truncated` | first byte of the packet | nothing of that packet |
//! | V with no VMID bytes, C with no Context ID bytes | `illegal-in-state` | context byte, bit 6 or 7 | goes on, no bytes |
//! | N atom, not corrected, of an A64 P0 instruction that is not conditional | `illegal-in-state` | header | goes on; reported before the next P0 element that is released |
//! | a reserved bit that is 1; a reserved exception type | `suspicious` | the field's first bit | goes on |
//! | a packet whose option is off; SPEC of a later Trace Info that is not the depth | `suspicious` | header | goes on |
//! | timestamp with bits above [`timestamp_bits`](Parameters::timestamp_bits) | `suspicious` | header | goes on |
//! | ETMv4: another packet than an address after an exception | `missing-address` | header of that packet, after its warnings | the exception has no return address; the packet is read |
//! | no code, or none that can be read, where an instruction must be looked up; `address` says where | `no-code` | header | flow lost, return stack empty |
//! | a Source Address before the current address, or inside an instruction | `no-code` | header | flow lost, return stack empty |
//! | IS1 with SF = 1, where an instruction must be looked up | `unsupported-mode` | header | flow lost, return stack empty |
//! | more instructions for one element than [`steps`](crate::DecoderLimits::steps) | `limit` | header | flow lost, return stack empty |
//! | more elements held or kept back than [`speculation`](crate::DecoderLimits::speculation) | `limit` | header of the one too many | flow lost |
//!
//! The field's first bit: 4 of PLCTL, of the fifth byte of a 32-bit number and of nothing else; 5 of the second byte of
//! CYCT; 6 of the third byte of COUNT and of the second information byte of ETMv4; 7 of address bytes, of an
//! exception's information byte and of 6D; 2 of a context byte (3 for NSE of ETMv4) and of the level of
//! Instrumentation; 1 of the information byte for the type. INFO of ETE has none. Everywhere else it is 0.
//!
//! Flow lost: the address is undefined; the element is dropped except for [`Event::Exception`]; what it carries besides
//! is reported.
//!
//! The limit of held elements counts each element once, those kept back by a transaction included. The element too many
//! is held after the others were dropped, as Discard drops them but without event and without failing the transaction;
//! the dropped P0 elements become `unseen`, the latest dropped context takes effect, the return stack is empty. What
//! stays is reported before the fault. If the element too many is no P0 element, nothing is held: it is released.

mod event;
mod execution;
mod field;
mod packet;
mod parameters;
mod policy;
mod readings;
mod recovery;
mod registers;
mod stimulus;

use alloc::vec::Vec;

pub use crate::arm_etm::v3::VariableField;
pub use event::{Event, Outcome, TimestampOf, exception_name, exception_name_m_profile};
pub use execution::{Action, Execute, Step, TakenException};
pub use field::{AddressField, Atoms, ConditionalResult, ContextField, ParseAtomsError, SubIsa};
pub use packet::Packet;
pub use parameters::{ConditionalTrace, Parameters, QElements, Version};
pub use policy::{AddressChoice, Policy, TraceInfoSections};
pub use readings::READINGS;
pub use registers::{Processor, Registers};
pub use stimulus::{Exception, P0, P0Kind, Signal, State, Stimulus};

use crate::{FaultClass, Feature, Protocol, ProtocolId, Reading, Recovery};

/// The vocabulary of ARM ETE and ETMv4 packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArmEte;

impl Protocol for ArmEte {
    const ID: ProtocolId = ProtocolId::ArmEte;
    const FEATURES: &'static [Feature] = &FEATURES;
    const READINGS: &'static [Reading] = &READINGS;
    type Parameters = Parameters;
    type Policy = Policy;
    type Stimulus = Stimulus;
    type Packet = Packet;
    type Event = Event;

    fn recovery(class: FaultClass) -> Recovery {
        recovery::recovery(class)
    }

    fn is_synchronised_by(event: &Event) -> bool {
        recovery::is_synchronised_by(event)
    }

    fn canonical(events: Vec<Event>) -> Vec<Event> {
        event::canonical(events)
    }
}

/// The optional features that a subject may claim in its capabilities. Everything else is mandatory.
pub const FEATURES: [Feature; 15] = [
    Feature::new("etmv4", "`version` is an ETMv4"),
    Feature::new("ete", "`version` is an ETE"),
    Feature::new("speculation", "`maxspec` is not 0"),
    Feature::new("cycle_counting", "the parameter of that name is on"),
    Feature::new("timestamps", "the parameter of that name is on"),
    Feature::new("timestamp_markers", "the parameter of that name is on"),
    Feature::new("instrumentation", "the parameter of that name is on"),
    Feature::new("transactions", "the parameter of that name is on"),
    Feature::new("q_elements", "the parameter of that name is not `none`"),
    Feature::new("return_stack", "the parameter of that name is on"),
    Feature::new("load_store_p0", "`load_is_p0` or `store_is_p0` is on"),
    Feature::new("conditional_trace", "the parameter of that name is not `none`"),
    Feature::new("data_trace", "the parameter of that name is on"),
    Feature::new("r_profile", "`profile` is real-time"),
    Feature::new("m_profile", "`profile` is microcontroller"),
];
