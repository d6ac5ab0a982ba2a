//! Addresses from their compressed form and from what is known already.

use traceproof_vectors::arm_etm::v3::ExceptionInformation;
use traceproof_vectors::arm_etm::{CompressedAddress, DataAddress, Isa, Parameters};

use super::address_bytes::StatePattern;

/// Address bits in the first four bytes of a branch address, in instructions.
const FOUR_BYTES: u32 = 27;

/// How branch packets are encoded, and which states exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoding {
    alternative: bool,
    thumb_ee: bool,
}

impl Encoding {
    /// Spec: ETM-GEN-004, ETM3-ISY-011 (3.5.40, 7.10.5).
    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self { alternative: parameters.alternative_branches, thumb_ee: parameters.minor >= 3 }
    }

    const fn thumb(self, alt_isa: bool) -> Isa {
        if alt_isa && self.thumb_ee { Isa::ThumbEe } else { Isa::Thumb }
    }

    /// The address of an I-sync. Spec: ETM3-ISY-005 (7.10.5).
    pub(super) const fn full(self, bits: u32, jazelle: bool, alt_isa: bool) -> InstructionAddress {
        match (jazelle, bits & 1) {
            (true, _) => InstructionAddress { address: bits, isa: Isa::Jazelle },
            (false, 0) => InstructionAddress { address: bits, isa: Isa::Arm },
            (false, _) => InstructionAddress { address: bits & !1, isa: self.thumb(alt_isa) },
        }
    }

    /// The target of a branch packet that is relative to `base`.
    ///
    /// Spec: ETM3-BR-002 to 008, ETM3-BR-018, ETM3-EXC-010 (7.3.5).
    pub(super) fn branch(
        self,
        base: InstructionAddress,
        packet: CompressedAddress,
        information: Option<ExceptionInformation>,
    ) -> InstructionAddress {
        let alt_isa = information.map_or(base.isa == Isa::ThumbEe, |information| information.alt_isa);
        let pattern = StatePattern::of((packet.bits >> FOUR_BYTES) as u8 & 0x3f);
        let (isa, width) = match (packet.bytes, pattern) {
            (5.., Some(pattern)) => (
                match pattern {
                    StatePattern::Arm => Isa::Arm,
                    StatePattern::Thumb => self.thumb(alt_isa),
                    StatePattern::Jazelle => Isa::Jazelle,
                },
                FOUR_BYTES + pattern.width(),
            ),
            _ => {
                let isa = match base.isa {
                    Isa::Thumb | Isa::ThumbEe => self.thumb(alt_isa),
                    isa => isa,
                };
                let announces = u32::from(self.alternative && packet.bytes > 1);
                (isa, (7 * u32::from(packet.bytes)).saturating_sub(1 + announces))
            }
        };
        base.replace(packet.bits, isa, width)
    }

    /// The target of a branch packet with an exception in byte 5. Spec: ETM3-BR-006 (7.3.5).
    pub(super) fn in_byte_exception(
        self,
        base: InstructionAddress,
        packet: CompressedAddress,
    ) -> InstructionAddress {
        base.replace(packet.bits, Isa::Arm, FOUR_BYTES + StatePattern::Arm.width())
    }
}

/// Where an instruction is, and in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InstructionAddress {
    pub(super) address: u32,
    pub(super) isa: Isa,
}

impl InstructionAddress {
    /// With other low bits, counted in instructions of `isa`.
    const fn replace(self, bits: u64, isa: Isa, width: u32) -> Self {
        let shift = match isa {
            Isa::Arm => 2,
            Isa::Thumb | Isa::ThumbEe => 1,
            Isa::Jazelle => 0,
        };
        let sent = low_bits(width);
        let address = ((self.address >> shift) & !sent | bits as u32 & sent) << shift;
        Self { address, isa }
    }
}

/// What is known of data addresses.
///
/// Spec: ETM3-DAT-003 to 005, ETM3-SYN-012 (7.4.2, 7.10.6).
#[derive(Clone, Copy, Debug)]
pub(super) struct DataAddresses {
    /// The latest one that travelled.
    base: DataAddress,
    /// The one of the latest transfer.
    latest: Option<DataAddress>,
    big_endian: bool,
}

impl DataAddresses {
    pub(super) const UNKNOWN: Self =
        Self { base: DataAddress::partial(0, 0), latest: None, big_endian: false };

    /// What travelled before does not count any more.
    pub(super) const fn forget(&mut self) {
        *self = Self { big_endian: self.big_endian, ..Self::UNKNOWN };
    }

    /// The latest full address says that data are big-endian. Spec: ETM3-DAT-004 (7.4.2).
    pub(super) const fn big_endian(&self) -> bool {
        self.big_endian
    }

    /// The latest one that travelled.
    pub(super) const fn base(&self) -> DataAddress {
        self.base
    }

    /// A transfer with an address of its own.
    pub(super) fn received(&mut self, packet: CompressedAddress) -> Option<DataAddress> {
        let sent = low_bits(7 * u32::from(packet.bytes));
        let value = self.base.value() & !sent | packet.bits as u32 & sent;
        self.base = DataAddress::partial(value, self.base.known() | sent);
        if packet.bytes == 5 {
            self.big_endian = packet.bits >> 32 & 1 != 0;
        }
        self.latest = Some(self.base);
        self.latest
    }

    /// A transfer without a traced address.
    pub(super) const fn absent(&mut self) -> Option<DataAddress> {
        self.latest = None;
        None
    }

    /// A transfer one word after the one before. Spec: ETM3-DAT-007 (7.4).
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
