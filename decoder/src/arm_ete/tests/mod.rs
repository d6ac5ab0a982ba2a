//! Worked examples of the fact sheet, faults, chunks, arbitrary streams.
//!
//! Expected values are those of the worked examples, or worked out by hand.

use alloc::vec::Vec;

use traceproof_vectors::arm_ete::{Parameters, QElements, Version};

mod packets;

/// An A-sync.
const ALIGN: &str = "00 00 00 00 00 00 00 00 00 00 00 80";

/// Bytes written as pairs of digits; `|` only separates packets.
fn bytes(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace()
        .filter(|word| *word != "|")
        .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal"))
        .collect()
}

/// Configuration C1 of the sheet, with everything that no packet is longer for.
fn c1() -> Parameters {
    Parameters {
        instrumentation: true,
        timestamp_markers: true,
        transactions: true,
        cycle_counting: true,
        timestamps: true,
        q_elements: QElements::Any,
        ..Parameters::default()
    }
}

/// Configuration C0 with this MAXSPEC: cycle counts carry commits.
fn c0(maxspec: u32) -> Parameters {
    Parameters { commopt: false, maxspec, ..c1() }
}

/// ETMv4 with all its packets.
fn v4(version: Version) -> Parameters {
    Parameters {
        commopt: false,
        maxspec: 8,
        cycle_counting: true,
        timestamps: true,
        data_trace: true,
        conditional_trace: traceproof_vectors::arm_ete::ConditionalTrace::All,
        q_elements: QElements::Any,
        ..Parameters::etmv4(version)
    }
}
