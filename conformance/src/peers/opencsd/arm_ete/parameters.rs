//! The contract's parameters as register values.

use traceproof_vectors::Refusal;
use traceproof_vectors::arm;
use traceproof_vectors::arm_ete::{ConditionalTrace, Parameters, QElements, Version};

use super::super::etmv4::{Configuration, Profile};

/// The registers that OpenCSD reads a stream of these parameters by.
///
/// # Errors
///
/// When no trace unit can have them.
pub fn configuration(parameters: &Parameters) -> Result<Configuration, Refusal> {
    parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
    let (trcidr1, trcdevarch) = version(parameters.version);
    let bit = |set: bool, bit: u32| u32::from(set) << bit;
    let trcidr2 = u32::from(parameters.address_bytes)
        | u32::from(parameters.context_id_bytes) << 5
        | u32::from(parameters.vmid_bytes) << 10
        | u32::from(parameters.cycle_count_bits.saturating_sub(12)) << 25
        | bit(parameters.wfx_is_p0, 31);
    let profile = match parameters.profile {
        arm::Profile::Application => Profile::A,
        arm::Profile::RealTime => Profile::R,
        arm::Profile::Microcontroller if parameters.version < Version::Etmv4_2 => Profile::V7M,
        arm::Profile::Microcontroller => Profile::V8M,
    };
    Ok(Configuration {
        trcidr0: trcidr0(parameters),
        trcidr1,
        trcidr2,
        trcidr8: parameters.maxspec,
        trcdevarch,
        trcconfigr: trcconfigr(parameters),
        trctraceidr: 0x10,
        profile,
    })
}

/// TRCIDR1 and TRCDEVARCH.
const fn version(version: Version) -> (u32, u32) {
    let minor = match version {
        Version::Etmv4_0 | Version::Ete1_0 => 0,
        Version::Etmv4_1 | Version::Ete1_1 => 1,
        Version::Etmv4_2 | Version::Ete1_2 => 2,
        Version::Etmv4_3 | Version::Ete1_3 => 3,
        Version::Etmv4_4 => 4,
        Version::Etmv4_5 => 5,
        Version::Etmv4_6 => 6,
    };
    if version.is_ete() { (0x4100_fff0, 0x4770_5a13 | minor << 16) } else { (0x4100_0400 | minor << 4, 0) }
}

/// With cycle counting implemented: the library heeds COMMOPT only then.
fn trcidr0(parameters: &Parameters) -> u32 {
    let bit = |set: bool, bit: u32| u32::from(set) << bit;
    let load_store = parameters.load_is_p0 || parameters.store_is_p0;
    let timestamp_size = match parameters.timestamp_bits {
        0 => 0,
        48 => 6,
        _ => 8,
    };
    let q = match parameters.q_elements {
        QElements::None => 0,
        QElements::Count => 1,
        QElements::Any => 3,
    };
    1 | bit(load_store, 1)
        | bit(load_store, 2)
        | bit(parameters.data_trace, 3)
        | bit(parameters.data_trace, 4)
        | bit(true, 5)
        | bit(parameters.conditional_trace != ConditionalTrace::None, 6)
        | bit(true, 7)
        | bit(true, 9)
        | 3 << 10
        | q << 15
        | bit(parameters.instrumentation, 22)
        | bit(parameters.timestamp_markers, 23)
        | timestamp_size << 24
        | bit(parameters.commopt, 29)
        | bit(parameters.commtrans, 30)
}

fn trcconfigr(parameters: &Parameters) -> u32 {
    let bit = |set: bool, bit: u32| u32::from(set) << bit;
    let conditional = match parameters.conditional_trace {
        ConditionalTrace::None => 0,
        ConditionalTrace::Loads => 1,
        ConditionalTrace::Stores => 2,
        ConditionalTrace::LoadsAndStores => 3,
        ConditionalTrace::All => 7,
    };
    let q = match parameters.q_elements {
        QElements::None => 0,
        QElements::Count => 1,
        QElements::Any => 3,
    };
    1 | bit(parameters.load_is_p0, 1)
        | bit(parameters.store_is_p0, 2)
        | bit(parameters.branch_broadcast, 3)
        | bit(parameters.cycle_counting, 4)
        | bit(parameters.context_ids, 6)
        | bit(parameters.vmids, 7)
        | conditional << 8
        | bit(parameters.timestamps, 11)
        | bit(parameters.return_stack, 12)
        | q << 13
        | bit(parameters.data_trace, 16)
}
