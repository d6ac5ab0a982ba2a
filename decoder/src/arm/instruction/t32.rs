//! The 32-bit encodings of Thumb (DDI 0406 A6.3).

use super::{
    Barrier, ExceptionCall, Instruction, InstructionClass, InstructionSet, ReturnSource, TargetSource,
    Transfers, WaitFor, advanced_simd, coprocessor, field, is, registers, sign,
};

/// Whether this half-word is the first one of a 32-bit instruction.
pub(super) const fn is_wide(first: u16) -> bool {
    first >> 11 >= 0b11101
}

/// The instruction with this first half-word in bits 31:16 and the second in bits 15:0.
pub(super) fn decode(code: u32, set: InstructionSet) -> Instruction {
    let straight = Instruction::straight(set, 4);
    match field(code, 25, 4) {
        // 1110 100
        0b0100 if is(code, 0x0040_0000, 0) => load_store_multiple(code, straight),
        0b0100 => dual_exclusive_or_table(code, straight),
        // 111x 110, 111x 111 but Advanced SIMD data processing
        0b0110 | 0b1110 => coprocessor::decode(code, straight),
        0b0111 | 0b1111 if is(code, 0x0100_0000, 0) => coprocessor::decode(code, straight),
        // 1111 0
        0b1000..=0b1011 if is(code, 0x8000, 0x8000) => branch_or_miscellaneous(code, straight),
        // 1111 100
        0b1100 => load_store(code, straight),
        _ => straight,
    }
}

/// A6.3.5: LDM, STM, RFE, SRS.
const fn load_store_multiple(code: u32, straight: Instruction) -> Instruction {
    let load = is(code, 0x0010_0000, 0x0010_0000);
    if matches!(field(code, 23, 2), 0b00 | 0b11) {
        let instruction = straight.transfers(Transfers::words(load, 2));
        return if load { instruction.exception_return(ReturnSource::Rfe) } else { instruction };
    }
    if is(code, 0xffff_0000, 0xe89f_0000) {
        // CLRM (ARMv8.1-M): clears registers; LDM cannot have the PC as its base.
        return straight;
    }
    let instruction = straight.transfers(Transfers::words(load, registers(code)));
    if load && is(code, 0x8000, 0x8000) {
        instruction.indirect(false, TargetSource::Load)
    } else {
        instruction
    }
}

/// A6.3.6
const fn dual_exclusive_or_table(code: u32, straight: Instruction) -> Instruction {
    let load = is(code, 0x0010_0000, 0x0010_0000);
    if code == 0xe97f_e97f {
        // SG (ARMv8-M)
        return straight;
    }
    if is(code, 0x0120_0000, 0) {
        if is(code, 0x0080_0000, 0) {
            // STREX, LDREX; TT (ARMv8-M) is where STREX would store the PC.
            let test = !load && is(code, 0xf000, 0xf000);
            return if test { straight } else { straight.transfers(Transfers::words(load, 1)) };
        }
        return match field(code, 4, 4) {
            0 if load => table_branch(straight, 1),
            1 if load => table_branch(straight, 2),
            // Exclusive; then acquire and release, and both (ARMv8).
            0x4 | 0x8 | 0xc => straight.transfers(Transfers::memory(load, 1, 1)),
            0x5 | 0x9 | 0xd => straight.transfers(Transfers::memory(load, 1, 2)),
            0xa | 0xe => straight.transfers(Transfers::words(load, 1)),
            0x7 | 0xf => straight.transfers(Transfers::words(load, 2)),
            _ => straight,
        };
    }
    straight.transfers(Transfers::words(load, 2))
}

const fn table_branch(straight: Instruction, size: u8) -> Instruction {
    straight.indirect(false, TargetSource::Table).transfers(Transfers::memory(true, 1, size))
}

/// A6.3.4
fn branch_or_miscellaneous(code: u32, straight: Instruction) -> Instruction {
    match code & 0x5000 {
        0x0000 if !is(code, 0x0380_0000, 0x0380_0000) => {
            straight.branch(false, 4 + conditional_offset(code)).conditional()
        }
        0x0000 => miscellaneous(code, straight),
        0x1000 => straight.branch(false, 4 + offset(code)),
        0x5000 => straight.branch(true, 4 + offset(code)),
        // In ThumbEE state BLX is undefined.
        _ if is(code, 1, 0) && matches!(straight.target_set, InstructionSet::ThumbEe) => straight,
        _ if is(code, 1, 0) => {
            let branch = straight.branch(true, 4 + offset(code));
            Instruction { target_set: InstructionSet::A32, aligned: true, ..branch }
        }
        _ => low_overhead_loop(code, straight),
    }
}

/// A6.3.4: bits 25:23 = 111.
const fn miscellaneous(code: u32, straight: Instruction) -> Instruction {
    match field(code, 20, 7) {
        // Hints; where bits 10:8 are not 0, CPS.
        0x3a if code & 0x27ff == 2 => straight.wait(WaitFor::Event),
        0x3a if code & 0x27ff == 3 => straight.wait(WaitFor::Interrupt),
        0x3b => match field(code, 4, 4) {
            0 => change_state(straight, InstructionSet::T32),
            1 => change_state(straight, InstructionSet::ThumbEe),
            4 => straight.barrier(Barrier::Dsb),
            5 => straight.barrier(Barrier::Dmb),
            6 => straight.barrier(Barrier::Isb),
            _ => straight,
        },
        // BXJ
        0x3c => straight.indirect(false, TargetSource::JazelleRegister),
        // SUBS PC, LR, #n; ERET
        0x3d if is(code, 0xff, 0) => straight.exception_return(ReturnSource::Eret),
        0x3d => straight.exception_return(ReturnSource::DataProcessing),
        0x7e if is(code, 0x2000, 0) => straight.call(ExceptionCall::Hypervisor),
        0x7f if is(code, 0x2000, 0) => straight.call(ExceptionCall::SecureMonitor),
        0x7f => straight.call(ExceptionCall::Undefined),
        _ => straight,
    }
}

/// ENTERX, LEAVEX: execution continues after them in another state.
const fn change_state(straight: Instruction, set: InstructionSet) -> Instruction {
    Instruction { class: InstructionClass::StateChange, offset: 4, target_set: set, ..straight }
}

/// ARMv8.1-M: what is undefined on other processors.
fn low_overhead_loop(code: u32, straight: Instruction) -> Instruction {
    let branch = |offset| Instruction { class: InstructionClass::LowOverheadLoop, offset, ..straight };
    let distance = (field(code, 1, 10) << 2 | field(code, 11, 1) << 1) as i32;
    match code & 0xfff0_f001 {
        // LE LR; LE, which always branches; LETP
        0xf000_c001 if matches!(field(code, 16, 4), 0xf) => branch(4 - distance).conditional(),
        0xf020_c001 if matches!(field(code, 16, 4), 0xf) => branch(4 - distance),
        0xf010_c001 if matches!(field(code, 16, 4), 0xf) => branch(4 - distance).conditional(),
        // With R15 these are other, unallocated encodings (ARM DDI 0553, C2.4).
        _ if matches!(field(code, 16, 4), 0xf) => straight,
        // WLSTP, WLS
        0xf000_c001 | 0xf010_c001 | 0xf020_c001 | 0xf030_c001 | 0xf040_c001 => {
            branch(4 + distance).conditional()
        }
        _ => straight,
    }
}

/// A6.3.7 to A6.3.10, A7.7
const fn load_store(code: u32, straight: Instruction) -> Instruction {
    let load = is(code, 0x0010_0000, 0x0010_0000);
    let signed = is(code, 0x0100_0000, 0x0100_0000);
    if signed && !load {
        return straight.transfers(advanced_simd::element_transfers(code));
    }
    let literal = load && is(code, 0x000f_0000, 0x000f_0000);
    let long_offset = literal || is(code, 0x0080_0000, 0x0080_0000);
    // With neither a long offset nor an 8-bit one there is a shifted register, and bits 10:6 are 0.
    if !long_offset && is(code, 0x0800, 0) && !is(code, 0x07c0, 0) {
        return straight;
    }
    // An 8-bit offset is added before the access, or the base is written, or both.
    if !long_offset && is(code, 0x0d00, 0x0800) {
        return straight;
    }
    let to_pc = is(code, 0xf000, 0xf000);
    match field(code, 21, 2) {
        // PLD, PLDW, PLI and hints are where a byte or half-word would go to the PC.
        0 | 1 if load && to_pc => straight,
        0 => straight.transfers(Transfers::memory(load, 1, 1)),
        1 => straight.transfers(Transfers::memory(load, 1, 2)),
        2 if signed => straight,
        2 if load && to_pc => {
            straight.indirect(false, TargetSource::Load).transfers(Transfers::words(true, 1))
        }
        2 => straight.transfers(Transfers::words(load, 1)),
        _ => straight,
    }
}

/// B<c>.W: S:J2:J1:imm6:imm11:0.
const fn conditional_offset(code: u32) -> i32 {
    let value = field(code, 26, 1) << 20
        | field(code, 11, 1) << 19
        | field(code, 13, 1) << 18
        | field(code, 16, 6) << 12
        | field(code, 0, 11) << 1;
    sign(value, 21)
}

/// B.W, BL, BLX: S:I1:I2:imm10:imm11:0, where I1 and I2 are J1 and J2, inverted unless S.
const fn offset(code: u32) -> i32 {
    let s = field(code, 26, 1);
    let value = s << 24
        | (field(code, 13, 1) ^ s ^ 1) << 23
        | (field(code, 11, 1) ^ s ^ 1) << 22
        | field(code, 16, 10) << 12
        | field(code, 0, 11) << 1;
    sign(value, 25)
}
