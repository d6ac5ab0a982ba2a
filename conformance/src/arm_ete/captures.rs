//! Captures of ETE and ETMv4 in snapshots.

use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::{ArmEte, Parameters, Processor, Registers};

use crate::family::Captures;
use crate::snapshot::{Stream, StreamError, TraceProtocol};

/// The trace of an ETE or ETMv4.
pub(super) const CAPTURES: Captures<ArmEte> =
    Captures { protocols: &[TraceProtocol::Etmv4, TraceProtocol::Ete], parameters };

/// What the registers of a trace unit say about its trace.
fn parameters(stream: &Stream<'_>) -> Result<Parameters, StreamError> {
    let required =
        |name| stream.register(name).and_then(|value| value.ok_or(StreamError::MissingRegister(name)));
    let optional = |name| stream.register(name).map(|value| value.unwrap_or(0));
    let registers = Registers {
        trcidr0: required("TRCIDR0")?,
        trcidr1: required("TRCIDR1")?,
        trcidr2: required("TRCIDR2")?,
        // Snapshots leave out what is 0, and TRCDEVARCH of an ETMv4.
        trcidr8: optional("TRCIDR8")?,
        trcdevarch: optional("TRCDEVARCH")?,
        trcconfigr: required("TRCCONFIGR")?,
    };
    let core = stream.core.map_or_else(String::new, |core| core.model.to_ascii_uppercase());
    let profile = match () {
        () if core.starts_with("CORTEX-M") || core.starts_with("ARMV8.1-M") => Profile::Microcontroller,
        () if core.starts_with("CORTEX-R") => Profile::RealTime,
        () => Profile::Application,
    };
    // No register says that there are transactions; a trace that has some is believed.
    let processor = Processor { profile, transactions: true };
    Parameters::from_registers(registers, processor)
        .map_err(|(name, reason)| StreamError::Register(name, reason))
}
