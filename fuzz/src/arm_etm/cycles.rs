//! ETMv2: any capture of the pins gives the same bounded results however it is cut.
//!
//! Input: two bytes of constants ([`presets::v2`]); the rest is the capture.

use traceproof_vectors::Program;

use super::presets;
use super::v3_flow::decode_in_pieces;

/// Decodes the capture whole, byte by byte and after a reset, and compares.
///
/// # Panics
///
/// When the results differ or are out of bounds.
pub fn run(data: &[u8]) {
    let Some((constants, capture)) = data.split_first_chunk::<2>() else { return };
    decode_in_pieces(&presets::v2(*constants), &Program::new(), capture);
}
