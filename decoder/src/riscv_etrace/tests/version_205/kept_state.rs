//! Reading `resync-disabled-keeps-state`: return stack and predictor over synchronisation packets.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Modes, Parameters};

use super::super::modes::jal;
use super::super::{JUMP, LOOP, MRET, NOP, RET, program};
use super::{implicit, later, summary};

/// `resync_disabled`, a stack of eight, `irets` and `irdepth`.
const IRETS: &str = "1f 84 c1 00";
const IRDEPTH: &str = "1f 84 c0 00";
/// Format 3.0 at 0x1000.
const START: &str = "73 00 04";
/// Format 2: -0xffc with `irreport` and `irdepth` 0.
const BACK: &str = "0a e0 ff ff 07";

fn with_irets() -> Parameters {
    Parameters { resync_disabled_keeps_state: true, ..implicit() }
}

fn with_irdepth() -> Parameters {
    Parameters { iret_ext: false, ..with_irets() }
}

/// A call at 0x1000 of 0x2000, which calls 0x2100 and returns.
fn nested(inner: &[u32]) -> Vec<(u64, Vec<u32>)> {
    let outer = vec![jal(1, 0x1000), NOP, NOP];
    vec![(0x1000, outer), (0x2000, vec![jal(1, 0x100), RET]), (0x2100, inner.to_vec())]
}

#[track_caller]
fn decodes(parameters: &Parameters, code: &[(u64, Vec<u32>)], payloads: &[&str], expected: &str) {
    let sections: Vec<(u64, &[u32])> = code.iter().map(|(base, code)| (*base, &code[..])).collect();
    assert_eq!(summary(parameters, &program(&sections), payloads), expected);
}

/// RVET-DEC-003: the updiscon flag says that nothing retires between a report and the next synchronisation packet, not
/// the one after.
#[test]
fn updiscon_flags_hold_up_to_one_synchronisation_packet() {
    // The handler begins with a return to 0x1004, and there is an `mret` to user level at 0x4000.
    let code = [
        (0x1000, vec![jal(1, 0x1000), MRET]),
        (0x2000, vec![JUMP]),
        (0x2100, vec![NOP, NOP]),
        (0x3000, vec![RET]),
        (0x4000, vec![NOP, NOP]),
    ];
    // Format 2: +0x1100 with updiscon; 3.1: exception 2; 3.0: privilege 0.
    let payloads = [IRETS, START, "02 22 00 00 fc", "77 11 00 03", "13 00 10", "0a"];
    let expected = "P3 1000 2000 2100 E2@2104 P3 3000 1004 P0 4000 4004";
    decodes(&with_irets(), &code, &payloads, expected);
    let payloads = [IRDEPTH, START, "02 22 00 00 fc", "77 11 00 03", "13 00 10", "0a"];
    decodes(&with_irdepth(), &code, &payloads, expected);
}

/// Reading `failed-return-does-not-pop`: the EPC of an exception after a failed return travels with `thaddr` = 0, and
/// the handler with format 3.0.
#[test]
fn failed_returns_before_an_exception_keep_their_link() {
    let code = [(0x1000, vec![jal(1, 0x1000), NOP, NOP]), (0x2000, vec![RET]), (0x3000, vec![NOP, RET])];
    // Format 2: +0x1000; 3.1: exception 12 at 0x1100; 3.0: 0x3000; format 2: -0x1ff8, `irdepth` 0.
    let payloads = [IRDEPTH, START, "02 20", "77 06 10 01", "73 00 0c", "12 c0 ff ff 07"];
    decodes(&with_irdepth(), &code, &payloads, "P3 1000 2000 E12@1100 P3 3000 3004 1004 1008");
}

/// Reading `interrupted-return-is-a-predicted-one`: one or two traps before the handler retires, format 3.1 ends them.
#[test]
fn interrupted_returns_consume_their_link() {
    let code = [nested(&[RET]), vec![(0x3000, vec![MRET])]].concat();
    // Format 2: +0x1100; 3.1: interrupt 7; format 2: -0xffc.
    let payloads = [IRDEPTH, START, "02 22", "f7 1b 00 03", "0a e0", BACK];
    decodes(&with_irdepth(), &code, &payloads, "P3 1000 2000 2100 I7 P3 3000 2004 1004 1008");
    // 3.1: interrupt 7 without handler, interrupt 3 with it.
    let payloads = [IRDEPTH, START, "02 22", "f7 0b", "f7 19 00 03", "0a e0", BACK];
    decodes(&with_irdepth(), &code, &payloads, "P3 1000 2000 2100 I7 I3 P3 3000 2004 1004 1008");
}

/// Format 3.0 directly after the report of a return: it consumes its link if it went there, otherwise with `irets` only.
#[test]
fn returns_before_a_start_packet() {
    let code = [nested(&[JUMP]), vec![(0x1100, vec![RET]), (0x2200, vec![RET])]].concat();
    // Format 2: +0x1200 with updiscon; 3.0: 0x2004.
    let payloads = [IRDEPTH, START, "02 24 00 00 fc", "73 01 08", BACK];
    decodes(&with_irdepth(), &code, &payloads, "P3 1000 2000 2100 2200 P3 2004 1004 1008");
    // 3.0: 0x1100; format 2: -0xf8, `irdepth` 0. The entries are those of both calls.
    let payloads = [IRDEPTH, START, "02 24 00 00 fc", "73 40 04", "12 fe ff ff 07"];
    decodes(&with_irdepth(), &code, &payloads, "P3 1000 2000 2100 2200 P3 1100 2004 1004 1008");
    // The same with `irets` 1: the link to 0x2004 is gone.
    let payloads = [IRETS, START, "02 24 00 00 fc", "73 40 04", "12 fe ff ff 17"];
    decodes(&with_irets(), &code, &payloads, "P3 1000 2000 2100 2200 P3 1100 1004 1008");
}

/// RVET-ENC-061: a branch directly before a trap has executed. Its outcome comes with a map, or with the trap packet
/// before.
#[test]
fn branches_before_a_trap_are_learnt() {
    let parameters = Parameters {
        bpred_size_p: 4,
        modes: Modes { branch_prediction: true, ..Modes::default() },
        resync_disabled_keeps_state: true,
        ..later()
    };
    // A branch to itself at 0x1004; the handler jumps there.
    let code = [(0x1000, vec![NOP, LOOP]), (0x3000, vec![jal(0, -0x1ffc)])];
    let laps: String = [" 1004"; 31].concat();
    // Format 1: +0x4, taken; 3.1: exception 2; format 0.0: 31 right predictions, -0x1ffc.
    let payloads = ["1f 88 00 80 00", START, "05 02", "77 11 00 03", "00 00 00 00 28 00 ff"];
    let expected = format!("P3 1000 1004 E2@1004 P3 3000{laps}");
    decodes(&parameters, &code, &payloads, &expected);
    // 3.0 at 0x1004, taken; 3.1 as before.
    let payloads = ["1f 88 00 80 00", "63 01 04", "77 11 00 03", "00 00 00 00 28 00 ff"];
    let expected = format!("P3 1004 E2@1004 P3 3000{laps}");
    decodes(&parameters, &code, &payloads, &expected);
}
