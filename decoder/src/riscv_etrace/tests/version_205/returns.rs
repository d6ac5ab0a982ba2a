//! Implicit returns with `irets`.

use alloc::string::String;
use alloc::vec;

use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::{Modes, Parameters};

use super::super::modes::jal;
use super::super::{JUMP, NOP, RET, pack, program};
use super::{implicit, stack, summary};

/// Format 2 with this difference, without flags.
fn plain(delta: i64) -> String {
    let msb = u64::from(delta < 0);
    pack(&[(2, 2), (delta as u64 >> 1, 31), (7 * msb, 3), (0xff * msb, 8)])
}

/// The same with `irreport` and `irets`.
fn after(delta: i64, irets: u64) -> String {
    let msb = u64::from(delta < 0);
    pack(&[(2, 2), (delta as u64 >> 1, 31), (msb, 1), (msb, 1), (1 - msb, 1), (irets, 8)])
}

/// The same with `notify`, without `irets`.
fn notified(delta: i64) -> String {
    let msb = u64::from(delta < 0);
    pack(&[(2, 2), (delta as u64 >> 1, 31), (7 * (1 - msb), 3), (0xff * (1 - msb), 8)])
}

/// Two calls of a function that only returns; code at 0x3000 that returns too.
fn twice() -> Program {
    let calls = [jal(1, 0x1000), jal(1, 0xffc), NOP, NOP];
    program(&[(0x1000, &calls), (0x2000, &[RET]), (0x3000, &[NOP, RET])])
}

/// The sequence of issue 254 of the specification, with both counts.
#[test]
fn returns_at_equal_depth_are_distinguished() {
    // mv x8, x1
    let caller = [0x0000_8413, jal(1, 0xfc), jal(1, 0x1f8), NOP, NOP];
    let code = program(&[
        (0x1000, &[jal(1, 0x100)]),
        (0x1100, &caller),
        (0x1200, &[RET]),
        (0x1300, &[RET]),
        (0x3000, &[NOP]),
    ]);
    for report in ["1a 02 00 00 28", "1a 02 00 00 18"] {
        assert_eq!(
            summary(&stack(), &code, &["1f 04 c1 00", "73 00 04", report, "77 11 00 03", "9f 04 c1 00"]),
            "P3 1000 1100 1104 1200 1108 1300 110c E2@1110 P3 3000 end",
            "{report}"
        );
    }
}

/// RVET5-DEC-006.
#[test]
fn irets_selects_the_return_that_failed() {
    assert_eq!(summary(&implicit(), &twice(), &["73 00 04", &after(0x2000, 0)]), "P3 1000 2000 3000");
    assert_eq!(
        summary(&implicit(), &twice(), &["73 00 04", &after(0x2000, 1)]),
        "P3 1000 2000 1004 2000 3000"
    );
}

/// RVET5-DEC-008: the target of the second return, with and without it in the count.
#[test]
fn a_predicted_return_may_be_counted_or_not() {
    for irets in [2, 1] {
        assert_eq!(
            summary(&implicit(), &twice(), &["73 00 04", &after(8, irets)]),
            "P3 1000 2000 1004 2000 1008",
            "{irets}"
        );
    }
    // A call counter knows no other returns.
    let counter = Parameters { return_stack_size_p: 0, call_counter_size_p: 2, ..implicit() };
    for irets in [2, 1] {
        assert_eq!(
            summary(&counter, &twice(), &["73 00 04", &after(8, irets)]),
            "P3 1000 2000 1004 2000 1008",
            "{irets}"
        );
    }
}

/// RVET5-DEC-007.
#[test]
fn the_walk_does_not_stop_before_so_many_returns() {
    assert_eq!(summary(&implicit(), &twice(), &["73 00 04", &plain(0x1000)]), "P3 1000 2000");
    assert_eq!(summary(&implicit(), &twice(), &["73 00 04", &after(0x1000, 1)]), "P3 1000 2000 1004 2000");
    // Also where it stops within straight code.
    assert_eq!(
        summary(&implicit(), &twice(), &["73 00 04", &after(0xc, 2)]),
        "P3 1000 2000 1004 2000 1008 100c"
    );
}

/// A function with a branch before the second call.
fn branching() -> Program {
    // beq x0, x0, .+4
    let caller = [jal(1, 0x1000), 0x0000_0263, jal(1, 0xff8), NOP, NOP];
    program(&[(0x1000, &caller), (0x2000, &[RET]), (0x3000, &[NOP])])
}

/// A branch starts the count anew.
#[test]
fn returns_before_a_branch_are_not_counted() {
    let report = |delta: i64, irets| {
        pack(&[(1, 2), (1, 5), (0, 1), (delta as u64 >> 1, 31), (0, 2), (1, 1), (irets, 8)])
    };
    for (delta, irets, expected) in [
        (0xc, 1, "P3 1000 2000 1004 1008 2000 100c"),
        (0x10, 1, "P3 1000 2000 1004 1008 2000 100c 1010"),
        // Nothing returned since the branch.
        (0x1000, 0, "P3 1000 2000 1004 1008 2000"),
        // The second return failed.
        (0x2000, 0, "P3 1000 2000 1004 1008 2000 3000"),
    ] {
        assert_eq!(
            summary(&implicit(), &branching(), &["73 00 04", &report(delta, irets)]),
            expected,
            "{delta:#x}"
        );
    }
}

/// RVET5-DEC-009: the reported instruction is a return; the next packet counts it.
#[test]
fn a_return_directly_after_a_packet_counts_for_the_next() {
    let to_return = notified(0x1000);
    // From 0x2000 to 0x1008, over the second call.
    assert_eq!(
        summary(&implicit(), &twice(), &["73 00 04", &to_return, &after(-0xff8, 2)]),
        "P3 1000 2000 1004 2000 1008"
    );
    // It failed itself.
    assert_eq!(
        summary(&implicit(), &twice(), &["73 00 04", &to_return, &after(0x1000, 0)]),
        "P3 1000 2000 3000"
    );
}

/// RVET5-DEC-010: 0x1004 is met after one return; the second return failed and leads there again.
#[test]
fn a_second_arrival_goes_on_counting() {
    assert_eq!(
        summary(&implicit(), &twice(), &["73 00 04", &after(4, 1), &plain(4)]),
        "P3 1000 2000 1004 2000 1004 2000 1008"
    );
    // Nothing reported: the first arrival.
    assert_eq!(
        summary(&implicit(), &twice(), &["73 00 04", &after(4, 1), "9f 04 c1 00"]),
        "P3 1000 2000 1004 end"
    );
}

/// RVET5-DEC-011: the call of the failed return is used up, so the next return is reported like any jump.
#[test]
fn a_failed_return_consumes_its_link() {
    let payloads = ["73 00 04", &after(0x2000, 0), &plain(-0x1ff8)];
    assert_eq!(summary(&implicit(), &twice(), &payloads), "P3 1000 2000 3000 3004 1008");
    // With `irdepth` it is not.
    let depth = Parameters { iret_ext: false, ..implicit() };
    let failed = pack(&[(2, 2), (0x2000 >> 1, 31), (0, 2), (1, 1), (1, 4)]);
    let back = pack(&[(2, 2), ((-0x1ffc_i64) as u64 >> 1, 31), (7, 3), (15, 4)]);
    assert_eq!(summary(&depth, &twice(), &["73 00 04", &failed, &back]), "P3 1000 2000 3000 3004 1004");
}

/// RVET5-DEC-007: laps of a loop without branch differ by their returns; without a count the loop has no end.
#[test]
fn a_count_of_returns_ends_a_loop() {
    // jal x1, 0x2000; jal x0, 0x1000
    let code = program(&[(0x1000, &[jal(1, 0x1000), jal(0, -4), NOP]), (0x2000, &[RET])]);
    for laps in [1, 3, 255] {
        let log = summary(&implicit(), &code, &["73 00 04", &after(4, laps)]);
        assert_eq!(log, String::from("P3") + &" 1000 2000 1004".repeat(laps as usize), "{laps}");
    }
    // The address is never met.
    assert!(summary(&implicit(), &code, &["73 00 04", &plain(8)]).contains(" limit@1:"));
}

/// RVET5-ENC-005: the target of the 256th return, with 255, or of the 255th, with 254.
#[test]
fn at_most_255_returns_are_implicit() {
    let calls: vec::Vec<u32> = (0..300).map(|call| jal(1, 0x1000 - 4 * call)).collect();
    let code = program(&[(0x1000, &calls), (0x2000, &[RET])]);
    for irets in [255, 254] {
        let target = 4 * (irets + 1);
        let log = summary(&implicit(), &code, &["73 00 04", &after(target, irets as u64)]);
        assert_eq!(log.matches(" 2000").count(), irets as usize + 1);
        assert!(log.ends_with(&alloc::format!(" 2000 {:x}", 0x1000 + target)), "{log}");
    }
}

/// RVET5-DEC-012: index 0 is that of 0x3000, where the failed return went; index 4 is that of 0x1008, where the other
/// was predicted to go.
#[test]
fn the_cache_has_targets_of_failed_returns_only() {
    let modes = Modes { implicit_return: true, jump_target_cache: true, ..Modes::default() };
    let parameters = Parameters { f0s_width_p: 1, cache_size_p: 5, modes, ..implicit() };
    let calls = [jal(1, 0x1000), jal(1, 0xffc), JUMP, NOP];
    let code = program(&[(0x1000, &calls), (0x2000, &[RET]), (0x3000, &[JUMP])]);
    // Format 0.1 without branches and flags.
    let cached = |index| pack(&[(0, 2), (1, 1), (index, 5), (0, 5), (0, 1), (0, 8)]);
    assert_eq!(
        summary(&parameters, &code, &["73 00 04", &after(0x2000, 1), &cached(0)]),
        "P3 1000 2000 1004 2000 3000 3000"
    );
    assert_eq!(
        summary(&parameters, &code, &["73 00 04", &after(8, 1), &cached(4)]),
        "P3 1000 2000 1004 2000 1008 invalid-reference@2:12.3"
    );
}

/// RVET5-ENC-013: a stack of two and a counter of size 2: four calls share an entry.
#[test]
fn repeated_links_share_an_entry() {
    let shared = Parameters { return_stack_size_p: 1, call_counter_size_p: 2, ..implicit() };
    // The function calls itself unless the branch to its return is taken: beq x0, x0, .+8
    let function = [0x0000_0463, jal(1, -4), RET];
    let code = program(&[(0x1000, &[jal(1, 0x1000), NOP]), (0x2000, &function), (0x4000, &[NOP])]);
    // `deeper` branches not taken, then one that is; to `delta`.
    let report = |deeper: u32, delta: u64| {
        let (map, width) = ((1 << deeper) - 1, if deeper < 3 { 3 } else { 7 });
        pack(&[(1, 2), (u64::from(deeper) + 1, 5), (map, width), (delta >> 1, 31), (0, 3), (0, 8)])
    };
    let called =
        |deeper| String::from("P3 1000") + &" 2000 2004".repeat(deeper) + " 2000" + &" 2008".repeat(deeper);
    assert_eq!(summary(&shared, &code, &["73 00 04", &report(4, 4)]), called(4) + " 2008 1004");
    // The fifth has an entry of its own, in place of that of the first call.
    assert_eq!(summary(&shared, &code, &["73 00 04", &report(5, 0x3000)]), called(5) + " 2008 4000");
    // Without counter, and with `irdepth`, there are two entries for all.
    let two = Parameters { call_counter_size_p: 0, ..shared };
    assert_eq!(
        summary(&two, &code, &["73 00 04", &report(2, 0x3000)]),
        "P3 1000 2000 2004 2000 2004 2000 2008 2008 2008 4000"
    );
}
