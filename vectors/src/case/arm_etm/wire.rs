//! Notation of trace clocks: `"DE 74; WT 80"`; the bytes of ETMv3.

use std::fmt::Write;

use crate::arm_etm::v2::{Cycle, Pipestat};
use crate::arm_etm::{Architecture, Parameters, v1};
use crate::case::Problem;
use crate::case::arm::stream;
use crate::notation::{parse_bytes, show_bytes};

/// Starts a line of bytes as they are.
const RAW: &str = "raw";
/// A nibble of TRACEPKT that carries nothing.
const NOTHING: &str = "-";

/// TRACESYNC is HIGH in the record (ETMv1), after the name of its PIPESTAT.
const TRACESYNC: char = '*';

/// PIPESTAT of the two records after BE or BD of ETMv1, where it is two bits of the APO.
const APO: [&str; 4] = ["A0", "A1", "A2", "A3"];

/// ETMv3: bytes. Otherwise one line: records separated by `;`, each the name of the PIPESTAT and the TRACEPKT value in
/// hexadecimal with a digit for every 4 bits of the port (`-` for those that carry nothing); or `raw` and bytes. In
/// ETMv1 `*` after the name is TRACESYNC, and `A0` to `A3` are the names of PIPESTAT 0 to 3 as part of an APO.
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
        bytes.extend(stream::read_line(line)?);
        return Ok(());
    }
    if let Some(raw) = line.trim_start().strip_prefix(RAW) {
        bytes.extend(parse_bytes(raw).ok_or("`raw` is followed by pairs of hexadecimal digits")?);
        return Ok(());
    }
    for record in line.split(';') {
        let (name, tracepkt) = record_parts(record, parameters)?;
        let record = if parameters.architecture == Architecture::V1 {
            v1_cycle(name, tracepkt)?.to_bytes(parameters)
        } else {
            let pipestat: Pipestat = name.parse().map_err(|error| format!("`{name}`: {error}"))?;
            Cycle { pipestat, tracepkt }.to_bytes(parameters)
        };
        bytes.extend(record.into_iter().take(Cycle::size(parameters)));
    }
    Ok(())
}

/// Name and TRACEPKT of a record.
fn record_parts<'a>(record: &'a str, parameters: &Parameters) -> Result<(&'a str, u16), String> {
    let digits = digits(parameters);
    let (name, tracepkt) = record
        .trim()
        .split_once(' ')
        .map(|(name, tracepkt)| (name, tracepkt.trim_start()))
        .ok_or_else(|| format!("`{}` is no record; write e.g. `DE {:0digits$x}`", record.trim(), 0x74))?;
    let wrong = || format!("`{tracepkt}` is no TRACEPKT value of {digits} hexadecimal digits");
    let is_digit = |b: u8| b.is_ascii_hexdigit() || b == b'-';
    if tracepkt.len() != digits || !tracepkt.bytes().all(is_digit) {
        return Err(wrong());
    }
    let tracepkt = u16::from_str_radix(&tracepkt.replace(NOTHING, "0"), 16).map_err(|_| wrong())?;
    Ok((name, tracepkt))
}

fn v1_cycle(name: &str, tracepkt: u16) -> Result<v1::Cycle, String> {
    let (status, tracesync) = name.strip_suffix(TRACESYNC).map_or((name, false), |status| (status, true));
    let apo = APO.iter().position(|apo| *apo == status);
    let pipestat = match apo.and_then(|code| v1::Pipestat::from_code(code as u8)) {
        Some(pipestat) => pipestat,
        None => status.parse().map_err(|error| format!("`{status}`: {error}"))?,
    };
    Ok(v1::Cycle { pipestat, tracesync, tracepkt })
}

fn digits(parameters: &Parameters) -> usize {
    usize::from(parameters.port_width) / 4
}

/// One line per record; what is no record is `raw`.
pub(super) fn show(bytes: &[u8], parameters: &Parameters) -> Vec<String> {
    if parameters.architecture == Architecture::V3 {
        return stream::show(bytes);
    }
    let digits = digits(parameters);
    if parameters.architecture == Architecture::V1 {
        return show_v1(bytes, parameters);
    }
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

/// As [`show`]; the two records after BE and BD are shown as APO.
fn show_v1(bytes: &[u8], parameters: &Parameters) -> Vec<String> {
    let digits = digits(parameters);
    let mut apo = 0_u8;
    let mut lines = Vec::new();
    for record in bytes.chunks(v1::Cycle::size(parameters)) {
        let Ok(v1::Cycle { pipestat, tracesync, tracepkt }) = v1::Cycle::from_bytes(record, parameters)
        else {
            apo = apo.saturating_sub(1);
            lines.push(format!("{RAW} {}", show_bytes(record)));
            continue;
        };
        let mark = if tracesync { "*" } else { "" };
        let name = match APO.get(usize::from(pipestat.code())) {
            Some(name) if apo > 0 => name,
            _ => pipestat.name(),
        };
        lines.push(format!("{name}{mark} {tracepkt:0digits$x}"));
        let replaced = (pipestat == v1::Pipestat::Tr).then_some((tracepkt & 7) as u8);
        let status = replaced.and_then(v1::Pipestat::from_code).unwrap_or(pipestat);
        apo = if status.has_address() { 2 } else { apo.saturating_sub(1) };
    }
    lines
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
    fn records_of_etmv1_have_tracesync_and_apo() {
        let parameters = Parameters { architecture: Architecture::V1, ..Parameters::default() };
        let lines = ["TD 00; BE* a5; A1 82; TR 04; A0 82; A3 10; IE --", "raw f0 00"].map(str::to_owned);
        let bytes = [7, 0, 12, 0xa5, 1, 0x82, 6, 4, 0, 0x82, 3, 0x10, 0, 0, 0xf0, 0];
        assert_eq!(read(&lines, &parameters).expect("reads"), bytes);
        let shown = ["TD 00", "BE* a5", "A1 82", "TR 04", "A0 82", "A3 10", "IE 00", "raw f0 00"];
        assert_eq!(show(&bytes, &parameters), shown);
        assert_eq!(read(&shown.map(str::to_owned), &parameters).expect("reads"), bytes);
        for wrong in ["DE 00", "A4 00", "BE** 00", "BE 0000"] {
            assert!(read(&[wrong.to_owned()], &parameters).is_err(), "{wrong}");
        }
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
