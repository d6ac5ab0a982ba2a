//! What an instruction is to the flow of the program, as the trace unit's core interface reports it.
//!
//! The opcode is taken apart field by field, in the order in which the encoding tables of the architecture branch.
//! Should-be-zero and should-be-one bits are ignored; what no table allocates is [`InstructionClass::Other`].
//!
//! Sources: ARM DDI 0406, chapters A5, A6, A9; ARM DDI 0403, A5 (`ARMv7`-M); ARM DDI 0553 (`ARMv8.1`-M loops); ARM DDI
//! 0487, C4; IHI 0035B 2.2 and DDI 0487 D4 for the instructions that the trace architectures name.

mod a32;
mod a64;
mod t16;
mod t32;

#[cfg(test)]
mod tests;

use traceproof_vectors::arm::{CodeAddress, FlowInstruction, InstructionClass, InstructionSet, Profile};

/// Size in bytes of the instruction that starts with this half-word (A32, A64: with any half of the word).
///
/// Source: ARM DDI 0406, A6.1.
#[must_use]
pub const fn instruction_size(set: InstructionSet, first: u16) -> u8 {
    match set {
        InstructionSet::A32 | InstructionSet::A64 => 4,
        InstructionSet::Jazelle => 1,
        InstructionSet::T32 | InstructionSet::T32Ee if first >= 0xe800 => 4,
        InstructionSet::T32 | InstructionSet::T32Ee => 2,
    }
}

/// What the instruction at `at` is.
///
/// `opcode` is the word of A32 and A64; of T32 the half-word, or the first half-word in \[31:16\] and the second in
/// \[15:0\]. Jazelle bytecodes have no class: what they do depends on software.
#[must_use]
pub fn classify(at: CodeAddress, opcode: u32, profile: Profile) -> FlowInstruction {
    match at.instruction_set {
        InstructionSet::A32 => a32::classify(at, opcode),
        InstructionSet::A64 => a64::classify(at, opcode),
        InstructionSet::Jazelle => FlowInstruction::new(InstructionClass::Other, 1),
        InstructionSet::T32 | InstructionSet::T32Ee if opcode >> 16 == 0 => t16::classify(at, opcode as u16),
        InstructionSet::T32 | InstructionSet::T32Ee => {
            t32::classify(at, (opcode >> 16) as u16, opcode as u16, profile)
        }
    }
}

/// Bits \[high:low\] of `word`.
const fn bits(word: u32, high: u32, low: u32) -> u32 {
    (word >> low) & (u32::MAX >> (31 - (high - low)))
}

const fn bit(word: u32, index: u32) -> bool {
    (word >> index) & 1 == 1
}

/// The low `width` bits of `value` as a signed number, in the two's complement of an address.
const fn sign_extend(value: u32, width: u32) -> u64 {
    let unused = 64 - width;
    (((value as i64) << unused) >> unused) as u64
}

/// A direct branch to `offset` from `base`.
const fn direct(target: CodeAddress, link: bool, size: u8) -> FlowInstruction {
    FlowInstruction::new(InstructionClass::DirectBranch { link }, size).with_target(target)
}
