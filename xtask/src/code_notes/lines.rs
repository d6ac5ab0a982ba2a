//! File and line of code by address, from the DWARF line tables of ELF files.

use std::fmt;
use std::path::Path;

use addr2line::gimli;
use object::{CompressionFormat, Object as _, ObjectSection as _};
use traceproof_conformance::visible;
use traceproof_vectors::bounded;

/// Bytes of an ELF file with debug information, and rows of its line tables: more than a Linux kernel has.
const MOST_BYTES: u64 = 1 << 30;
const MOST_ROWS: usize = 1 << 24;

/// The lines of all files.
#[derive(Debug, Default)]
pub(super) struct SourceLines {
    /// Ascending addresses.
    rows: Vec<Row>,
    files: Vec<String>,
}

/// Code of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    first: u64,
    end: u64,
    /// Index of the file.
    file: u32,
    line: u32,
}

/// Why a file has no lines.
#[derive(Debug)]
pub(super) enum LinesError {
    Unreadable(std::io::Error),
    Elf(object::Error),
    Dwarf(gimli::Error),
    Compressed,
}

impl SourceLines {
    /// Adds those of an ELF file.
    pub(super) fn add(&mut self, path: &Path) -> Result<(), LinesError> {
        let bytes = bounded::read(path, MOST_BYTES).map_err(LinesError::Unreadable)?;
        let file = object::File::parse(bytes.as_slice()).map_err(LinesError::Elf)?;
        let order =
            if file.is_little_endian() { gimli::RunTimeEndian::Little } else { gimli::RunTimeEndian::Big };
        let load = |id: gimli::SectionId| {
            let Some(section) = file.section_by_name(id.name()) else {
                return Ok(gimli::EndianSlice::new(&[], order));
            };
            let range = section.compressed_file_range().map_err(LinesError::Elf)?;
            if range.format != CompressionFormat::None {
                return Err(LinesError::Compressed);
            }
            section.data().map(|data| gimli::EndianSlice::new(data, order)).map_err(LinesError::Elf)
        };
        let dwarf = gimli::Dwarf::load(load)?;
        let context = addr2line::Context::from_dwarf(dwarf).map_err(LinesError::Dwarf)?;
        let found = context.find_location_range(0, u64::MAX).map_err(LinesError::Dwarf)?;
        for (first, length, location) in found {
            let (Some(name), Some(line), Some(end)) =
                (location.file, location.line, first.checked_add(length))
            else {
                continue;
            };
            if self.rows.len() >= MOST_ROWS {
                break;
            }
            // Rows of one file follow each other.
            if self.files.last().is_none_or(|last| last != name) {
                self.files.push(name.to_owned());
            }
            let file = u32::try_from(self.files.len()).unwrap_or(u32::MAX).saturating_sub(1);
            self.rows.push(Row { first, end, file, line });
        }
        self.rows.sort_unstable();
        Ok(())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// `file:line` of the code at an address.
    pub(super) fn find(&self, address: u64) -> Option<String> {
        let after = self.rows.partition_point(|row| row.first <= address);
        let row = self.rows.get(after.checked_sub(1)?).filter(|row| address < row.end)?;
        let file = self.files.get(usize::try_from(row.file).ok()?)?;
        Some(format!("{}:{}", visible::line(file), row.line))
    }
}

impl fmt::Display for LinesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::Elf(error) => write!(f, "damaged ELF file: {error}"),
            Self::Dwarf(error) => write!(f, "damaged debug information: {error}"),
            Self::Compressed => f.write_str(
                "its debug information is compressed, which is not read: objcopy --decompress-debug-sections",
            ),
        }
    }
}
