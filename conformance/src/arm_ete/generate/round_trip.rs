//! A scenario through both reference models.

use traceproof_decoder::arm_ete::Decoder;
use traceproof_encoder_model::arm_ete::Encoder;
use traceproof_vectors::arm_ete::{ArmEte, Packet};
use traceproof_vectors::{Decoder as _, Encoder as _, Entry, Log};

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
    /// Packets read.
    pub packets: usize,
    /// Bytes that travelled.
    pub bytes: usize,
    /// What the decoder reported.
    pub returned: oracle::Returned,
}

/// Encodes the scenario's execution with the reference model, decodes it with the reference decoder and compares
/// packets and execution.
///
/// # Errors
///
/// The first difference, with the bytes that travelled.
pub fn round_trip(scenario: &Scenario) -> Result<Success, Failure> {
    let sent = encode(scenario)?;
    let received = decode(scenario, &sent.wire)?;
    let failed = |cause| Failure { cause, wire: sent.wire.clone() };
    generate::compare_packets(&as_searched(&sent), &received).map_err(failed)?;
    let returned =
        oracle::judge(scenario, &received).map_err(|mismatch| failed(Cause::Execution(mismatch)))?;
    Ok(Success { packets: received.packets().count(), bytes: sent.wire.len(), returned })
}

/// The packets as a decoder that searches for the first A-sync reads them: with its last 11 zeros.
fn as_searched(sent: &Log<ArmEte>) -> Log<ArmEte> {
    let mut sent = sent.clone();
    if let Some(Packet::AlignmentSync { zeros }) =
        sent.entries.iter_mut().find_map(|(_, entry)| match entry {
            Entry::Packet(packet) => Some(packet),
            _ => None,
        })
    {
        *zeros = 11;
    }
    sent
}

/// The output of the reference encoder model for the scenario's execution.
///
/// # Errors
///
/// [`Cause::Encoder`].
pub fn encode(scenario: &Scenario) -> Result<Log<ArmEte>, Failure> {
    let mut sent = Log::default();
    let mut encoder = Encoder::default();
    let refused = |refusal| Failure { cause: Cause::Encoder(refusal), wire: Vec::new() };
    encoder.begin(&scenario.parameters, &scenario.policy).map_err(refused)?;
    for stimulus in &scenario.stimuli {
        encoder.step(stimulus, &mut sent);
    }
    encoder.finish(&mut sent);
    Ok(sent)
}

/// The results of the reference decoder for `wire`, with the scenario's parameters and program.
///
/// # Errors
///
/// [`Cause::Generator`] and [`Cause::Decoder`].
pub fn decode(scenario: &Scenario, wire: &[u8]) -> Result<Log<ArmEte>, Failure> {
    let failed = |cause| Failure { cause, wire: wire.to_vec() };
    let program = scenario.program.code().map_err(|error| failed(Cause::Generator(error)))?;
    let mut received = Log::default();
    let mut decoder = Decoder::default();
    decoder.begin(&scenario.parameters, &program).map_err(|refusal| failed(Cause::Decoder(refusal)))?;
    decoder.push(wire, &mut received);
    decoder.finish(&mut received);
    Ok(received)
}
