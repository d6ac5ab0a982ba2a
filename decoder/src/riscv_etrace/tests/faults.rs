//! Faults of broken or impossible streams: classes, places, and how decoding goes on.

use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Modes, Parameters};
use traceproof_vectors::{Address, Decoder as _, Entry, Log, Program, Refusal};

use super::{JUMP, LOOP, NOP, STAY, bytes, decode, pack, parcels, program, summary, summary_of};
use crate::riscv_etrace::{Decoder, ProgramMap};

fn abcj() -> Program {
    program(&[(0x1000, &[NOP, NOP, NOP, JUMP]), (0x2000, &[NOP; 4]), (0x3000, &[NOP; 4])])
}

fn check(code: &Program, payloads: &[&str], expected: &str) {
    assert_eq!(summary(&Parameters::default(), code, payloads), expected);
}

#[test]
fn nothing_is_known_before_synchronisation() {
    check(
        &abcj(),
        &["0a", "01", "1b", "73 00 04", "0a"],
        "not-synchronised@0:1.0 not-synchronised@1:3.0 C1 P3 1000 1004",
    );
    check(&abcj(), &["73 00 04", "5f", "0a"], "P3 1000 end not-synchronised@2:7.0");
}

#[test]
fn only_traps_and_starts_follow_an_open_chain() {
    check(
        &abcj(),
        &["73 00 04", "0a", "77 01", "0a", "0a", "73 00 04"],
        "P3 1000 1004 E2@1008 illegal-in-state@3:10.0 not-synchronised@4:12.0 P3 1000",
    );
}

#[test]
fn outcomes_must_fit_the_branches() {
    let code = program(&[(0x1000, &[NOP, 0x0000_0463, NOP, JUMP]), (0x2000, &[NOP, LOOP])]);
    // Address 0x1008 is two instructions on, after a branch for which there is no outcome.
    check(&code, &["73 00 04", "12"], "P3 1000 1004 missing-outcome@1:5.0");
    // Two taken outcomes, one branch on the way to the jump.
    let two = pack(&[(1, 2), (2, 5), (0, 3), (0x1000 >> 1, 31), (0, 3)]);
    check(&code, &["73 00 04", &two], "P3 1000 1004 100c 2000 leftover-outcome@1:5.0");
    // The target is a branch and there is no outcome for it.
    let one = pack(&[(1, 2), (1, 5), (0, 1), (0x1004 >> 1, 31), (0, 3)]);
    check(&code, &["73 00 04", &one], "P3 1000 1004 100c 2004 missing-outcome@1:5.0");
    // 31 outcomes, but an indirect jump after the first branch.
    check(&code, &["73 00 04", "01", "73 00 08"], "P3 1000 1004 100c unexpected-discontinuity@1:5.0 P3 2000");
    // A start packet at the target of a jump with an outcome to spare: the branch at 0x1004 is reported with
    // two outcomes. It is met with one left, so the walk goes on and ends at the jump's target.
    let spare = pack(&[(1, 2), (1, 5), (0, 1), (4 >> 1, 31), (0, 3)]);
    check(&code, &["73 00 04", &spare, "73 00 08"], "P3 1000 1004 100c P3 2000");
}

#[test]
fn code_must_be_there() {
    let code = program(&[(0x1000, &[NOP, NOP]), (0x1010, &[JUMP]), (0x3000, &[NOP])]);
    // 0x1008 and on is missing.
    check(&code, &["73 00 04", "1a"], "P3 1000 1004 no-code@1:5.0");
    check(&code, &["73 00 08", "73 00 04"], "P3 no-code@0:1.0 P3 1000");
    check(&code, &["77 11 00 02"], "E2@? P3 no-code@0:1.0");
    // To the jump at 0x1010, and on to 0x2000.
    check(&code, &["73 04 04", "c2 1f"], "P3 1010 no-code@1:5.0");
    check(&code, &["73 04 04", "73 00 08"], "P3 1010 P3 no-code@1:5.0");
    let log = decode(&Parameters::default(), &code, &bytes("03 73 00 04 01 1a"));
    assert_eq!(log.faults().next().and_then(|fault| fault.address), Some(Address(0x1008)));
}

#[test]
fn bytes_of_no_legal_length_are_no_code() {
    let code = parcels(&[(0x1000, &[0x0001, 0x001f, 0x0001])]);
    check(&code, &["73 00 04", "0a"], "P3 1000 no-code@1:5.0");
}

#[test]
fn circles_without_outcomes_end() {
    let code = program(&[(0x1000, &[NOP, STAY]), (0x2000, &[NOP, 0xffdf_f06f]), (0x3000, &[NOP])]);
    // The jump is followed once, and met again.
    check(&code, &["73 00 04", "c2 1f"], "P3 1000 1004 1004 limit@1:5.0");
    check(&code, &["73 01 04", "c2 1f"], "P3 1004 1004 limit@1:5.0");
    // jal .-4 at 0x2004
    check(&code, &["73 00 08", "82 3f"], "P3 2000 2004 2000 2004 limit@1:5.0");
    check(&code, &["73 00 08", "01"], "P3 2000 2004 2000 2004 limit@1:5.0");
    // What lies on the loop is found in the first iteration.
    check(&code, &["73 01 08", "fa"], "P3 2004 2000");
}

#[test]
fn an_exception_after_a_jump_needs_its_address() {
    check(
        &abcj(),
        &["73 00 04", "1a", "77 11 00 03", "73 00 04"],
        "P3 1000 1004 1008 100c E2@? missing-address@2:7.0 P3 1000",
    );
}

#[test]
fn oddities_do_not_stop_decoding() {
    // `branch` = 0 at a nop; privilege 2.
    check(&abcj(), &["63 00 04", "0a"], "suspicious@0:1.4 P3 1000 1004");
    check(&abcj(), &["53 00 04", "0a"], "suspicious@0:1.5 P2 1000 1004");
    check(&abcj(), &["eb"], "suspicious@0:1.4 C2");
    check(&abcj(), &["67 11 00 03"], "suspicious@0:1.4 E2@? P3 3000");
    let wide = Parameters { privilege_width_p: 3, ..Parameters::default() };
    let start = pack(&[(3, 2), (0, 2), (1, 1), (7, 3), (0x1000 >> 1, 31)]);
    assert_eq!(summary(&wide, &abcj(), &[&start]), "suspicious@0:1.5 P7 1000");
}

#[test]
fn unreadable_packets_cost_the_synchronisation() {
    // A byte too many, and filling that is no sign: fmt 2 has 36 bits.
    check(
        &abcj(),
        &["73 00 04", "0a 00 00 00 00 00", "0a", "73 00 04", "0a"],
        "P3 1000 overlong@1:9.4 not-synchronised@2:12.0 P3 1000 1004",
    );
    check(&abcj(), &["73 00 04", "0a 00 00 00 10"], "P3 1000 overlong@1:9.4");
    // Format 0 without any mode for it.
    check(&abcj(), &["73 00 04", "00", "0a"], "P3 1000 illegal-in-state@1:5.0 not-synchronised@2:7.0");
}

#[test]
fn unknown_extensions() {
    let modes = Modes { jump_target_cache: true, ..Modes::default() };
    let parameters =
        Parameters { f0s_width_p: 2, cache_size_p: 5, bpred_size_p: 4, modes, ..Parameters::default() };
    // Subformat 0 is off, 2 and 3 do not exist, an entry that was never written.
    assert_eq!(
        summary(&parameters, &abcj(), &["00", "08", "73 00 04", "24"]),
        "illegal-in-state@0:1.2 reserved-encoding@1:3.2 P3 1000 invalid-reference@3:9.4"
    );
    let modes = Modes { branch_prediction: true, ..Modes::default() };
    let parameters = Parameters { modes, ..parameters };
    let invalid = pack(&[(0, 2), (0, 2), (0, 32), (1, 2), (0, 34)]);
    assert_eq!(
        summary(&parameters, &abcj(), &["73 00 04", &invalid, "04"]),
        "P3 1000 reserved-encoding@1:9.4 illegal-in-state@2:15.2"
    );
    // The largest count is legal; here a jump comes first.
    let largest = pack(&[(0, 2), (0, 2), (0xffff_ffff, 32), (0, 2)]);
    assert_eq!(
        summary(&parameters, &abcj(), &["73 00 04", &largest]),
        "P3 1000 1004 1008 100c unexpected-discontinuity@1:5.0"
    );
}

#[test]
fn what_cannot_be_honoured_is_refused_until_it_is_taken_back() {
    // encoder_mode 1; branch prediction without a predictor.
    for (support, place) in [("3f 00", "2:7.5"), ("1f 10", "2:8.0")] {
        check(
            &abcj(),
            &["73 00 04", "0a", support, "0a", "00", "73 00 04", "1f", "0a", "73 00 04"],
            &alloc::format!("P3 1000 1004 unsupported-mode@{place} not-synchronised@7:20.0 P3 1000"),
        );
    }
    let log = decode(&Parameters::default(), &abcj(), &bytes("02 1f 10 03 73 00 04 01 1f 03 73 00 04"));
    assert_eq!(log.packets().count(), 3, "the start packet in between is not understood");
}

#[test]
fn framing() {
    let map = ProgramMap::new(&abcj(), &Parameters::default());
    let decoded = |wire: &str| summary_of(&map, &decode(&Parameters::default(), &abcj(), &bytes(wire)));
    assert_eq!(
        decoded("03 73 00 04 81 0a 01 0a 03 73 00 04"),
        "P3 1000 framing@1:4.0 not-synchronised@2:7.0 P3 1000"
    );
    assert_eq!(decoded("03 73 00 04 02 0a"), "P3 1000 truncated@1:4.0");
    assert_eq!(decoded("03 73 00 04 1f"), "P3 1000 truncated@1:4.0");
}

#[test]
fn parameters_that_cannot_be_honoured_are_refused() {
    let begin = |parameters: &Parameters| Decoder::default().begin(parameters, &Program::new());
    let modes = Modes { branch_prediction: true, ..Modes::default() };
    let no_predictor = Parameters { modes, ..Parameters::default() };
    assert!(matches!(begin(&no_predictor), Err(Refusal::Invalid { parameter: "bpred_size_p", .. })));
    let no_address = Parameters { iaddress_width_p: 0, ..Parameters::default() };
    assert!(matches!(begin(&no_address), Err(Refusal::Invalid { parameter: "iaddress_width_p", .. })));
}

#[test]
fn time_comes_first() {
    let parameters = Parameters { notime_p: false, time_width_p: 8, ..Parameters::default() };
    let start = |address: u64| pack(&[(3, 2), (0, 2), (1, 1), (3, 2), (9, 8), (address >> 1, 31)]);
    let trap =
        pack(&[(3, 2), (1, 2), (1, 1), (3, 2), (7, 8), (2, 4), (0, 1), (1, 1), (0x3000 >> 1, 31), (0, 32)]);
    assert_eq!(
        summary(&parameters, &abcj(), &[&start(0x1000), &start(0x1008), &trap]),
        "t9 P3 1000 t9 1004 P3 1008 t7 E2@100c P3 3000"
    );
}

#[test]
fn a_packet_is_delivered_before_what_it_causes_and_reset_forgets_the_stream() {
    let mut decoder = Decoder::default();
    decoder.begin(&Parameters::default(), &abcj()).expect("supported");
    let wire = bytes("03 63 00 04 01 0a 02 0a");
    let run = |decoder: &mut Decoder| {
        let mut log = Log::default();
        decoder.push(&wire, &mut log);
        decoder.finish(&mut log);
        log.entries
    };
    let first = run(&mut decoder);
    assert!(matches!(first[0], (_, Entry::Packet(_))));
    let kinds: Vec<bool> = first.iter().map(|(_, entry)| matches!(entry, Entry::Fault(_))).collect();
    assert_eq!(kinds, [false, true, false, false, false, false, true]);
    decoder.reset();
    assert_eq!(run(&mut decoder), first);
}
