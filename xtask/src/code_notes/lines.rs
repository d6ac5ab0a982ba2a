//! File and line of code by address, from the DWARF line tables of ELF files.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;

use addr2line::gimli;
use gimli::{Reader as _, Section as _};
use object::{CompressionFormat, Object as _, ObjectSection as _};
use traceproof_conformance::visible;
use traceproof_vectors::bounded;

/// Bytes of an ELF file with debug information: more than a Linux kernel has.
const MOST_BYTES: u64 = 1 << 30;

/// Rows of line tables, and bytes of the names of their files.
const MOST_ROWS: usize = 1 << 22;
const MOST_NAMES: usize = 16 << 20;

/// Bytes of abbreviations, line programs and names that are read of one file, counted again for each unit that refers
/// to them; and what a unit costs besides.
const MOST_WORK: usize = 256 << 20;
const UNIT: usize = 256;

/// Bytes of the abbreviations, of the header of the line program, and of the program of one unit, which can name files:
/// what they say is kept while it is read.
const MOST_KEPT: usize = 1 << 20;
const MOST_PROGRAM: usize = 8 << 20;

type Slice<'a> = gimli::EndianSlice<'a, gimli::RunTimeEndian>;
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;

/// The lines of all files.
#[derive(Debug, Default)]
pub(super) struct SourceLines {
    /// Ascending addresses.
    rows: Vec<Row>,
    files: Vec<String>,
    /// Where names are in `files`.
    indices: HashMap<String, u32>,
    name_bytes: usize,
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
            let mut data = section.data().map_err(LinesError::Elf)?;
            if matches!(id, gimli::SectionId::DebugStr | gimli::SectionId::DebugLineStr) {
                // No search for the end of a string fails, so that its length says what it cost.
                data = &data[..data.iter().rposition(|byte| *byte == 0).map_or(0, |last| last + 1)];
            }
            Ok(gimli::EndianSlice::new(data, order))
        };
        let dwarf = gimli::Dwarf::load(load)?;
        let (mut programs, mut left) = (HashSet::new(), MOST_WORK);
        let mut units = dwarf.units();
        while let Some(header) = units.next().map_err(LinesError::Dwarf)? {
            // What is damaged in a unit leaves its other lines, and other units, as they are.
            let _ = self.add_unit(&dwarf, header, &mut programs, &mut left);
            if left == 0 || self.rows.len() >= MOST_ROWS {
                break;
            }
        }
        self.rows.sort_unstable();
        Ok(())
    }

    /// Adds those of a unit, whose line program is none of those that were read, and takes what that costs.
    fn add_unit<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        header: gimli::UnitHeader<Slice<'a>>,
        programs: &mut HashSet<usize>,
        left: &mut usize,
    ) -> Result<(), gimli::Error> {
        let mut table = *dwarf.debug_abbrev.reader();
        table.skip(header.debug_abbrev_offset().0)?;
        table.truncate(table.len().min(MOST_KEPT))?;
        let before = table.len();
        let skipped = skip_abbreviations(&mut table);
        *left = left.saturating_sub(UNIT + before - table.len());
        skipped?;
        let abbreviations = dwarf.abbreviations(&header)?;
        let Some(offset) = line_program(&header, &abbreviations)?.filter(|offset| programs.insert(*offset))
        else {
            return Ok(());
        };
        let mut program = *dwarf.debug_line.reader();
        program.skip(offset)?;
        let (length, header_length) = lengths(program)?;
        *left = left.saturating_sub(length);
        if *left == 0 || header_length > MOST_KEPT || length > MOST_PROGRAM {
            return Ok(());
        }
        let mut unit = gimli::Unit::new_with_abbreviations(dwarf, header, abbreviations)?;
        for name in [unit.name, unit.comp_dir].into_iter().flatten() {
            *left = left.saturating_sub(name.len());
        }
        let Some(program) = unit.line_program.take() else { return Ok(()) };
        let mut rows = program.rows();
        let mut known: HashMap<u64, Option<u32>> = HashMap::new();
        let mut open: Option<Row> = None;
        while let Some((header, row)) = rows.next_row()? {
            // Of rows at one address the last one counts.
            if let Some(before) = open.take().filter(|before| before.first < row.address()) {
                self.rows.push(Row { end: row.address(), ..before });
            }
            if self.rows.len() >= MOST_ROWS || *left == 0 {
                break;
            }
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            let Some(line) = line.filter(|_| !row.end_sequence()) else { continue };
            let file = *known.entry(row.file_index()).or_insert_with(|| {
                let name =
                    header.file(row.file_index()).and_then(|file| path_of(dwarf, &unit, header, file, left));
                name.and_then(|name| self.index_of(name))
            });
            let first = row.address();
            open = file.map(|file| Row { first, end: first, file, line });
        }
        Ok(())
    }

    /// The index of a file, unless there are too many names.
    fn index_of(&mut self, name: String) -> Option<u32> {
        if let Some(index) = self.indices.get(&name) {
            return Some(*index);
        }
        let bytes = self.name_bytes + name.len();
        let index = u32::try_from(self.files.len()).ok().filter(|_| bytes <= MOST_NAMES)?;
        self.name_bytes = bytes;
        self.indices.insert(name.clone(), index);
        self.files.push(name);
        Some(index)
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

/// Skips the abbreviations of a unit.
fn skip_abbreviations(table: &mut Slice<'_>) -> Result<(), gimli::Error> {
    while table.read_uleb128()? != 0 {
        table.read_uleb128()?;
        table.read_u8()?;
        loop {
            let (name, form) = (table.read_uleb128()?, table.read_uleb128()?);
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                table.read_sleb128()?;
            }
            if (name, form) == (0, 0) {
                break;
            }
        }
    }
    Ok(())
}

/// Where the line program of a unit is, if it is one of code.
fn line_program(
    header: &gimli::UnitHeader<Slice<'_>>,
    abbreviations: &gimli::Abbreviations,
) -> Result<Option<usize>, gimli::Error> {
    let mut entries = header.entries(abbreviations);
    let root = entries.next_dfs()?;
    let root =
        root.filter(|root| matches!(root.tag(), gimli::DW_TAG_compile_unit | gimli::DW_TAG_skeleton_unit));
    Ok(root.and_then(|root| match root.attr_value(gimli::DW_AT_stmt_list)? {
        gimli::AttributeValue::DebugLineRef(offset) => Some(offset.0),
        _ => None,
    }))
}

/// The length of a line program, and of its header.
fn lengths(mut program: Slice<'_>) -> Result<(usize, usize), gimli::Error> {
    let (length, format) = program.read_initial_length()?;
    if program.read_u16()? >= 5 {
        program.skip(2)?;
    }
    Ok((length, program.read_length(format)?))
}

/// The name of a file with its directories; nothing when it is too long.
fn path_of<'a>(
    dwarf: &Dwarf<'a>,
    unit: &gimli::Unit<Slice<'a>>,
    header: &gimli::LineProgramHeader<Slice<'a>>,
    file: &gimli::FileEntry<Slice<'a>>,
    left: &mut usize,
) -> Option<String> {
    let text = |value| dwarf.attr_string(unit, value).ok();
    // Directory 0 is that of the unit.
    let directory = match file.directory_index() {
        0 => None,
        _ => file.directory(header).map(text),
    };
    let parts = [unit.comp_dir, directory.flatten(), text(file.path_name())];
    let length: usize = parts.iter().flatten().map(|part| part.len() + 1).sum();
    *left = left.saturating_sub(length);
    if length > MOST_NAMES {
        return None;
    }
    let mut path = String::new();
    for part in parts.into_iter().flatten() {
        push(&mut path, &part.to_string_lossy());
    }
    Some(path)
}

/// Adds a part to a path, also to one of Windows; an absolute one replaces it.
fn push(path: &mut String, part: &str) {
    let of_windows = |path: &str| path.starts_with('\\') || path.get(1..3) == Some(":\\");
    if part.starts_with('/') || part.get(1..3) == Some(":/") || of_windows(part) {
        path.clear();
    }
    let separator = if of_windows(path.as_str()) { '\\' } else { '/' };
    if !path.is_empty() && !path.ends_with(separator) {
        path.push(separator);
    }
    path.push_str(part);
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// An ELF file of sections only, written by hand from the gABI's tables.
    fn elf(sections: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let (mut names, mut body, mut headers) = (vec![0_u8], Vec::new(), vec![0_u8; 64]);
        let mut all = sections.to_vec();
        all.push((".shstrtab", Vec::new()));
        for (name, mut content) in all {
            let name_at = u32::try_from(names.len()).expect("short");
            names.extend(name.as_bytes());
            names.push(0);
            let kind: u32 = if name == ".shstrtab" { 3 } else { 1 };
            if kind == 3 {
                content.clone_from(&names);
            }
            headers.extend([name_at, kind].map(u32::to_le_bytes).concat());
            let (offset, size) = (64 + body.len() as u64, content.len() as u64);
            headers.extend([0, 0, offset, size, 0, 1, 0].map(u64::to_le_bytes).concat());
            body.extend(content);
        }
        let count = u16::try_from(headers.len() / 64).expect("few");
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0\x01\0\0\0".to_vec();
        file.extend([0, 0, 64 + body.len() as u64].map(u64::to_le_bytes).concat());
        file.extend([0; 4]);
        file.extend([64, 56, 0, 64, count, count - 1].map(u16::to_le_bytes).concat());
        file.extend(body);
        file.extend(headers);
        file
    }

    /// A unit of DWARF 4 in directory `/d`, with the line program at an offset.
    fn unit(program: u32) -> Vec<u8> {
        let mut unit = vec![4_u8, 0, 0, 0, 0, 0, 8, 1];
        unit.extend(program.to_le_bytes());
        unit.extend(b"/d\0");
        [u32::try_from(unit.len()).expect("short").to_le_bytes().to_vec(), unit].concat()
    }

    /// A line program of DWARF 4 over two files, from address 0x1000; 0x21 is a row 4 bytes and 1 line further.
    fn program(opcodes: &[u8]) -> Vec<u8> {
        let mut header = vec![4_u8, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0];
        header.extend(b"a.c\0\0\0\0/b.c\0\0\0\0\0");
        let mut program = vec![4_u8, 0];
        program.extend(u32::try_from(header.len()).expect("short").to_le_bytes());
        program.extend(header);
        program.extend(b"\0\x09\x02\0\x10\0\0\0\0\0\0");
        program.extend(opcodes);
        program.extend(b"\0\x01\x01");
        [u32::try_from(program.len()).expect("short").to_le_bytes().to_vec(), program].concat()
    }

    fn lines(units: Vec<u8>, programs: Vec<u8>) -> SourceLines {
        // One abbreviation: a unit with DW_AT_stmt_list and DW_AT_comp_dir.
        let abbreviations = vec![1, 0x11, 0, 0x10, 0x17, 0x1b, 8, 0, 0, 0];
        let file = tempfile::NamedTempFile::new().expect("a file");
        let sections = [(".debug_abbrev", abbreviations), (".debug_info", units), (".debug_line", programs)];
        fs::write(file.path(), elf(&sections)).expect("written");
        let mut lines = SourceLines::default();
        lines.add(file.path()).expect("lines");
        lines
    }

    #[test]
    fn rows_last_until_the_next_one_and_names_are_kept_once() {
        let lines = lines(unit(0), program(&b"\x21\x04\x02\x21\x04\x01".repeat(3)));
        assert_eq!(lines.files, ["/d/a.c", "/b.c"]);
        // The first row of a file comes after the first four bytes, and the last one has no code.
        let expected = [None, Some("/d/a.c:2"), Some("/b.c:3"), Some("/d/a.c:4"), Some("/b.c:5")];
        for (address, expected) in (0x1000..).step_by(4).zip(expected) {
            assert_eq!(lines.find(address).as_deref(), expected, "{address:#x}");
        }
        assert_eq!((lines.rows.len(), lines.find(0x1018)), (5, None));
    }

    #[test]
    fn a_line_program_is_read_once_and_all_of_them_up_to_a_limit() {
        let shared = lines(unit(0).repeat(10_000), program(&[0x21; 1000]));
        assert_eq!(shared.rows.len(), 999);
        // Too long for one unit; the next one is read.
        let long = program(&vec![6; MOST_PROGRAM]);
        let next = u32::try_from(long.len()).expect("short");
        let both = lines([unit(0), unit(next)].concat(), [long, program(&[0x21; 3])].concat());
        assert_eq!(both.rows.len(), 2);
    }
}
