//! Functions by address, from the symbol tables of ELF files.

use std::path::Path;

use object::elf::EM_ARM;
use object::read::elf::{ElfFile, FileHeader};
use object::{
    Endianness, FileKind, Object as _, ObjectSymbol as _, ReadCache, ReadRef, SymbolKind, SymbolSection,
};
use traceproof_vectors::bounded;

use crate::elf::ElfError;
use crate::visible;

/// Symbols of all files together, and bytes of their names: far more than programs have. Further ones are ignored.
const MOST: usize = 1 << 20;
const MOST_BYTES: usize = 64 << 20;

/// Functions and other labels of code, by address.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Ascending addresses; one symbol for each.
    sorted: Vec<Symbol>,
    /// Of the names.
    bytes: usize,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Address of its first instruction.
    pub address: u64,
    /// Its bytes; 0 = up to the next symbol.
    pub size: u64,
    /// Its name, as the linker knows it. Of ELF files with [hidden](visible::is_hidden) characters escaped.
    pub name: String,
}

impl Symbols {
    /// Adds the symbols of an ELF file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no ELF file, or is damaged.
    pub fn add(&mut self, path: &Path) -> Result<(), ElfError> {
        let file = bounded::open(path).map_err(|error| ElfError::Unreadable(error.to_string()))?;
        let cache = ReadCache::new(file);
        self.add_data(&cache)
    }

    fn add_data<'a, R: ReadRef<'a>>(&mut self, data: R) -> Result<(), ElfError> {
        match FileKind::parse(data) {
            Ok(FileKind::Elf32) => self.add_class::<object::elf::FileHeader32<Endianness>, R>(data),
            Ok(FileKind::Elf64) => self.add_class::<object::elf::FileHeader64<Endianness>, R>(data),
            _ => Err(ElfError::NotElf),
        }
    }

    fn add_class<'a, H: FileHeader<Endian = Endianness>, R: ReadRef<'a>>(
        &mut self,
        data: R,
    ) -> Result<(), ElfError> {
        let file = ElfFile::<H, R>::parse(data).map_err(|error| ElfError::Damaged(error.to_string()))?;
        let is_arm = file.elf_header().e_machine(file.endian()) == EM_ARM;
        for symbol in file.symbols() {
            let is_function = symbol.kind() == SymbolKind::Text;
            // Labels of assembly have no type.
            let is_code = is_function || (symbol.kind() == SymbolKind::Unknown && symbol.is_definition());
            let name = symbol.name().unwrap_or_default();
            // `$a`, `$t`, `$x`, `$d` mark encodings, `.L…` are labels of compilers.
            // Labels outside of sections are numbers of linker scripts.
            let is_placed = matches!(symbol.section(), SymbolSection::Section(_));
            if !is_code || !is_placed || name.is_empty() || name.starts_with(['$', '.']) {
                continue;
            }
            // An escaped character has at most 8 bytes.
            let escaped = 8 * name.matches(visible::is_hidden).count();
            self.bytes = self.bytes.saturating_add(name.len() + escaped);
            if self.sorted.len() >= MOST || self.bytes > MOST_BYTES {
                break;
            }
            // Bit 0 of the address of a function says that it is Thumb code.
            let thumb = if is_arm && is_function { 1 } else { 0 };
            let (address, size) = (symbol.address() & !thumb, symbol.size());
            self.sorted.push(Symbol { address, size, name: visible::line(name).into_owned() });
        }
        // Of symbols at one address, the one with a size is the function.
        self.sorted.sort_by(|a, b| (a.address, b.size, &a.name).cmp(&(b.address, a.size, &b.name)));
        self.sorted.dedup_by_key(|symbol| symbol.address);
        Ok(())
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The function that an address is in.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<&Symbol> {
        let after = self.sorted.partition_point(|symbol| symbol.address <= address);
        let symbol = self.sorted.get(after.checked_sub(1)?)?;
        (symbol.size == 0 || address - symbol.address < symbol.size).then_some(symbol)
    }

    /// The function that an address is in and, after `+`, the distance from its first instruction.
    #[must_use]
    pub fn name(&self, address: u64) -> Option<String> {
        let symbol = self.find(address)?;
        Some(match address - symbol.address {
            0 => symbol.name.clone(),
            offset => format!("{}+{offset:#x}", symbol.name),
        })
    }
}

impl FromIterator<Symbol> for Symbols {
    fn from_iter<I: IntoIterator<Item = Symbol>>(symbols: I) -> Self {
        let mut sorted: Vec<Symbol> = symbols.into_iter().collect();
        sorted.sort_by_key(|symbol| symbol.address);
        Self { sorted, bytes: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shipped program for RV32: `_start` is its entry, `main` calls `crc_of`.
    #[test]
    fn symbols_of_a_real_program_are_found() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/programs/riscv_etrace/mix.rv32imc.elf");
        let mut symbols = Symbols::default();
        symbols.add(&path).expect("an ELF file");
        assert_eq!(symbols.name(0x8000_0000).as_deref(), Some("_start"));
        let main = symbols.sorted.iter().find(|symbol| symbol.name == "main").expect("a main").clone();
        assert_eq!(symbols.name(main.address + 2), Some(String::from("main+0x2")));
        assert_ne!(symbols.find(main.address + main.size), Some(&main));
        assert_eq!(symbols.find(0x100), None);
        assert!(symbols.sorted.windows(2).all(|pair| pair[0].address < pair[1].address));
    }

    #[test]
    fn what_is_no_elf_file_has_no_symbols() {
        assert_eq!(Symbols::default().add_data(&b"#!/bin/sh"[..]), Err(ElfError::NotElf));
        assert!(matches!(Symbols::default().add(Path::new("/")), Err(ElfError::Unreadable(_))));
    }
}
