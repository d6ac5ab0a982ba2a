//! ETMv1: any capture of the pins over any program gives the same bounded results however it is cut.
//!
//! Input: two bytes of constants ([`presets::v1`]); the length of the code at 0x8000 (2 bytes, little-endian) and the
//! code; the rest is the capture.

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::{Address, Program, Section};

use super::presets;
use super::v3_flow::{CODE, decode_in_pieces};

/// A fuzz input for this target; `None` when parameters or program do not fit into the format.
#[must_use]
pub fn input(parameters: &Parameters, program: &Program, capture: &[u8]) -> Option<Vec<u8>> {
    let constants = presets::v1_constants(parameters)?;
    let code = match program.sections() {
        [] => &[][..],
        [section] if section.address == Address(CODE) => &section.bytes,
        _ => return None,
    };
    let length = u16::try_from(code.len()).ok()?;
    Some([&constants[..], &length.to_le_bytes(), code, capture].concat())
}

/// Decodes the capture whole, byte by byte and after a reset, and compares.
///
/// # Panics
///
/// When the results differ or are out of bounds.
pub fn run(data: &[u8]) {
    let Some((constants, rest)) = data.split_first_chunk::<2>() else { return };
    let Some((length, rest)) = rest.split_first_chunk::<2>() else { return };
    let (code, capture) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let mut program = Program::new();
    let section = Section::new(CODE, code.to_vec(), "");
    program.insert(section).expect("the only section overlaps nothing");
    decode_in_pieces(&presets::v1(*constants), &program, capture);
}
