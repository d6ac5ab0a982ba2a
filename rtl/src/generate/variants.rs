//! Variants of a case that must not change its packets.

use serde::{Deserialize, Serialize};
use traceproof_encoder_model::riscv_etrace::{Retirement, TrapPlacement};
use traceproof_vectors::riscv_etrace::SyncMode;

use super::rng::Rng;
use super::{GeneratedCase, Shape};
use crate::{Device, Op, Row, Slot};

/// How a variant differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Clocks with an empty port are inserted.
    Idle,
    /// Instructions retire in other blocks (RVET-ENC-044).
    Cuts,
    /// Traps come without retirement (RVET-ENC-045).
    Traps,
    /// Signals that the specification leaves undefined have values (RVET-ING-002, RVET-ING-003).
    Garbage,
}

/// The variants that a device can have; the others with the reason.
pub(super) fn of(device: &Device, left_out: &mut Vec<(String, String)>) -> Vec<Relation> {
    let counts_cycles = device.policy.sync_mode == SyncMode::Cycles;
    let blocks = device.parameters.retires_p > 1 || device.blocks() > 1;
    let resync = device.policy.sync_mode != SyncMode::Off;
    let rules = [
        (Relation::Idle, counts_cycles, "`sync_mode` counts cycles"),
        (Relation::Cuts, !blocks, "one instruction retires per cycle"),
        (Relation::Cuts, blocks && resync, "the resynchronisation timer acts between blocks"),
        (Relation::Traps, !device.ingress.merged_traps, "traps always come alone"),
        (Relation::Garbage, false, ""),
    ];
    let mut possible = Vec::new();
    for (relation, impossible, why) in rules {
        if impossible {
            left_out.push((format!("variant `{}`", relation.name()), why.to_owned()));
            possible.retain(|other| *other != relation);
        } else if !possible.contains(&relation)
            && !left_out.iter().any(|(id, _)| id.contains(relation.name()))
        {
            possible.push(relation);
        }
    }
    possible
}

impl Relation {
    /// Its name in manifests and ids.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Cuts => "cuts",
            Self::Traps => "traps",
            Self::Garbage => "garbage",
        }
    }

    /// The clause that makes packets independent of it.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Idle | Self::Garbage => "RVET-ING-003",
            Self::Cuts => "RVET-ENC-044",
            Self::Traps => "RVET-ENC-045",
        }
    }

    /// The other shape, where it is one.
    pub(super) fn shape(self, device: &Device, rng: &mut Rng) -> Option<Shape> {
        let base = super::base_shape(device);
        match self {
            Self::Cuts => {
                let most = usize::from(device.ingress.max_halfwords);
                let max_halfwords = u32::try_from(2 + rng.below(most.saturating_sub(1))).unwrap_or(2);
                let retirement = match base.retirement {
                    Retirement::Groups { groups, .. } => Retirement::Groups { groups, max_halfwords },
                    _ => Retirement::Blocks { max_halfwords },
                };
                Some(Shape { retirement, ..base })
            }
            Self::Traps => Some(Shape { traps: TrapPlacement::Alone, ..base }),
            Self::Idle | Self::Garbage => None,
        }
    }

    /// Changes the rows of a case.
    pub(super) fn change(self, device: &Device, case: &mut GeneratedCase, rng: &mut Rng) {
        match self {
            Self::Idle => insert_idle(device, case, rng),
            Self::Garbage => {
                for row in &mut case.rows {
                    fill(device, row, rng);
                }
            }
            Self::Cuts | Self::Traps => {}
        }
    }
}

/// Idle clocks before a third of the cycles.
fn insert_idle(device: &Device, case: &mut GeneratedCase, rng: &mut Rng) {
    let mut rows = Vec::with_capacity(case.rows.len() * 2);
    let mut moved = Vec::with_capacity(case.rows.len());
    let mut status = 0;
    for row in case.rows.drain(..) {
        if row.op == Op::Cycle && rng.chance(85) {
            let clocks = 1 + rng.below(4) as u64;
            rows.push(Row { status, ..Row::order(Op::Idle, clocks, 0, device.blocks()) });
        }
        if matches!(row.op, Op::Cycle | Op::Idle) {
            status = row.status;
        }
        moved.push(rows.len());
        rows.push(row);
    }
    case.rows = rows;
    for packet in &mut case.packets {
        packet.row = moved.get(packet.row).copied().unwrap_or(packet.row);
    }
}

/// Puts values on the signals of a row that are undefined. Spec: RVET-ING-002, RVET-ING-003, RVET-ING-004.
fn fill(device: &Device, row: &mut Row, rng: &mut Rng) {
    let parameters = &device.parameters;
    let low = |word: u64, width: u32| if width >= 64 { word } else { word & ((1 << width) - 1) };
    let address = |rng: &mut Rng| rng.word() & parameters.address_mask();
    let retired = !row.blocks.iter().all(Slot::is_empty);
    if !matches!(row.op, Op::Cycle | Op::Idle) {
        return;
    }
    for slot in &mut row.blocks {
        if slot.is_empty() {
            slot.iaddr = address(rng);
            slot.ilastsize = u8::from(rng.chance(128));
        } else if slot.itype == 2 && slot.iretire == 0 {
            slot.iaddr = address(rng);
        }
    }
    if !retired {
        row.privilege = if rng.chance(128) { 3 } else { 0 };
        row.context = low(rng.word(), parameters.context_width());
        row.time = low(rng.word(), parameters.time_width());
    }
    let kind = row.blocks.iter().map(|slot| slot.itype).find(|itype| matches!(itype, 1 | 2));
    if row.op == Op::Cycle {
        if kind.is_none() {
            row.cause = low(rng.word(), parameters.ecause_width_p.into());
        }
        if kind != Some(1) {
            row.tval = address(rng);
        }
    }
}
