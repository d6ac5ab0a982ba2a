//! Snapshot directories of OpenCSD: captured trace, the registers of what generated it, and the memory it ran over.
//!
//! | file | answers |
//! |---|---|
//! | `snapshot.ini` | which devices there are, one `.ini` file each, and where the description of the trace is |
//! | the file of a device | class, type, registers, `[dump]` sections with memory |
//! | `trace.ini` | which buffers there are, which source wrote into which, which core a source traces |
//! | `*.bin` and others | trace bytes and memory |
//!
//! [`Snapshot::read`] reads the `.ini` files; [`Snapshot::trace`] and [`Snapshot::program`] read the rest;
//! [`Snapshot::streams`] lists sources and buffers, and [`Snapshot::source_bytes`] extracts the bytes of a source from
//! the frames. Nothing panics on a bad directory, whatever it names stays inside it, and sizes are bounded.

mod device;
mod error;
mod files;
mod ini;
mod stream;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use traceproof_vectors::{Address, MemorySpace, Program, ProgramError, Section};

pub use device::{Class, Device, Dump, Register, Space};
pub use error::{SnapshotError, SnapshotProblem};
use ini::{Entry, Ini};
pub use stream::{
    DSTREAM_BLOCK, DSTREAM_FOOTER, SourceBytes, Stream, StreamError, TraceProtocol, first_frame,
};

/// The longest trace buffer, and the most memory of one core, in bytes.
pub const MAX_BYTES: u64 = 1 << 30;

/// The most devices, and the most buffers, of one snapshot.
pub const MAX_DEVICES: usize = 1024;

/// A snapshot directory.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The directory.
    pub directory: PathBuf,
    /// The devices in the order of `[device_list]`.
    pub devices: Vec<Device>,
    /// The trace buffers in the order of `[trace_buffers]`; none where no trace is described.
    pub buffers: Vec<Buffer>,
    /// Core and source, in the order of `[core_trace_sources]`; a core comes once per source.
    pub core_trace_sources: Vec<(String, String)>,
}

/// A trace buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The name.
    pub name: String,
    /// The file, relative to the snapshot directory.
    pub file: String,
    /// How the bytes of the sources lie in it.
    pub format: BufferFormat,
    /// The names of the sources that wrote into it, in the order of `[source_buffers]`.
    pub sources: Vec<String>,
    /// The line of its section in `trace.ini`, counted from 1.
    pub line: usize,
}

/// How the bytes of sources lie in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferFormat {
    /// `source_data`: the bytes of a single source.
    SourceData,
    /// `coresight`: 16-byte formatter frames, aligned in the file, without synchronisation packets.
    CoreSight,
    /// `dstream_coresight`: a TPIU's formatter frames inside blocks of 512 bytes, whose last 8 bytes are a footer.
    DstreamCoreSight,
}

impl BufferFormat {
    const NAMES: [(&str, Self); 3] = [
        ("source_data", Self::SourceData),
        ("coresight", Self::CoreSight),
        ("dstream_coresight", Self::DstreamCoreSight),
    ];
}

impl Snapshot {
    /// Reads the `.ini` files of a directory.
    ///
    /// # Errors
    ///
    /// When a file is missing or malformed, or a name in one is not defined by another.
    pub fn read(directory: &Path) -> Result<Self, SnapshotError> {
        let top = Ini::read(&directory.join("snapshot.ini"))?;
        let snapshot = top.section("snapshot")?;
        let version = top.required(snapshot, "version")?;
        if version.value != "1.0" {
            return Err(top.error(version.line, SnapshotProblem::UnknownFormat(version.value.clone())));
        }
        let mut devices: Vec<Device> = Vec::new();
        for entry in top.entries("device_list") {
            if devices.len() == MAX_DEVICES {
                return Err(top.error(entry.line, SnapshotProblem::TooMany(MAX_DEVICES)));
            }
            let device = Device::read(&named_file(directory, &top, entry)?)?;
            if devices.iter().any(|other| other.name == device.name) {
                return Err(top.error(entry.line, SnapshotProblem::Duplicate(device.name)));
            }
            devices.push(device);
        }
        let (mut buffers, mut core_trace_sources) = (Vec::new(), Vec::new());
        if let Some(entry) = top.sections.iter().find(|section| section.name == "trace") {
            let metadata = top.required(entry, "metadata")?;
            let trace = Ini::read(&named_file(directory, &top, metadata)?)?;
            buffers = self::buffers(&trace, &devices)?;
            core_trace_sources = pairs(&trace, "core_trace_sources", |_, name| named(&devices, name))?;
        }
        Ok(Self { directory: directory.to_owned(), devices, buffers, core_trace_sources })
    }

    /// The device of this name.
    #[must_use]
    pub fn device(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// The devices that wrote into a buffer.
    pub fn sources<'a>(&'a self, buffer: &'a Buffer) -> impl Iterator<Item = &'a Device> {
        buffer.sources.iter().filter_map(|name| self.device(name))
    }

    /// The core that a source traces; `None` if no line names it, as for a software trace source.
    #[must_use]
    pub fn core_of(&self, source: &str) -> Option<&Device> {
        let (core, _) = self.core_trace_sources.iter().find(|(_, traced)| traced == source)?;
        self.device(core)
    }

    /// The bytes of a buffer as the file has them.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is longer than [`MAX_BYTES`].
    pub fn trace(&self, buffer: &Buffer) -> Result<Vec<u8>, SnapshotError> {
        files::read(&self.path(&buffer.file, &self.directory.join("trace.ini"), buffer.line)?, MAX_BYTES)
    }

    /// What the memory of a core held, each dump in its space. Dumps of one space may overlap where they hold the same
    /// bytes.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, is shorter than its dump, two dumps contradict each other, or all of them together
    /// are longer than [`MAX_BYTES`].
    pub fn program(&self, core: &Device) -> Result<Program, SnapshotError> {
        let mut program = Program::new();
        let mut left = MAX_BYTES;
        let mut seen = BTreeSet::new();
        for dump in &core.dumps {
            let space = dump.space.memory_space();
            if !seen.insert((&dump.file, dump.address, dump.offset, dump.length, space)) {
                continue;
            }
            let file = self.path(&dump.file, &core.file, dump.line)?;
            let at = |problem| SnapshotError { file: core.file.clone(), line: dump.line, problem };
            let bytes =
                files::read_part(&file, dump.offset, dump.length, left).map_err(|error| at(error.problem))?;
            left -= bytes.len() as u64;
            add(&mut program, Section::new(dump.address, bytes, dump.file.clone()).in_space(space))
                .map_err(|error| at(SnapshotProblem::Memory(error)))?;
        }
        Ok(program)
    }

    fn path(&self, name: &str, file: &Path, line: usize) -> Result<PathBuf, SnapshotError> {
        files::inside(&self.directory, name).ok_or_else(|| SnapshotError {
            file: file.to_owned(),
            line,
            problem: SnapshotProblem::OutsideDirectory(name.to_owned()),
        })
    }
}

/// Adds what of a section is not there yet.
fn add(program: &mut Program, section: Section) -> Result<(), ProgramError> {
    let Section { address, bytes, name, space, .. } = section;
    let mut at = 0;
    while at < bytes.len() {
        let here = address.0.checked_add(at as u64).ok_or(ProgramError::AddressOverflow { address })?;
        if let Some(existing) = held(program, space, here) {
            let length = existing.len().min(bytes.len() - at);
            if existing[..length] != bytes[at..at + length] {
                return Err(ProgramError::Overlap { address, existing: Address(here) });
            }
            at += length;
            continue;
        }
        let same = program.sections().iter().filter(|other| other.space == space);
        let next = same.map(|other| other.address).find(|other| *other > Address(here));
        let free = next.map_or(bytes.len() - at, |next| {
            usize::try_from(next.0 - here).unwrap_or(usize::MAX).min(bytes.len() - at)
        });
        let bytes = bytes[at..at + free].to_vec();
        program.insert(Section::new(here, bytes, name.clone()).in_space(space))?;
        at += free;
    }
    Ok(())
}

/// The bytes from an address on that are there in exactly this space.
fn held(program: &Program, space: MemorySpace, address: u64) -> Option<&[u8]> {
    let mut same = program.sections().iter().filter(|section| section.space == space);
    same.find_map(|section| {
        let offset = usize::try_from(address.checked_sub(section.address.0)?).ok()?;
        section.bytes.get(offset..).filter(|bytes| !bytes.is_empty())
    })
}

fn buffers(trace: &Ini, devices: &[Device]) -> Result<Vec<Buffer>, SnapshotError> {
    let list = trace.section("trace_buffers")?;
    let list = trace.required(list, "buffers")?;
    let mut buffers: Vec<Buffer> = Vec::new();
    for name in list.names() {
        if buffers.len() == MAX_DEVICES {
            return Err(trace.error(list.line, SnapshotProblem::TooMany(MAX_DEVICES)));
        }
        let section = trace.section(name).map_err(|error| SnapshotError { line: list.line, ..error })?;
        let name = trace.required(section, "name")?;
        if buffers.iter().any(|other| other.name == name.value) {
            return Err(trace.error(name.line, SnapshotProblem::Duplicate(name.value.clone())));
        }
        let format = trace.required(section, "format")?;
        let known = BufferFormat::NAMES.into_iter().find(|(known, _)| *known == format.value);
        let (_, format) = known
            .ok_or_else(|| trace.error(format.line, SnapshotProblem::UnknownFormat(format.value.clone())))?;
        buffers.push(Buffer {
            name: name.value.clone(),
            file: trace.required(section, "file")?.value.clone(),
            format,
            sources: Vec::new(),
            line: section.line,
        });
    }
    let wrote = pairs(trace, "source_buffers", |source, buffer| {
        named(devices, source) && buffers.iter().any(|known| known.name == buffer)
    })?;
    for (source, name) in wrote {
        for buffer in buffers.iter_mut().filter(|buffer| buffer.name == name) {
            buffer.sources.push(source.clone());
        }
    }
    Ok(buffers)
}

/// The lines `key=name,name` of a section as pairs.
fn pairs(
    ini: &Ini,
    section: &str,
    known: impl Fn(&str, &str) -> bool,
) -> Result<Vec<(String, String)>, SnapshotError> {
    let mut pairs = Vec::new();
    for entry in ini.entries(section) {
        for name in entry.names() {
            if !known(&entry.key, name) {
                let names = format!("{}={name}", entry.key);
                return Err(ini.error(entry.line, SnapshotProblem::UnknownName(names)));
            }
            pairs.push((entry.key.clone(), name.to_owned()));
        }
    }
    Ok(pairs)
}

fn named(devices: &[Device], name: &str) -> bool {
    devices.iter().any(|device| device.name == name)
}

fn named_file(directory: &Path, ini: &Ini, entry: &Entry) -> Result<PathBuf, SnapshotError> {
    files::inside(directory, &entry.value)
        .ok_or_else(|| ini.error(entry.line, SnapshotProblem::OutsideDirectory(entry.value.clone())))
}
