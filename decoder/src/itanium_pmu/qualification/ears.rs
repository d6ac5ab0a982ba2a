//! Whether an event address register takes a miss, and what it records.

use traceproof_vectors::itanium_pmu::{
    AccessKind, DataEarQualifier, DataEarThresholds, DataMiss, DataTlbLevel, InstructionMiss,
    InstructionTlbResolution, LatencyOverflow, LatencyThreshold, Parameters, Register,
};

use super::counters::is_enabled;
use crate::itanium_pmu::Registers;
use crate::itanium_pmu::registers::stored;
use crate::itanium_pmu::slice::{bit, small};
use traceproof_vectors::Address;

/// A miss of a fetch, with the tag of the moment when it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchMiss {
    /// IP.
    pub ip: u64,
    /// IBRRangeTag.
    pub tag: bool,
    /// What missed.
    pub cause: FetchMissCause,
}

/// What a fetch missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchMissCause {
    /// The L1 instruction cache, for that many clocks.
    Cache(u32),
    /// The instruction TLB, resolved so.
    Tlb(InstructionTlbResolution),
}

/// A miss of an access, with the tags that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessMiss {
    /// What kind of access.
    pub kind: AccessKind,
    /// Its address.
    pub address: u64,
    /// IP of its instruction.
    pub ip: u64,
    /// Slot of its instruction.
    pub slot: u8,
    /// Tag(PMC\[8\]) of its instruction.
    pub pmc8: bool,
    /// DBRRangeTag.
    pub data: bool,
    /// What missed.
    pub cause: AccessMissCause,
}

/// What an access missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMissCause {
    /// The L1 data cache, for that many clocks.
    Cache(u32),
    /// The first-level data TLB, resolved there.
    Tlb(DataTlbLevel),
}

/// Latency threshold of the instruction event address registers, in clocks; `None`: nothing is captured.
///
/// Spec: ITA-EAR-002 to ITA-EAR-004.
#[must_use]
pub const fn instruction_threshold(umask: u8) -> Option<u32> {
    match umask {
        0 => Some(4),
        1 => Some(8),
        2 => Some(16),
        3 => Some(32),
        4 => Some(64),
        5 => Some(128),
        6 => Some(256),
        7 => Some(512),
        8 => Some(1024),
        9 => Some(2048),
        10 => Some(4096),
        _ => None,
    }
}

/// Latency threshold of the data event address registers, in clocks; `None`: nothing is captured.
///
/// Spec: ITA-EAR-010, ITA-EAR-011, ITA-EAR-004; reading `ita-md-8`.
#[must_use]
pub const fn data_threshold(parameters: &Parameters, umask: u8) -> Option<u32> {
    match (umask, parameters.data_ear_thresholds) {
        (7, DataEarThresholds::Shifted) => None,
        (8, DataEarThresholds::Shifted) => Some(512),
        (9, DataEarThresholds::Shifted) => Some(1024),
        (10, DataEarThresholds::Shifted) => Some(2048),
        _ => instruction_threshold(umask),
    }
}

/// What the instruction event address registers record of a miss at the end of its cycle; `None`: nothing.
///
/// Spec: ITA-EAR-002, ITA-EAR-009, ITA-EAR-020, ITA-EAR-021.
#[must_use]
pub fn capture_fetch(
    registers: &Registers,
    parameters: &Parameters,
    miss: &FetchMiss,
) -> Option<InstructionMiss> {
    let pmc = registers.pmc[10];
    if !is_enabled(registers, 10) || !miss.tag {
        return None;
    }
    let umask = small(pmc, 19, 16);
    let (latency, tlb) = match (miss.cause, bit(pmc, 7)) {
        (FetchMissCause::Cache(latency), false) => {
            (passes(parameters, latency, instruction_threshold(umask)?)?.into(), None)
        }
        (FetchMissCause::Tlb(resolution), true) => {
            let class = match resolution {
                InstructionTlbResolution::Vhpt => 18,
                InstructionTlbResolution::Software => 19,
            };
            bit(pmc, class).then_some((None, Some(resolution)))?
        }
        _ => return None,
    };
    Some(InstructionMiss { line: Address(stored(Register::pmd(0), miss.ip) & !0x1f), latency, tlb })
}

/// What the data event address registers record of a miss at the end of its cycle; `None`: nothing.
///
/// Spec: ITA-EAR-010 to ITA-EAR-015, ITA-EAR-020, ITA-EAR-021; reading `ita-md-9`.
#[must_use]
pub fn capture_access(registers: &Registers, parameters: &Parameters, miss: &AccessMiss) -> Option<DataMiss> {
    let pmc = registers.pmc[11];
    let tag = match parameters.data_ear_qualifier {
        DataEarQualifier::DataRange => miss.data,
        DataEarQualifier::Opcode => miss.pmc8,
    };
    if !is_enabled(registers, 11) || !tag {
        return None;
    }
    let umask = small(pmc, 19, 16);
    let (latency, level) = match (miss.cause, bit(pmc, 7)) {
        (AccessMissCause::Cache(latency), false) if miss.kind == AccessKind::Load => {
            (passes(parameters, latency, data_threshold(parameters, umask)?)?.into(), None)
        }
        (AccessMissCause::Tlb(level), true) => {
            let class = match level {
                DataTlbLevel::None => return None,
                DataTlbLevel::L2 => 17,
                DataTlbLevel::Vhpt => 18,
                DataTlbLevel::Software => 19,
            };
            bit(pmc, class).then_some((None, Some(level)))?
        }
        _ => return None,
    };
    Some(DataMiss {
        address: Address(stored(Register::pmd(2), miss.address)),
        bundle: Address(stored(Register::pmd(17), miss.ip) & !0xf),
        slot: miss.slot,
        latency,
        level,
    })
}

/// The latency as 12 bits record it, if it passes the threshold. Readings `ita-a-10`, `ita-md-2`.
fn passes(parameters: &Parameters, latency: u32, threshold: u32) -> Option<u16> {
    let captured = match parameters.latency_threshold {
        LatencyThreshold::AtLeast => latency >= threshold,
        LatencyThreshold::Exceeds => latency > threshold,
    };
    captured.then_some(match parameters.latency_overflow {
        LatencyOverflow::Saturate => latency.min(0xfff) as u16,
        LatencyOverflow::Wrap => (latency & 0xfff) as u16,
    })
}
