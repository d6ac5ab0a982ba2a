//! T32 and T32EE, instructions of two half-words.

use traceproof_vectors::arm::{
    Barrier, CodeAddress, ExceptionCall, FlowInstruction, InstructionClass as Class, InstructionSet, Profile,
    ReturnSource, TargetSource, WaitFor,
};

use super::{a32, bit, bits, direct, sign_extend};

const SIZE: u8 = 4;
const PC: u32 = 15;
const M: Profile = Profile::Microcontroller;

pub(super) fn classify(at: CodeAddress, first: u16, second: u16, profile: Profile) -> FlowInstruction {
    let (a, b) = (u32::from(first), u32::from(second));
    let plain = |class| FlowInstruction::new(class, SIZE);
    match bits(a, 12, 11) {
        0b10 if bit(b, 15) => branch_or_control(at, a, b, profile),
        0b01 if bits(a, 10, 8) == 0b110 => plain(a32::system_barrier(a << 16 | b)),
        0b01 if bits(a, 10, 9) == 0b00 && !bit(a, 6) => plain(load_multiple(a, b, profile)),
        0b01 if bits(a, 10, 4) == 0b000_1101 && bits(b, 7, 5) == 0 => {
            plain(Class::IndirectBranch { link: false, source: TargetSource::Table })
        }
        0b11 if bits(a, 10, 8) == 0 && bits(a, 6, 4) == 0b101 && bits(b, 15, 12) == PC => {
            plain(load_word(a, b))
        }
        _ => plain(Class::Other),
    }
}

/// `LDM` with the PC, `POP`, `RFE`.
fn load_multiple(a: u32, b: u32, profile: Profile) -> Class {
    match (bit(a, 4), bits(a, 8, 7)) {
        (false, _) => Class::Other,
        (true, 0b00 | 0b11) if profile == M => Class::Other,
        (true, 0b00 | 0b11) => Class::ExceptionReturn(ReturnSource::Rfe),
        // CLRM clears registers; its bit 15 is the APSR.
        (true, 0b01) if profile == M && bits(a, 5, 0) == 0b01_1111 => Class::Other,
        (true, _) if bit(b, 15) => Class::IndirectBranch { link: false, source: TargetSource::Load },
        (true, _) => Class::Other,
    }
}

/// `LDR pc` with any addressing: 12-bit and 8-bit immediate, literal, register.
fn load_word(a: u32, b: u32) -> Class {
    let twelve_bits = bit(a, 7) || bits(a, 3, 0) == PC;
    // P and W may not both be 0.
    let eight_bits = bit(b, 11) && (bit(b, 10) || bit(b, 8));
    let register = bits(b, 11, 6) == 0;
    if twelve_bits || eight_bits || register {
        Class::IndirectBranch { link: false, source: TargetSource::Load }
    } else {
        Class::Other
    }
}

fn branch_or_control(at: CodeAddress, a: u32, b: u32, profile: Profile) -> FlowInstruction {
    let to = |offset: u64| at.plus(offset.wrapping_add(4));
    match (bit(b, 14), bit(b, 12)) {
        (false, false) if bits(a, 9, 7) == 0b111 => control(at, a, b, profile),
        (false, false) => direct(to(conditional_offset(a, b)), false, SIZE).with_condition(true),
        (false, true) => direct(to(long_offset(a, b)), false, SIZE),
        (true, true) => direct(to(long_offset(a, b)), true, SIZE),
        (true, false) if profile == M => low_overhead_loop(at, a, b),
        (true, false) if bit(b, 0) || at.instruction_set == InstructionSet::T32Ee => {
            FlowInstruction::new(Class::Other, SIZE)
        }
        (true, false) => {
            let base = at.address.wrapping_add(4) & !3;
            let address = base.wrapping_add(long_offset(a, b));
            direct(CodeAddress::new(InstructionSet::A32, address), true, SIZE)
        }
    }
}

/// S:J2:J1:imm6:imm11:0.
fn conditional_offset(a: u32, b: u32) -> u64 {
    let high = bits(a, 10, 10) << 2 | bits(b, 11, 11) << 1 | bits(b, 13, 13);
    let halves = (high << 6 | bits(a, 5, 0)) << 11 | bits(b, 10, 0);
    sign_extend(halves << 1, 21)
}

/// S:I1:I2:imm10:imm11:0, where I is J if S is 1, else its complement. Bit 1 of `BLX` is 0 because its H is.
fn long_offset(a: u32, b: u32) -> u64 {
    let sign = bits(a, 10, 10);
    let [i1, i2] = [bits(b, 13, 13), bits(b, 11, 11)].map(|j| if sign == 1 { j } else { 1 - j });
    let high = sign << 2 | i1 << 1 | i2;
    let halves = (high << 10 | bits(a, 9, 0)) << 11 | bits(b, 10, 0);
    sign_extend(halves << 1, 25)
}

/// Change of state, hints, barriers, returns, calls: \[25:23\] of the instruction are 111.
fn control(at: CodeAddress, a: u32, b: u32, profile: Profile) -> FlowInstruction {
    let plain = |class| FlowInstruction::new(class, SIZE);
    let application = profile != M;
    match (bits(a, 10, 4), bits(b, 13, 12)) {
        (0x3a, _) => plain(match (bits(b, 10, 8), bits(b, 7, 0)) {
            (0, 2) => Class::Wait(WaitFor::Event),
            (0, 3) => Class::Wait(WaitFor::Interrupt),
            _ => Class::Other,
        }),
        (0x3b, _) => match bits(b, 7, 4) {
            0 if application => state_change(at, InstructionSet::T32),
            1 if application => state_change(at, InstructionSet::T32Ee),
            4 => plain(Class::Barrier(Barrier::Dsb)),
            5 => plain(Class::Barrier(Barrier::Dmb)),
            6 => plain(Class::Barrier(Barrier::Isb)),
            _ => plain(Class::Other),
        },
        (0x3c, _) if application => {
            plain(Class::IndirectBranch { link: false, source: TargetSource::JazelleRegister })
        }
        (0x3d, _) if application && bits(b, 7, 0) == 0 => plain(Class::ExceptionReturn(ReturnSource::Eret)),
        (0x3d, _) if application => plain(Class::ExceptionReturn(ReturnSource::DataProcessing)),
        (0x7e, 0b00) if application => plain(Class::ExceptionCall(ExceptionCall::Hypervisor)),
        (0x7f, 0b00) if application => plain(Class::ExceptionCall(ExceptionCall::SecureMonitor)),
        (0x7f, 0b10) => plain(Class::ExceptionCall(ExceptionCall::Undefined)),
        _ => plain(Class::Other),
    }
}

fn state_change(at: CodeAddress, to: InstructionSet) -> FlowInstruction {
    let next = CodeAddress::new(to, at.address.wrapping_add(SIZE.into()));
    FlowInstruction::new(Class::StateChange, SIZE).with_target(next)
}

/// `WLS`, `WLSTP` forwards, `LE`, `LETP` backwards; `DLS`, `LCTP` and the branch futures have \[13\] set.
///
/// Source: ARM DDI 0553, C2.4 (T1, T2).
fn low_overhead_loop(at: CodeAddress, a: u32, b: u32) -> FlowInstruction {
    let offset = u64::from(bits(b, 10, 1) << 2 | bits(b, 11, 11) << 1);
    let pc = at.plus(4);
    let loop_end = bits(a, 3, 0) == PC && bits(a, 6, 4) <= 2;
    let target = match (bits(a, 11, 7), bits(b, 13, 12), bit(b, 0)) {
        (0, 0, true) if loop_end => pc.plus(offset.wrapping_neg()),
        (0, 0, true) if bits(a, 3, 0) != PC && bits(a, 6, 4) <= 4 => pc.plus(offset),
        _ => return FlowInstruction::new(Class::Other, SIZE),
    };
    // LE without LR never stops.
    let counts = !(loop_end && bits(a, 6, 4) == 2);
    FlowInstruction::new(Class::LowOverheadLoop, SIZE).with_condition(counts).with_target(target)
}
