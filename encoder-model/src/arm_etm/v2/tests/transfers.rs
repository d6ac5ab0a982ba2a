//! Data other than load misses, branch addresses, Context IDs: E2-01 to E2-05 through the whole model.

use traceproof_vectors::arm_etm::{
    Access, BranchTarget, Instruction, Isa, Parameters, Policy, Position, Stimulus, Transfer,
};

use crate::arm_etm::tests::{
    And, at, encode, encode_plainly, execute, groups, hit, off, records, store, wait, wide,
};
use traceproof_vectors::Address32;

fn trace(parameters: &Parameters, cycles: impl IntoIterator<Item = Stimulus>) -> Vec<String> {
    let cycles: Vec<_> = std::iter::once(off()).chain(cycles).collect();
    groups(&encode(parameters, &Policy::default(), &cycles), parameters)
}

#[test]
fn e2_01_normal_data() {
    let groups = trace(
        &Parameters::default(),
        [
            execute(0x8000).and(store(0x4000_0000, 0)),
            execute(0x8004).and(store(0x4000_0004, 0x1234)),
            execute(0x8008).and(store(0x1234_5678, 0xdead_beef)),
        ],
    );
    assert_eq!(groups, ["22 80 80 80 80 04", "2A 04 34 12", "2E F8 AC D1 91 01 EF BE AD DE"]);
}

/// One branch from `base` to `target`, both with their states.
fn branch(base: (u32, Isa), target: (u32, Isa)) -> String {
    let parameters = Parameters { minor: 1, tfo_jazelle: true, ..Parameters::default() };
    let branch = BranchTarget { address: Address32(target.0), isa: target.1, ..BranchTarget::default() };
    let instruction = Instruction {
        address: Address32(base.0),
        isa: base.1,
        executed: true,
        branch: Some(branch),
        ..Instruction::default()
    };
    trace(&parameters, [Stimulus { instruction: Some(instruction), ..wait() }]).concat()
}

#[test]
fn e2_03_branch_addresses() {
    use Isa::{Arm, Jazelle, Thumb};
    for (base, target, expected) in [
        ((0x8100, Arm), (0x8124, Arm), "13"),
        ((0x8100, Arm), (0x9124, Arm), "93 11"),
        ((0x8124, Arm), (0x40_8124, Arm), "93 81 81 01"),
        ((0x8124, Arm), (0x1000_8124, Arm), "93 81 81 40"),
        ((0x8124, Arm), (0x8000_8124, Arm), "93 81 81 80 0C"),
        ((0x8100, Thumb), (0x8124, Thumb), "25"),
        ((0x8124, Thumb), (0x8000_8124, Thumb), "A5 82 82 80 18"),
        ((0x8124, Arm), (0xc0ff_ee12, Thumb), "93 DC FF 87 1C"),
        ((0x8124, Thumb), (0xc0ff_ee10, Arm), "89 EE FF 83 0E"),
        ((0x8100, Jazelle), (0x8123, Jazelle), "47"),
        ((0x8124, Arm), (0x1234_5678, Jazelle), "F1 D9 A2 A3 22"),
    ] {
        assert_eq!(branch(base, target), expected, "{base:x?} {target:x?}");
    }
}

#[test]
fn e2_04_lsm_in_progress() {
    let log = encode_plainly(&[
        Stimulus { trace_enable: false, ..execute(0x8000).and(at(Position::First, hit(0x5000, 0))) },
        execute(0x8010).and(at(Position::Middle, hit(0x5004, 0x11))),
        wait().and(at(Position::Last, hit(0x5008, 0x22))),
    ]);
    let expected = "TD 01, DE A0, DW 00, WT 80, WT 00, WT 00, WT 09, WT 26, WT 84, WT A0, WT 81, WT 80, WT 00, WT 11, \
                    WT 06, WT 22";
    assert_eq!(records(&log, &Parameters::default()).join(", "), expected);
}

#[test]
fn e2_05_partial_lsm() {
    let word = |position, index: u32, value| wait().and(at(position, store(0x5000_0000 + 4 * index, value)));
    let lsm = |seen: [bool; 4]| {
        let mut cycles = [
            execute(0x8000).and(at(Position::First, store(0x5000_0000, 0))),
            word(Position::Middle, 1, 0x11),
            word(Position::Middle, 2, 0x22),
            word(Position::Last, 3, 0x33),
        ];
        for (cycle, seen) in cycles.iter_mut().zip(seen) {
            cycle.view_data = seen;
        }
        trace(&Parameters::default(), cycles)
    };
    assert_eq!(lsm([false, false, true, true]), ["26 88 80 80 80 05 22", "06 33"]);
    assert_eq!(lsm([false, true, true, false]), ["26 84 80 80 80 05 11", "06 22", "6A"]);
}

#[test]
fn wide_stores_are_two_packets() {
    let groups =
        trace(&Parameters::default(), [execute(0x8000).and(wide(store(0x5000_0000, 0x22_0000_0011)))]);
    assert_eq!(groups, ["A6 80 80 80 80 05 11 06 22"]);
}

#[test]
fn coprocessor_transfers_are_monitored_or_not() {
    let transfer = Transfer::new(0, Access::Coprocessor, 0x42);
    let cycles = [execute(0x8000).and(transfer).unseen()];
    let monitored = Parameters { monitor_cprt: true, ..Parameters::default() };
    assert_eq!(trace(&monitored, cycles.clone()), ["06 42"]);
    assert_eq!(trace(&Parameters::default(), cycles), Vec::<String>::new());
}

#[test]
fn only_context_ids_that_look_different_are_reported() {
    let parameters = Parameters { context_id_bytes: 1, ..Parameters::default() };
    let write = |context_id, cycle| Stimulus { context_id: Some(context_id), ..cycle };
    let groups = trace(
        &parameters,
        [write(0x142, execute(0x8000)), write(0x242, execute(0x8004)), write(0x243, wait())],
    );
    assert_eq!(groups, ["6E 42", "6E 43"]);
}

#[test]
fn direct_branches_have_addresses_in_branch_broadcast_only() {
    let mut cycle = execute(0x8000);
    let branch = BranchTarget { address: Address32(0x8040), direct: true, ..BranchTarget::default() };
    cycle.instruction.as_mut().expect("there").branch = Some(branch);
    let broadcast = Parameters { branch_broadcast: true, ..Parameters::default() };
    assert_eq!(trace(&broadcast, [cycle.clone()]), ["21"]);
    assert_eq!(trace(&Parameters::default(), [cycle]), Vec::<String>::new());
}
