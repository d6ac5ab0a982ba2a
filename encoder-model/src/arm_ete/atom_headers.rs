//! Atoms in headers.

use traceproof_vectors::arm_ete::Atoms;

/// None, `E`, `EE`, `N`; `None` for all others.
pub(super) fn few_atoms_code(atoms: Option<Atoms>) -> Option<u8> {
    match atoms.map(|atoms| (atoms.len(), atoms.bits())) {
        None => Some(0),
        Some((1, 0b1)) => Some(1),
        Some((2, 0b11)) => Some(2),
        Some((1, 0b0)) => Some(3),
        Some(_) => None,
    }
}

/// The one header that stands for these atoms, if there is one.
///
/// Spec: ETE-PKT-ATM-001, ETE-PKT-ATM-002.
pub(super) fn atom_header(atoms: Atoms) -> Option<u8> {
    let (bits, count) = (atoms.bits(), atoms.len());
    match count {
        1 => Some(0xf6 | bits as u8),
        2 => Some(0xd8 | bits as u8),
        3 => Some(0xf8 | bits as u8),
        _ => match (count, bits) {
            (4, 0b1110) => Some(0xdc),
            (4, 0b0000) => Some(0xdd),
            (4, 0b1010) => Some(0xde),
            (4, 0b0101) => Some(0xdf),
            (5, 0b11110) => Some(0xf5),
            (5, 0b00000) => Some(0xd5),
            (5, 0b01010) => Some(0xd6),
            (5, 0b10101) => Some(0xd7),
            _ => long_run(bits, count),
        },
    }
}

/// Format 6: E atoms, the last one E or N.
fn long_run(bits: u32, count: usize) -> Option<u8> {
    let code = u8::try_from(count.checked_sub(4)?).ok().filter(|code| *code <= 20)?;
    let all = (1 << count) - 1;
    match bits {
        _ if bits == all => Some(0xc0 | code),
        _ if bits == all >> 1 => Some(0xe0 | code),
        _ => None,
    }
}
