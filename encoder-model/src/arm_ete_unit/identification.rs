//! Values of the registers that identify the unit.

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{Parameters, Register};

/// The value of a register that is only read and does not change. What the parameters leave open is 0, or the smallest
/// value that a trace unit has.
///
/// Spec: ETE-HBBDV-001, ETE-RWPFG-001, ETE-RWPFG-002.
pub(super) fn identification(register: Register, parameters: &Parameters) -> u32 {
    let flag = |value: bool, place: u32| u32::from(value) << place;
    let number = |value: u8, place: u32| u32::from(value) << place;
    let revision = revision(parameters.version);
    let atb = parameters.atb && parameters.interfaces > 0;
    match register.offset() {
        // TRCIDR0: TRCBB, TRCCCI, RETSTACK, NUMEVENT, QFILT, QSUPP, ITE, TSSIZE of 64 bits, COMMOPT.
        0x1E0 => {
            1 | 1 << 5
                | 1 << 7
                | 1 << 9
                | number(parameters.events.saturating_sub(1), 10)
                | flag(parameters.q_filter, 14)
                | flag(parameters.q_filter, 15)
                | flag(parameters.instrumentation, 22)
                | 8 << 24
                | 1 << 29
        }
        // TRCIDR1: TRCARCHMAJ, TRCARCHMIN, REVISION.
        0x1E4 if parameters.version.is_ete() => 0xFF0 | revision,
        0x1E4 => 0x400 | revision << 4,
        // TRCIDR2: IASIZE, CIDSIZE, VMIDSIZE, VMIDOPT.
        0x1E8 => {
            8 | flag(parameters.context_ids > 0, 7)
                | flag(parameters.vmids > 0, 12)
                | flag(parameters.vmids > 0, 30)
        }
        // TRCIDR3: CCITMIN, EXLEVEL_S_EL0 to EL3, EXLEVEL_NS_EL0 to EL2, TRCERR and so on.
        0x1EC => {
            4 | 0x7F << 16
                | 1 << 24
                | flag(parameters.fixed_sync_period, 25)
                | flag(parameters.stall_control, 26)
                | flag(parameters.system_stall, 27)
                | flag(parameters.no_overflow, 31)
        }
        // TRCIDR4.
        0x1F0 => {
            number(parameters.address_pairs, 0)
                | number(parameters.pe_comparators, 12)
                | number(parameters.resource_pairs.saturating_sub(1), 16)
                | number(parameters.single_shot, 20)
                | number(parameters.context_ids, 24)
                | number(parameters.vmids, 28)
        }
        // TRCIDR5: NUMEXTIN of the unified model, and so on.
        0x1F4 => {
            0x1FF
                | number(parameters.external_inputs, 9)
                | if parameters.trace_id { 7 << 16 } else { 0 }
                | flag(atb, 22)
                | if parameters.sequencer { 4 << 25 } else { 0 }
                | number(parameters.counters, 28)
                | flag(parameters.output_enable, 31)
        }
        // TRCDEVARCH: Arm, present, the revision, ETE or ETMv4.
        0xFBC if parameters.version.is_ete() => 0x4770_0000 | revision << 16 | 0x5A13,
        0xFBC => 0x4770_0000 | revision << 16 | 0x4A13,
        // TRCDEVTYPE: a trace source of a processor.
        0xFCC => 0x13,
        // TRCDEVAFF0 and others.
        _ => 0,
    }
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
