//! Which policies may an encoder have instead of that of a case?

use traceproof_vectors::riscv_etrace::{Compression, InterruptReport, Policy, SyncMode};

/// The highest `sync_max` tried: a resynchronisation every 4096 units.
const LONGEST_SYNC: u8 = 8;

/// Policies with other free choices: resynchronisation (RVET-ENC-005), form of interrupts (RVET-ENC-081), compression
/// (RVET-PKT-005) and the second support packet.
///
/// Resynchronisation and compression that a case states are its subject, and stay. So do filters, triggers, the
/// transport and data trace, which are configured and not chosen by the encoder.
pub(super) fn of(stated: &Policy) -> Vec<Policy> {
    let mut policies = Vec::new();
    for (sync_mode, sync_max) in resynchronisations(stated) {
        for compression in compressions(stated) {
            for interrupt_report in [InterruptReport::Handler, InterruptReport::Separate] {
                for support_at_disable in [false, true] {
                    policies.push(Policy {
                        sync_mode,
                        sync_max,
                        compression,
                        interrupt_report,
                        support_at_disable,
                        ..stated.clone()
                    });
                }
            }
        }
    }
    policies.retain(|policy| policy != stated);
    policies
}

fn resynchronisations(stated: &Policy) -> Vec<(SyncMode, u8)> {
    let mut all = vec![(stated.sync_mode, stated.sync_max)];
    if stated.sync_mode == SyncMode::Off {
        for mode in [SyncMode::Packets, SyncMode::Cycles, SyncMode::HalfWords] {
            all.extend((0..=LONGEST_SYNC).map(|max| (mode, max)));
        }
    }
    all
}

fn compressions(stated: &Policy) -> Vec<Compression> {
    if stated.compression == Compression::default() {
        vec![Compression::Minimal, Compression::Mandatory]
    } else {
        vec![stated.compression]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_case_states_stays() {
        assert_eq!(of(&Policy::default()).len(), 28 * 2 * 2 * 2 - 1);
        let stated = Policy { sync_mode: SyncMode::Cycles, sync_max: 3, flow: 2, ..Policy::default() };
        let others = of(&stated);
        assert_eq!(others.len(), 2 * 2 * 2 - 1);
        assert!(others.iter().all(|policy| policy.sync_max == 3 && policy.flow == 2));
    }
}
