//! Answers of hardware as a decoder and an encoder: what was recorded for a case is what they report for it.

use std::sync::Arc;

use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{Capabilities, Decoder, Encoder, EncoderSink, Entry, Log, Program, Refusal, Sink};

/// What hardware answered to a case, and what was asked.
#[derive(Clone, Debug)]
pub struct Recorded<P: CaseProtocol> {
    /// The parameters of the case.
    pub parameters: P::Parameters,
    /// The policy of the case.
    pub policy: P::Policy,
    /// The code.
    pub program: Program,
    /// The stream.
    pub wire: Vec<u8>,
    /// The packets that are expected, by which optional hardware without use is known.
    pub packets: Option<Vec<P::Packet>>,
    /// The stimulus.
    pub stimulus: Vec<P::Stimulus>,
    /// What came.
    pub log: Log<P>,
}

/// A decoder and an encoder that know the answers to some streams and executions. To others they answer nothing.
#[derive(Clone, Debug)]
pub struct Replay<P: CaseProtocol> {
    recorded: Arc<Vec<Recorded<P>>>,
    capabilities: Capabilities,
    parameters: P::Parameters,
    policy: P::Policy,
    program: Program,
    wire: Vec<u8>,
    stimulus: Vec<P::Stimulus>,
}

impl<P: CaseProtocol> Replay<P> {
    /// Answers from these.
    #[must_use]
    pub fn new(recorded: Arc<Vec<Recorded<P>>>, capabilities: Capabilities) -> Self {
        Self {
            recorded,
            capabilities,
            parameters: P::Parameters::default(),
            policy: P::Policy::default(),
            program: Program::default(),
            wire: Vec::new(),
            stimulus: Vec::new(),
        }
    }

    /// Whether the parameters are those of the case, perhaps without hardware that leaves no trace in it.
    fn is_same(&self, recorded: &Recorded<P>) -> bool {
        let packets = recorded.packets.as_deref();
        self.parameters == recorded.parameters
            || packets
                .is_some_and(|packets| self.parameters == P::without_unused(&recorded.parameters, packets))
    }
}

impl<P: CaseProtocol> Decoder<P> for Replay<P> {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        (self.parameters, self.program) = (parameters.clone(), program.clone());
        self.wire.clear();
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], _: &mut dyn Sink<P>) {
        self.wire.extend_from_slice(chunk);
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        let is_asked = |recorded: &&Recorded<P>| {
            recorded.wire == self.wire && recorded.program == self.program && self.is_same(recorded)
        };
        let Some(found) = self.recorded.iter().find(is_asked) else { return };
        for (place, entry) in &found.log.entries {
            match entry {
                Entry::Packet(packet) => sink.packet(*place, packet),
                Entry::Event(event) => sink.event(*place, event),
                Entry::Fault(fault) => sink.fault(fault),
            }
        }
    }

    fn reset(&mut self) {
        self.wire.clear();
    }
}

impl<P: CaseProtocol> Encoder<P> for Replay<P> {
    fn capabilities(&self) -> Capabilities {
        // Bytes only.
        let mut capabilities = self.capabilities.clone();
        capabilities.layers.clear();
        capabilities
    }

    fn begin(&mut self, parameters: &P::Parameters, policy: &P::Policy) -> Result<(), Refusal> {
        (self.parameters, self.policy) = (parameters.clone(), policy.clone());
        self.stimulus.clear();
        Ok(())
    }

    fn step(&mut self, stimulus: &P::Stimulus, _: &mut dyn EncoderSink<P>) {
        self.stimulus.push(stimulus.clone());
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<P>) {
        let is_asked = |recorded: &&Recorded<P>| {
            recorded.stimulus == self.stimulus && recorded.policy == self.policy && self.is_same(recorded)
        };
        if let Some(found) = self.recorded.iter().find(is_asked) {
            sink.wire(&found.log.wire);
        }
    }
}
