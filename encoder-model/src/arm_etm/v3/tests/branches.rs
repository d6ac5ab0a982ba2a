//! ETMv3: when branch packets go out, how short, and with which exception information.

use traceproof_vectors::arm_etm::{
    BranchTarget, Exception, Instruction, Isa, Parameters, Phantom, Policy, Stimulus,
};

use super::cycles::{plainly, v3, wire};
use crate::arm_etm::tests::{And, execute, wait};
use traceproof_vectors::Address32;

fn m_profile() -> Parameters {
    Parameters { alternative_branches: true, m_profile: true, ..v3() }
}

fn step(address: u32, isa: Isa, branch: BranchTarget) -> Stimulus {
    let instruction = Instruction {
        address: Address32(address),
        isa,
        executed: true,
        branch: Some(branch),
        ..Instruction::default()
    };
    Stimulus { instruction: Some(instruction), ..wait() }
}

fn to(address: u32, isa: Isa) -> BranchTarget {
    BranchTarget { address: Address32(address), isa, ..BranchTarget::default() }
}

fn exception(address: u32, isa: Isa, number: u16) -> BranchTarget {
    let exception = Exception { number, ..Exception::default() };
    BranchTarget { exception: Some(exception), ..to(address, isa) }
}

fn after_sync(parameters: &Parameters, cycles: &[Stimulus], sync: &str) -> String {
    let text = wire(parameters, &Policy::default(), cycles);
    text.strip_prefix(sync).expect(sync).trim_start().to_owned()
}

/// 0x8000 -> 0x8124: bits 8, 5 and 2 change, 2 bytes. Base is what was output last, 0x8124, not where execution is.
#[test]
fn indirect_branches() {
    let cycles = [execute(0x8000).branch(0x8124), execute(0x8124), execute(0x8128).branch(0x8120)];
    assert_eq!(plainly(&cycles), "08 21 00 80 00 00 84 93 01 88 11");
    // Six bits suffice for A[7:2]: 0x8120 is 0x2048, [5:0] = 8.
}

#[test]
fn direct_branches_are_silent_unless_broadcast() {
    let direct = BranchTarget { direct: true, ..to(0x8124, Isa::Arm) };
    let cycles = [step(0x8000, Isa::Arm, direct), execute(0x8124)];
    assert_eq!(plainly(&cycles), "08 21 00 80 00 00 88");
    let broadcast = Parameters { branch_broadcast: true, ..v3() };
    assert_eq!(after_sync(&broadcast, &cycles, "08 21 00 80 00 00"), "84 93 01 84");
    let phantom = Instruction {
        address: Address32(0x8124),
        executed: true,
        phantom: Some(Phantom { address: Address32(0x8000), taken: true }),
        ..Instruction::default()
    };
    let cycles = [Stimulus { instruction: Some(phantom), ..wait() }];
    assert_eq!(after_sync(&broadcast, &cycles, "08 21 00 80 00 00"), "84 93 01 84");
}

/// ETM3-BR-014: 0x8125 is Thumb 0x8124: 0x4092 = 12, 02, 02, 00 and byte 5 0001aaaa.
#[test]
fn a_change_of_state_takes_five_bytes() {
    let cycles =
        [step(0x8000, Isa::Arm, to(0x8124, Isa::Thumb)), step(0x8124, Isa::Thumb, to(0x8128, Isa::Thumb))];
    // Thumb 0x8128 is 0x4094: [5:0] = 14.
    assert_eq!(plainly(&cycles), "08 21 00 80 00 00 84 A5 82 82 80 10 84 29");
    let java = [step(0x8000, Isa::Arm, to(0x8001, Isa::Jazelle))];
    // Bits: 0x8001: [5:0] = 1; 0x8001 >> 6 = 0x200: 00, 04; byte 5 001aaaaa.
    assert_eq!(plainly(&java), "08 21 00 80 00 00 84 83 80 84 80 20");
}

/// ETM3-BR-007: 6 bits in the last byte. 0x8000 -> 0x9000 changes A[12], bit 10 of the shifted address: 2 bytes reach
/// 12 bits; 0x8000 -> 0xC000 changes bit 12: 3 bytes, in the original scheme 2.
#[test]
fn the_alternative_scheme_has_shorter_reach() {
    let sync = "08 21 00 80 00 00 84";
    let alternative = Parameters { alternative_branches: true, ..v3() };
    let near = [execute(0x8000).branch(0x9000)];
    let far = [execute(0x8000).branch(0xc000)];
    // 0x9000 >> 2 = 0x2400: [5:0] = 0, [11:6] = 0x10; 0xC000 >> 2 = 0x3000: [12:6] = 0x40, [18:13] = 1.
    assert_eq!(after_sync(&alternative, &near, sync), "81 10");
    assert_eq!(after_sync(&alternative, &far, sync), "81 C0 01");
    assert_eq!(after_sync(&v3(), &far, sync), "81 40");
}

/// E3-06.
#[test]
fn exceptions() {
    let mut irq = exception(0x18, Isa::Arm, 14);
    irq.exception = irq.exception.map(|exception| Exception { cancel: true, ..exception });
    let secure = [step(0x8000, Isa::Arm, irq), Stimulus { non_secure: true, ..execute(0x18) }];
    assert_eq!(plainly(&secure), "08 21 00 80 00 00 84 8D 80 80 80 48 3D 84");
    let sync = "08 21 21 81 00 00 84";
    let alternative = Parameters { alternative_branches: true, ..v3() };
    let thumb = |branch| [step(0x8120, Isa::Thumb, branch)];
    assert_eq!(after_sync(&alternative, &thumb(exception(0x8124, Isa::Thumb, 14)), sync), "A5 42 1C");
    let hard_fault = thumb(exception(0x200, Isa::Thumb, 19));
    assert_eq!(after_sync(&m_profile(), &hard_fault, sync), "81 84 40 86 01");
    let resumed = |number| {
        let mut branch = exception(0x200, Isa::Thumb, number);
        branch.exception = branch.exception.map(|exception| Exception { resume: Some(3), ..exception });
        thumb(branch)
    };
    assert_eq!(after_sync(&m_profile(), &resumed(24), sync), "81 84 40 90 81 43");
    assert_eq!(after_sync(&m_profile(), &resumed(5), sync), "81 84 40 8A 43");
}

/// ETM3-EXC-007: a state that changes is output with exception number 0, by the next branch packet.
#[test]
fn state_without_exception() {
    let secure = Stimulus { non_secure: true, ..execute(0x8000).branch(0x8124) };
    assert_eq!(plainly(&[secure, execute(0x8124)]), "08 29 00 80 00 00 84 93 81 81 80 48 00 84");
    let virtualization = Parameters { virtualization: true, ..v3() };
    let cycles = [execute(0x8000).branch(0x8124), Stimulus { hyp: true, ..execute(0x8124) }];
    assert_eq!(after_sync(&virtualization, &cycles, "08 21 00 80 00 00"), "84 93 81 81 80 48 80 20 84");
    // Without the extension Hyp means nothing.
    assert_eq!(after_sync(&v3(), &cycles, "08 21 00 80 00 00"), "84 93 01 84");
}

/// ETM3-EXC-010: ThumbEE is a Thumb pattern with AltISA. Before v3.3 there is none.
#[test]
fn thumbee() {
    let there = step(0x8000, Isa::Arm, to(0x8124, Isa::ThumbEe));
    let back = step(0x8124, Isa::ThumbEe, to(0x8124, Isa::Thumb));
    assert_eq!(
        plainly(&[there.clone(), back]),
        "08 21 00 80 00 00 84 A5 82 82 80 50 40 84 A5 82 82 80 50 00"
    );
    assert_eq!(plainly(&[step(0x8124, Isa::ThumbEe, to(0x8128, Isa::ThumbEe))]), "08 25 25 81 00 00 84 29");
    let old = Parameters { minor: 2, ..v3() };
    assert_eq!(after_sync(&old, &[there], "08 21 00 80 00 00"), "84 A5 82 82 80 10");
}

/// ETM3-MISC-003: after the atom, before the branch.
#[test]
fn exception_returns() {
    let mut cycle = step(0x8000, Isa::Arm, to(0x8124, Isa::Arm));
    cycle.instruction =
        cycle.instruction.map(|instruction| Instruction { exception_return: true, ..instruction });
    assert_eq!(plainly(&[cycle.clone()]), "08 21 00 80 00 00 84 76 93 01");
    let old = Parameters { minor: 4, ..v3() };
    assert_eq!(after_sync(&old, &[cycle], "08 21 00 80 00 00"), "84 93 01");
}
