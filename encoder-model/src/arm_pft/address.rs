//! Addresses of branches and waypoint updates, as few bytes as they need.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::CompressedAddress;

/// Continue bit of address bytes, exception information, cycle counts and timestamps.
pub(super) const CONTINUE: u8 = 1 << 7;

/// Bits of the address field in 1 to 4 bytes; five have all. Spec: PFT-PKT-041 (4.5.4).
pub(super) const FIELD_BITS: [u32; 4] = [6, 12, 19, 26];

/// Bytes of an address that is not shortened.
pub(super) const LONGEST: u8 = 5;

/// The fewest bytes of an address, given the address that stands before it in the same instruction set.
///
/// Spec: PFT-ENC-023 (4.5.4).
pub(super) fn fewest_bytes(isa: InstructionSet, address: u32, base: u32) -> u8 {
    let changed = (address ^ base) >> isa.alignment_bits();
    let fits = FIELD_BITS.into_iter().position(|width| changed >> width == 0);
    fits.map_or(LONGEST, |index| index as u8 + 1)
}

/// The address in so many bytes, 1 to 5.
///
/// Spec: PFT-PKT-038 to 041 (4.5.4).
pub(super) fn compress(isa: InstructionSet, address: u32, bytes: u8) -> CompressedAddress {
    let field = u64::from(address >> isa.alignment_bits());
    let bits = match FIELD_BITS.get(usize::from(bytes).wrapping_sub(1)) {
        Some(width) => field & ((1 << width) - 1),
        None => field | whole(isa),
    };
    CompressedAddress { bits, bytes }
}

/// What the fifth byte says of the instruction set, above the address: `001`, `01` or `1`.
const fn whole(isa: InstructionSet) -> u64 {
    1 << match isa {
        InstructionSet::Jazelle => 32,
        InstructionSet::T32 | InstructionSet::T32Ee => 31,
        InstructionSet::A32 | InstructionSet::A64 => 30,
    }
}
