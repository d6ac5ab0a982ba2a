//! ARM PFT: the packet writer, the PTM model and the processor against the specification.

mod addresses;
mod any;
mod contexts;
mod cycles;
mod exceptions;
mod execution;
mod fifo;
mod flow;
mod packets;
mod policy;
mod returns;
mod scene;
mod starts;
mod sync;
mod timestamps;

use std::fmt::Write as _;

/// `bytes` as in the sheets: pairs of digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().enumerate().fold(String::new(), |mut text, (index, byte)| {
        let gap = if index == 0 { "" } else { " " };
        let _ = write!(text, "{gap}{byte:02x}");
        text
    })
}
