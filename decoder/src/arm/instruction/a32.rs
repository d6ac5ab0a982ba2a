//! A32: ARM state (DDI 0406 A5).

use super::coprocessor;
use super::{
    Access, Barrier, ExceptionCall, Instruction, InstructionSet, ReturnSource, TargetSource, Transfers,
    WaitFor, advanced_simd, field, is, registers, sign,
};

/// The instruction with this word.
pub(super) const fn decode(code: u32) -> Instruction {
    if code >> 28 == 0xf {
        return unconditional(code);
    }
    let instruction = match field(code, 25, 3) {
        0b000 if is(code, 0x90, 0x90) => multiply_or_extra_transfer(code),
        0b000 if is(code, 0x0190_0000, 0x0100_0000) => miscellaneous(code),
        0b000 => data_processing(code),
        0b001 => immediate(code),
        0b011 if is(code, 0x10, 0x10) => media(code),
        0b010 | 0b011 => load_store(code),
        0b100 => load_store_multiple(code),
        0b101 => straight().branch(is(code, 0x0100_0000, 0x0100_0000), 8 + branch_offset(code)),
        _ if is(code, 0x0f00_0000, 0x0f00_0000) => straight().call(ExceptionCall::Supervisor),
        _ => coprocessor::decode(code, straight()),
    };
    if code >> 28 == 0xe { instruction } else { instruction.conditional() }
}

const fn straight() -> Instruction {
    Instruction::straight(InstructionSet::A32, 4)
}

/// A5.7: cond = 1111.
const fn unconditional(code: u32) -> Instruction {
    if is(code, 0xfe00_0000, 0xfa00_0000) {
        // BLX (immediate); H is bit 1 of the target.
        let half = field(code, 24, 1) as i32 * 2;
        let branch = straight().branch(true, 8 + branch_offset(code) + half);
        return Instruction { target_set: InstructionSet::T32, ..branch };
    }
    if is(code, 0xfe50_0000, 0xf810_0000) {
        // RFE
        return straight().exception_return(ReturnSource::Rfe).transfers(Transfers::words(true, 2));
    }
    if is(code, 0xfe50_0000, 0xf840_0000) {
        // SRS
        return straight().transfers(Transfers::words(false, 2));
    }
    match code & 0xfff0_00f0 {
        0xf570_0040 => return straight().barrier(Barrier::Dsb),
        0xf570_0050 => return straight().barrier(Barrier::Dmb),
        0xf570_0060 => return straight().barrier(Barrier::Isb),
        _ => {}
    }
    if is(code, 0xff10_0000, 0xf400_0000) {
        return straight().transfers(advanced_simd::element_transfers(code));
    }
    if is(code, 0xfe00_0000, 0xfc00_0000) || is(code, 0xff00_0000, 0xfe00_0000) {
        return coprocessor::decode(code, straight());
    }
    straight()
}

/// A5.2.5, A5.2.8 to A5.2.10: bits 7 and 4 set.
const fn multiply_or_extra_transfer(code: u32) -> Instruction {
    let load = is(code, 0x0010_0000, 0x0010_0000);
    let transfers = match field(code, 5, 2) {
        0 if !is(code, 0x0100_0000, 0x0100_0000) => Transfers::NONE,
        0 if is(code, 0x0080_0000, 0x0080_0000) => {
            // LDREX, STREX, and since ARMv8 LDA, STL and their like.
            let (count, size) = match field(code, 21, 2) {
                0 => (1, 4),
                1 => (2, 4),
                2 => (1, 1),
                _ => (1, 2),
            };
            Transfers::memory(load, count, size)
        }
        0 if is(code, 0x0fb0_0000, 0x0100_0000) => {
            let size = if is(code, 0x0040_0000, 0x0040_0000) { 1 } else { 4 };
            Transfers { access: Access::Swap, count: 2, size }
        }
        0 => Transfers::NONE,
        1 => Transfers::memory(load, 1, 2),
        2 if load => Transfers::memory(true, 1, 1),
        3 if load => Transfers::memory(true, 1, 2),
        // LDRD and STRD both have L = 0.
        pair => Transfers::words(pair == 2, 2),
    };
    straight().transfers(transfers)
}

/// A5.2.12: bits 24:23 = 10 without S.
const fn miscellaneous(code: u32) -> Instruction {
    match (field(code, 21, 2), field(code, 4, 4)) {
        (1, 1) => straight().indirect(false, TargetSource::Register),
        (1, 2) => straight().indirect(false, TargetSource::JazelleRegister),
        (1, 3) => straight().indirect(true, TargetSource::Register),
        (0, 7) => straight().call(ExceptionCall::Halt),
        (1, 7) => straight().call(ExceptionCall::Breakpoint),
        (2, 7) => straight().call(ExceptionCall::Hypervisor),
        (3, 7) => straight().call(ExceptionCall::SecureMonitor),
        (3, 6) if is(code, 0x0f, 0x0e) => straight().exception_return(ReturnSource::Eret),
        _ => straight(),
    }
}

/// A5.2.1 to A5.2.3: writes the register in bits 15:12, unless it only compares.
const fn data_processing(code: u32) -> Instruction {
    if is(code, 0x0180_0000, 0x0100_0000) || !is(code, 0xf000, 0xf000) {
        return straight();
    }
    if is(code, 0x0010_0000, 0x0010_0000) {
        straight().exception_return(ReturnSource::DataProcessing)
    } else {
        straight().indirect(false, TargetSource::DataProcessing)
    }
}

/// A5.2.3, A5.2.11: with an immediate; also MOVW, MOVT, MSR and hints.
const fn immediate(code: u32) -> Instruction {
    match code & 0x0fff_ffff {
        0x0320_f002 => straight().wait(WaitFor::Event),
        0x0320_f003 => straight().wait(WaitFor::Interrupt),
        _ => data_processing(code),
    }
}

/// A5.4
const fn media(code: u32) -> Instruction {
    if is(code, 0x01f0_00f0, 0x01f0_00f0) { straight().call(ExceptionCall::Undefined) } else { straight() }
}

/// A5.3
const fn load_store(code: u32) -> Instruction {
    let (load, byte) = (is(code, 0x0010_0000, 0x0010_0000), is(code, 0x0040_0000, 0x0040_0000));
    let instruction = straight().transfers(Transfers::memory(load, 1, if byte { 1 } else { 4 }));
    if load && !byte && is(code, 0xf000, 0xf000) {
        instruction.indirect(false, TargetSource::Load)
    } else {
        instruction
    }
}

/// A5.5
const fn load_store_multiple(code: u32) -> Instruction {
    let load = is(code, 0x0010_0000, 0x0010_0000);
    let instruction = straight().transfers(Transfers::words(load, registers(code)));
    match (load && is(code, 0x8000, 0x8000), is(code, 0x0040_0000, 0x0040_0000)) {
        (false, _) => instruction,
        (true, false) => instruction.indirect(false, TargetSource::Load),
        (true, true) => instruction.exception_return(ReturnSource::LoadMultiple),
    }
}

const fn branch_offset(code: u32) -> i32 {
    sign(code & 0x00ff_ffff, 24) * 4
}
