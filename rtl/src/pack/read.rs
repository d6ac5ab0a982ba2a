//! Reading a pack, with everything about it checked.

use std::collections::BTreeMap;
use std::path::Path;

use traceproof_encoder_model::riscv_etrace::write_payload;
use traceproof_vectors::riscv_etrace::{Modes, Packet, ReportedAddress};
use traceproof_vectors::{Program, Section, bounded};

use super::manifest::{CaseEntry, ExpectLine, FORMAT, Manifest, VERSION};
use super::{digest, forms};
use crate::device::modes_after;
use crate::monitor::hex;
use crate::{Checksum, Device, Op, Problem, Row};

/// A pack in memory.
#[derive(Clone, Debug)]
pub struct Pack {
    /// Its manifest.
    pub manifest: Manifest,
    /// The device.
    pub device: Device,
    /// The cases.
    pub cases: Vec<PackCase>,
}

/// A case of a pack in memory.
#[derive(Clone, Debug)]
pub struct PackCase {
    /// Its entry in the manifest.
    pub entry: CaseEntry,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Its program.
    pub program: Program,
    /// Its packets.
    pub expected: Vec<ExpectLine>,
}

/// Reads a pack and checks it: digests, rows and their checksum, expected packets, programs.
///
/// # Errors
///
/// The first thing that is wrong, with file, line and column.
pub fn read(directory: &Path) -> Result<Pack, Problem> {
    let files = Files { directory };
    let text = files.text("manifest.json")?;
    let manifest: Manifest = serde_json::from_str(&text).map_err(|error| {
        Problem::at(files.name("manifest.json"), error.line(), error.column(), error.to_string())
    })?;
    let wrong = |message: String| Err(Problem::whole(files.name("manifest.json"), message));
    if manifest.format != FORMAT || manifest.version != VERSION {
        return wrong(format!(
            "format `{}` version {} is not {FORMAT} {VERSION}",
            manifest.format, manifest.version
        ));
    }
    if !(1..=8).contains(&manifest.blocks) {
        return wrong(format!("{} blocks are not 1 to 8", manifest.blocks));
    }
    let of_cases =
        manifest.cases.iter().flat_map(|case| ["expect", "image"].map(|form| format!("{}.{form}", case.id)));
    let needed = ["pack.memh", "dut.toml"].map(String::from).into_iter().chain(of_cases).collect();
    files.check_digests(&manifest.files, needed)?;
    let device = Device::parse(&files.name("dut.toml"), &files.text("dut.toml")?)?;
    let rows = files.rows(&manifest)?;
    let mut cases = Vec::with_capacity(manifest.cases.len());
    let mut next = 0;
    for (number, entry) in (0..).zip(&manifest.cases) {
        let (first, count) = (entry.first_row as usize, entry.rows as usize);
        let rows = rows.get(first..first.saturating_add(count)).unwrap_or_default();
        if entry.number != number || first != next || !forms::is_case(rows, number) {
            return wrong(format!("the rows of case {} are not those of a case", entry.id));
        }
        next = first + count;
        cases.push(files.case(entry, rows, &device)?);
    }
    if next + 1 != rows.len() || rows.last().is_none_or(|row| row.op != Op::End) {
        return wrong(String::from("an end row must follow the rows of the last case"));
    }
    Ok(Pack { manifest, device, cases })
}

/// The files of a pack.
pub(crate) struct Files<'a> {
    /// Its directory.
    pub(crate) directory: &'a Path,
}

impl Files<'_> {
    /// Where a file is, for messages.
    pub(crate) fn name(&self, file: &str) -> String {
        self.directory.join(file).display().to_string()
    }

    pub(crate) fn text(&self, file: &str) -> Result<String, Problem> {
        let limit = if file == "dut.toml" { bounded::TEXT } else { bounded::LISTING };
        bounded::read_to_string(&self.directory.join(file), limit)
            .map_err(|error| Problem::whole(self.name(file), error.to_string()))
    }

    /// Every file of the manifest is there and unchanged, and the manifest has those that are needed.
    pub(crate) fn check_digests(
        &self,
        digests: &BTreeMap<String, String>,
        needed: Vec<String>,
    ) -> Result<(), Problem> {
        for (file, expected) in digests {
            if file.contains(['/', '\\']) || file.starts_with('.') {
                return Err(Problem::whole(
                    self.name("manifest.json"),
                    format!("`{file}` is no name of a file"),
                ));
            }
            let bytes = bounded::read(&self.directory.join(file), bounded::LISTING)
                .map_err(|error| Problem::whole(self.name(file), error.to_string()))?;
            if !digest(&bytes).eq_ignore_ascii_case(expected) {
                return Err(Problem::whole(self.name(file), "the file was changed: its digest is another"));
            }
        }
        match needed.into_iter().find(|file| !digests.contains_key(file)) {
            Some(file) => Err(Problem::whole(self.name("manifest.json"), format!("`files` lacks `{file}`"))),
            None => Ok(()),
        }
    }

    fn rows(&self, manifest: &Manifest) -> Result<Vec<Row>, Problem> {
        let file = "pack.memh";
        let text = self.text(file)?;
        let mut rows = Vec::new();
        let mut checksum = Checksum::default();
        for (index, line) in text.lines().enumerate() {
            let at = |(column, message)| Problem::at(self.name(file), index + 1, column, message);
            let row = Row::parse(line, manifest.blocks).map_err(at)?;
            if row.number as usize != index {
                return Err(at((1, format!("row {index} has the number {}", row.number))));
            }
            checksum.add(&row);
            rows.push(row);
        }
        if rows.len() as u64 != manifest.rows || format!("{:08x}", checksum.value()) != manifest.checksum {
            return Err(Problem::whole(self.name(file), "rows and checksum are not those of the manifest"));
        }
        Ok(rows)
    }

    fn case(&self, entry: &CaseEntry, rows: &[Row], device: &Device) -> Result<PackCase, Problem> {
        let file = format!("{}.expect", entry.id);
        let text = self.text(&file)?;
        let mut expected = Vec::new();
        let mut modes = device.parameters.modes;
        for (index, line) in text.lines().enumerate() {
            let at = |column, message: String| Problem::at(self.name(&file), index + 1, column, message);
            let line: ExpectLine =
                serde_json::from_str(line).map_err(|error| at(error.column(), error.to_string()))?;
            check_line(&line, entry, device, &mut modes).map_err(|message| at(1, message))?;
            expected.push(line);
        }
        if expected.len() != entry.packets {
            return Err(Problem::whole(
                self.name(&file),
                format!("{} packets are not {}", expected.len(), entry.packets),
            ));
        }
        let file = format!("{}.image", entry.id);
        let program = image(&self.text(&file)?)
            .map_err(|(line, message)| Problem::at(self.name(&file), line, 1, message))?;
        Ok(PackCase { entry: entry.clone(), rows: rows.to_vec(), program, expected })
    }
}

/// Bytes and fields of a line are the same packet, and its row is one of the case.
fn check_line(
    line: &ExpectLine,
    entry: &CaseEntry,
    device: &Device,
    modes: &mut Modes,
) -> Result<(), String> {
    let rows = entry.first_row..entry.first_row.saturating_add(entry.rows);
    let bytes = hex(&line.bytes).ok_or("`bytes` must be hexadecimal")?;
    let mask = hex(&line.mask).ok_or("`mask` must be hexadecimal")?;
    if !rows.contains(&line.row) {
        return Err(format!("row {} is not one of the case", line.row));
    }
    if mask.len() != bytes.len() {
        return Err(String::from("`mask` must be as long as `bytes`"));
    }
    let parameters = device.payload_parameters();
    *modes = modes_after(&parameters, *modes, &line.packet);
    let full_address = matches!(
        line.packet,
        Packet::Address { address: ReportedAddress::Full(_), .. }
            | Packet::Branch { address: Some(ReportedAddress::Full(_)), .. }
            | Packet::BranchCount { address: Some(ReportedAddress::Full(_)), .. }
    );
    let modes = Modes { full_address, ..*modes };
    match write_payload(&line.packet, &parameters, modes, device.policy.compression) {
        Ok(written) if written == bytes => Ok(()),
        Ok(_) => Err(String::from("`bytes` and `packet` differ")),
        Err(error) => Err(format!("`packet`: {error}")),
    }
}

/// Reads the form of `objcopy -O verilog`.
///
/// # Errors
///
/// The line, and what is wrong with it.
pub fn image(text: &str) -> Result<Program, (usize, String)> {
    let mut program = Program::new();
    let mut section: Option<(u64, Vec<u8>)> = None;
    let insert = |program: &mut Program, section: Option<(u64, Vec<u8>)>, line| match section {
        Some((address, bytes)) => {
            program.insert(Section::new(address, bytes, "image")).map_err(|error| (line, error.to_string()))
        }
        None => Ok(()),
    };
    let mut count = 0;
    for (line, text) in (1..).zip(text.lines()) {
        count = line;
        if let Some(address) = text.strip_prefix('@') {
            insert(&mut program, section.take(), line)?;
            let address = u64::from_str_radix(address, 16).map_err(|error| (line, error.to_string()))?;
            section = Some((address, Vec::new()));
        } else {
            let Some((_, bytes)) = &mut section else {
                return Err((line, String::from("an address `@…` must come first")));
            };
            for word in text.split_whitespace() {
                let byte = u8::from_str_radix(word, 16).map_err(|error| (line, error.to_string()))?;
                bytes.push(byte);
            }
        }
    }
    insert(&mut program, section, count)?;
    Ok(program)
}
