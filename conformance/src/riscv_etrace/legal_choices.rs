//! What may an encoder do otherwise than the policy of a case says?
//!
//! Filters, triggers, the transport and data trace are configured, so they are no choice.

use traceproof_vectors::riscv_etrace::{Compression, InterruptReport, Policy, RiscvEtrace, SyncMode};

use crate::family::{EITHER, LegalChoice};

/// The highest `sync_max` tried: a resynchronisation every 4096 units.
const LONGEST_SYNC: u8 = 8;

/// Resynchronisation and compression that a case states are its subject, and stay. The form of interrupts, the second
/// support packet and the form of the end at an updiscon target are free in every case.
pub(super) const LEGAL_CHOICES: &[LegalChoice<RiscvEtrace>] = &[
    LegalChoice {
        key: "sync_mode",
        clauses: &["RVET-ENC-005"],
        is_stated: |policy| policy.sync_mode != SyncMode::Off,
        others: resynchronisations,
    },
    LegalChoice {
        key: "compression",
        clauses: &["RVET-PKT-005"],
        is_stated: |policy| policy.compression != Compression::default(),
        others: |current| {
            let others = [Compression::Minimal, Compression::Mandatory].into_iter();
            let others = others.filter(|value| *value != current.compression);
            others.map(|compression| Policy { compression, ..current.clone() }).collect()
        },
    },
    LegalChoice {
        key: "interrupt_report",
        clauses: &["RVET-ENC-081"],
        is_stated: |_| false,
        others: |current| {
            let others = [InterruptReport::Handler, InterruptReport::Separate].into_iter();
            let others = others.filter(|value| *value != current.interrupt_report);
            others.map(|interrupt_report| Policy { interrupt_report, ..current.clone() }).collect()
        },
    },
    LegalChoice {
        key: "support_at_disable",
        clauses: &[],
        is_stated: |_| false,
        others: |current| {
            let others = EITHER.into_iter().filter(|value| *value != current.support_at_disable);
            others.map(|support_at_disable| Policy { support_at_disable, ..current.clone() }).collect()
        },
    },
    LegalChoice {
        key: "updiscon_at_end",
        clauses: &["RVET-ENC-034"],
        is_stated: |_| false,
        others: |current| {
            let others = EITHER.into_iter().filter(|value| *value != current.updiscon_at_end);
            others.map(|updiscon_at_end| Policy { updiscon_at_end, ..current.clone() }).collect()
        },
    },
];

fn resynchronisations(current: &Policy) -> Vec<Policy> {
    let mut all = vec![Policy { sync_mode: SyncMode::Off, sync_max: 0, ..current.clone() }];
    for sync_mode in [SyncMode::Packets, SyncMode::Cycles, SyncMode::HalfWords] {
        all.extend((0..=LONGEST_SYNC).map(|sync_max| Policy { sync_mode, sync_max, ..current.clone() }));
    }
    all.retain(|policy| policy != current);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn others(stated: &Policy) -> Vec<Policy> {
        LEGAL_CHOICES.iter().flat_map(|choice| choice.others(stated, stated)).collect()
    }

    #[test]
    fn what_a_case_states_stays() {
        assert_eq!(others(&Policy::default()).len(), 27 + 1 + 1 + 1 + 1);
        let stated = Policy { sync_mode: SyncMode::Cycles, sync_max: 3, flow: 2, ..Policy::default() };
        let others = others(&stated);
        assert_eq!(others.len(), 1 + 1 + 1 + 1);
        assert!(others.iter().all(|policy| policy.sync_max == 3 && policy.flow == 2));
    }
}
