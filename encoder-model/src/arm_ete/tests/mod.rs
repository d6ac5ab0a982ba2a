//! ARM ETE: the packet writer, the trace unit model and the processor against the specification.

mod any;
mod execution;
mod flow;
mod legal;
mod packets;
mod refusals;
mod scene;
mod speculation;
mod streams;
mod times;

use std::fmt::Write as _;

/// `bytes` as in the sheets: pairs of digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().enumerate().fold(String::new(), |mut text, (index, byte)| {
        let gap = if index == 0 { "" } else { " " };
        let _ = write!(text, "{gap}{byte:02x}");
        text
    })
}
