//! ETMv3: data packets and load misses.

use traceproof_vectors::arm_etm::{Access, Parameters, Policy, Position, Stimulus, Transfer};

use super::cycles::{plainly, v3, wire};
use crate::arm_etm::tests::{And, at, execute, hit, miss, store, wait, wide};

/// I-sync at 0x8000, first atom.
const START: &str = "08 21 00 80 00 00 84";
/// D-sync at 0x40000000.
const DSYNC: &str = "80 80 80 80 04";

fn after_sync(parameters: &Parameters, policy: &Policy, cycles: &[Stimulus]) -> String {
    let text = wire(parameters, policy, cycles);
    text.strip_prefix(START).expect("tracing starts at 0x8000").trim_start().to_owned()
}

fn data(cycles: &[Stimulus]) -> String {
    after_sync(&v3(), &Policy::default(), cycles)
}

fn swap(second: Stimulus) -> [Stimulus; 2] {
    [execute(0x8000).and(at(Position::First, hit(0x4000_0000, 1))), second]
}

/// E3-09.
#[test]
fn a_failed_store() {
    let failed = Transfer { failed: true, ..store(0x4000_0004, 0x55) };
    let cycles = [execute(0x8000).and(store(0x4000_0000, 0x11)), execute(0x8004).and(failed)];
    assert_eq!(data(&cycles), format!("26 {DSYNC} 11 84 22 04 50"));
    let address_only = Parameters { data_value: false, ..v3() };
    assert_eq!(after_sync(&address_only, &Policy::default(), &cycles), format!("22 {DSYNC} 84 22 04"));
}

/// E3-09; a change of byte order takes a full address (ETM3-DAT-004).
#[test]
fn byte_order() {
    let big = Transfer { big_endian: true, ..hit(0x1234_5678, 0xab) };
    let cycles = [execute(0x8000).and(big), execute(0x8004).and(hit(0x1234_5678, 0xab))];
    assert_eq!(data(&cycles), "26 F8 AC D1 91 11 AB 84 26 F8 AC D1 91 01 AB");
}

/// ETM3-DAT-007 to 009: later transfers have an address only if it is not the next word.
#[test]
fn lsm() {
    let last = |address| wait().and(at(Position::Last, store(address, 2)));
    assert_eq!(data(&swap(last(0x4000_0004))), format!("26 {DSYNC} 01 06 02"));
    assert_eq!(data(&swap(last(0x4000_0000))), format!("26 {DSYNC} 01 26 00 02"));
    assert_eq!(data(&swap(last(0x4000_0100).unseen())), format!("26 {DSYNC} 01 7A 80 02"));
    assert_eq!(data(&swap(last(0x4000_0004).unseen())), format!("26 {DSYNC} 01 6A"));
}

/// ETM3-ENC-002: what is left of an LSM precedes the atom of the next data instruction.
#[test]
fn data_stand_before_the_atom_of_the_next_data_instruction() {
    let both = execute(0x8004).and(at(Position::Last, store(0x4000_0004, 2))).and(store(0x4000_0008, 3));
    assert_eq!(data(&swap(both)), format!("26 {DSYNC} 01 06 02 84 26 08 03"));
    let under = execute(0x8004).and(at(Position::Last, store(0x4000_0004, 2)));
    assert_eq!(data(&swap(under)), format!("26 {DSYNC} 01 84 06 02"));
}

/// E3-08.
#[test]
fn a_wide_miss() {
    let cycles = [
        execute(0x8000).and(wide(miss(0x2000_0100, 9))),
        execute(0x8004),
        wait().answer(9, 0x5566_7788_1122_3344),
    ];
    assert_eq!(data(&cycles), "74 80 82 80 80 02 54 84 2C 44 33 22 11 2C 88 77 66 55");
}

/// ETM3-OOO-001, ETM2-LM-018: three tags, answered in any order; a hit under them.
#[test]
fn misses_out_of_order() {
    let cycles = [
        execute(0x8000).and(miss(0x4000_0000, 7)),
        execute(0x8004).and(miss(0x4000_0004, 8)),
        execute(0x8008).and(miss(0x4000_0008, 9)),
        execute(0x800c).and(hit(0x4000_000c, 4)).answer(8, 0),
        wait().answer(9, 0x300).answer(7, 0x11),
        execute(0x8010).and(miss(0x4000_0010, 10)),
    ];
    assert_eq!(data(&cycles), format!("74 {DSYNC} 84 78 04 84 7C 08 40 84 26 0C 04 68 00 03 24 11 84 74 10"));
}

/// ETM2-LM-012, 013: data follow their placeholder, whatever is traced when they come.
#[test]
fn data_of_untraced_misses_are_not_traced() {
    let cycles = [
        execute(0x8000).and(miss(0x4000_0000, 7)),
        execute(0x8004).and(miss(0x4000_0004, 8)).unseen(),
        Stimulus::default().answer(8, 1).answer(7, 2),
    ];
    assert_eq!(data(&cycles), format!("74 {DSYNC} 84 24 02"));
}

/// ETM2-LM-027 to 029: overflow, debug state and reset lose data.
#[test]
fn data_get_lost() {
    let loads = execute(0x8000).and(miss(0x4000_0000, 7));
    let reset = Stimulus { reset: true, ..wait() };
    let debug = Stimulus { debug: true, ..wait() };
    let expected = format!("74 {DSYNC}");
    assert_eq!(data(&[loads.clone(), reset, wait().answer(7, 2)]), expected);
    assert_eq!(data(&[loads.clone(), debug.clone().answer(7, 2)]), expected);
    assert_eq!(data(&[loads, debug, wait().answer(7, 2)]), format!("{expected} 24 02"));
}

/// A miss that is the first traced packet of a tag whose last owner was reset away, directly after it, would make a
/// pair of them (ETM3-OOO-005); in data-only mode no atom stands between.
#[test]
fn different_misses_never_look_like_a_pair() {
    let parameters = Parameters { data_only: true, ..v3() };
    let cycles = [
        execute(0x8000).and(miss(0x4000_0000, 7)),
        Stimulus { reset: true, ..wait() },
        execute(0).and(miss(0x4000_0000, 8)),
    ];
    assert_eq!(wire(&parameters, &Policy::default(), &cycles), format!("08 21 74 {DSYNC} 78 00"));
}

/// Header only, no A bit; with the filter only where ViewData is.
#[test]
fn coprocessor_transfers() {
    let transfer = Transfer::new(0, Access::Coprocessor, 0x1234);
    let cycles = [execute(0x8000).and(transfer), execute(0x8004).and(transfer).unseen()];
    let monitored = Parameters { monitor_cprt: true, ..v3() };
    let filtered = Parameters { filter_cprt: true, ..monitored };
    let policy = Policy::default();
    assert_eq!(plainly(&cycles), "08 21 00 80 00 00 88");
    assert_eq!(after_sync(&monitored, &policy, &cycles), "0A 34 12 84 0A 34 12");
    assert_eq!(after_sync(&filtered, &policy, &cycles), "0A 34 12 84");
}

/// ETM3-DAT-012, 014, 015: the second store finds 45 bytes free and is the first one suppressed, the third one
/// vanishes; when the FIFO has drained addresses start afresh up to v3.2.
#[test]
fn suppression() {
    let policy = Policy { suppress_below: 60, port_bytes: 1, sync_period: 0, ..Policy::default() };
    let mut cycles: Vec<_> =
        (0..3).map(|n| execute(0x8000 + 4 * n).and(store(0x4000_0000 + 4 * n, 1))).collect();
    cycles.extend(core::iter::repeat_n(wait(), 40));
    cycles.push(execute(0x800c).and(store(0x4000_0010, 2)));
    let until = format!("26 {DSYNC} 01 84 62 88 26");
    assert_eq!(after_sync(&v3(), &policy, &cycles), format!("{until} 10 02"));
    let old = Parameters { minor: 2, ..v3() };
    assert_eq!(after_sync(&old, &policy, &cycles), format!("{until} 90 80 80 80 04 02"));
}

/// ETM3-MISC-005: 7E, then the pushes.
#[test]
fn automatic_stacking() {
    let parameters = Parameters { m_profile: true, ..v3() };
    let pushes = Stimulus { exception_entry: true, ..wait() }
        .and(at(Position::First, store(0x4000_0000, 1)))
        .and(at(Position::Last, store(0x4000_0004, 2)));
    let cycles = [execute(0x8000), pushes.clone()];
    assert_eq!(after_sync(&parameters, &Policy::default(), &cycles), format!("7E 26 {DSYNC} 01 06 02"));
    assert_eq!(plainly(&[execute(0x8000), pushes]), format!("{START} 26 {DSYNC} 01 06 02"));
}

#[test]
fn values_and_addresses_of_full_length() {
    let policy = Policy { minimal_values: false, minimal_addresses: false, ..Policy::default() };
    let cycles = [execute(0x8000).and(store(0x4000_0000, 0)), execute(0x8004).branch(0x8000)];
    assert_eq!(after_sync(&v3(), &policy, &cycles), format!("2E {DSYNC} 00 00 00 00 84 81 80 81 80 08"));
}
