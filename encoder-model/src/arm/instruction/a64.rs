//! A64.

use traceproof_vectors::arm::{
    Barrier, CodeAddress, ExceptionCall, FlowInstruction, InstructionClass as Class, ReturnSource,
    TargetSource, WaitFor,
};

use super::{bit, bits, direct, sign_extend};

const SIZE: u8 = 4;
const ZERO_REGISTER: u32 = 31;

pub(super) fn classify(at: CodeAddress, word: u32) -> FlowInstruction {
    let plain = |class| FlowInstruction::new(class, SIZE);
    let to = |high, low, width| at.plus(sign_extend(bits(word, high, low), width).wrapping_mul(4));
    let compare = |high, low, width| direct(to(high, low, width), false, SIZE).with_condition(true);
    match bits(word, 30, 24) {
        0x14..=0x17 => direct(to(25, 0, 26), bit(word, 31), SIZE),
        0x34 | 0x35 => compare(23, 5, 19),
        0x36 | 0x37 => compare(18, 5, 14),
        0x54 if bit(word, 31) => plain(exception_call(word)),
        0x54 => direct(to(23, 5, 19), false, SIZE).with_condition(bits(word, 3, 1) != 0b111),
        0x55 if bit(word, 31) => plain(system(word)),
        0x55 if bits(word, 23, 22) == 0 && bits(word, 4, 0) == ZERO_REGISTER => plain(RETURN),
        0x56 | 0x57 if bit(word, 31) => plain(branch_register(word)),
        0x74 if compare_and_branch_register(word) => compare(13, 5, 9),
        0x75 if !bit(word, 14) => compare(13, 5, 9),
        0x00 if word >> 16 == 0 => plain(Class::ExceptionCall(ExceptionCall::Undefined)),
        _ => plain(Class::Other),
    }
}

const RETURN: Class = Class::IndirectBranch { link: false, source: TargetSource::Return };

/// `FEAT_CMPBR`: words and double words, or bytes and half-words, which have no 64-bit form.
fn compare_and_branch_register(word: u32) -> bool {
    match bits(word, 15, 14) {
        0b00 => true,
        0b01 => false,
        _ => !bit(word, 31),
    }
}

/// `opc` and `LL`, with `op2` = 0.
fn exception_call(word: u32) -> Class {
    let call = match (bits(word, 23, 21), bits(word, 4, 0)) {
        (0, 1) => ExceptionCall::Supervisor,
        (0, 2) => ExceptionCall::Hypervisor,
        (0, 3) => ExceptionCall::SecureMonitor,
        (1, 0) => ExceptionCall::Breakpoint,
        (2, 0) => ExceptionCall::Halt,
        _ => return Class::Other,
    };
    Class::ExceptionCall(call)
}

/// Hints, barriers, and system instructions with a register: L:op0, op1, CRn, CRm, op2, Rt.
fn system(word: u32) -> Class {
    let operation = (bits(word, 18, 16), bits(word, 15, 12), bits(word, 11, 8), bits(word, 7, 5));
    if bits(word, 23, 19) == 0b00100 {
        // L:op0 = 1:00, with a result.
        return if operation == (3, 3, 0, 3) { Class::TransactionStart } else { Class::Other };
    }
    if bits(word, 23, 16) != 0b0000_0011 {
        return Class::Other;
    }
    match (bits(word, 15, 12), bits(word, 11, 8), bits(word, 7, 5), bits(word, 4, 0)) {
        (1, 0, 0, _) => Class::Wait(WaitFor::Event),
        (1, 0, 1, _) => Class::Wait(WaitFor::Interrupt),
        (2, 0, 2, ZERO_REGISTER) => Class::Wait(WaitFor::Event),
        (2, 0, 3, ZERO_REGISTER) => Class::Wait(WaitFor::Interrupt),
        (3, _, 4, ZERO_REGISTER) => Class::Barrier(Barrier::Dsb),
        (3, _, 5, ZERO_REGISTER) => Class::Barrier(Barrier::Dmb),
        (3, _, 6, ZERO_REGISTER) => Class::Barrier(Barrier::Isb),
        // DSB with the nXS qualifier.
        (3, 2 | 6 | 10 | 14, 1, ZERO_REGISTER) => Class::Barrier(Barrier::Dsb),
        _ => Class::Other,
    }
}

/// Branches to registers: opc, op2 = 11111, op3, Rn, op4.
fn branch_register(word: u32) -> Class {
    if bits(word, 20, 16) != 0b1_1111 {
        return Class::Other;
    }
    let register = |link| Class::IndirectBranch { link, source: TargetSource::Register };
    let (source, modifier) = (bits(word, 9, 5), bits(word, 4, 0));
    // Without authentication, with key A or B and a modifier of 0.
    let no_modifier = matches!((bits(word, 15, 10), modifier), (0, 0) | (2 | 3, ZERO_REGISTER));
    // With key A or B.
    let authenticated = matches!(bits(word, 15, 10), 2 | 3);
    match bits(word, 24, 21) {
        0b0000 if no_modifier => register(false),
        0b0001 if no_modifier => register(true),
        0b0010 if bits(word, 15, 10) == 0 && modifier == 0 => RETURN,
        // RETAA, RETAB with the stack pointer; with a register that holds the PC of the signature.
        0b0010 if authenticated && source == ZERO_REGISTER => RETURN,
        0b0100 if no_modifier && source == ZERO_REGISTER => Class::ExceptionReturn(ReturnSource::Eret),
        0b0111 if bits(word, 15, 11) == 0 && source == ZERO_REGISTER && modifier == 0 => {
            Class::ExceptionReturn(ReturnSource::TierExit)
        }
        0b1000 if authenticated => register(false),
        0b1001 if authenticated => register(true),
        _ => Class::Other,
    }
}
