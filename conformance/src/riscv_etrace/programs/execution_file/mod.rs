//! How does an execution lie in a file?
//!
//! `*.exec.xz`, version 1. Everything below is inside one xz stream. Numbers are unsigned LEB128 (7 bits a
//! byte, least significant group first, top bit = more follows), at most 64 bits.
//!
//! ```text
//! header   "TPEXEC"  version (1 byte: 1)  xlen (1 byte: 32 or 64)
//! records  number w, then by w:
//!   w even                          an instruction retired; w / 2 = its distance
//!   1  cause  distance  tval        an exception was taken; the distance is that of its EPC
//!   3  cause  distance              an interrupt was taken; the distance is that of its EPC
//!   5  level                        privilege level of what follows (of a trap: the level before it)
//!   7  steps                        the end: how many instructions and traps came before
//! ```
//!
//! A distance is that from the latest retired instruction (at first from address 0) in half-words, two's
//! complement in the width of the hart, zigzag coded: 0, -1, 1, -2, ... are 0, 1, 2, 3, .... So straight code
//! is one byte an instruction and loops are byte strings that repeat, which is what the compressor is good
//! at. The file does not need the program to be read.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use lzma_rust2::{XzOptions, XzReader, XzWriter};
use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{Retire, Step, Trap, Xlen};

const MAGIC: [u8; 6] = *b"TPEXEC";
const VERSION: u8 = 1;
/// What decompression may take; the writer's dictionary needs a quarter of it.
const MEMORY_LIMIT_KIB: u32 = 32 << 10;

const EXCEPTION: u64 = 1;
const INTERRUPT: u64 = 3;
const PRIVILEGE: u64 = 5;
const END: u64 = 7;

/// What is wrong with an execution file, and where.
#[derive(Debug)]
pub struct ExecutionFileError {
    /// Byte offset in the decompressed file, of the record or number at fault.
    pub offset: u64,
    /// What is wrong.
    pub defect: ExecutionDefect,
}

/// What is wrong with an execution file.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExecutionDefect {
    /// Reading, writing or decompressing failed.
    Io(io::Error),
    /// It does not start with the magic bytes.
    NoExecution,
    /// It has a version that this reader does not know.
    Version(u8),
    /// The register width is neither 32 nor 64.
    Xlen(u8),
    /// It ends before its end record.
    Truncated,
    /// A number has more than 64 bits.
    Overlong,
    /// A record of no known kind.
    UnknownRecord(u64),
    /// A privilege level above 7.
    Privilege(u64),
    /// An address or trap value wider than the hart's registers, or an odd address.
    Address(u64),
    /// The end record states another number of steps than there were.
    Steps {
        /// As stated.
        stated: u64,
        /// As read.
        read: u64,
    },
    /// Something follows the end record.
    TrailingData,
    /// A step that is neither a retirement nor a trap; the format has no word for it.
    Stimulus,
}

impl fmt::Display for ExecutionDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NoExecution => f.write_str("not an execution file"),
            Self::Version(version) => write!(f, "unknown version {version}"),
            Self::Xlen(xlen) => write!(f, "register width {xlen}"),
            Self::Truncated => f.write_str("the file ends before its end record"),
            Self::Overlong => f.write_str("a number of more than 64 bits"),
            Self::UnknownRecord(kind) => write!(f, "unknown record {kind}"),
            Self::Privilege(level) => write!(f, "privilege level {level}"),
            Self::Address(address) => write!(f, "address or trap value {address:#x} is impossible"),
            Self::Steps { stated, read } => write!(f, "{read} steps where the end record states {stated}"),
            Self::TrailingData => f.write_str("data after the end record"),
            Self::Stimulus => f.write_str("a stimulus is not part of an execution file"),
        }
    }
}

impl fmt::Display for ExecutionFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.defect, self.offset)
    }
}

impl std::error::Error for ExecutionFileError {}

/// Opens a compressed execution file.
///
/// # Errors
///
/// When it cannot be read, or its header is wrong.
pub fn open_execution<R: Read>(
    file: R,
) -> Result<ExecutionReader<XzReader<BufReader<R>>>, ExecutionFileError> {
    ExecutionReader::new(XzReader::new_mem_limit(BufReader::new(file), false, MEMORY_LIMIT_KIB))
}

/// Reads the steps of an execution one by one, in constant memory. Every step is qualified; contexts and
/// times are 0.
///
/// After an error the iterator is empty.
#[derive(Debug)]
pub struct ExecutionReader<R> {
    input: BufReader<R>,
    xlen: Xlen,
    offset: u64,
    address: u64,
    privilege: u8,
    steps: u64,
    finished: bool,
}

impl<R: Read> ExecutionReader<R> {
    /// Reads an execution from its decompressed bytes.
    ///
    /// # Errors
    ///
    /// When the header is wrong.
    pub fn new(input: R) -> Result<Self, ExecutionFileError> {
        let mut reader = Self {
            input: BufReader::with_capacity(1 << 14, input),
            xlen: Xlen::Rv32,
            offset: 0,
            address: 0,
            privilege: 3,
            steps: 0,
            finished: false,
        };
        for expected in MAGIC {
            if reader.byte()? != Some(expected) {
                return Err(reader.error_at(0, ExecutionDefect::NoExecution));
            }
        }
        let at = reader.offset;
        match reader.byte()? {
            Some(VERSION) => {}
            Some(version) => return Err(reader.error_at(at, ExecutionDefect::Version(version))),
            None => return Err(reader.error_at(at, ExecutionDefect::Truncated)),
        }
        let at = reader.offset;
        reader.xlen = match reader.byte()? {
            Some(32) => Xlen::Rv32,
            Some(64) => Xlen::Rv64,
            Some(width) => return Err(reader.error_at(at, ExecutionDefect::Xlen(width))),
            None => return Err(reader.error_at(at, ExecutionDefect::Truncated)),
        };
        Ok(reader)
    }

    /// Register width of the hart.
    #[must_use]
    pub const fn xlen(&self) -> Xlen {
        self.xlen
    }

    fn error_at(&mut self, offset: u64, defect: ExecutionDefect) -> ExecutionFileError {
        self.finished = true;
        ExecutionFileError { offset, defect }
    }

    /// The next byte; `None` at the end of the file.
    fn byte(&mut self) -> Result<Option<u8>, ExecutionFileError> {
        let byte = match self.input.fill_buf() {
            Ok(buffer) => buffer.first().copied(),
            Err(error) => {
                // Truncated xz streams are detected here, before the records are read.
                let defect = match error.kind() {
                    io::ErrorKind::UnexpectedEof => ExecutionDefect::Truncated,
                    _ => ExecutionDefect::Io(error),
                };
                return Err(self.error_at(self.offset, defect));
            }
        };
        if byte.is_some() {
            self.input.consume(1);
            self.offset += 1;
        }
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64, ExecutionFileError> {
        let at = self.offset;
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let Some(byte) = self.byte()? else { return Err(self.error_at(at, ExecutionDefect::Truncated)) };
            let group = u64::from(byte & 0x7f);
            if group << shift >> shift != group {
                break;
            }
            value |= group << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.error_at(at, ExecutionDefect::Overlong))
    }

    /// The address that lies the zigzag-coded distance away from the latest one.
    fn address(&mut self, at: u64, zigzag: u64) -> Result<u64, ExecutionFileError> {
        let halfwords = (zigzag >> 1) ^ (zigzag & 1).wrapping_neg();
        let address = self.address.wrapping_add(halfwords << 1) & mask(self.xlen);
        if zigzag > mask(self.xlen) {
            return Err(self.error_at(at, ExecutionDefect::Address(zigzag)));
        }
        Ok(address)
    }

    fn record(&mut self) -> Result<Option<Step>, ExecutionFileError> {
        loop {
            let at = self.offset;
            let word = self.number()?;
            if word & 1 == 0 {
                self.address = self.address(at, word >> 1)?;
                let (address, privilege) = (self.address, self.privilege);
                return Ok(Some(Step::Retire(Retire {
                    address: Address(address),
                    privilege,
                    ..Retire::default()
                })));
            }
            match word {
                EXCEPTION | INTERRUPT => return self.trap(word == INTERRUPT).map(Some),
                PRIVILEGE => {
                    let level = self.number()?;
                    self.privilege = match u8::try_from(level) {
                        Ok(level @ 0..=7) => level,
                        _ => return Err(self.error_at(at, ExecutionDefect::Privilege(level))),
                    };
                }
                END => {
                    let stated = self.number()?;
                    if stated != self.steps {
                        let read = self.steps;
                        return Err(self.error_at(at, ExecutionDefect::Steps { stated, read }));
                    }
                    let end = self.offset;
                    if self.byte()?.is_some() {
                        return Err(self.error_at(end, ExecutionDefect::TrailingData));
                    }
                    return Ok(None);
                }
                _ => return Err(self.error_at(at, ExecutionDefect::UnknownRecord(word))),
            }
        }
    }

    fn trap(&mut self, interrupt: bool) -> Result<Step, ExecutionFileError> {
        let cause = self.number()?;
        let at = self.offset;
        let distance = self.number()?;
        let epc = self.address(at, distance)?;
        let at = self.offset;
        let tval = if interrupt { 0 } else { self.number()? };
        if tval > mask(self.xlen) {
            return Err(self.error_at(at, ExecutionDefect::Address(tval)));
        }
        let privilege = self.privilege;
        Ok(Step::Trap(Trap { interrupt, cause, tval, epc: Address(epc), privilege, ..Trap::default() }))
    }
}

impl<R: Read> Iterator for ExecutionReader<R> {
    type Item = Result<Step, ExecutionFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let step = self.record().transpose();
        match &step {
            Some(Ok(_)) => self.steps += 1,
            _ => self.finished = true,
        }
        step
    }
}

/// Writes an execution as a compressed file. Contexts, times, filters and notify requests are not kept.
pub struct ExecutionWriter<W: Write> {
    output: XzWriter<W>,
    xlen: Xlen,
    address: u64,
    privilege: Option<u8>,
    steps: u64,
    offset: u64,
}

impl<W: Write> fmt::Debug for ExecutionWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionWriter").field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl<W: Write> ExecutionWriter<W> {
    /// Starts a file with its header.
    ///
    /// # Errors
    ///
    /// When writing fails.
    pub fn new(output: W, xlen: Xlen) -> Result<Self, ExecutionFileError> {
        let io = |error| ExecutionFileError { offset: 0, defect: ExecutionDefect::Io(error) };
        let output = XzWriter::new(output, XzOptions::with_preset(6)).map_err(io)?;
        let mut writer = Self { output, xlen, address: 0, privilege: None, steps: 0, offset: 0 };
        writer.bytes(&MAGIC)?;
        writer.bytes(&[VERSION, if xlen == Xlen::Rv32 { 32 } else { 64 }])?;
        Ok(writer)
    }

    /// Appends a retirement or a trap.
    ///
    /// # Errors
    ///
    /// When writing fails, or when the step does not fit into the format.
    pub fn step(&mut self, step: &Step) -> Result<(), ExecutionFileError> {
        match step {
            Step::Retire(retire) => {
                self.privilege(retire.privilege)?;
                let distance = self.distance(retire.address.0)?;
                self.numbers(&[distance << 1])?;
                self.address = retire.address.0;
            }
            Step::Trap(trap) => {
                self.privilege(trap.privilege)?;
                let distance = self.distance(trap.epc.0)?;
                let cause = trap.cause;
                if trap.interrupt {
                    self.numbers(&[INTERRUPT, cause, distance])?;
                } else if trap.tval > mask(self.xlen) {
                    return Err(self.error(ExecutionDefect::Address(trap.tval)));
                } else {
                    self.numbers(&[EXCEPTION, cause, distance, trap.tval])?;
                }
            }
            Step::Stimulus(_) => return Err(self.error(ExecutionDefect::Stimulus)),
        }
        self.steps += 1;
        Ok(())
    }

    /// Writes the end record and gives the output back.
    ///
    /// # Errors
    ///
    /// When writing fails.
    pub fn finish(mut self) -> Result<W, ExecutionFileError> {
        self.numbers(&[END, self.steps])?;
        let offset = self.offset;
        self.output
            .finish()
            .map_err(|error| ExecutionFileError { offset, defect: ExecutionDefect::Io(error) })
    }

    const fn error(&self, defect: ExecutionDefect) -> ExecutionFileError {
        ExecutionFileError { offset: self.offset, defect }
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), ExecutionFileError> {
        self.output.write_all(bytes).map_err(|error| self.error(ExecutionDefect::Io(error)))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn numbers(&mut self, numbers: &[u64]) -> Result<(), ExecutionFileError> {
        for &number in numbers {
            let mut rest = number;
            while rest > 0x7f {
                self.bytes(&[rest as u8 | 0x80])?;
                rest >>= 7;
            }
            self.bytes(&[rest as u8])?;
        }
        Ok(())
    }

    fn privilege(&mut self, level: u8) -> Result<(), ExecutionFileError> {
        if self.privilege != Some(level) {
            if level > 7 {
                return Err(self.error(ExecutionDefect::Privilege(level.into())));
            }
            self.numbers(&[PRIVILEGE, level.into()])?;
            self.privilege = Some(level);
        }
        Ok(())
    }

    /// The zigzag-coded distance in half-words from the latest address.
    fn distance(&self, address: u64) -> Result<u64, ExecutionFileError> {
        if address & 1 != 0 || address > mask(self.xlen) {
            return Err(self.error(ExecutionDefect::Address(address)));
        }
        let bytes = address.wrapping_sub(self.address).cast_signed();
        // Sign-extended from the hart's width, so that a jump across address 0 is short.
        let bytes = if self.xlen == Xlen::Rv32 { bytes << 32 >> 32 } else { bytes };
        let halfwords = bytes >> 1;
        Ok(((halfwords << 1) ^ (halfwords >> 63)).cast_unsigned())
    }
}

/// The bits of an address.
const fn mask(xlen: Xlen) -> u64 {
    match xlen {
        Xlen::Rv32 => 0xffff_ffff,
        Xlen::Rv64 => u64::MAX,
    }
}

#[cfg(test)]
mod tests;
