//! Addresses relative to those before them (sheet 5.4, 7.5).

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::{AddressChoice, AddressField, State, SubIsa};
use traceproof_vectors::{Address, Address32};

use super::field::lowest_bit;

/// An address as packets have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) address: u64,
    pub(super) sub_isa: SubIsa,
}

impl Location {
    /// `AArch32` addresses have 32 bits; the low bits are 0. Spec: ETE-FSWRC-001, ETE-DEC-ISA-001.
    pub(super) const fn new(address: Address, isa: InstructionSet, address_bytes: u8) -> Self {
        let sub_isa = if isa.is_thumb() { SubIsa::Is1 } else { SubIsa::Is0 };
        let narrow = address_bytes == 4 || !matches!(isa, InstructionSet::A64);
        let address = if narrow { address.0 & 0xffff_ffff } else { address.0 };
        Self { address: address & !((1 << lowest_bit(sub_isa)) - 1), sub_isa }
    }

    pub(super) const fn of(state: &State, address_bytes: u8) -> Self {
        Self::new(state.address, state.isa, address_bytes)
    }
}

/// The three latest addresses, newest first. Spec: ETE-SJPYH-001, ETE-ENC-AHB-001.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AddressHistory {
    entries: [Location; 3],
}

impl AddressHistory {
    /// Every address that travels. Spec: ETE-LMHFW-001, ETE-CMCRT-001, ETE-FPDFJ-001.
    pub(super) fn push(&mut self, location: Location) {
        let [newest, middle, _] = self.entries;
        self.entries = [location, newest, middle];
    }

    /// The form of an address, which is the newest from now on.
    ///
    /// Spec: ETE-BPRDC-001, ETE-ENC-ADR-001 to ETE-ENC-ADR-003, ETE-PKT-ADR-001 to ETE-PKT-ADR-004.
    pub(super) fn send(&mut self, location: Location, choice: AddressChoice) -> AddressField {
        let field = self.choose(location, choice);
        self.push(location);
        field
    }

    /// The smallest form that is allowed and says the address.
    pub(super) fn choose(&self, location: Location, choice: AddressChoice) -> AddressField {
        let Location { address, sub_isa } = location;
        if choice == AddressChoice::Shortest
            && let Some(entry) = self.entries.iter().position(|entry| *entry == location)
        {
            return AddressField::ExactMatch(entry as u8);
        }
        let lowest = lowest_bit(sub_isa);
        let [newest, ..] = self.entries;
        // Bits that the form does not have are those of the newest address.
        let reaches = |above: u32| (address ^ newest.address) >> above == 0;
        let low = |above: u32| address & ((1 << above) - 1);
        let short = |bytes: u8, above: u32| AddressField::Short {
            sub_isa,
            bits: Address32(low(above) as u32),
            bytes,
        };
        match choice {
            AddressChoice::Shortest | AddressChoice::NoExactMatch if reaches(lowest + 7) => {
                short(1, lowest + 7)
            }
            AddressChoice::Shortest | AddressChoice::NoExactMatch | AddressChoice::TwoBytes
                if reaches(lowest + 15) =>
            {
                short(2, lowest + 15)
            }
            AddressChoice::Bits64 => AddressField::Bits64 { sub_isa, bits: Address(address), reserved: 0 },
            _ if reaches(32) => {
                AddressField::Bits32 { sub_isa, bits: Address32(address as u32), reserved: 0 }
            }
            _ => AddressField::Bits64 { sub_isa, bits: Address(address), reserved: 0 },
        }
    }
}
