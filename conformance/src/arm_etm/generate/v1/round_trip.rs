//! A scenario through both reference models.

use traceproof_decoder::arm_etm::Decoder;
use traceproof_encoder_model::arm_etm::Encoder;
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::{Decoder as _, Encoder as _, Log};

use super::Scenario;
use super::oracle;
use crate::arm_etm::generate::{Cause, Failure};

/// What a successful round trip amounted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Success {
    /// Bytes that travelled.
    pub bytes: usize,
    /// What the decoder reported.
    pub returned: oracle::Returned,
}

/// Encodes the scenario's run with the reference model, compares wire and packets with the run, decodes with the
/// reference decoder, and compares its packets, events and faults with the expected ones.
///
/// # Errors
///
/// The first difference, with the bytes that travelled.
pub fn round_trip(scenario: &Scenario) -> Result<Success, Failure> {
    judge(scenario, &encode(scenario)?)
}

/// Compares the output of an encoder for the scenario, and the results of the reference decoder for it, with the run.
///
/// # Errors
///
/// As [`round_trip`].
pub fn judge(scenario: &Scenario, sent: &Log<ArmEtm>) -> Result<Success, Failure> {
    let failed = |cause| Failure { cause, wire: sent.wire.clone() };
    let (expected, returned) =
        oracle::expect(scenario, sent).map_err(|mismatch| failed(Cause::Execution(mismatch)))?;
    let program = scenario.program.code().map_err(|error| failed(Cause::Generator(error)))?;
    let mut received = Log::default();
    let mut decoder = Decoder::default();
    decoder.begin(&scenario.parameters, &program).map_err(|refusal| failed(Cause::Decoder(refusal)))?;
    decoder.push(&sent.wire, &mut received);
    decoder.finish(&mut received);
    expected.compare(&received).map_err(|mismatch| failed(Cause::Execution(mismatch)))?;
    Ok(Success { bytes: sent.wire.len(), returned })
}

/// The output of the reference encoder model for the scenario's run.
///
/// # Errors
///
/// [`Cause::Encoder`].
pub fn encode(scenario: &Scenario) -> Result<Log<ArmEtm>, Failure> {
    let mut sent = Log::default();
    let mut encoder = Encoder::default();
    encoder
        .begin(&scenario.parameters, &scenario.policy)
        .map_err(|refusal| Failure { cause: Cause::Encoder(refusal), wire: Vec::new() })?;
    for cycle in &scenario.cycles {
        encoder.step(cycle, &mut sent);
    }
    encoder.finish(&mut sent);
    Ok(sent)
}
