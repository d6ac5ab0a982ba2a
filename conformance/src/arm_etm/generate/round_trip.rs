//! A scenario through both reference models.

use traceproof_decoder::arm_etm::Decoder;
use traceproof_encoder_model::arm_etm::Encoder;
use traceproof_vectors::arm_etm::{ArmEtm, Packet, Reason};
use traceproof_vectors::{Decoder as _, Encoder as _, EncoderSink, Log};

use super::Scenario;
use super::oracle::{self, Mismatch};
use crate::generate;

/// How a round trip failed.
pub type Failure = generate::Failure<Mismatch>;

/// What went wrong in a round trip.
pub type Cause = generate::Cause<Mismatch>;

/// What a successful round trip amounted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Success {
    /// Packets made and read.
    pub packets: usize,
    /// Bytes that travelled.
    pub bytes: usize,
    /// What the decoder reported.
    pub returned: oracle::Returned,
}

/// What an encoder made of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Packets and wire.
    pub log: Log<ArmEtm>,
    /// Cycles in which a synchronisation packet started tracing.
    pub starts: Vec<usize>,
    cycle: usize,
}

impl EncoderSink<ArmEtm> for Sent {
    fn packet(&mut self, packet: &Packet) {
        if let Packet::InstructionSync { reason, .. } | Packet::TraceFifoOffset { reason, .. } = packet
            && *reason != Reason::Periodic
        {
            self.starts.push(self.cycle);
        }
        self.log.packet(packet);
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.log.wire(bytes);
    }
}

/// Encodes the scenario's run with the reference model, decodes it with the reference decoder and compares packets and
/// run.
///
/// # Errors
///
/// The first difference, with the bytes that travelled.
pub fn round_trip(scenario: &Scenario) -> Result<Success, Failure> {
    let sent = encode(scenario)?;
    let received = decode(scenario, &sent.log.wire)?;
    let failed = |cause| Failure { cause, wire: sent.log.wire.clone() };
    generate::compare_packets(&sent.log, &received).map_err(failed)?;
    let returned = oracle::judge(scenario, &received, &sent.starts)
        .map_err(|mismatch| failed(Cause::Execution(mismatch)))?;
    Ok(Success { packets: received.packets().count(), bytes: sent.log.wire.len(), returned })
}

/// The output of the reference encoder model for the scenario's run.
///
/// # Errors
///
/// [`Cause::Encoder`].
pub fn encode(scenario: &Scenario) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    let mut encoder = Encoder::default();
    encoder
        .begin(&scenario.parameters, &scenario.policy)
        .map_err(|refusal| Failure { cause: Cause::Encoder(refusal), wire: Vec::new() })?;
    // Both models hold a cycle until they know the next one.
    for (index, cycle) in scenario.cycles.iter().enumerate() {
        sent.cycle = index.saturating_sub(1);
        encoder.step(cycle, &mut sent);
    }
    sent.cycle = scenario.cycles.len().saturating_sub(1);
    encoder.finish(&mut sent);
    Ok(sent)
}

/// The results of the reference decoder for `wire`, with the scenario's parameters and program.
///
/// # Errors
///
/// [`Cause::Generator`] and [`Cause::Decoder`].
pub fn decode(scenario: &Scenario, wire: &[u8]) -> Result<Log<ArmEtm>, Failure> {
    let failed = |cause| Failure { cause, wire: wire.to_vec() };
    let program = scenario.program.code().map_err(|error| failed(Cause::Generator(error)))?;
    let mut received = Log::default();
    let mut decoder = Decoder::default();
    decoder.begin(&scenario.parameters, &program).map_err(|refusal| failed(Cause::Decoder(refusal)))?;
    decoder.push(wire, &mut received);
    decoder.finish(&mut received);
    Ok(received)
}
