//! Writing a pack.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use traceproof_vectors::Program;

use super::manifest::{BinCounts, CaseEntry, FORMAT, LeftOut, Manifest, VERSION};
use super::{digest, forms};
use crate::generate::{Generated, GeneratedCase, Size, generate, recorded};
use crate::{Checksum, Device, Op, Problem, Row};

/// Generates the pack of a device and writes it into a directory that is empty or does not exist. `text` is the
/// description as it was read.
///
/// # Errors
///
/// When the directory has files, cannot be written, or the device cannot be modelled.
pub fn write(
    directory: &Path,
    device: &Device,
    text: &str,
    size: Size,
    seed: u64,
) -> Result<Manifest, Problem> {
    prepare(directory)?;
    let generated = generate(device, size, seed).map_err(|message| Problem::whole("dut.toml", message))?;
    write_cases(directory, device, text, generated, (size.name(), seed))
}

/// Writes a pack of one case: rows that a simulation wrote down, and the program that it executed.
///
/// # Errors
///
/// As [`write()`].
pub fn write_recorded(
    directory: &Path,
    device: &Device,
    text: &str,
    rows: Vec<Row>,
    program: Program,
) -> Result<Manifest, Problem> {
    prepare(directory)?;
    let generated = recorded(device, rows, program).map_err(|message| Problem::whole("dut.toml", message))?;
    write_cases(directory, device, text, generated, (RECORDED, 0))
}

/// What `size` and `origin` are where a simulation wrote the rows down.
const RECORDED: &str = "recorded";

/// A directory that is empty, made if it does not exist.
pub(crate) fn prepare(directory: &Path) -> Result<(), Problem> {
    let name = directory.display().to_string();
    let io = |error: std::io::Error| Problem::whole(&name, error.to_string());
    fs::create_dir_all(directory).map_err(io)?;
    if fs::read_dir(directory).map_err(io)?.next().is_some() {
        return Err(Problem::whole(name, "the directory must be empty"));
    }
    Ok(())
}

/// `origin`: the size and the seed.
fn write_cases(
    directory: &Path,
    device: &Device,
    text: &str,
    generated: Generated,
    origin: (&'static str, u64),
) -> Result<Manifest, Problem> {
    let io = |error: std::io::Error| Problem::whole(directory.display().to_string(), error.to_string());
    let mut writer = Writer {
        directory,
        device,
        size: origin.0,
        files: BTreeMap::new(),
        rows: 0,
        memh: String::new(),
        checksum: Checksum::default(),
    };
    let mut cases = Vec::with_capacity(generated.cases.len());
    for (number, case) in (0..).zip(&generated.cases) {
        cases.push(writer.case(number, case).map_err(io)?);
    }
    writer.file("dut.toml", text).map_err(io)?;
    writer.finish(generated, cases, origin.1).map_err(io)
}

struct Writer<'a> {
    directory: &'a Path,
    device: &'a Device,
    size: &'static str,
    files: BTreeMap<String, String>,
    rows: usize,
    memh: String,
    checksum: Checksum,
}

impl Writer<'_> {
    fn file(&mut self, name: &str, text: &str) -> std::io::Result<()> {
        fs::write(self.directory.join(name), text)?;
        self.files.insert(name.to_owned(), digest(text.as_bytes()));
        Ok(())
    }

    fn row(&mut self, row: &Row) {
        self.checksum.add(row);
        self.memh.push_str(&row.text());
        self.memh.push('\n');
        self.rows += 1;
    }

    fn case(&mut self, number: u32, case: &GeneratedCase) -> std::io::Result<CaseEntry> {
        let first = self.rows;
        let mut rows = case.rows.clone();
        if let Some(row) = rows.first_mut() {
            row.cause = number.into();
        }
        for row in &mut rows {
            row.number = u32::try_from(self.rows).unwrap_or(u32::MAX);
            self.row(row);
        }
        let (blocks, id) = (self.device.blocks(), &case.id);
        let lines = forms::expect(self.device, &case.packets, &case.ruling, first);
        let clauses: BTreeSet<String> = lines.iter().flat_map(|line| line.clauses.clone()).collect();
        let text: Vec<String> = lines.iter().filter_map(|line| serde_json::to_string(line).ok()).collect();
        self.file(&format!("{id}.stim"), &forms::stim(&rows, blocks))?;
        self.file(&format!("{id}.expect"), &(text.join("\n") + "\n"))?;
        self.file(&format!("{id}.image"), &forms::image(&case.program))?;
        if self.size == Size::Smoke.name() {
            self.file(&format!("{id}.csv"), &forms::csv(&rows, blocks))?;
            self.file(&format!("{id}.vcd"), &forms::vcd(&rows, blocks))?;
        }
        Ok(CaseEntry {
            number,
            id: case.id.clone(),
            origin: String::from(match self.size {
                RECORDED => RECORDED,
                _ if case.directed => "directed",
                _ => "generated",
            }),
            variant_of: case.variant.as_ref().map(|(of, _)| of.clone()),
            relation: case.variant.as_ref().map(|(_, relation)| *relation),
            first_row: u32::try_from(first).unwrap_or(u32::MAX),
            rows: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            packets: case.packets.len(),
            filters: case.filters.clone(),
            clauses: clauses.into_iter().collect(),
        })
    }

    fn finish(mut self, generated: Generated, cases: Vec<CaseEntry>, seed: u64) -> std::io::Result<Manifest> {
        let mut end = Row::order(Op::End, 0, 0, self.device.blocks());
        end.number = u32::try_from(self.rows).unwrap_or(u32::MAX);
        self.row(&end);
        let memh = std::mem::take(&mut self.memh);
        self.file("pack.memh", &memh)?;
        self.file("pack.vh", &forms::header(self.device, self.rows))?;
        let bins = serde_json::to_string_pretty(&generated.bins).map_err(std::io::Error::other)?;
        self.file("bins.json", &(bins + "\n"))?;
        let (hit, missed, unreachable) = generated.bins.counts();
        let manifest = Manifest {
            format: String::from(FORMAT),
            version: VERSION,
            protocol: String::from("riscv_etrace"),
            device: self.device.name.clone(),
            seed,
            size: self.size.to_owned(),
            rows: self.rows as u64,
            blocks: self.device.blocks(),
            words: Row::words(self.device.blocks()),
            checksum: format!("{:08x}", self.checksum.value()),
            parameters: self.device.parameters.clone(),
            policy: self.device.policy.clone(),
            cases,
            left_out: generated.left_out.into_iter().map(|(id, reason)| LeftOut { id, reason }).collect(),
            bins: BinCounts { hit, missed, unreachable },
            files: self.files,
        };
        let text = serde_json::to_string_pretty(&manifest).map_err(std::io::Error::other)?;
        fs::write(self.directory.join("manifest.json"), text + "\n")?;
        Ok(manifest)
    }
}
