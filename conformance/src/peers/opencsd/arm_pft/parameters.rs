//! The contract's parameters as register values.

use traceproof_vectors::Refusal;
use traceproof_vectors::arm_pft::Parameters;

use super::super::ptm::Configuration;

/// The registers that OpenCSD reads a stream of these parameters by. The depth of its return stack is always 16.
///
/// # Errors
///
/// When no PTM can have them.
pub fn configuration(parameters: &Parameters) -> Result<Configuration, Refusal> {
    parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
    let bit = |set: bool, bit: u32| u32::from(set) << bit;
    let context_id_size = match parameters.context_id_bytes {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 3,
    };
    let etmcr = bit(parameters.branch_broadcast, 8)
        | bit(parameters.cycle_accurate, 12)
        | context_id_size << 14
        | bit(parameters.timestamps, 28)
        | bit(parameters.return_stack, 29)
        | bit(parameters.vmid, 30);
    let etmccer = bit(parameters.timestamps, 22)
        | bit(parameters.return_stack, 23)
        | bit(parameters.barrier_waypoints, 24)
        | bit(parameters.barrier_timestamps, 25)
        | bit(parameters.virtualization, 26)
        | bit(parameters.timestamp_binary, 28)
        | bit(parameters.timestamp_bits == 64, 29);
    // Implementer ARM, core family defined elsewhere, Security Extensions, major version 3: PFTv1.
    let etmidr = 0x411c_f300 | u32::from(parameters.minor) << 4;
    Ok(Configuration { etmidr, etmcr, etmccer, etmtraceidr: 0x10, m_profile: parameters.m_profile })
}
