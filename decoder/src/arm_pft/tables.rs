//! What a header byte alone says, as tables of the fast path.

use traceproof_vectors::arm_pft::{Atoms, CompressedAddress, Packet};

/// The packet of one byte that a byte is where cycles are not counted; `None` where more bytes are needed, or where the
/// byte begins no packet.
pub(super) static SINGLES: [Option<Packet>; 256] = {
    let mut singles = [None; 256];
    let mut byte = 0;
    while byte < singles.len() {
        singles[byte] = single(byte as u8);
        byte += 1;
    }
    singles
};

/// Spec: PFT-PKT-020 to PFT-PKT-023, PFT-PKT-033, PFT-PKT-037, PFT-PKT-056 (4.5).
const fn single(byte: u8) -> Option<Packet> {
    Some(match byte {
        0x0c => Packet::Trigger,
        0x66 => Packet::Ignore,
        0x76 => Packet::ExceptionReturn,
        0x84.. if byte & 1 == 0 => Packet::Atoms { atoms: atoms(byte), cycle_count: None },
        ..0x80 if byte & 1 == 1 => {
            let address = CompressedAddress { bits: (byte >> 1) as u64, bytes: 1 };
            Packet::BranchAddress { address, exception: None, cycle_count: None }
        }
        _ => return None,
    })
}

/// The atoms of a header, if there are no cycle counts.
///
/// The highest 1 of the halved header marks where they begin, but five of them need no mark below bit 5.
///
/// Spec: PFT-PKT-020 to PFT-PKT-022 (4.5).
pub(super) const fn atoms(header: u8) -> Atoms {
    let halved = header >> 1 & 0x3f;
    let count = match halved {
        0..4 => 1,
        4..8 => 2,
        8..16 => 3,
        16..32 => 4,
        _ => 5,
    };
    let mut executed = [false; Atoms::MOST as usize];
    let mut newer = 0;
    while newer < count {
        executed[count - 1 - newer] = halved >> newer & 1 == 0;
        newer += 1;
    }
    match Atoms::new(executed.split_at(count).0) {
        Some(atoms) => atoms,
        None => Atoms::one(true),
    }
}

/// What the header of an atom says where cycles are counted, if its count has one or two bytes.
#[derive(Clone, Copy)]
pub(super) struct CountedAtom {
    pub(super) atoms: Atoms,
    /// How many bytes the packet has.
    pub(super) bytes: u8,
    /// The low bits of the count.
    pub(super) low: u8,
    /// Where the others are, four bits lower than in the packet; 0 with one byte.
    pub(super) high: u16,
    /// Those bits of the first two bytes that are 0x80 if the packet is such an atom, and not if the count is longer; 0
    /// where this is no header of an atom.
    pub(super) kind: u16,
}

/// Spec: PFT-PKT-025 to PFT-PKT-030 (4.3, 4.4).
pub(super) static COUNTED_ATOMS: [CountedAtom; 256] = {
    let none = CountedAtom { atoms: Atoms::one(true), bytes: 1, low: 0, high: 0, kind: 0 };
    let mut counted = [none; 256];
    let mut header = 0x80;
    while header < counted.len() {
        let more = header & 0x40 != 0;
        counted[header] = CountedAtom {
            atoms: Atoms::one(header & 2 == 0),
            bytes: 1 + more as u8,
            low: (header >> 2 & 0xf) as u8,
            high: if more { 0x7f0 } else { 0 },
            kind: if more { 0x8081 } else { 0x81 },
        };
        header += 1;
    }
    counted
};

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn the_oldest_atom_is_next_to_the_mark() {
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
            assert_eq!(format!("{}", atoms(header)), expected, "{header:#x}");
        }
    }
}
