//! OpenCSD's PTM packet processor and decoder as a decoder of the contract.
//!
//! What elements carry comes from the elements: instructions, exceptions and where they return to, exception returns,
//! triggers, timestamps, cycle counts, changes of Context ID and VMID, memory that is missing. Elements do not carry
//! the rest, which comes from the packet: I-syncs, the targets of branches and exceptions, Non-secure state and Hyp
//! mode. The outcome of a last instruction is delivered only for waypoints of atoms and branches; the library calls all
//! others executed, as "it doesn't really matter" (its `processWPUpdate`).
//!
//! A fatal answer to the elements ends the events there; packets continue.
//!
//! The library reads four bytes for each instruction, and one of two bytes at the end of the code is "no memory" (OP-11
//! in `docs/findings/opencsd-ptm.md`). `code` of this peer gives it two bytes more, so that what comes after such an
//! instruction is judged, too.

mod events;
mod packet;
mod parameters;

use traceproof_vectors::arm_pft::{ArmPft, Parameters};
use traceproof_vectors::{
    Capabilities, Fault, FaultClass, FaultDetail, Layer, Place, Program, Refusal, Sink,
};

pub use parameters::configuration;

use super::decoder::Translate;
use super::{Outcome, PacketBody, Source, ptm};
use events::Events;

const FEATURES: [&str; 9] = [
    "pftv1_0",
    "pftv1_1",
    "cycle_accurate",
    "return_stack",
    "timestamps",
    "vmid",
    "virtualization",
    "barrier_waypoints",
    "m_profile",
];

/// What the library's source follows. It contradicts the other readings that bind decoders: it takes headers 80 and 82
/// for atoms, delivers a timestamp without its high bits, empties the return stack at each I-sync, compares nothing
/// with a periodic I-sync, and goes on at address 0 after the entry to Debug state.
///
/// It decodes no ThumbEE code (OP-16), so it has no reading of that, and does not claim the feature `thumbee`.
const READINGS: [&str; 14] = [
    "pft-hyp-stays-without-byte-1",
    "pft-alt-isa-of-arm",
    "pft-waypoint-update-is-a-base",
    "pft-waypoint-update-sixth-byte",
    "pft-count-of-i-sync-has-bit-7",
    "pft-return-stack-over-exceptions",
    "pft-return-stack-of-16",
    "pft-link-pops-first",
    "pft-barrier-waypoint-bit",
    "pft-counts-of-pft-1-0",
    "pft-zero-is-a-value",
    "pft-reserved-exceptions",
    "pft-packets-before-an-exception",
    "pft-not-executed-always",
];

/// OpenCSD as a decoder of PFT.
pub type Decoder = super::Decoder<ArmPft>;

impl Translate for ArmPft {
    fn capabilities(packets_only: bool) -> Capabilities {
        let layers = [Layer::Packets, Layer::Events];
        Capabilities::new(layers.into_iter().take(if packets_only { 1 } else { 2 }))
            .with_features(FEATURES)
            .with_readings(READINGS)
            .with_faults(FaultDetail::Class)
    }

    fn source(parameters: &Parameters, _: bool) -> Result<Source, Refusal> {
        configuration(parameters).map(Source::Ptm)
    }

    fn code(program: &Program) -> Program {
        super::code::padded(program)
    }

    fn deliver(
        parameters: &Parameters,
        _: &Program,
        packets: &Outcome,
        elements: Option<&Outcome>,
        sink: &mut dyn Sink<Self>,
    ) {
        let mut events = elements.map(|elements| Events::new(parameters, elements));
        let mut index = 0;
        for read in packets.packets() {
            let PacketBody::Ptm(body) = &read.body else { continue };
            let place = Place { packet: index, byte: read.byte.into(), bit: 0 };
            match body {
                ptm::Body::NotSynchronised => continue,
                // Zeros before the first A-sync.
                ptm::Body::Incomplete if index == 0 => continue,
                ptm::Body::Incomplete => sink.fault(&Fault::new(FaultClass::Truncated, place)),
                ptm::Body::BadSequence { .. } | ptm::Body::Reserved | ptm::Body::Other { .. } => {
                    sink.fault(&Fault::new(FaultClass::ReservedEncoding, place));
                }
                body => {
                    if let Some(packet) = packet::packet(body, &read.bytes, parameters) {
                        sink.packet(place, &packet);
                    }
                }
            }
            if let Some(events) = &mut events {
                events.packet(place, body, sink);
            }
            index += 1;
        }
    }
}
