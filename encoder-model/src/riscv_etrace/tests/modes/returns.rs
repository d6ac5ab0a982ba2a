//! Implicit returns.

use super::*;

pub(super) fn stack() -> Parameters {
    Parameters {
        return_stack_size_p: 3,
        modes: on(|modes| modes.implicit_return = true),
        ..Parameters::default()
    }
}

fn counter() -> Parameters {
    Parameters {
        call_counter_size_p: 2,
        modes: on(|modes| modes.implicit_return = true),
        ..Parameters::default()
    }
}

/// A caller at 0x1000, a function at 0x2000 that returns at 0x2004, and somewhere else at 0x3000.
fn calls() -> Program {
    program(&[
        (0x1000, NOP),
        (0x1004, CALL),
        (0x1008, NOP),
        (0x100c, NOP),
        (0x1010, RET),
        (0x2000, NOP),
        (0x2004, RET),
        (0x2008, CALL),
        (0x200c, RET),
        (0x3000, NOP),
        (0x3004, NOP),
    ])
}

/// RVET-ENC-053: the return of a traced call gives no packet.
#[test]
fn implicit_returns() {
    let steps = path(&[0x1000, 0x1004, 0x2000, 0x2004, 0x1008, 0x100c]);
    for parameters in [stack(), counter()] {
        let got = packets(&calls(), &parameters, &Policy::default(), &steps);
        // The end: a return since the latest call and no branch since, so the depth is reported.
        assert_eq!(got, [start(0x1000), report(0xc, Some(0))]);
    }
    // Off: the return's target is reported.
    let off = Parameters { modes: Modes::default(), ..stack() };
    let got = packets(&calls(), &off, &Policy::default(), &steps);
    assert_eq!(got, [start(0x1000), report(8, None), report(4, None)]);
}

#[test]
fn returns_without_a_call() {
    let steps = path(&[0x1000, 0x1004, 0x2000, 0x2004, 0x1008, 0x100c, 0x1010, 0x3000, 0x3004]);
    for parameters in [stack(), counter()] {
        let got = packets(&calls(), &parameters, &Policy::default(), &steps);
        // The second return has no call; its target is reported like any updiscon target, and after it the situation "a
        // return and no branch since" makes the final report carry the depth.
        assert_eq!(got, [start(0x1000), report(0x2000, None), report(4, Some(0))]);
    }
}

/// RVET-ENC-056: the return address stack notices; a counter does not check targets.
#[test]
fn returns_to_somewhere_else() {
    let steps = path(&[0x1000, 0x1004, 0x2000, 0x2004, 0x3000, 0x3004]);
    let got = packets(&calls(), &stack(), &Policy::default(), &steps);
    assert_eq!(got[..2], [start(0x1000), report(0x2000, Some(1))]);
    let got = packets(&calls(), &counter(), &Policy::default(), &steps);
    assert_eq!(got, [start(0x1000), report(0x2004, Some(0))]);
}

/// RVET-ENC-054: nothing survives a synchronisation packet.
#[test]
fn synchronisation_packets_forget_calls() {
    let context = Step::Retire(Retire { ctype: 2, ..instruction(0x2000) });
    let steps = [path(&[0x1000, 0x1004]), vec![context], path(&[0x2004, 0x1008, 0x100c])].concat();
    for parameters in [stack(), counter()] {
        let got = packets(&calls(), &parameters, &Policy::default(), &steps);
        assert_eq!(got[..3], [start(0x1000), start(0x2000), report(-0xff8, None)]);
    }
}

/// RVET-ENC-054: more calls than the hardware can hold. The counter of size 2 holds 4, or 3 in two bits, the stack 8.
#[test]
fn deep_recursion() {
    // 0x2008 calls itself; each return goes to 0x200c, which is a return too, and the last one to 0x1008.
    let run = |parameters: &Parameters, depth: usize| {
        let calls_ = vec![0x2008; depth];
        let returns = vec![0x200c; depth];
        let steps = path(&[vec![0x1000], calls_, returns, vec![0x3000, 0x3004]].concat());
        packets(&calls(), parameters, &Policy::default(), &steps)
    };
    // Depth 3: the leaf returns straight (its fall-through is 0x200c), then 3 returns, the last one to 0x3000.
    let explicit = |packets: &[Packet]| packets.len() - 2;
    // `depth` calls, and `depth` returns of which the first follows the innermost call by fall-through in this
    // walk: a counter makes as many of them implicit as it counts.
    let register = Parameters { call_counter_fits_irdepth: true, ..counter() };
    assert_eq!(explicit(&run(&counter(), 4)), 0);
    assert_eq!(explicit(&run(&counter(), 6)), 2);
    assert_eq!(explicit(&run(&register, 3)), 0);
    assert_eq!(explicit(&run(&register, 5)), 2);
    // The stack's newest 8 links are 0x200c. Of 3 calls the last return fails (0x3000 instead of 0x200c).
    assert_eq!(explicit(&run(&stack(), 3)), 1);
    // Of 10 calls 8 links stay; 8 returns are right; the ninth and tenth have no link.
    assert_eq!(explicit(&run(&stack(), 10)), 2);
}

/// A start packet names no depth, so a resynchronisation waits for a branch or report after a return that was left out:
/// what comes next may have been passed before, here the function at 0x2000.
#[test]
fn resynchronisation_and_predicted_returns() {
    let straight = (0xff0..0x1000).step_by(4).map(|address| (address, NOP));
    let code = [
        (0x1000, CALL),
        (0x1004, CALL),
        (0x1008, NOP),
        (0x100c, BRANCH),
        (0x1010, NOP),
        (0x1014, NOP),
        (0x2000, NOP),
        (0x2004, NOP),
        (0x2008, RET),
    ];
    let code = program(&straight.chain(code).collect::<Vec<_>>());
    // 2 half-words each: after the start, the limit of 16 is reached at 0x1004.
    let policy = Policy { sync_mode: SyncMode::HalfWords, sync_max: 0, ..Policy::default() };
    let steps = [
        path(&[0xff0, 0xff4, 0xff8, 0xffc, 0x1000, 0x2000, 0x2004, 0x2008]),
        path(&[0x1004, 0x2000, 0x2004, 0x2008, 0x1008]),
        vec![branch(0x100c, false)],
        path(&[0x1010, 0x1014]),
    ];
    let mapped = Packet::Branch {
        branches: 1,
        branch_map: 1,
        address: Some(ReportedAddress::Delta(0x1c)),
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    for parameters in [stack(), counter()] {
        let got = packets(&code, &parameters, &policy, &steps.concat());
        assert_eq!(got, [start(0xff0), mapped, start(0x1010), report(4, None)]);
    }
}

/// A start packet after the report of a return reads as that return's target (RVET-DEC-022). So a resynchronisation
/// waits for another report if the return was reached by a jump.
#[test]
fn resynchronisation_and_reported_returns() {
    let code = program(&[
        (0x1000, CALL_INDIRECT),
        (0x1004, NOP),
        (0x1008, BRANCH),
        (0x100c, NOP),
        (0x1010, NOP),
        (0x2000, JALR_T1),
        (0x2004, RET),
    ]);
    // 2 half-words each: after the start the limit of 16 is reached at 0x1004.
    let policy = Policy { sync_mode: SyncMode::HalfWords, sync_max: 0, ..Policy::default() };
    let laps = path(&[0x2000; 6]);
    let steps = [
        path(&[0x1000]),
        laps,
        path(&[0x2004, 0x1004]),
        vec![branch(0x1008, false)],
        path(&[0x100c, 0x1010]),
    ];
    let got = packets(&code, &stack(), &policy, &steps.concat());
    let mapped = Packet::Branch {
        branches: 1,
        branch_map: 1,
        address: Some(ReportedAddress::Delta(-0xffc)),
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    assert_eq!(got[..2], [start(0x1000), report(0x1000, None)]);
    assert_eq!(got[2..7], [report(0, None); 5]);
    // No start packet at 0x1008; the report of the branch there says that the return is after.
    assert_eq!(got[7..9], [report(4, None), mapped]);
    assert_eq!(got[9..], [start(0x100c), report(4, None)]);
}

/// Reading `interrupted-return-is-a-predicted-one`: the entry of a return directly before an interrupt is gone, so the
/// outer return goes where the stack has it.
#[test]
fn interrupted_returns_consume_their_entry() {
    let nested = program(&[
        (0x1000, CALL),
        (0x1004, NOP),
        (0x1008, NOP),
        (0x2000, CALL),
        (0x2004, RET),
        (0x2100, RET),
        (0x3000, MRET),
    ]);
    let way = [path(&[0x1000, 0x2000, 0x2100]), vec![interrupt(7)], path(&[0x3000, 0x2004, 0x1004, 0x1008])];
    let kept = Parameters { version: Version::V2_0_5, resync_disabled_keeps_state: true, ..stack() };
    for interrupt_report in [InterruptReport::Handler, InterruptReport::Separate] {
        let policy = Policy { interrupt_report, ..Policy::default() };
        let got = packets(&nested, &kept, &policy, &way.concat());
        assert!(matches!(got[2], Packet::Trap { interrupt: true, thaddr: true, .. }));
        assert_eq!(got[3..], [report(-0xffc, None), report(-0xffc, Some(0))]);
    }
}
