//! Encodings of A32, T32 and T32EE instructions.
//!
//! This table was written from the architecture manual's encodings; it knows nothing of how decoders classify
//! them.

use traceproof_vectors::arm::InstructionSet;

use super::{Kind, Reach};
use crate::generate::Entropy;

/// How an instruction is encoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// All bits are known.
    Fixed { opcode: u32, size: u8 },
    /// A32 B and BL.
    A32Branch { condition: u32, link: bool },
    /// A32 BLX (immediate).
    A32Exchange,
    /// T32 B, encoding T1.
    ShortConditional { condition: u32 },
    /// T32 B, encoding T2.
    Short,
    /// T32 B, encoding T3.
    WideConditional { condition: u32 },
    /// T32 B, encoding T4.
    Wide,
    /// T32 BL.
    Link,
    /// T32 BLX (immediate).
    Exchange,
    /// CBZ, CBNZ.
    Compare { nonzero: bool },
}

impl Form {
    /// Bytes.
    pub(super) const fn size(self) -> u8 {
        match self {
            Self::Fixed { size, .. } => size,
            Self::ShortConditional { .. } | Self::Short | Self::Compare { .. } => 2,
            _ => 4,
        }
    }

    /// The opcode at address `at` with target `to`; `None` if that is too far.
    pub(super) fn encode(self, at: u32, to: u32) -> Option<u32> {
        let distance = |from: u32| to.wrapping_sub(from) as i32;
        let far = distance(at.wrapping_add(8));
        let near = distance(at.wrapping_add(4));
        let fits = |value: i32, bits: u32| value >= -(1 << (bits - 1)) && value < 1 << (bits - 1);
        let words = (far as u32) >> 2 & 0xff_ffff;
        Some(match self {
            Self::Fixed { opcode, .. } => opcode,
            Self::A32Branch { condition, link } => {
                (fits(far, 26)).then_some(condition << 28 | 0x0a00_0000 | u32::from(link) << 24 | words)?
            }
            Self::A32Exchange => {
                fits(far, 26).then_some(0xfa00_0000 | (far as u32) >> 1 << 24 & 1 << 24 | words)?
            }
            Self::ShortConditional { condition } => {
                fits(near, 9).then_some(0xd000 | condition << 8 | (near as u32) >> 1 & 0xff)?
            }
            Self::Short => fits(near, 12).then_some(0xe000 | (near as u32) >> 1 & 0x7ff)?,
            Self::WideConditional { condition } => {
                let bit = |index: u32| (near as u32) >> index & 1;
                let high = 0xf000 | bit(20) << 10 | condition << 6 | (near as u32) >> 12 & 0x3f;
                let low = 0x8000 | bit(18) << 13 | bit(19) << 11 | (near as u32) >> 1 & 0x7ff;
                fits(near, 21).then_some(high << 16 | low)?
            }
            Self::Wide => fits(near, 25).then_some(long_offset(near as u32) | 0x9000)?,
            Self::Link => fits(near, 25).then_some(long_offset(near as u32) | 0xd000)?,
            Self::Exchange => {
                let from_word = distance(at.wrapping_add(4) & !3);
                fits(from_word, 25).then_some(long_offset(from_word as u32) | 0xc000)?
            }
            Self::Compare { nonzero } => {
                let offset = near as u32;
                let immediate = (offset >> 6 & 1) << 9 | (offset >> 1 & 0x1f) << 3;
                (0..=126).contains(&near).then_some(0xb100 | u32::from(nonzero) << 11 | immediate | 3)?
            }
        })
    }
}

/// S, I1, I2, imm10 and imm11 of T32 B.W, BL and BLX.
const fn long_offset(offset: u32) -> u32 {
    let (sign, i1, i2) = (offset >> 24 & 1, offset >> 23 & 1, offset >> 22 & 1);
    let (j1, j2) = (i1 ^ sign ^ 1, i2 ^ sign ^ 1);
    let high = 0xf000 | sign << 10 | offset >> 12 & 0x3ff;
    high << 16 | j1 << 13 | j2 << 11 | offset >> 1 & 0x7ff
}

/// An instruction with fixed bits: the opcode and what it does.
type Fixed = (u32, Kind);

const ANY: Kind = Kind::Indirect { link: false, reach: Reach::Any };
const SAME: Kind = Kind::Indirect { link: false, reach: Reach::SameSet };
const LINK: Kind = Kind::Indirect { link: true, reach: Reach::Any };
const JAZELLE: Kind = Kind::Indirect { link: false, reach: Reach::Jazelle };
const TABLE: Kind = Kind::Indirect { link: false, reach: Reach::Forward };
const HANDLER: Kind = Kind::Indirect { link: false, reach: Reach::SameSet };
const HANDLER_LINK: Kind = Kind::Indirect { link: true, reach: Reach::SameSet };

/// A32: the condition field is 1110 and can be replaced.
pub(super) const A32_PLAIN: [u32; 16] = [
    0xe1a0_0000, // MOV r0, r0
    0xe281_1001, // ADD r1, r1, #1
    0xe591_0000, // LDR r0, [r1]
    0xe15f_0000, // CMP pc, r0
    0xe129_f000, // MSR
    0xe328_f201, // MSR (immediate)
    0xe8bd_4010, // POP {r4, lr}
    0xe92d_4010, // PUSH {r4, lr}
    0xee11_ff10, // MRC to APSR
    0xe301_0234, // MOVW
    0xe16f_1f12, // CLZ
    0xe001_0392, // MUL
    0xe1d1_00b2, // LDRH
    0xe320_f000, // NOP
    0xe320_f004, // SEV
    0xe581_f000, // STR pc, [r1]
];

pub(super) const A32_INDIRECT: [Fixed; 12] = [
    (0xe12f_ff1e, ANY),     // BX lr
    (0xe12f_ff13, ANY),     // BX r3
    (0xe12f_ff33, LINK),    // BLX r3
    (0xe8bd_8010, ANY),     // POP {r4, pc}
    (0xe49d_f004, ANY),     // POP {pc}
    (0xe91b_a800, ANY),     // LDMDB fp, {fp, sp, pc}
    (0xe1a0_f00e, ANY),     // MOV pc, lr
    (0xe79f_f101, ANY),     // LDR pc, [pc, r1, LSL #2]
    (0xe51f_f100, ANY),     // LDR pc, [pc, #-256]
    (0xe08f_f102, ANY),     // ADD pc, pc, r2, LSL #2
    (0xe282_f004, ANY),     // ADD pc, r2, #4
    (0xe12f_ff23, JAZELLE), // BXJ r3
];

pub(super) const A32_RETURN: [u32; 4] = [
    0xe1b0_f00e, // MOVS pc, lr
    0xe25e_f004, // SUBS pc, lr, #4
    0xe8fd_800f, // LDM sp!, {r0-r3, pc}^
    0xe160_006e, // ERET; Virtualization Extensions only, so that it stands last
];

/// RFE has no condition.
pub(super) const A32_RFE: [u32; 2] = [0xf8bd_0a00, 0xf99d_0a00];

/// Conditional ones first, then those without condition field.
pub(super) const A32_BARRIERS: [Fixed; 6] = [
    (0xee07_0f95, Kind::Isb),
    (0xee07_0f9a, Kind::Barrier),
    (0xee07_0fba, Kind::Barrier),
    (0xf57f_f06f, Kind::Isb),
    (0xf57f_f04f, Kind::Barrier),
    (0xf57f_f05f, Kind::Barrier),
];

pub(super) const A32_CALLS: [Fixed; 4] = [
    (0xef00_0011, Kind::Call(10)),
    (0xe7f0_00f0, Kind::Call(9)),
    (0xe160_0070, Kind::Call(2)),
    (0xe140_0070, Kind::Call(3)),
];

/// T32 and T32EE; both sizes.
pub(super) const T32_PLAIN: [u32; 14] = [
    0xbf00,      // NOP
    0x4608,      // MOV r0, r1
    0x3001,      // ADDS r0, #1
    0xb500,      // PUSH {lr}
    0xbc08,      // POP {r3}
    0x4685,      // MOV sp, r0
    0xf3af_8000, // NOP.W
    0xf8d1_0000, // LDR.W r0, [r1]
    0xf04f_0001, // MOV.W r0, #1
    0xf3bf_8f2f, // CLREX
    0xfb01_f002, // MUL
    0xe92d_4010, // PUSH.W {r4, lr}
    0xe8bd_4010, // POP.W {r4, lr}
    0xf8c1_0004, // STR.W r0, [r1, #4]
];

pub(super) const T32_INDIRECT: [Fixed; 15] = [
    (0x4770, ANY),          // BX lr
    (0x4718, ANY),          // BX r3
    (0x4798, LINK),         // BLX r3
    (0xbd10, ANY),          // POP {r4, pc}
    (0x46f7, SAME),         // MOV pc, lr
    (0x449f, SAME),         // ADD pc, r3
    (0xe8bd_81f0, ANY),     // POP.W {r4-r8, pc}
    (0xe91d_8010, ANY),     // LDMDB sp, {r4, pc}
    (0xf85d_fb04, ANY),     // POP.W {pc}
    (0xf8d0_f010, ANY),     // LDR.W pc, [r0, #16]
    (0xf85f_f100, ANY),     // LDR.W pc, [pc, #-256]
    (0xf850_f021, ANY),     // LDR.W pc, [r0, r1, LSL #2]
    (0xe8df_f001, TABLE),   // TBB
    (0xe8df_f011, TABLE),   // TBH
    (0xf3c5_8f00, JAZELLE), // BXJ r5; not on the M profile, so that it stands last
];

/// In T32EE state only.
pub(super) const T32EE_INDIRECT: [Fixed; 5] = [
    (0xc203, HANDLER),      // HB #3
    (0xc302, HANDLER_LINK), // HBL #2
    (0xc041, HANDLER),      // HBP #2, #1
    (0xc441, HANDLER_LINK), // HBLP #2, #1
    (0x4718, HANDLER),      // BX r3, to T32EE code
];

pub(super) const T32_RETURN: [u32; 5] = [0xf3de_8f04, 0xe9bd_c000, 0xe83d_c000, 0xe81d_c000, 0xf3de_8f00];

pub(super) const T32_BARRIERS: [Fixed; 6] = [
    (0xf3bf_8f6f, Kind::Isb),
    (0xf3bf_8f5f, Kind::Barrier),
    (0xf3bf_8f4f, Kind::Barrier),
    (0xee07_0f95, Kind::Isb),
    (0xee07_0f9a, Kind::Barrier),
    (0xee07_0fba, Kind::Barrier),
];

/// On the M profile only the first one.
pub(super) const T32_CALLS: [Fixed; 4] = [
    (0xdf11, Kind::Call(10)),
    (0xde00, Kind::Call(9)),
    (0xf7f0_8000, Kind::Call(2)),
    (0xf7e0_8000, Kind::Call(3)),
];

/// One of these instructions, with a condition other than AL now and then.
pub(super) fn a32_condition(entropy: &mut Entropy<'_>, opcode: u32) -> (u32, bool) {
    if opcode >> 28 != 0xe || !entropy.chance(72) {
        return (opcode, false);
    }
    (opcode & 0x0fff_ffff | condition(entropy) << 28, true)
}

/// EQ to LE.
pub(super) fn condition(entropy: &mut Entropy<'_>) -> u32 {
    entropy.below(14) as u32
}

/// A T32 instruction's form.
pub(super) const fn t32(opcode: u32) -> Form {
    Form::Fixed { opcode, size: if opcode > 0xffff { 4 } else { 2 } }
}

/// An A32 instruction's form.
pub(super) const fn a32(opcode: u32) -> Form {
    Form::Fixed { opcode, size: 4 }
}

/// ENTERX or LEAVEX.
pub(super) const fn switch(to: InstructionSet) -> Form {
    t32(if matches!(to, InstructionSet::T32Ee) { 0xf3bf_8f1f } else { 0xf3bf_8f0f })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of 2.2 that name a target; the instruction is at 0x10000.
    #[test]
    fn direct_branches_are_those_of_the_manual() {
        let eq = 0;
        for (form, to, opcode) in [
            (Form::A32Branch { condition: 14, link: false }, 0x1_0010, 0xea00_0002),
            (Form::A32Branch { condition: 14, link: true }, 0xffc4, 0xebff_ffef),
            (Form::A32Exchange, 0x1_0238, 0xfa00_008c),
            (Form::A32Exchange, 0x1_023a, 0xfb00_008c),
            (Form::ShortConditional { condition: eq }, 0xfffa, 0xd0fb),
            (Form::Short, 0x1_0006, 0xe001),
            (Form::Link, 0x1_000e, 0xf000_f805),
            (Form::Link, 0x1_0000, 0xf7ff_fffe),
            (Form::Exchange, 0x1_0008, 0xf000_e802),
            (Form::Wide, 0x1_000e, 0xf000_b805),
            (Form::Wide, 0x1_0000, 0xf7ff_bffe),
            (Form::WideConditional { condition: eq }, 0x1_000e, 0xf000_8005),
            (Form::WideConditional { condition: eq }, 0xfffa, 0xf43f_affb),
        ] {
            assert_eq!(form.encode(0x1_0000, to), Some(opcode), "{form:?}");
        }
        let compare = Form::Compare { nonzero: true }.encode(0x1_0000, 0x1_0044);
        assert_eq!(compare.map(|opcode| opcode & !7), Some(0xbb00));
        assert_eq!(Form::Compare { nonzero: true }.encode(0x1_0000, 0x1_0002), None);
    }
}
