//! A scenario through both reference models.

use std::fmt;

use traceproof_decoder::arm_pft::Decoder;
use traceproof_encoder_model::arm_pft::{Core, Encoder};
use traceproof_vectors::arm_pft::{ArmPft, Stimulus};
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{Decoder as _, Encoder as _, Log, Refusal};

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
    /// The generator made a program that cannot be, or an execution that is not one of it.
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
    /// The execution failed the round trip.
    Execution(Mismatch),
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
            Cause::Execution(mismatch) => write!(f, "{mismatch}")?,
        }
        write!(f, "; wire: {}", show_bytes(&self.wire))
    }
}

impl std::error::Error for Failure {}

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

/// Encodes the scenario's execution with the reference model, decodes it with the reference decoder and
/// compares packets and execution.
///
/// # Errors
///
/// The first difference, with the bytes that travelled.
pub fn round_trip(scenario: &Scenario) -> Result<Success, Failure> {
    let (sent, _) = encode(scenario)?;
    let received = decode(scenario, &sent.wire)?;
    let failed = |cause| Failure { cause, wire: sent.wire.clone() };
    if scenario.policy.capture_from == 0 {
        compare_packets(&sent, &received).map_err(failed)?;
    }
    let returned =
        oracle::judge(scenario, &received).map_err(|mismatch| failed(Cause::Execution(mismatch)))?;
    Ok(Success { packets: received.packets().count(), bytes: sent.wire.len(), returned })
}

/// The output of the reference encoder model for the scenario's execution, and what it saw at its waypoint
/// interface.
///
/// # Errors
///
/// [`Cause::Generator`] and [`Cause::Encoder`].
pub fn encode(scenario: &Scenario) -> Result<(Log<ArmPft>, Vec<Stimulus>), Failure> {
    let failed = |cause| Failure { cause, wire: Vec::new() };
    let program = scenario.program.code().map_err(|error| failed(Cause::Generator(error)))?;
    let mut stimuli = Vec::new();
    Core::new(&program, &scenario.parameters)
        .run(scenario.steps.iter().copied(), &mut |stimulus| stimuli.push(*stimulus))
        .map_err(|error| failed(Cause::Generator(error.to_string())))?;
    let mut sent = Log::default();
    let mut encoder = Encoder::default();
    encoder
        .begin(&scenario.parameters, &scenario.policy)
        .map_err(|refusal| failed(Cause::Encoder(refusal)))?;
    for stimulus in &stimuli {
        encoder.step(stimulus, &mut sent);
    }
    encoder.finish(&mut sent);
    Ok((sent, stimuli))
}

/// The results of the reference decoder for `wire`, with the scenario's parameters and program.
///
/// # Errors
///
/// [`Cause::Generator`] and [`Cause::Decoder`].
pub fn decode(scenario: &Scenario, wire: &[u8]) -> Result<Log<ArmPft>, Failure> {
    let failed = |cause| Failure { cause, wire: wire.to_vec() };
    let program = scenario.program.code().map_err(|error| failed(Cause::Generator(error)))?;
    let mut received = Log::default();
    let mut decoder = Decoder::default();
    decoder.begin(&scenario.parameters, &program).map_err(|refusal| failed(Cause::Decoder(refusal)))?;
    decoder.push(wire, &mut received);
    decoder.finish(&mut received);
    Ok(received)
}

/// Spec: PFT-PKT-067.
fn compare_packets(sent: &Log<ArmPft>, received: &Log<ArmPft>) -> Result<(), Cause> {
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
