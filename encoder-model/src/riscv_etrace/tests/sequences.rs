//! Whole traces with their bytes: the looplabel scenarios of ET 7.6.2, traps, branches, privilege changes.
//!
//! Each starts with enabling the trace, whose support packet `1f` precedes.

use traceproof_vectors::riscv_etrace::{InterruptReport, Parameters, Policy, Retire, Step};

use super::bench::{
    BRANCH, C_NOP, JALR, MRET, NOP, RET, branch, enable, encode, exception, hex, instruction, interrupt,
    path, payloads, program, small_program,
};
use traceproof_vectors::Program;

#[track_caller]
fn check(program: &Program, policy: &Policy, steps: &[Step], expected: &[&str]) {
    let steps: Vec<Step> = [enable(true)].iter().chain(steps).cloned().collect();
    let log = encode(program, &Parameters::default(), policy, &steps);
    let expected: Vec<Vec<u8>> = ["1f"].iter().chain(expected).map(|bytes| hex(bytes)).collect();
    assert_eq!(payloads(&log.wire), expected, "{:#x?}", log.packets().collect::<Vec<_>>());
    assert_eq!(log.packets().count(), expected.len());
}

#[track_caller]
fn small(steps: &[Step], expected: &[&str]) {
    check(&small_program(), &Policy::default(), steps, expected);
}

const ABCJ: [u64; 4] = [0x1000, 0x1004, 0x1008, 0x100c];

#[test]
fn q1_second_arrival_goes_on() {
    let steps = path(&[0x1000, 0x1004, 0x1008, 0x100c, 0x1004, 0x1008, 0x100c, 0x2000, 0x2004]);
    small(&steps, &["73 00 04", "0a", "fa 1f", "0a", "5f"]);
}

#[test]
fn q2_second_arrival_then_trap() {
    let steps = [path(&ABCJ), path(&[0x1004]), vec![exception(2, 0x1008)], path(&[0x3000, 0x3004])].concat();
    small(&steps, &["73 00 04", "0a 00 00 00 fc", "77 11 00 03", "0a", "5f"]);
}

#[test]
fn q3_first_arrival_then_trap() {
    let steps = [path(&[0x1000, 0x1004]), vec![exception(2, 0x1008)], path(&[0x3000, 0x3004])].concat();
    small(&steps, &["73 00 04", "0a", "77 11 00 03", "0a", "5f"]);
}

#[test]
fn q4_first_arrival_with_notify() {
    let notified = Step::Retire(Retire { notify: true, ..instruction(0x1004) });
    let after = path(&[0x1008, 0x100c, 0x1004, 0x1008, 0x100c, 0x2000, 0x2004]);
    let steps = [path(&[0x1000]), vec![notified], after].concat();
    small(&steps, &["73 00 04", "0a 00 00 00 fe", "02", "fa 1f", "0a", "5f"]);
}

#[test]
fn q5_end_on_plain_instruction() {
    small(&path(&[0x1000, 0x1004]), &["73 00 04", "0a", "5f"]);
}

#[test]
fn q6_end_on_updiscon_target() {
    let steps = path(&[0x1000, 0x1004, 0x1008, 0x100c, 0x1004]);
    small(&steps, &["73 00 04", "0a", "df 00"]);
}

#[test]
fn q7_exception_at_updiscon_target() {
    let steps = [path(&ABCJ), vec![exception(12, 0x1004)], path(&[0x3000, 0x3004])].concat();
    small(&steps, &["73 00 04", "1a", "77 46 00 01", "73 00 0c", "0a", "5f"]);
}

#[test]
fn q8_trap_after_trap() {
    let traps = vec![exception(2, 0x1008), interrupt(7)];
    let steps = [path(&[0x1000, 0x1004]), traps, path(&[0x3000, 0x3004])].concat();
    small(&steps, &["73 00 04", "0a", "77 01", "f7 1b 00 03", "0a", "5f"]);
}

#[test]
fn q9_exception_first() {
    let steps = [vec![exception(2, 0x1000)], path(&[0x3000, 0x3004])].concat();
    small(&steps, &["77 01 00 01", "73 00 0c", "0a", "5f"]);
}

#[test]
fn q10_interrupt_after_updiscon() {
    let steps = [path(&ABCJ), vec![interrupt(7)], path(&[0x3000, 0x3004])].concat();
    small(&steps, &["73 00 04", "1a", "f7 1b 00 03", "0a", "5f"]);
    let separate = Policy { interrupt_report: InterruptReport::Separate, ..Policy::default() };
    let expected = ["73 00 04", "1a", "f7 0b", "73 00 0c", "0a", "5f"];
    check(&small_program(), &separate, &steps, &expected);
}

#[test]
fn q11_full_branch_map() {
    let code = program(&[(0x1000, NOP), (0x1004, BRANCH), (0x1008, NOP), (0x100c, NOP)]);
    // All taken except #8, counted from 0.
    let branches = (0..31).map(|number| branch(0x1004, number != 8)).collect();
    let steps = [path(&[0x1000]), branches, path(&[0x1008, 0x100c])].concat();
    check(&code, &Policy::default(), &steps, &["73 00 04", "01 80 00", "1a", "5f"]);
}

#[test]
fn q12_branches_and_return() {
    let code = program(&[
        (0x1000, NOP),
        (0x1004, BRANCH),
        (0x1008, 0x0000_0c63),
        (0x1020, RET),
        (0x1100, C_NOP),
        (0x1102, C_NOP),
    ]);
    let steps = path(&[0x1000, 0x1004, 0x1008, 0x1020, 0x1100, 0x1102]);
    check(&code, &Policy::default(), &steps, &["73 00 04", "89 00 02", "06", "5f"]);
}

#[test]
fn q13_branch_and_trap_return() {
    let code = program(&[(0x1000, NOP), (0x1004, 0x0000_0663), (0x1010, MRET), (0x4000, NOP), (0x4004, NOP)]);
    let user = |address| Step::Retire(Retire { privilege: 0, ..instruction(address) });
    let steps = [path(&[0x1000, 0x1004, 0x1010]), vec![user(0x4000), user(0x4004)]].concat();
    check(&code, &Policy::default(), &steps, &["73 00 04", "05 08", "13 00 10", "0a", "5f"]);
}

/// Without branches a privilege change needs no address packet before it (RVET-ENC-020).
#[test]
fn trap_return_without_branches() {
    let code = program(&[(0x1000, NOP), (0x1004, MRET), (0x4000, NOP), (0x4004, NOP)]);
    let user = |address| Step::Retire(Retire { privilege: 0, ..instruction(address) });
    let steps = [path(&[0x1000, 0x1004]), vec![user(0x4000), user(0x4004)]].concat();
    check(&code, &Policy::default(), &steps, &["73 00 04", "13 00 10", "0a", "5f"]);
}

/// A trap return to the same level is an ordinary uninferable discontinuity (RVET-ENC-017): +0x3000.
#[test]
fn trap_return_to_the_same_level() {
    let code = program(&[(0x1000, NOP), (0x1004, MRET), (0x4000, NOP), (0x4004, NOP)]);
    // Format 2, delta +0x3000: 2 + 0x1800 * 4 = 0x6002, sign bit 0.
    let expected = ["73 00 04", "02 60", "0a", "5f"];
    check(&code, &Policy::default(), &path(&[0x1000, 0x1004, 0x4000, 0x4004]), &expected);
}

/// A synchronisation packet on a branch carries its outcome, and no map has it again (#174).
#[test]
fn branch_at_a_synchronisation_point() {
    let code = program(&[(0x1000, BRANCH), (0x1004, NOP), (0x1008, JALR)]);
    let taken = branch(0x1000, true);
    // Format 3.0 with branch 0: 0x63; then format 2 +8 (0x12) as final address.
    check(
        &code,
        &Policy::default(),
        &[vec![taken], path(&[0x1004, 0x1008])].concat(),
        &["63 00 04", "12", "5f"],
    );
    let not_taken = branch(0x1000, false);
    check(&code, &Policy::default(), &[vec![not_taken], path(&[0x1004])].concat(), &["73 00 04", "0a", "5f"]);
}

/// 31 outcomes and an address on the same branch travel together (RVET-PKT-035).
#[test]
fn full_map_with_address() {
    let code = program(&[(0x1000, NOP), (0x1004, BRANCH)]);
    let branches = (0..31).map(|_| branch(0x1004, true)).collect();
    let steps = [path(&[0x1000]), branches].concat();
    // Format 1, branches 31: 1 + 31 * 4 = 0x7d; 31 zeros of map; +4 is 2 in bits 38 up: 0x80 in byte 4.
    check(&code, &Policy::default(), &steps, &["73 00 04", "7d 00 00 00 80 00", "5f"]);
}
