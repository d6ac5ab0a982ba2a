//! What a header byte alone says, as tables of the fast path.

use traceproof_vectors::arm_pft::{Atoms, CompressedAddress, CycleCount, Packet, Reason};

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

/// Atoms with cycle counts of less than 112: bits 0 to 4 of the index are bits 1 to 5 of the header. Above them is 0
/// where the count has one byte, otherwise 1 more than the second byte.
///
/// Spec: PFT-PKT-025 to PFT-PKT-030 (4.3, 4.4).
static SHORT_PACKETS: [Packet; 256] = {
    let mut packets = [Packet::Ignore; 256];
    let mut index = 0;
    while index < packets.len() {
        let (low, row) = (index & 0x1f, index >> 5);
        let above = if row > 0 { row - 1 } else { 0 };
        let value = (low >> 1 | above << 4) as u32;
        packets[index] = Packet::Atoms {
            atoms: Atoms::one(low & 1 == 0),
            cycle_count: Some(CycleCount { value, bytes: if row > 0 { 2 } else { 1 }, reserved: 0 }),
        };
        index += 1;
    }
    packets
};

/// References save the multiplication with the size of a packet.
pub(super) static SHORT_COUNTED_ATOMS: [&Packet; 256] = {
    let mut references = [&SHORT_PACKETS[0]; 256];
    let mut index = 0;
    while index < references.len() {
        references[index] = &SHORT_PACKETS[index];
        index += 1;
    }
    references
};

/// For each header, the index into `SHORT_COUNTED_ATOMS` without the second byte, and where that byte is in the first
/// two bytes shifted right by 3. Other headers than those of atoms have an index beyond the table.
pub(super) static COUNTED_ATOM_KEYS: [(u32, u32); 256] = {
    let mut keys = [(0x100, 0); 256];
    let mut header = 0x80;
    while header < keys.len() {
        keys[header] = (header as u32 >> 1 & 0x3f, if header & 0x40 != 0 { 0x1fe0 } else { 0 });
        header += 2;
    }
    keys
};

/// What the information byte of an I-sync says, in the order of a packet in memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Information {
    pub(super) reserved: u8,
    pub(super) reason: Reason,
    pub(super) non_secure: bool,
    pub(super) alt_isa: bool,
    pub(super) hyp: bool,
}

/// Spec: PFT-PKT-009 to PFT-PKT-019 (4.3, 4.4, 4.5).
pub(super) static INFORMATION: [Information; 256] = {
    let none =
        Information { reserved: 0, reason: Reason::Periodic, non_secure: false, alt_isa: false, hyp: false };
    let mut information = [none; 256];
    let mut byte = 0;
    while byte < information.len() {
        information[byte] = Information {
            reserved: (byte as u8 ^ 1) & 0x91,
            reason: match byte >> 5 & 3 {
                0 => Reason::Periodic,
                1 => Reason::TraceEnabled,
                2 => Reason::Overflow,
                _ => Reason::DebugExit,
            },
            non_secure: byte & 8 != 0,
            alt_isa: byte & 4 != 0,
            hyp: byte & 2 != 0,
        };
        byte += 1;
    }
    information
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
