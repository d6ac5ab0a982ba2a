//! A scenario through both reference models.

use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_encoder_model::riscv_etrace::{Encoder, Hart, Retirement};
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{Decoder as _, Encoder as _, Log};

use super::oracle::{self, Mismatch};
use super::{Scenario, data_oracle};
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
}

/// Encodes the scenario's execution with the reference model, decodes it with the reference decoder and
/// compares packets and execution.
///
/// # Errors
///
/// The first difference, with the bytes that travelled.
pub fn round_trip(scenario: &Scenario) -> Result<Success, Failure> {
    let sent = encode(scenario, retirement(scenario))?;
    let received = decode(scenario, &sent.wire)?;
    let failed = |cause| Failure { cause, wire: sent.wire.clone() };
    generate::compare_packets(&sent, &received).map_err(failed)?;
    oracle::judge(scenario, &received).map_err(|mismatch| failed(Cause::Execution(mismatch)))?;
    data_oracle::judge(scenario, &received).map_err(|mismatch| failed(Cause::Data(mismatch)))?;
    Ok(Success { packets: received.packets().count(), bytes: sent.wire.len() })
}

/// The output of the reference encoder model for the scenario's execution, with blocks of this shape.
///
/// # Errors
///
/// [`Cause::Generator`] and [`Cause::Encoder`].
pub fn encode(scenario: &Scenario, retirement: Retirement) -> Result<Log<RiscvEtrace>, Failure> {
    let mut sent: Log<RiscvEtrace> = Log::default();
    let failed = |cause| Failure { cause, wire: Vec::new() };
    let generator = |error: String| failed(Cause::Generator(error));
    let program = scenario.program.code().map_err(|error| generator(error.to_string()))?;
    let mut encoder = Encoder::default();
    encoder
        .begin(&scenario.parameters, &scenario.policy)
        .map_err(|refusal| failed(Cause::Encoder(refusal)))?;
    let mut hart =
        Hart::new(&program, &scenario.parameters, retirement).with_filters(&scenario.policy.filters);
    hart.run(scenario.steps.iter().cloned(), &mut |stimulus| encoder.step(stimulus, &mut sent))
        .map_err(|error| generator(error.to_string()))?;
    encoder.finish(&mut sent);
    Ok(sent)
}

/// The results of the reference decoder for `wire`, with the scenario's parameters and program.
///
/// # Errors
///
/// [`Cause::Generator`] and [`Cause::Decoder`].
pub fn decode(scenario: &Scenario, wire: &[u8]) -> Result<Log<RiscvEtrace>, Failure> {
    let failed = |cause| Failure { cause, wire: wire.to_vec() };
    let program = scenario.program.code().map_err(|error| failed(Cause::Generator(error.to_string())))?;
    let mut received: Log<RiscvEtrace> = Log::default();
    let mut decoder = Decoder::default();
    decoder.begin(&scenario.parameters, &program).map_err(|refusal| failed(Cause::Decoder(refusal)))?;
    decoder.push(wire, &mut received);
    decoder.finish(&mut received);
    Ok(received)
}

/// Block retirement where the parameters allow it.
#[must_use]
pub const fn retirement(scenario: &Scenario) -> Retirement {
    if scenario.parameters.retires_p > 1 {
        Retirement::Blocks { max_halfwords: 2 * scenario.parameters.retires_p as u32 }
    } else {
        Retirement::Single
    }
}
