//! Values of the registers that identify the unit.

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{Parameters, Register};

/// The value of a register that is only read and does not change. What the parameters leave open is 0, or what the
/// smallest trace unit of FEAT_ETE has.
///
/// Spec: ETE-HBBDV-001, ETE-RWPFG-001, ETE-RWPFG-002.
pub(super) fn identification(register: Register, parameters: &Parameters) -> u32 {
    let revision = revision(parameters.version);
    match register.offset() {
        // TRCIDR0: bit 0, TRCBB, TRCCCI, RETSTACK, TSSIZE of 64 bits, COMMOPT; QFILT with QSUPP.
        0x1E0 => fields([
            0x2800_02A1,
            number(parameters.events.saturating_sub(1), 10),
            if parameters.q_filter { 0xC000 } else { 0 },
            flag(parameters.instrumentation, 22),
        ]),
        // TRCIDR1: TRCARCHMAJ, TRCARCHMIN, REVISION.
        0x1E4 if parameters.version.is_ete() => fields([0xFF0, revision]),
        0x1E4 => fields([0x400, revision << 4]),
        // TRCIDR2: IASIZE of 64 bits, CIDSIZE and VMIDSIZE of 32 bits, VMIDOPT.
        0x1E8 => 0x4000_1088,
        // TRCIDR3: CCITMIN, EXLEVEL_S_EL0 to EL3, EXLEVEL_NS_EL0 to EL2, TRCERR and so on.
        0x1EC => fields([
            0x017F_0004,
            flag(parameters.fixed_sync_period, 25),
            flag(parameters.stall_control, 26),
            flag(parameters.system_stall, 27),
            flag(parameters.no_overflow, 31),
        ]),
        // TRCIDR4.
        0x1F0 => fields([
            number(parameters.address_pairs, 0),
            number(parameters.pe_comparators, 12),
            number(parameters.resource_pairs.saturating_sub(1), 16),
            number(parameters.single_shot, 20),
            number(parameters.context_ids, 24),
            number(parameters.vmids, 28),
        ]),
        // TRCIDR5: NUMEXTIN of the unified model, and so on.
        0x1F4 => fields([
            0x1FF,
            number(parameters.external_inputs, 9),
            if parameters.trace_id { 0x7_0000 } else { 0 },
            flag(parameters.atb && parameters.interfaces > 0, 22),
            if parameters.sequencer { 0x800_0000 } else { 0 },
            number(parameters.counters, 28),
            flag(parameters.output_enable, 31),
        ]),
        // TRCDEVARCH: Arm, present, the revision, ETE or ETMv4.
        0xFBC if parameters.version.is_ete() => fields([0x4770_5A13, revision << 16]),
        0xFBC => fields([0x4770_4A13, revision << 16]),
        // TRCDEVTYPE: a trace source of a processor.
        0xFCC => 0x13,
        // TRCDEVAFF0 and others.
        _ => 0,
    }
}

/// Fields that have no common bits.
fn fields<const N: usize>(fields: [u32; N]) -> u32 {
    fields.into_iter().sum()
}

fn flag(value: bool, place: u32) -> u32 {
    u32::from(value) << place
}

fn number(value: u8, place: u32) -> u32 {
    u32::from(value) << place
}

/// The minor version: of ETMv4 and of ETE.
const fn revision(version: Version) -> u32 {
    match version {
        Version::Etmv4_0 | Version::Ete1_0 => 0,
        Version::Etmv4_1 | Version::Ete1_1 => 1,
        Version::Etmv4_2 | Version::Ete1_2 => 2,
        Version::Etmv4_3 | Version::Ete1_3 => 3,
        Version::Etmv4_4 => 4,
        Version::Etmv4_5 => 5,
        Version::Etmv4_6 => 6,
    }
}
