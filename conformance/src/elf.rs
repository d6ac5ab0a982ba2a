//! ELF files as programs.

use std::fmt;
use std::io;
use std::path::Path;

use object::elf::{EM_AARCH64, EM_ARM, EM_IA_64, EM_RISCV, PF_X, PT_LOAD};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};
use traceproof_vectors::{Program, ProgramError, Section, bounded};

/// Bytes of code that a file may have: all its segments that are read, together.
pub const CODE_LIMIT: u64 = 256 << 20;

/// Which machine an ELF file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The architecture.
    pub architecture: Architecture,
    /// Width of an address in bits: 32 or 64, from the file's class.
    pub bits: u8,
}

/// The architectures that the families are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// RISC-V.
    Riscv,
    /// ARM, 32-bit.
    Arm,
    /// ARM, 64-bit.
    Aarch64,
    /// Itanium.
    Itanium,
    /// Something else: the value of `e_machine`.
    Other(u16),
}

/// What an ELF file gives.
#[derive(Clone, Debug)]
pub struct Image {
    /// The machine it is for.
    pub machine: Machine,
    /// The bytes of every executable segment (`PT_LOAD` with `PF_X`) as the file has them, at their virtual
    /// addresses; of every loadable segment where none is executable.
    pub sections: Vec<Section>,
}

/// Why a file gives no image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElfError {
    /// It is no ELF file.
    NotElf,
    /// It is one, but damaged.
    Damaged(String),
    /// It has no loadable segment.
    Empty,
    /// Its segments have more bytes than the limit.
    TooLarge {
        /// How many.
        bytes: u64,
        /// [`CODE_LIMIT`], or twice the length of the file: segments that share bytes of the file more often are no
        /// program.
        limit: u64,
    },
    /// It cannot be read.
    Unreadable(String),
}

impl Image {
    /// Reads an ELF file. `name` is kept in the sections, for people.
    ///
    /// # Errors
    ///
    /// When `data` is no ELF file, is damaged, or has nothing to load.
    pub fn parse(data: &[u8], name: &str) -> Result<Self, ElfError> {
        Self::of(data, name)
    }

    /// Reads the headers and the segments of an ELF file, and nothing else of it.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), and when the file cannot be read or is no plain file.
    pub fn read(path: &Path) -> Result<Self, ElfError> {
        let unreadable = |error: io::Error| ElfError::Unreadable(error.to_string());
        let cache = ReadCache::new(bounded::open(path).map_err(unreadable)?);
        Self::of(&cache, &path.to_string_lossy())
    }

    fn of<'a>(data: impl ReadRef<'a>, name: &str) -> Result<Self, ElfError> {
        match FileKind::parse(data) {
            Ok(FileKind::Elf32) => read::<object::elf::FileHeader32<Endianness>, _>(data, name, 32),
            Ok(FileKind::Elf64) => read::<object::elf::FileHeader64<Endianness>, _>(data, name, 64),
            _ => Err(ElfError::NotElf),
        }
    }

    /// Adds the sections to a program.
    ///
    /// # Errors
    ///
    /// When one overlaps what is there.
    pub fn add_to(self, program: &mut Program) -> Result<(), ProgramError> {
        self.sections.into_iter().try_for_each(|section| program.insert(section))
    }
}

fn read<'a, H: FileHeader<Endian = Endianness>, R: ReadRef<'a>>(
    data: R,
    name: &str,
    bits: u8,
) -> Result<Image, ElfError> {
    let damaged = |error: object::Error| ElfError::Damaged(error.to_string());
    let file = ElfFile::<H, R>::parse(data).map_err(damaged)?;
    let endian = file.endian();
    let loads = |executable: bool| {
        file.elf_program_headers().iter().filter(move |header| {
            header.p_type(endian) == PT_LOAD && (!executable || header.p_flags(endian).0 & PF_X.0 != 0)
        })
    };
    let only_executable = loads(true).next().is_some();
    let length = data.len().map_err(|()| ElfError::Damaged(String::from("its length is unknown")))?;
    let limit = CODE_LIMIT.min(length.saturating_mul(2));
    let wanted =
        loads(only_executable).fold(0_u64, |sum, header| sum.saturating_add(header.p_filesz(endian).into()));
    if wanted > limit {
        return Err(ElfError::TooLarge { bytes: wanted, limit });
    }
    let mut sections = Vec::new();
    for header in loads(only_executable) {
        let bytes = header
            .data(endian, data)
            .map_err(|()| ElfError::Damaged(String::from("a segment lies outside the file")))?;
        sections.push(Section::new(header.p_vaddr(endian).into(), bytes.to_vec(), name.to_owned()));
    }
    if sections.iter().all(|section| section.bytes.is_empty()) {
        return Err(ElfError::Empty);
    }
    let architecture = match file.elf_header().e_machine(endian) {
        EM_RISCV => Architecture::Riscv,
        EM_ARM => Architecture::Arm,
        EM_AARCH64 => Architecture::Aarch64,
        EM_IA_64 => Architecture::Itanium,
        other => Architecture::Other(other.0),
    };
    Ok(Image { machine: Machine { architecture, bits }, sections })
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Riscv => f.write_str("RISC-V"),
            Self::Arm => f.write_str("ARM"),
            Self::Aarch64 => f.write_str("AArch64"),
            Self::Itanium => f.write_str("Itanium"),
            Self::Other(machine) => write!(f, "machine {machine}"),
        }
    }
}

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotElf => f.write_str("no ELF file"),
            Self::Damaged(reason) => write!(f, "damaged ELF file: {reason}"),
            Self::Empty => f.write_str("the ELF file has no loadable segment"),
            Self::TooLarge { bytes, limit } => {
                write!(f, "the segments of the ELF file have {bytes} bytes, more than the limit of {limit}")
            }
            Self::Unreadable(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ElfError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file of one executable segment, written by hand from the gABI's tables.
    fn elf32(vaddr: u32, flags: u32, code: &[u8]) -> Vec<u8> {
        let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        let half = |file: &mut Vec<u8>, value: u16| file.extend_from_slice(&value.to_le_bytes());
        let word = |file: &mut Vec<u8>, value: u32| file.extend_from_slice(&value.to_le_bytes());
        half(&mut file, 2); // e_type: executable
        half(&mut file, 243); // e_machine: RISC-V
        for value in [1, vaddr, 52, 0, 0] {
            word(&mut file, value); // e_version, e_entry, e_phoff, e_shoff, e_flags
        }
        for value in [52, 32, 1, 0, 0, 0] {
            half(&mut file, value); // e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx
        }
        let length = u32::try_from(code.len()).expect("small");
        for value in [1, 84, vaddr, 0x9000_0000, length, length + 16, flags, 4] {
            word(&mut file, value); // p_type, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_flags, p_align
        }
        file.extend_from_slice(code);
        file
    }

    #[test]
    fn executable_segments_become_sections() {
        let image = Image::parse(&elf32(0x8000_0000, 5, &[0x13, 0, 0, 0]), "p").expect("a program");
        assert_eq!(image.machine, Machine { architecture: Architecture::Riscv, bits: 32 });
        let section = Section::new(0x8000_0000, vec![0x13, 0, 0, 0], String::from("p"));
        assert_eq!(image.sections, [section]);
    }

    #[test]
    fn segments_count_where_none_is_executable() {
        let image = Image::parse(&elf32(0x1000, 4, &[1, 0]), "p").expect("a program");
        assert_eq!(image.sections.len(), 1);
    }

    #[test]
    fn segments_that_share_bytes_too_often_are_refused() {
        // Headers beside each other, all of the same 4,096 bytes of the file.
        let (headers, length): (u16, u32) = (64, 4_096);
        let mut file = elf32(0, 5, &vec![0x13; length as usize]);
        let segment = file[52..84].to_vec();
        let mut table = Vec::new();
        for number in 0..u32::from(headers) {
            let mut header = segment.clone();
            header[8..12].copy_from_slice(&(number * length).to_le_bytes());
            table.extend_from_slice(&header);
        }
        let place = u32::try_from(file.len()).expect("small");
        file[28..32].copy_from_slice(&place.to_le_bytes());
        file[44..46].copy_from_slice(&headers.to_le_bytes());
        file.extend_from_slice(&table);
        let limit = 2 * file.len() as u64;
        let bytes = u64::from(headers) * u64::from(length);
        assert_eq!(Image::parse(&file, "p").expect_err("64 times"), ElfError::TooLarge { bytes, limit });
    }

    #[test]
    fn a_file_gives_the_same_as_its_bytes() {
        let bytes = elf32(0x8000_0000, 5, &[0x13, 0, 0, 0]);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), &bytes).expect("written");
        let read = Image::read(file.path()).expect("a program");
        assert_eq!(read.sections[0].bytes, Image::parse(&bytes, "p").expect("a program").sections[0].bytes);
        assert!(matches!(Image::read(Path::new("/")), Err(ElfError::Unreadable(_))));
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert_eq!(Image::parse(b"", "p").expect_err("empty"), ElfError::NotElf);
        assert_eq!(Image::parse(b"#!/bin/sh", "p").expect_err("text"), ElfError::NotElf);
        let whole = elf32(0x1000, 5, &[1, 0]);
        assert!(Image::parse(&whole[..20], "p").is_err());
        let cut = Image::parse(&whole[..85], "p").expect_err("the segment is cut off");
        assert!(matches!(cut, ElfError::Damaged(_)));
        assert_eq!(Image::parse(&elf32(0x1000, 5, &[]), "p").expect_err("nothing"), ElfError::Empty);
    }
}
