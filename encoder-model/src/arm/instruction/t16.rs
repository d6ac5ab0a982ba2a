//! T32 and T32EE, instructions of one half-word.

use traceproof_vectors::arm::{
    CodeAddress, ExceptionCall, FlowInstruction, InstructionClass as Class, InstructionSet, TargetSource,
    WaitFor,
};

use super::{bit, bits, direct, sign_extend};

const SIZE: u8 = 2;

pub(super) fn classify(at: CodeAddress, half_word: u16) -> FlowInstruction {
    let h = u32::from(half_word);
    let plain = |class| FlowInstruction::new(class, SIZE);
    // The PC is two instructions of two bytes ahead.
    let to = |offset: u64| at.plus(offset.wrapping_add(4));
    match bits(h, 15, 12) {
        0x4 => plain(special_data(h)),
        0xb if bits(h, 10, 10) == 0 && bit(h, 8) => {
            let offset = bits(h, 7, 3) << 1 | bits(h, 9, 9) << 6;
            direct(to(offset.into()), false, SIZE).with_condition(true)
        }
        0xb => plain(miscellaneous(h)),
        0xc if at.instruction_set == InstructionSet::T32Ee => plain(handler(h)),
        0xd => match bits(h, 11, 8) {
            14 => plain(Class::ExceptionCall(ExceptionCall::Undefined)),
            15 => plain(Class::ExceptionCall(ExceptionCall::Supervisor)),
            _ => {
                let offset = sign_extend(bits(h, 7, 0), 8).wrapping_mul(2);
                direct(to(offset), false, SIZE).with_condition(true)
            }
        },
        0xe => direct(to(sign_extend(bits(h, 10, 0), 11).wrapping_mul(2)), false, SIZE),
        _ => plain(Class::Other),
    }
}

/// `010001`: `ADD`, `CMP`, `MOV` of high registers, `BX`, `BLX`.
fn special_data(h: u32) -> Class {
    let to_pc = bit(h, 7) && bits(h, 2, 0) == 7;
    match bits(h, 11, 8) {
        0x4 | 0x6 if to_pc => Class::IndirectBranch { link: false, source: TargetSource::DataProcessing },
        0x7 => Class::IndirectBranch { link: bit(h, 7), source: TargetSource::Register },
        _ => Class::Other,
    }
}

fn miscellaneous(h: u32) -> Class {
    match (bits(h, 11, 8), bits(h, 7, 0)) {
        (0xd, _) => Class::IndirectBranch { link: false, source: TargetSource::Load },
        (0xe, _) => Class::ExceptionCall(ExceptionCall::Breakpoint),
        (0xa, 0x80..=0xbf) => Class::ExceptionCall(ExceptionCall::Halt),
        (0xf, hint) if hint & 0xf != 0 => Class::IfThen,
        (0xf, 0x20) => Class::Wait(WaitFor::Event),
        (0xf, 0x30) => Class::Wait(WaitFor::Interrupt),
        _ => Class::Other,
    }
}

/// What replaces `LDM` and `STM` in T32EE state.
fn handler(h: u32) -> Class {
    let link = match bits(h, 11, 8) {
        0x0 | 0x2 => false,
        0x3..=0x7 => true,
        _ => return Class::Other,
    };
    Class::IndirectBranch { link, source: TargetSource::Handler }
}
