//! ETMv1: refusals, reasons, periodic synchronisation, Context IDs, overflow.

use crate::arm_etm::Encoder;
use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{Isa, Packet, Parameters, Policy, Position, Stimulus, Transfer};
use traceproof_vectors::{Address32, Encoder as _, Refusal};

use super::{branch_to, calm, direct, no_data, packets, run, shown, started, v1, values_only};
use crate::arm_etm::tests::{And, at, encode, execute, hit, off, store, wait, wide};

#[test]
fn impossible_parameters_and_choices_are_refused() {
    let context = Parameters { context_id_bytes: 4, ..v1() };
    for (parameters, fifo_size, name) in [
        (Parameters { minor: 4, ..v1() }, 64, "minor"),
        (Parameters { port_width: 32, ..v1() }, 64, "port_width"),
        (Parameters { bare_port: true, ..v1() }, 64, "bare_port"),
        (v1(), 0, "fifo_size"),
        (v1(), 4, "fifo_size"),
        (context.clone(), 8, "fifo_size"),
    ] {
        let refusal = Encoder::default()
            .begin(&parameters, &Policy { fifo_size, ..Policy::default() })
            .expect_err("it cannot be");
        assert!(matches!(refusal, Refusal::Invalid { parameter, .. } if parameter == name), "{refusal}");
    }
    for (parameters, fifo_size) in
        [(v1(), 5), (context.clone(), 9), (Parameters { minor: 1, ..context }, 5), (v1(), 255)]
    {
        let policy = Policy { fifo_size, ..Policy::default() };
        assert_eq!(Encoder::default().begin(&parameters, &policy), Ok(()), "{fifo_size}");
    }
}

fn reasons(parameters: &Parameters, policy: &Policy, cycles: &[Stimulus]) -> Vec<AddressReason> {
    let reason = |packet: &Packet| match packet {
        Packet::FullBranchAddress { reason, .. } => Some(*reason),
        _ => None,
    };
    packets(parameters, policy, cycles).iter().filter_map(reason).collect()
}

/// ETM1-PKT-014, ETM1-SYN-004 (5.8.1, 5.9).
#[test]
fn reasons_of_restarts() {
    use AddressReason::{DebugExit, Overflow, TraceEnabled};
    let debug = || Stimulus { debug: true, ..off() };
    let many = |cycle: Stimulus, count| vec![cycle; count];
    let on = || vec![execute(0x8000)];
    let tight = Policy { fifo_size: 8, ..calm() };
    let too_much = || execute(0x8004).and(store(0x1000, 1));
    for (cycles, policy, expected) in [
        ([on(), many(off(), 9), on()].concat(), calm(), [TraceEnabled, TraceEnabled]),
        ([on(), many(debug(), 9), on()].concat(), calm(), [TraceEnabled, DebugExit]),
        ([on(), many(debug(), 9), many(off(), 9), on()].concat(), calm(), [TraceEnabled, DebugExit]),
        // The macrocell receives the instruction as early as the processor entering debug state.
        ([on(), many(off(), 7), many(debug(), 2), on()].concat(), calm(), [TraceEnabled, DebugExit]),
        ([vec![too_much()], many(wait(), 12), on()].concat(), tight, [TraceEnabled, Overflow]),
        ([vec![too_much()], many(debug(), 12), on()].concat(), tight, [TraceEnabled, Overflow]),
        ([vec![too_much()], many(off(), 12), on()].concat(), tight, [TraceEnabled, Overflow]),
    ] {
        assert_eq!(reasons(&v1(), &policy, &started(cycles)), expected);
    }
}

/// ETM1-SYN-001, 002 (5.6.2): how the branch in the record of this number is output, if BE of the restart was in record
/// 0.
#[test]
fn full_addresses_are_due_at_times() {
    let policy = Policy { sync_period: 10, ..Policy::default() };
    let reported = |parameters: &Parameters, record: usize, branch: fn(Stimulus, u32) -> Stimulus| {
        let mut cycles = started([execute(0x8000)]);
        cycles.resize(record, wait());
        cycles.push(branch(execute(0x8004), 0x8000));
        packets(parameters, &policy, &cycles).get(1).copied()
    };
    let indirect = |cycle: Stimulus, address| cycle.branch(address);
    let full = |reason| {
        Some(Packet::FullBranchAddress {
            address: Address32(0x8000),
            reason,
            jazelle: false,
            context_id: None,
        })
    };
    let short =
        Some(Packet::BranchAddress(traceproof_vectors::arm_etm::CompressedAddress { bits: 0, bytes: 1 }));
    for (record, branch, expected) in [
        (9, indirect as fn(Stimulus, u32) -> Stimulus, short),
        (10, indirect, full(AddressReason::Periodic)),
        (14, direct, None),
        (15, direct, full(AddressReason::Periodic)),
    ] {
        assert_eq!(reported(&v1(), record, branch), expected, "record {record}");
    }
    // ETM1-PKT-015: without a reason of its own before ETMv1.2.
    let old = Parameters { minor: 1, ..v1() };
    assert_eq!(reported(&old, 10, indirect), full(AddressReason::Branch));
}

/// ETM1-SYN-003 (5.6.2): every full address counts, also the ones that compression needs.
#[test]
fn any_full_address_begins_a_period() {
    let policy = Policy { sync_period: 10, ..Policy::default() };
    let mut cycles = started([execute(0x8000)]);
    cycles.extend(vec![wait(); 3]);
    cycles.push(execute(0x8004).branch(0x1000_8000));
    cycles.extend(vec![wait(); 5]);
    // Record 13 is 13 after the restart and 6 after the branch; record 17 is 10 after the branch.
    cycles.extend([execute(0x1000_8000).branch(0x1000_8000), wait(), wait(), wait()]);
    cycles.push(execute(0x1000_8000).branch(0x1000_8000));
    let reason = |packet: &Packet| match packet {
        Packet::FullBranchAddress { reason, .. } => Some(*reason),
        _ => None,
    };
    let packets = packets(&v1(), &policy, &cycles);
    assert_eq!(
        packets.iter().map(reason).collect::<Vec<_>>(),
        [Some(AddressReason::TraceEnabled), Some(AddressReason::Branch), None, Some(AddressReason::Periodic)]
    );
}

/// ETM1-SYN-001, 002 (5.6.2): without room the branch stays short; overdue, the address is forced.
#[test]
fn a_full_address_waits_for_room() {
    let policy = Policy { sync_period: 10, fifo_size: 6, ..Policy::default() };
    let reported = |record: usize| {
        let mut cycles = started([execute(0x8000)]);
        cycles.resize(record - 1, wait());
        cycles.extend([execute(0x8004).and(store(0, 1)), execute(0x8008).branch(0x8000), off(), off()]);
        cycles.extend(vec![off(); 3]);
        cycles.extend([wait(), execute(0x8000)]);
        let log = encode(&values_only(), &policy, &cycles);
        let records = shown(&log, &values_only());
        (records[record].clone(), log.packets().copied().collect::<Vec<_>>())
    };
    let (record, packets) = reported(10);
    assert_eq!(record, "BE 00");
    assert!(matches!(packets[2], Packet::BranchAddress(_)), "{packets:?}");
    let (record, packets) = reported(15);
    assert_eq!(record, "WT 00", "the branch overflows");
    assert!(
        matches!(packets[2], Packet::FullBranchAddress { reason: AddressReason::Overflow, .. }),
        "{packets:?}"
    );
}

/// Reading `etm1-data-addresses-start-over`. ETM1-DAT-004 (5.4).
#[test]
fn data_addresses_start_over() {
    let policy = Policy { sync_period: 20, ..Policy::default() };
    let load = |address| execute(0x8000).and(hit(address, 0));
    let mut cycles = started([load(0x1000), load(0x1004)]);
    cycles.extend(vec![wait(); 17]);
    cycles.extend([execute(0x8000).branch(0x8000), wait(), wait(), load(0x1004), load(0x1084)]);
    let bytes = |packet: &Packet| match packet {
        Packet::DataAddress(address) => Some(address.bytes),
        _ => None,
    };
    let lengths =
        |policy: &Policy| packets(&v1(), policy, &cycles).iter().filter_map(bytes).collect::<Vec<_>>();
    assert_eq!(lengths(&policy), [5, 1, 5, 2]);
    assert_eq!(lengths(&calm()), [5, 1, 1, 2]);
    assert_eq!(lengths(&Policy { minimal_addresses: false, ..calm() }), [5, 5, 5, 5]);
}

/// ETM1-DAT-002, 003 (5.4), ETM-GEN-010 (4.9.2).
#[test]
fn data_of_several_transfers() {
    let half = Transfer { size: 2, ..hit(0x1002, 0x1_abcd) };
    let cycles = started([
        execute(0x8000)
            .and(at(Position::First, hit(0x1000, 1)))
            .and(at(Position::Last, hit(0x1004, 0x0203)))
            .and(wide(store(0x2000, 0x0000_0005_0000_0004))),
        execute(0x8004).and(half),
    ]);
    let value = |bytes, value| Packet::DataValue { bytes, value };
    let expected = [value(4, 1), value(4, 0x0203), value(4, 4), value(4, 5), value(2, 0xabcd)];
    let all = packets(&v1(), &calm(), &cycles);
    let values = all.iter().filter(|packet| matches!(packet, Packet::DataValue { .. })).copied();
    assert_eq!(values.collect::<Vec<_>>(), expected);
    let addresses = all.iter().filter(|packet| matches!(packet, Packet::DataAddress(_)));
    assert_eq!(addresses.count(), 2);
    let addresses_only = Parameters { data_value: false, ..v1() };
    assert_eq!(packets(&addresses_only, &calm(), &cycles).len(), 3, "a restart, two addresses");
}

/// ETM1-PKT-017 (5.6.3).
#[test]
fn a_context_id_goes_with_the_next_branch() {
    let mut cycles = started([execute(0x8000), execute(0x8004), direct(execute(0x8008), 0x8000)]);
    cycles[4].context_id = Some(0x0142);
    let context = Parameters { context_id_bytes: 1, ..no_data() };
    // Six bytes of the restart, the last one its Context ID; then the six of the branch.
    let expected = "BE* 80, IE 80, IE 82, IE 80, IE 10, BE 00, IE* 80, IE 80, WT 82, WT 80, WT 40, WT 42";
    assert_eq!(run(&context, &cycles), expected);
}

/// ETM1-SYN-004, 005 (5.9); reading `etm1-overflow-cuts-data-only`.
#[test]
fn an_overflow_cuts_data() {
    let policy = Policy { fifo_size: 10, ..calm() };
    let mut cycles = started([execute(0x800c).and(store(0x1000, 0x1122_3344))]);
    cycles.extend((4..18).map(|index| execute(0x8000 + 4 * index)));
    let records = shown(&encode(&v1(), &policy, &cycles), &v1()).join(", ");
    assert_eq!(
        records,
        "BE* 8C, IE 80, IE 82, ID 80, WT 10, WT 80, WT A0, WT 80, WT 80, WT 00, WT 44, WT 33, WT 22, \
         BE* C0, IE 80, IE 82, IE 80, IE 20"
    );
    // Only what is whole is a packet.
    let made = packets(&v1(), &policy, &cycles);
    assert!(matches!(made[1], Packet::DataAddress(_)) && made.len() == 3, "{made:?}");
}

/// ETM1-SYN-005 (5.9); reading `etm1-overflow-cuts-data-only`.
#[test]
fn an_overflow_takes_a_branch_address_whole() {
    let policy = Policy { fifo_size: 8, minimal_addresses: false, ..calm() };
    let reported = |cycle: Stimulus| {
        let cycles = started([execute(0x800c).branch(0x9000), wait(), wait(), cycle]);
        shown(&encode(&values_only(), &policy, &cycles), &values_only()).split_off(6).join(", ")
    };
    assert_eq!(reported(execute(0x9000).branch(0x9000)), "WT A0, WT 82, WT 80, WT 00");
    let data = Transfer { size: 1, ..store(0, 0x7f) };
    assert_eq!(reported(execute(0x9000).and(data).branch(0x9000)), "ID A0, WT 82, WT 80, WT 00, WT 7F");
    // In an APO record no status could indicate data.
    let cycles = started([
        execute(0x800c).branch(0x9000),
        execute(0x9000).and(data).branch(0x9000),
        wait(),
        execute(0x9000),
    ]);
    assert_eq!(
        shown(&encode(&values_only(), &policy, &cycles), &values_only()).join(", "),
        "BE* 8C, IE 80, IE 82, BE 80, IE 10, IE* 80, WT A0, WT 82, WT 80, WT 00"
    );
}

/// ETM1-PKT-009 (5.5.4): the Thumb bit takes part.
#[test]
fn thumb_is_a_change() {
    let cycles = started([branch_to(execute(0x8124), 0x8124, Isa::Thumb)]);
    assert_eq!(run(&v1(), &cycles), "BE* A4, IE 82, IE 82, BE 80, IE 10, IE* 25");
}
