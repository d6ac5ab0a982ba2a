//! How models of Itanium event qualification are made wrong.

use traceproof_vectors::itanium_pmu::wire::Kind;
use traceproof_vectors::itanium_pmu::{
    AccessKind, Instruction, ItaniumPmu, Parameters, Register, RegisterClass, Stimulus,
};

use crate::saboteurs::encoders::Steps;
use traceproof_vectors::Address;

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
