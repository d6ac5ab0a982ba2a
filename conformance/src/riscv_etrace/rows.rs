//! Files of executions: one record per instruction or trap, read as a stream.

use std::io::{self, BufRead};

use crate::family::ExecutionError;

/// The longest line that is read; longer ones are an error, not an allocation.
const LINE_LIMIT: usize = 4096;

/// One record of a retirement log with the columns that RISC-V trace tools use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CsvRow {
    /// Line in the file, from 1.
    pub number: u64,
    /// Address of the instruction; of a trap, the exception program counter.
    pub address: u64,
    /// The instruction's encoding, 0 where the file does not have it.
    pub instruction: u64,
    /// Privilege level; of a trap, the level before it.
    pub privilege: u8,
    /// A trap was taken.
    pub exception: bool,
    /// Its cause.
    pub cause: u64,
    /// Its trap value.
    pub tval: u64,
    /// It is an interrupt.
    pub interrupt: bool,
}

impl CsvRow {
    /// A trap, not an instruction.
    pub(super) const fn is_trap(&self) -> bool {
        self.exception || self.interrupt
    }
}

/// Reads comma-separated rows with a header line that names the columns
/// `VALID,ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE,TVAL,INTERRUPT`, in any order.
///
/// `ADDRESS`, `INSN`, `ECAUSE` and `TVAL` are hexadecimal with or without `0x`, the others decimal. Only
/// `ADDRESS` must be there; without `PRIVILEGE` everything runs at level 3. Rows with `VALID` = 0 are skipped. Columns
/// with other names, twice the same name, and fields without a column are errors.
pub struct CsvRows<R> {
    input: R,
    columns: Vec<Column>,
    line: Vec<u8>,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Valid,
    Address,
    Instruction,
    Privilege,
    Exception,
    Cause,
    Tval,
    Interrupt,
}

impl Column {
    const NAMES: [(&'static str, Self); 8] = [
        ("VALID", Self::Valid),
        ("ADDRESS", Self::Address),
        ("INSN", Self::Instruction),
        ("PRIVILEGE", Self::Privilege),
        ("EXCEPTION", Self::Exception),
        ("ECAUSE", Self::Cause),
        ("TVAL", Self::Tval),
        ("INTERRUPT", Self::Interrupt),
    ];

    /// The largest value that is right, or of which the digits mean the same in any base.
    const fn most(self) -> u64 {
        match self {
            Self::Valid | Self::Exception | Self::Interrupt => 1,
            Self::Privilege => 9,
            Self::Address | Self::Instruction | Self::Cause | Self::Tval => u64::MAX,
        }
    }
}

impl<R: BufRead> CsvRows<R> {
    /// Reads the header line.
    ///
    /// # Errors
    ///
    /// When the input cannot be read or the header has no `ADDRESS`.
    pub fn new(input: R) -> Result<Self, ExecutionError> {
        let mut rows = Self { input, columns: Vec::new(), line: Vec::new(), number: 0 };
        if !rows.read_line()? {
            return Err(rows.wrong("the file is empty; a header line with ADDRESS must come first"));
        }
        let header = rows.text()?;
        let mut columns = Vec::new();
        for name in header.split(',').map(str::trim) {
            let known = |(known, _): &&(&str, Column)| known.eq_ignore_ascii_case(name);
            let Some(&(name, column)) = Column::NAMES.iter().find(known) else {
                let names: Vec<_> = Column::NAMES.iter().map(|(name, _)| *name).collect();
                return Err(
                    rows.wrong(&format!("no column is called `{name}`; known are {}", names.join(", ")))
                );
            };
            if columns.contains(&column) {
                return Err(rows.wrong(&format!("column {name}: it is named twice")));
            }
            columns.push(column);
        }
        if !columns.contains(&Column::Address) {
            return Err(rows.wrong("the header line names no column ADDRESS"));
        }
        rows.columns = columns;
        Ok(rows)
    }

    /// The next valid row; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the input cannot be read, or a row is malformed.
    pub fn next_row(&mut self) -> Result<Option<CsvRow>, ExecutionError> {
        let mut row = CsvRow::default();
        Ok(self.read(&mut row)?.then_some(row))
    }

    /// Makes `row` the next valid row; `false` at the end.
    pub(super) fn read(&mut self, row: &mut CsvRow) -> Result<bool, ExecutionError> {
        loop {
            match self.read_plain(row)? {
                Some(true) => return Ok(true),
                Some(false) => continue,
                None => {}
            }
            if !self.read_line()? {
                return Ok(false);
            }
            if self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Some(read) = self.parse()? {
                *row = read;
                return Ok(true);
            }
        }
    }

    /// Reads a line of digits and commas that is in the input's buffer, without a copy, and says whether its row is
    /// valid. `None` for any other line; then nothing has happened.
    fn read_plain(&mut self, row: &mut CsvRow) -> Result<Option<bool>, ExecutionError> {
        *row = CsvRow { number: self.number + 1, privilege: 3, ..CsvRow::default() };
        let Some((valid, length)) = plain(self.input.fill_buf()?, &self.columns, row) else {
            return Ok(None);
        };
        self.input.consume(length);
        self.number += 1;
        Ok(Some(valid))
    }

    /// Reads one line, the end of line included; `false` at the end of the input.
    fn read_line(&mut self) -> Result<bool, ExecutionError> {
        self.line.clear();
        self.number += 1;
        let limit = LINE_LIMIT as u64 + 1;
        let read = io::Read::take(&mut self.input, limit).read_until(b'\n', &mut self.line)?;
        if read > LINE_LIMIT {
            return Err(self.wrong("the line is too long"));
        }
        Ok(read > 0)
    }

    fn text(&self) -> Result<&str, ExecutionError> {
        let text = std::str::from_utf8(&self.line).map_err(|_| self.wrong("the line is no text"))?;
        Ok(text.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']))
    }

    fn parse(&self) -> Result<Option<CsvRow>, ExecutionError> {
        let mut row = CsvRow { number: self.number, privilege: 3, ..CsvRow::default() };
        let mut valid = true;
        let mut fields = self.text()?.split(',');
        for column in &self.columns {
            let Some(field) = fields.next() else {
                return Err(
                    self.wrong(&format!("column {}: the row is shorter than the header", column.name()))
                );
            };
            let in_column =
                |message: &str| self.wrong(&format!("column {}: `{field}` is {message}", column.name()));
            let radix = match column {
                Column::Address | Column::Instruction | Column::Cause | Column::Tval => 16,
                Column::Valid | Column::Privilege | Column::Exception | Column::Interrupt => 10,
            };
            let Some(value) = number(field.trim(), radix) else {
                return Err(in_column(&format!("no number in base {radix}")));
            };
            let flag = || if value > 1 { Err(in_column("neither 0 nor 1")) } else { Ok(value == 1) };
            match column {
                Column::Valid => valid = flag()?,
                Column::Address => row.address = value,
                Column::Instruction => row.instruction = value,
                Column::Privilege => {
                    row.privilege = u8::try_from(value).map_err(|_| in_column("no privilege level"))?;
                }
                Column::Exception => row.exception = flag()?,
                Column::Cause => row.cause = value,
                Column::Tval => row.tval = value,
                Column::Interrupt => row.interrupt = flag()?,
            }
        }
        if fields.next().is_some() {
            return Err(
                self.wrong(&format!("column {}: the header has no such column", self.columns.len() + 1))
            );
        }
        Ok(valid.then_some(row))
    }

    fn wrong(&self, message: &str) -> ExecutionError {
        ExecutionError::Record { number: self.number, message: message.to_owned() }
    }
}

impl Column {
    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, column)| *column == self).map_or("", |(name, _)| name)
    }
}

/// Reads a line of digits and commas from the beginning of `text` into `row`. Whether the row is valid, and its length
/// with the end of the line; `None` for any line that may mean something else.
fn plain(text: &[u8], columns: &[Column], row: &mut CsvRow) -> Option<(bool, usize)> {
    let mut values = [0; Column::NAMES.len()];
    values[Column::Valid as usize] = 1;
    values[Column::Privilege as usize] = row.privilege.into();
    let mut at = 0;
    for (index, column) in columns.iter().enumerate() {
        if index > 0 {
            at = after(text, at, b',')?;
        }
        let value;
        (value, at) = digits(text, at)?;
        if value > column.most() {
            return None;
        }
        values[*column as usize] = value;
    }
    let at = after(text, at, b'\r').unwrap_or(at);
    let length = after(text, at, b'\n')?;
    let [valid, address, instruction, privilege, exception, cause, tval, interrupt] = values;
    (row.address, row.instruction, row.cause, row.tval) = (address, instruction, cause, tval);
    (row.exception, row.interrupt) = (exception == 1, interrupt == 1);
    row.privilege = privilege as u8;
    Some((valid == 1, length))
}

/// The position after `byte`, if it is there.
fn after(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    (*text.get(at)? == byte).then_some(at + 1)
}

/// A hexadecimal number of so few digits that it cannot overflow, and the position after it.
#[inline]
fn digits(text: &[u8], first: usize) -> Option<(u64, usize)> {
    let (mut value, mut at) = (0, first);
    while let Some(&byte) = text.get(at)
        && let digit = DIGITS[usize::from(byte)]
        && digit < 16
    {
        value = value << 4 | u64::from(digit);
        at += 1;
    }
    (1..=16).contains(&(at - first)).then_some((value, at))
}

/// The value of every hexadecimal digit; 255 of other bytes.
const DIGITS: [u8; 256] = {
    let mut digits = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        digits[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// Strict: no sign; a hexadecimal number may start with `0x`.
pub(super) fn number(text: &str, radix: u32) -> Option<u64> {
    let digits = if radix == 16 { text.trim_start_matches("0x").trim_start_matches("0X") } else { text };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// Reads addresses of retired instructions: 8-byte little-endian words and nothing else.
pub struct AddressWords<R> {
    input: R,
    number: u64,
    /// Words that were read, the next one last.
    read: Vec<u64>,
}

/// How many words are read at once.
const WORDS: usize = 1024;

impl<R: BufRead> AddressWords<R> {
    /// Starts at the first word.
    pub const fn new(input: R) -> Self {
        Self { input, number: 0, read: Vec::new() }
    }

    /// The next address; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the input cannot be read or ends within a word.
    pub fn next_address(&mut self) -> Result<Option<u64>, ExecutionError> {
        if let Some(word) = self.read.pop() {
            self.number += 1;
            return Ok(Some(word));
        }
        self.more()
    }

    /// Reads the words that are in the input's buffer, and gives the first one.
    #[inline(never)]
    fn more(&mut self) -> Result<Option<u64>, ExecutionError> {
        let buffer = self.input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let (words, _) = buffer.as_chunks::<8>();
        let words = words.get(..WORDS).unwrap_or(words);
        self.read.extend(words.iter().rev().map(|word| u64::from_le_bytes(*word)));
        let length = 8 * words.len();
        self.input.consume(length);
        self.number += 1;
        if let Some(word) = self.read.pop() {
            return Ok(Some(word));
        }
        let mut word = [0; 8];
        match self.input.read_exact(&mut word) {
            Ok(()) => Ok(Some(u64::from_le_bytes(word))),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(ExecutionError::Record {
                number: self.number,
                message: String::from("the file ends within an 8-byte word"),
            }),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<CsvRow>, String> {
        let mut reader = CsvRows::new(text.as_bytes()).map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        while let Some(row) = reader.next_row().map_err(|error| error.to_string())? {
            rows.push(row);
        }
        Ok(rows)
    }

    #[test]
    fn rows_are_read_by_column_name() {
        let text = "VALID,ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE,TVAL,INTERRUPT\r\n\
                    1,80000022,73,3,1,b,7c,0\n\n0,1,2,3,1,4,5,1\n1,10,13,0,0,0,0,1\n";
        let first = CsvRow {
            number: 2,
            address: 0x8000_0022,
            instruction: 0x73,
            privilege: 3,
            exception: true,
            cause: 11,
            tval: 0x7c,
            interrupt: false,
        };
        let second =
            CsvRow { number: 5, address: 0x10, instruction: 0x13, interrupt: true, ..CsvRow::default() };
        assert_eq!(rows(text), Ok(vec![first, second]));
        let short = CsvRow { number: 2, address: 0x80, privilege: 3, ..CsvRow::default() };
        assert_eq!(rows("valid, address\n1, 0x80"), Ok(vec![short]));
    }

    #[test]
    fn malformed_rows_are_named() {
        for (text, message) in [
            ("", "record 1: the file is empty; a header line with ADDRESS must come first"),
            (
                "PC,INSN\n",
                "record 1: no column is called `PC`; known are VALID, ADDRESS, INSN, PRIVILEGE, EXCEPTION, ECAUSE, TVAL, INTERRUPT",
            ),
            ("INSN\n", "record 1: the header line names no column ADDRESS"),
            ("ADDRESS,VALID,address\n", "record 1: column ADDRESS: it is named twice"),
            ("ADDRESS,INSN\n1\n", "record 2: column INSN: the row is shorter than the header"),
            ("ADDRESS,INSN\n1,13,0\n", "record 2: column 3: the header has no such column"),
            ("ADDRESS,EXCEPTION\n1,2\n", "record 2: column EXCEPTION: `2` is neither 0 nor 1"),
            ("ADDRESS\n1\nxyz\n", "record 3: column ADDRESS: `xyz` is no number in base 16"),
            ("ADDRESS\n-1\n", "record 2: column ADDRESS: `-1` is no number in base 16"),
            ("ADDRESS,PRIVILEGE\n1,256\n", "record 2: column PRIVILEGE: `256` is no privilege level"),
        ] {
            assert_eq!(rows(text), Err(message.to_owned()), "{text}");
        }
        let endless = format!("ADDRESS\n{}", "1".repeat(100_000));
        assert_eq!(rows(&endless), Err("record 2: the line is too long".to_owned()));
    }

    /// Lines in a buffer are read in place, others are put together first.
    #[test]
    fn rows_do_not_depend_on_the_buffer() {
        let header = "VALID,ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE,TVAL,INTERRUPT\n";
        let lines = [
            "1,80000022,73,3,1,b,7c,0\n1,80000026,ffffffffffffffff,0,0,0,0,1\n",
            "0,80000022,73,3,1,b,7c,0\r\n1,8000ABCD,73,3,1,b,7c,0\r\n",
            "1,0x80,0,3,0,0,0,0\n1, 80 ,0,3,0,0,0,0\n\n1,80,0,255,0,0,0,0\n1,80,0,10,0,0,0,0",
            "1,10000000000000000,0,3,0,0,0,0\n",
            "1,00000000000000080,0,003,00,0,0,01\n",
            "1,80,0,3,0,0,0\n",
            "1,80,0,3,0,0,0,0,0\n",
            "1,80,0,3,2,0,0,0\n",
            "2,80,0,3,0,0,0,0\n",
            "1,80,0,a,0,0,0,0\n",
            "1,80,0,256,0,0,0,0\n",
            "1,,0,3,0,0,0,0\n",
            "1,80,0,3,0,0,0,0 1\n",
            "1,80,0,3,0,0,0,0\r",
        ];
        for lines in lines {
            let text = format!("{header}1,10,13,3,0,0,0,0\n{lines}1,14,13,3,0,0,0,0\n");
            let in_pieces = |capacity| {
                let mut reader = CsvRows::new(io::BufReader::with_capacity(capacity, text.as_bytes()))?;
                let rows = std::iter::from_fn(|| reader.next_row().transpose());
                rows.collect::<Result<Vec<_>, _>>()
            };
            let expected = in_pieces(1).map_err(|error| error.to_string());
            assert_eq!(rows(&text), expected, "{lines}");
            for capacity in 2..30 {
                assert_eq!(in_pieces(capacity).map_err(|error| error.to_string()), expected, "{lines}");
            }
        }
    }

    #[test]
    fn words_are_little_endian_and_whole() {
        let bytes = [0x34, 0x12, 0, 0, 0, 0, 0, 0x80, 1];
        let mut words = AddressWords::new(&bytes[..]);
        assert_eq!(words.next_address().expect("whole"), Some(0x8000_0000_0000_1234));
        assert_eq!(
            words.next_address().expect_err("cut").to_string(),
            "record 2: the file ends within an 8-byte word"
        );
        assert_eq!(AddressWords::new(&[][..]).next_address().expect("empty"), None);
        let bytes: Vec<u8> = (0..2 * WORDS as u64).flat_map(u64::to_le_bytes).chain([1, 2]).collect();
        for capacity in [1, 5, 8, 20, 4096, 1 << 20] {
            let mut words = AddressWords::new(io::BufReader::with_capacity(capacity, bytes.as_slice()));
            for expected in 0..2 * WORDS as u64 {
                assert_eq!(words.next_address().expect("whole"), Some(expected), "{capacity}");
            }
            let error = words.next_address().expect_err("cut").to_string();
            assert_eq!(error, format!("record {}: the file ends within an 8-byte word", 2 * WORDS + 1));
        }
    }
}
