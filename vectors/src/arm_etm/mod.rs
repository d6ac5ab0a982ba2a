//! ARM Embedded Trace Macrocell, architectures 1, 2 and 3: the vocabulary of the specification.
//!
//! Source references: plain numbers such as `6.4.3` are sections of ARM IHI 0014Q. `PC-n` is a project convention: bits
//! that no text available to this project confirms. Each is one named constant in each codec, and cases that depend on
//! one list it as reading (see [`READINGS`]).
//!
//! | purpose | place |
//! |---|---|
//! | What must be known beforehand | [`Parameters`], [`Architecture`] |
//! | Parameters from registers | [`Registers`], [`Parameters::from_registers`] |
//! | The pins and packets of ETMv2 | [`v2`] |
//! | The bits of ETMv2 that nothing public confirms | [`v2::conventions`] |
//! | The wire of ETMv1, and what a decoder reports | [`v1`] |
//! | The wire of ETMv3, and what a decoder reports | [`v3`] |
//! | The packets | [`Packet`] |
//! | What a decoder reports: events, their order, and faults | [`Event`] |
//! | What the macrocell observes in one cycle | [`Stimulus`] |
//! | Legal choices of a macrocell | [`Policy`] |

mod address;
mod event;
mod packet;
mod parameters;
mod policy;
mod recovery;
mod registers;
mod stimulus;
pub mod v1;
pub mod v2;
pub mod v3;

pub use address::{CompressedAddress, DataAddress, ParseDataAddressError};
pub use event::{Event, ExceptionKind, MissingReason, Value};
pub use packet::{Packet, Reason};
pub use parameters::{Architecture, Isa, Parameters, VectorBase};
pub use policy::{Policy, TagChoice};
pub use registers::Registers;
pub use stimulus::{
    Access, BranchTarget, Exception, Instruction, MissReturn, Phantom, Position, Stimulus, Transfer,
};

use crate::{Binds, FaultClass, Feature, Protocol, ProtocolId, Reading, Recovery};

/// The vocabulary of ARM ETM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArmEtm;

impl Protocol for ArmEtm {
    const ID: ProtocolId = ProtocolId::ArmEtm;
    const FEATURES: &'static [Feature] = &FEATURES;
    const READINGS: &'static [Reading] = &READINGS;
    const PROVISIONAL: &'static [&'static str] = &v2::conventions::PROVISIONAL;
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

    fn accepts(expected: &Event, actual: &Event) -> bool {
        event::accepts(expected, actual)
    }
}

/// The optional features that a subject may claim in its capabilities. Everything else is mandatory.
pub const FEATURES: [Feature; 15] = [
    Feature::new("etmv1", "architecture 1"),
    Feature::new("etmv2", "architecture 2"),
    Feature::new("etmv3", "architecture 3"),
    Feature::new("port_4", "ETMv1, ETMv2: TRACEPKT of 4 bits"),
    Feature::new("port_16", "ETMv1, ETMv2: TRACEPKT of 16 bits"),
    Feature::new("cycle_accurate", "every cycle is captured (6.11)"),
    Feature::new("jazelle", "ETMv1, ETMv2: a core with Jazelle (1.3, 2.1)"),
    Feature::new("data", "ETMv3: data addresses or values are traced"),
    Feature::new("data_only", "ETMv3: the parameter of that name is on"),
    Feature::new("alternative_branches", "ETMv3: the parameter of that name is on"),
    Feature::new("timestamps", "ETMv3: the parameter of that name is on"),
    Feature::new("vmid", "ETMv3: the parameter of that name is on"),
    Feature::new("m_profile", "ETMv3: the parameter of that name is on"),
    Feature::new("bare_port", "ETMv3: the parameter of that name is on"),
    Feature::new("virtualization", "ETMv3: the parameter of that name is on"),
];

/// What is read into what no text confirms: PC-1 to PC-16 about bits of ETMv2 (PC-4 and PC-14 of ETMv1, too), the
/// others about ETMv1, ETMv2 and ETMv3.
pub const READINGS: [Reading; 32] = [
    Reading {
        name: "etm-pc-1",
        binds: Binds::Both,
        text: "Numbers of the 16 PIPESTAT codes, see `v2::Pipestat`.",
    },
    Reading {
        name: "etm-pc-2",
        binds: Binds::Both,
        text: "TFO packet header `L RR 00000`: L = LSM in progress, RR = reason.",
    },
    Reading {
        name: "etm-pc-2b",
        binds: Binds::Both,
        text: "With `tfo_jazelle`, bit 4 of a TFO packet header is Java state (2.1).",
    },
    Reading {
        name: "etm-pc-3",
        binds: Binds::Both,
        text: "TFO value N on TRACEPKT: N[3:0] in [7:4], N[6:4] in [3:1], 1 in [0].",
    },
    Reading {
        name: "etm-pc-4",
        binds: Binds::Both,
        text: "A byte that enters an empty FIFO may leave in the same cycle, see `Parameters::fifo_latency`.",
    },
    Reading {
        name: "etm-pc-5",
        binds: Binds::Both,
        text: "Branch address bytes as in ETMv3's original scheme, see `CompressedAddress`.",
    },
    Reading {
        name: "etm-pc-6",
        binds: Binds::Both,
        text: "LSM-in-progress body: LSM address, then the current one as branch address packet.",
    },
    Reading {
        name: "etm-pc-7",
        binds: Binds::Both,
        text: "TD with TRACEPKT[3:0] = b1111 is no TFO but an empty cycle of cycle-accurate trace.",
    },
    Reading {
        name: "etm-pc-8",
        binds: Binds::Both,
        text: "4-bit port: N[6:4] and 1 in the TFO cycle, one gap cycle, then N[3:0].",
    },
    Reading {
        name: "etm-pc-9",
        binds: Binds::Both,
        text: "Trigger in a TFO cycle: the next cycle that is not TR has the TFO value on TRACEPKT; the FIFO stalls there too.",
    },
    Reading {
        name: "etm-pc-10",
        binds: Binds::Encoders,
        text: "Order in a group: miss data, data, Context ID, branch address.",
    },
    Reading { name: "etm-pc-11", binds: Binds::Decoders, text: "A superseded miss is never revived." },
    Reading { name: "etm-pc-12", binds: Binds::Both, text: "No miss data in address-only mode." },
    Reading {
        name: "etm-pc-13",
        binds: Binds::Decoders,
        text: "After a reserved header the decoder waits for the next TFO.",
    },
    Reading {
        name: "etm-pc-14",
        binds: Binds::Both,
        text: "Context IDs and full addresses are little-endian.",
    },
    Reading {
        name: "etm-pc-15",
        binds: Binds::Both,
        text: "The exception bit of a branch address of ETMv2 is bit 6 of byte 5.",
    },
    Reading {
        name: "etm-pc-16",
        binds: Binds::Both,
        text: "Reset, undefined instruction, prefetch abort, IRQ, FIQ set the exception bit, SVC does not; decoders take back without it, too.",
    },
    Reading {
        name: "etm2-words-follow-on",
        binds: Binds::Decoders,
        text: "A data packet without the A bit is reported at the address of the transfer before plus 4.",
    },
    Reading {
        name: "etm3-ignore-is-transparent",
        binds: Binds::Decoders,
        text: "An Ignore packet does not part the halves of a 64-bit item; every other packet does.",
    },
    Reading {
        name: "etm3-isync-lets-data-pass",
        binds: Binds::Both,
        text: "Out-of-order data that return while an I-sync packet is made are not lost, as they are in an ETMv2 TFO cycle.",
    },
    Reading {
        name: "etm3-period-from-the-a-sync",
        binds: Binds::Encoders,
        text: "The period is counted from the first byte of an A-sync; the next one precedes the first traced instruction after its end.",
    },
    Reading {
        name: "etm3-filter-cprt",
        binds: Binds::Encoders,
        text: "Coprocessor register transfers are traced with monitor_cprt; with filter_cprt too, where ViewData is active.",
    },
    Reading {
        name: "etm3-context-id-behind-its-instruction",
        binds: Binds::Encoders,
        text: "A Context ID packet follows the atom and the data of the instruction that changed it, and precedes its branch packet.",
    },
    Reading {
        name: "etm3-byte-5-exception-in-arm-state",
        binds: Binds::Decoders,
        text: "Byte 5 of a branch packet holds an exception only if the state before the packet is ARM.",
    },
    Reading {
        name: "etm1-address-starts-a-cycle",
        binds: Binds::Both,
        text: "On a 16-bit port the first packet of a branch address is on TRACEPKT[7:0].",
    },
    Reading {
        name: "etm1-every-address-is-a-base",
        binds: Binds::Both,
        text: "The branch addresses of abandoned branches, and those with APO 15, are output ones that the next is compressed against.",
    },
    Reading {
        name: "etm1-cprt-has-no-address",
        binds: Binds::Both,
        text: "Of coprocessor register transfers only values are traced.",
    },
    Reading {
        name: "etm1-data-addresses-start-over",
        binds: Binds::Both,
        text: "The first data address after a restart has five packets; encoders do the same after a periodic full branch address.",
    },
    Reading {
        name: "etm1-unlocated-branch-counts",
        binds: Binds::Decoders,
        text: "BE whose address cannot be read, so that its reason is not known, executed an instruction.",
    },
    Reading {
        name: "etm1-overflow-cuts-data-only",
        binds: Binds::Encoders,
        text: "An overflow loses the end of a status' data; a branch address enters the FIFO whole, or its status shows no branch.",
    },
    Reading {
        name: "etm1-restart-is-three-records-ahead",
        binds: Binds::Encoders,
        text: "BE of a restart and its APO are in the three records before the first traced instruction.",
    },
    Reading {
        name: "etm1-forced-address",
        binds: Binds::Encoders,
        text: "An overdue full branch address goes with the next taken branch, direct or indirect.",
    },
];
