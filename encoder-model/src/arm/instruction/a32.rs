//! A32.

use traceproof_vectors::arm::{
    Barrier, CodeAddress, ExceptionCall, FlowInstruction, InstructionClass as Class, InstructionSet,
    ReturnSource, TargetSource, WaitFor,
};

use super::{bit, bits, direct, sign_extend};

const SIZE: u8 = 4;
const ALWAYS: u32 = 0b1110;
const UNCONDITIONAL_SPACE: u32 = 0b1111;
const PC: u32 = 15;

pub(super) fn classify(at: CodeAddress, word: u32) -> FlowInstruction {
    let condition = bits(word, 31, 28);
    if condition == UNCONDITIONAL_SPACE {
        return unconditional(at, word);
    }
    let plain = |class| FlowInstruction::new(class, SIZE);
    let instruction = match bits(word, 27, 25) {
        0b000 if bit(word, 7) && bit(word, 4) => plain(Class::Other), // multiplies, extra loads and stores
        0b000 if bits(word, 24, 23) == 0b10 => plain(register_miscellaneous(word)),
        0b001 if bits(word, 24, 23) == 0b10 => plain(immediate_miscellaneous(word)),
        0b000 | 0b001 => plain(data_processing(word)),
        0b011 if bit(word, 4) => plain(media(word)),
        0b010 | 0b011 => plain(load_word(word)),
        0b100 => plain(load_multiple(word)),
        0b101 => direct(at.plus(branch_offset(word)), bit(word, 24), SIZE),
        0b111 if bit(word, 24) => plain(Class::ExceptionCall(ExceptionCall::Supervisor)),
        0b111 => plain(system_barrier(word)),
        _ => plain(Class::Other),
    };
    instruction.with_condition(condition != ALWAYS)
}

/// The offset from the instruction itself: the PC is two instructions ahead.
fn branch_offset(word: u32) -> u64 {
    sign_extend(bits(word, 23, 0), 24).wrapping_mul(4).wrapping_add(8)
}

/// `op1 = 10xx`: tests with S, the miscellaneous space without.
fn register_miscellaneous(word: u32) -> Class {
    if bit(word, 20) {
        return Class::Other;
    }
    match (bits(word, 22, 21), bits(word, 7, 4)) {
        (0b01, 0b0001) => Class::IndirectBranch { link: false, source: TargetSource::Register },
        (0b01, 0b0010) => Class::IndirectBranch { link: false, source: TargetSource::JazelleRegister },
        (0b01, 0b0011) => Class::IndirectBranch { link: true, source: TargetSource::Register },
        (0b11, 0b0110) if bits(word, 3, 0) == 0b1110 => Class::ExceptionReturn(ReturnSource::Eret),
        (0b00, 0b0111) => Class::ExceptionCall(ExceptionCall::Halt),
        (0b01, 0b0111) => Class::ExceptionCall(ExceptionCall::Breakpoint),
        (0b10, 0b0111) => Class::ExceptionCall(ExceptionCall::Hypervisor),
        (0b11, 0b0111) => Class::ExceptionCall(ExceptionCall::SecureMonitor),
        _ => Class::Other,
    }
}

/// Tests, `MOVW`, `MOVT`, `MSR` and, as `MSR` of no field, the hints.
fn immediate_miscellaneous(word: u32) -> Class {
    if bits(word, 22, 20) != 0b010 || bits(word, 19, 16) != 0 {
        return Class::Other;
    }
    match bits(word, 7, 0) {
        2 => Class::Wait(WaitFor::Event),
        3 => Class::Wait(WaitFor::Interrupt),
        _ => Class::Other,
    }
}

fn data_processing(word: u32) -> Class {
    match (bits(word, 15, 12), bit(word, 20)) {
        (PC, true) => Class::ExceptionReturn(ReturnSource::DataProcessing),
        (PC, false) => Class::IndirectBranch { link: false, source: TargetSource::DataProcessing },
        _ => Class::Other,
    }
}

fn media(word: u32) -> Class {
    match (bits(word, 24, 20), bits(word, 7, 5)) {
        (0b1_1111, 0b111) => Class::ExceptionCall(ExceptionCall::Undefined),
        _ => Class::Other,
    }
}

/// A load of a word, not of a byte, with any addressing.
fn load_word(word: u32) -> Class {
    if bit(word, 20) && !bit(word, 22) && bits(word, 15, 12) == PC {
        Class::IndirectBranch { link: false, source: TargetSource::Load }
    } else {
        Class::Other
    }
}

fn load_multiple(word: u32) -> Class {
    match (bit(word, 20) && bit(word, 15), bit(word, 22)) {
        (true, false) => Class::IndirectBranch { link: false, source: TargetSource::Load },
        (true, true) => Class::ExceptionReturn(ReturnSource::LoadMultiple),
        _ => Class::Other,
    }
}

/// `MCR p15, 0, Rt, c7, ...`: the barriers of `ARMv6`.
pub(super) fn system_barrier(word: u32) -> Class {
    let to_p15 =
        bits(word, 24, 20) == 0 && bits(word, 19, 16) == 7 && bits(word, 11, 8) == 15 && bit(word, 4);
    match (to_p15, bits(word, 3, 0), bits(word, 7, 5)) {
        (true, 5, 4) => Class::Barrier(Barrier::Isb),
        (true, 10, 4) => Class::Barrier(Barrier::Dsb),
        (true, 10, 5) => Class::Barrier(Barrier::Dmb),
        _ => Class::Other,
    }
}

/// The space of condition field 1111.
fn unconditional(at: CodeAddress, word: u32) -> FlowInstruction {
    let plain = |class| FlowInstruction::new(class, SIZE);
    match bits(word, 27, 25) {
        0b101 => {
            let half = if bit(word, 24) { 2 } else { 0 };
            let address = at.address.wrapping_add(branch_offset(word)).wrapping_add(half);
            direct(CodeAddress::new(InstructionSet::T32, address), true, SIZE)
        }
        0b100 if bit(word, 20) && !bit(word, 22) => plain(Class::ExceptionReturn(ReturnSource::Rfe)),
        0b010 if bits(word, 24, 20) == 0b1_0111 => plain(match bits(word, 7, 4) {
            4 => Class::Barrier(Barrier::Dsb),
            5 => Class::Barrier(Barrier::Dmb),
            6 => Class::Barrier(Barrier::Isb),
            _ => Class::Other,
        }),
        _ => plain(Class::Other),
    }
}
