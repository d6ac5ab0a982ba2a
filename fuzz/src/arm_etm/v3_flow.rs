//! ETMv3: any stream over any program gives the same bounded results however it is cut.
//!
//! Input: constants ([`presets::v3`]); the length of the code at 0x8000 (2 bytes, little-endian) and the code; the rest
//! is the stream, after an A-sync.

use traceproof_decoder::arm_etm::Decoder;
use traceproof_vectors::arm_etm::{Event, Parameters};
use traceproof_vectors::{Address, Decoder as _, Program, Section};

use super::presets;
use crate::pieces::is_the_same_in_pieces;

/// Where the code is.
pub const CODE: u64 = 0x8000;

/// A fuzz input for this target; `None` when parameters or program do not fit into the format.
#[must_use]
pub fn input(parameters: &Parameters, program: &Program, stream: &[u8]) -> Option<Vec<u8>> {
    let constants = presets::v3_constants(parameters)?;
    let code = match program.sections() {
        [] => &[][..],
        [section] if section.address == Address(CODE) => &section.bytes,
        _ => return None,
    };
    let length = u16::try_from(code.len()).ok()?;
    Some([&constants[..], &length.to_le_bytes(), code, stream].concat())
}

/// Decodes the stream whole, byte by byte and after a reset, and compares.
///
/// # Panics
///
/// When the results differ or are out of bounds.
pub fn run(data: &[u8]) {
    let Some((constants, rest)) = data.split_first_chunk::<{ presets::V3_CONSTANTS }>() else { return };
    let Some((length, rest)) = rest.split_first_chunk::<2>() else { return };
    let (code, stream) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let mut program = Program::new();
    let section = Section::new(CODE, code.to_vec(), "");
    program.insert(section).expect("the only section overlaps nothing");
    decode_in_pieces(&presets::v3(*constants), &program, stream);
}

/// The most instructions of a byte : 15 E atoms and an N in a P-header of format 1 (ETM3-PH-001).
const INSTRUCTIONS: usize = 16;

/// # Panics
///
/// When the results depend on how the bytes are cut, are out of order, or more than the bytes can carry.
pub(super) fn decode_in_pieces(parameters: &Parameters, program: &Program, stream: &[u8]) {
    let mut decoder = Decoder::default();
    if decoder.begin(parameters, program).is_ok() {
        let log = is_the_same_in_pieces(&mut decoder, stream);
        let instructions = log.events().filter(|event| matches!(event, Event::Instruction { .. })).count();
        let most = stream.len() * INSTRUCTIONS;
        assert!(instructions <= most, "{instructions} instructions, at most {most} are in the bytes");
    }
}
