//! The 16-bit encodings of Thumb and ThumbEE (DDI 0406 A6.2, A9.3), and Thumb before ARMv6T2, which had no others.

use super::{
    ExceptionCall, Instruction, InstructionClass, InstructionSet, TargetSource, Transfers, WaitFor, field,
    is, registers, sign,
};

/// The instruction with this half-word, which does not start a 32-bit one.
pub(super) const fn decode(half: u16, set: InstructionSet) -> Instruction {
    let code = half as u32;
    let straight = Instruction::straight(set, 2);
    match code >> 11 {
        0b01000 if is(code, 0x0400, 0x0400) => special(code, straight),
        0b01001 | 0b01101 | 0b10011 => straight.transfers(Transfers::words(true, 1)),
        0b01010 | 0b01011 => straight.transfers(register_offset(code)),
        0b01100 | 0b10010 => straight.transfers(Transfers::words(false, 1)),
        0b01110 => straight.transfers(Transfers::memory(false, 1, 1)),
        0b01111 => straight.transfers(Transfers::memory(true, 1, 1)),
        0b10000 => straight.transfers(Transfers::memory(false, 1, 2)),
        0b10001 => straight.transfers(Transfers::memory(true, 1, 2)),
        0b10110 | 0b10111 => miscellaneous(code, straight),
        0b11000 | 0b11001 if matches!(set, InstructionSet::ThumbEe) => handler(code, straight),
        0b11000 => straight.transfers(Transfers::words(false, registers(code & 0xff))),
        0b11001 => straight.transfers(Transfers::words(true, registers(code & 0xff))),
        0b11010 | 0b11011 => match field(code, 8, 4) {
            0xe => straight.call(ExceptionCall::Undefined),
            0xf => straight.call(ExceptionCall::Supervisor),
            _ => straight.branch(false, 4 + sign(code & 0xff, 8) * 2).conditional(),
        },
        0b11100 => straight.branch(false, 4 + sign(code & 0x7ff, 11) * 2),
        _ => straight,
    }
}

/// Thumb before ARMv6T2: BL and BLX are two instructions. `previous` is the half-word before it.
pub(super) const fn decode_before_t32(half: u16, previous: Option<u16>) -> Instruction {
    let code = half as u32;
    let straight = Instruction::straight(InstructionSet::T16, 2);
    let blx = match code >> 11 {
        // The first half puts an address into LR.
        0b11110 => return straight,
        0b11111 => false,
        0b11101 if is(code, 1, 0) => true,
        0b11101 => return straight.call(ExceptionCall::Undefined),
        _ => return decode(half, InstructionSet::T16),
    };
    match previous {
        Some(first) if first >> 11 == 0b11110 => {
            // LR = address of the first half + 4 + its 11 bits, moved up by 12; this half lies 2 bytes on.
            let offset = 2 + sign(first as u32 & 0x7ff, 11) * 0x1000 + (code & 0x7ff) as i32 * 2;
            let branch = straight.branch(true, offset);
            if blx {
                Instruction { target_set: InstructionSet::A32, aligned: true, ..branch }
            } else {
                branch
            }
        }
        // What LR holds is not known.
        _ => straight.indirect(true, TargetSource::Register),
    }
}

/// A6.2.3: ADD, CMP and MOV with high registers, BX, BLX.
const fn special(code: u32, straight: Instruction) -> Instruction {
    let to_pc = is(code, 0x87, 0x87);
    match field(code, 8, 2) {
        0 | 2 if to_pc => straight.indirect(false, TargetSource::DataProcessing),
        3 => straight.indirect(is(code, 0x80, 0x80), TargetSource::Register),
        _ => straight,
    }
}

/// A6.2.4: bits 15:12 = 0101.
const fn register_offset(code: u32) -> Transfers {
    match field(code, 9, 3) {
        0 => Transfers::words(false, 1),
        1 => Transfers::memory(false, 1, 2),
        2 => Transfers::memory(false, 1, 1),
        4 => Transfers::words(true, 1),
        3 | 6 => Transfers::memory(true, 1, 1),
        _ => Transfers::memory(true, 1, 2),
    }
}

/// A6.2.5
const fn miscellaneous(code: u32, straight: Instruction) -> Instruction {
    if is(code, 0xf500, 0xb100) {
        // CBZ, CBNZ: forwards only.
        let offset = field(code, 9, 1) << 6 | field(code, 3, 5) << 1;
        return straight.branch(false, 4 + offset as i32).conditional();
    }
    match field(code, 8, 4) {
        // PUSH; bit 8 is LR.
        0x4 | 0x5 => straight.transfers(Transfers::words(false, registers(code & 0x1ff))),
        // POP; bit 8 is PC.
        0xc => straight.transfers(Transfers::words(true, registers(code & 0xff))),
        0xd => {
            let transfers = Transfers::words(true, registers(code & 0x1ff));
            straight.indirect(false, TargetSource::Load).transfers(transfers)
        }
        0xa if is(code, 0xc0, 0x80) => straight.call(ExceptionCall::Halt),
        0xe => straight.call(ExceptionCall::Breakpoint),
        0xf if code & 0xf != 0 => straight.class(InstructionClass::IfThen),
        0xf if field(code, 4, 4) == 2 => straight.wait(WaitFor::Event),
        0xf if field(code, 4, 4) == 3 => straight.wait(WaitFor::Interrupt),
        _ => straight,
    }
}

/// A9.3: what ThumbEE has in place of LDM and STM. Handlers are found through TEEHBR, which no opcode shows.
const fn handler(code: u32, straight: Instruction) -> Instruction {
    match field(code, 8, 4) {
        // HBP, HB
        0x0 | 0x2 => straight.indirect(false, TargetSource::Handler),
        // HBL, HBLP
        0x3..=0x7 => straight.indirect(true, TargetSource::Handler),
        // LDR: array, literal pool, negative offset
        0x8 | 0x9 | 0xb | 0xc | 0xd => straight.transfers(Transfers::words(true, 1)),
        // STR: frame
        0xe | 0xf => straight.transfers(Transfers::words(false, 1)),
        // CHKA, undefined
        _ => straight,
    }
}
