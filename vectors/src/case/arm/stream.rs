//! A wire that is one string of bytes: pairs of hexadecimal digits, a packet in each line as a rule.

use crate::notation::{parse_bytes, show_bytes};

/// Bytes of a line that is written by a program; people break lines at packets instead.
const LINE: usize = 16;

/// The bytes of a line.
pub(in crate::case) fn read_line(line: &str) -> Result<Vec<u8>, &'static str> {
    parse_bytes(line).ok_or("a line is pairs of hexadecimal digits")
}

/// Lines of equal length.
pub(in crate::case) fn show(bytes: &[u8]) -> Vec<String> {
    bytes.chunks(LINE).map(show_bytes).collect()
}
