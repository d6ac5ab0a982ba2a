//! The syllables that the opcode matchers tag.

use traceproof_vectors::itanium_pmu::{LongSyllable, SyllableType};

/// Bits of a syllable.
pub(super) const SYLLABLE_BITS: u32 = 41;

/// The 27 bits of a syllable that are compared: {40:27} and {12:0} (ITA-OPC-001, ITA-OPC-002).
pub(super) const fn key(enco: u64) -> u32 {
    ((enco >> 27 & 0x3fff) << 13 | enco & 0x1fff) as u32
}

/// PMC\[8\] or PMC\[9\] as it is in force, made when a register changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Opcode {
    /// Bit n for the syllable type with number n.
    types: u8,
    /// Bits of the key that are compared.
    compared: u32,
    /// What they must be.
    wanted: u32,
}

impl Opcode {
    /// From the value of the register. In IA-32 code nothing matches (ITA-OPC-012).
    pub(super) fn new(register: u64, is_ia32: bool, long: LongSyllable) -> Self {
        let selects = |bit: u32, itype: SyllableType| ((register >> bit & 1) as u8) << itype as u8;
        let mut types = selects(63, SyllableType::M)
            | selects(62, SyllableType::I)
            | selects(61, SyllableType::F)
            | selects(60, SyllableType::B);
        if long == LongSyllable::I {
            types |= selects(62, SyllableType::X);
        }
        if is_ia32 {
            types = 0;
        }
        // A mask bit of 1 means: not compared (ITA-OPC-004).
        let compared = !(register >> 3) as u32 & 0x07ff_ffff;
        Self { types, compared, wanted: (register >> 33) as u32 & compared }
    }

    /// imatch and ematch (4.2).
    pub(super) const fn matches(self, itype: SyllableType, key: u32) -> bool {
        self.types >> itype as u8 & 1 != 0 && key & self.compared == self.wanted
    }

    /// Whether a register value restricts nothing: all four types, no bit compared.
    pub(super) const fn passes_all(register: u64) -> bool {
        const ALL: u64 = 0xf000_0000_3fff_fff8;
        register & ALL == ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use SyllableType::{B, F, I, M, X};

    const KEY: u64 = 0x07ff_ffff;

    fn matches(register: u64, enco: u64, itype: SyllableType) -> bool {
        Opcode::new(register, false, LongSyllable::I).matches(itype, key(enco))
    }

    #[test]
    fn published_values_match_what_they_are_said_to() {
        let cloop = 0x1400_0280_03ff_f1f8;
        let ld1 = 0x8400_0000_07e7_fffb;
        let nop = 0x8000_4000_0000_0000;
        let rows = [
            (cloop, 0x091_ffff_e140, B, 0x247_e140, true),
            (cloop, 0x091_ffff_e147, B, 0x247_e147, true),
            (cloop, 0x091_ffff_e000, B, 0x247_e000, false),
            (cloop, 0x080_0000_0180, B, 0x200_0180, false),
            (cloop, 0x091_ffff_e140, M, 0x247_e140, false),
            (ld1, 0x080_00f0_0380, M, 0x200_0380, true),
            (ld1, 0x080_40f0_0380, M, 0x201_0380, false),
            (ld1, 0x081_00f0_0380, M, 0x204_0380, true),
            (ld1, 0x08c_00f0_0000, M, 0x230_0000, true),
            (ld1, 0x0a0_00f0_0380, M, 0x280_0380, true),
            (ld1, 0x0c0_00f0_0380, M, 0x300_0380, false),
            (nop, 0x000_0800_0000, M, 0x000_2000, true),
        ];
        for (register, enco, itype, expected_key, expected) in rows {
            assert_eq!(key(enco), expected_key, "{enco:#x}");
            assert_eq!(matches(register, enco, itype), expected, "{register:#x} {enco:#x}");
        }
        // EX-14b: {26:13} all ones; EX-14c: {12:6} = 5.
        assert!(matches(nop, 0x000_0800_0000 | 0x7ff_e000, M));
        assert!(!matches(nop, 0x000_0800_0140, M));
        for (itype, expected) in [(M, true), (I, true), (F, false), (B, false)] {
            assert_eq!(matches(0xc000_4000_0000_fff8, 0x000_0800_1fc0, itype), expected);
            assert_eq!(matches(0xc800_0000_0000_fff8, 0x100_0101_e380, itype), expected);
            for pass_all in [0xf000_0000_3fff_fff8, 0xffff_fffe_3fff_fff8] {
                assert!(matches(pass_all, 0x155_5555_5555, itype) && Opcode::passes_all(pass_all));
            }
            assert!(!matches(0x0000_0000_3fff_fff8, 0x000_0800_0000, itype));
        }
        for (register, bit) in [
            (0x8800_0000_0000_0000, 40),
            (0x8000_4000_0000_0000, 27),
            (0x8000_2000_0000_0000, 12),
            (0x8000_0002_0000_0000, 0),
        ] {
            assert!(matches(register, 1 << bit, M));
            assert!(!matches(register, 0, M));
        }
    }

    #[test]
    fn bits_follow_their_table() {
        for bit in 0..SYLLABLE_BITS {
            let (mask_bit, match_bit) = match bit {
                27..=40 => (bit - 11, bit + 19),
                0..=12 => (bit + 3, bit + 33),
                _ => {
                    assert_eq!(key(1 << bit), 0);
                    continue;
                }
            };
            let only_this = 0x8000_0000_3fff_fff8 & !(1 << mask_bit);
            assert!(matches(only_this, 0, M) && !matches(only_this, 1 << bit, M));
            let as_one = only_this | 1 << match_bit;
            assert!(!matches(as_one, 0, M) && matches(as_one, 1 << bit, M));
        }
    }

    proptest! {
        /// The formula of 4.2, bit by bit as it stands there; syllables near a match, so that both answers are common.
        #[test]
        fn the_key_comparison_is_the_formula(register in any::<u64>(), noise in any::<u64>(), flip in 0..82_u32) {
            let bit = |value: u64, at: u32| value >> at & 1;
            let (value, mask) = (register >> 33 & KEY, register >> 3 & KEY);
            let near = value & !mask | noise & mask;
            let enco = near >> 13 << 27 | near & 0x1fff | noise & 0x07ff_e000;
            let enco = if flip < 41 { enco ^ 1 << flip } else { enco };
            let ematch = (27..=40).all(|b| bit(enco, b) == bit(value, b - 14) || bit(mask, b - 14) == 1)
                && (0..=12).all(|b| bit(enco, b) == bit(value, b) || bit(mask, b) == 1);
            for (itype, selected) in [(M, 63), (I, 62), (F, 61), (B, 60)] {
                prop_assert_eq!(matches(register, enco, itype), ematch && bit(register, selected) == 1);
            }
        }
    }

    #[test]
    fn the_long_syllable_is_i_or_nothing() {
        let i_only = 0x4000_0000_3fff_fff8;
        let m_only = 0x8000_0000_3fff_fff8;
        assert!(matches(i_only, 0, X) && !matches(m_only, 0, X));
        let none = Opcode::new(0xf000_0000_3fff_fff8, false, LongSyllable::None);
        assert!(!none.matches(X, 0) && none.matches(I, 0));
        assert!(!Opcode::new(0xf000_0000_3fff_fff8, true, LongSyllable::I).matches(M, 0));
    }
}
