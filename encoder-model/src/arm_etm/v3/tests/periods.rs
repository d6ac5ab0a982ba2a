//! ETMv3: periodic synchronisation.

use traceproof_vectors::arm_etm::{Parameters, Policy, Position, Stimulus};

use super::cycles::{v3, wire};
use crate::arm_etm::tests::encode;
use crate::arm_etm::tests::{And, at, execute, hex, off, store, wait};

fn every(sync_period: u32) -> Policy {
    Policy { sync_period, ..Policy::default() }
}

fn v3_0() -> Parameters {
    Parameters { minor: 0, ..v3() }
}

/// ETM2-SYN-001: up to ETMv3.0 cycles, from the A-sync on. D-sync comes with it.
#[test]
fn cycles_in_v3_0() {
    let mut cycles: Vec<_> = (0..9).map(|n| execute(0x8000 + 4 * n)).collect();
    cycles[0].transfers.push(store(0x4000_0000, 1));
    cycles[8].transfers.push(store(0x4000_0004, 2));
    assert_eq!(
        wire(&v3_0(), &every(8), &cycles),
        "08 21 00 80 00 00 84 26 80 80 80 80 04 01 9C 00 00 00 00 00 80 08 01 20 80 00 00 84 26 84 80 80 80 04 02"
    );
    // Bytes: 34 are not reached.
    assert_eq!(wire(&v3(), &every(34), &cycles), "08 21 00 80 00 00 84 26 80 80 80 80 04 01 A0 26 04 02");
}

/// Cycles 0 and 1 make 12 + 8 + 4 = 24 bytes; D-sync follows the periodic I-sync.
fn stores() -> [Stimulus; 5] {
    [
        execute(0x8000).and(store(0x4000_0000, 1)),
        execute(0x8004).and(store(0x4000_0004, 2)),
        wait(),
        execute(0x8008).and(store(0x4000_0008, 3)),
        execute(0x800c),
    ]
}

/// ETM3-SYN-015 (7.10.1): bytes that enter the FIFO, those of the A-sync included; waiting is no trace.
#[test]
fn bytes_from_v3_1() {
    let begin = "08 21 00 80 00 00 84 26 80 80 80 80 04 01 84 26 04 02";
    for minor in [1, 5] {
        let parameters = Parameters { minor, ..v3() };
        assert_eq!(
            wire(&parameters, &every(24), &stores()),
            format!("{begin} 00 00 00 00 00 80 08 01 08 80 00 00 84 26 88 80 80 80 04 03 84")
        );
        // One more: 84 26 08 03 make it 28.
        assert_eq!(
            wire(&parameters, &every(25), &stores()),
            format!("{begin} 84 26 08 03 00 00 00 00 00 80 08 01 0C 80 00 00 84")
        );
    }
    assert_eq!(wire(&v3(), &every(0), &stores()), format!("{begin} 84 26 08 03 84"));
}

/// ETM3-SYN-010: after a gap in the trace the non-periodic I-sync is enough, after an A-sync.
#[test]
fn a_gap_replaces_the_periodic_i_sync() {
    let [first, second, ..] = stores();
    let cycles = [first, second, off(), off(), execute(0x9000)];
    assert_eq!(
        wire(&v3(), &every(24), &cycles),
        "08 21 00 80 00 00 84 26 80 80 80 80 04 01 84 26 04 02 00 00 00 00 00 80 08 21 00 90 00 00 84"
    );
    assert_eq!(
        wire(&v3(), &every(25), &cycles),
        "08 21 00 80 00 00 84 26 80 80 80 80 04 01 84 26 04 02 08 21 00 90 00 00 84"
    );
}

const STORE: &str = "84 2E F8 AC D1 91 01 EF BE AD DE";

/// Three stores leave 45 bytes counted and 42 in a FIFO of 64, too many to synchronise; each further instruction is a
/// byte that enters while one leaves.
fn crowded(instructions: u32) -> Vec<Stimulus> {
    (0..3 + instructions)
        .map(|n| match n {
            0..3 => execute(0x8000 + 4 * n).and(store(0x1234_5678, 0xdead_beef)),
            _ => execute(0x8000 + 4 * n),
        })
        .collect()
}

fn tight() -> Policy {
    Policy { port_bytes: 1, pack_atoms: false, minimal_addresses: false, ..every(50) }
}

fn begin(instructions: usize) -> String {
    format!("08 21 00 80 00 00 {}{}", [STORE; 3].join(" "), " 84".repeat(instructions))
}

/// ETM3-SYN-017 (7.10.1): 100 bytes are counted after 55 instructions. Cycle 58 is lost and the 41 after it, in which
/// the FIFO drains.
#[test]
fn late_by_a_period_is_an_overflow() {
    assert_eq!(
        wire(&v3(), &tight(), &crowded(98)),
        format!("{} 00 00 00 00 00 80 08 41 90 81 00 00 84", begin(55))
    );
}

/// It is late, but in time: room after 40 cycles.
#[test]
fn late_by_less_is_legal() {
    let mut cycles = crowded(54);
    cycles.extend(vec![wait(); 40]);
    cycles.push(execute(0x9000));
    assert_eq!(
        wire(&v3(), &tight(), &cycles),
        format!("{} 00 00 00 00 00 80 08 01 00 90 00 00 84", begin(54))
    );
}

/// An LSM in progress delays both parts.
#[test]
fn an_lsm_ends_first() {
    let part = |position, address, value| at(position, store(address, value));
    let cycles = [
        execute(0x8000).and(store(0x4000_0000, 1)),
        execute(0x8004).and(part(Position::First, 0x4000_0004, 2)),
        execute(0x8008).and(part(Position::Middle, 0x4000_0008, 3)),
        wait().and(part(Position::Last, 0x4000_000c, 4)),
        execute(0x800c),
    ];
    assert_eq!(
        wire(&v3(), &every(24), &cycles),
        "08 21 00 80 00 00 84 26 80 80 80 80 04 01 84 26 04 02 84 06 03 06 04 00 00 00 00 00 80 08 01 0C 80 00 00 84"
    );
}

/// ETM3-SYN-019: the A-sync comes whether anything is traced or not, once.
#[test]
fn programming_ends_with_an_a_sync() {
    assert_eq!(hex(&encode(&v3(), &every(0), &[off(), off()]).wire), "00 00 00 00 00 80");
}
