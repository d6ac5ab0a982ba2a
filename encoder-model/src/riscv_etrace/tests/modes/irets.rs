//! Implicit returns with `irets`: which reports have the flag, and with what count.

use super::*;
use traceproof_vectors::riscv_etrace::{IretsLimit, PredictedReturn, StandardSupport};

fn stack() -> Parameters {
    Parameters {
        version: Version::V2_0_5,
        iret_ext: true,
        return_stack_size_p: 3,
        modes: on(|modes| modes.implicit_return = true),
        ..Parameters::default()
    }
}

fn counter() -> Parameters {
    Parameters { return_stack_size_p: 0, call_counter_size_p: 2, ..stack() }
}

fn not_counted() -> Policy {
    Policy { predicted_return: PredictedReturn::NotCounted, ..Policy::default() }
}

/// A report with `irreport` and this count, or without the flag.
fn counted(delta: i64, irets: Option<u8>) -> Packet {
    Packet::Address {
        address: ReportedAddress::Delta(delta),
        notify: false,
        updiscon: false,
        irreport: irets.is_some(),
        irdepth: 0,
        irets: irets.unwrap_or(0),
    }
}

/// The same with one branch before it, or being it, that is not taken.
fn after_branch(delta: i64, irets: Option<u8>) -> Packet {
    Packet::Branch {
        branches: 1,
        branch_map: 1,
        address: Some(ReportedAddress::Delta(delta)),
        notify: false,
        updiscon: false,
        irreport: irets.is_some(),
        irdepth: 0,
        irets: irets.unwrap_or(0),
    }
}

/// A caller at 0x1000, functions at 0x2000 and 0x2010, and somewhere else at 0x3000. 0x1008 follows the call.
fn code(after_call: u32) -> Program {
    program(&[
        (0x1000, NOP),
        (0x1004, CALL),
        (0x1008, after_call),
        (0x100c, NOP),
        (0x1010, RET),
        (0x1014, NOP),
        (0x2000, NOP),
        (0x2004, RET),
        (0x2010, CALL),
        (0x2014, NOP),
        (0x2018, RET),
        (0x3000, NOP),
        (0x3004, NOP),
    ])
}

#[track_caller]
fn sent(code: &Program, parameters: &Parameters, policy: &Policy, steps: &[Step], expected: &[Packet]) {
    assert_eq!(packets(code, parameters, policy, steps), expected);
}

const CALL_AND_RETURN: [u64; 4] = [0x1000, 0x1004, 0x2000, 0x2004];

fn called(then: &[u64]) -> Vec<Step> {
    path(&[&CALL_AND_RETURN, then].concat())
}

/// The worked sequence: two returns at equal depth without a branch between them. The handler's packet is that of X14
/// with cause 2.
#[test]
fn worked_sequence() {
    let code = program(&[
        (0x1000, CALL),
        (0x1100, NOP),
        (0x1104, CALL),
        (0x1108, CALL),
        (0x110c, NOP),
        (0x1200, RET),
        (0x1300, RET),
        (0x3000, NOP),
    ]);
    let way = path(&[0x1000, 0x1100, 0x1104, 0x1200, 0x1108, 0x1300, 0x110c]);
    let steps = [vec![enable(true)], way, vec![exception(2, 0x1110), retire(0x3000)]].concat();
    // A timer that never gets so far clears `resync_disabled`.
    let timer = Policy { sync_mode: SyncMode::Packets, sync_max: 20, ..Policy::default() };
    let excluding = Policy { sync_mode: SyncMode::Packets, sync_max: 20, ..not_counted() };
    for (policy, report) in [(timer, "1a 02 00 00 28"), (excluding, "1a 02 00 00 18")] {
        let log = encode(&code, &stack(), &policy, &steps);
        let expected = ["1f 04 c1 00", "73 00 04", report, "77 11 00 03", "9f 04 c1 00"].map(hex);
        assert_eq!(payloads(&log.wire), expected);
    }
}

/// RVET5-ENC-004: also with a count of 0. A counter does not check targets.
#[test]
fn failed_returns() {
    let steps = called(&[0x3000, 0x3004]);
    let expected = [start(0x1000), counted(0x2000, Some(0)), counted(4, None)];
    sent(&code(NOP), &stack(), &Policy::default(), &steps, &expected);
    let expected = [start(0x1000), counted(0x2004, Some(1))];
    sent(&code(NOP), &counter(), &Policy::default(), &steps, &expected);
}

/// RVET5-ENC-004: the count is that before the branch that the return fails to reach, or reaches.
#[test]
fn branches_at_the_target_of_a_return() {
    let not_taken = vec![branch(0x1008, false)];
    let steps = [path(&CALL_AND_RETURN), not_taken.clone()].concat();
    let expected = [start(0x1000), after_branch(8, Some(1))];
    sent(&code(BRANCH), &stack(), &Policy::default(), &steps, &expected);
    let expected = [start(0x1000), after_branch(8, Some(0))];
    sent(&code(BRANCH), &stack(), &not_counted(), &steps, &expected);
    // The inner return is right, the outer one goes to 0x1008 in place of 0x1004.
    let nested = program(&[
        (0x1000, CALL),
        (0x1004, NOP),
        (0x1008, BRANCH),
        (0x2000, CALL),
        (0x2004, RET),
        (0x2008, RET),
    ]);
    let steps = [path(&[0x1000, 0x2000, 0x2008, 0x2004]), not_taken].concat();
    let expected = [start(0x1000), after_branch(8, Some(1))];
    sent(&nested, &stack(), &Policy::default(), &steps, &expected);
}

/// RVET5-ENC-012: the entry is gone, so the return after it finds that of the call before.
#[test]
fn failed_returns_pop() {
    let nested = program(&[(0x1000, CALL), (0x1004, NOP), (0x2000, CALL), (0x2010, RET), (0x2100, RET)]);
    let steps = path(&[0x1000, 0x2000, 0x2100, 0x2010, 0x1004]);
    // The return at 0x2010 is left after the report and counts for the next one (RVET5-DEC-009).
    let expected = [start(0x1000), counted(0x1010, Some(0)), counted(-0x100c, Some(1))];
    sent(&nested, &stack(), &Policy::default(), &steps, &expected);
}

/// So many calls one after the other from 0x1000 on, each of which returns at once, and what is there after them.
fn calls(count: u64, then: &[(u64, u32)]) -> (Program, Vec<Step>) {
    let sites: Vec<u64> = (0..count).map(|number| 0x1000 + 4 * number).collect();
    let code = sites.iter().map(|&site| (site, CALL)).chain([(0x8000, RET)]).chain(then.iter().copied());
    let way: Vec<u64> = sites.iter().flat_map(|&site| [site, 0x8000]).collect();
    (program(&code.collect::<Vec<_>>()), path(&way))
}

/// RVET5-ENC-005: 255 returns go unreported, the target of the 256th does not; or one less of both.
#[test]
fn counts_end_at_255() {
    let earlier = Policy { irets_limit: IretsLimit::At254, ..Policy::default() };
    for parameters in [stack(), counter()] {
        let run = |count: u64, policy: &Policy, expected: &[Packet]| {
            let end = 0x1000 + 4 * count;
            let (code, steps) = calls(count, &[(end, NOP), (end + 4, NOP)]);
            sent(&code, &parameters, policy, &[steps, path(&[end, end + 4])].concat(), expected);
        };
        run(255, &Policy::default(), &[start(0x1000), counted(0x400, Some(255))]);
        run(256, &Policy::default(), &[start(0x1000), counted(0x400, Some(255)), counted(4, None)]);
        run(254, &earlier, &[start(0x1000), counted(0x3fc, Some(254))]);
        run(255, &earlier, &[start(0x1000), counted(0x3fc, Some(254)), counted(4, None)]);
        // After the forced report the count starts at 0.
        run(258, &Policy::default(), &[start(0x1000), counted(0x400, Some(255)), counted(0xc, Some(2))]);
    }
}

/// A forced report is one of an updiscon target: decoders take the latest arrival.
#[test]
fn forced_reports_at_the_end() {
    let (code, steps) = calls(256, &[(0x1400, NOP), (0x3000, NOP)]);
    let forced = [steps, path(&[0x1400])].concat();
    let steps = [vec![enable(true)], forced.clone()].concat();
    let log = encode(&code, &stack(), &Policy::default(), &steps);
    let ended = log.packets().last().copied();
    let qual_status = QualStatus::EndedNtr;
    assert!(
        matches!(ended, Some(Packet::StandardSupport(support)) if support.qual_status == qual_status),
        "{ended:?}"
    );
    let steps = [forced, vec![exception(2, 0x1404)], path(&[0x3000])].concat();
    let flagged = Packet::Address {
        address: ReportedAddress::Delta(0x400),
        notify: false,
        updiscon: true,
        irreport: true,
        irdepth: 0,
        irets: 255,
    };
    assert_eq!(packets(&code, &stack(), &Policy::default(), &steps)[..2], [start(0x1000), flagged]);
}

/// RVET5-ENC-014: the target of a forced report is not stored, that of a failed return is.
#[test]
fn implicit_targets_are_not_stored() {
    let parameters = Parameters {
        f0s_width_p: 1,
        cache_size_p: 5,
        modes: on(|modes| (modes.implicit_return, modes.jump_target_cache) = (true, true)),
        ..stack()
    };
    let (code, steps) = calls(256, &[(0x1400, JALR_T1), (0x1404, NOP)]);
    // 0x1400 jumps to itself: the first time its entry is not there, the second time it is.
    let steps = [steps, path(&[0x1400, 0x1400, 0x1400])].concat();
    let index = Packet::JumpTargetIndex {
        index: 0,
        branches: 0,
        branch_map: 0,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    let expected = [start(0x1000), counted(0x400, Some(255)), counted(0, None), index];
    sent(&code, &parameters, &Policy::default(), &steps, &expected);
    // A failed return to 0x1400: the jump to itself finds its entry at once.
    let code = program(&[(0x1000, CALL), (0x1400, JALR_T1), (0x8000, RET)]);
    let expected = [start(0x1000), counted(0x400, Some(0)), index];
    sent(&code, &parameters, &Policy::default(), &path(&[0x1000, 0x8000, 0x1400, 0x1400]), &expected);
}

/// RVET5-ENC-006, RVET5-ENC-007: the target of a predicted return at the end, with a notify request, before another
/// context.
#[test]
fn predicted_returns_that_are_reported() {
    for parameters in [stack(), counter()] {
        for (policy, irets) in [(Policy::default(), 1), (not_counted(), 0)] {
            let expected = [start(0x1000), counted(8, Some(irets))];
            sent(&code(NOP), &parameters, &policy, &called(&[0x1008]), &expected);
            let notified = Step::Retire(Retire { notify: true, ..instruction(0x1008) });
            let steps = [path(&CALL_AND_RETURN), vec![notified], path(&[0x100c])].concat();
            let got = packets(&code(NOP), &parameters, &policy, &steps);
            assert!(
                matches!(got[1], Packet::Address { notify: true, irreport: true, irets: n, .. } if n == irets)
            );
            // The count starts again at the report.
            assert_eq!(got[2..], [counted(4, None)]);
            let context = Step::Retire(Retire { ctype: 2, ..instruction(0x100c) });
            let steps = [path(&CALL_AND_RETURN), vec![branch(0x1008, false), context]].concat();
            let got = packets(&code(BRANCH), &parameters, &policy, &steps);
            assert_eq!(got, [start(0x1000), after_branch(8, Some(irets)), start(0x100c)]);
        }
    }
}

/// RVET5-ENC-008: a return without a call reports the count, if there is one.
#[test]
fn returns_without_a_call() {
    for parameters in [stack(), counter()] {
        let steps = called(&[0x1008, 0x100c, 0x1010, 0x3000, 0x3004]);
        let expected = [start(0x1000), counted(0x2000, Some(1)), counted(4, None)];
        sent(&code(NOP), &parameters, &Policy::default(), &steps, &expected);
        let expected = [start(0x1010), counted(0x1ff0, None), counted(4, None)];
        sent(&code(NOP), &parameters, &Policy::default(), &path(&[0x1010, 0x3000, 0x3004]), &expected);
    }
}

/// RVET5-ENC-009 to 011: any other instruction that is reported, unless a branch or a report came after the returns.
#[test]
fn instructions_after_implicit_returns() {
    let last = called(&[0x1008, 0x100c]);
    for parameters in [stack(), counter()] {
        let expect = |code: &Program, steps: &[Step], expected: &[Packet]| {
            sent(code, &parameters, &Policy::default(), steps, expected);
        };
        expect(&code(NOP), &last, &[start(0x1000), counted(0xc, Some(1))]);
        // A branch restarts the count, also when it is the reported instruction.
        let branched = [path(&CALL_AND_RETURN), vec![branch(0x1008, false)]].concat();
        expect(
            &code(BRANCH),
            &[branched, path(&[0x100c])].concat(),
            &[start(0x1000), after_branch(0xc, None)],
        );
        let far = program(&[(0x1000, CALL), (0x1004, NOP), (0x1008, BRANCH), (0x2000, RET)]);
        let steps = [path(&[0x1000, 0x2000, 0x1004]), vec![branch(0x1008, false)]].concat();
        expect(&far, &steps, &[start(0x1000), after_branch(8, None)]);
        // The target of another updiscon has no flag.
        let steps = called(&[0x1008, 0x3000, 0x3004]);
        expect(&code(JALR_T1), &steps, &[start(0x1000), counted(0x2000, None), counted(4, None)]);
        // Neither does an instruction without a return before it.
        expect(&code(NOP), &path(&[0x1000, 0x1004, 0x2000]), &[start(0x1000), counted(0x1000, None)]);
    }
}

/// A return that is itself the reported instruction is not counted: where it goes is not known yet.
#[test]
fn reported_returns_are_not_counted() {
    let nested = program(&[
        (0x1000, CALL),
        (0x1004, NOP),
        (0x2000, CALL),
        (0x2004, NOP),
        (0x2008, RET),
        (0x2100, RET),
    ]);
    for parameters in [stack(), counter()] {
        let steps = path(&[0x1000, 0x2000, 0x2100, 0x2004, 0x2008]);
        let expected = [start(0x1000), counted(0x1008, Some(1))];
        sent(&nested, &parameters, &Policy::default(), &steps, &expected);
    }
}

/// RVET5-ENC-011: a context packet has no position, so the count goes on.
#[test]
fn context_packets_do_not_restart_the_count() {
    let context = Step::Retire(Retire { ctype: 1, ..instruction(0x1008) });
    let steps = [path(&CALL_AND_RETURN), vec![context], path(&[0x100c])].concat();
    let context = Packet::Context { privilege: 3, time: None, context: None };
    let expected = [start(0x1000), context, counted(0xc, Some(1))];
    sent(&code(NOP), &stack(), &Policy::default(), &steps, &expected);
}

/// RVET5-ENC-013: with 2 bits of counter, 4 calls with one link share an entry; the stack of 2 has room for 8.
#[test]
fn repeated_links_share_an_entry() {
    let recursion = program(&[(0x1000, NOP), (0x2008, CALL), (0x200c, RET), (0x3000, NOP), (0x3004, NOP)]);
    let parameters = Parameters { return_stack_size_p: 1, call_counter_size_p: 2, ..stack() };
    let steps = |depth: usize| {
        path(&[vec![0x1000], vec![0x2008; depth], vec![0x200c; depth], vec![0x3000, 0x3004]].concat())
    };
    // 7 returns go to 0x200c, the 8th fails.
    let expected = [start(0x1000), counted(0x2000, Some(7)), counted(4, None)];
    sent(&recursion, &parameters, &Policy::default(), &steps(8), &expected);
    // The 9th call takes a third entry, and 4 calls are forgotten: 5 of the returns have one.
    let lone = [counted(0x100c, Some(5)), counted(0, None), counted(0, None), counted(0xff4, None)];
    let expected = [&[start(0x1000)], &lone[..], &[counted(4, None)]].concat();
    sent(&recursion, &parameters, &Policy::default(), &steps(9), &expected);
}

/// RVET5-ENC-015 and its other reading, which holds only without a resynchronisation timer.
#[test]
fn synchronisation_packets_and_the_return_stack() {
    let context = Step::Retire(Retire { ctype: 2, ..instruction(0x2000) });
    let steps = [path(&[0x1000, 0x1004]), vec![context], path(&[0x2004, 0x1008, 0x100c])].concat();
    let reset = [start(0x1000), start(0x2000), counted(-0xff8, None), counted(4, None)];
    let kept = [start(0x1000), start(0x2000), counted(-0xff4, Some(1))];
    let timer = Policy { sync_mode: SyncMode::Packets, sync_max: 20, ..Policy::default() };
    let keeps = |parameters| Parameters { resync_disabled_keeps_state: true, ..parameters };
    for parameters in [stack(), counter()] {
        sent(&code(NOP), &parameters, &Policy::default(), &steps, &reset);
        sent(&code(NOP), &keeps(parameters.clone()), &Policy::default(), &steps, &kept);
        sent(&code(NOP), &keeps(parameters), &timer, &steps, &reset);
    }
}

/// The same of the jump target cache: the target of a jump to itself, before and after a synchronisation packet.
#[test]
fn synchronisation_packets_and_the_cache() {
    let code = program(&[(0x1000, JALR_T1)]);
    let context = Step::Retire(Retire { ctype: 2, ..instruction(0x1000) });
    let steps = [path(&[0x1000, 0x1000]), vec![context], path(&[0x1000])].concat();
    let stored = Packet::Address {
        address: ReportedAddress::Delta(0),
        notify: false,
        updiscon: true,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    let found = Packet::JumpTargetIndex {
        index: 0,
        branches: 0,
        branch_map: 0,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    for (resync_disabled_keeps_state, last) in [(false, counted(0, None)), (true, found)] {
        let parameters = Parameters {
            version: Version::V2_0_5,
            resync_disabled_keeps_state,
            f0s_width_p: 1,
            cache_size_p: 5,
            modes: on(|modes| modes.jump_target_cache = true),
            ..Parameters::default()
        };
        let expected = [start(0x1000), stored, start(0x1000), last];
        sent(&code, &parameters, &Policy::default(), &steps, &expected);
    }
}

/// The start of a trace resets whatever the reading.
#[test]
fn gaps_forget_calls() {
    let steps = [path(&[0x1000]), untraced(retire(0x1004)), path(&[0x1004, 0x2000])].concat();
    let steps = [steps, untraced(retire(0x2000)), path(&[0x2004, 0x1008, 0x100c])].concat();
    let parameters = Parameters { resync_disabled_keeps_state: true, ..stack() };
    let got = packets(&code(NOP), &parameters, &Policy::default(), &steps);
    assert_eq!(got[got.len() - 3..], [start(0x2004), counted(-0xffc, None), counted(4, None)]);
}

/// `iret_ext` decides the layout, not the mode: with the mode off every `irets` bit is a copy (Y10, Y11).
#[test]
fn the_layout_does_not_depend_on_the_mode() {
    let off = Parameters { modes: Modes::default(), ..stack() };
    let timer = Policy { sync_mode: SyncMode::Packets, sync_max: 20, ..Policy::default() };
    let steps = [vec![enable(true)], path(&[0x1000, 0x1004]), vec![enable(false)]].concat();
    let log = encode(&code(NOP), &off, &timer, &steps);
    let announced =
        StandardSupport { ienable: true, iret_ext: true, return_stack_size: 3, ..StandardSupport::default() };
    assert_eq!(log.packets().next(), Some(&Packet::StandardSupport(announced)));
    assert_eq!(payloads(&log.wire)[1..3], [hex("73 00 04"), hex("0a")]);
    let jump = program(&[(0x1000, JALR_T1), (0xffc, NOP)]);
    let log = encode(&jump, &off, &timer, &[vec![enable(true)], path(&[0x1000, 0xffc])].concat());
    assert_eq!(payloads(&log.wire)[1..3], [hex("73 00 04"), hex("fa")]);
}
