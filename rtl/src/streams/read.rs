//! Reading a pack of streams, with everything about it checked.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::manifest::{FORMAT, Rows, StreamEntry, StreamManifest, VERSION};
use super::{Sheet, Step};
use crate::Problem;
use crate::pack::Files;

/// A pack of streams in memory.
#[derive(Clone, Debug)]
pub struct StreamPack {
    /// Its manifest.
    pub manifest: StreamManifest,
    /// What is expected, in JSON Lines, by the id of the case.
    pub expected: BTreeMap<String, String>,
}

/// Reads a pack and checks it: digests, rows and their checksums, streams, expectations.
///
/// # Errors
///
/// The first thing that is wrong, with file, line and column.
pub fn read(directory: &Path) -> Result<StreamPack, Problem> {
    let files = Files { directory };
    let text = files.text("manifest.json")?;
    let manifest: StreamManifest = serde_json::from_str(&text).map_err(|error| {
        Problem::at(files.name("manifest.json"), error.line(), error.column(), error.to_string())
    })?;
    let wrong = |message: String| Problem::whole(files.name("manifest.json"), message);
    if manifest.format != FORMAT || manifest.version != VERSION {
        let StreamManifest { format, version, .. } = &manifest;
        return Err(wrong(format!("format `{format}` version {version} is not {FORMAT} {VERSION}")));
    }
    files.check_digests(&manifest.files, needed(&manifest))?;
    for (number, entry) in (0..).zip(&manifest.cases) {
        if entry.number != number {
            return Err(wrong(format!("case {} has the number {}, not {number}", entry.id, entry.number)));
        }
        if entry.parameters >= manifest.parameters.len()
            || entry.policy.is_some_and(|policy| policy >= manifest.policies.len())
        {
            return Err(wrong(format!("case {} has parameters or a policy that are not there", entry.id)));
        }
    }
    check_bytes(&files, &manifest)?;
    check_stimulus(&files, &manifest)?;
    let mut expected = BTreeMap::new();
    for entry in &manifest.cases {
        let file = format!("{}.expect", entry.id);
        let text = files.text(&file)?;
        check_expected(entry, &text)
            .map_err(|(line, message)| Problem::at(files.name(&file), line, 1, message))?;
        expected.insert(entry.id.clone(), text);
    }
    Ok(StreamPack { manifest, expected })
}

/// The files that there must be.
fn needed(manifest: &StreamManifest) -> Vec<String> {
    let mut needed = vec![String::from("bytes.memh"), String::from("streams.vh")];
    needed.extend(manifest.stimulus.as_ref().map(|_| String::from("stimulus.memh")));
    for entry in &manifest.cases {
        let driven = entry.steps.is_some();
        let forms =
            [("bytes", true), ("expect", true), ("stim", driven), ("sent", driven), ("image", entry.code)];
        let forms = forms.into_iter().filter(|(_, there)| *there);
        needed.extend(forms.map(|(form, _)| format!("{}.{form}", entry.id)));
    }
    needed
}

/// `bytes.memh` must be what the streams of the cases make.
fn check_bytes(files: &Files<'_>, manifest: &StreamManifest) -> Result<(), Problem> {
    let mut sheet = Sheet::default();
    for entry in &manifest.cases {
        let file = format!("{}.bytes", entry.id);
        let text = files.text(&file)?;
        sheet.row(Step::Case, entry.number, "");
        for (line, text) in (1..).zip(text.lines()) {
            let byte =
                Some(text).filter(|text| text.len() == 2).and_then(|text| u8::from_str_radix(text, 16).ok());
            let message = "expected a byte as two hexadecimal digits";
            let byte = byte.ok_or_else(|| Problem::at(files.name(&file), line, 1, message))?;
            sheet.row(Step::Step, byte.into(), "");
        }
        sheet.row(Step::Finish, 0, "");
        if text.lines().count() != entry.bytes {
            let message = format!("{} bytes are not {}", text.lines().count(), entry.bytes);
            return Err(Problem::whole(files.name(&file), message));
        }
    }
    sheet.row(Step::End, 0, "");
    same(files, "bytes.memh", &sheet, &manifest.bytes)
}

/// `stimulus.memh` must be the rows of the cases, in order.
fn check_stimulus(files: &Files<'_>, manifest: &StreamManifest) -> Result<(), Problem> {
    let Some(rows) = &manifest.stimulus else { return Ok(()) };
    if let Some(column) = manifest.columns.iter().find(|column| !(1..=16).contains(&column.digits)) {
        let message = format!("column {} has {} digits, not 1 to 16", column.name, column.digits);
        return Err(Problem::whole(files.name("manifest.json"), message));
    }
    let digits: usize = manifest.columns.iter().map(|column| column.digits).sum();
    if rows.words != 2 + digits.div_ceil(8) {
        let message = format!("{digits} digits of columns do not fill {} words", rows.words);
        return Err(Problem::whole(files.name("manifest.json"), message));
    }
    let mut sheet = Sheet::default();
    for entry in &manifest.cases {
        let Some(steps) = entry.steps else { continue };
        let file = format!("{}.stim", entry.id);
        let text = files.text(&file)?;
        let lines: Vec<&str> = text.lines().skip(1).collect();
        for (index, line) in lines.iter().enumerate() {
            let at = |message: &str| Problem::at(files.name(&file), index + 2, 1, message);
            let (step, argument) = match index {
                0 => (Step::Case, entry.number),
                index if index + 1 == lines.len() => (Step::Finish, 0),
                _ => (Step::Step, 0),
            };
            // Number, order and argument are the first 18 characters.
            let rest = line.get(18..).ok_or_else(|| at("the row is too short"))?;
            sheet.row(step, argument, rest);
            if !sheet.text.trim_end().ends_with(line) {
                return Err(at("number, order or argument of the row is another one"));
            }
        }
        if steps.checked_add(2) != Some(lines.len()) {
            let message = format!("{} rows are not those of {steps} steps", lines.len());
            return Err(Problem::whole(files.name(&file), message));
        }
    }
    let text = files.text("stimulus.memh")?;
    let last = text.lines().last().and_then(|line| line.get(18..)).unwrap_or_default();
    sheet.row(Step::End, 0, last);
    same(files, "stimulus.memh", &sheet, rows)
}

fn same(files: &Files<'_>, file: &str, sheet: &Sheet, rows: &Rows) -> Result<(), Problem> {
    if files.text(file)? != sheet.text {
        return Err(Problem::whole(files.name(file), "it does not have the rows of the cases"));
    }
    if sheet.rows(rows.words) != *rows {
        return Err(Problem::whole(files.name(file), "rows and checksum are not those of the manifest"));
    }
    Ok(())
}

/// One result in every line, and as many as the manifest says.
fn check_expected(entry: &StreamEntry, text: &str) -> Result<(), (usize, String)> {
    let (mut packets, mut events) = (0, 0);
    for (number, line) in (1..).zip(text.lines()) {
        let value: Value = serde_json::from_str(line).map_err(|error| (number, error.to_string()))?;
        let has = |name: &str| value.get(name).is_some();
        match (has("packet"), has("event"), has("fault")) {
            (true, false, false) => packets += 1,
            (false, true, false) | (false, false, true) => events += 1,
            _ => return Err((number, String::from("expected a packet, an event or a fault"))),
        }
    }
    if packets != entry.packets.unwrap_or(0) || events != entry.events.unwrap_or(0) {
        return Err((0, format!("{packets} packets and {events} events are not those of the manifest")));
    }
    Ok(())
}
