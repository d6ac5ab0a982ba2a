//! ETMv3: atoms, cycle counts, synchronisation, overflow, ports.

use crate::arm_etm::Encoder;
use traceproof_vectors::arm_etm::{Architecture, Instruction, Isa, Parameters, Phantom, Policy, Stimulus};
use traceproof_vectors::{Address32, Encoder as _, Refusal};

use crate::arm_etm::tests::{And, at, encode, execute, hex, off, skip, store, wait};
use traceproof_vectors::arm_etm::Position;

pub(crate) fn v3() -> Parameters {
    Parameters { architecture: Architecture::V3, minor: 5, ..Parameters::default() }
}

pub(crate) fn accurate() -> Parameters {
    Parameters { cycle_accurate: true, ..v3() }
}

/// The wire after the A-sync.
pub(crate) fn wire(parameters: &Parameters, policy: &Policy, cycles: &[Stimulus]) -> String {
    let text = hex(&encode(parameters, policy, cycles).wire);
    text.strip_prefix("00 00 00 00 00 80 ").expect("an A-sync comes first").to_owned()
}

pub(crate) fn plainly(cycles: &[Stimulus]) -> String {
    wire(&v3(), &Policy::default(), cycles)
}

#[test]
fn instructions_become_atoms() {
    let cycles = [execute(0x8000), wait(), execute(0x8004), skip(0x8008), skip(0x800c), execute(0x8010)];
    assert_eq!(plainly(&cycles), "08 21 00 80 00 00 C8 8A");
    let each = Policy { pack_atoms: false, ..Policy::default() };
    assert_eq!(wire(&v3(), &each, &cycles), "08 21 00 80 00 00 84 84 C0 C0 84");
}

#[test]
fn cycles_become_atoms() {
    let cycles = [off(), off(), off(), execute(0x8000), wait(), wait(), execute(0x8004), skip(0x8008)];
    // How many cycles came before the first instruction is not known; WE; WWW E; WN.
    assert_eq!(wire(&accurate(), &Policy::default(), &cycles), "70 00 21 00 80 00 00 84 E8 C0");
    let not_in_sync = Policy { count_in_sync: false, ..Policy::default() };
    assert_eq!(wire(&accurate(), &not_in_sync, &cycles), "08 21 00 80 00 00 04 00 84 E8 C0");
    let each = Policy { pack_atoms: false, ..Policy::default() };
    assert_eq!(wire(&accurate(), &each, &cycles), "70 00 21 00 80 00 00 A0 92 A0 A0 A0 92 A0 96");
}

/// ETM3-CC-005: W atoms before tracing stops, then a count. 130 = 02 01 in groups of 7.
#[test]
fn a_gap_is_counted() {
    let mut cycles = vec![execute(0x8000), wait()];
    cycles.extend(core::iter::repeat_n(off(), 130));
    cycles.push(execute(0x9000));
    assert_eq!(
        wire(&accurate(), &Policy { sync_period: 0, ..Policy::default() }, &cycles),
        "70 00 21 00 80 00 00 84 A0 70 82 01 21 00 90 00 00 84"
    );
}

#[test]
fn phantoms_and_halves_share_a_cycle() {
    let phantom = Instruction {
        address: Address32(0x8004),
        executed: true,
        phantom: Some(Phantom { address: Address32(0x8000), taken: false }),
        ..Instruction::default()
    };
    let thumb32 = Instruction {
        address: Address32(0x9000),
        isa: Isa::Thumb,
        executed: true,
        thumb32: true,
        ..Instruction::default()
    };
    let cycle = |instruction| Stimulus { instruction: Some(instruction), ..wait() };
    // W N E: 0x8A.
    assert_eq!(wire(&accurate(), &Policy::default(), &[cycle(phantom)]), "70 00 21 00 80 00 00 8A");
    let two = Parameters { thumb32_single: false, ..v3() };
    assert_eq!(wire(&two, &Policy::default(), &[cycle(thumb32)]), "08 21 01 90 00 00 88");
    assert_eq!(plainly(&[cycle(thumb32)]), "08 21 01 90 00 00 84");
}

#[test]
fn debug_exit_is_a_reason() {
    let debug = Stimulus { debug: true, ..wait() };
    let cycles = [execute(0x8000), debug, execute(0x9000)];
    assert_eq!(plainly(&cycles), "08 21 00 80 00 00 84 08 61 00 90 00 00 84");
}

/// 11 bytes a cycle, one leaves. 12 bytes of synchronisation and five stores fit: 12 + 5 x 11 - 4 = 63. The sixth does
/// not, its cycle and the next ones are lost until 61 + 1 bytes have left: restart in cycle 67.
#[test]
fn overflow_ends_tracing_until_the_fifo_is_empty() {
    let policy = Policy { port_bytes: 1, sync_period: 0, minimal_addresses: false, ..Policy::default() };
    let stores = |count| -> Vec<_> {
        (0..count).map(|n| execute(0x8000 + 4 * n).and(store(0x1234_5678, 0xdead_beef))).collect()
    };
    let unit = "84 2E F8 AC D1 91 01 EF BE AD DE";
    let before = [unit; 5].join(" ");
    assert_eq!(
        wire(&v3(), &policy, &stores(68)),
        format!("08 21 00 80 00 00 {before} 08 41 0C 81 00 00 {unit}")
    );
    // One byte more before it: restart in cycle 68; 68 - 5 = 63 cycles were lost.
    assert_eq!(
        wire(&accurate(), &policy, &stores(69)),
        format!("70 00 21 00 80 00 00 {before} 70 3F 41 10 81 00 00 {unit}")
    );
}

/// ETM3-SYN-019: a trigger in the first cycle comes after the A-sync.
#[test]
fn triggers() {
    let cycles = [off().trigger(), execute(0x8000), execute(0x8004).trigger()];
    assert_eq!(hex(&encode(&v3(), &Policy::default(), &cycles[..1]).wire), "00 00 00 00 00 80 0C");
    assert_eq!(
        hex(&encode(&v3(), &Policy::default(), &cycles).wire),
        "00 00 00 00 00 80 0C 08 21 00 80 00 00 84 0C 84"
    );
}

/// ETM3-MISC-007: TRACECTL, TRACEDATA.
#[test]
fn bare_port() {
    let parameters = Parameters { bare_port: true, ..v3() };
    let policy = Policy { port_bytes: 2, ..Policy::default() };
    let cycles = [off(), off().trigger(), off(), off()];
    assert_eq!(
        hex(&encode(&parameters, &policy, &cycles).wire),
        "00 00 00 00 01 0C 00 00 00 00 00 00 00 80 01 01"
    );
}

#[test]
fn a_capture_may_begin_later() {
    let policy = Policy { capture_from: 8, ..Policy::default() };
    let log = encode(&v3(), &policy, &[execute(0x8000)]);
    assert_eq!(hex(&log.wire), "00 80 00 00 84");
}

/// E3-11.
#[test]
fn data_only() {
    let parameters = Parameters { data_only: true, context_id_bytes: 1, ..v3() };
    let context = Stimulus { context_id: Some(7), ..off() };
    let cycles = [context, execute(0x8000).and(store(0x4000_0000, 1)), execute(0x8004)];
    assert_eq!(wire(&parameters, &Policy::default(), &cycles), "08 07 21 26 80 80 80 80 04 01");
}

/// ETM3-ISY-007: the LSM at 0x8000 began untraced; 0x8004 completes under it.
#[test]
fn tracing_starts_under_an_lsm() {
    let first = Stimulus { transfers: vec![at(Position::First, store(0x4000_0000, 1))], ..execute(0x8000) };
    let cycles = [
        Stimulus { trace_enable: false, ..first },
        execute(0x8004).and(at(Position::Middle, store(0x4000_0004, 2))),
        wait().and(at(Position::Last, store(0x4000_0008, 3))),
    ];
    assert_eq!(plainly(&cycles), "08 A1 00 80 00 00 03 84 26 84 80 80 80 04 02 06 03");
}

#[test]
fn context_id_and_vmid() {
    let parameters = Parameters { context_id_bytes: 1, vmid: true, ..v3() };
    let change = Stimulus { context_id: Some(7), vmid: Some(5), ..execute(0x8004) };
    let again = Stimulus { context_id: Some(0x107), vmid: Some(5), ..execute(0x8008) };
    assert_eq!(
        wire(&parameters, &Policy::default(), &[execute(0x8000), change, again]),
        "08 00 21 00 80 00 00 3C 00 88 6E 07 3C 05 84"
    );
}

/// E3-10; the T-sync follows the I-sync. Gray: 3 is 2, 4 is 6.
#[test]
fn timestamps() {
    let parameters = Parameters { timestamps: true, ..v3() };
    let at = |timestamp, address| Stimulus { timestamp, timestamp_event: true, ..execute(address) };
    let cycles = [at(0x82_f9d0_cd3d, 0x8000), execute(0x8004), at(0x82_f9d0_cf5f, 0x8008)];
    assert_eq!(
        wire(&parameters, &Policy::default(), &cycles),
        "08 21 00 80 00 00 84 42 BD 9A C3 CE AF 90 80 80 00 88 42 DF 1E"
    );
    let gray = Parameters { timestamp_gray: true, timestamp_bits: 48, ..parameters };
    let changed = Stimulus { clock_change: true, ..at(4, 0x8004) };
    assert_eq!(
        wire(&gray, &Policy::default(), &[at(3, 0x8000), changed]),
        "08 21 00 80 00 00 84 42 82 80 80 80 80 80 00 84 46 06"
    );
}

#[test]
fn impossible_combinations_are_refused() {
    let data_only = Parameters { data_only: true, ..accurate() };
    let refused = |parameters: &Parameters, policy: &Policy| Encoder::default().begin(parameters, policy);
    for (parameters, policy, name) in [
        (data_only, Policy::default(), "data_only"),
        (Parameters { minor: 6, ..v3() }, Policy::default(), "minor"),
        (v3(), Policy { fifo_size: 63, ..Policy::default() }, "fifo_size"),
        (v3(), Policy { port_bytes: 0, ..Policy::default() }, "port_bytes"),
    ] {
        let refusal = refused(&parameters, &policy);
        assert!(matches!(refusal, Err(Refusal::Invalid { parameter, .. }) if parameter == name), "{name}");
    }
}
