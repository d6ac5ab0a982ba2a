//! Which code was running: sections of bytes by address.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::Address;

/// The code that a trace ran over: sections of bytes, sorted by address, never overlapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    sections: Vec<Section>,
}

/// A contiguous run of bytes in target memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Byte address of the first byte.
    pub address: Address,
    /// The bytes as they lie in target memory.
    pub bytes: Vec<u8>,
    /// Where the bytes came from, for people.
    pub name: String,
}

/// Why a section cannot be added to a [`Program`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramError {
    /// The section shares addresses with one that is already there.
    Overlap {
        /// First address of the refused section.
        address: Address,
        /// First address of the section in the way.
        existing: Address,
    },
    /// The section runs past the end of the 64-bit address space.
    AddressOverflow {
        /// First address of the refused section.
        address: Address,
    },
}

impl Program {
    /// A program without code.
    #[must_use]
    pub const fn new() -> Self {
        Self { sections: Vec::new() }
    }

    /// Adds a section. Empty sections are ignored.
    ///
    /// # Errors
    ///
    /// When the section overlaps another one or the end of the address space; the program is unchanged then.
    pub fn insert(&mut self, section: Section) -> Result<(), ProgramError> {
        if section.bytes.is_empty() {
            return Ok(());
        }
        let last = (section.bytes.len() as u64)
            .checked_sub(1)
            .and_then(|length| section.address.0.checked_add(length))
            .ok_or(ProgramError::AddressOverflow { address: section.address })?;
        let at = self.sections.partition_point(|other| other.address < section.address);
        let overlap =
            |other: &Section| ProgramError::Overlap { address: section.address, existing: other.address };
        if let Some(next) = self.sections.get(at)
            && next.address.0 <= last
        {
            return Err(overlap(next));
        }
        if let Some(previous) = at.checked_sub(1).and_then(|index| self.sections.get(index))
            && previous.last() >= section.address
        {
            return Err(overlap(previous));
        }
        self.sections.insert(at, section);
        Ok(())
    }

    /// The sections in address order.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The bytes from `address` to the end of the section that holds it; `None` where no code is.
    #[must_use]
    pub fn bytes_at(&self, address: impl Into<Address>) -> Option<&[u8]> {
        let address = address.into();
        let at = self.sections.partition_point(|section| section.address <= address);
        let section = self.sections.get(at.checked_sub(1)?)?;
        let offset = usize::try_from(address.wrapping_offset_from(section.address)).ok()?;
        section.bytes.get(offset..).filter(|bytes| !bytes.is_empty())
    }
}

impl Section {
    /// The bytes from `address` on; `name` says where they came from.
    #[must_use]
    pub fn new(address: impl Into<Address>, bytes: Vec<u8>, name: impl Into<String>) -> Self {
        Self { address: address.into(), bytes, name: name.into() }
    }

    /// Address of the last byte of a section that is not empty and ends inside the address space.
    fn last(&self) -> Address {
        self.address.wrapping_add((self.bytes.len() as u64).saturating_sub(1))
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap { address, existing } => {
                write!(f, "section at {address:#x} overlaps the one at {existing:#x}")
            }
            Self::AddressOverflow { address } => {
                write!(f, "section at {address:#x} runs past the address space")
            }
        }
    }
}

impl core::error::Error for ProgramError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn section(address: u64, length: usize) -> Section {
        Section::new(address, vec![0x13; length], "")
    }

    #[test]
    fn sections_are_found_by_address_and_never_overlap() {
        let mut program = Program::new();
        program.insert(section(0x2000, 4)).expect("free");
        program.insert(section(0x1000, 8)).expect("free");
        assert_eq!(program.bytes_at(0x1006).map(<[u8]>::len), Some(2));
        assert_eq!(program.bytes_at(0x1008), None);
        assert_eq!(program.bytes_at(0xfff), None);
        assert_eq!(
            program.insert(section(0x1ffe, 3)),
            Err(ProgramError::Overlap { address: Address(0x1ffe), existing: Address(0x2000) })
        );
        assert_eq!(
            program.insert(section(0x1007, 1)),
            Err(ProgramError::Overlap { address: Address(0x1007), existing: Address(0x1000) })
        );
        assert_eq!(
            program.insert(section(u64::MAX, 2)),
            Err(ProgramError::AddressOverflow { address: Address(u64::MAX) })
        );
        program.insert(section(u64::MAX, 1)).expect("the last byte is addressable");
        assert_eq!(program.bytes_at(u64::MAX).map(<[u8]>::len), Some(1));
    }
}
