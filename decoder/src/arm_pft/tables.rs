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

/// The packets of one or two bytes with a cycle count that the fast path has as constants.
pub(super) static SHORT_COUNTED: [Packet; SHORT_COUNTED_LENGTH] = {
    let mut packets = [Packet::Ignore; SHORT_COUNTED_LENGTH];
    let (mut bytes, mut length) = (0, 0);
    while bytes < SHORT_COUNTED_INDEX.len() {
        if let Some(packet) = short_counted(bytes) {
            packets[length] = packet;
            length += 1;
        }
        bytes += 1;
    }
    packets
};

/// Atoms have 32 headers of one byte, and as many of two with 8 second bytes; branch addresses have 64 and 16.
const SHORT_COUNTED_LENGTH: usize = 32 + 32 * 8 + 64 * 16;

/// The index into `SHORT_COUNTED` of the packet of these two bytes, the second one above the first one; beyond that
/// table for other bytes. A header of a packet of one byte has no second byte here.
pub(super) static SHORT_COUNTED_INDEX: [u16; 0x4000] = {
    let mut indices = [u16::MAX; 0x4000];
    let (mut bytes, mut length) = (0, 0);
    while bytes < indices.len() {
        if short_counted(bytes).is_some() {
            indices[bytes] = length;
            length += 1;
        }
        bytes += 1;
    }
    assert!(length as usize == SHORT_COUNTED_LENGTH, "the table of packets has another length");
    indices
};

/// For each header, which bits of two bytes are the packet; none for those of other packets than in `SHORT_COUNTED`.
pub(super) static SHORT_COUNTED_MASKS: [u32; 256] = {
    let mut masks = [0; 256];
    let mut header = 0;
    while header < masks.len() {
        masks[header] = match header as u8 & 0xc1 {
            0x80 => 0xff,
            0xc0 | 0x01 | 0x41 => 0xffff,
            _ => 0,
        };
        header += 1;
    }
    masks
};

/// An atom with a cycle count of less than 128, or a branch address of one byte with a cycle count of one.
///
/// Spec: PFT-PKT-025 to PFT-PKT-030, PFT-PKT-033, PFT-PKT-037, PFT-PKT-048 (4.3, 4.4, 4.5.4).
const fn short_counted(bytes: usize) -> Option<Packet> {
    let (header, second) = (bytes as u8, (bytes >> 8) as u8);
    let low = (header >> 2 & 0xf) as u32;
    let atoms = Atoms::one(header & 2 == 0);
    Some(match header & 0xc1 {
        0x80 if second == 0 => Packet::Atoms { atoms, cycle_count: Some(counted(low, 1)) },
        0xc0 if second < 8 => {
            Packet::Atoms { atoms, cycle_count: Some(counted(low | (second as u32) << 4, 2)) }
        }
        0x01 | 0x41 if second & 0xc3 == 0 => Packet::BranchAddress {
            address: CompressedAddress { bits: (header >> 1) as u64, bytes: 1 },
            exception: None,
            cycle_count: Some(counted((second >> 2) as u32, 1)),
        },
        _ => return None,
    })
}

const fn counted(value: u32, bytes: u8) -> CycleCount {
    CycleCount { value, bytes, reserved: 0 }
}

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
