//! PFT: any stream over any program gives the same bounded results however it is cut, with and without fast path.
//!
//! Input: constants ([`presets::parameters`]); the length of the code at 0x8000 (2 bytes, little-endian) and the code;
//! the rest is the stream.

use traceproof_decoder::arm_pft::Decoder;
use traceproof_vectors::arm_pft::{Event, Parameters};
use traceproof_vectors::{Address, Decoder as _, DecoderLimits, Program, Section};

use super::presets;
use crate::pieces::{STEPS, is_the_same_in_pieces, work_is_bounded};

/// Where the code is.
const CODE: u64 = 0x8000;

/// The most outcomes of a byte: an atom packet has up to five (PFT-PKT-020).
const OUTCOMES: u64 = 5;

/// A fuzz input for this target; `None` when parameters or program do not fit into the format.
#[must_use]
pub fn input(parameters: &Parameters, program: &Program, stream: &[u8]) -> Option<Vec<u8>> {
    let constants = presets::constants(parameters)?;
    let code = match program.sections() {
        [] => &[][..],
        [section] if section.address == Address(CODE) => &section.bytes,
        _ => return None,
    };
    let length = u16::try_from(code.len()).ok()?;
    Some([&constants[..], &length.to_le_bytes(), code, stream].concat())
}

/// Decodes the stream whole, byte by byte and after a reset, with and without fast path, and compares.
///
/// # Panics
///
/// When the results differ, are out of order, or more than the bytes can carry.
pub fn run(data: &[u8]) {
    let Some((constants, rest)) = data.split_first_chunk::<{ presets::CONSTANTS }>() else { return };
    let Some((length, rest)) = rest.split_first_chunk::<2>() else { return };
    let (code, stream) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let mut program = Program::new();
    program.insert(Section::new(CODE, code.to_vec(), "")).expect("the only section overlaps nothing");
    let parameters = presets::parameters(*constants);
    let limits = DecoderLimits::COLLECTED.with_steps(STEPS);
    let mut fast = Decoder::default();
    fast.set_limits(&limits);
    if fast.begin(&parameters, &program).is_err() {
        return;
    }
    let mut slow = Decoder::default().without_fast_path();
    slow.set_limits(&limits);
    slow.begin(&parameters, &program).expect("accepted by the decoder with fast path");
    let [fast, slow] = [&mut fast, &mut slow].map(|decoder| is_the_same_in_pieces(decoder, stream));
    assert_eq!(fast.entries, slow.entries, "the fast path changes the results");
    work_is_bounded(&fast, stream, code, OUTCOMES, |event| match event {
        Event::Instructions { count, .. } => *count,
        _ => 0,
    });
}
