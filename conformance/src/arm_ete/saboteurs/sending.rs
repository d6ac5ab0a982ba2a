//! The reference trace unit with room for a bug in what it sends.

use traceproof_encoder_model::arm_ete::write_packet;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::{
    AddressField, ArmEte, Packet, Parameters, Policy, Signal, State, Stimulus, SubIsa,
};
use traceproof_vectors::{Address32, Capabilities, Encoder, EncoderSink, Refusal};

use super::history::{Deviation, History, NONE, address_of, bits_64};
use crate::family::FamilyRules;

/// Changes the packets of a step, given what happened in it.
type Send = Box<dyn FnMut(&Signal, &mut Vec<Packet>)>;

/// The reference trace unit that sends other packets, without state.
pub(super) fn sends(send: fn(&Signal, &mut Vec<Packet>)) -> Box<dyn Encoder<ArmEte>> {
    sending(move |_| Box::new(send))
}

/// The same, with state.
pub(super) fn sending(make: impl Fn(&Parameters) -> Send + 'static) -> Box<dyn Encoder<ArmEte>> {
    Box::new(Sending {
        reference: ArmEte::reference_encoder(),
        make: Box::new(make),
        send: None,
        parameters: Parameters::default(),
    })
}

/// The reference trace unit with a wrong address history.
pub(super) fn addressing(deviation: Deviation) -> Box<dyn Encoder<ArmEte>> {
    sending(move |parameters| {
        let (mut right, mut wrong) = (History::new(parameters), History::new(parameters));
        Box::new(move |_, packets| {
            for packet in packets {
                let differs = right.addresses != wrong.addresses;
                let spelled = right.take(packet, NONE);
                if differs
                    && let (Some(field), Some(address)) = (address_of(packet), address_of(&mut { spelled }))
                {
                    *field = compressed(&wrong, right.point(*address));
                }
                let _ = wrong.take(packet, deviation);
            }
        })
    })
}

/// The shortest form of an address.
fn compressed(history: &History, point: (u64, SubIsa)) -> AddressField {
    let (address, sub_isa) = point;
    if let Some(index) = history.addresses.iter().position(|entry| *entry == point) {
        return AddressField::ExactMatch(index as u8);
    }
    let low = if sub_isa == SubIsa::Is0 { 2 } else { 1 };
    let differs = (address ^ history.addresses[0].0) >> low;
    let bits = |width: u32| Address32((address & ((1 << (width + low)) - 1)) as u32);
    match differs {
        0..0x80 => AddressField::Short { sub_isa, bits: bits(7), bytes: 1 },
        0x80..0x8000 => AddressField::Short { sub_isa, bits: bits(15), bytes: 2 },
        _ if address >> 32 == history.addresses[0].0 >> 32 => {
            AddressField::Bits32 { sub_isa, bits: Address32(address as u32), reserved: 0 }
        }
        _ => bits_64(point),
    }
}

struct Sending {
    reference: Box<dyn Encoder<ArmEte>>,
    make: Box<dyn Fn(&Parameters) -> Send>,
    /// None where packets and bytes of a step are not the same, because a buffer is between them.
    send: Option<Send>,
    parameters: Parameters,
}

/// The packets of a step. Their bytes are written again.
struct Packets(Vec<Packet>);

impl EncoderSink<ArmEte> for Packets {
    fn packet(&mut self, packet: &Packet) {
        self.0.push(*packet);
    }

    fn wire(&mut self, _: &[u8]) {}
}

impl Encoder<ArmEte> for Sending {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.parameters = parameters.clone();
        let has_buffer = policy.fifo_bytes > 0 || policy.port_bytes > 0 || policy.capture_from > 0;
        self.send = (!has_buffer).then(|| (self.make)(parameters));
        self.reference.begin(parameters, policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEte>) {
        let Some(send) = &mut self.send else { return self.reference.step(stimulus, sink) };
        let mut packets = Packets(Vec::new());
        self.reference.step(stimulus, &mut packets);
        send(&stimulus.signal, &mut packets.0);
        for packet in &packets.0 {
            // A packet that has no bytes is in no case.
            let bytes = write_packet(packet, &self.parameters).unwrap_or_default();
            sink.packet(packet);
            sink.wire(&bytes);
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ArmEte>) {
        self.reference.finish(sink);
    }
}

/// A state some bytes further.
pub(super) fn moved(state: State, bytes: i64) -> State {
    let bytes = if state.isa == InstructionSet::T32 { bytes / 2 } else { bytes };
    State { address: state.address.wrapping_add(bytes.cast_unsigned()), ..state }
}
