//! Which addresses the pairs of breakpoint registers tag.

use super::registers::{Registers, canonical};

/// Address bits that are compared whatever the mask: {63:61} with themselves, {60:56} with bit 50 (ITA-IBR-004,
/// ITA-IBR-005).
const ALWAYS_COMPARED: u64 = 0xff00_0000_0000_0000;

/// What an address is compared with in one step: the closed form `((addr ^ canonical(address)) & mask) == 0`, addr
/// masked beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Compare {
    mask: u64,
    wanted: u64,
}

impl Compare {
    const NEVER: Self = Self { mask: 0, wanted: 1 };
    const ALWAYS: Self = Self { mask: 0, wanted: 0 };

    /// From an even register and the mask field of the odd one.
    const fn new(addr: u64, odd: u64, never_compared: u64) -> Self {
        let mask = (odd & !ALWAYS_COMPARED & !never_compared) | ALWAYS_COMPARED;
        Self { mask, wanted: addr & mask }
    }

    const fn matches(self, canonical: u64) -> bool {
        canonical & self.mask == self.wanted
    }
}

/// The pairs as they are in force, made when a register changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pairs: [Compare; 4],
}

impl Default for Range {
    fn default() -> Self {
        Self { pairs: [Compare::NEVER; 4] }
    }
}

impl Range {
    /// The instruction address range check: the result is IBRRangeTag (3.2; ITA-IBR-001 to 017).
    ///
    /// Neither the privilege level nor the instruction set is checked per address: a pair that they rule out matches
    /// nothing.
    pub(super) fn of_instructions(registers: &Registers, never_compared: u64) -> Self {
        if registers.pmc[13] & 1 != 0 {
            return Self { pairs: [Compare::ALWAYS; 4] };
        }
        let odd = |pair: usize| registers.ibr[2 * pair + 1];
        let is_breakpoint = (0..4).any(|pair| odd(pair) >> 63 != 0);
        if registers.is_ia32() || registers.debugs() || is_breakpoint {
            return Self::default();
        }
        let mut pairs = [Compare::NEVER; 4];
        for (index, pair) in pairs.iter_mut().enumerate() {
            if odd(index) >> (56 + registers.privilege_level()) & 1 != 0 {
                *pair = Compare::new(registers.ibr[2 * index], odd(index), never_compared);
            }
        }
        Self { pairs }
    }

    /// The data address range check: the result is DBRRangeMatch, which does not depend on the privilege level, r and w
    /// (5.1; ITA-DBR-001 to 004).
    pub(super) fn of_data(registers: &Registers) -> Self {
        let mut pairs = [Compare::NEVER; 4];
        if !registers.debugs() {
            for (index, pair) in pairs.iter_mut().enumerate() {
                *pair = Compare::new(registers.dbr[2 * index], registers.dbr[2 * index + 1], 0);
            }
        }
        Self { pairs }
    }

    /// Whether a pair matches the address.
    pub(super) fn contains(&self, address: u64) -> bool {
        let canonical = canonical(address);
        let [first, second, third, fourth] = self.pairs;
        first.matches(canonical)
            | second.matches(canonical)
            | third.matches(canonical)
            | fourth.matches(canonical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The formula of 3.1, bit by bit as it stands there.
    fn bit_by_bit(even: u64, mask: u64, address: u64) -> bool {
        let bit = |value: u64, at: u32| value >> at & 1;
        (0..=50).all(|b| bit(even, b) & bit(mask, b) == bit(address, b) & bit(mask, b))
            && (51..=55).all(|b| bit(even, b) & bit(mask, b) == bit(address, 50) & bit(mask, b))
            && (56..=60).all(|b| bit(even, b) == bit(address, 50))
            && (61..=63).all(|b| bit(even, b) == bit(address, b))
    }

    /// Addresses near a match, so that both answers are common.
    fn case() -> impl Strategy<Value = (u64, u64, u64)> {
        (any::<u64>(), any::<u64>(), any::<u64>(), 0..64u32, 0..4u8).prop_map(
            |(even, mask, noise, bit, how)| {
                let even = if how & 1 == 0 { canonical(even) } else { even };
                let near =
                    (even & mask) | (noise & !mask & 0x0007_ffff_ffff_ffff) | (even & !0x00ff_ffff_ffff_ffff);
                let address = if how & 2 == 0 { near } else { near ^ (1 << bit) };
                (even, mask & 0x00ff_ffff_ffff_ffff, address)
            },
        )
    }

    proptest! {
        /// ITA-IBR-007, ITA-IBR-006, ITA-IBR-014.
        #[test]
        fn the_closed_form_is_the_formula((even, mask, address) in case(), copies in any::<u64>()) {
            let compare = Compare::new(even, mask, 0);
            let expected = bit_by_bit(even, mask, address);
            prop_assert_eq!(compare.matches(canonical(address)), expected);
            let elsewhere = address ^ (copies & 0x1ff8_0000_0000_0000);
            prop_assert_eq!(compare.matches(canonical(elsewhere)), expected);
            if !matches!(even >> 56 & 0x1f, 0 | 0x1f) {
                prop_assert!(!expected);
            }
        }
    }

    #[test]
    fn a_pair_of_zeros_is_inert_for_code_and_half_a_region_for_data() {
        let mut registers = Registers::default();
        registers.pmc[13] = 0;
        let code = Range::of_instructions(&registers, 0);
        let data = Range::of_data(&registers);
        for address in [0, 0x1000, 0x0003_ffff_ffff_ffff] {
            assert!(!code.contains(address));
            assert!(data.contains(address));
        }
        for address in [0x1ffc_0000_0000_0000, 0x2000_0000_0000_0000] {
            assert!(!data.contains(address));
        }
        for pair in 0..4 {
            registers.dbr[2 * pair] = 0x0100_0000_0000_0000;
        }
        assert!(!Range::of_data(&registers).contains(0x1000));
    }
}
