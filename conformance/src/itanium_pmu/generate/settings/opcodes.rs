//! Which syllables an opcode match tags.

use traceproof_decoder::itanium_pmu::Registers;
use traceproof_decoder::itanium_pmu::qualification::{OpcodeMonitor, opcode_match};
use traceproof_encoder_model::itanium_pmu::settings::{
    OpcodeMatch, OpcodePattern, OpcodeRefusal, SyllableTypes,
};
use traceproof_vectors::Address;
use traceproof_vectors::itanium_pmu::{Instruction, Parameters, SyllableType};

use super::{check, programmed};
use crate::generate::Entropy;

/// A syllable has 41 bits, of which {26:13} are never compared.
const SYLLABLE: u64 = (1 << 41) - 1;
const NEVER_COMPARED: u64 = 0x07ff_e000;

/// Any types, and any bits: few or most of them.
pub(super) fn wish(entropy: &mut Entropy<'_>) -> OpcodeMatch {
    let types = entropy.byte();
    let flag = |bit: u8| types >> bit & 1 == 0;
    let compared = match entropy.below(4) {
        0 => entropy.word() & entropy.word() & entropy.word(),
        1 => entropy.word(),
        2 => u64::MAX,
        _ => 0,
    };
    OpcodeMatch {
        pmc: 8 + entropy.byte() % 2,
        types: SyllableTypes { m: flag(0), i: flag(1), f: flag(2), b: flag(3) },
        pattern: OpcodePattern { value: entropy.word() & SYLLABLE, compared: compared & SYLLABLE },
    }
}

/// A wish, as it is and with something that cannot be, and how a pattern is built and read.
pub(super) fn judge(entropy: &mut Entropy<'_>) -> Result<(), String> {
    let wish = wish(entropy);
    if wish.types == SyllableTypes::default() {
        let refused = wish.settings();
        return check(refused == Err(OpcodeRefusal::NoType), || format!("{wish:x?} gives {refused:x?}"));
    }
    let answer = wish.settings().map_err(|refusal| format!("{wish:x?} is refused: {refusal}"))?;
    check(answer.not_compared == wish.pattern.compared & NEVER_COMPARED, || {
        format!("{wish:x?}: {answer:x?}")
    })?;
    check(usize::from(answer.setting.register.index) == usize::from(wish.pmc), || format!("{answer:x?}"))?;
    let words = &answer.setting.meaning;
    let is_stated = match (wish.pattern.compared & !NEVER_COMPARED).count_ones() {
        0 => words.contains("every syllable"),
        1 => words.contains(" 1 bit "),
        bits => words.contains(&format!(" {bits} bits")),
    };
    check(is_stated, || format!("{wish:x?} reads `{words}`"))?;
    tags(&programmed(&[answer.setting], 0), &wish)?;
    refuses(&wish)?;
    building(entropy)
}

/// Syllables that are as asked for, and with each single bit changed, of every type.
pub(super) fn tags(registers: &Registers, wish: &OpcodeMatch) -> Result<(), String> {
    let monitor = if wish.pmc == 8 { OpcodeMonitor::Pmc8 } else { OpcodeMonitor::Pmc9 };
    let parameters = Parameters::default();
    let SyllableTypes { m, i, f, b } = wish.types;
    let compared = wish.pattern.compared & !NEVER_COMPARED;
    for (itype, is_selected) in
        [(SyllableType::M, m), (SyllableType::I, i), (SyllableType::F, f), (SyllableType::B, b)]
    {
        for flipped in (0..41).map(|bit| 1_u64 << bit).chain([0, SYLLABLE & !compared]) {
            let enco = wish.pattern.value ^ flipped;
            let instruction =
                Instruction { ip: Address(0), slot: 0, itype, enco, retired: true, squashed: false };
            let tagged = opcode_match(registers, &parameters, monitor, &instruction);
            check(tagged == (is_selected && flipped & compared == 0), || {
                format!("{wish:x?}: {enco:#x} of type {itype:?} is tagged: {tagged}")
            })?;
        }
    }
    Ok(())
}

fn refuses(wish: &OpcodeMatch) -> Result<(), String> {
    let wide = 1 << 41;
    let with = |value, compared| OpcodeMatch { pattern: OpcodePattern { value, compared }, ..*wish };
    for (wish, refusal) in [
        (OpcodeMatch { pmc: 7, ..*wish }, OpcodeRefusal::NoOpcodeMatch(7)),
        (OpcodeMatch { pmc: 10, ..*wish }, OpcodeRefusal::NoOpcodeMatch(10)),
        (with(wide, 0), OpcodeRefusal::Overlong { value: wide }),
        (with(0, wide), OpcodeRefusal::Overlong { value: wide }),
    ] {
        let answer = wish.settings();
        check(answer == Err(refusal), || format!("{wish:x?} gives {answer:x?}, not {refusal}"))?;
    }
    Ok(())
}

/// A pattern by fields, and by its text.
fn building(entropy: &mut Entropy<'_>) -> Result<(), String> {
    let start = OpcodePattern { value: entropy.word() & SYLLABLE, compared: entropy.word() & SYLLABLE };
    let (one, other) = (entropy.below(41) as u32, entropy.below(41) as u32);
    let (low, high) = (one.min(other), one.max(other));
    let ones = (1_u64 << (high - low + 1)) - 1;
    let value = entropy.word() & ones;
    let field = ones << low;
    let expected =
        OpcodePattern { value: start.value & !field | value << low, compared: start.compared | field };
    let major = OpcodePattern { value: 9 << 37, compared: 15 << 37 };
    for (built, expected) in [
        (start.with(high, low, value), Ok(expected)),
        (start.with(high, low, ones + 1), Err(OpcodeRefusal::Overlong { value: ones + 1 })),
        (start.with(41, low, 0), Err(OpcodeRefusal::NoSuchBits { high: 41, low })),
        (start.with(low, low + 1, 0), Err(OpcodeRefusal::NoSuchBits { high: low, low: low + 1 })),
        (OpcodePattern::ANY.with_major(9), Ok(major)),
        (start.with_major(16), Err(OpcodeRefusal::Overlong { value: 16 })),
    ] {
        check(built == expected, || format!("{start:x?} {{{high}:{low}}}: {built:x?}, not {expected:x?}"))?;
    }
    text(start)
}

fn text(pattern: OpcodePattern) -> Result<(), String> {
    let bits = |bit: u32| (pattern.value >> bit & 1, pattern.compared >> bit & 1);
    let mut text = String::new();
    for bit in (0..41).rev() {
        text.push(match bits(bit) {
            (_, 0) => {
                if bit % 2 == 0 {
                    'x'
                } else {
                    'X'
                }
            }
            (0, _) => '0',
            _ => '1',
        });
        text.push_str(["", " ", "_", "\t"][bit as usize % 4]);
    }
    let expected = OpcodePattern { value: pattern.value & pattern.compared, ..pattern };
    let read = text.parse();
    check(read == Ok(expected), || format!("{text:?} is read as {read:x?}"))?;
    for wrong in [
        format!("{text}0"),
        text.replacen(['0', '1', 'x', 'X'], "", 1),
        text.replacen(['0', '1', 'x', 'X'], "2", 1),
    ] {
        let read = wrong.parse::<OpcodePattern>();
        check(read == Err(OpcodeRefusal::Text), || format!("{wrong:?} is read as {read:x?}"))?;
    }
    Ok(())
}
