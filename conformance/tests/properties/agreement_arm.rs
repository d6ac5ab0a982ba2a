//! Decoder and encoder model read the encodings of ARM instructions alike, and fields with continuation bits.

use proptest::prelude::*;
use traceproof_decoder::arm::{FieldLayout, FieldReader, InstructionSet as Encodings, TimestampReader};
use traceproof_encoder_model::arm::{ByteField, TimestampWriter, classify, instruction_size};
use traceproof_vectors::arm::{
    CodeAddress, FlowInstruction, InstructionClass, InstructionSet, Profile, TimestampEncoding,
};

const AT: u64 = 0x8001_0000;

/// The decoder's classification of an opcode; of T32 the half-word, or two with the first one on top.
fn decoded(set: InstructionSet, opcode: u32) -> Option<FlowInstruction> {
    let [first, second] = [(opcode >> 16) as u16, opcode as u16].map(u16::to_le_bytes);
    let code = match set {
        InstructionSet::A32 | InstructionSet::A64 => opcode.to_le_bytes().to_vec(),
        _ if opcode >> 16 == 0 => second.to_vec(),
        _ => [first, second].concat(),
    };
    Encodings::of(set)?.decode(&code, None).in_words(AT)
}

/// Where bits that should be 0 or 1 are not, the instruction is UNPREDICTABLE, and either reading is right.
fn is_unpredictable(set: InstructionSet, opcode: u32) -> bool {
    let is = |mask: u32, value: u32| opcode & mask == value;
    match set {
        // Hints, ERET.
        InstructionSet::A32 => {
            is(0x0fff_0000, 0x0320_0000) && !is(0xff00, 0xf000)
                || is(0x0ff0_00f0, 0x0160_0060) && !is(0x000f_ff0f, 0xe)
        }
        // Hints, LDM with the PC as base.
        InstructionSet::T32 | InstructionSet::T32Ee => {
            is(0xfff0_d000, 0xf3a0_8000) && !is(0x000f_2800, 0x000f_0000) || is(0xffff_0000, 0xe89f_0000)
        }
        _ => false,
    }
}

/// Compares both; returns whether the instruction is one that matters.
fn compare(set: InstructionSet, opcode: u32) -> bool {
    if is_unpredictable(set, opcode) {
        return false;
    }
    let decoded = decoded(set, opcode).expect("an instruction");
    // Low-overhead loops are those of ARMv8.1-M, where much else does not exist.
    let profile = match decoded.class {
        InstructionClass::LowOverheadLoop => Profile::Microcontroller,
        _ => Profile::Application,
    };
    let classified = classify(CodeAddress::new(set, AT), opcode, profile);
    assert_eq!(decoded, classified, "{set} {opcode:#010x}");
    classified.class != InstructionClass::Other
}

#[test]
fn t32_half_words_are_read_alike() {
    for set in [InstructionSet::T32, InstructionSet::T32Ee] {
        let mut classes = 0;
        for half in 0..=u16::MAX {
            let size = instruction_size(set, half);
            if size == 2 {
                classes += u32::from(compare(set, half.into()));
            }
            assert_eq!(size == 4, decoded(set, half.into()).is_none(), "{half:#x}");
        }
        assert!(classes > 5000, "{set}: only {classes} opcodes are no plain instructions");
    }
}

/// Second half-words and low halves of words that reach every row of the encoding tables.
const LOW: [u16; 40] = [
    0x0000, 0x0001, 0x0010, 0x0011, 0x0013, 0x0023, 0x0033, 0x006e, 0x0070, 0x0090, 0x00b0, 0x00d0, 0x00f0,
    0x0a00, 0x0f95, 0x0f9a, 0x0fba, 0x7fff, 0x8000, 0x8002, 0x8003, 0x8010, 0x8f00, 0x8f04, 0x8f4f, 0x8f5f,
    0x8f6f, 0x9000, 0xa000, 0xb801, 0xc000, 0xc001, 0xc801, 0xd000, 0xe001, 0xf000, 0xf011, 0xf002, 0xf8ff,
    0xff1e,
];

#[test]
fn t32_pairs_of_half_words_are_read_alike() {
    for set in [InstructionSet::T32, InstructionSet::T32Ee] {
        for first in 0xe800..=0xffff_u32 {
            for second in LOW {
                compare(set, first << 16 | u32::from(second));
            }
        }
    }
}

#[test]
fn words_are_read_alike() {
    for set in [InstructionSet::A32, InstructionSet::A64] {
        let mut classes = 0;
        for high in 0..=u16::MAX {
            for low in LOW {
                classes += u32::from(compare(set, u32::from(high) << 16 | u32::from(low)));
            }
        }
        assert!(classes > 100_000, "{set}: only {classes} opcodes are no plain instructions");
    }
}

/// System instructions and branches to registers of A64 differ in low bits only.
#[test]
fn a64_branches_to_registers_and_hints_are_read_alike() {
    for high in [
        0xd400, 0xd420, 0xd440, 0xd503, 0xd523, 0xd61f, 0xd63f, 0xd65f, 0xd69f, 0xd6bf, 0xd6ff, 0xd71f,
        0xd73f,
    ] {
        for low in 0..=u16::MAX {
            compare(InstructionSet::A64, high << 16 | u32::from(low));
        }
    }
}

proptest! {
    #[test]
    fn opcodes_are_read_alike(opcode: u32) {
        for set in [InstructionSet::A32, InstructionSet::A64] {
            compare(set, opcode);
        }
        let wide = opcode | 0xe800_0000;
        if wide >> 27 != 0b11100 {
            compare(InstructionSet::T32, wide);
        }
    }

    /// What one writes the other reads, whatever number of bytes it has.
    #[test]
    fn fields_are_read_as_they_are_written(value: u64, before: u64, padding in 0_u32..4) {
        let numbers = [
            (ByteField::PFT_CYCLE_COUNT, FieldLayout::CYCLE_COUNT, false),
            (ByteField::number(12), FieldLayout::THRESHOLD, false),
            (ByteField::number(20), FieldLayout::COUNT_20, false),
            (ByteField::number(32), FieldLayout::COUNT_32, false),
            (ByteField::SHORT_ADDRESS, FieldLayout::SHORT_ADDRESS, true),
            (ByteField::timestamp(48), FieldLayout::TIMESTAMP_48, true),
            (ByteField::timestamp(64), FieldLayout::TIMESTAMP_64, true),
        ];
        for (written, read, replaces) in numbers {
            prop_assert_eq!(written.most_bytes() as usize, read.most_bytes());
            let whole = |value: u64| written.low_bits(value, written.most_bytes());
            let (value, before) = (whole(value), if replaces { whole(before) } else { 0 });
            let count = (written.fewest_bytes(value, before) + padding).min(written.most_bytes());
            let mut reader = FieldReader::new(read);
            let bytes: Vec<u8> = written.write(value, count).collect();
            let complete: Vec<bool> = bytes.iter().map(|&byte| reader.push(byte)).collect();
            prop_assert_eq!(complete.iter().position(|&complete| complete), Some(count as usize - 1));
            prop_assert_eq!(reader.replace_in(before), value);
            prop_assert_eq!(reader.spill(), 0);
        }
    }

    /// Times pass the round trip, compressed or in full.
    #[test]
    fn times_are_read_as_they_are_written(times in prop::collection::vec(any::<(u64, bool)>(), 1..20), long: bool, gray: bool) {
        let bits = if long { 64 } else { 48 };
        let encoding = if gray { TimestampEncoding::Gray } else { TimestampEncoding::Binary };
        let mut writer = TimestampWriter::new(bits, encoding);
        let mut reader = TimestampReader::new(bits as u8, encoding);
        reader.reset();
        let mut time = 0_u64;
        for (step, all) in times {
            time = time.wrapping_add(step >> (step % 64)) & u64::MAX >> (64 - bits);
            let sent = writer.take(time, all);
            prop_assert_eq!(reader.take(sent.bits, sent.bytes as u8), Some(time));
        }
    }
}
