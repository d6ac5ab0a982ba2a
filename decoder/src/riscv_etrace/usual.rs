//! The usual packets, formats 1 and 2, read from a register instead of field by field.
//!
//! It says nothing that [`PacketReader`](super::PacketReader) would not say; a test holds them together.

use traceproof_vectors::riscv_etrace::{Packet, ReportedAddress};

use super::Payload;
use super::bits::most;

/// Bits of `format`.
const FORMAT: u32 = 2;
/// Bits in front of a branch map: `format`, `branches`.
const BEFORE_MAP: u32 = FORMAT + 5;
/// Bits behind an address: `notify`, `updiscon`, `irreport`; then comes `irdepth`.
const FLAGS: u32 = 3;

/// Bits of the branch map, for every value of `branches`. Spec: RVET-PKT-032, RVET-PKT-033 (ET 7.7).
const MAP_WIDTHS: [u8; 32] = {
    let mut widths = [31; 32];
    let mut branches = 1;
    while branches < 32 {
        widths[branches] = map_width(branches as u8) as u8;
        branches += 1;
    }
    widths
};

/// Where the fields behind `format` or a branch map are.
///
/// Masks stand where shifts could, because shifts by what only the parameters know take three times as long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
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
    /// From the top bit of an address on, the differences between neighbours that must not be: those behind all fields.
    filling: i64,
    /// The bits of `irdepth`.
    irdepth: u32,
}

impl Usual {
    /// With addresses of `address` (1 to 64 - `shift`) bits that are to be shifted by `shift` (at most 2), and `irdepth` of
    /// that many bits.
    pub(super) const fn new(address: u32, shift: u32, irdepth: u32) -> Self {
        let top = shift + address - 1;
        let mask = (u64::MAX >> (63 - top)) & (u64::MAX << shift);
        let (sign, filling) = (1 << top, i64::MAX << (FLAGS + irdepth));
        let irdepth_bits = !(u32::MAX << irdepth);
        let width = address + FLAGS + irdepth;
        Self { shift, top, mask, sign, full_address: false, width, filling, irdepth: irdepth_bits }
    }

    /// Whether addresses are full from here on.
    pub(super) const fn set_full_address(&mut self, full_address: bool) {
        self.full_address = full_address;
        self.sign = if full_address { 0 } else { 1 << self.top };
    }

    /// Reads a packet of format 1 or 2 that fits a word and has nothing wrong with it; `None` for others.
    ///
    /// Inlined, so that what was read need not become a [`Packet`] in memory.
    #[inline(always)]
    pub(super) fn read(&self, payload: &Payload) -> Option<Packet> {
        let word = payload.short()?;
        let received = payload.received_bits();
        match word as u8 & 3 {
            1 => self.branch(word, received),
            2 => {
                let Reported { address, notify, updiscon, irreport, irdepth } =
                    self.reported(word, FORMAT, received)?;
                Some(Packet::Address { address, notify, updiscon, irreport, irdepth })
            }
            _ => None,
        }
    }

    /// Format 1. Spec: RVET-PKT-031, RVET-PKT-032 (ET 7.7).
    #[inline(always)]
    fn branch(&self, word: i64, received: u32) -> Option<Packet> {
        let branches = (word >> FORMAT) as u8 & 31;
        let width = MAP_WIDTHS.get(usize::from(branches)).copied().map_or(0, u32::from);
        let branch_map = (word >> BEFORE_MAP) as u32 & !(u32::MAX << width);
        if branches == 0 {
            // The top bit of the map and copies of it.
            let rest = word >> (BEFORE_MAP + 30);
            let whole = matches!(rest, 0 | -1) && received <= most(BEFORE_MAP + 31);
            let (notify, updiscon, irreport, irdepth) = (false, false, false, 0);
            let map =
                Packet::Branch { branches, branch_map, address: None, notify, updiscon, irreport, irdepth };
            return whole.then_some(map);
        }
        let Reported { address, notify, updiscon, irreport, irdepth } =
            self.reported(word, BEFORE_MAP + width, received)?;
        let address = Some(address);
        Some(Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth })
    }

    /// An address at bit `before` and what follows it, unless more than filling comes behind that. Spec: RVET-PKT-003,
    /// RVET-PKT-024 to 030 (ET 7.6).
    #[inline(always)]
    fn reported(&self, word: i64, before: u32, received: u32) -> Option<Reported> {
        let bits = word >> (before - self.shift);
        let value = (bits as u64 & self.mask ^ self.sign).wrapping_sub(self.sign);
        let address = if self.full_address {
            ReportedAddress::Full(value)
        } else {
            ReportedAddress::Delta(value as i64)
        };
        // The top bit of the address, then the flags, each of which is a difference from the bit before.
        let flags = bits >> self.top;
        let changes = flags ^ flags >> 1;
        if changes & self.filling != 0 || received > most(before + self.width) {
            return None;
        }
        let irreport = changes & 4 != 0;
        let depth = (flags >> (1 + FLAGS)) as u32 & self.irdepth;
        Some(Reported {
            address,
            notify: changes & 1 != 0,
            updiscon: changes & 2 != 0,
            irreport,
            irdepth: if irreport { depth } else { 0 },
        })
    }
}

/// An address and what follows it.
struct Reported {
    address: ReportedAddress,
    notify: bool,
    updiscon: bool,
    irreport: bool,
    irdepth: u32,
}

/// Width of the map of `branches` outcomes: as many bits as the widest number with as many digits needs.
#[inline(always)]
pub(super) const fn map_width(branches: u8) -> u32 {
    (1 << (u8::BITS - branches.leading_zeros())) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use traceproof_vectors::Place;
    use traceproof_vectors::riscv_etrace::{Modes, Parameters, Xlen};

    use super::super::PacketReader;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Bytes are random, or few with their filling, so that whole packets of every shape come up.
        #[test]
        fn it_reads_what_the_reader_of_fields_reads(
            format in 1..=2_u8,
            word in any::<u64>(),
            kept in 3..=64_u32,
            length in 1..=8_usize,
            wide in any::<bool>(),
            lsb in 1..=2_u8,
            full_address in any::<bool>(),
            depth in 0..=4_u8,
        ) {
            let parameters = Parameters {
                xlen: if wide { Xlen::Rv64 } else { Xlen::Rv32 },
                iaddress_width_p: if wide { 64 } else { 32 },
                iaddress_lsb_p: lsb,
                return_stack_size_p: depth,
                modes: Modes { full_address, ..Modes::default() },
                ..Parameters::default()
            };
            let reader = PacketReader::new(&parameters).expect("possible");
            let word = ((word << (64 - kept)) as i64 >> (64 - kept)) as u64 & !3 | u64::from(format);
            let payload = Payload::new(&word.to_le_bytes()[..length]).expect("1 to 8 bytes");
            let place = Place::default();
            let whole = reader.clone().read_observed(place, &payload, &mut ()).ok();
            prop_assert_eq!(reader.read_usual(&payload), whole);
        }
    }
}
