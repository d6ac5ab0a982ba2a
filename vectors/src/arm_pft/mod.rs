//! ARM Program Flow Trace (PFTv1.0, PFTv1.1), the protocol of the PTM: the words of the specification.
//!
//! Source references: plain numbers such as `4.5.4` are sections of ARM IHI 0035B, `B.3.1` is its appendix on
//! decompression; `PFT-…` are requirements of `vectors/clauses/arm_pft.toml`. What no available text settles is a
//! reading (see [`READINGS`]).
//!
//! | question | place |
//! |---|---|
//! | What must be known beforehand? | [`Parameters`] |
//! | Which registers say it? | [`Registers`], [`Parameters::from_registers`] |
//! | What travels, packet by packet? | [`Packet`] |
//! | What does a decoder report? | [`Event`] |
//! | What does the processor do? | [`Step`] |
//! | What does the PTM see? | [`Stimulus`] |
//! | Which legal choices does a PTM make? | [`Policy`] |
//!
//! # State
//!
//! As in B.2.1: *last state* is the latest state that a packet states (I-sync, branch address; the address of a
//! waypoint update, too), the base of compressed addresses; *current state* is that of the next instruction, undefined
//! where the flow is lost. Atoms never change the last state (PFT-DEC-040). Instructions are looked up in the memory of
//! the current security state, Context ID and VMID.
//!
//! # Order of events
//!
//! Every packet is delivered when its last byte was read, then what it says, at the packet's place:
//!
//! | packet | events |
//! |---|---|
//! | A-sync, Ignore | none |
//! | every packet with a cycle count | [`Cycles`](Event::Cycles) first; none for the count of an I-sync after overflow or Debug state in PFTv1.1, which is not added either (PFT-DEC-060) |
//! | I-sync | [`TraceOn`](Event::TraceOn), then the fault of the check (PFT-DEC-006) |
//! | atoms | [`Instructions`](Event::Instructions) up to and including a waypoint for each atom, oldest first |
//! | branch address without exception (exception = 0) | `Instructions` up to and including the next waypoint, which was executed; [`BranchTo`](Event::BranchTo) instead if the flow is undefined, and after the fault if it is lost on the way |
//! | branch address with exception | [`Exception`](Event::Exception) |
//! | waypoint update | `Instructions` up to and including the address; the outcome of the last one is unknown |
//! | Context ID, VMID, timestamp, trigger, exception return | [`ContextId`](Event::ContextId), [`Vmid`](Event::Vmid), [`Timestamp`](Event::Timestamp), [`Trigger`](Event::Trigger), [`ExceptionReturn`](Event::ExceptionReturn) |
//!
//! Hyp bits are reported only with [`virtualization`](Parameters::virtualization) (PFT-CFG-016). Totals saturate.
//!
//! # Synchronisation
//!
//! A decoder looks for an A-sync first; the bytes up to it belong to no packet and are no fault. From there to the
//! first I-sync of any reason packets are delivered, but no events and no faults that go on (B.3.1, PFT-DEC-001 to
//! PFT-DEC-003). The A-sync that ends a search has all zeros before the 80, back to the byte where the search began.
//! After synchronisation is lost the current state, Context ID, VMID, return stack and timestamp are undefined or empty
//! (PFT-ERR-004, PFT-ERR-020); the cycle total goes on.
//!
//! # Faults
//!
//! What each class costs is stated by [`recovery`](Protocol::recovery). "Lost" = the search begins at the byte at
//! fault. A fault of the flow comes after the instructions that could be followed, and the rest of that atom packet is
//! dropped (PFT-ERR-024). While the flow is lost, atoms and waypoint updates have no events and no further faults; the
//! next branch address or I-sync defines it (PFT-ERR-006 to PFT-ERR-010).
//!
//! | condition | class | place | then |
//! |---|---|---|---|
//! | reserved header; 80 or 82 without cycle counts | `reserved-encoding` | header | lost |
//! | zeros that are no A-sync: fewer than five before 80, or another byte after them | `reserved-encoding` | first zero | lost; the search begins at the byte that is not zero, after that 80 |
//! | the stream ends inside a packet, zeros of an A-sync included | `truncated` | first byte of the packet | nothing of that packet |
//! | Context ID packet of size 0; VMID packet without virtualization; exception return packet of PFTv1.0 unless M profile | `illegal-in-state` | header | goes on; without event |
//! | Hyp bit without virtualization; a reserved bit that is wrong; reserved exception number; AltISA with ARM; ARM address with low bits (taken as 0) | `suspicious` | the byte | goes on; before the packet's events |
//! | periodic I-sync that differs from a defined current state in address, instruction set, security state, Hyp or traced Context ID | `contradiction` | header | goes on with the I-sync |
//! | branch address on a direct branch, ISB or barrier to another target than its own | `contradiction` | header | goes on with the packet |
//! | E atom of an indirect branch: return stack enabled and empty | `invalid-reference` | header | flow lost |
//! | E atom of an indirect branch: return stack not enabled | `unexpected-discontinuity` | header | flow lost |
//! | waypoint update that names or would pass a waypoint, or an address inside an instruction | `missing-outcome` | header | flow lost |
//! | no code, or none that can be read, where an instruction must be looked up; `address` says where | `no-code` | header | flow lost |
//! | an instruction must be looked up in Jazelle state, or in ThumbEE state by a decoder without it | `unsupported-mode` | header | flow lost |
//! | more instructions without waypoint than the limit | `limit` | header | flow lost |
//!
//! The bit of a place is the first one of the field; of an exception number and of what is missing it is 0. Cycle
//! counts of packets that cannot be followed are reported all the same (PFT-DEC-075), Context IDs and VMIDs too
//! (PFT-DEC-077). A periodic I-sync is not checked while the current state is undefined (PFT-DEC-078). The other
//! classes do not occur.

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
pub use crate::arm_etm::{CompressedAddress, Reason};
pub use event::{Event, Outcome, exception_name};
pub use execution::{Action, Execute, Step, TakenException};
pub use field::{Atoms, CycleCount, ExceptionInformation, ParseAtomsError};
pub use packet::Packet;
pub use parameters::Parameters;
pub use policy::Policy;
pub use readings::READINGS;
pub use registers::Registers;
pub use stimulus::{Exception, Signal, State, Stimulus, Waypoint, WaypointKind};

use crate::{FaultClass, Feature, Protocol, ProtocolId, Reading, Recovery};

/// The vocabulary of ARM PFT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArmPft;

impl Protocol for ArmPft {
    const ID: ProtocolId = ProtocolId::ArmPft;
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
pub const FEATURES: [Feature; 10] = [
    Feature::new("pftv1_0", "minor version 0"),
    Feature::new("pftv1_1", "minor version 1"),
    Feature::new("cycle_accurate", "the parameter of that name is on"),
    Feature::new("return_stack", "the parameter of that name is on"),
    Feature::new("timestamps", "the parameter of that name is on"),
    Feature::new("vmid", "the parameter of that name is on"),
    Feature::new("virtualization", "the parameter of that name is on"),
    Feature::new("barrier_waypoints", "the parameter of that name is on"),
    Feature::new("m_profile", "the parameter of that name is on"),
    Feature::new("thumbee", "the parameter of that name is on: the program uses ThumbEE state"),
];
