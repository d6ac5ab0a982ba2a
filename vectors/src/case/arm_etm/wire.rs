//! Trace clocks as people write them: `"DE 74; WT 80"`; the bytes of ETMv3.

use std::fmt::Write;

use crate::arm_etm::wire::{Cycle, Pipestat};
use crate::arm_etm::{Architecture, Parameters};
use crate::case::Problem;
use crate::notation::{parse_bytes, show_bytes};

/// Starts a line of bytes as they are.
const RAW: &str = "raw";
/// A nibble of TRACEPKT that carries nothing.
const NOTHING: &str = "-";

/// Bytes of an ETMv3 stream in a line; people break lines at packets instead.
const STREAM_LINE: usize = 16;

/// ETMv3: bytes. Otherwise one line: records separated by `;`, each the name of the PIPESTAT and the TRACEPKT value in hexadecimal with a
/// digit for every 4 bits of the port (`-` for those that carry nothing); or `raw` and bytes.
pub(super) fn read(lines: &[String], parameters: &Parameters) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        line_bytes(line, parameters, &mut bytes)
            .map_err(|message| Problem::new(format!("wire[{index}]"), message))?;
    }
    Ok(bytes)
}

fn line_bytes(line: &str, parameters: &Parameters, bytes: &mut Vec<u8>) -> Result<(), String> {
    if parameters.architecture == Architecture::V3 {
        bytes.extend(parse_bytes(line).ok_or("a line is pairs of hexadecimal digits")?);
        return Ok(());
    }
    if let Some(raw) = line.trim_start().strip_prefix(RAW) {
        bytes.extend(parse_bytes(raw).ok_or("`raw` is followed by pairs of hexadecimal digits")?);
        return Ok(());
    }
    for record in line.split(';') {
        let cycle = record_cycle(record, parameters)?;
        bytes.extend(cycle.to_bytes(parameters).into_iter().take(Cycle::size(parameters)));
    }
    Ok(())
}

fn record_cycle(record: &str, parameters: &Parameters) -> Result<Cycle, String> {
    let digits = digits(parameters);
    let (name, tracepkt) = record
        .trim()
        .split_once(' ')
        .map(|(name, tracepkt)| (name, tracepkt.trim_start()))
        .ok_or_else(|| format!("`{}` is no record; write e.g. `DE {:0digits$x}`", record.trim(), 0x74))?;
    let pipestat: Pipestat = name.parse().map_err(|error| format!("`{name}`: {error}"))?;
    let wrong = || format!("`{tracepkt}` is no TRACEPKT value of {digits} hexadecimal digits");
    let is_digit = |b: u8| b.is_ascii_hexdigit() || b == b'-';
    if tracepkt.len() != digits || !tracepkt.bytes().all(is_digit) {
        return Err(wrong());
    }
    let tracepkt = u16::from_str_radix(&tracepkt.replace(NOTHING, "0"), 16).map_err(|_| wrong())?;
    Ok(Cycle { pipestat, tracepkt })
}

fn digits(parameters: &Parameters) -> usize {
    usize::from(parameters.port_width) / 4
}

/// One line per record; what is no record is `raw`.
pub(super) fn show(bytes: &[u8], parameters: &Parameters) -> Vec<String> {
    if parameters.architecture == Architecture::V3 {
        return bytes.chunks(STREAM_LINE).map(show_bytes).collect();
    }
    let digits = digits(parameters);
    bytes
        .chunks(Cycle::size(parameters))
        .map(|record| match Cycle::from_bytes(record, parameters) {
            Ok(Cycle { pipestat, tracepkt }) => {
                let mut line = pipestat.to_string();
                // Writing to a string cannot fail.
                let _ = write!(line, " {tracepkt:0digits$x}");
                line
            }
            Err(_) => format!("{RAW} {}", show_bytes(record)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(port_width: u8) -> Parameters {
        Parameters { port_width, ..Parameters::default() }
    }

    fn read_one(line: &str, width: u8) -> Result<Vec<u8>, String> {
        read(&[line.to_owned()], &port(width)).map_err(|problem| problem.to_string())
    }

    #[test]
    fn records_are_read_and_shown() {
        for (width, line, bytes, shown) in [
            (8, "TD 01", &[7, 0x01][..], "TD 01"),
            (8, "PT_DE --", &[9, 0], "PT_DE 00"),
            (4, "WT c", &[4, 0xc], "WT c"),
            (16, "DE 80F4", &[1, 0xf4, 0x80], "DE 80f4"),
            (16, "DE --02", &[1, 0x02, 0], "DE 0002"),
            (8, "raw 17 00", &[0x17, 0], "raw 17 00"),
            (8, "raw 07", &[7], "raw 07"),
        ] {
            assert_eq!(read_one(line, width), Ok(bytes.to_vec()), "{line}");
            assert_eq!(show(bytes, &port(width)), [shown]);
        }
        assert_eq!(read_one("DE 74; WT 80", 8), Ok(vec![1, 0x74, 4, 0x80]));
    }

    #[test]
    fn an_etmv3_stream_is_bytes() {
        let parameters = Parameters { architecture: Architecture::V3, ..Parameters::default() };
        let bytes = [0, 0, 0, 0, 0, 0x80, 8, 0x21];
        let lines = ["00 00 00 00 00 80".to_owned(), "0821".to_owned()];
        assert_eq!(read(&lines, &parameters).expect("reads"), bytes);
        assert_eq!(show(&bytes, &parameters), ["00 00 00 00 00 80 08 21"]);
        assert!(read(&["WT 74".to_owned()], &parameters).is_err());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, message) in [
            ("", "wire[0]: `` is no record; write e.g. `DE 74`"),
            ("DE 74; WT", "wire[0]: `WT` is no record; write e.g. `DE 74`"),
            ("DE 0174", "wire[0]: `0174` is no TRACEPKT value of 2 hexadecimal digits"),
            ("DE +4", "wire[0]: `+4` is no TRACEPKT value of 2 hexadecimal digits"),
            ("raw 1", "wire[0]: `raw` is followed by pairs of hexadecimal digits"),
        ] {
            assert_eq!(read_one(line, 8), Err(message.to_owned()), "{line}");
        }
        assert!(read_one("XX 00", 8).expect_err("no status").starts_with("wire[0]: `XX`: unknown PIPESTAT"));
    }
}
