//! How the wire of a RISC-V E-Trace case is written: one string per packet.
//!
//! | text | bytes |
//! |---|---|
//! | `"73 00 04"` | a packet with this payload, framed by the encapsulation of the parameters |
//! | `"raw 00 80"` | these bytes as they are: null packets, malformed framing |
//!
//! A `#` starts a comment.

use crate::case::Problem;
use crate::notation::{parse_bytes, show_bytes};
use crate::riscv_etrace::{Encapsulation, NormalEncapsulation};

/// Longest payload of a packet in bytes: what the 5-bit `length` can say (RVET-ENCAP-001).
const LONGEST: usize = 31;

/// Bits 4 to 0 of the header byte: `length`.
const LENGTH: u8 = 0x1f;

pub(super) fn parse(lines: &[String], encapsulation: Encapsulation) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        parse_line(line, encapsulation, &mut bytes)
            .map_err(|message| Problem::new(format!("wire[{index}]"), message))?;
    }
    Ok(bytes)
}

fn parse_line(line: &str, encapsulation: Encapsulation, bytes: &mut Vec<u8>) -> Result<(), String> {
    let text = line.split('#').next().unwrap_or_default().trim();
    let hex =
        |text| parse_bytes(text).ok_or_else(|| format!("`{text}` is no string of bytes such as `73 00 04`"));
    if let Some(raw) = text.strip_prefix("raw").filter(|raw| raw.is_empty() || raw.starts_with([' ', '\t'])) {
        let raw = hex(raw.trim())?;
        if raw.is_empty() {
            return Err("`raw` needs bytes".to_owned());
        }
        bytes.extend(raw);
        return Ok(());
    }
    let payload = hex(text)?;
    if !is_bare(encapsulation) {
        return Err(
            "this notation does not support srcID, timestamp and type fields yet; write `raw …`".to_owned()
        );
    }
    // RVET-ENCAP-004: without further fields, `length` is that of the payload; RVET-ENCAP-005: at least 1.
    match u8::try_from(payload.len()) {
        Ok(length @ 1..=LENGTH) => bytes.push(length),
        _ => return Err(format!("a payload has 1 to {LONGEST} bytes, this one has {}", payload.len())),
    }
    bytes.extend(payload);
    Ok(())
}

/// Whether a packet is one header byte and the payload.
fn is_bare(encapsulation: Encapsulation) -> bool {
    match encapsulation {
        Encapsulation::Normal(normal) => normal == NormalEncapsulation::default(),
        Encapsulation::Siemens(_) => false,
        Encapsulation::Atb => true,
    }
}

pub(super) fn show(bytes: &[u8], encapsulation: Encapsulation) -> Vec<String> {
    let raw = |bytes| format!("raw {}", show_bytes(bytes));
    if bytes.is_empty() {
        return Vec::new();
    }
    if !is_bare(encapsulation) {
        return vec![raw(bytes)];
    }
    let mut lines = Vec::new();
    let mut rest = bytes;
    while let Some((&header, behind)) = rest.split_first() {
        let length = usize::from(header & LENGTH);
        let (payload, next) = behind.split_at_checked(length).unwrap_or((behind, &[]));
        // `flow`, `extend`, null packets and a packet that is cut off have no other notation.
        let plain = usize::from(header) == length && length > 0 && payload.len() == length;
        lines.push(if plain { show_bytes(payload) } else { raw(rest.get(..=payload.len()).unwrap_or(rest)) });
        rest = next;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(lines: &[&str]) -> Result<Vec<u8>, String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        parse(&lines, Encapsulation::default()).map_err(|problem| problem.to_string())
    }

    /// Expected bytes: header byte = length (EN 2.1.1), as in the example `02 22 12`.
    #[test]
    fn payloads_are_framed_and_raw_bytes_are_not() {
        assert_eq!(bytes(&["22 12"]), Ok(vec![0x02, 0x22, 0x12]));
        assert_eq!(bytes(&["1f # support", "730004"]), Ok(vec![1, 0x1f, 3, 0x73, 0, 4]));
        assert_eq!(bytes(&["raw 00 80", "0a"]), Ok(vec![0, 0x80, 1, 0x0a]));
        assert_eq!(bytes(&["raw 05 73 # cut off"]), Ok(vec![5, 0x73]));
        assert_eq!(bytes(&["00 ".repeat(31).as_str()]).map(|bytes| bytes.len()), Ok(32));
        assert_eq!(bytes(&[]), Ok(vec![]));
    }

    #[test]
    fn bad_lines_are_refused() {
        for (line, message) in [
            ("", "a payload has 1 to 31 bytes, this one has 0"),
            ("# nothing", "a payload has 1 to 31 bytes, this one has 0"),
            ("7", "`7` is no string of bytes such as `73 00 04`"),
            ("0x73", "`0x73` is no string of bytes such as `73 00 04`"),
            ("raw", "`raw` needs bytes"),
            ("raw 0", "`0` is no string of bytes such as `73 00 04`"),
            ("raw00", "`raw00` is no string of bytes such as `73 00 04`"),
        ] {
            assert_eq!(bytes(&["1f", line]), Err(format!("wire[1]: {message}")));
        }
        let long = "00".repeat(32);
        assert_eq!(bytes(&[&long]), Err("wire[0]: a payload has 1 to 31 bytes, this one has 32".to_owned()));
        assert_eq!(bytes(&["00 ".repeat(256).as_str()]).map_err(|message| message.len()), Err(54));
    }

    #[test]
    fn further_fields_must_be_written_raw() {
        let source = Encapsulation::Normal(NormalEncapsulation { src_id_bits: 8, ..Default::default() });
        assert_eq!(parse(&["raw 02 0a 22 12".to_owned()], source), Ok(vec![2, 0x0a, 0x22, 0x12]));
        assert!(parse(&["22 12".to_owned()], source).is_err());
        assert_eq!(show(&[2, 0x0a, 0x22, 0x12], source), ["raw 02 0a 22 12"]);
    }

    #[test]
    fn bytes_are_shown_as_they_would_be_written() {
        let shown = |bytes: &[u8]| show(bytes, Encapsulation::default());
        assert_eq!(shown(&[3, 0x73, 0, 4, 1, 0x0a]), ["73 00 04", "0a"]);
        assert_eq!(shown(&[0, 0x80, 1, 0x0a]), ["raw 00", "raw 80", "0a"]);
        assert_eq!(shown(&[0x21, 0x0a, 0x81, 0x0b, 1, 2]), ["raw 21 0a", "raw 81 0b", "02"]);
        assert_eq!(shown(&[3, 0x73, 0]), ["raw 03 73 00"]);
        assert_eq!(shown(&[3]), ["raw 03"]);
        assert!(shown(&[]).is_empty());
    }

    #[test]
    fn shown_bytes_read_back() {
        // Every header byte, in front of too few and of enough bytes.
        for header in 0..=u8::MAX {
            for length in [0, 1, 31, 40] {
                let mut bytes = vec![header];
                bytes.extend((0..length).map(|index: u8| index.wrapping_mul(37)));
                let lines = show(&bytes, Encapsulation::default());
                assert_eq!(parse(&lines, Encapsulation::default()), Ok(bytes), "{lines:?}");
            }
        }
    }
}
