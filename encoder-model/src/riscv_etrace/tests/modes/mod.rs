//! Optional modes (ET 3.2), each with packets worked out by hand.

use traceproof_vectors::riscv_etrace::{
    InterruptReport, Modes, Packet, Parameters, Policy, QualStatus, ReportedAddress, Retire, Step, Stimulus,
    SyncMode, TrapVectors, Version,
};
use traceproof_vectors::{Address, Program};

use super::bench::{
    BRANCH, JALR, MRET, NOP, RET, branch, enable, encode, exception, hex, instruction, interrupt, path,
    payloads, program, retire, small_program, untraced,
};

mod irets;
mod lossless;
mod returns;

use returns::stack;

/// `jalr x0, 0(x6)`
const JALR_T1: u32 = 0x0003_0067;
/// `jal x1, .`: an inferable call.
const CALL: u32 = 0x0000_00ef;
/// `jalr x1, 0(x6)`: an uninferable call.
const CALL_INDIRECT: u32 = 0x0003_00e7;

#[track_caller]
fn wires(code: &Program, parameters: &Parameters, steps: &[Step], expected: &[&str]) {
    let steps: Vec<Step> = [enable(true)].iter().chain(steps).cloned().collect();
    let log = encode(code, parameters, &Policy::default(), &steps);
    let expected: Vec<Vec<u8>> = expected.iter().map(|bytes| hex(bytes)).collect();
    assert_eq!(payloads(&log.wire), expected, "{:#x?}", log.packets().collect::<Vec<_>>());
}

fn packets(code: &Program, parameters: &Parameters, policy: &Policy, steps: &[Step]) -> Vec<Packet> {
    let steps: Vec<Step> = [enable(true)].iter().chain(steps).cloned().collect();
    let log = encode(code, parameters, policy, &steps);
    let without_support =
        |packet: &&Packet| !matches!(packet, Packet::Support { .. } | Packet::StandardSupport(_));
    log.packets().filter(without_support).copied().collect()
}

fn start(address: u64) -> Packet {
    Packet::Start { branch: true, privilege: 3, time: None, context: None, address: Address(address) }
}

fn report(delta: i64, depth: Option<u32>) -> Packet {
    Packet::Address {
        address: ReportedAddress::Delta(delta),
        notify: false,
        updiscon: false,
        irreport: depth.is_some(),
        irdepth: depth.unwrap_or(0),
        irets: 0,
    }
}

fn on(set: impl FnOnce(&mut Modes)) -> Modes {
    let mut modes = Modes::default();
    set(&mut modes);
    modes
}

// Branch prediction and jump target cache: the parameters of the format 0 examples.
fn format_0(modes: Modes) -> Parameters {
    Parameters { f0s_width_p: 1, cache_size_p: 5, bpred_size_p: 4, modes, ..Parameters::default() }
}

fn predicting() -> Parameters {
    format_0(on(|modes| modes.branch_prediction = true))
}

/// Handler addresses are left out where the handler has retired, and only there; they are the base of what
/// follows.
#[test]
fn implicit_exception() {
    let parameters = Parameters {
        modes: on(|modes| modes.implicit_exception = true),
        trap_vectors: Some(TrapVectors { base: Address(0x3000), vectored: false }),
        ..Parameters::default()
    };
    let steps = [
        path(&[0x1000, 0x1004]),
        vec![exception(2, 0x1008)],
        path(&[0x3000, 0x100c]),
        vec![exception(12, 0x1004)],
        path(&[0x3000]),
        vec![interrupt(11)],
        path(&[0x3000, 0x3004]),
    ];
    // Support with ioptions 2. Exception 2, thaddr 1: the first two bytes of `77 11` without address and with
    // tval 0, that is 0x77, 0x01 and thaddr in bit 12: 77 11. Then 0x100c is -0x1ff4 from 0x3000:
    // -0xffa * 4 + 2 = -0x3fe6 = 0xc01a. Exception 12 keeps its address (thaddr 0); interrupt 11 is X10.
    let expected =
        ["1f 02", "73 00 04", "0a", "77 11", "1a c0", "77 46 00 01", "73 00 0c", "f7 fd", "0a", "5f 02"];
    // 0x3000 is the last instruction before the interrupt, but its own synchronisation packet reported it.
    wires(&small_program(), &parameters, &steps.concat(), &expected);
}

#[test]
fn q14_failing_prediction() {
    let code = program(&[(0x1000, NOP), (0x1004, BRANCH), (0x1008, NOP)]);
    let branches: Vec<Step> = (0..73).map(|number| branch(0x1004, number < 72)).collect();
    let steps = [path(&[0x1000]), branches, path(&[0x1008])].concat();
    // The first prediction fails, so 31 outcomes go as a map; 41 right ones and a failure go as a count.
    wires(&code, &predicting(), &steps, &["1f 10", "73 00 04", "01", "50", "12", "5f 10"]);
}

#[test]
fn q15_address_with_predicted_branches() {
    let code = program(&[(0x1000, NOP), (0x1004, BRANCH), (0x1008, RET), (0x1100, NOP), (0x1104, NOP)]);
    let branches: Vec<Step> = (0..80).map(|_| branch(0x1004, true)).collect();
    let steps = [path(&[0x1000]), branches, path(&[0x1008, 0x1100, 0x1104])].concat();
    wires(&code, &predicting(), &steps, &["1f 10", "73 00 04", "01", "90 00 00 00 10 10", "0a", "5f 10"]);
}

fn count(branch_count: u32, branch_fmt: u8, delta: Option<i64>) -> Packet {
    let (notify, updiscon, irreport, irdepth) = (false, false, false, 0);
    let address = delta.map(ReportedAddress::Delta);
    Packet::BranchCount { branch_count, branch_fmt, address, notify, updiscon, irreport, irdepth, irets: 0 }
}

/// An untouched entry predicts "not taken", so branches that are never taken are all right from the start.
#[test]
fn counts_at_their_border() {
    let code = program(&[(0x1000, NOP), (0x1004, BRANCH), (0x1008, NOP)]);
    let run = |right: usize, then_fail: bool, after: &[u64]| {
        let mut steps = path(&[0x1000]);
        steps.extend((0..right).map(|_| branch(0x1004, false)));
        steps.extend(then_fail.then(|| branch(0x1004, true)));
        steps.extend(path(after));
        packets(&code, &predicting(), &Policy::default(), &steps)
    };
    let map = |branches, branch_map, delta| Packet::Branch {
        branches,
        branch_map,
        address: Some(ReportedAddress::Delta(delta)),
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    // 30 right: an ordinary map.
    assert_eq!(run(30, false, &[0x1008]), [start(0x1000), map(30, 0x3fff_ffff, 8)]);
    // 31 right: a count of 0 (RVET-ENC-065), also if the last of them is the reported instruction.
    assert_eq!(run(31, false, &[0x1008]), [start(0x1000), count(0, 2, Some(8))]);
    assert_eq!(run(31, false, &[]), [start(0x1000), count(0, 2, Some(4))]);
    // A failure after 31 right ones is due at once (RVET-ENC-064), or with its address (RVET-ENC-066).
    assert_eq!(run(31, true, &[0x1008]), [start(0x1000), count(0, 0, None), report(8, None)]);
    assert_eq!(run(31, true, &[]), [start(0x1000), count(0, 3, Some(4))]);
    // A failure as 31st outcome: a full map (RVET-ENC-063).
    let full = Packet::Branch {
        branches: 0,
        branch_map: 0x3fff_ffff,
        address: None,
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    assert_eq!(run(30, true, &[0x1008]), [start(0x1000), full, report(8, None)]);
}

/// RVET-ENC-062, RVET-ENC-082: the synchronisation packet's own branch is the first that the predictor learns.
#[test]
fn the_predictor_forgets_at_synchronisation_packets() {
    let code = program(&[(0x1000, BRANCH), (0x1004, NOP)]);
    let steps = |taken: usize| {
        let branches: Vec<Step> = (0..taken).map(|_| branch(0x1000, true)).collect();
        [branches, path(&[0x1004])].concat()
    };
    let own =
        Packet::Start { branch: false, privilege: 3, time: None, context: None, address: Address(0x1000) };
    let got = packets(&code, &predicting(), &Policy::default(), &steps(32));
    // The first outcome goes with the start and leaves the entry at "taken": 31 right ones.
    assert_eq!(got, [own, count(0, 2, Some(4))]);
}

#[test]
fn q16_jump_target_cache() {
    let code = program(&[
        (0x1000, NOP),
        (0x1004, JALR),
        (0x2008, NOP),
        (0x200c, JALR),
        (0x3010, NOP),
        (0x3014, NOP),
    ]);
    let parameters = format_0(on(|modes| modes.jump_target_cache = true));
    let steps = path(&[0x1000, 0x1004, 0x2008, 0x200c, 0x1000, 0x1004, 0x2008, 0x200c, 0x3010, 0x3014]);
    let expected = ["1f 08", "73 00 04", "12 20", "f2 df", "24", "12 20", "0a", "5f 08"];
    wires(&code, &parameters, &steps, &expected);
}

#[test]
fn q17_jump_target_cache_with_branches() {
    let code = program(&[(0x1000, NOP), (0x1004, JALR), (0x2008, NOP), (0x200c, BRANCH), (0x2010, JALR)]);
    let parameters = format_0(on(|modes| modes.jump_target_cache = true));
    let lap = || [path(&[0x1000, 0x1004, 0x2008]), vec![branch(0x200c, false)], path(&[0x2010])].concat();
    let steps = [lap(), lap(), path(&[0x1000, 0x1004])].concat();
    let expected = ["1f 08", "73 00 04", "12 20", "85 fc f7", "24", "04 e1", "0a", "5f 08"];
    wires(&code, &parameters, &steps, &expected);
}

/// Format 0 subformat 1 cannot express that a format 3 packet follows, so the plain form is used; and after the
/// synchronisation packet the cache is empty.
#[test]
fn the_cache_and_synchronisation_packets() {
    let code = program(&[(0x1000, NOP), (0x1004, JALR), (0x3000, JALR)]);
    let parameters = format_0(on(|modes| modes.jump_target_cache = true));
    let steps = [
        path(&[0x1000, 0x1004, 0x1000, 0x1004, 0x1000]),
        vec![exception(2, 0x1004)],
        path(&[0x3000, 0x1000, 0x1004]),
    ];
    let flagged = Packet::Address {
        address: ReportedAddress::Delta(0),
        notify: false,
        updiscon: true,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    let handler = Packet::Trap {
        branch: true,
        privilege: 3,
        time: None,
        context: None,
        ecause: 2,
        interrupt: false,
        thaddr: true,
        address: Some(Address(0x3000)),
        tval: Some(0),
    };
    let got = packets(&code, &parameters, &Policy::default(), &steps.concat());
    // 0x1000 by its first jump is new to the cache (the start packet's address is not stored); the second
    // arrival by format 2 with delta 0 is as short as an index and is kept in format 0.
    assert_eq!(got[..2], [start(0x1000), report(0, None)]);
    assert_eq!(got[2..], [flagged, handler, report(-0x2000, None), report(4, None)]);
}

fn sijump(itype_width_p: u8) -> Parameters {
    Parameters {
        sijump_p: true,
        itype_width_p,
        modes: on(|modes| modes.sijump = true),
        ..Parameters::default()
    }
}

/// `auipc x6`; `jalr x0, 0(x6)` as in ET 3.2.4.
fn far_jump() -> Program {
    program(&[(0x1000, NOP), (0x1004, 0x0000_0317), (0x1008, 0x0003_0067), (0x2000, NOP), (0x2004, NOP)])
}

#[test]
fn sequentially_inferable_jump() {
    let steps = path(&[0x1000, 0x1004, 0x1008, 0x2000, 0x2004]);
    let got = packets(&far_jump(), &sijump(4), &Policy::default(), &steps);
    assert_eq!(got, [start(0x1000), report(0x1004, None)]);
    // With the mode off it is a jump like any other.
    let off = Parameters { modes: Modes::default(), ..sijump(4) };
    let got = packets(&far_jump(), &off, &Policy::default(), &steps);
    assert_eq!(got, [start(0x1000), report(0x1000, None), report(4, None)]);
}

/// RVET-ENC-051: a decoder that has not seen the `auipc` cannot infer the jump.
#[test]
fn sequentially_inferable_jump_after_something_untraced() {
    let steps = [untraced(retire(0x1004)), path(&[0x1008, 0x2000, 0x2004])].concat();
    let got = packets(&far_jump(), &sijump(4), &Policy::default(), &steps);
    assert_eq!(got, [start(0x1008), report(0xff8, None), report(4, None)]);
    // A synchronisation packet on the jump itself: decoders may join there.
    let context = Step::Retire(Retire { ctype: 2, ..instruction(0x1008) });
    let steps = [path(&[0x1000, 0x1004]), vec![context], path(&[0x2000, 0x2004])].concat();
    let got = packets(&far_jump(), &sijump(4), &Policy::default(), &steps);
    assert_eq!(got, [start(0x1000), start(0x1008), report(0xff8, None), report(4, None)]);
}

/// Modes that change the walk start anew: the last instruction before is reported, the next one synchronises.
#[test]
fn switching_prediction_on() {
    let code = program(&[(0x1000, NOP), (0x1004, BRANCH), (0x1008, NOP), (0x100c, NOP)]);
    let parameters = format_0(Modes::default());
    let modes = Stimulus::Modes(on(|modes| modes.branch_prediction = true));
    let steps = [
        enable(true),
        retire(0x1000),
        branch(0x1004, false),
        Step::Stimulus(modes),
        retire(0x1008),
        retire(0x100c),
    ];
    let log = encode(&code, &parameters, &Policy::default(), &steps);
    let support = |ioptions, qual_status| Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status,
        ioptions,
        denable: false,
        dloss: false,
        doptions: 0,
    };
    let mapped = Packet::Branch {
        branches: 1,
        branch_map: 1,
        address: Some(ReportedAddress::Delta(4)),
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    let expected = [
        support(0, QualStatus::NoChange),
        start(0x1000),
        mapped,
        support(0x10, QualStatus::NoChange),
        start(0x1008),
        report(4, None),
        support(0x10, QualStatus::EndedRep),
    ];
    assert_eq!(log.packets().copied().collect::<Vec<_>>(), expected);
}

/// A trap's EPC follows from the modes that a decoder knows when the trap's packet comes, so other modes wait for the
/// first jump or branch of its handler.
#[test]
fn switching_before_a_trap() {
    let code = program(&[
        (0x1000, NOP),
        (0x1004, 0x0000_0317),
        (0x1008, JALR_T1),
        (0x3000, NOP),
        (0x3004, BRANCH),
        (0x3008, NOP),
        (0x300c, NOP),
    ]);
    let modes = on(|modes| modes.sijump = true);
    let parameters = Parameters { sijump_p: true, ..format_0(modes) };
    let other = Step::Stimulus(Stimulus::Modes(Modes { branch_prediction: true, ..modes }));
    let path_to_trap = [vec![enable(true)], path(&[0x1000, 0x1004, 0x1008])].concat();
    let handler = [path(&[0x3000]), vec![branch(0x3004, false)], path(&[0x3008, 0x300c])].concat();
    let before = [vec![other.clone(), exception(12, 0x1004)], handler.clone()].concat();
    let after = [vec![exception(12, 0x1004), other], handler].concat();
    for tail in [before, after] {
        let steps = [path_to_trap.clone(), tail].concat();
        let log = encode(&code, &parameters, &Policy::default(), &steps);
        // Support; 0x1000; the jump as last instruction; handler with its cause; the branch as last instruction;
        // support; 0x3008; end.
        let expected = ["1f", "73 00 04", "12", "77 16 00 03", "85 02", "1f 10", "73 02 0c", "0a", "5f 10"];
        let expected: Vec<Vec<u8>> = expected.iter().map(|bytes| hex(bytes)).collect();
        assert_eq!(payloads(&log.wire), expected, "{:#x?}", log.packets().collect::<Vec<_>>());
    }
}

/// A start packet has no `irreport`, so other modes wait until a return is known to be right or wrong, and for the
/// next jump or branch.
#[test]
fn switching_after_a_return() {
    let parameters = Parameters { f0s_width_p: 1, cache_size_p: 5, bpred_size_p: 4, ..stack() };
    let code = program(&[
        (0x1000, CALL),
        (0x1004, NOP),
        (0x1008, BRANCH),
        (0x100c, NOP),
        (0x1010, NOP),
        (0x2000, RET),
    ]);
    let steps = [
        vec![enable(true)],
        path(&[0x1000, 0x2000]),
        vec![Step::Stimulus(Stimulus::Modes(on(|modes| modes.branch_prediction = true)))],
        path(&[0x1004]),
        vec![branch(0x1008, false)],
        path(&[0x100c, 0x1010]),
    ];
    let log = encode(&code, &parameters, &Policy::default(), &steps.concat());
    // Support; 0x1000; the branch as last instruction; support; 0x100c; end.
    let expected = ["1f 01", "73 00 04", "85 04", "1f 10", "73 03 04", "0a", "5f 10"];
    let expected: Vec<Vec<u8>> = expected.iter().map(|bytes| hex(bytes)).collect();
    assert_eq!(payloads(&log.wire), expected, "{:#x?}", log.packets().collect::<Vec<_>>());
}
