//! The contents of the registers.

use traceproof_vectors::itanium_pmu::{Register, RegisterClass};

use super::registers::{is_frozen, stored};
use super::slice::{bit, small};

/// Every register that the performance monitor has or uses.
///
/// `Default` is all zero; [`reset`](Registers::reset) is the state of the processor after a reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// PMC\[0\] to PMC\[13\].
    pub(super) pmc: [u64; 14],
    /// PMD\[0\] to PMD\[17\].
    pub(super) pmd: [u64; 18],
    /// IBR\[0\] to IBR\[7\].
    pub(super) ibr: [u64; 8],
    /// DBR\[0\] to DBR\[7\].
    pub(super) dbr: [u64; 8],
    psr: u64,
    pmv: u64,
}

impl Registers {
    /// The registers of a processor that was reset.
    ///
    /// Spec: ITA-REG-011; reading `ita-reset-clears`.
    #[must_use]
    pub fn reset() -> Self {
        let mut registers = Self::default();
        for (index, value) in [(8, 0xf000_0000_3fff_fff8), (9, 0xf000_0000_3fff_fff8), (11, 1 << 28), (13, 1)]
        {
            registers.write(Register::pmc(index), value);
        }
        registers
    }

    /// What a register holds; 0 if the processor does not implement it.
    #[must_use]
    pub fn get(&self, register: Register) -> u64 {
        let index = usize::from(register.index);
        match register.class {
            RegisterClass::Pmc => self.pmc.get(index),
            RegisterClass::Pmd => self.pmd.get(index),
            RegisterClass::Ibr => self.ibr.get(index),
            RegisterClass::Dbr => self.dbr.get(index),
            RegisterClass::Psr => (index == 0).then_some(&self.psr),
            RegisterClass::Pmv => (index == 0).then_some(&self.pmv),
        }
        .copied()
        .unwrap_or(0)
    }

    /// Writes a register: ignored bits are dropped, and so are registers that the processor does not implement.
    pub fn write(&mut self, register: Register, value: u64) {
        let index = usize::from(register.index);
        let place = match register.class {
            RegisterClass::Pmc => self.pmc.get_mut(index),
            RegisterClass::Pmd => self.pmd.get_mut(index),
            RegisterClass::Ibr => self.ibr.get_mut(index),
            RegisterClass::Dbr => self.dbr.get_mut(index),
            RegisterClass::Psr => (index == 0).then_some(&mut self.psr),
            RegisterClass::Pmv => (index == 0).then_some(&mut self.pmv),
        };
        if let Some(place) = place {
            *place = stored(register, value);
        }
    }

    /// PMC\[0\].fr.
    #[must_use]
    pub const fn is_frozen(&self) -> bool {
        is_frozen(self.pmc[0])
    }

    /// PSR.cpl, 0 to 3.
    #[must_use]
    pub const fn cpl(&self) -> u8 {
        small(self.psr, 33, 32)
    }

    /// PSR.is: IA-32 code.
    #[must_use]
    pub const fn is_ia32(&self) -> bool {
        bit(self.psr, 34)
    }

    /// PSR.db: breakpoint registers are breakpoints.
    #[must_use]
    pub const fn debugs(&self) -> bool {
        bit(self.psr, 24)
    }

    /// PSR.sp: data registers read as 0 outside of privilege level 0.
    #[must_use]
    pub const fn is_secure(&self) -> bool {
        bit(self.psr, 20)
    }

    /// PSR.up and PSR.pp.
    pub(super) const fn starts(&self, pm: bool) -> bool {
        if pm { bit(self.psr, 21) } else { bit(self.psr, 2) }
    }

    /// PMV.m: no interrupt is pended.
    #[must_use]
    pub const fn masks_interrupts(&self) -> bool {
        bit(self.pmv, 16)
    }
}
