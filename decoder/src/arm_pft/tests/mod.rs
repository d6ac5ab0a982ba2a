//! Worked examples of the fact sheet, faults, chunks, arbitrary streams.
//!
//! Expected values are those of the worked examples, or worked out by hand.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm_pft::Parameters;

mod packets;

/// An A-sync.
const ALIGN: &str = "00 00 00 00 00 80";

/// Bytes written as pairs of digits; `|` only separates packets.
fn bytes(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace()
        .filter(|word| *word != "|")
        .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal"))
        .collect()
}

/// Cycle-accurate, with Context IDs of so many bytes.
fn counting(context_id_bytes: u8) -> Parameters {
    Parameters { cycle_accurate: true, context_id_bytes, ..Parameters::default() }
}

/// Without cycle counts, with Context IDs of so many bytes.
fn context(context_id_bytes: u8) -> Parameters {
    Parameters { context_id_bytes, ..Parameters::default() }
}
