//! Decoder: any stream over any program gives the same bounded results however it is cut.
//!
//! Input: byte 0 = parameter preset; bytes 1, 2 = length of the code, little-endian; the code, which lies at
//! 0x1000; the stream.

use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{Decoder as _, Entry, Log, Place, Program, Section};

use super::presets::preset;

/// Where the code of an input lies.
pub const CODE_ADDRESS: u64 = 0x1000;

/// A fuzz input for this target.
#[must_use]
pub fn input(preset: u8, code: &[u8], stream: &[u8]) -> Vec<u8> {
    let length = u16::try_from(code.len()).unwrap_or(u16::MAX);
    let code = code.get(..usize::from(length)).unwrap_or(code);
    [&[preset][..], &length.to_le_bytes(), code, stream].concat()
}

/// Decodes the stream whole, byte by byte and after a reset, and compares.
///
/// # Panics
///
/// When the results differ or are out of order.
pub fn run(data: &[u8]) {
    let Some((&[number, low, high], rest)) = data.split_first_chunk::<3>() else { return };
    let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (code, stream) = rest.split_at(length);
    let mut program = Program::new();
    let section = Section { address: CODE_ADDRESS, bytes: code.to_vec(), name: String::new() };
    program.insert(section).expect("one section fits");
    let mut decoder = Decoder::default();
    if decoder.begin(&preset(number), &program).is_err() {
        return;
    }
    let whole = decode(&mut decoder, std::iter::once(stream));
    decoder.reset();
    let again = decode(&mut decoder, std::iter::once(stream));
    assert_eq!(whole.entries, again.entries, "reset and replay differ");
    decoder.reset();
    let cut = decode(&mut decoder, stream.chunks(1));
    assert_eq!(whole.entries, cut.entries, "cutting the stream changes the results");
    let mut latest = Place::default();
    for (place, entry) in &whole.entries {
        assert!(place.packet >= latest.packet, "{entry:?} is out of order");
        assert!(place.byte <= stream.len() as u64, "{entry:?} is behind the end of the stream");
        latest = *place;
    }
    let packets = whole.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Packet(_))).count();
    assert!(packets <= stream.len(), "more packets than bytes");
}

fn decode<'a>(decoder: &mut Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Log<RiscvEtrace> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}
