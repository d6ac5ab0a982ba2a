//! What of the parameters decides where packets begin and end.

use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::{Atoms, Parameters, Version};

use super::headers::Header;

/// What of the parameters decides where packets begin and end, and which cannot be.
///
/// Spec: ETE-DEC-CFG-002.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    headers: [Header; 256],
    /// Those of the headers from C0 on.
    atoms: [Atoms; 64],
    pub(super) is_ete: bool,
    pub(super) has_branch_future_flush: bool,
    pub(super) commopt: bool,
    pub(super) maxspec: u32,
    pub(super) vmid_bytes: u8,
    pub(super) context_id_bytes: u8,
}

/// The first header of atoms.
pub(super) const FIRST_ATOMS: u8 = 0xc0;

impl Layout {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let version = parameters.version;
        Self {
            headers: core::array::from_fn(|byte| Header::of(byte as u8, parameters)),
            atoms: core::array::from_fn(|low| atoms(FIRST_ATOMS | low as u8)),
            is_ete: version.is_ete(),
            has_branch_future_flush: matches!(version, Version::Etmv4_5 | Version::Etmv4_6),
            commopt: parameters.commopt,
            maxspec: parameters.maxspec,
            vmid_bytes: parameters.vmid_bytes,
            context_id_bytes: parameters.context_id_bytes,
        }
    }

    #[inline]
    pub(super) fn header(&self, byte: u8) -> Header {
        self.headers[usize::from(byte)]
    }

    /// The atoms of a header from [`FIRST_ATOMS`] on.
    #[inline]
    pub(super) fn atoms(&self, header: u8) -> Atoms {
        self.atoms[usize::from(header & 0x3f)]
    }
}

/// Whether PE Reset has this exception number (sheet 5.6, 2.3).
pub(super) const fn is_reset(number: u16, profile: Profile) -> bool {
    number == matches!(profile, Profile::Microcontroller) as u16
}

/// The atoms of a header from C0 on: bits, 1 = E, the oldest in bit 0.
///
/// Spec: ETE-PKT-ATM-001 (sheet 5.10).
fn atoms(header: u8) -> Atoms {
    let low = u32::from(header & 0x1f);
    let (bits, count) = match header {
        0xf6 | 0xf7 => (low & 1, 1),
        0xd8..=0xdb => (low & 3, 2),
        0xf8.. => (low & 7, 3),
        0xdc => (0b1110, 4),
        0xdd => (0b0000, 4),
        0xde => (0b1010, 4),
        0xdf => (0b0101, 4),
        0xf5 => (0b1_1110, 5),
        0xd5 => (0b0_0000, 5),
        0xd6 => (0b0_1010, 5),
        0xd7 => (0b1_0101, 5),
        _ => {
            let first = low + 3;
            let last = u32::from(header & 0x20 == 0);
            (((1 << first) - 1) | (last << first), first + 1)
        }
    };
    Atoms::from_bits(bits, count as u8).unwrap_or(Atoms::one(true))
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::format;

    use super::*;

    /// Sheet 5.10 and row 53, 54 of 10.1.
    #[test]
    fn headers_of_atoms() {
        let layout = Layout::new(&Parameters::default());
        for (header, expected) in [
            (0xf6, "N"),
            (0xf7, "E"),
            (0xd8, "NN"),
            (0xd9, "EN"),
            (0xda, "NE"),
            (0xdb, "EE"),
            (0xf8, "NNN"),
            (0xf9, "ENN"),
            (0xfa, "NEN"),
            (0xfb, "EEN"),
            (0xfc, "NNE"),
            (0xfd, "ENE"),
            (0xfe, "NEE"),
            (0xff, "EEE"),
            (0xdc, "NEEE"),
            (0xdd, "NNNN"),
            (0xde, "NENE"),
            (0xdf, "ENEN"),
            (0xf5, "NEEEE"),
            (0xd5, "NNNNN"),
            (0xd6, "NENEN"),
            (0xd7, "ENENE"),
            (0xc0, "EEEE"),
            (0xd4, "EEEEEEEEEEEEEEEEEEEEEEEE"),
            (0xe0, "EEEN"),
            (0xe2, "EEEEEN"),
            (0xf4, "EEEEEEEEEEEEEEEEEEEEEEEN"),
        ] {
            assert_eq!(format!("{}", layout.atoms(header)), expected, "{header:#x}");
        }
        let all: BTreeSet<_> = (0xc0..=0xff).map(|header| format!("{}", layout.atoms(header))).collect();
        assert_eq!(all.len(), 64, "each list has one header");
    }
}
