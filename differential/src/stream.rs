//! A stream with everything that a decoder needs for it, and its file.
//!
//! A file begins with lines of TOML, which state protocol, parameters, readings and code. After the line `---` come the
//! bytes of the stream:
//!
//! ```text
//! protocol = "riscv_etrace"
//! readings = []
//!
//! [parameters]
//! iaddress_width_p = 64
//!
//! [[code]]
//! address = "0x80000000"
//! bytes = "13 00 00 00"
//! ---
//! ```

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::notation::{parse_bytes, show_bytes};
use traceproof_vectors::{Address, MemorySpace, Program, ProtocolId, Section};

use crate::JudgedProtocol;

/// A stream and what a decoder must know.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream<P: CaseProtocol> {
    /// Where it comes from.
    pub name: String,
    /// What a decoder must know.
    pub parameters: P::Parameters,
    /// The code.
    pub program: Program,
    /// The named readings on which the results depend.
    pub readings: Vec<String>,
    /// The bytes.
    pub wire: Vec<u8>,
}

/// Ends the lines of TOML.
const BORDER: &[u8] = b"\n---\n";

/// What precedes the bytes of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    protocol: ProtocolId,
    #[serde(default)]
    readings: Vec<String>,
    #[serde(default)]
    parameters: toml::Table,
    #[serde(default)]
    code: Vec<Code>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    address: Address,
    bytes: String,
    #[serde(default, skip_serializing_if = "MemorySpace::is_any")]
    space: MemorySpace,
}

/// Why a file is no stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoStream(String);

impl fmt::Display for NoStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoStream {}

/// Cuts a file into its lines of TOML and the bytes of the stream; `None` without a border.
#[must_use]
pub fn split(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = file.windows(BORDER.len()).position(|window| window == BORDER)? + BORDER.len();
    file.split_at_checked(at)
}

/// The protocol of a file.
///
/// # Errors
///
/// When its first lines are not those of a stream.
pub fn protocol_of(file: &[u8]) -> Result<ProtocolId, NoStream> {
    let (head, _) = split(file).ok_or_else(no_border)?;
    Ok(read_head(head)?.protocol)
}

fn no_border() -> NoStream {
    NoStream(String::from("there is no line `---` that ends the description of the stream"))
}

fn read_head(head: &[u8]) -> Result<Head, NoStream> {
    let text = head.strip_suffix(BORDER).unwrap_or(head);
    let text = std::str::from_utf8(text).map_err(|error| NoStream(error.to_string()))?;
    toml::from_str(text).map_err(|error| NoStream(error.to_string()))
}

impl<P: CaseProtocol> Stream<P> {
    /// The stream of a file; its name is empty.
    ///
    /// # Errors
    ///
    /// When the file is none, or of another protocol.
    pub fn read(file: &[u8]) -> Result<Self, NoStream> {
        let (head, wire) = split(file).ok_or_else(no_border)?;
        Ok(Self { wire: wire.to_vec(), ..Self::read_without_wire(head)? })
    }

    /// The stream without its bytes, from the lines before them.
    ///
    /// # Errors
    ///
    /// As those of [`read`](Self::read).
    pub fn read_without_wire(head: &[u8]) -> Result<Self, NoStream> {
        let Head { protocol, readings, parameters, code } = read_head(head)?;
        if protocol != P::ID {
            return Err(NoStream(format!("a stream of {protocol}, not of {}", P::ID)));
        }
        let parameters = parameters.try_into().map_err(|error| NoStream(format!("parameters: {error}")))?;
        let mut program = Program::new();
        for Code { address, bytes, space } in code {
            let bytes = parse_bytes(&bytes)
                .ok_or_else(|| NoStream(format!("code at {address:#x}: expected pairs of digits")))?;
            program
                .insert(Section::new(address, bytes, "").in_space(space))
                .map_err(|error| NoStream(error.to_string()))?;
        }
        Ok(Self { name: String::new(), parameters, program, readings, wire: Vec::new() })
    }

    /// Its file.
    #[must_use]
    pub fn file(&self) -> Vec<u8> {
        let code = self.program.sections().iter().map(|section| Code {
            address: section.address,
            bytes: show_bytes(&section.bytes),
            space: section.space,
        });
        let head = Head {
            protocol: P::ID,
            readings: self.readings.clone(),
            parameters: self.deviations(),
            code: code.collect(),
        };
        // A table of tables and strings can always be written.
        let text = toml::to_string(&head).unwrap_or_default();
        [text.trim_end().as_bytes(), BORDER, &self.wire].concat()
    }

    /// The parameters that are not the default.
    #[must_use]
    pub fn deviations(&self) -> toml::Table {
        let table = |parameters: &P::Parameters| toml::Table::try_from(parameters).unwrap_or_default();
        let usual = table(&P::Parameters::default());
        let mut table = table(&self.parameters);
        table.retain(|name, value| usual.get(name) != Some(value));
        table
    }
}

impl<P: JudgedProtocol> Stream<P> {
    /// Where its transport units are, as the reference reader finds them; bytes that belong to none are one each.
    #[must_use]
    pub fn units(&self) -> Vec<Range<usize>> {
        let Self { wire, parameters, program, .. } = self;
        let mut units: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        let alone = |range: Range<usize>| range.map(|byte| byte..byte + 1);
        for unit in P::dissect(wire, parameters, program) {
            let end = usize::try_from(unit.bytes.end).unwrap_or(usize::MAX).min(wire.len());
            let start = usize::try_from(unit.bytes.start).unwrap_or(usize::MAX).clamp(at, end.max(at));
            units.extend(alone(at..start));
            if start < end {
                units.push(start..end);
            }
            at = at.max(end);
        }
        units.extend(alone(at..wire.len()));
        units
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::arm_etm::ArmEtm;
    use traceproof_vectors::riscv_etrace::{Parameters, RiscvEtrace};

    use super::*;

    fn stream() -> Stream<RiscvEtrace> {
        let mut program = Program::new();
        let section = Section::new(0x8000_0000_u64, vec![0x13, 0, 0, 0], "");
        program.insert(section).expect("one section");
        let secure = "secure el1".parse().expect("a space");
        let section = Section::new(0x9000_0000_u64, vec![0x73], "").in_space(secure);
        program.insert(section).expect("apart");
        Stream {
            name: String::new(),
            parameters: Parameters { iaddress_width_p: 48, ..Parameters::default() },
            program,
            readings: vec![String::from("a-reading")],
            wire: b"\n---\n\xff\x00".to_vec(),
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let file = stream().file();
        let read = Stream::<RiscvEtrace>::read(&file).expect("a stream");
        assert_eq!((&read.parameters, &read.readings), (&stream().parameters, &stream().readings));
        assert_eq!(read.wire, stream().wire, "the first border counts");
        assert_eq!(read.file(), file);
        let text = String::from_utf8_lossy(&file);
        for part in
            ["protocol = \"riscv_etrace\"", "iaddress_width_p = 48", "0x80000000", "13 00 00 00", "secure"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(protocol_of(&file), Ok(ProtocolId::RiscvEtrace));
        assert!(Stream::<ArmEtm>::read(&file).is_err());
    }

    #[test]
    fn other_files_are_refused() {
        for wrong in [
            &b""[..],
            b"protocol = \"riscv_etrace\"",
            b"protocol = \"riscv\"\n---\n",
            b"protocol = \"riscv_etrace\"\nmore = 1\n---\n",
            b"\xff\n---\n",
            b"protocol = \"riscv_etrace\"\n[parameters]\nlsb = 1\n---\n",
            b"protocol = \"riscv_etrace\"\n[[code]]\naddress = \"0x0\"\nbytes = \"0\"\n---\n",
        ] {
            assert!(Stream::<RiscvEtrace>::read(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
        }
    }
}
