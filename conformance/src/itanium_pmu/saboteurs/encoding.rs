//! How models of Itanium event qualification are made wrong.

use traceproof_vectors::itanium_pmu::events::ES_IA64_INST_RETIRED;
use traceproof_vectors::itanium_pmu::wire::Kind;
use traceproof_vectors::itanium_pmu::{
    AccessKind, Instruction, ItaniumPmu, Parameters, Register, RegisterClass, Stimulus,
};

use crate::saboteurs::encoders::Steps;
use traceproof_vectors::Address;

/// PMC\[10\].tlb and PMC\[11\].tlb.
const TLB: u64 = 1 << 7;

/// Changes instructions.
fn instructions(change: fn(&mut Instruction)) -> Steps<ItaniumPmu> {
    Box::new(move |mut stimulus| {
        if let Stimulus::Instruction(instruction) = &mut stimulus {
            change(instruction);
        }
        Some(stimulus)
    })
}

/// Changes what software writes.
fn writes(change: fn(Register, &mut u64)) -> Steps<ItaniumPmu> {
    Box::new(move |mut stimulus| {
        if let Stimulus::Write { register, value } = &mut stimulus {
            change(*register, value);
        }
        Some(stimulus)
    })
}

pub(super) fn squashed_do_not_retire(_: &Parameters) -> Steps<ItaniumPmu> {
    instructions(|instruction| instruction.retired &= !instruction.squashed)
}

pub(super) fn wrong_paths_retire(_: &Parameters) -> Steps<ItaniumPmu> {
    instructions(|instruction| instruction.retired = true)
}

pub(super) fn syllables_of_40_bits(_: &Parameters) -> Steps<ItaniumPmu> {
    instructions(|instruction| instruction.enco &= !(1 << 40))
}

pub(super) fn key_of_adjacent_bits(_: &Parameters) -> Steps<ItaniumPmu> {
    instructions(|instruction| {
        instruction.enco = instruction.enco & !0x1fff | instruction.enco >> 14 & 0x1fff;
    })
}

pub(super) fn sign_of_ip_in_bit_60(_: &Parameters) -> Steps<ItaniumPmu> {
    instructions(|instruction| {
        instruction.ip = Address(instruction.ip.0 & !(1 << 50) | (instruction.ip.0 >> 60 & 1) << 50);
    })
}

pub(super) fn counters_of_31_bits(_: &Parameters) -> Steps<ItaniumPmu> {
    writes(|register, value| {
        if register.class == RegisterClass::Pmd && matches!(register.index, 4..=7) {
            *value &= !(1 << 31);
        }
    })
}

pub(super) fn walker_reads_are_stores(_: &Parameters) -> Steps<ItaniumPmu> {
    Box::new(|mut stimulus| {
        if let Stimulus::Access(access) = &mut stimulus
            && matches!(access.kind, AccessKind::Rse | AccessKind::Vhpt)
        {
            access.kind = AccessKind::Store;
        }
        Some(stimulus)
    })
}

pub(super) fn unfreezing_clears_overflows(_: &Parameters) -> Steps<ItaniumPmu> {
    writes(|register, value| {
        if register == Register::pmc(0) && *value & 1 == 0 {
            *value &= !0xf0;
        }
    })
}

const fn unit_mask(value: u64) -> u64 {
    value >> 16 & 0xf
}

const fn with_unit_mask(value: u64, unit_mask: u64) -> u64 {
    value & !(0xf << 16) | (unit_mask & 0xf) << 16
}

pub(super) fn tag_events_swapped(_: &Parameters) -> Steps<ItaniumPmu> {
    writes(|register, value| {
        let is_tagged =
            *value >> 8 & 0x7f == u64::from(ES_IA64_INST_RETIRED) && matches!(unit_mask(*value), 2 | 3);
        if is_tagged && (register == Register::pmc(4) || register == Register::pmc(5)) {
            *value = with_unit_mask(*value, unit_mask(*value) ^ 1);
        }
    })
}

pub(super) fn no_threshold_captures_all(_: &Parameters) -> Steps<ItaniumPmu> {
    writes(|register, value| {
        let is_ear = register == Register::pmc(10) || register == Register::pmc(11);
        if is_ear && *value & TLB == 0 && unit_mask(*value) == 15 {
            *value = with_unit_mask(*value, 0);
        }
    })
}

pub(super) fn levels_from_bit_0(_: &Parameters) -> Steps<ItaniumPmu> {
    writes(|register, value| {
        if register == Register::pmc(11) && *value & TLB != 0 {
            *value = with_unit_mask(*value, unit_mask(*value) << 1);
        }
    })
}

/// Records of undefined registers become reads of 0.
pub(super) fn undefined_reads_as_0(record: &mut [u8]) {
    if let [kind, ..] = record
        && *kind == Kind::ReadUndefined as u8
    {
        *kind = Kind::Read as u8;
    }
}

/// Reads of counters have 0 in their upper halves.
pub(super) fn counters_without_sign(record: &mut [u8]) {
    if let [kind, class, 4..=7, .., a, b, c, d] = record
        && *kind == Kind::Read as u8
        && *class == RegisterClass::Pmd as u8
    {
        for byte in [a, b, c, d] {
            *byte = 0;
        }
    }
}
