//! Opcodes to compare, and tables of their classes.

use traceproof_vectors::arm::InstructionSet;

use super::Class;

/// Every half-word of T32 that is an instruction.
pub(super) fn half_words() -> Vec<u32> {
    (0..0xe800).collect()
}

/// Opcodes of 32 bits, always the same ones: one half has random bits, the other is a waypoint with up to four other
/// bits, so that rare encodings and their borders are met.
pub(super) fn words(set: InstructionSet, count: usize) -> Vec<u32> {
    let mut random = Random(match set {
        InstructionSet::A32 => 1,
        _ => 2,
    });
    (0..count)
        .map(|index| if index % 2 == 0 { any(set, &mut random) } else { near(set, &mut random) })
        .collect()
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// Only these first five bits begin an instruction of two half-words (DDI 0406, A6.1).
const fn is_wide(opcode: u32) -> bool {
    opcode >> 27 >= 0b11101
}

fn any(set: InstructionSet, random: &mut Random) -> u32 {
    loop {
        let opcode = random.next() as u32;
        if set == InstructionSet::A32 || is_wide(opcode) {
            return opcode;
        }
    }
}

fn near(set: InstructionSet, random: &mut Random) -> u32 {
    let waypoints: &[u32] = if set == InstructionSet::A32 { &A32 } else { &T32 };
    loop {
        let choice = random.next();
        let opcode = waypoints[choice as usize % waypoints.len()];
        let flips = (0..choice >> 32 & 7).take(4).fold(0, |bits, _| bits | 1 << (random.next() % 32));
        if set == InstructionSet::A32 || is_wide(opcode ^ flips) {
            return opcode ^ flips;
        }
    }
}

/// Waypoints, and what is easily taken for one: B, BL, BLX, BX, BLX, BXJ, ERET, LDM, LDR, MOV, MOVS, SUBS, ADD, CP15
/// barriers, RFE, SRS, barriers, MSR, CMP, SMC.
const A32: [u32; 32] = [
    0xea00_0002,
    0xeb00_0003,
    0xfa00_008c,
    0xfb00_008c,
    0xe12f_ff1e,
    0xe12f_ff33,
    0xe12f_ff23,
    0xe160_006e,
    0xe8bd_8010,
    0xe8fd_800f,
    0xe49d_f004,
    0xe59f_f018,
    0xe79f_f101,
    0xe1a0_f00e,
    0xe1b0_f00e,
    0xe25e_f004,
    0xe08f_f102,
    0xee07_0f95,
    0xee07_0f9a,
    0xee07_0fba,
    0xf8bd_0a00,
    0xf991_0a00,
    0xf96d_0510,
    0xf57f_f06f,
    0xf57f_f05f,
    0xf57f_f04f,
    0xe129_f000,
    0xe328_f201,
    0xe15f_0000,
    0xe160_0070,
    0xe320_f003,
    0xe3a0_f001,
];

/// B, BL, BLX, BXJ, SUBS, ERET, barriers, CP15 barriers, TBB, TBH, RFE, SRS, LDM, LDR, PLD, MSR, SMC, hints, STR.
const T32: [u32; 32] = [
    0xf000_8005,
    0xf43f_affb,
    0xf000_b805,
    0xf7ff_bffe,
    0xf000_f805,
    0xf7ff_fffe,
    0xf000_e802,
    0xf3c5_8f00,
    0xf3de_8f04,
    0xf3de_8f00,
    0xf3bf_8f6f,
    0xf3bf_8f5f,
    0xf3bf_8f4f,
    0xee07_0f95,
    0xee07_0f9a,
    0xee07_0fba,
    0xe8df_f001,
    0xe8df_f011,
    0xe83d_c000,
    0xe9bd_c000,
    0xe82d_c013,
    0xe8bd_81f0,
    0xe91d_8010,
    0xf8d0_f010,
    0xf85f_f010,
    0xf85d_fb04,
    0xf850_f021,
    0xf890_f010,
    0xf387_8100,
    0xf7f0_8000,
    0xf3bf_8f2f,
    0xf8c0_f010,
];

/// Classes as text: a class, preceded by how often it is repeated; lines of at most 110 columns.
pub(super) fn write(classes: &[Class]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for run in classes.chunk_by(|a, b| a == b) {
        let count = if run.len() > 1 { run.len().to_string() } else { String::new() };
        if column + count.len() >= 110 {
            text.push('\n');
            column = 0;
        }
        column += count.len() + 1;
        text.push_str(&count);
        text.push(run[0].letter());
    }
    text.push('\n');
    text
}

/// The classes of a table; lines that begin with `#` are comments.
pub(super) fn read(text: &str) -> Vec<Class> {
    let mut classes = Vec::new();
    let mut count = 0;
    let table = text.lines().filter(|line| !line.starts_with('#'));
    for letter in table.flat_map(str::chars) {
        match letter.to_digit(10) {
            Some(digit) => count = count * 10 + digit as usize,
            None => {
                let class =
                    Class::of_letter(letter).unwrap_or_else(|| panic!("no class has letter `{letter}`"));
                classes.resize(classes.len() + count.max(1), class);
                count = 0;
            }
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_as_they_are_written() {
        let classes: Vec<Class> = (0..2000_usize)
            .flat_map(|index| vec![Class::ALL[index % Class::ALL.len()]; index % 13])
            .collect();
        let text = write(&classes);
        assert!(text.lines().all(|line| line.len() <= 110));
        assert_eq!(read(&format!("# 3 d\n{text}")), classes);
    }
}
