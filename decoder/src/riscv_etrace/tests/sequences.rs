//! Worked sequences: what retired, from the packets that a model of the specification's encoder sends.

use alloc::vec::Vec;

use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::{Modes, Parameters};

use super::{JUMP, LOOP, MRET, NOP, RET, frame, pack, parcels, program, summary, summary_of};
use crate::riscv_etrace::ProgramMap;

/// A, B, C and an indirect jump at 0x1000; places to go to at 0x2000 and 0x3000.
fn abcj() -> Program {
    program(&[(0x1000, &[NOP, NOP, NOP, JUMP]), (0x2000, &[NOP; 4]), (0x3000, &[NOP; 4])])
}

/// Decodes, also with a support packet and nulls before it.
fn check(name: &str, program: &Program, payloads: &[&str], expected: &str) {
    let parameters = Parameters::default();
    assert_eq!(summary(&parameters, program, payloads), expected, "{name}");
    let with_support: Vec<&str> = core::iter::once("1f").chain(payloads.iter().copied()).collect();
    assert_eq!(summary(&parameters, program, &with_support), expected, "{name} with support");
    let mut wire = alloc::vec![0x00, 0x80];
    for payload in payloads {
        wire.extend(frame(&[payload]));
        wire.extend([0x00, 0x80]);
    }
    let log = super::decode(&parameters, program, &wire);
    assert_eq!(summary_of(&ProgramMap::new(program, &parameters), &log), expected, "{name} with nulls");
}

#[test]
fn loop_labels() {
    check(
        "Q1",
        &abcj(),
        &["73 00 04", "0a", "fa 1f", "0a", "5f"],
        "P3 1000 1004 1008 100c 1004 1008 100c 2000 2004 end",
    );
    check(
        "Q2",
        &abcj(),
        &["73 00 04", "0a 00 00 00 fc", "77 11 00 03", "0a", "5f"],
        "P3 1000 1004 1008 100c 1004 E2@1008 P3 3000 3004 end",
    );
    check(
        "Q3",
        &abcj(),
        &["73 00 04", "0a", "77 11 00 03", "0a", "5f"],
        "P3 1000 1004 E2@1008 P3 3000 3004 end",
    );
    check(
        "Q4",
        &abcj(),
        &["73 00 04", "0a 00 00 00 fe", "02", "fa 1f", "0a", "5f"],
        "P3 1000 1004 1008 100c 1004 1008 100c 2000 2004 end",
    );
    check("Q5", &abcj(), &["73 00 04", "0a", "5f"], "P3 1000 1004 end");
    check("Q6", &abcj(), &["73 00 04", "0a", "df 00"], "P3 1000 1004 1008 100c 1004 end");
}

#[test]
fn traps() {
    check(
        "Q7",
        &abcj(),
        &["73 00 04", "1a", "77 46 00 01", "73 00 0c", "0a", "5f"],
        "P3 1000 1004 1008 100c E12@1004 P3 3000 3004 end",
    );
    check(
        "Q8",
        &abcj(),
        &["73 00 04", "0a", "77 01", "f7 1b 00 03", "0a", "5f"],
        "P3 1000 1004 E2@1008 I7 P3 3000 3004 end",
    );
    check("Q9", &abcj(), &["77 01 00 01", "73 00 0c", "0a", "5f"], "E2@1000 P3 3000 3004 end");
    check(
        "Q10T",
        &abcj(),
        &["73 00 04", "1a", "f7 1b 00 03", "0a", "5f"],
        "P3 1000 1004 1008 100c I7 P3 3000 3004 end",
    );
    check(
        "Q10F",
        &abcj(),
        &["73 00 04", "1a", "f7 0b", "73 00 0c", "0a", "5f"],
        "P3 1000 1004 1008 100c I7 P3 3000 3004 end",
    );
}

/// Q11 with 31 branches one after the other: each skips a nop when it is taken.
#[test]
fn a_full_map_without_address() {
    // beq x0, x0, .+8; nop
    let code: Vec<u32> =
        core::iter::once(NOP).chain([0x0000_0463, NOP].repeat(31)).chain([NOP, NOP]).collect();
    let mut expected = alloc::string::String::from("P3 1000");
    for branch in 0..31_u64 {
        let address = 0x1004 + 8 * branch;
        expected += &alloc::format!(" {address:x}");
        if branch == 8 {
            expected += &alloc::format!(" {:x}", address + 4);
        }
    }
    // The last target is 0x10fc; 0x1100 is reported.
    expected += " 10fc 1100 end";
    check("Q11", &program(&[(0x1000, &code)]), &["73 00 04", "01 80 00", "02 02", "5f"], &expected);
}

#[test]
fn branches_and_returns() {
    // c.beqz forms would do as well: beq .+8 not taken, beq .+0x18 taken to ret at 0x1020, two c.nop at 0x1100.
    let program = parcels(&[
        (0x1000, &[0x0013, 0, 0x0463, 0, 0x0c63, 0]),
        (0x1020, &[0x8067, 0x0000]),
        (0x1100, &[0x0001, 0x0001]),
    ]);
    check("Q12", &program, &["73 00 04", "89 00 02", "06", "5f"], "P3 1000 1004 1008 1020 1100 1102 end");
}

#[test]
fn trap_returns() {
    // beq .+0xc
    let program = program(&[(0x1000, &[NOP, 0x0000_0663, NOP, NOP, MRET]), (0x4000, &[NOP, NOP])]);
    check(
        "Q13",
        &program,
        &["73 00 04", "05 08", "13 00 10", "0a", "5f"],
        "P3 1000 1004 1010 P0 4000 4004 end",
    );
}

/// The successor rule: an unflagged report of a loop label directly before a start packet.
#[test]
fn a_start_packet_after_a_provisional_stop() {
    let program = abcj();
    // The reported instruction B is followed by C: first arrival.
    check("successor", &program, &["73 00 04", "0a", "73 02 04"], "P3 1000 1004 P3 1008");
    // It is not followed by J: the second arrival at B was reported, then the start packet came on the way.
    check(
        "later instruction",
        &program,
        &["73 00 04", "0a", "73 03 04"],
        "P3 1000 1004 1008 100c 1004 1008 P3 100c",
    );
    // At an updiscon anything may follow: J itself was reported.
    check("after an updiscon", &program, &["73 00 04", "1a", "73 00 08"], "P3 1000 1004 1008 100c P3 2000");
    // Another level, without a trap return at hand: second arrival, and only a discontinuity leads on.
    check(
        "other privilege",
        &program,
        &["73 00 04", "0a", "33 00 08"],
        "P3 1000 1004 1008 100c 1004 1008 100c P1 2000",
    );
}

#[test]
fn context_and_support_leave_a_provisional_stop_pending() {
    check(
        "context, then second arrival",
        &abcj(),
        &["73 00 04", "0a", "1b", "1f", "fa 1f", "5f"],
        "P3 1000 1004 C1 1008 100c 1004 1008 100c 2000 end",
    );
    check("lost", &abcj(), &["73 00 04", "0a", "9f 00"], "P3 1000 1004 lost");
}

#[test]
fn a_resynchronisation_walks_to_its_address() {
    check("same level", &abcj(), &["73 00 04", "73 02 04"], "P3 1000 1004 P3 1008");
    // The flow meets 0x1008 once, but only mret may change the level.
    let program = program(&[(0x1000, &[NOP, NOP, NOP, MRET])]);
    check("level changes", &program, &["73 00 04", "13 02 04"], "P3 1000 1004 1008 100c P0 1008");
}

#[test]
fn a_start_packet_carries_the_outcome_of_its_branch() {
    // nop; beq .+8; nop; nop
    let code = program(&[(0x1000, &[NOP, 0x0000_0463, NOP, NOP])]);
    // 3.0 at the branch, taken and not taken, then the address of the last nop.
    check("taken", &code, &["63 01 04", "12"], "P3 1004 100c");
    check("not taken", &code, &["73 01 04", "12"], "P3 1004 1008 100c");
    // Resynchronisation on it.
    check("resync taken", &code, &["73 00 04", "63 01 04", "12"], "P3 1000 P3 1004 100c");
}

#[test]
fn epc_of_a_branch_follows_its_pending_outcome() {
    let code = program(&[(0x1000, &[NOP, 0x0000_0463, NOP, NOP]), (0x3000, &[NOP])]);
    // The branch at 0x1004 is reported with its outcome, then an exception comes.
    for (payload, epc) in [("05 02", "100c"), ("85 02", "1008")] {
        let summary = summary(&Parameters::default(), &code, &["73 00 04", payload, "77 11 00 03"]);
        assert_eq!(summary, alloc::format!("P3 1000 1004 E2@{epc} P3 3000"));
    }
}

#[test]
fn chained_traps() {
    // Exception after ordinary code, then one at the handler's first instruction, then an interrupt.
    check(
        "next",
        &abcj(),
        &["73 00 04", "0a", "77 01 00 03", "17 03 00 03", "f7 1b 00 02", "5f"],
        "P3 1000 1004 E2@1008 E6@3000 I7 P3 2000 end",
    );
    // At the target of an updiscon, then at the handler: both have their own.
    check(
        "own",
        &abcj(),
        &["73 00 04", "1a", "77 46 00 01", "77 01 00 03", "73 00 08", "5f"],
        "P3 1000 1004 1008 100c E12@1004 E2@3000 P3 2000 end",
    );
    // Interrupt after an updiscon, then an exception: an encoder that reports like this outputs the address before
    // it...
    check(
        "variant T",
        &abcj(),
        &["73 00 04", "1a", "f7 0b 00 03", "77 11 00 02", "5f"],
        "P3 1000 1004 1008 100c I7 E2@3000 P3 2000 end",
    );
    // ...and who reports like that may mean either.
    check(
        "uncertain",
        &abcj(),
        &["73 00 04", "1a", "f7 0b 00 03", "77 01 00 03", "73 00 08", "5f"],
        "P3 1000 1004 1008 100c I7 E2@? P3 2000 end",
    );
}

#[test]
fn a_trace_may_begin_with_a_handler() {
    check("handler", &abcj(), &["77 11 00 03", "0a"], "E2@? P3 3000 3004");
}

#[test]
fn full_addresses_and_64_bits() {
    let parameters = Parameters {
        xlen: traceproof_vectors::riscv_etrace::Xlen::Rv64,
        iaddress_width_p: 64,
        modes: Modes { full_address: true, ..Modes::default() },
        ..Parameters::default()
    };
    let base = 0xffff_ffff_8000_0000;
    let code = program(&[(base, &[NOP, JUMP]), (0x1_0000_0000, &[NOP; 3])]);
    let start = pack(&[(3, 2), (0, 2), (1, 1), (3, 2), (base >> 1, 63)]);
    let jump = pack(&[(2, 2), (0x1_0000_0004 >> 1, 63), (0, 3)]);
    assert_eq!(
        summary(&parameters, &code, &[&start, &jump, "1f", "0a"]),
        // The support packet switches to differences.
        "P3 ffffffff80000000 ffffffff80000004 100000004 100000008"
    );
}

#[test]
fn addresses_wrap() {
    let code = program(&[(0, &[NOP, NOP]), (0xffff_fff8, &[NOP, NOP])]);
    let start = pack(&[(3, 2), (0, 2), (1, 1), (3, 2), (0xffff_fff8 >> 1, 31)]);
    // X30 and its like: +0xc
    check("over the top", &code, &[&start, "1a"], "P3 fffffff8 fffffffc 0 4");
}

#[test]
fn instructions_may_overlap() {
    // From 0x1000: lui x0 (0x0001_0037 as two parcels), whose second half is c.nop; then c.nop, c.nop.
    let code = parcels(&[(0x1000, &[0x0037, 0x0001, 0x0001, 0x0001, 0x8082]), (0x2000, &[0x0001])]);
    // From 0x1000 the half-word 0x1002 is not met; c.jr x1 leads there.
    let second = pack(&[(2, 2), (1, 31), (0, 3)]);
    check("passed over", &code, &["73 00 04", &second, "06"], "P3 1000 1004 1006 1008 1002 1004");
    // Starting at 0x1002, where it is met.
    check("met", &code, &["f3 00 04", "06"], "P3 1002 1004");
}

/// Q14 to Q17 are in [`super::modes`]; this is the self-loop that they use.
#[test]
fn a_branch_to_itself() {
    let code = program(&[(0x1000, &[NOP, LOOP, NOP, RET])]);
    // Three taken, one not: 0x1008.
    let map = pack(&[(1, 2), (4, 5), (0b1000, 7), (8 >> 1, 31), (0, 3)]);
    check("self", &code, &["73 00 04", &map], "P3 1000 1004 1004 1004 1004 1008");
}
