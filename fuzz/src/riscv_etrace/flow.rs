//! Decoder: any stream over any program gives the same bounded results however it is cut.
//!
//! Input: byte 0 = parameter preset; byte 1 = number of code sections (modulo 8); per section its address (8 bytes,
//! little-endian), its length (2 bytes, little-endian) and its bytes; the rest is the stream.

use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_vectors::riscv_etrace::{Event, RiscvEtrace};
use traceproof_vectors::{Decoder as _, DecoderLimits, Entry, Log, Place, Program, Section};

use super::presets::preset;

/// Most sections of an input.
const SECTIONS: u8 = 8;

/// A fuzz input for this target; `None` when the program does not fit into the format.
#[must_use]
pub fn input(preset: u8, program: &Program, stream: &[u8]) -> Option<Vec<u8>> {
    let count = u8::try_from(program.sections().len()).ok().filter(|&count| count < SECTIONS)?;
    let mut input = vec![preset, count];
    for section in program.sections() {
        input.extend_from_slice(&section.address.0.to_le_bytes());
        input.extend_from_slice(&u16::try_from(section.bytes.len()).ok()?.to_le_bytes());
        input.extend_from_slice(&section.bytes);
    }
    input.extend_from_slice(stream);
    Some(input)
}

/// Takes the sections off the front; sections that overlap an earlier one are dropped.
fn split(data: &[u8]) -> Option<(u8, Program, &[u8])> {
    let (&[number, count], mut rest) = data.split_first_chunk::<2>()?;
    let mut program = Program::new();
    for _ in 0..count % SECTIONS {
        let (address, after) = rest.split_first_chunk::<8>()?;
        let (length, after) = after.split_first_chunk::<2>()?;
        let (bytes, after) = after.split_at(usize::from(u16::from_le_bytes(*length)).min(after.len()));
        let section = Section::new(u64::from_le_bytes(*address), bytes.to_vec(), "");
        // An overlap is as good an input as any.
        let _ = program.insert(section);
        rest = after;
    }
    Some((number, program, rest))
}

/// Instructions without an outcome or an address.
const STEPS: u64 = 1 << 10;

/// Instructions by prediction or inference for each byte.
const WORK: u64 = 1 << 8;

/// Those that the first byte may cost, too.
const REPEATS: u64 = 1 << 12;

/// The most outcomes and addresses of a byte: sign extension (ET 7) leaves a branch map of 31 and an address in one.
const OUTCOMES: u64 = 32;

/// The most instructions for which a stream over a program may stand (SECURITY.md).
fn most_instructions(program: &Program, bytes: u64) -> u64 {
    let code: u64 = program.sections().iter().map(|section| section.bytes.len() as u64 / 2).sum();
    REPEATS + bytes * (WORK + OUTCOMES * (STEPS + code + 1))
}

/// Decodes the stream whole, byte by byte and after a reset, and compares.
///
/// # Panics
///
/// When the results differ, are out of order, or more than the bytes can carry.
pub fn run(data: &[u8]) {
    let Some((number, program, stream)) = split(data) else { return };
    let mut decoder = Decoder::default();
    let limits = DecoderLimits::COLLECTED.with_steps(STEPS).with_work(WORK).with_repeats(REPEATS);
    decoder.set_limits(&limits);
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
        assert!(place.byte <= stream.len() as u64, "{entry:?} is beyond the end of the stream");
        latest = *place;
    }
    let packets = whole.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Packet(_))).count();
    assert!(packets <= stream.len(), "more packets than bytes");
    let instructions = whole.entries.iter().map(|(_, entry)| match entry {
        Entry::Event(Event::Retire { count, .. }) => *count,
        _ => 0,
    });
    let (instructions, most) = (instructions.sum::<u64>(), most_instructions(&program, stream.len() as u64));
    assert!(instructions <= most, "{instructions} instructions, at most {most} are in the bytes");
}

fn decode<'a>(decoder: &mut Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Log<RiscvEtrace> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}
