//! One device of a snapshot: a core with memory, or a trace source with registers.

use std::path::{Path, PathBuf};

use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::{ExceptionLevels, MemorySpace};

use super::error::{SnapshotError, SnapshotProblem};
use super::ini::{self, Ini, Section};

/// The most dumps taken from one device.
pub(super) const MAX_DUMPS: usize = 4096;

/// A device: the contents of its `.ini` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The name that other files use for it.
    pub name: String,
    /// What sort of device it is.
    pub class: Class,
    /// The type: `Cortex-A7`, `ETM3.5`, `PTM1.1`, `ETE`, …
    pub model: String,
    /// Registers in the order of the file.
    pub registers: Vec<Register>,
    /// Memory in the order of the file.
    pub dumps: Vec<Dump>,
    /// The `.ini` file.
    pub file: PathBuf,
}

/// What sort of device it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// A processor core.
    Core,
    /// Something that generates trace.
    TraceSource,
    /// Another class: its name.
    Other(String),
}

/// A register with its captured value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The name without what stands in brackets.
    pub name: String,
    /// The content of the brackets after the name: a register number (`0x079`, `id:0x79`) or a size (`size:64`).
    pub qualifier: Option<String>,
    /// The value as it is written; vector registers do not fit 64 bits.
    pub text: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// A part of a file that holds what memory held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The file, relative to the snapshot directory.
    pub file: String,
    /// Byte address of the first byte.
    pub address: u64,
    /// Number of bytes; without it all that is left of the file.
    pub length: Option<u64>,
    /// Where in the file the bytes begin.
    pub offset: u64,
    /// Whose memory it is.
    pub space: Space,
    /// The line of the section header, counted from 1.
    pub line: usize,
}

/// Security states and exception levels that see a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the file format's")]
pub enum Space {
    Any,
    S,
    N,
    R,
    El1S,
    El1N,
    El1R,
    El2,
    El2S,
    El2R,
    El3,
    Root,
}

impl Space {
    const NAMES: [(&str, Self); 12] = [
        ("ANY", Self::Any),
        ("S", Self::S),
        ("N", Self::N),
        ("R", Self::R),
        ("EL1S", Self::El1S),
        ("EL1N", Self::El1N),
        ("EL1R", Self::El1R),
        ("EL2", Self::El2),
        ("EL2S", Self::El2S),
        ("EL2R", Self::El2R),
        ("EL3", Self::El3),
        ("ROOT", Self::Root),
    ];

    /// The states of the processor that see it. EL0 has the memory of EL1.
    #[must_use]
    pub const fn memory_space(self) -> MemorySpace {
        const EL1: ExceptionLevels = ExceptionLevels::only(ExceptionLevel::El0).and(ExceptionLevel::El1);
        const EL2: ExceptionLevels = ExceptionLevels::only(ExceptionLevel::El2);
        const EL3: ExceptionLevels = ExceptionLevels::only(ExceptionLevel::El3);
        const SECURE: MemorySpace = MemorySpace::ANY.with_security(SecurityState::Secure);
        const NON_SECURE: MemorySpace = MemorySpace::ANY.with_security(SecurityState::NonSecure);
        const REALM: MemorySpace = MemorySpace::ANY.with_security(SecurityState::Realm);
        match self {
            Self::Any => MemorySpace::ANY,
            Self::S => SECURE,
            Self::N => NON_SECURE,
            Self::R => REALM,
            Self::El1S => SECURE.with_exception_levels(EL1),
            Self::El1N => NON_SECURE.with_exception_levels(EL1),
            Self::El1R => REALM.with_exception_levels(EL1),
            Self::El2 => NON_SECURE.with_exception_levels(EL2),
            Self::El2S => SECURE.with_exception_levels(EL2),
            Self::El2R => REALM.with_exception_levels(EL2),
            Self::El3 => SECURE.with_exception_levels(EL3),
            Self::Root => MemorySpace::ANY.with_security(SecurityState::Root),
        }
    }

    /// The space of this name, in either case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, space)| space)
    }
}

impl Device {
    pub(super) fn read(file: &Path) -> Result<Self, SnapshotError> {
        Self::new(&Ini::read(file)?)
    }

    pub(super) fn new(ini: &Ini) -> Result<Self, SnapshotError> {
        let device = ini.section("device")?;
        let name = ini.required(device, "name")?.value.clone();
        let class = match ini.required(device, "class")?.value.as_str() {
            "core" => Class::Core,
            "trace_source" => Class::TraceSource,
            other => Class::Other(other.to_owned()),
        };
        let model = ini.required(device, "type")?.value.clone();
        let dumps: Vec<_> = ini.sections.iter().filter(|section| section.name.starts_with("dump")).collect();
        if let Some(extra) = dumps.get(MAX_DUMPS) {
            return Err(ini.error(extra.line, SnapshotProblem::TooMany(MAX_DUMPS)));
        }
        let dumps = dumps.into_iter().map(|section| dump(ini, section)).collect::<Result<_, _>>()?;
        let registers = ini
            .entries("regs")
            .map(|entry| {
                let (name, qualifier) = match entry.key.split_once('(') {
                    Some((name, rest)) => (name, rest.strip_suffix(')').map(str::to_owned)),
                    None => (entry.key.as_str(), None),
                };
                let (name, text) = (name.trim().to_owned(), entry.value.clone());
                Register { name, qualifier, text, line: entry.line }
            })
            .collect();
        Ok(Self { name, class, model, registers, dumps, file: ini.file.clone() })
    }

    /// The value of a register, `None` if the device does not have it. The name is taken in either case.
    ///
    /// # Errors
    ///
    /// When the value is no number of 64 bits.
    pub fn register(&self, name: &str) -> Result<Option<u64>, SnapshotError> {
        let Some(register) = self.registers.iter().find(|known| known.name.eq_ignore_ascii_case(name)) else {
            return Ok(None);
        };
        match ini::number(&register.text) {
            Some(value) => Ok(Some(value)),
            None => Err(SnapshotError {
                file: self.file.clone(),
                line: register.line,
                problem: SnapshotProblem::NotANumber(register.text.clone()),
            }),
        }
    }
}

fn dump(ini: &Ini, section: &Section) -> Result<Dump, SnapshotError> {
    let optional = |key| section.get(key).map(|entry| entry.number(&ini.file)).transpose();
    let space = match section.get("space") {
        None => Space::Any,
        Some(entry) => Space::named(&entry.value)
            .ok_or_else(|| ini.error(entry.line, SnapshotProblem::UnknownSpace(entry.value.clone())))?,
    };
    Ok(Dump {
        file: ini.required(section, "file")?.value.clone(),
        address: ini.required(section, "address")?.number(&ini.file)?,
        length: optional("length")?,
        offset: optional("offset")?.unwrap_or(0),
        space,
        line: section.line,
    })
}
