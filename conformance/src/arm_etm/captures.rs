//! Captures of ETM in snapshots.

use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters, Registers};

use crate::family::Captures;
use crate::snapshot::{Stream, StreamError, TraceProtocol};

/// ETMv3 alone: the pins of architectures 1 and 2 are in no snapshot.
pub(super) const CAPTURES: Captures<ArmEtm> = Captures { protocols: &[TraceProtocol::Etm], parameters };

/// The trace configuration in the registers of an ETM.
fn parameters(stream: &Stream<'_>) -> Result<Parameters, StreamError> {
    let required =
        |name| stream.register(name).and_then(|value| value.ok_or(StreamError::MissingRegister(name)));
    let registers = Registers {
        etmcr: required("ETMCR")?,
        etmidr: required("ETMIDR")?,
        // Macrocells before ETMv3.1 do not have it.
        etmccer: stream.register("ETMCCER")?.unwrap_or(0),
    };
    let m_profile = stream.core.is_some_and(|core| core.model.to_ascii_uppercase().starts_with("CORTEX-M"));
    let parameters = Parameters::from_registers(registers, m_profile)
        .map_err(|(name, reason)| StreamError::Register(name, reason))?;
    if parameters.architecture != Architecture::V3 {
        return Err(StreamError::Unsupported(stream.source.model.clone()));
    }
    if parameters.minor >= 5 && stream.register("ETMCCER")?.is_none() {
        return Err(StreamError::MissingRegister("ETMCCER"));
    }
    Ok(parameters)
}
