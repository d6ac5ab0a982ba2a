//! OpenCSD's ETMv3 packet processor and decoder as a decoder of the contract.
//!
//! The adaptor translates and adds nothing, with one exception: elements carry only the flow of instructions, so other
//! information comes from the packets. An [`Event::Atom`](traceproof_vectors::arm_etm::Event::Atom) is an atom of a
//! P-header with the address from the element of the same packet.
//!
//! A fatal answer to the elements ends the events there; packets continue.
//!
//! The library reads four bytes for each instruction, and one of two bytes at the end of the code is "no memory" (OE-09
//! in `docs/findings/opencsd-etmv3.md`). `code` of this peer gives it two bytes more, as for PFT and ETE, so that what
//! comes after such an instruction is judged, too.

mod events;
mod packet;
mod parameters;

use traceproof_vectors::arm_etm::{ArmEtm, Parameters};
use traceproof_vectors::{
    Capabilities, Fault, FaultClass, FaultDetail, Layer, Place, Program, Refusal, Sink,
};

pub use parameters::configuration;

use super::decoder::Translate;
use super::{Outcome, PacketBody, Source, etmv3};
use events::Events;

/// What the decoder can do; the packet processor also takes data trace.
const FEATURES: [&str; 7] =
    ["etmv3", "cycle_accurate", "alternative_branches", "timestamps", "vmid", "m_profile", "virtualization"];

const DATA_FEATURES: [&str; 2] = ["data", "data_only"];

/// OpenCSD as a decoder of ETMv3. Its packet processor takes data trace, too; its decoder refuses it.
pub type Decoder = super::Decoder<ArmEtm>;

impl Translate for ArmEtm {
    fn capabilities(packets_only: bool) -> Capabilities {
        let capabilities = if packets_only {
            Capabilities::new([Layer::Packets]).with_features(DATA_FEATURES)
        } else {
            Capabilities::new([Layer::Packets, Layer::Events])
        };
        capabilities.with_features(FEATURES).with_faults(FaultDetail::Class)
    }

    fn source(parameters: &Parameters, packets_only: bool) -> Result<Source, Refusal> {
        let configuration = configuration(parameters)?;
        if !packets_only && (parameters.traces_data() || parameters.data_only) {
            return Err(Refusal::unsupported(if parameters.data_only { "data_only" } else { "data" }));
        }
        Ok(Source::Etmv3(configuration))
    }

    fn code(program: &Program) -> Program {
        super::code::padded(program)
    }

    fn deliver(
        parameters: &Parameters,
        program: &Program,
        packets: &Outcome,
        elements: Option<&Outcome>,
        sink: &mut dyn Sink<Self>,
    ) {
        let has_code = !program.sections().is_empty();
        let mut events = elements.map(|elements| Events::new(parameters, has_code, elements));
        let mut index = 0;
        for read in packets.packets() {
            let PacketBody::Etmv3(body) = &read.body else { continue };
            let place = Place { packet: index, byte: read.byte.into(), bit: 0 };
            match body {
                etmv3::Body::NotSynchronised => continue,
                etmv3::Body::BadSequence { of } => sink.fault(&fault(place, bad_sequence(*of))),
                etmv3::Body::BadTraceMode { .. } => sink.fault(&fault(place, FaultClass::IllegalInState)),
                etmv3::Body::Reserved | etmv3::Body::Other { .. } => {
                    sink.fault(&fault(place, FaultClass::ReservedEncoding));
                }
                body => {
                    if let Some(packet) = packet::packet(body, &read.bytes, parameters) {
                        sink.packet(place, &packet);
                    }
                    if let Some(events) = &mut events {
                        events.packet(place, body, &read.bytes, sink);
                    }
                }
            }
            index += 1;
        }
    }
}

/// `of`: the type of the packet (`ocsd_etmv3_pkt_type`); 4 is A-sync.
const fn bad_sequence(of: u32) -> FaultClass {
    if of == 4 { FaultClass::Framing } else { FaultClass::ReservedEncoding }
}

const fn fault(place: Place, class: FaultClass) -> Fault {
    Fault::new(class, place)
}
