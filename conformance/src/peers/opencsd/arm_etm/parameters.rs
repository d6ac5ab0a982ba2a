//! The contract's parameters as register values.

use traceproof_vectors::Refusal;
use traceproof_vectors::arm_etm::{Architecture, Parameters};

use super::super::etmv3::Configuration;

/// The registers that OpenCSD reads a stream of these parameters by.
///
/// # Errors
///
/// When it is no stream of ETMv3, or one with TRACECTL, which OpenCSD does not know.
pub fn configuration(parameters: &Parameters) -> Result<Configuration, Refusal> {
    parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
    if parameters.architecture != Architecture::V3 {
        return Err(Refusal::unsupported(parameters.architecture.feature()));
    }
    if parameters.bare_port {
        return Err(Refusal::unsupported("bare_port"));
    }
    let bit = |set: bool, bit: u32| u32::from(set) << bit;
    let context_id_size = match parameters.context_id_bytes {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 3,
    };
    let etmcr = bit(parameters.monitor_cprt, 1)
        | bit(parameters.data_value, 2)
        | bit(parameters.data_address, 3)
        | bit(parameters.branch_broadcast, 8)
        | bit(parameters.cycle_accurate, 12)
        | context_id_size << 14
        | bit(parameters.filter_cprt, 19)
        | bit(parameters.data_only, 20)
        | bit(parameters.timestamps, 28)
        | bit(parameters.vmid, 30);
    // Implementer ARM, core family defined elsewhere, Security Extensions, major version 3.
    let etmidr = 0x4108_f200
        | u32::from(parameters.minor) << 4
        | bit(parameters.load_pc_first, 16)
        | bit(parameters.thumb32_single, 18)
        | bit(parameters.alternative_branches, 20);
    let etmccer = bit(parameters.timestamps, 22)
        | bit(parameters.virtualization, 26)
        | bit(!parameters.timestamp_gray, 28)
        | bit(parameters.timestamp_bits == 64, 29);
    Ok(Configuration { etmidr, etmcr, etmccer, etmtraceidr: 0x10, m_profile: parameters.m_profile })
}
