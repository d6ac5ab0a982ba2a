//! Load misses through the whole model: LM-02 to LM-16 as far as an encoder can produce them.

use traceproof_vectors::arm_etm::{Parameters, Policy, Position, Stimulus, TagChoice};

use crate::arm_etm::tests::{
    And, at, encode, encode_plainly, execute, groups, hit, miss, off, records, skip, store, wait, wide,
};

/// The groups of cycles after one that traces nothing.
fn trace(cycles: impl IntoIterator<Item = Stimulus>) -> Vec<String> {
    trace_with(&Parameters::default(), &Policy::default(), cycles)
}

fn trace_with(
    parameters: &Parameters,
    policy: &Policy,
    cycles: impl IntoIterator<Item = Stimulus>,
) -> Vec<String> {
    let cycles: Vec<_> = std::iter::once(off()).chain(cycles).collect();
    groups(&encode(parameters, policy, &cycles), parameters)
}

#[test]
fn lm_02_compressed_placeholders() {
    for (address, expected) in [
        (0x8000_1238, "78 38"),
        (0x8000_12b8, "78 B8 25"),
        (0x8000_5234, "78 B4 A4 01"),
        (0x8040_1234, "78 B4 A4 80 02"),
        (0x8000_1234, "78 34"),
    ] {
        let groups =
            trace([execute(0x8000).and(miss(0x8000_1234, 1)), execute(0x8004).and(miss(address, 2))]);
        assert_eq!(groups, ["74 B4 A4 80 80 08", expected]);
    }
}

#[test]
fn lm_05_data_out_of_order() {
    let groups = trace([
        execute(0x8000).and(miss(0x1000, 1)),
        execute(0x8004).and(miss(0x2040, 2)),
        execute(0x8008).answer(2, 0x55),
        execute(0x800c).answer(1, 0xcafe_0001),
    ]);
    assert_eq!(groups, ["74 80 A0 80 80 00", "78 C0 40", "44 55", "2C 01 00 FE CA"]);
}

#[test]
fn lm_06_pairs() {
    let load = execute(0x8000).and(wide(miss(0x2000_0100, 1)));
    let groups = trace([load.clone(), wait().answer(1, 0x5566_7788_1122_3344)]);
    assert_eq!(groups, ["F4 80 82 80 80 02 54", "AC 44 33 22 11 2C 88 77 66 55"]);
    let groups = trace([load, wait().answer(1, 0x80_0000_0000)]);
    assert_eq!(groups, ["F4 80 82 80 80 02 54", "A0 24 80"]);
}

#[test]
fn lm_07_in_the_middle_of_an_lsm() {
    let groups = trace([
        execute(0x8000).and(at(Position::First, hit(0x3000_0000, 0xa))),
        wait().and(at(Position::Middle, miss(0x3000_0004, 1))),
        wait().and(at(Position::Middle, hit(0x3000_0008, 0xc))),
        wait().unseen().and(at(Position::Last, hit(0x3000_000c, 0xd))),
        execute(0x8004).answer(1, 0xb),
    ]);
    assert_eq!(groups, ["26 80 80 80 80 03 0A", "54", "06 0C", "6A", "24 0B"]);
}

#[test]
fn lm_07_pair_in_the_middle_of_an_lsm() {
    let groups = trace([
        execute(0x8000).and(miss(0x1000, 1)),
        execute(0x8004).and(at(Position::First, wide(hit(0x3000_0000, 0xb_0000_000a)))),
        wait().and(at(Position::Last, wide(miss(0x3000_0008, 2)))),
    ]);
    assert_eq!(groups, ["74 80 A0 80 80 00", "A6 80 80 80 80 03 0A 06 0B", "D8 58"]);
}

#[test]
fn lm_08_data_share_a_cycle() {
    let first = execute(0x8000).and(miss(0x3000_0000, 1));
    let groups = trace([first.clone(), execute(0x8004).and(hit(0x3000_0010, 0x42)).answer(1, 0x99)]);
    assert_eq!(groups, ["74 80 80 80 80 03", "A4 99 26 10 42"]);
    let groups = trace([first, execute(0x8004).branch(0x8124).answer(1, 0x99)]);
    assert_eq!(groups, ["74 80 80 80 80 03", "A4 99 93 01"]);
}

#[test]
fn lm_09_trace_off_before_the_data() {
    let mut cycles = vec![
        off(),
        execute(0x8000),
        execute(0x8004).and(miss(0x2000_0100, 1)),
        execute(0x8008),
        execute(0x800c).and(hit(0x2000_0140, 0x42)),
    ];
    cycles.extend(std::iter::repeat_n(off(), 10));
    cycles.push(off().answer(1, 0xcafe_0001));
    let expected = "TD 01, IE 20, DE 00, IE 80, DE 00, WT 00, WT 74, WT 80, WT 82, WT 80, WT 80, WT 02, WT 26, WT 40, \
                    WT 42, DW 2C, WT 01, WT 00, WT FE, WT CA";
    assert_eq!(records(&encode_plainly(&cycles), &Parameters::default()).join(", "), expected);
}

/// The worked example begins with base addresses in place and nothing pending; the first line leads there.
#[test]
fn lm_10_pair_with_trigger_and_branch() {
    let mut cycles = vec![off(), execute(0x8000).and(miss(0x2000_0000, 1))];
    cycles.extend(std::iter::repeat_n(wait(), 10));
    cycles.extend([
        execute(0x8004),
        execute(0x8008).and(wide(miss(0x2000_0100, 2))),
        execute(0x800c).trigger(),
        skip(0x8010),
        execute(0x8014).branch(0x8124).answer(2, 1),
    ]);
    let expected = "TD 01, DE 20, WT 00, WT 80, WT 00, WT 00, WT 74, WT 80, WT 80, WT 80, WT 80, WT 02, \
                    IE 00, DE F8, TR 00, IN 80, DE 02, WT 58, WT C4, WT 01, WT C0, WT 93, WT 01";
    assert_eq!(records(&encode_plainly(&cycles), &Parameters::default()).join(", "), expected);
}

/// LM-12 from the encoder's side: it does not use the tag of a miss whose data can still come.
#[test]
fn lm_12_tags_of_outstanding_misses_are_not_reused() {
    let policy = Policy { fifo_size: 14, ..Policy::default() };
    let mut cycles = vec![
        execute(0x8000),
        execute(0x8004).and(miss(0x1000, 1)),
        execute(0x8008).and(store(0x1040, 0xdead_beef)),
    ];
    cycles.extend(std::iter::repeat_n(execute(0x800c), 9));
    cycles.extend([execute(0x8100).and(miss(0x5000, 2)), execute(0x8104).answer(1, 0x98).answer(2, 0x99)]);
    let groups = trace_with(&Parameters::default(), &policy, cycles);
    assert_eq!(groups, ["74 80 A0 80 80 00", "78 80 A0 81 80 00", "A4 98 44 99"]);
}

#[test]
fn lm_13_data_in_the_cycle_of_a_tfo() {
    let mut cycles = vec![execute(0x8000).and(miss(0x1000, 1))];
    cycles.extend(std::iter::repeat_n(off(), 9));
    cycles.extend([off().answer(1, 0x99), execute(0x9000)]);
    assert_eq!(trace(cycles.clone()), ["74 80 A0 80 80 00"]);
    // One cycle earlier they are not lost.
    cycles.swap(9, 10);
    assert_eq!(trace(cycles), ["74 80 A0 80 80 00", "24 99"]);
}

#[test]
fn lm_13_a_periodic_tfo_waits() {
    let policy = Policy { sync_period: 3, ..Policy::default() };
    let cycles = [
        off(),
        execute(0x8000),
        execute(0x8004).and(miss(0x1000, 1)),
        execute(0x8008).answer(1, 0x99),
        execute(0x800c),
        off(),
    ];
    let log = encode(&Parameters::default(), &policy, &cycles);
    // At the TFO the FIFO holds 5 + 6 + 2 bytes, less those that left in cycles 1 to 3.
    let expected = ["TD 01", "IE 20", "DE 00", "DE 80", "TD A1"];
    assert_eq!(records(&log, &Parameters::default()).get(..5), Some(expected.map(String::from).as_slice()));
}

#[test]
fn lm_16_value_only() {
    let parameters = Parameters { data_address: false, ..Parameters::default() };
    let cycles = [execute(0x8000).and(miss(0x4000, 1)), execute(0x8004).answer(1, 0x1234_5678)];
    assert_eq!(trace_with(&parameters, &Policy::default(), cycles), ["74", "2C 78 56 34 12"]);
}

#[test]
fn lm_16_address_only() {
    let parameters = Parameters { data_value: false, ..Parameters::default() };
    let cycles = [
        execute(0x8000).and(miss(0x4000, 1)),
        execute(0x8004).answer(1, 0x1234_5678),
        execute(0x8008).and(store(0x4004, 0x42)),
    ];
    assert_eq!(trace_with(&parameters, &Policy::default(), cycles), ["74 80 80 81 80 00", "22 04"]);
}

#[test]
fn a_miss_that_the_filter_hides_is_never_answered() {
    let groups = trace([
        execute(0x8000).and(miss(0x5000, 1)).unseen(),
        execute(0x8004).and(miss(0x4000, 2)),
        execute(0x8008).answer(1, 5),
        execute(0x800c).answer(2, 6).unseen(),
    ]);
    assert_eq!(groups, ["74 80 80 81 80 00", "24 06"]);
}

#[test]
fn tags_are_a_choice() {
    let cycles = [
        execute(0x8000).and(miss(0x4000, 1)),
        execute(0x8004).answer(1, 0),
        execute(0x8008).and(miss(0x4000, 2)),
    ];
    let round = Policy { tags: TagChoice::RoundRobin, tag_zero: true, ..Policy::default() };
    let groups = trace_with(&Parameters::default(), &round, cycles.clone());
    assert_eq!(groups, ["70 80 80 81 80 00", "00", "74 00"]);
    let zero = Policy { tag_zero: true, ..Policy::default() };
    assert_eq!(trace_with(&Parameters::default(), &zero, cycles), ["70 80 80 81 80 00", "00", "70 00"]);
}

#[test]
fn reset_frees_tags_and_drops_data() {
    let groups = trace([
        execute(0x8000).and(miss(0x4000, 1)),
        Stimulus { reset: true, ..wait() },
        execute(0).answer(1, 7),
        execute(4).and(miss(0x4004, 1)),
    ]);
    assert_eq!(groups, ["74 80 80 81 80 00", "74 04"]);
}
