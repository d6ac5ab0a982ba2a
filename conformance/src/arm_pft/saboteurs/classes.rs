//! How decoders of ARM PFT take instructions for others: the code that they see has those others in it.

use traceproof_decoder::arm::InstructionSet;
use traceproof_vectors::arm::InstructionClass;
use traceproof_vectors::arm_pft::Parameters;
use traceproof_vectors::{Program, Section};

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

/// The words at multiples of 4, changed.
fn words(program: &Program, change: impl Fn(u32) -> u32) -> Program {
    sections(program, |address, bytes| {
        let skipped = address.wrapping_neg() as usize & 3;
        for word in bytes.get_mut(skipped..).unwrap_or_default().as_chunks_mut::<4>().0 {
            *word = change(u32::from_le_bytes(*word)).to_le_bytes();
        }
    })
}

/// The half-words, changed; those of 32-bit instructions are not.
fn half_words(program: &Program, change: impl Fn(u16) -> u16) -> Program {
    thumb(program, |_, code| match code {
        Code::Half(half) => *half = change(*half),
        Code::Word(_) => {}
    })
}

/// The 32-bit Thumb instructions, first half-word in the upper half, changed.
fn wide(program: &Program, change: impl Fn(u64, u32) -> u32) -> Program {
    thumb(program, |address, code| match code {
        Code::Word(word) => *word = change(address, *word),
        Code::Half(_) => {}
    })
}

/// A Thumb instruction.
enum Code {
    Half(u16),
    Word(u32),
}

/// What would be Thumb instructions if each section began with one.
fn thumb(program: &Program, change: impl Fn(u64, &mut Code)) -> Program {
    sections(program, |address, bytes| {
        let mut at = 0;
        let half = |bytes: &[u8], at: usize| {
            bytes.get(at..at + 2).and_then(|half| half.try_into().ok()).map(u16::from_le_bytes)
        };
        while let Some(first) = half(bytes, at) {
            let second = half(bytes, at + 2).filter(|_| first >> 11 >= 0b11101);
            let mut code = match second {
                Some(second) => Code::Word(u32::from(first) << 16 | u32::from(second)),
                None => Code::Half(first),
            };
            change(address.wrapping_add(at as u64), &mut code);
            let (halves, length) = match code {
                Code::Half(half) => ([half, 0], 2),
                Code::Word(word) => ([(word >> 16) as u16, word as u16], 4),
            };
            let changed = halves.into_iter().flat_map(u16::to_le_bytes);
            bytes.iter_mut().skip(at).take(length).zip(changed).for_each(|(byte, new)| *byte = new);
            at += length;
        }
    })
}

const NOP: u32 = 0x01a0_0000;
const NOP_HALF: u16 = 0xbf00;
const NOP_WIDE: u32 = 0xf3af_8000;
/// MOV PC, LR without its condition.
const MOV_PC: u32 = 0x01a0_f00e;

const fn is(code: u32, mask: u32, value: u32) -> bool {
    code & mask == value
}

const fn is_conditional(word: u32) -> bool {
    word >> 28 != 0xf
}

/// The word with the condition of another one, or without any.
const fn with_condition_of(word: u32, code: u32) -> u32 {
    code | if is_conditional(word) { word & 0xf000_0000 } else { 0xe000_0000 }
}

/// Words with this pattern, other than in the unconditional space, become the other one.
fn replaced(program: &Program, mask: u32, value: u32, code: u32) -> Program {
    words(program, |word| {
        if is_conditional(word) && is(word, mask, value) { with_condition_of(word, code) } else { word }
    })
}

fn replaced_wide(program: &Program, mask: u32, value: u32, code: u32) -> Program {
    wide(program, |_, word| if is(word, mask, value) { code } else { word })
}

pub(super) fn h_of_blx_ignored(_: &Parameters, program: &Program) -> Program {
    words(program, |word| if word >> 25 == 0b111_1101 { word & !(1 << 24) } else { word })
}

pub(super) fn ldm_with_s_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced(program, 0x0e50_8000, 0x0850_8000, NOP)
}

pub(super) fn ldr_with_register_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced(program, 0x0e50_f010, 0x0610_f000, NOP)
}

pub(super) fn msr_writes_the_pc(_: &Parameters, program: &Program) -> Program {
    words(program, |word| {
        let register = is(word, 0x0fb0_fff0, 0x0120_f000);
        // Without mask bits the immediate form is a hint.
        let immediate = is(word, 0x0fb0_f000, 0x0320_f000) && word >> 16 & 0xf != 0;
        if is_conditional(word) && (register || immediate) { with_condition_of(word, MOV_PC) } else { word }
    })
}

pub(super) fn mrc_writes_the_pc(_: &Parameters, program: &Program) -> Program {
    replaced(program, 0x0f10_f010, 0x0e10_f010, MOV_PC)
}

pub(super) fn eret_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced(program, 0x0fff_ffff, 0x0160_006e, NOP)
}

pub(super) fn rfe_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    words(program, |word| if is(word, 0xfe50_ffff, 0xf810_0a00) { NOP | 0xe000_0000 } else { word })
}

pub(super) fn bxj_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced(program, 0x0fff_fff0, 0x012f_ff20, NOP)
}

pub(super) fn cp15_isb_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced(program, 0x0fff_0fff, 0x0e07_0f95, NOP)
}

pub(super) fn cp15_barriers_are_no_waypoints(_: &Parameters, program: &Program) -> Program {
    let program = replaced(program, 0x0fff_0fff, 0x0e07_0f9a, NOP);
    replaced(&program, 0x0fff_0fff, 0x0e07_0fba, NOP)
}

/// DSB and DMB of other domains than the full system.
pub(super) fn barriers_with_options_are_no_waypoints(_: &Parameters, program: &Program) -> Program {
    let has_option = |code: u32| code & 0xf != 0xf;
    let program = words(program, |word| {
        let barrier = is(word, 0xffff_fff0, 0xf57f_f040) || is(word, 0xffff_fff0, 0xf57f_f050);
        if barrier && has_option(word) { NOP | 0xe000_0000 } else { word }
    });
    wide(&program, |_, word| {
        let barrier = is(word, 0xffff_fff0, 0xf3bf_8f40) || is(word, 0xffff_fff0, 0xf3bf_8f50);
        if barrier && has_option(word) { NOP_WIDE } else { word }
    })
}

pub(super) fn waits_are_waypoints(_: &Parameters, program: &Program) -> Program {
    let program = replaced(program, 0x0fff_fffe, 0x0320_f002, 0x0aff_ffff);
    half_words(&program, |half| if half & 0xffef == 0xbf20 { 0xe7ff } else { half })
}

pub(super) fn cbz_without_its_top_bit(_: &Parameters, program: &Program) -> Program {
    half_words(program, |half| if half & 0xf500 == 0xb100 { half & !(1 << 9) } else { half })
}

pub(super) fn svc_is_a_branch(_: &Parameters, program: &Program) -> Program {
    half_words(program, |half| {
        if half & 0xfe00 == 0xde00 {
            let offset = (half as i8).cast_unsigned();
            0xe000 | half & 0xff | if offset & 0x80 != 0 { 0x700 } else { 0 }
        } else {
            half
        }
    })
}

pub(super) fn short_blx_has_no_link(_: &Parameters, program: &Program) -> Program {
    half_words(program, |half| if half & 0xff87 == 0x4780 { half & !0x80 } else { half })
}

pub(super) fn add_to_pc_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    half_words(program, |half| if half & 0xff87 == 0x4487 { NOP_HALF } else { half })
}

/// The offset of B<c>.W is S:J2:J1:imm6:imm11, the only one in this order.
pub(super) fn j_bits_swapped(_: &Parameters, program: &Program) -> Program {
    wide(program, |_, word| {
        if is(word, 0xf800_d000, 0xf000_8000) && word >> 23 & 7 != 7 {
            word & !0x2800 | (word & 0x2000) >> 2 | (word & 0x800) << 2
        } else {
            word
        }
    })
}

/// BLX (immediate) at an odd half-word.
pub(super) fn blx_rounds_up(_: &Parameters, program: &Program) -> Program {
    wide(program, |address, word| {
        let moves = is(word, 0xf800_d001, 0xf000_c000) && address & 2 != 0;
        if moves { word & !0x7fe | (word & 0x7fe).wrapping_add(2) & 0x7fe } else { word }
    })
}

pub(super) fn table_branches_are_no_waypoints(_: &Parameters, program: &Program) -> Program {
    replaced_wide(program, 0xfff0_ffe0, 0xe8d0_f000, NOP_WIDE)
}

pub(super) fn wide_pop_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced_wide(program, 0xfff0_f800, 0xf850_f800, NOP_WIDE)
}

pub(super) fn ldmdb_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced_wide(program, 0xffd0_8000, 0xe910_8000, NOP_WIDE)
}

pub(super) fn subs_pc_lr_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced_wide(program, 0xfff0_d000, 0xf3d0_8000, NOP_WIDE)
}

/// As OpenCSD does.
pub(super) fn enterx_is_no_waypoint(_: &Parameters, program: &Program) -> Program {
    let program = replaced_wide(program, 0xfff0_d0f0, 0xf3b0_8000, NOP_WIDE);
    replaced_wide(&program, 0xfff0_d0f0, 0xf3b0_8010, NOP_WIDE)
}

pub(super) fn clrex_is_a_waypoint(_: &Parameters, program: &Program) -> Program {
    replaced_wide(program, 0xffff_ffff, 0xf3bf_8f2f, 0xf3bf_8f6f)
}

/// As OpenCSD does: LE and WLS of ARMv8.1-M become B.W.
pub(super) fn loops_are_branches(_: &Parameters, program: &Program) -> Program {
    wide(program, |_, word| {
        let halves = [(word >> 16) as u16, word as u16];
        let code: Vec<u8> = halves.into_iter().flat_map(u16::to_le_bytes).collect();
        let instruction = InstructionSet::T32.decode(&code, None);
        if instruction.class != InstructionClass::LowOverheadLoop {
            return word;
        }
        let offset = instruction.offset.wrapping_sub(4).cast_unsigned();
        let sign = offset >> 31;
        let j = |bit: u32| (offset >> bit ^ sign ^ 1) & 1;
        0xf000_9000
            | sign << 26
            | (offset >> 12 & 0x3ff) << 16
            | j(23) << 13
            | j(22) << 11
            | offset >> 1 & 0x7ff
    })
}

/// As OpenCSD does: an instruction takes four readable bytes, even one of two.
pub(super) fn last_half_word_unreadable(_: &Parameters, program: &Program) -> Program {
    sections(program, |_, bytes| {
        if bytes.len() % 4 == 2 && bytes.len() > 2 {
            bytes.truncate(bytes.len() - 2);
        }
    })
}
