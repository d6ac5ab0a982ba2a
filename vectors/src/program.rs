//! The code that was running: sections of bytes by address, and by the state of the processor.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::{Address, MemorySpace};

/// The code that a trace ran over: sections of bytes, sorted by address.
///
/// Most programs have one memory: every section is in [`MemorySpace::ANY`], and no two overlap. Sections of different
/// spaces may overlap where it is clear which one is meant:
///
/// * two spaces that have no state in common (secure and non-secure, EL1 and EL2, two virtual machines);
/// * a space inside of another one: there the inner section hides the outer one.
///
/// Everything else is refused. A look-up names the space it is made in, and finds, of the sections that hold the
/// address,
///
/// 1. the innermost of those whose space contains that of the look-up;
/// 2. if there is none, for the look-up leaves open what they state, the sections that it may mean, if they hold the
///    same bytes there.
///
/// A look-up in [`MemorySpace::ANY`] thus finds what a decoder that does not distinguish states can know: the code of
/// the only space that has some, and nothing where spaces differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    sections: Vec<Section>,
    /// A section states a space; otherwise none overlap.
    has_spaces: bool,
}

/// A contiguous run of bytes in target memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Byte address of the first byte.
    pub address: Address,
    /// The bytes as they lie in target memory.
    pub bytes: Vec<u8>,
    /// Where the bytes came from, for display.
    pub name: String,
    /// In which states of the processor the bytes are there.
    pub space: MemorySpace,
}

/// Why a section cannot be added to a [`Program`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramError {
    /// The section shares addresses with one that is already there, in the same space.
    Overlap {
        /// First address of the refused section.
        address: Address,
        /// First address of the section in the way.
        existing: Address,
    },
    /// The section shares addresses with one whose space has states in common with its own, and neither space is inside
    /// of the other.
    Ambiguous {
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
        Self { sections: Vec::new(), has_spaces: false }
    }

    /// Adds a section. Empty sections are ignored.
    ///
    /// # Errors
    ///
    /// When the section overlaps another one, and it is not clear which one is meant, or the end of the address space;
    /// the program is unchanged then.
    pub fn insert(&mut self, section: Section) -> Result<(), ProgramError> {
        if section.bytes.is_empty() {
            return Ok(());
        }
        let last = (section.bytes.len() as u64)
            .checked_sub(1)
            .and_then(|length| section.address.0.checked_add(length))
            .map(Address)
            .ok_or(ProgramError::AddressOverflow { address: section.address })?;
        let key = |section: &Section| (section.address, section.space);
        let at = self.sections.partition_point(|other| key(other) < key(&section));
        let has_spaces = self.has_spaces || !section.space.is_any();
        // Without spaces no two overlap, so only the neighbours can be in the way.
        let first = if has_spaces { 0 } else { at.saturating_sub(1) };
        let near = self.sections.iter().skip(first).take_while(|other| other.address <= last);
        for other in near.filter(|other| other.last() >= section.address) {
            let (address, existing) = (section.address, other.address);
            if section.space == other.space {
                return Err(ProgramError::Overlap { address, existing });
            }
            let nested = section.space.contains(&other.space) || other.space.contains(&section.space);
            if section.space.overlaps(&other.space) && !nested {
                return Err(ProgramError::Ambiguous { address, existing });
            }
        }
        self.has_spaces = has_spaces;
        self.sections.insert(at, section);
        Ok(())
    }

    /// The sections of all spaces, in the order of addresses and, at one address, of spaces.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The bytes from `address` to the end of the section that holds it; `None` where no code is, or where spaces
    /// differ. As [`bytes_in`](Self::bytes_in) any space.
    #[must_use]
    pub fn bytes_at(&self, address: impl Into<Address>) -> Option<&[u8]> {
        self.bytes_in(MemorySpace::ANY, address)
    }

    /// The bytes that are seen in a space from `address` on, as far as one section holds them; `None` where no code is,
    /// or where it is open which of several sections is meant.
    #[must_use]
    pub fn bytes_in(&self, space: MemorySpace, address: impl Into<Address>) -> Option<&[u8]> {
        let address = address.into();
        if !self.has_spaces {
            let at = self.sections.partition_point(|section| section.address <= address);
            return self.sections.get(at.checked_sub(1)?)?.from(address);
        }
        let stretch = self.stretch(&space, address)?;
        let section = self.sections.get(stretch.section)?;
        let mut last = stretch.last;
        while last < section.last()
            && let Some(more) = self.stretch(&space, last.wrapping_add(1))
            && more.section == stretch.section
        {
            last = more.last;
        }
        let length = usize::try_from(last.wrapping_offset_from(address)).ok()?.checked_add(1)?;
        section.from(address)?.get(..length)
    }

    /// Whether code exists in some states of the processor only.
    #[must_use]
    pub const fn has_spaces(&self) -> bool {
        self.has_spaces
    }

    /// The program as it is seen in a space: sections that do not overlap, of any space.
    #[must_use]
    pub fn seen_in(&self, space: MemorySpace) -> Cow<'_, Self> {
        if !self.has_spaces {
            return Cow::Borrowed(self);
        }
        let mut seen = Self::new();
        let mut next = self.sections.first().map(|section| section.address);
        while let Some(address) = next {
            let found = self.bytes_in(space, address);
            let after = match found {
                Some(bytes) => {
                    let name =
                        self.stretch(&space, address).and_then(|found| self.sections.get(found.section));
                    let name = name.map_or_else(String::new, |section| section.name.clone());
                    seen.sections.push(Section::new(address, bytes.to_vec(), name));
                    address.0.checked_add(bytes.len() as u64).map(Address)
                }
                None => Some(address),
            };
            next = after.and_then(|after| self.next_border(after, found.is_some()));
        }
        Cow::Owned(seen)
    }

    /// The first address at or after (`inclusive`) `address` at which a section begins or has just ended, or that is
    /// held.
    fn next_border(&self, address: Address, inclusive: bool) -> Option<Address> {
        if inclusive && self.sections.iter().any(|section| section.holds(address)) {
            return Some(address);
        }
        let starts = self.sections.iter().map(|section| section.address);
        let ends = self.sections.iter().filter_map(|section| section.last().0.checked_add(1).map(Address));
        starts.chain(ends).filter(|border| *border > address).min()
    }

    /// The section that a look-up at `address` finds, and up to where the same sections hold every address.
    fn stretch(&self, space: &MemorySpace, address: Address) -> Option<Stretch> {
        let mut last = Address(u64::MAX);
        let mut certain: Option<(usize, &Section)> = None;
        let mut possible: Vec<(usize, &Section)> = Vec::new();
        for (index, section) in self.sections.iter().enumerate() {
            if !section.space.overlaps(space) || section.last() < address {
                continue;
            }
            if section.address > address {
                last = last.min(Address(section.address.0 - 1));
                break;
            }
            last = last.min(section.last());
            if !section.space.contains(space) {
                possible.push((index, section));
            } else if certain.is_none_or(|(_, other)| other.space.contains(&section.space)) {
                certain = Some((index, section));
            }
        }
        if let Some((section, _)) = certain {
            return Some(Stretch { section, last });
        }
        let length = usize::try_from(last.wrapping_offset_from(address)).ok()?.checked_add(1)?;
        let bytes = |section: &Section| {
            section.from(address).and_then(|bytes| bytes.get(..length)).map(<[u8]>::to_vec)
        };
        let (section, first) = possible.first().copied()?;
        let agree = possible.iter().all(|(_, other)| bytes(other) == bytes(first));
        agree.then_some(Stretch { section, last })
    }
}

/// A run of addresses that the same sections hold.
struct Stretch {
    /// Index of the section that is found.
    section: usize,
    /// The last address of the run.
    last: Address,
}

impl Section {
    /// The bytes from `address` on, in any space; `name` says where they came from.
    #[must_use]
    pub fn new(address: impl Into<Address>, bytes: Vec<u8>, name: impl Into<String>) -> Self {
        Self { address: address.into(), bytes, name: name.into(), space: MemorySpace::ANY }
    }

    /// The same in this space only.
    #[must_use]
    pub const fn in_space(mut self, space: MemorySpace) -> Self {
        self.space = space;
        self
    }

    /// Address of the last byte of a section that is not empty and ends inside the address space.
    fn last(&self) -> Address {
        self.address.wrapping_add((self.bytes.len() as u64).saturating_sub(1))
    }

    fn holds(&self, address: Address) -> bool {
        self.address <= address && address <= self.last()
    }

    /// The bytes from an address on that is not before the first one.
    fn from(&self, address: Address) -> Option<&[u8]> {
        let offset = usize::try_from(address.wrapping_offset_from(self.address)).ok()?;
        self.bytes.get(offset..).filter(|bytes| !bytes.is_empty())
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap { address, existing } => {
                write!(f, "section at {address:#x} overlaps the one at {existing:#x}")
            }
            Self::Ambiguous { address, existing } => {
                write!(
                    f,
                    "section at {address:#x} overlaps the one at {existing:#x}, and neither space is inside of the other"
                )
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

    fn filled(address: u64, length: usize, byte: u8, space: &str) -> Section {
        Section::new(address, vec![byte; length], "").in_space(self::space(space))
    }

    fn space(text: &str) -> MemorySpace {
        text.parse().expect("a space")
    }

    fn program(sections: &[(u64, usize, u8, &str)]) -> Program {
        let mut program = Program::new();
        for &(address, length, byte, space) in sections {
            program.insert(filled(address, length, byte, space)).expect("clear");
        }
        program
    }

    /// The first byte that is seen, and how many.
    fn seen(program: &Program, space: &str, address: u64) -> Option<(u8, usize)> {
        let bytes = program.bytes_in(self::space(space), address)?;
        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "of one section");
        Some((bytes[0], bytes.len()))
    }

    #[test]
    fn spaces_without_a_common_state_do_not_see_each_other() {
        let program =
            program(&[(0x1000, 16, 1, "secure"), (0x1008, 16, 2, "non-secure"), (0x1004, 4, 3, "realm el2")]);
        assert_eq!(seen(&program, "secure el1", 0x1004), Some((1, 12)));
        assert_eq!(seen(&program, "secure", 0x1010), None);
        assert_eq!(seen(&program, "non-secure vmid=0x1", 0x1000), None);
        assert_eq!(seen(&program, "non-secure vmid=0x1", 0x1009), Some((2, 15)));
        assert_eq!(seen(&program, "realm el2", 0x1005), Some((3, 3)));
        assert_eq!(seen(&program, "realm el1", 0x1005), None);
    }

    #[test]
    fn the_innermost_space_is_seen() {
        let program =
            program(&[(0x1000, 32, 1, "any"), (0x1008, 8, 2, "secure"), (0x100c, 8, 3, "secure el1")]);
        assert_eq!(seen(&program, "non-secure", 0x1000), Some((1, 32)));
        assert_eq!(seen(&program, "secure el2", 0x1000), Some((1, 8)));
        assert_eq!(seen(&program, "secure el2", 0x1008), Some((2, 8)));
        assert_eq!(seen(&program, "secure el1", 0x1008), Some((2, 4)));
        assert_eq!(seen(&program, "secure el1", 0x100c), Some((3, 8)));
        assert_eq!(seen(&program, "secure el1", 0x1014), Some((1, 12)), "the outer one again");
        assert_eq!(program.bytes_at(0x1000).map(<[u8]>::len), Some(32), "what is certain in any space");
    }

    #[test]
    fn a_look_up_that_leaves_several_open_finds_what_they_agree_on() {
        let alone = program(&[(0x1000, 8, 1, "secure el1")]);
        assert_eq!(seen(&alone, "any", 0x1002), Some((1, 6)), "the only one");
        assert_eq!(seen(&alone, "secure", 0x1002), Some((1, 6)));
        let mut both =
            program(&[(0x1000, 8, 1, "secure"), (0x1004, 8, 1, "non-secure"), (0x1008, 4, 2, "realm")]);
        assert_eq!(seen(&both, "any", 0x1000), Some((1, 8)), "they hold the same");
        assert_eq!(seen(&both, "any", 0x1008), None, "they do not");
        assert_eq!(seen(&both, "el1", 0x1008), None);
        assert_eq!(seen(&both, "non-secure", 0x1008), Some((1, 4)));
        both.insert(filled(0x1008, 1, 9, "any")).expect("outside of all");
        assert_eq!(seen(&both, "any", 0x1008), Some((9, 1)), "certain in any space");
    }

    #[test]
    fn overlaps_that_leave_open_which_is_meant_are_refused() {
        let mut program = program(&[(0x1000, 8, 1, "secure"), (0x1000, 8, 2, "non-secure el1")]);
        let refused =
            |program: &mut Program, space| program.insert(filled(0x1007, 4, 3, space)).expect_err(space);
        let (address, existing) = (Address(0x1007), Address(0x1000));
        assert_eq!(refused(&mut program, "secure"), ProgramError::Overlap { address, existing });
        assert_eq!(refused(&mut program, "el1"), ProgramError::Ambiguous { address, existing });
        assert_eq!(refused(&mut program, "vmid=0x1"), ProgramError::Ambiguous { address, existing });
        assert_eq!(program.sections().len(), 2, "unchanged");
        for space in ["secure el1", "any", "realm", "non-secure", "non-secure el2"] {
            program.clone().insert(filled(0x1007, 4, 3, space)).expect(space);
        }
        program.insert(filled(0x1008, 4, 3, "el1")).expect("after them");
    }

    #[test]
    fn a_program_is_seen_in_a_space() {
        let program = program(&[
            (0x1000, 32, 1, "any"),
            (0x1008, 8, 2, "secure"),
            (0x2000, 8, 3, "secure"),
            (0x2004, 8, 4, "non-secure"),
            (u64::MAX, 1, 5, "non-secure"),
        ]);
        let pieces = |text: &str| -> Vec<(u64, usize, u8)> {
            let seen = program.seen_in(space(text));
            assert!(seen.sections().iter().all(|section| section.space.is_any()));
            seen.sections()
                .iter()
                .map(|section| (section.address.0, section.bytes.len(), section.bytes[0]))
                .collect()
        };
        assert_eq!(pieces("secure"), [(0x1000, 8, 1), (0x1008, 8, 2), (0x1010, 16, 1), (0x2000, 8, 3)]);
        assert_eq!(pieces("non-secure"), [(0x1000, 32, 1), (0x2004, 8, 4), (u64::MAX, 1, 5)]);
        assert_eq!(pieces("realm"), [(0x1000, 32, 1)]);
        assert_eq!(pieces("any"), [(0x1000, 32, 1), (0x2000, 4, 3), (0x2008, 4, 4), (u64::MAX, 1, 5)]);
        let plain = self::program(&[(0x1000, 4, 1, "any")]);
        assert!(matches!(plain.seen_in(space("secure")), Cow::Borrowed(_)));
    }
}
