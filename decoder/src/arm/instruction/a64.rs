//! A64 (DDI 0487 C4.1): rows of bits under a mask, tried from the first to the last.
//!
//! Data transfers are not decoded: no trace of this instruction set carries data.

use super::{
    Barrier, ExceptionCall, Instruction, InstructionClass, InstructionSet, ReturnSource, TargetSource,
    WaitFor, field, is, sign,
};

/// A class of instructions whose bits under `mask` are `value`.
struct Row {
    value: u32,
    mask: u32,
    class: InstructionClass,
    /// Where the offset of a direct branch is.
    offset: Offset,
    condition: Condition,
}

/// A signed number of words: its first bit and its width; (0, 0) where there is none.
type Offset = (u32, u32);

/// Whether an instruction is conditional.
#[derive(Clone, Copy)]
enum Condition {
    Never,
    Always,
    /// The condition in bits 3:0: 1110 and 1111 hold always.
    Field,
}

const fn row(value: u32, mask: u32, class: InstructionClass) -> Row {
    Row { value, mask, class, offset: (0, 0), condition: Condition::Never }
}

const fn branch(value: u32, mask: u32, offset: Offset, condition: Condition) -> Row {
    Row { value, mask, class: InstructionClass::DirectBranch { link: false }, offset, condition }
}

const JUMP: InstructionClass =
    InstructionClass::IndirectBranch { link: false, source: TargetSource::Register };
const CALL: InstructionClass =
    InstructionClass::IndirectBranch { link: true, source: TargetSource::Register };
const RETURN: InstructionClass =
    InstructionClass::IndirectBranch { link: false, source: TargetSource::Return };
const ERET: InstructionClass = InstructionClass::ExceptionReturn(ReturnSource::Eret);
const TEXIT: InstructionClass = InstructionClass::ExceptionReturn(ReturnSource::TierExit);
const EVENT: InstructionClass = InstructionClass::Wait(WaitFor::Event);
const INTERRUPT: InstructionClass = InstructionClass::Wait(WaitFor::Interrupt);

const fn call(call: ExceptionCall) -> InstructionClass {
    InstructionClass::ExceptionCall(call)
}

const fn barrier(barrier: Barrier) -> InstructionClass {
    InstructionClass::Barrier(barrier)
}

const ROWS: [Row; 44] = [
    // B, BL
    branch(0x1400_0000, 0xfc00_0000, (0, 26), Condition::Never),
    Row {
        class: InstructionClass::DirectBranch { link: true },
        ..branch(0x9400_0000, 0xfc00_0000, (0, 26), Condition::Never)
    },
    // B.cond, BC.cond
    branch(0x5400_0000, 0xff00_0000, (5, 19), Condition::Field),
    // CBZ, CBNZ
    branch(0x3400_0000, 0x7e00_0000, (5, 19), Condition::Always),
    // TBZ, TBNZ
    branch(0x3600_0000, 0x7e00_0000, (5, 14), Condition::Always),
    // CB<cc> (register), CBB<cc>, CBH<cc>, CB<cc> (immediate)
    branch(0x7400_0000, 0x7f00_c000, (5, 9), Condition::Always),
    branch(0x7400_8000, 0xff00_c000, (5, 9), Condition::Always),
    branch(0x7400_c000, 0xff00_c000, (5, 9), Condition::Always),
    branch(0x7500_0000, 0x7f00_4000, (5, 9), Condition::Always),
    // BR, BRAAZ, BRABZ, BRAA, BRAB
    row(0xd61f_0000, 0xffff_fc1f, JUMP),
    row(0xd61f_081f, 0xffff_fc1f, JUMP),
    row(0xd61f_0c1f, 0xffff_fc1f, JUMP),
    row(0xd71f_0800, 0xffff_fc00, JUMP),
    row(0xd71f_0c00, 0xffff_fc00, JUMP),
    // BLR, BLRAAZ, BLRABZ, BLRAA, BLRAB
    row(0xd63f_0000, 0xffff_fc1f, CALL),
    row(0xd63f_081f, 0xffff_fc1f, CALL),
    row(0xd63f_0c1f, 0xffff_fc1f, CALL),
    row(0xd73f_0800, 0xffff_fc00, CALL),
    row(0xd73f_0c00, 0xffff_fc00, CALL),
    // RET; RETAA and RETAASPPCR, RETAB and RETABSPPCR; RETAASPPC, RETABSPPC
    row(0xd65f_0000, 0xffff_fc1f, RETURN),
    row(0xd65f_0be0, 0xffff_ffe0, RETURN),
    row(0xd65f_0fe0, 0xffff_ffe0, RETURN),
    row(0x5500_001f, 0xffe0_001f, RETURN),
    row(0x5520_001f, 0xffe0_001f, RETURN),
    // ERET, ERETAA, ERETAB, TEXIT
    row(0xd69f_03e0, 0xffff_ffff, ERET),
    row(0xd69f_0bff, 0xffff_ffff, ERET),
    row(0xd69f_0fff, 0xffff_ffff, ERET),
    row(0xd6ff_03e0, 0xffff_ffff, TEXIT),
    row(0xd6ff_07e0, 0xffff_ffff, TEXIT),
    // ISB, DSB, DSB nXS (four domains), DMB
    row(0xd503_30df, 0xffff_f0ff, barrier(Barrier::Isb)),
    row(0xd503_309f, 0xffff_f0ff, barrier(Barrier::Dsb)),
    row(0xd503_323f, 0xffff_f3ff, barrier(Barrier::Dsb)),
    row(0xd503_30bf, 0xffff_f0ff, barrier(Barrier::Dmb)),
    // WFE, WFI, WFET, WFIT
    row(0xd503_205f, 0xffff_ffff, EVENT),
    row(0xd503_207f, 0xffff_ffff, INTERRUPT),
    row(0xd503_1000, 0xffff_ffe0, EVENT),
    row(0xd503_1020, 0xffff_ffe0, INTERRUPT),
    // TSTART
    row(0xd523_3060, 0xffff_ffe0, InstructionClass::TransactionStart),
    // SVC, HVC, SMC, BRK, HLT, UDF
    row(0xd400_0001, 0xffe0_001f, call(ExceptionCall::Supervisor)),
    row(0xd400_0002, 0xffe0_001f, call(ExceptionCall::Hypervisor)),
    row(0xd400_0003, 0xffe0_001f, call(ExceptionCall::SecureMonitor)),
    row(0xd420_0000, 0xffe0_001f, call(ExceptionCall::Breakpoint)),
    row(0xd440_0000, 0xffe0_001f, call(ExceptionCall::Halt)),
    row(0x0000_0000, 0xffff_0000, call(ExceptionCall::Undefined)),
];

/// The instruction with this word.
pub(super) fn decode(code: u32) -> Instruction {
    let straight = Instruction::straight(InstructionSet::A64, 4);
    let Some(row) = ROWS.iter().find(|row| is(code, row.mask, row.value)) else { return straight };
    let (first, width) = row.offset;
    let offset = if width == 0 { 0 } else { sign(field(code, first, width), width) * 4 };
    let conditional = match row.condition {
        Condition::Never => false,
        Condition::Always => true,
        Condition::Field => !is(code, 0b1110, 0b1110),
    };
    Instruction { class: row.class, offset, conditional, ..straight }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No word is of two classes, so that the order of rows does not matter.
    #[test]
    fn rows_are_disjoint() {
        for (at, one) in ROWS.iter().enumerate() {
            assert_eq!(one.value & !one.mask, 0, "{:#010x}", one.value);
            for other in ROWS.iter().skip(at + 1) {
                let common = one.mask & other.mask;
                assert_ne!(one.value & common, other.value & common, "{:#x} {:#x}", one.value, other.value);
            }
        }
    }
}
