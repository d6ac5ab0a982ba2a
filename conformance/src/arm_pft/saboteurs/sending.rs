//! The reference PTM with room for a bug in what it sees and in what it sends.

use traceproof_encoder_model::arm_pft::write_packet;
use traceproof_vectors::arm_pft::{ArmPft, Packet, Parameters, Policy, Stimulus};
use traceproof_vectors::{Capabilities, Encoder, EncoderSink, Refusal};

use crate::family::FamilyRules;

/// What is wrong; by default nothing is.
pub(super) trait Bug {
    /// Changes the policy that the PTM is built with.
    fn configure(&mut self, _policy: &mut Policy) {}

    /// Changes what happens.
    fn see(&mut self, _stimulus: &mut Stimulus) {}

    /// Changes the packets of a step, given what happened in it.
    fn send(&mut self, _stimulus: &Stimulus, _packets: &mut Vec<Packet>) {}
}

/// Makes a bug for a run.
pub(super) type MakeBug = fn(&Parameters) -> Box<dyn Bug>;

/// The reference PTM with this bug.
pub(super) fn with(bug: MakeBug) -> Box<dyn Encoder<ArmPft>> {
    Box::new(Sending {
        reference: ArmPft::reference_encoder(),
        make: bug,
        bug: Box::new(()),
        parameters: Parameters::default(),
        missed: 0,
    })
}

/// No bug.
impl Bug for () {}

/// A closure that changes the packets of a step.
pub(super) struct Changing<F>(pub(super) F);

impl<F: FnMut(&Stimulus, &mut Vec<Packet>)> Bug for Changing<F> {
    fn send(&mut self, stimulus: &Stimulus, packets: &mut Vec<Packet>) {
        (self.0)(stimulus, packets);
    }
}

struct Sending {
    reference: Box<dyn Encoder<ArmPft>>,
    make: MakeBug,
    bug: Box<dyn Bug>,
    parameters: Parameters,
    /// Bytes that the capture still misses.
    missed: u64,
}

/// The packets of a step. Their bytes are written again.
struct Packets(Vec<Packet>);

impl EncoderSink<ArmPft> for Packets {
    fn packet(&mut self, packet: &Packet) {
        self.0.push(*packet);
    }

    fn wire(&mut self, _: &[u8]) {}
}

impl Encoder<ArmPft> for Sending {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.parameters = parameters.clone();
        self.bug = (self.make)(parameters);
        self.missed = policy.capture_from;
        let mut policy = *policy;
        self.bug.configure(&mut policy);
        self.reference.begin(parameters, &policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmPft>) {
        let (mut seen, mut packets) = (*stimulus, Packets(Vec::new()));
        self.bug.see(&mut seen);
        self.reference.step(&seen, &mut packets);
        self.bug.send(stimulus, &mut packets.0);
        for packet in &packets.0 {
            // A packet that has no bytes is in no case.
            let bytes = write_packet(packet, &self.parameters).unwrap_or_default();
            sink.packet(packet);
            let missed = usize::try_from(self.missed).unwrap_or(usize::MAX).min(bytes.len());
            self.missed -= missed as u64;
            sink.wire(bytes.get(missed..).unwrap_or_default());
        }
    }

    fn finish(&mut self, _: &mut dyn EncoderSink<ArmPft>) {
        self.reference.finish(&mut Packets(Vec::new()));
    }
}
