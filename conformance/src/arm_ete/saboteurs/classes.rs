//! Instructions that are taken for others: the code that a decoder sees has those others in it.

use traceproof_vectors::arm_ete::{ArmEte, Parameters};
use traceproof_vectors::{Program, Section};

use super::decoder;
use crate::family::Saboteur;
use crate::saboteurs::decoders::{parameters, program};

/// A row whose words with this mask and value are `NOP`.
macro_rules! not_p0 {
    ($name:literal, $mask:literal, $value:literal, $bug:literal, $source:literal) => {
        decoder($name, || program(|_, program| replaced(program, $mask, $value, |_| NOP)), $bug, $source)
    };
}

/// A row whose words are others.
macro_rules! taken_for {
    ($name:literal, $mask:literal, $value:literal, $other:expr, $bug:literal, $source:literal) => {
        decoder($name, || program(|_, program| replaced(program, $mask, $value, $other)), $bug, $source)
    };
}

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    not_p0!(
        "bc-cond-is-no-p0",
        0xff00_0010,
        0x5400_0010,
        "BC.cond is no P0 instruction.",
        "ETE-DEC-ISA-002; bit 4 of B.cond must be 0"
    ),
    not_p0!(
        "compare-branch-is-no-p0",
        0x7f00_c000,
        0x7400_0000,
        "CB<cc> (register) is no P0 instruction.",
        "ETE-DEC-ISA-002; FEAT_CMPBR is new"
    ),
    not_p0!(
        "compare-branch-immediate-is-no-p0",
        0x7f00_4000,
        0x7500_0000,
        "CB<cc> (immediate) is no P0 instruction.",
        "ETE-DEC-ISA-002; FEAT_CMPBR is new"
    ),
    not_p0!(
        "compare-branch-byte-is-no-p0",
        0xff00_c000,
        0x7400_8000,
        "CBB<cc> is no P0 instruction.",
        "ETE-DEC-ISA-002; FEAT_CMPBR is new"
    ),
    not_p0!(
        "compare-branch-half-is-no-p0",
        0xff00_c000,
        0x7400_c000,
        "CBH<cc> is no P0 instruction.",
        "ETE-DEC-ISA-002; FEAT_CMPBR is new"
    ),
    taken_for!(
        "compare-branch-forward-only",
        0xfe00_0000,
        0x7400_0000,
        |word| word & !(1 << 13),
        "The offset of CB<cc> is unsigned, with eight bits.",
        "ETE-DEC-ISA-002; nine bits fit no other offset"
    ),
    taken_for!(
        "tbz-without-its-top-bit",
        0x7e00_0000,
        0x3600_0000,
        |word| word & !(1 << 18),
        "The offset of TBZ and TBNZ is unsigned.",
        "ETE-DEC-ISA-002; 14 bits, where CBZ has 19"
    ),
    taken_for!(
        "cbz-of-14-bits",
        0x7e00_0000,
        0x3400_0000,
        |word| {
            let sign = if word >> 18 & 1 == 1 { 0x1f << 19 } else { 0 };
            word & !(0x1f << 19) | sign
        },
        "The offset of CBZ and CBNZ has 14 bits.",
        "ETE-DEC-ISA-002; TBZ is decoded by the same lines"
    ),
    taken_for!(
        "branch-of-25-bits",
        0x7c00_0000,
        0x1400_0000,
        |word| word & !(1 << 25) | (word >> 24 & 1) << 25,
        "The offset of B and BL has 25 bits.",
        "ETE-DEC-ISA-002; A32 has 24"
    ),
    not_p0!(
        "isb-is-no-p0",
        0xffff_f0ff,
        0xd503_30df,
        "ISB is no P0 instruction.",
        "ETE-DEC-ISA-002; it is no branch"
    ),
    taken_for!(
        "isb-with-option-is-no-p0",
        0xffff_f0ff,
        0xd503_30df,
        |word| if word == 0xd503_3fdf { word } else { NOP },
        "ISB with another option than SY is no P0 instruction.",
        "ETE-DEC-ISA-002; the whole word is compared"
    ),
    taken_for!(
        "barriers-are-isb",
        0xffff_f0ff,
        0xd503_309f,
        |_| 0xd503_3fdf,
        "DSB is a P0 instruction.",
        "ETE-DEC-ISA-002; a mask that is too wide"
    ),
    not_p0!(
        "tstart-is-no-p0",
        0xffff_ffe0,
        0xd523_3060,
        "TSTART is no P0 instruction.",
        "ETE-DEC-ISA-002, ETE-LLCQG-001; the K10 list of types has none"
    ),
    taken_for!(
        "tcommit-is-p0",
        0xffff_ffff,
        0xd503_307f,
        |_| ISB,
        "TCOMMIT is a P0 instruction.",
        "ETE-DEC-ISA-002; TSTART is one"
    ),
    taken_for!(
        "svc-is-p0",
        0xffe0_001c,
        0xd400_0000,
        |_| ISB,
        "SVC, HVC and SMC are P0 instructions.",
        "ETE-DEC-ISA-002; they leave the flow"
    ),
    taken_for!(
        "drps-is-an-exception-return",
        0xffff_ffff,
        0xd6bf_03e0,
        |_| ERET,
        "DRPS is an exception return.",
        "ETE-DEC-ISA-003; it lies between ERET and BLR"
    ),
    not_p0!(
        "wait-with-timeout-is-no-p0",
        0xffff_ffc0,
        0xd503_1000,
        "WFET and WFIT are no P0 instructions.",
        "ETE-DEC-ISA-002, ETE-QBGXJ-001; WFE and WFI are hints, and these are not"
    ),
    decoder(
        "waits-are-always-p0",
        || parameters::<ArmEte>(|parameters| parameters.wfx_is_p0 = true),
        "WFI and WFE are P0 instructions whatever TRCIDR2.WFXMODE reads.",
        "ETE-QBGXJ-001, ETE-DEC-ISA-002; a bit that few tools read",
    ),
    decoder(
        "waits-are-never-p0",
        || parameters::<ArmEte>(|parameters| parameters.wfx_is_p0 = false),
        "WFI and WFE are no P0 instructions whatever TRCIDR2.WFXMODE reads.",
        "ETE-QBGXJ-001, ETE-DEC-ISA-002; a bit that few tools read",
    ),
    not_p0!(
        "authenticated-ret-is-no-p0",
        0xffff_fbff,
        0xd65f_0bff,
        "RETAA and RETAB are no P0 instructions.",
        "ETE-DEC-ISA-003; RET with bits that must be 0"
    ),
    not_p0!(
        "authenticated-br-is-no-p0",
        0xffff_f800,
        0xd71f_0800,
        "BRAA and BRAB are no P0 instructions.",
        "ETE-DEC-ISA-003; bit 24 is 0 in all others"
    ),
    not_p0!(
        "authenticated-br-with-zero-is-no-p0",
        0xffff_f81f,
        0xd61f_081f,
        "BRAAZ and BRABZ are no P0 instructions.",
        "ETE-DEC-ISA-003; BR with bits that must be 0"
    ),
    taken_for!(
        "authenticated-blr-has-no-link",
        0xffff_f800,
        0xd73f_0800,
        |word| word & !(1 << 21),
        "BLRAA and BLRAB are taken for BRAA and BRAB.",
        "ETE-DEC-ISA-003; only bit 21 separates them"
    ),
    taken_for!(
        "blraaz-has-no-link",
        0xffff_f81f,
        0xd63f_081f,
        |word| word & !(1 << 21),
        "BLRAAZ and BLRABZ are taken for BRAAZ and BRABZ.",
        "ETE-DEC-ISA-003; only bit 21 separates them"
    ),
    taken_for!(
        "blr-has-no-link",
        0xffff_fc1f,
        0xd63f_0000,
        |word| word & !(1 << 21),
        "BLR is taken for BR.",
        "ETE-DEC-ISA-003; only bit 21 separates them"
    ),
    taken_for!(
        "ret-has-link",
        0xffff_fc1f,
        0xd65f_0000,
        |word| word ^ 0x0060_0000,
        "RET is taken for BLR.",
        "ETE-DEC-ISA-003; bit 21 without bit 22"
    ),
    not_p0!(
        "authenticated-eret-is-no-p0",
        0xffff_fbff,
        0xd69f_0bff,
        "ERETAA and ERETAB are no P0 instructions.",
        "ETE-DEC-ISA-003; ERET is compared as a whole word"
    ),
    not_p0!(
        "retaasppc-is-no-p0",
        0xffc0_001f,
        0x5500_001f,
        "RETAASPPC and RETABSPPC with a label are no P0 instructions.",
        "ETE-DEC-ISA-003; FEAT_PAuth_LR is new"
    ),
    taken_for!(
        "retaasppcr-is-no-p0",
        0xffff_fbe0,
        0xd65f_0be0,
        |word| if word & 31 == 31 { word } else { NOP },
        "RETAASPPCR and RETABSPPCR are no P0 instructions.",
        "ETE-DEC-ISA-003; RETAA ends in 11111"
    ),
    taken_for!(
        "texit-is-no-p0",
        0xffff_fbff,
        0xd6ff_03e0,
        |_| NOP,
        "TEXIT is no P0 instruction.",
        "ETE-DEC-ISA-003; OpenCSD takes it for ERET"
    ),
    decoder(
        "a32-eret-is-no-p0",
        || {
            program(|_, program| {
                replaced(program, 0x0fff_ffff, 0x0160_006e, |word| word & 0xf000_0000 | A32_NOP)
            })
        },
        "ERET of A32 is no P0 instruction.",
        "ETE-DEC-ISA-004; OpenCSD does not know it",
    ),
    decoder(
        "a32-ldm-is-no-p0",
        || program(|_, program| replaced(program, 0xfe10_8000, 0xe810_8000, |_| 0xe000_0000 | A32_NOP)),
        "LDM with PC is no P0 instruction.",
        "ETE-DEC-ISA-004; POP {PC} is LDR or LDM",
    ),
    decoder(
        "a32-rfe-is-no-p0",
        || program(|_, program| replaced(program, 0xfe50_ffff, 0xf810_0a00, |_| 0xe000_0000 | A32_NOP)),
        "RFE of A32 is no P0 instruction.",
        "ETE-DEC-ISA-004; the unconditional space is decoded apart",
    ),
    decoder(
        "a32-mov-to-pc-is-no-p0",
        || program(|_, program| replaced(program, 0xffef_fff0, 0xe1a0_f000, |_| 0xe000_0000 | A32_NOP)),
        "MOV PC, Rm of A32 is no P0 instruction.",
        "ETE-DEC-ISA-004; only branches are branches",
    ),
    decoder(
        "a32-h-of-blx-ignored",
        || program(|_, program| replaced(program, 0xfe00_0000, 0xfa00_0000, |word| word & !(1 << 24))),
        "The H bit of BLX (immediate) of A32 is ignored.",
        "ETE-DEC-ISA-004; the offset of BL has no such bit",
    ),
    decoder(
        "a32-blx-register-has-no-link",
        || program(|_, program| replaced(program, 0xffff_fff0, 0xe12f_ff30, |word| word & !0x20)),
        "BLX (register) of A32 is taken for BX.",
        "ETE-DEC-ISA-004; only bits 5:4 separate them",
    ),
    decoder(
        "cp15-isb-is-no-p0",
        || {
            program(|_, program| {
                replaced(program, 0x0fff_0fff, 0x0e07_0f95, |word| word & 0xf000_0000 | A32_NOP)
            })
        },
        "ISB as a CP15 operation is no P0 instruction.",
        "ETE-DEC-ISA-006; ARMv7 has an instruction of its own",
    ),
    decoder(
        "t32-cbz-is-no-p0",
        || {
            program(|_, program| {
                halves(program, |half| if half & 0xf500 == 0xb100 { Some(0xbf00) } else { None })
            })
        },
        "CBZ and CBNZ of T32 are no P0 instructions.",
        "ETE-DEC-ISA-005; they have no condition field",
    ),
    decoder(
        "t32-pop-is-no-p0",
        || {
            program(|_, program| {
                halves(program, |half| if half & 0xff00 == 0xbd00 { Some(0xbf00) } else { None })
            })
        },
        "POP {PC} of T32 is no P0 instruction.",
        "ETE-DEC-ISA-005; only branches are branches",
    ),
    decoder(
        "t32-add-to-pc-is-no-p0",
        || {
            program(|_, program| {
                halves(program, |half| if half & 0xff87 == 0x4487 { Some(0xbf00) } else { None })
            })
        },
        "ADD PC, Rm of T32 is no P0 instruction.",
        "ETE-DEC-ISA-005; jump tables use MOV or TBB",
    ),
    decoder(
        "t32-short-blx-has-no-link",
        || {
            program(|_, program| {
                halves(program, |half| if half & 0xff87 == 0x4780 { Some(half & !0x80) } else { None })
            })
        },
        "BLX (register) of T32 is taken for BX.",
        "ETE-DEC-ISA-005; only bit 7 separates them",
    ),
    decoder(
        "t32-table-branches-are-no-p0",
        || program(|_, program| wide(program, 0xfff0_ffe0, 0xe8d0_f000, |_| NOP_WIDE)),
        "TBB and TBH are no P0 instructions.",
        "ETE-DEC-ISA-005; they lie among the loads of two registers",
    ),
    decoder(
        "t32-wide-pop-is-no-p0",
        || program(|_, program| wide(program, 0xfe50_8000, 0xe810_8000, |_| NOP_WIDE)),
        "LDM of T32 with PC is no P0 instruction.",
        "ETE-DEC-ISA-005; only POP {PC} of 16 bits is common",
    ),
    decoder(
        "t32-eret-is-no-p0",
        || program(|_, program| wide(program, 0xffff_ff00, 0xf3de_8f00, |_| NOP_WIDE)),
        "SUBS PC, LR of T32, and so ERET, is no P0 instruction.",
        "ETE-DEC-ISA-005; it lies among the branches and miscellaneous control",
    ),
    decoder(
        "t32-j-bits-swapped",
        || {
            program(|_, program| {
                wide(program, 0xf800_d000, 0xf000_8000, |word| {
                    word & !0x2800 | (word & 0x2000) >> 2 | (word & 0x800) << 2
                })
            })
        },
        "J1 and J2 of the offset of B<c>.W change places.",
        "ETE-DEC-ISA-005; it is the only offset in which J2 is above J1",
    ),
    decoder(
        "load-is-never-p0",
        || parameters::<ArmEte>(|parameters| parameters.load_is_p0 = false),
        "Loads are no P0 instructions whatever INSTP0 reads.",
        "ETE-DEC-V4-001, ETE-DEC-ISA-005; ETE has no such option",
    ),
    decoder(
        "store-is-load",
        || {
            parameters::<ArmEte>(|parameters| {
                core::mem::swap(&mut parameters.store_is_p0, &mut parameters.load_is_p0);
            })
        },
        "The two bits of INSTP0 change places.",
        "ETE-DEC-V4-001, ETE-DEC-ISA-005; 01 and 10",
    ),
    decoder(
        "last-t16-instruction-unreadable",
        || program(cut_last_half_word),
        "An instruction of 16 bits at the end of the code cannot be read.",
        "ETE-DEC-ISA-005, ETE-DEC-ERR-005; OpenCSD always reads four bytes",
    ),
];

const NOP: u32 = 0xd503_201f;
const ISB: u32 = 0xd503_3fdf;
const ERET: u32 = 0xd69f_03e0;
/// MOV R0, R0 without its condition.
const A32_NOP: u32 = 0x01a0_0000;
const NOP_WIDE: u32 = 0xf3af_8000;

/// The sections of a program, changed; each with its address.
fn sections(program: &Program, mut change: impl FnMut(u64, &mut Vec<u8>)) -> Program {
    let mut result = Program::new();
    for section in program.sections() {
        let mut bytes = section.bytes.clone();
        change(section.address.0, &mut bytes);
        // The sections are those of a program, so none is in the way of another.
        let _ =
            result.insert(Section::new(section.address, bytes, section.name.clone()).in_space(section.space));
    }
    result
}

/// The words at multiples of 4 with this pattern, changed.
fn replaced(program: &Program, mask: u32, value: u32, change: fn(u32) -> u32) -> Program {
    sections(program, |address, bytes| {
        let skipped = address.wrapping_neg() as usize & 3;
        for bytes in bytes.get_mut(skipped..).unwrap_or_default().as_chunks_mut::<4>().0 {
            let word = u32::from_le_bytes(*bytes);
            if word & mask == value {
                *bytes = change(word).to_le_bytes();
            }
        }
    })
}

/// What would be T32 instructions if each section began with one, changed where there is another one.
fn halves(program: &Program, change: fn(u16) -> Option<u16>) -> Program {
    t32(program, |halves, is_wide| if is_wide { None } else { change(halves[0]).map(|half| [half, 0]) })
}

/// The same for those of 32 bits, first half-word in the upper half, with this pattern.
fn wide(program: &Program, mask: u32, value: u32, change: fn(u32) -> u32) -> Program {
    t32(program, |[first, second], is_wide| {
        let word = u32::from(first) << 16 | u32::from(second);
        let changed = change(word);
        (is_wide && word & mask == value).then_some([(changed >> 16) as u16, changed as u16])
    })
}

fn t32(program: &Program, change: impl Fn([u16; 2], bool) -> Option<[u16; 2]>) -> Program {
    sections(program, |address, bytes| {
        let mut at = if is_t32(address, bytes) { 0 } else { bytes.len() };
        while let Some(first) = half(bytes, at) {
            let second = half(bytes, at + 2);
            let is_wide = first >> 11 >= 0b11101 && second.is_some();
            let length = if is_wide { 4 } else { 2 };
            if let Some(changed) = change([first, second.unwrap_or(0)], is_wide) {
                let changed = changed.into_iter().flat_map(u16::to_le_bytes);
                bytes.iter_mut().skip(at).take(length).zip(changed).for_each(|(byte, new)| *byte = new);
            }
            at += length;
        }
    })
}

/// Whether most words are neither of A64 nor of A32, as far as their highest byte can say: no register says it.
fn is_t32(address: u64, bytes: &[u8]) -> bool {
    let skipped = address.wrapping_neg() as usize & 3;
    let highest: Vec<u8> = bytes.iter().skip(skipped + 3).step_by(4).copied().collect();
    let a64 = |byte: &&u8| {
        let branch = matches!(**byte, 0x14..=0x17 | 0x34..=0x37 | 0x54 | 0x55 | 0x74 | 0x75 | 0x94..=0x97);
        branch || matches!(**byte, 0xb4..=0xb7 | 0xd4..=0xd7 | 0x91 | 0xd1 | 0xd2 | 0xf1 | 0xf9)
    };
    let is_a32 = highest.iter().all(|byte| byte >> 4 == 0xe);
    !is_a32 && 2 * highest.iter().filter(a64).count() < highest.len() || highest.is_empty()
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).and_then(|half| half.try_into().ok()).map(u16::from_le_bytes)
}

fn cut_last_half_word(_: &Parameters, program: &Program) -> Program {
    sections(program, |_, bytes| {
        if bytes.len() % 4 == 2 {
            bytes.truncate(bytes.len() - 2);
        }
    })
}
