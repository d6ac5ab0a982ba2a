//! Addresses from their compressed form and from what is known already.

use traceproof_vectors::arm_etm::{CompressedAddress, DataAddress, Isa};

use super::conventions::state;

/// Address bits in the first four bytes of a branch address, in instructions.
pub(super) const FOUR_BYTES: u32 = 27;

/// Where an instruction is, and in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InstructionAddress {
    pub(super) address: u32,
    pub(super) isa: Isa,
}

impl InstructionAddress {
    /// The address of a TFO packet. Spec: ETM2-TFO-007 (6.5.4).
    pub(super) const fn full(bits: u32, jazelle: bool) -> Self {
        match (jazelle, bits & 1) {
            (true, _) => Self { address: bits, isa: Isa::Jazelle },
            (false, 0) => Self { address: bits, isa: Isa::Arm },
            (false, _) => Self { address: bits & !1, isa: Isa::Thumb },
        }
    }

    /// The target of a branch address packet that is relative to this one.
    ///
    /// Fewer than five bytes keep the state. Spec: ETM2-BR-002, ETM2-BR-003, ETM2-BR-005 (6.7).
    pub(super) fn branch(self, packet: CompressedAddress) -> Self {
        let (isa, width) = match (packet.bytes, state((packet.bits >> FOUR_BYTES) as u8)) {
            (5.., Some((isa, width))) => (isa, FOUR_BYTES + width),
            _ => (self.isa, (7 * u32::from(packet.bytes)).saturating_sub(1)),
        };
        let shift = match isa {
            Isa::Arm => 2,
            Isa::Thumb | Isa::ThumbEe => 1,
            Isa::Jazelle => 0,
        };
        let sent = low_bits(width);
        let address = ((self.address >> shift) & !sent | packet.bits as u32 & sent) << shift;
        Self { address, isa }
    }
}

/// What is known of data addresses.
///
/// Spec: ETM2-DA-002, ETM2-DA-006, ETM2-DA-009 (6.5.6, 6.8).
#[derive(Clone, Copy, Debug)]
pub(super) struct DataAddresses {
    /// The latest one that travelled.
    base: DataAddress,
    /// The one of the latest transfer.
    latest: Option<DataAddress>,
}

impl DataAddresses {
    pub(super) const UNKNOWN: Self = Self { base: DataAddress::partial(0, 0), latest: None };

    /// The latest one that travelled.
    pub(super) const fn base(&self) -> DataAddress {
        self.base
    }

    /// A transfer with an address of its own.
    pub(super) fn received(&mut self, packet: CompressedAddress) -> Option<DataAddress> {
        let sent = low_bits(7 * u32::from(packet.bytes));
        let value = self.base.value() & !sent | packet.bits as u32 & sent;
        self.base = DataAddress::partial(value, self.base.known() | sent);
        self.latest = Some(self.base);
        self.latest
    }

    /// A transfer without a traced address.
    pub(super) fn absent(&mut self) -> Option<DataAddress> {
        self.latest = None;
        self.latest
    }

    /// A transfer one word after the one before. Spec: ETM2-ND-011 (6.4.2).
    pub(super) fn next(&mut self) -> Option<DataAddress> {
        let latest = self.latest?;
        self.latest = Some(DataAddress::partial(latest.value().wrapping_add(4), latest.known()));
        self.latest
    }
}

/// A mask of so many low bits.
const fn low_bits(width: u32) -> u32 {
    match u32::MAX.checked_shl(width) {
        Some(above) => !above,
        None => u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_bits_stay_unknown_and_counting_wraps_inside_the_known_ones() {
        let mut addresses = DataAddresses::UNKNOWN;
        assert_eq!(addresses.next(), None);
        let short = CompressedAddress { bits: 0x7c, bytes: 1 };
        assert_eq!(addresses.received(short), Some(DataAddress::partial(0x7c, 0x7f)));
        assert_eq!(addresses.next(), Some(DataAddress::partial(0, 0x7f)));
        let longer = CompressedAddress { bits: 0x3f84, bytes: 2 };
        assert_eq!(addresses.received(longer), Some(DataAddress::partial(0x3f84, 0x3fff)));
        assert_eq!(addresses.received(short), Some(DataAddress::partial(0x3ffc, 0x3fff)));
        assert_eq!(addresses.absent(), None);
        assert_eq!(addresses.next(), None);
    }
}
