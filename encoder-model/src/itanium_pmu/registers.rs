//! Which bits a register keeps of what is written, and what it holds after reset.

use traceproof_vectors::itanium_pmu::{Register, RegisterClass};

/// Bits that PMC\[0\] to PMC\[13\] keep (2.1; ITA-REG-002 to 010).
const PMC_KEPT: [u64; 14] = [
    0xf1,
    0,
    0,
    0,
    0x037f_7f7f,
    0x037f_7f7f,
    0x033f_7f7f,
    0x033f_7f7f,
    0xffff_fffe_3fff_fff8,
    0xffff_fffe_3fff_fff8,
    0x030f_00cf,
    0x130f_00cf,
    0xffcf,
    1,
];

/// Bits of PMD\[0\], \[2\] and \[17\] that are not stored but copies of bit 50 (ITA-REG-016).
const COPIES: u64 = 0x1ff8_0000_0000_0000;

/// `address` with {60:51} replaced by copies of bit 50.
pub(super) const fn canonical(address: u64) -> u64 {
    // -1 if bit 50 is set, else 0.
    let copies = ((address << 13) as i64 >> 63) as u64;
    (address & !COPIES) | (copies & COPIES)
}

/// What a register reads as after `value` was written; 0 if the processor does not have the register (ITA-REG-001).
///
/// Of PSR and PMV everything is kept: their other bits belong to other units.
#[must_use]
pub const fn kept(register: Register, value: u64) -> u64 {
    if !register.is_implemented() {
        return 0;
    }
    match (register.class, register.index) {
        (RegisterClass::Pmc, index) => value & PMC_KEPT[index as usize],
        (RegisterClass::Pmd, 0) => canonical(value) & !0x1c,
        (RegisterClass::Pmd, 1) => value & 0xfff,
        (RegisterClass::Pmd, 2) => canonical(value),
        (RegisterClass::Pmd, 3) => value & 0xc000_0000_0000_0fff,
        // {63:32} read as copies of bit 31 (ITA-CNT-001, ITA-CNT-002).
        (RegisterClass::Pmd, 4..=7) => value as i32 as u64,
        (RegisterClass::Pmd, 16) => value & 0xf,
        (RegisterClass::Pmd, 17) => canonical(value) & !2,
        (RegisterClass::Ibr, index) if index % 2 == 1 => value & 0x8fff_ffff_ffff_ffff,
        (RegisterClass::Dbr, index) if index % 2 == 1 => value & 0xcfff_ffff_ffff_ffff,
        _ => value,
    }
}

/// The register files, every register as it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registers {
    pub(super) pmc: [u64; 14],
    pub(super) pmd: [u64; 18],
    pub(super) ibr: [u64; 8],
    pub(super) dbr: [u64; 8],
    pub(super) psr: u64,
    pub(super) pmv: u64,
}

impl Default for Registers {
    /// As after reset (ITA-REG-011).
    fn default() -> Self {
        let mut pmc = [0; 14];
        pmc[8] = 0xf000_0000_3fff_fff8;
        pmc[9] = pmc[8];
        pmc[11] = 0x1000_0000;
        pmc[13] = 1;
        Self { pmc, pmd: [0; 18], ibr: [0; 8], dbr: [0; 8], psr: 0, pmv: 0 }
    }
}

impl Registers {
    /// What software reads as privileged software; 0 of registers that the processor does not have.
    pub(super) fn read(&self, register: Register) -> u64 {
        let index = usize::from(register.index);
        let held = match register.class {
            RegisterClass::Pmc => self.pmc.get(index),
            RegisterClass::Pmd => self.pmd.get(index),
            RegisterClass::Ibr => self.ibr.get(index),
            RegisterClass::Dbr => self.dbr.get(index),
            RegisterClass::Psr => (index == 0).then_some(&self.psr),
            RegisterClass::Pmv => (index == 0).then_some(&self.pmv),
        };
        held.copied().unwrap_or(0)
    }

    /// Software writes; ignored bits and registers that the processor does not have are dropped.
    pub(super) fn write(&mut self, register: Register, value: u64) {
        let index = usize::from(register.index);
        let held = match register.class {
            RegisterClass::Pmc => self.pmc.get_mut(index),
            RegisterClass::Pmd => self.pmd.get_mut(index),
            RegisterClass::Ibr => self.ibr.get_mut(index),
            RegisterClass::Dbr => self.dbr.get_mut(index),
            RegisterClass::Psr => (index == 0).then_some(&mut self.psr),
            RegisterClass::Pmv => (index == 0).then_some(&mut self.pmv),
        };
        if let Some(held) = held {
            *held = kept(register, value);
        }
    }

    /// PMC\[0\].fr: monitoring is off.
    pub(super) const fn is_frozen(&self) -> bool {
        self.pmc[0] & 1 != 0
    }

    /// PSR.cpl.
    pub(super) const fn privilege_level(&self) -> u32 {
        (self.psr >> 32) as u32 & 3
    }

    /// PSR.is: the IA-32 instruction set.
    pub(super) const fn is_ia32(&self) -> bool {
        self.psr >> 34 & 1 != 0
    }

    /// PSR.db: debug breakpoints are enabled.
    pub(super) const fn debugs(&self) -> bool {
        self.psr >> 24 & 1 != 0
    }

    /// Whether PMC\[10\].tlb and PMC\[11\].tlb are set.
    pub(super) const fn modes(&self) -> super::Modes {
        super::Modes { instruction_tlb: self.pmc[10] & 0x80 != 0, data_tlb: self.pmc[11] & 0x80 != 0 }
    }

    /// Whether the monitor with this configuration, PMC\[4\] to PMC\[7\], \[10\] or \[11\], may count or capture,
    /// PMC\[0\].fr apart (ITA-CNT-003 to 006, ITA-EAR-020).
    pub(super) const fn enables(&self, configuration: u64) -> bool {
        let level = configuration >> self.privilege_level() & 1 != 0;
        let started = if configuration & 0x40 != 0 { self.psr >> 21 } else { self.psr >> 2 } & 1 != 0;
        let blocked = configuration >> (24 + self.is_ia32() as u32) & 1 != 0;
        level && started && !blocked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walking ones against the tables of 2.1, 2.10 and 2.11, written down bit range by bit range.
    #[test]
    fn exactly_the_bits_of_the_layouts_are_kept() {
        let counter = |threshold_top: u32| {
            let mut bits: Vec<u32> = (0..=6).chain(8..=14).chain(16..=19).collect();
            bits.extend(20..=threshold_top);
            bits.extend([24, 25]);
            bits
        };
        let rows = [
            (Register::pmc(0), alloc::vec![0, 4, 5, 6, 7]),
            (Register::pmc(1), alloc::vec![]),
            (Register::pmc(2), alloc::vec![]),
            (Register::pmc(3), alloc::vec![]),
            (Register::pmc(4), counter(22)),
            (Register::pmc(5), counter(22)),
            (Register::pmc(6), counter(21)),
            (Register::pmc(7), counter(21)),
            (Register::pmc(8), (3..=29).chain(33..=63).collect()),
            (Register::pmc(9), (3..=29).chain(33..=63).collect()),
            (Register::pmc(10), (0..=3).chain([6, 7]).chain(16..=19).chain([24, 25]).collect()),
            (Register::pmc(11), (0..=3).chain([6, 7]).chain(16..=19).chain([24, 25, 28]).collect()),
            (Register::pmc(12), (0..=3).chain(6..=15).collect()),
            (Register::pmc(13), alloc::vec![0]),
            (Register::pmd(1), (0..=11).collect()),
            (Register::pmd(3), (0..=11).chain([62, 63]).collect()),
            (Register::pmd(8), (0..=63).collect()),
            (Register::pmd(16), (0..=3).collect()),
            (Register::ibr(0), (0..=63).collect()),
            (Register::ibr(1), (0..=59).chain([63]).collect()),
            (Register::dbr(6), (0..=63).collect()),
            (Register::dbr(7), (0..=59).chain([62, 63]).collect()),
            (Register::pmc(14), alloc::vec![]),
            (Register::pmd(18), alloc::vec![]),
            (Register::ibr(8), alloc::vec![]),
        ];
        for (register, bits) in rows {
            for bit in 0..64 {
                let wanted = if bits.contains(&bit) { 1 << bit } else { 0 };
                assert_eq!(kept(register, 1 << bit), wanted, "{register} bit {bit}");
            }
        }
    }

    #[test]
    fn copies_stand_in_for_bits_that_are_not_stored() {
        for (index, dropped) in [(0, 0x1c), (2, 0), (17, 2)] {
            let register = Register::pmd(index);
            assert_eq!(kept(register, u64::MAX), !dropped);
            assert_eq!(kept(register, 0x0004_0000_0000_0000), 0x1ffc_0000_0000_0000);
            assert_eq!(kept(register, 0x1ff8_0000_0000_0000), 0);
            assert_eq!(kept(register, 0xe000_0000_0000_0000), 0xe000_0000_0000_0000);
        }
        for (written, read) in [
            (0x7fff_ffff, 0x0000_0000_7fff_ffff),
            (0x8000_0000, 0xffff_ffff_8000_0000),
            (0xffff_ffff, u64::MAX),
            (0x1234_5678_0000_0001, 1),
        ] {
            assert_eq!(kept(Register::pmd(7), written), read);
        }
    }
}
