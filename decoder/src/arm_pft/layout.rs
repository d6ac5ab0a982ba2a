//! What of the parameters decides where packets end.

use traceproof_vectors::arm_pft::{Atoms, Parameters};

use crate::arm::FieldLayout;

/// What of the parameters decides where packets end.
///
/// Spec: PFT-CFG-001, PFT-CFG-002, PFT-CFG-005, PFT-CFG-014.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) cycle_accurate: bool,
    pub(super) context_id_bytes: u8,
    pub(super) timestamp: FieldLayout,
    /// Of each atom header, halved, without cycle counts.
    atoms: [Atoms; Self::ATOM_HEADERS],
}

impl Layout {
    /// Even bytes from 80 on.
    const ATOM_HEADERS: usize = 64;

    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            cycle_accurate: parameters.cycle_accurate,
            context_id_bytes: parameters.context_id_bytes,
            timestamp: if parameters.timestamp_bits == 48 {
                FieldLayout::TIMESTAMP_48
            } else {
                FieldLayout::TIMESTAMP_64
            },
            atoms: core::array::from_fn(atoms),
        }
    }

    /// The atoms of a header, if there are no cycle counts.
    #[inline]
    pub(super) fn atoms(&self, header: u8) -> Atoms {
        self.atoms[usize::from(header >> 1) & (Self::ATOM_HEADERS - 1)]
    }
}

/// The highest 1 of the halved header marks where the atoms begin, but five of them need no mark below bit 5.
///
/// Spec: PFT-PKT-020 to PFT-PKT-022 (4.5).
fn atoms(halved: usize) -> Atoms {
    let count = halved.checked_ilog2().map_or(1, |mark| mark.clamp(1, Atoms::MOST.into()));
    let executed = |newer: u32| halved >> newer & 1 == 0;
    let all: [bool; Atoms::MOST as usize] =
        core::array::from_fn(|older| (count - 1).checked_sub(older as u32).is_some_and(executed));
    all.get(..count as usize).and_then(Atoms::new).unwrap_or(Atoms::one(true))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn the_oldest_atom_is_next_to_the_mark() {
        let layout = Layout::new(&Parameters::default());
        for (header, expected) in [
            (0x84, "E"),
            (0x86, "N"),
            (0x8a, "EN"),
            (0x8c, "NE"),
            (0x96, "ENN"),
            (0xa8, "ENEE"),
            (0xbc, "NNNE"),
            (0xc8, "EENEE"),
            (0xf0, "NNEEE"),
            (0xfe, "NNNNN"),
        ] {
            assert_eq!(format!("{}", layout.atoms(header)), expected, "{header:#x}");
        }
    }
}
