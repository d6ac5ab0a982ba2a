//! The states of B.2.1, and how packets state them.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{CompressedAddress, ExceptionInformation};

/// What B.2.1 calls a state, without Context ID and VMID: those of the last and the current state are always
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Of the next instruction, without Thumb bit.
    pub(super) address: u32,
    pub(super) isa: InstructionSet,
    pub(super) non_secure: bool,
    pub(super) hyp: bool,
}

impl State {
    /// Before any packet; nothing depends on it.
    pub(super) const START: Self =
        Self { address: 0, isa: InstructionSet::A32, non_secure: false, hyp: false };

    /// The state that an I-sync states.
    ///
    /// Spec: PFT-PKT-010, PFT-PKT-012, PFT-ERR-018 (4.3); reading `pft-alt-isa-of-arm`.
    pub(super) const fn of_sync(address: u32, alt_isa: bool, non_secure: bool, hyp: bool) -> Self {
        let (isa, low_bits) = match (address & 1, alt_isa) {
            (0, _) => (InstructionSet::A32, 3),
            (_, false) => (InstructionSet::T32, 1),
            (_, true) => (InstructionSet::T32Ee, 1),
        };
        Self { address: address & !low_bits, isa, non_secure, hyp }
    }

    /// The state that a branch address states if this is the last one.
    ///
    /// Spec: PFT-PKT-042, PFT-PKT-044 to PFT-PKT-046, PFT-PKT-071 to PFT-PKT-073 (4.5.4);
    /// readings `pft-hyp-stays-without-byte-1`, `pft-thumb-without-information`.
    #[inline]
    pub(super) fn branch(
        self,
        address: CompressedAddress,
        exception: Option<ExceptionInformation>,
        virtualization: bool,
    ) -> Self {
        let (address, isa) = self.address(address);
        let Some(exception) = exception else { return Self { address, isa, ..self } };
        let isa = thumb(isa, exception.alt_isa);
        let hyp = exception.hyp.map_or(self.hyp, |hyp| hyp && virtualization);
        Self { address, isa, non_secure: exception.non_secure, hyp }
    }

    /// The state with the address that a waypoint update states, and its instruction set, if this is the last
    /// one.
    ///
    /// Spec: PFT-PKT-052 to PFT-PKT-054, PFT-DEC-055 (4.5.5); readings `pft-waypoint-update-is-a-base`,
    /// `pft-waypoint-update-sixth-byte`.
    pub(super) fn waypoint_update(self, address: CompressedAddress, information: Option<u8>) -> Self {
        let (address, isa) = self.address(address);
        let isa = information.map_or(isa, |information| thumb(isa, information & 0x40 != 0));
        Self { address, isa, ..self }
    }

    /// An address as it travels, and its instruction set as far as the address says it.
    ///
    /// Spec: PFT-PKT-038, PFT-PKT-040 to PFT-PKT-042, PFT-PKT-073 (4.5.4).
    #[inline]
    fn address(self, address: CompressedAddress) -> (u32, InstructionSet) {
        let CompressedAddress { bits, bytes } = address;
        let field_width = match bytes {
            0 | 1 => 6,
            2 => 12,
            3 => 19,
            4 => 26,
            _ => {
                let isa = match bits >> 31 & 3 {
                    0 => InstructionSet::A32,
                    1 => InstructionSet::T32,
                    _ => InstructionSet::Jazelle,
                };
                return ((bits << isa.alignment_bits()) as u32, isa);
            }
        };
        let alignment = self.isa.alignment_bits();
        let replaced = (1_u32 << (field_width + alignment)) - 1;
        (self.address & !replaced | (bits << alignment) as u32 & replaced, self.isa)
    }
}

/// What AltISA makes of the instruction set.
const fn thumb(isa: InstructionSet, alt_isa: bool) -> InstructionSet {
    match (isa.is_thumb(), alt_isa) {
        (true, true) => InstructionSet::T32Ee,
        (true, false) => InstructionSet::T32,
        (false, _) => isa,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use InstructionSet::{A32, Jazelle, T32};

    fn decoded(address: u32, isa: InstructionSet, bytes: u8, bits: u64) -> (u32, InstructionSet) {
        let last = State { address, isa, ..State::START };
        let State { address, isa, .. } = last.branch(CompressedAddress { bits, bytes }, None, false);
        (address, isa)
    }

    /// Rows 26 to 35 and D-09 of the sheet.
    #[test]
    fn addresses_replace_low_bits() {
        for (last, isa, bytes, bits, expected) in [
            (0x8000, A32, 1, 4, (0x8010, A32)),
            (0x8000, A32, 2, 0x40, (0x8100, A32)),
            (0x8000, A32, 2, 0xfff, (0xbffc, A32)),
            (0x8000, A32, 3, 0x3000, (0xc000, A32)),
            (0, A32, 4, 0x200_0000, (0x0800_0000, A32)),
            (0, A32, 5, 0x4400_0000, (0x1000_0000, A32)),
            (0x1_0000, T32, 1, 8, (0x1_0010, T32)),
            (u32::MAX - 3, A32, 5, 0x891a_2b3c, (0x1234_5678, T32)),
            (7, T32, 5, 0x448d_159e, (0x1234_5678, A32)),
            (0x8000, A32, 5, 0x1_1234_5679, (0x1234_5679, Jazelle)),
            (0xffff_fffc, A32, 1, 0, (0xffff_ff00, A32)),
            (0xffff_fffc, A32, 2, 0, (0xffff_c000, A32)),
            (0xffff_fffc, A32, 3, 0, (0xffe0_0000, A32)),
            (0xffff_fffc, A32, 4, 0, (0xf000_0000, A32)),
            (0xffff_fffc, A32, 5, 0x4000_0000, (0, A32)),
            (0xffff_fffe, T32, 4, 0, (0xf800_0000, T32)),
            (0xffff_ffff, Jazelle, 1, 0, (0xffff_ffc0, Jazelle)),
            (0xffff_ffff, Jazelle, 4, 0x3ff_ffff, (0xffff_ffff, Jazelle)),
        ] {
            assert_eq!(decoded(last, isa, bytes, bits), expected, "{last:#x} {isa} {bytes} {bits:#x}");
        }
    }
}
