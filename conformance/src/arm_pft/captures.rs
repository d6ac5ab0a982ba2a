//! Captures of PTM in snapshots.

use traceproof_vectors::arm_pft::{ArmPft, Parameters, Registers};

use crate::family::Captures;
use crate::snapshot::{Stream, StreamError, TraceProtocol};

/// The trace of a PTM.
pub(super) const CAPTURES: Captures<ArmPft> = Captures { protocols: &[TraceProtocol::Pft], parameters };

/// What the registers of a PTM say about its trace.
fn parameters(stream: &Stream<'_>) -> Result<Parameters, StreamError> {
    let required =
        |name| stream.register(name).and_then(|value| value.ok_or(StreamError::MissingRegister(name)));
    let registers =
        Registers { etmcr: required("ETMCR")?, etmidr: required("ETMIDR")?, etmccer: required("ETMCCER")? };
    let m_profile = stream.core.is_some_and(|core| core.model.to_ascii_uppercase().starts_with("CORTEX-M"));
    Parameters::from_registers(registers, m_profile)
        .map_err(|(name, reason)| StreamError::Register(name, reason))
}
