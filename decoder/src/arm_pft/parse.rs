//! The packet at the start of some bytes.

use traceproof_vectors::Address32;
use traceproof_vectors::arm_pft::{
    Atoms, CompressedAddress, CycleCount, ExceptionInformation, Packet, Reason, VariableField,
};

use super::headers::Header;
use super::layout::Layout;
use super::tables;
use crate::arm::notes::Notes;
use crate::arm::{FieldLayout, FieldReader};

/// What the bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// A packet of so many bytes.
    Packet(Packet, usize),
    /// A packet of which more bytes are needed.
    Part,
    /// A zero, as in an A-sync.
    Zero,
    /// No packet.
    Reserved,
}

/// Bytes of the longest packet: a branch address has 12, an I-sync and a timestamp have 15 (PFT-PKT-019,
/// PFT-PKT-049).
pub(super) const LONGEST: usize = 15;

/// The packet at the start of `bytes`.
#[inline]
pub(super) fn start<N: Notes>(layout: &Layout, bytes: &[u8], notes: &mut N) -> Start {
    let Some(&byte) = bytes.first() else { return Start::Part };
    let header = Header::of(byte, layout.cycle_accurate);
    match header {
        Header::AlignmentSync => return Start::Zero,
        Header::Reserved => return Start::Reserved,
        _ => {}
    }
    let mut cursor = Cursor { bytes, at: 0, notes };
    match cursor.packet(layout, header) {
        Some(packet) => Start::Packet(packet, cursor.at),
        None => Start::Part,
    }
}

/// The bytes of a packet; `None` where there are not enough.
struct Cursor<'a, N> {
    bytes: &'a [u8],
    /// The next byte.
    at: usize,
    notes: &'a mut N,
}

impl<N: Notes> Cursor<'_, N> {
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    /// Names the fields of the latest byte.
    #[inline]
    fn note(&mut self, byte: u8, fields: &[(&'static str, u8)]) {
        self.notes.byte(self.at.wrapping_sub(1), byte, fields);
    }

    #[inline]
    fn packet(&mut self, layout: &Layout, header: Header) -> Option<Packet> {
        Some(match header {
            Header::Branch => self.branch(layout)?,
            Header::Atoms => self.atoms(layout)?,
            Header::InstructionSync => self.instruction_sync(layout)?,
            Header::WaypointUpdate => self.waypoint_update()?,
            Header::ContextId => {
                self.header()?;
                Packet::ContextId { value: self.context_id(layout)? }
            }
            Header::Vmid => {
                self.header()?;
                let vmid = self.next()?;
                self.note(vmid, &[("VMID", 8)]);
                Packet::Vmid(vmid)
            }
            Header::Timestamp => self.timestamp(layout)?,
            Header::Trigger => self.alone(Packet::Trigger)?,
            Header::ExceptionReturn => self.alone(Packet::ExceptionReturn)?,
            // The last two begin no packet that is read here.
            Header::Ignore | Header::AlignmentSync | Header::Reserved => self.alone(Packet::Ignore)?,
        })
    }

    fn header(&mut self) -> Option<u8> {
        let byte = self.next()?;
        self.note(byte, &[("header", 8)]);
        Some(byte)
    }

    /// Spec: PFT-PKT-056 (4.5, 4.5.10).
    fn alone(&mut self, packet: Packet) -> Option<Packet> {
        self.header().map(|_| packet)
    }

    /// Spec: PFT-PKT-020 to PFT-PKT-025 (4.2, 4.3, 4.5).
    #[inline]
    fn atoms(&mut self, layout: &Layout) -> Option<Packet> {
        let byte = *self.bytes.get(self.at)?;
        if layout.cycle_accurate {
            let count = self.cycle_count([("0", 1), ("F", 1), ("cycles", 4), ("C", 1), ("1", 1)], 0, 0)?;
            return Some(Packet::Atoms { atoms: Atoms::one(byte & 2 == 0), cycle_count: Some(count) });
        }
        let atoms = tables::atoms(byte);
        self.at += 1;
        let count = atoms.len() as u8;
        self.note(byte, &[("0", 1), ("F", count), ("count", 7 - count)]);
        Some(Packet::Atoms { atoms, cycle_count: None })
    }

    /// Spec: PFT-PKT-048, PFT-PKT-049 (4.5.4).
    #[inline]
    fn branch(&mut self, layout: &Layout) -> Option<Packet> {
        let (address, announces) = self.address(true)?;
        let exception = if announces { Some(self.exception()?) } else { None };
        let cycle_count = if layout.cycle_accurate { Some(self.plain_count()?) } else { None };
        Some(Packet::BranchAddress { address, exception, cycle_count })
    }

    /// An address, and bit 6 of its last byte, if that is not part of it.
    ///
    /// Spec: PFT-PKT-033 to PFT-PKT-038, PFT-PKT-040, PFT-PKT-041, PFT-PKT-053 to PFT-PKT-055 (4.5.4, 4.5.5).
    #[inline]
    fn address(&mut self, of_branch: bool) -> Option<(CompressedAddress, bool)> {
        let first = self.next()?;
        self.note(first, &[("1", 1), ("address", 6), ("C", 1)]);
        let mut bits = u64::from(first >> 1 & 0x3f);
        if first & 0x80 == 0 {
            return Some((CompressedAddress { bits, bytes: 1 }, false));
        }
        for bytes in 2..5_u8 {
            let (byte, above) = (self.next()?, 7 * u32::from(bytes) - 8);
            if byte & 0x80 == 0 && of_branch {
                self.note(byte, &[("address", 6), ("X", 1), ("C", 1)]);
                bits |= u64::from(byte & 0x3f) << above;
                return Some((CompressedAddress { bits, bytes }, byte & 0x40 != 0));
            }
            bits |= u64::from(byte & 0x7f) << above;
            if byte & 0x80 == 0 {
                self.note(byte, &[("address", 6), ("ignored", 1), ("C", 1)]);
                return Some((CompressedAddress { bits, bytes }, false));
            }
            self.note(byte, &[("address", 7), ("C", 1)]);
        }
        let byte = self.next()?;
        let marker = match byte >> 4 & 3 {
            0 => 3,
            1 => 2,
            _ => 1,
        };
        self.note(byte, &[("address", 6 - marker), ("ISA", marker), ("X", 1), ("0", 1)]);
        bits |= u64::from(byte & 0xbf) << 27;
        Some((CompressedAddress { bits, bytes: 5 }, byte & 0x40 != 0))
    }

    /// Spec: PFT-PKT-043 to PFT-PKT-045, PFT-PKT-068 (4.5.4).
    fn exception(&mut self) -> Option<ExceptionInformation> {
        let byte = self.next()?;
        self.note(byte, &[("NS", 1), ("Exc[3:0]", 4), ("0", 1), ("AltISA", 1), ("C", 1)]);
        let mut exception = ExceptionInformation {
            number: u16::from(byte >> 1 & 0xf),
            alt_isa: byte & 0x40 != 0,
            non_secure: byte & 1 != 0,
            hyp: None,
            reserved: byte & 0x20,
        };
        if byte & 0x80 != 0 {
            let byte = self.next()?;
            self.note(byte, &[("Exc[8:4]", 5), ("Hyp", 1), ("0", 2)]);
            exception.number |= u16::from(byte & 0x1f) << 4;
            exception.hyp = Some(byte & 0x20 != 0);
            exception.reserved |= byte & 0xc0;
        }
        Some(exception)
    }

    /// Spec: PFT-PKT-009 to PFT-PKT-019 (4.3, 4.4, 4.5).
    fn instruction_sync(&mut self, layout: &Layout) -> Option<Packet> {
        self.header()?;
        let mut address = 0;
        for byte in 0..4_u32 {
            let value = self.next()?;
            let t: &[_] = if byte == 0 { &[("T", 1), ("address", 7)] } else { &[("address", 8)] };
            self.note(value, t);
            address |= u32::from(value) << (8 * byte);
        }
        let information = self.next()?;
        let fields = [("1", 1), ("Hyp", 1), ("AltISA", 1), ("NS", 1), ("0", 1), ("reason", 2), ("0", 1)];
        self.note(information, &fields);
        let reason = match information >> 5 & 3 {
            0 => Reason::Periodic,
            1 => Reason::TraceEnabled,
            2 => Reason::Overflow,
            _ => Reason::DebugExit,
        };
        let cycle_count = if layout.cycle_accurate && reason != Reason::Periodic {
            Some(self.cycle_count([("0", 2), ("", 0), ("cycles", 4), ("C", 1), ("1", 1)], 0x83, 0x80)?)
        } else {
            None
        };
        Some(Packet::InstructionSync {
            address: Address32(address),
            reason,
            non_secure: information & 8 != 0,
            alt_isa: information & 4 != 0,
            hyp: information & 2 != 0,
            reserved: (information ^ 1) & 0x91,
            cycle_count,
            context_id: self.context_id(layout)?,
        })
    }

    /// Spec: PFT-PKT-016, PFT-PKT-057 (4.5.7).
    fn context_id(&mut self, layout: &Layout) -> Option<Option<u32>> {
        let mut value = None;
        for at in 0..layout.context_id_bytes {
            let byte = self.next()?;
            self.note(byte, &[("context_id", 8)]);
            value = Some(value.unwrap_or(0) | u32::from(byte) << (8 * (u32::from(at) & 3)));
        }
        Some(value)
    }

    /// Spec: PFT-PKT-052, PFT-PKT-054 (4.5.5); reading `pft-waypoint-update-sixth-byte`.
    fn waypoint_update(&mut self) -> Option<Packet> {
        self.header()?;
        let even = self.bytes.get(self.at)? & 1 == 0;
        let (address, announces) = self.address(false)?;
        let information = if announces {
            let byte = self.next()?;
            self.note(byte, &[("ignored", 6), ("AltISA", 1), ("ignored", 1)]);
            Some(byte)
        } else {
            None
        };
        Some(Packet::WaypointUpdate { address, information, even })
    }

    /// Spec: PFT-PKT-059 to PFT-PKT-064, PFT-PKT-070 (4.5.9).
    fn timestamp(&mut self, layout: &Layout) -> Option<Packet> {
        let header = self.next()?;
        self.note(header, &[("header", 2), ("R", 1), ("header", 5)]);
        let mut field = FieldReader::new(layout.timestamp);
        loop {
            let byte = self.next()?;
            let is_last = field.push(byte);
            let fields: &[_] =
                match (usize::from(field.bytes()) == layout.timestamp.most_bytes(), field.bits()) {
                    (false, _) => &[("timestamp", 7), ("C", 1)],
                    (true, 48) => &[("timestamp", 6), ("0", 2)],
                    (true, _) => &[("timestamp", 8)],
                };
            self.note(byte, fields);
            if is_last {
                break;
            }
        }
        // The two bits above a timestamp of 48 bits.
        let bits = field.value() | u64::from(field.spill()) << 42;
        let value = VariableField { bits, bytes: field.bytes() };
        let cycle_count = if layout.cycle_accurate { Some(self.plain_count()?) } else { None };
        Some(Packet::Timestamp { clock_change: header & 4 != 0, value, cycle_count })
    }

    /// The cycle count of a branch address or timestamp.
    fn plain_count(&mut self) -> Option<CycleCount> {
        self.cycle_count([("0", 2), ("", 0), ("cycles", 4), ("C", 1), ("0", 1)], 0x83, 0)
    }

    /// A cycle count whose first byte has these fields, and under `mask` the bits `expected`.
    ///
    /// Spec: PFT-PKT-018, PFT-PKT-026 to PFT-PKT-030 (4.4).
    #[inline]
    fn cycle_count(&mut self, first: [(&'static str, u8); 5], mask: u8, expected: u8) -> Option<CycleCount> {
        let byte = self.next()?;
        self.note(byte, &first);
        let reserved = (byte ^ expected) & mask;
        if byte & 0x40 == 0 {
            return Some(CycleCount { value: (byte >> 2 & 0xf).into(), bytes: 1, reserved });
        }
        let mut field = FieldReader::new(FieldLayout::CYCLE_COUNT);
        let mut is_last = field.push(byte);
        while !is_last {
            let byte = self.next()?;
            is_last = field.push(byte);
            let top =
                if usize::from(field.bytes()) == FieldLayout::CYCLE_COUNT.most_bytes() { "0" } else { "C" };
            self.note(byte, &[("cycles", 7), (top, 1)]);
        }
        let reserved = reserved | field.spill() >> 5;
        Some(CycleCount { value: field.value() as u32, bytes: field.bytes(), reserved })
    }
}
