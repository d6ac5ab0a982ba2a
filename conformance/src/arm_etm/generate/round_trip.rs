//! A scenario through both reference models.

use std::fmt;

use traceproof_decoder::arm_etm::Decoder;
use traceproof_encoder_model::arm_etm::Encoder;
use traceproof_vectors::arm_etm::{ArmEtm, Packet, Reason};
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{Decoder as _, Encoder as _, EncoderSink, Log, Refusal};

use super::Scenario;
use super::oracle::{self, Mismatch};

/// How a round trip failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong.
    pub cause: Cause,
    /// The encoder's bytes so far.
    pub wire: Vec<u8>,
}

/// What went wrong in a round trip.
#[derive(Clone, Debug)]
pub enum Cause {
    /// The generator made a program that cannot be.
    Generator(String),
    /// The encoder model refused the parameters or the policy.
    Encoder(Refusal),
    /// The decoder refused the parameters.
    Decoder(Refusal),
    /// The decoder read other packets than the encoder made.
    Packets {
        /// Index of the first packet that differs.
        index: usize,
        /// What the encoder made.
        made: String,
        /// What the decoder read.
        read: String,
    },
    /// The run failed the round trip.
    Run(Mismatch),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Generator(error) => write!(f, "generator: {error}")?,
            Cause::Encoder(refusal) => write!(f, "encoder refused: {refusal}")?,
            Cause::Decoder(refusal) => write!(f, "decoder refused: {refusal}")?,
            Cause::Packets { index, made, read } => {
                write!(f, "packet {index}: made {made}, read {read}")?;
            }
            Cause::Run(mismatch) => write!(f, "{mismatch}")?,
        }
        write!(f, "; wire: {}", show_bytes(&self.wire))
    }
}

impl std::error::Error for Failure {}

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
    compare_packets(&sent.log, &received).map_err(failed)?;
    let returned =
        oracle::judge(scenario, &received, &sent.starts).map_err(|mismatch| failed(Cause::Run(mismatch)))?;
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

fn compare_packets(sent: &Log<ArmEtm>, received: &Log<ArmEtm>) -> Result<(), Cause> {
    let (mut made, mut read) = (sent.packets(), received.packets());
    for index in 0.. {
        match (made.next(), read.next()) {
            (None, None) => break,
            (made, read) if made == read => {}
            (made, read) => {
                return Err(Cause::Packets { index, made: format!("{made:x?}"), read: format!("{read:x?}") });
            }
        }
    }
    Ok(())
}
