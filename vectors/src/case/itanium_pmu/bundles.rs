//! Programs of bundles: `MIB| 0x080c0f00380, 0x8000000, 0x091ffffe140`.

use crate::Program;
use crate::case::{Mnemonics, Operands};
use crate::itanium_pmu::SyllableType;

/// Bytes of a bundle.
const BUNDLE: u8 = 16;
/// Bits of a syllable.
const SYLLABLE: u32 = 41;
/// Bits of a template, before the syllables.
const TEMPLATE: u32 = 5;

/// Every defined template: its code, and its name, in which `|` is a stop.
const TEMPLATES: [(u8, &str); 24] = [
    (0x00, "MII"),
    (0x01, "MII|"),
    (0x02, "MI|I"),
    (0x03, "MI|I|"),
    (0x04, "MLX"),
    (0x05, "MLX|"),
    (0x08, "MMI"),
    (0x09, "MMI|"),
    (0x0a, "M|MI"),
    (0x0b, "M|MI|"),
    (0x0c, "MFI"),
    (0x0d, "MFI|"),
    (0x0e, "MMF"),
    (0x0f, "MMF|"),
    (0x10, "MIB"),
    (0x11, "MIB|"),
    (0x12, "MBB"),
    (0x13, "MBB|"),
    (0x16, "BBB"),
    (0x17, "BBB|"),
    (0x18, "MMB"),
    (0x19, "MMB|"),
    (0x1c, "MFB"),
    (0x1d, "MFB|"),
];

/// The assembler's instruction set: one mnemonic for each template, whose operands are the three syllables.
pub(super) struct Bundles;

impl Mnemonics for Bundles {
    /// Code of the template.
    type Instruction = u8;
    type State = ();

    fn find(&self, mnemonic: &str, _: &[&str], (): &mut ()) -> Result<u8, String> {
        TEMPLATES
            .iter()
            .find(|(_, name)| *name == mnemonic)
            .map(|(code, _)| *code)
            .ok_or_else(|| format!("unknown template `{mnemonic}`; a bundle is written `MIB| 0x0, 0x0, 0x0`"))
    }

    fn size(&self, _: u8) -> u8 {
        BUNDLE
    }

    fn encode(&self, template: u8, operands: &Operands<'_>) -> Result<u128, String> {
        let [first, second, third] = operands.list() else {
            return Err("a bundle has three syllables".to_owned());
        };
        let mut bits = u128::from(template);
        for (slot, text) in [first, second, third].into_iter().enumerate() {
            let value = operands.value(text)?;
            let syllable = u128::try_from(value)
                .ok()
                .filter(|value| value >> SYLLABLE == 0)
                .ok_or_else(|| format!("`{text}` does not fit into {SYLLABLE} bits"))?;
            bits |= syllable << (TEMPLATE + SYLLABLE * slot as u32);
        }
        Ok(bits)
    }

    fn alignment(&self, _: Self::Instruction) -> u64 {
        BUNDLE.into()
    }

    fn address_mask(&self) -> u64 {
        u64::MAX
    }
}

/// Type and encoding of the syllable in a slot. The long syllable of MLX has both its slots, and the encoding of slot
/// 2.
///
/// # Errors
///
/// There is no bundle, or its template is reserved.
pub(super) fn syllable(program: &Program, ip: u64, slot: u8) -> Result<(SyllableType, u64), String> {
    let bytes = program
        .bytes_at(ip)
        .and_then(|bytes| bytes.first_chunk())
        .filter(|_| ip.is_multiple_of(BUNDLE.into()))
        .ok_or_else(|| format!("no bundle lies at {ip:#x}"))?;
    let bits = u128::from_le_bytes(*bytes);
    let code = bits & ((1 << TEMPLATE) - 1);
    let (_, name) = TEMPLATES
        .iter()
        .find(|(template, _)| u128::from(*template) == code)
        .ok_or_else(|| format!("the bundle at {ip:#x} has the reserved template {code:#x}"))?;
    let unit = name.chars().filter(|c| *c != '|').nth(slot.into());
    let (itype, slot) = match unit {
        Some('M') => (SyllableType::M, slot),
        Some('I') => (SyllableType::I, slot),
        Some('F') => (SyllableType::F, slot),
        Some('B') => (SyllableType::B, slot),
        _ => (SyllableType::X, 2),
    };
    let enco = bits >> (TEMPLATE + SYLLABLE * u32::from(slot)) & ((1 << SYLLABLE) - 1);
    Ok((itype, enco as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::assemble;

    fn program(text: &str) -> Program {
        assemble(text, &Bundles).expect("assembles").program
    }

    #[test]
    fn bundles_are_packed_after_the_template() {
        // 0x11 + (1 << 5) + (2 << 46) + (4 << 87): bits 5, 47 and 89.
        let program = program(".org 0x20\nMIB| 1, 2, 4\n");
        let expected = [0x31, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0];
        assert_eq!(program.bytes_at(0x20), Some(&expected[..]));
        assert_eq!(syllable(&program, 0x20, 0), Ok((SyllableType::M, 1)));
        assert_eq!(syllable(&program, 0x20, 1), Ok((SyllableType::I, 2)));
        assert_eq!(syllable(&program, 0x20, 2), Ok((SyllableType::B, 4)));
    }

    #[test]
    fn stops_take_no_slot_and_the_long_syllable_takes_two() {
        let program = program("M|MI| 1, 2, 3\nMLX 1, 0x1ffffffffff, 5\nMFB 1, 2, 3");
        assert_eq!(syllable(&program, 0, 1), Ok((SyllableType::M, 2)));
        assert_eq!(syllable(&program, 0, 2), Ok((SyllableType::I, 3)));
        assert_eq!(syllable(&program, 0x10, 1), Ok((SyllableType::X, 5)));
        assert_eq!(syllable(&program, 0x10, 2), Ok((SyllableType::X, 5)));
        assert_eq!(syllable(&program, 0x20, 1), Ok((SyllableType::F, 2)));
    }

    #[test]
    fn what_is_no_bundle_is_named() {
        for (text, message) in [
            ("MIX 1, 2, 3", "unknown template `MIX`; a bundle is written `MIB| 0x0, 0x0, 0x0`"),
            ("MIB 1, 2", "a bundle has three syllables"),
            ("MIB 1, 2, 0x20000000000", "`0x20000000000` does not fit into 41 bits"),
            (".org 8\nMIB 1, 2, 3", "an instruction cannot lie at 0x8"),
        ] {
            let problem = assemble(text, &Bundles).expect_err(text);
            assert_eq!(problem.message, message);
        }
        let program = program(".dword 6, 0\nMIB 1, 2, 3");
        assert_eq!(
            syllable(&program, 0, 0),
            Err("the bundle at 0x0 has the reserved template 0x6".to_owned())
        );
        for ip in [8, 0x18, 0x20] {
            assert_eq!(syllable(&program, ip, 0), Err(format!("no bundle lies at {ip:#x}")));
        }
    }
}
