//! Reading short packets: those of formats 1 and 2 that fit a word, from a register instead of field by field.

use traceproof_vectors::riscv_etrace::{Packet, ReportedAddress};

use crate::riscv_etrace::bits::{map_width, most};

/// Bits of `format`.
const FORMAT: u32 = 2;
/// Bits before a branch map: `format`, `branches`.
const BEFORE_MAP: u32 = FORMAT + 5;
/// Bits after an address: `notify`, `updiscon`, `irreport`; then comes `irdepth` or `irets`.
const FLAGS: u32 = 3;

/// The shapes of packets, by `format` and the five bits after it, which are `branches` in format 1.
const SHAPES: [Shape; 128] = {
    let mut shapes = [Shape { before: 0, count: 0 }; 128];
    let mut bits = 0;
    while bits < 128 {
        let branches = (bits >> FORMAT) as u8;
        if bits & 3 == 2 {
            shapes[bits].before = FORMAT as u8;
        } else if bits & 3 == 1 && branches > 0 {
            // Spec: RVET-PKT-032, RVET-PKT-033 (ET 7.7).
            shapes[bits] = Shape { before: (BEFORE_MAP + map_width(branches)) as u8, count: branches };
        }
        bits += 1;
    }
    shapes
};

/// What the first bits of a packet mean for the others.
#[derive(Clone, Copy)]
struct Shape {
    /// Bit of the address; 0 where there is none.
    before: u8,
    /// Outcomes before it.
    count: u8,
}

/// Where the fields after `format` or a branch map are.
///
/// Masks stand where shifts could, because shifts by what only the parameters know take three times as long.
#[derive(Clone, Copy, Debug)]
pub(in crate::riscv_etrace) struct ShortPackets {
    /// Bits that an address does not have because they are 0, at most [`FORMAT`].
    shift: u32,
    /// Bit of the top bit of an address that was shifted.
    top: u32,
    /// The bits of an address that was shifted.
    mask: u64,
    /// The top bit of a difference; 0 where addresses are full.
    sign: u64,
    /// Addresses are no differences.
    full_address: bool,
    /// Bits of an address and of what follows it.
    width: u32,
    /// From the top bit of an address on, the differences between neighbours that must not be: those after all fields.
    filling: i64,
    /// The bits of `irdepth` or `irets`.
    returns: u32,
    /// They are those of `irets`.
    irets: bool,
}

impl ShortPackets {
    /// With addresses of `address` (1 to 64 - `shift`) bits that are to be shifted by `shift` (at most 2), and
    /// `irdepth` or `irets` of `returns` bits.
    pub(in crate::riscv_etrace) const fn new(address: u32, shift: u32, returns: u32, irets: bool) -> Self {
        let top = shift + address - 1;
        let mask = (u64::MAX >> (63 - top)) & (u64::MAX << shift);
        let (sign, filling) = (1 << top, i64::MAX << (FLAGS + returns));
        let width = address + FLAGS + returns;
        let returns = !(u32::MAX << returns);
        Self { shift, top, mask, sign, full_address: false, width, filling, returns, irets }
    }

    /// Whether addresses are full from here on.
    pub(in crate::riscv_etrace) const fn set_full_address(&mut self, full_address: bool) {
        self.full_address = full_address;
        self.sign = if full_address { 0 } else { 1 << self.top };
    }

    /// Reads a packet of format 1 or 2 that fits a word and has nothing wrong with it; `None` for others. `word` has
    /// copies of the top bit above the `received` bits. Spec: RVET-PKT-003, RVET-PKT-024 to 030 (ET 7.6), RVET-PKT-031
    /// (ET 7.7).
    ///
    /// Inlined, so that what was read need not be in memory.
    #[inline(always)]
    pub(in crate::riscv_etrace) fn read(&self, word: i64, received: u32) -> Option<ShortPacket> {
        let Shape { before, count } = SHAPES.get(word as usize & (SHAPES.len() - 1)).copied()?;
        let (before, count, map) = (u32::from(before), u32::from(count), (word >> BEFORE_MAP) as u32);
        if before == 0 {
            return full_map(word, received);
        }
        let bits = word >> (before - self.shift);
        // The top bit of the address, then the flags, each of which is a difference from the bit before.
        let flags = bits >> self.top;
        let changes = flags ^ flags >> 1;
        // Nothing but filling may follow.
        if changes & self.filling != 0 || received > most(before + self.width) {
            return None;
        }
        let value = (bits as u64 & self.mask ^ self.sign).wrapping_sub(self.sign);
        let returns = (flags >> (1 + FLAGS)) as u32 & self.returns;
        let (full, changes) = (self.full_address, changes as u8);
        let reported = ShortReport { value, full, changes, returns, irets: self.irets };
        Some(ShortPacket { before, count, map, reported: Some(reported) })
    }
}

/// Format 1 with a full map and without address. Spec: RVET-PKT-032 (ET 7.7).
#[inline(always)]
fn full_map(word: i64, received: u32) -> Option<ShortPacket> {
    const COUNT: u32 = 31;
    // The top bit of the map and copies of it.
    let rest = word >> (BEFORE_MAP + COUNT - 1);
    let whole = word & 0x7f == 1 && matches!(rest, 0 | -1) && received <= most(BEFORE_MAP + COUNT);
    whole.then_some(ShortPacket {
        before: BEFORE_MAP + COUNT,
        count: COUNT,
        map: (word >> BEFORE_MAP) as u32,
        reported: None,
    })
}

/// A packet of format 1 or 2, in one shape for both.
pub(in crate::riscv_etrace) struct ShortPacket {
    /// Bit after the map.
    before: u32,
    /// Reported outcomes; 0 in format 2.
    count: u32,
    /// Has them in its low bits.
    map: u32,
    reported: Option<ShortReport>,
}

/// An address and what follows it.
#[derive(Clone, Copy)]
pub(in crate::riscv_etrace) struct ShortReport {
    /// The address or the difference.
    value: u64,
    full: bool,
    /// `notify`, `updiscon`, `irreport`.
    changes: u8,
    /// `irdepth` or `irets`, which mean nothing without `irreport`.
    returns: u32,
    /// It is `irets`.
    irets: bool,
}

impl ShortPacket {
    /// How many outcomes are reported, and a word that has them in its low bits.
    #[inline(always)]
    pub(in crate::riscv_etrace) const fn outcomes(&self) -> (u32, u32) {
        (self.count, self.map)
    }

    /// What else is reported, if anything.
    #[inline(always)]
    pub(in crate::riscv_etrace) const fn reported(&self) -> Option<ShortReport> {
        self.reported
    }

    /// The packet, field by field.
    #[inline(always)]
    pub(in crate::riscv_etrace) fn packet(&self) -> Packet {
        let Self { before, count, map, reported } = *self;
        let branches = count as u8;
        let branch_map = map & !(u32::MAX << (before.wrapping_sub(BEFORE_MAP) & 31));
        match reported {
            None => Packet::Branch {
                branches: 0,
                branch_map,
                address: None,
                notify: false,
                updiscon: false,
                irreport: false,
                irdepth: 0,
                irets: 0,
            },
            Some(reported) => {
                let (notify, updiscon, irreport) =
                    (reported.notify(), reported.updiscon(), reported.irreport());
                let (irdepth, irets) =
                    if reported.irets { (0, reported.returns() as u8) } else { (reported.returns(), 0) };
                let address = reported.address();
                if branches == 0 {
                    Packet::Address { address, notify, updiscon, irreport, irdepth, irets }
                } else {
                    let address = Some(address);
                    Packet::Branch {
                        branches,
                        branch_map,
                        address,
                        notify,
                        updiscon,
                        irreport,
                        irdepth,
                        irets,
                    }
                }
            }
        }
    }
}

impl ShortReport {
    #[inline(always)]
    pub(in crate::riscv_etrace) const fn address(&self) -> ReportedAddress {
        if self.full { ReportedAddress::Full(self.value) } else { ReportedAddress::Delta(self.value as i64) }
    }

    #[inline(always)]
    pub(in crate::riscv_etrace) const fn notify(&self) -> bool {
        self.changes & 1 != 0
    }

    #[inline(always)]
    pub(in crate::riscv_etrace) const fn updiscon(&self) -> bool {
        self.changes & 2 != 0
    }

    #[inline(always)]
    pub(in crate::riscv_etrace) const fn irreport(&self) -> bool {
        self.changes & 4 != 0
    }

    /// `irdepth` or `irets`.
    #[inline(always)]
    pub(in crate::riscv_etrace) const fn returns(&self) -> u32 {
        if self.irreport() { self.returns } else { 0 }
    }
}
