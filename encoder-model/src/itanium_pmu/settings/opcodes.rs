//! Which opcode match tags which instructions.

use alloc::format;
use core::fmt;
use core::str::FromStr;

use traceproof_vectors::itanium_pmu::{Contents, Register};

use super::Setting;
use crate::itanium_pmu::opcode::{SYLLABLE_BITS, key};
use crate::itanium_pmu::value_of;

/// All bits of a syllable.
const SYLLABLE: u64 = (1 << SYLLABLE_BITS) - 1;
/// Bits of a syllable that no opcode match compares.
const NEVER_COMPARED: u64 = 0x07ff_e000;
/// All bits of the key.
const KEY: u32 = 0x07ff_ffff;

/// What the 41 bits of a syllable shall be, bit 40 the first of the major opcode, bit 0 the last of the qualifying
/// predicate.
///
/// Its text is 41 of `0`, `1` and `x` (whatever it is), bit 40 first; blanks and `_` may stand anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpcodePattern {
    /// What the compared bits shall be. Other bits have no meaning.
    pub value: u64,
    /// Which bits are compared: 1 = compared, unlike in the register.
    pub compared: u64,
}

impl OpcodePattern {
    /// Any syllable.
    pub const ANY: Self = Self { value: 0, compared: 0 };

    /// Asks for `{high:low}` to be `value` too.
    ///
    /// # Errors
    ///
    /// If there are no such bits, or the value has more of them.
    pub const fn with(self, high: u32, low: u32, value: u64) -> Result<Self, OpcodeRefusal> {
        if high >= SYLLABLE_BITS || low > high {
            return Err(OpcodeRefusal::NoSuchBits { high, low });
        }
        let ones = u64::MAX >> (63 - (high - low));
        if value > ones {
            return Err(OpcodeRefusal::Overlong { value });
        }
        Ok(Self { value: self.value & !(ones << low) | value << low, compared: self.compared | ones << low })
    }

    /// Asks for a major opcode, `{40:37}`, too.
    ///
    /// # Errors
    ///
    /// If it is above 15.
    pub const fn with_major(self, opcode: u64) -> Result<Self, OpcodeRefusal> {
        self.with(40, 37, opcode)
    }
}

impl FromStr for OpcodePattern {
    type Err = OpcodeRefusal;

    fn from_str(text: &str) -> Result<Self, OpcodeRefusal> {
        let mut pattern = Self::ANY;
        let mut bits = 0;
        for character in text.chars().filter(|character| !matches!(character, ' ' | '\t' | '_')) {
            let (value, compared) = match character {
                '0' => (0, 1),
                '1' => (1, 1),
                'x' | 'X' => (0, 0),
                _ => return Err(OpcodeRefusal::Text),
            };
            if bits == SYLLABLE_BITS {
                return Err(OpcodeRefusal::Text);
            }
            pattern = Self { value: pattern.value << 1 | value, compared: pattern.compared << 1 | compared };
            bits += 1;
        }
        if bits == SYLLABLE_BITS { Ok(pattern) } else { Err(OpcodeRefusal::Text) }
    }
}

/// Types of syllables. Instructions of type A are M in an M slot and I in an I slot: select both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyllableTypes {
    /// Memory.
    pub m: bool,
    /// Integer.
    pub i: bool,
    /// Floating point.
    pub f: bool,
    /// Branch.
    pub b: bool,
}

impl SyllableTypes {
    /// All four.
    pub const ALL: Self = Self { m: true, i: true, f: true, b: true };
}

impl fmt::Display for SyllableTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (is_selected, name) in [(self.m, "M"), (self.i, "I"), (self.f, "F"), (self.b, "B")] {
            if is_selected {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}

/// Instructions to tag: PMC\[8\] or PMC\[9\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpcodeMatch {
    /// 8 for the tag that qualifies events, 9 for the tag that can only be counted.
    pub pmc: u8,
    /// Of which types.
    pub types: SyllableTypes,
    /// With which bits.
    pub pattern: OpcodePattern,
}

/// What to write, and what it cannot distinguish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpcodeSettings {
    /// The register.
    pub setting: Setting,
    /// Bits that were asked for and cannot be compared, of {26:13}: instructions that differ there are tagged too.
    pub not_compared: u64,
}

/// Why instructions cannot be tagged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpcodeRefusal {
    /// PMC\[n\] is no opcode match.
    NoOpcodeMatch(u8),
    /// No type of syllable is selected: nothing would match.
    NoType,
    /// The value, or the bits to be compared, are more than there are.
    Overlong {
        /// The value.
        value: u64,
    },
    /// A syllable has no bits {high:low}.
    NoSuchBits {
        /// The higher one.
        high: u32,
        /// The lower one.
        low: u32,
    },
    /// The text is not 41 of `0`, `1`, `x`.
    Text,
}

impl fmt::Display for OpcodeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOpcodeMatch(pmc) => write!(f, "PMC{pmc} is no opcode match: PMC8 and PMC9 are"),
            Self::NoType => f.write_str("no type of syllable is selected, so that nothing would match"),
            Self::Overlong { value } => write!(f, "{value:#x} has more bits than can be compared with it"),
            Self::NoSuchBits { high, low } => write!(f, "a syllable has no bits {{{high}:{low}}}"),
            Self::Text => f.write_str("a pattern is 41 of 0, 1 and x"),
        }
    }
}

impl core::error::Error for OpcodeRefusal {}

impl OpcodeMatch {
    /// The setting. Bits of the match field that are not compared are 0.
    ///
    /// # Errors
    ///
    /// Why nothing would be tagged.
    pub fn settings(&self) -> Result<OpcodeSettings, OpcodeRefusal> {
        let Self { pmc, types, pattern } = *self;
        if !matches!(pmc, 8 | 9) {
            return Err(OpcodeRefusal::NoOpcodeMatch(pmc));
        }
        if types == SyllableTypes::default() {
            return Err(OpcodeRefusal::NoType);
        }
        for value in [pattern.value, pattern.compared] {
            if value & !SYLLABLE != 0 {
                return Err(OpcodeRefusal::Overlong { value });
            }
        }
        let compared = key(pattern.compared);
        let SyllableTypes { m, i, f, b } = types;
        let contents = Contents::OpcodeMatch {
            register: Register::pmc(pmc),
            m,
            i,
            f,
            b,
            value: key(pattern.value) & compared,
            mask: !compared & KEY,
        };
        let meaning = match compared.count_ones() {
            0 => format!("Tag(PMC[{pmc}]): every syllable of type {types}"),
            1 => format!("Tag(PMC[{pmc}]): syllables of type {types}, 1 bit compared"),
            bits => format!("Tag(PMC[{pmc}]): syllables of type {types}, {bits} bits compared"),
        };
        let setting = Setting { register: Register::pmc(pmc), value: value_of(&contents), meaning };
        Ok(OpcodeSettings { setting, not_compared: pattern.compared & NEVER_COMPARED })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(types: SyllableTypes, pattern: OpcodePattern) -> u64 {
        OpcodeMatch { pmc: 8, types, pattern }.settings().unwrap().setting.value
    }

    #[test]
    fn published_values_are_reproduced() {
        let b = SyllableTypes { b: true, ..SyllableTypes::default() };
        let m = SyllableTypes { m: true, ..SyllableTypes::default() };
        let major_4 = OpcodePattern::ANY.with_major(4).unwrap();
        // br.cloop: opcode 4, btype {8:6} = 5.
        assert_eq!(value(b, major_4.with(8, 6, 5).unwrap()), 0x1400_0280_03ff_f1f8);
        // ld8: opcode 4, x6 {35:30} = 3.
        assert_eq!(value(m, major_4.with(35, 30, 3).unwrap()), 0x8406_0000_0207_fff8);
        // A-type add in M and I slots: opcode 8, everything of {36:27} 0.
        let add = OpcodePattern::ANY.with_major(8).unwrap().with(36, 27, 0).unwrap();
        assert_eq!(value(SyllableTypes { m: true, i: true, ..b_none() }, add), 0xc800_0000_0000_fff8);
        assert_eq!(value(SyllableTypes::ALL, OpcodePattern::ANY), 0xf000_0000_3fff_fff8);
        // nop.m with every bit that can be compared.
        let nop = OpcodePattern { value: 0x800_0000, compared: SYLLABLE };
        assert_eq!(value(m, nop), 0x8000_4000_0000_0000);
    }

    fn b_none() -> SyllableTypes {
        SyllableTypes::default()
    }

    #[test]
    fn what_cannot_be_compared_is_reported() {
        let pattern = OpcodePattern::ANY.with(20, 6, 0x7fff).unwrap();
        let matched = OpcodeMatch { pmc: 9, types: SyllableTypes::ALL, pattern }.settings().unwrap();
        assert_eq!(matched.not_compared, 0x001f_e000);
        assert_eq!(matched.setting.register, Register::pmc(9));
        // Mask bits {15:9} of the register are enco {12:6}: compared, and to be ones.
        assert_eq!(matched.setting.value, 0xf000_3f80_3fff_01f8);
    }

    #[test]
    fn patterns_are_read_as_text() {
        let text = "0100 xxxxxxxxxx xxxxxxxxxxxxxx xxxx_101_xxxxxx";
        let pattern: OpcodePattern = text.parse().unwrap();
        assert_eq!(pattern, OpcodePattern::ANY.with_major(4).unwrap().with(8, 6, 5).unwrap());
        for wrong in ["", "0", "0100 xxxxxxxxxx xxxxxxxxxxxxxx xxxx_101_xxxxx2", &"x".repeat(42)] {
            assert_eq!(wrong.parse::<OpcodePattern>(), Err(OpcodeRefusal::Text), "{wrong}");
        }
    }

    #[test]
    fn what_would_tag_nothing_is_refused() {
        let good = OpcodeMatch { pmc: 8, types: SyllableTypes::ALL, pattern: OpcodePattern::ANY };
        let refusal = |matched: OpcodeMatch| matched.settings().unwrap_err();
        assert_eq!(refusal(OpcodeMatch { pmc: 10, ..good }), OpcodeRefusal::NoOpcodeMatch(10));
        assert_eq!(refusal(OpcodeMatch { types: b_none(), ..good }), OpcodeRefusal::NoType);
        let wide = OpcodePattern { value: 0, compared: 1 << 41 };
        assert_eq!(
            refusal(OpcodeMatch { pattern: wide, ..good }),
            OpcodeRefusal::Overlong { value: 1 << 41 }
        );
        assert_eq!(OpcodePattern::ANY.with_major(16), Err(OpcodeRefusal::Overlong { value: 16 }));
        let no_bits = OpcodeRefusal::NoSuchBits { high: 41, low: 3 };
        assert_eq!(OpcodePattern::ANY.with(41, 3, 0), Err(no_bits));
    }
}
