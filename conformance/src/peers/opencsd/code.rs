//! The code that the library gets.

use traceproof_vectors::{Program, Section};

/// What an instruction of two bytes needs after it, in bytes.
const AFTER: u64 = 2;

/// The program with two zero bytes after each piece that ends with an instruction of two bytes: then the library reads
/// that one, and still no instruction after it. In a gap of two bytes they are an instruction, which joins two pieces:
/// a flow that leads into such a gap is not missing code for the library.
pub(super) fn padded(program: &Program) -> Program {
    let pieces = super::memory(program);
    let mut padded = Program::new();
    for (index, (address, bytes)) in pieces.iter().enumerate() {
        let mut bytes = bytes.clone();
        let end = address.saturating_add(bytes.len() as u64);
        let next = pieces.get(index + 1).map_or(u64::MAX, |(next, _)| *next);
        if ends_with_two_bytes(&bytes) && next.saturating_sub(end) >= AFTER {
            bytes.extend([0; AFTER as usize]);
        }
        // The pieces do not overlap, and neither does what is added.
        let inserted = padded.insert(Section::new(*address, bytes, ""));
        debug_assert!(inserted.is_ok());
    }
    padded
}

/// Whether the last half-word is not the first of a 32-bit T32 instruction. Spec: PFT-WPT-028.
fn ends_with_two_bytes(bytes: &[u8]) -> bool {
    bytes.last().is_some_and(|last| last >> 3 < 0b11101)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pieces_that_end_with_two_bytes_are_longer() {
        let mut program = Program::new();
        // b . of T32; nop and b . of A32; a lone half of bl; two pieces with two bytes between them.
        for (address, bytes) in [
            (0x1000, vec![0xfe, 0xe7]),
            (0x2000, vec![0x00, 0x00, 0xa0, 0xe1, 0xfe, 0xff, 0xff, 0xea]),
            (0x3000, vec![0x00, 0xbf, 0x00, 0xf0]),
            (0x4000, vec![0x00, 0xbf, 0x00, 0xbf]),
            (0x4006, vec![0x00, 0xbf]),
        ] {
            program.insert(Section::new(address, bytes, "")).expect("free");
        }
        let padded = padded(&program);
        let pieces: Vec<_> =
            padded.sections().iter().map(|section| (section.address.0, section.bytes.len())).collect();
        assert_eq!(pieces, [(0x1000, 4), (0x2000, 8), (0x3000, 4), (0x4000, 6), (0x4006, 4)]);
    }
}
