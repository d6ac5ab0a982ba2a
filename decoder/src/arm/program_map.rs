//! The program, decoded once for each instruction set, so that the flow can go from block to block.

use alloc::vec::Vec;

use traceproof_vectors::{Address, MemorySpace, Program};

use traceproof_vectors::arm::{Barrier, InstructionClass};

use super::instruction::{Destination, Instruction, InstructionSet, Transfers};

/// A program, pre-decoded at every place where an instruction can start.
///
/// Its size is a fixed multiple of the program's: for each byte of code 4 bytes for A32 and A64 and 8 for each Thumb
/// instruction set. Building it takes time linear in that.
///
/// ```
/// use traceproof_decoder::arm::{Destination, InstructionSet, ProgramMap, Stops};
/// use traceproof_vectors::{Program, Section};
///
/// // nop; nop; b 0x8000
/// let code = [0xe320f000_u32, 0xe320f000, 0xeafffffc];
/// let mut program = Program::new();
/// let bytes = code.iter().flat_map(|word| word.to_le_bytes()).collect();
/// program.insert(Section::new(0x8000, bytes, ""))?;
///
/// let map = ProgramMap::new(&program, &[InstructionSet::A32], Stops::default());
/// let block = map.block(InstructionSet::A32, 0x8000).unwrap();
/// assert_eq!((block.instructions, block.bytes), (2, 8));
/// assert_eq!(block.then.destination(), Destination::Target);
/// assert_eq!(block.then.target(0x8008), 0x8000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProgramMap {
    /// One table for each instruction set asked for, at its place in [`InstructionSet::ALL`].
    tables: [Table; InstructionSet::ALL.len()],
}

/// At which instructions, besides branches, blocks end: what else is a waypoint (PFT) or a P0 element (ETE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stops {
    /// At ISB.
    pub instruction_barriers: bool,
    /// At DSB and DMB.
    pub data_barriers: bool,
    /// At WFI and WFE.
    pub waits: bool,
    /// At TSTART.
    pub transaction_starts: bool,
    /// Not at the branches of low-overhead loops: architectures before ARMv8.1-M do not have them.
    pub no_loops: bool,
}

impl Stops {
    const fn at(self, instruction: &Instruction) -> bool {
        match instruction.class {
            InstructionClass::Barrier(Barrier::Isb) => self.instruction_barriers,
            InstructionClass::Barrier(Barrier::Dsb | Barrier::Dmb) => self.data_barriers,
            InstructionClass::Wait(_) => self.waits,
            InstructionClass::TransactionStart => self.transaction_starts,
            InstructionClass::LowOverheadLoop => !self.no_loops,
            _ => !matches!(instruction.destination(), Destination::Next),
        }
    }
}

/// Instructions that are executed one after the other, and the one after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// How many, the one after them not included. In very long straight code a block may end early.
    pub instructions: u32,
    /// Their bytes.
    pub bytes: u32,
    /// The instruction after them: a branch, a stop, a missing one where code ends, or any one where the block ends
    /// early.
    pub then: Instruction,
}

#[derive(Clone, Debug, Default)]
struct Table {
    /// Contiguous code, in address order.
    regions: Vec<Region>,
    /// The units of all regions; after those of each region lies one that is `Missing`.
    slots: Vec<Slot>,
}

/// Contiguous code: one section, or several without a gap.
#[derive(Clone, Copy, Debug)]
struct Region {
    /// Address of the first unit: a multiple of the alignment.
    first: u64,
    /// Bytes of whole units.
    length: u64,
    /// Index of the first unit's slot.
    slot: usize,
}

/// The instruction that starts at this unit (half-word or word), and where straight code from here leads.
#[derive(Clone, Copy, Debug)]
struct Slot {
    offset: i32,
    /// Units from here to the end of the block; 0 if it is here.
    run: u16,
    /// Instructions in them.
    count: u16,
    class: InstructionClass,
    length: u8,
    flags: u8,
    target_set: InstructionSet,
    transfers: Transfers,
}

const CONDITIONAL: u8 = 1;
const ALIGNED: u8 = 2;

impl Slot {
    const MISSING: Self = Self::new(Instruction::MISSING);

    const fn new(instruction: Instruction) -> Self {
        let flags = (if instruction.conditional { CONDITIONAL } else { 0 })
            | (if instruction.aligned { ALIGNED } else { 0 });
        Self {
            offset: instruction.offset,
            run: 0,
            count: 0,
            class: instruction.class,
            length: instruction.length,
            flags,
            target_set: instruction.target_set,
            transfers: instruction.transfers,
        }
    }

    #[inline]
    const fn instruction(&self) -> Instruction {
        Instruction {
            class: self.class,
            length: self.length,
            conditional: self.flags & CONDITIONAL != 0,
            target_set: self.target_set,
            offset: self.offset,
            aligned: self.flags & ALIGNED != 0,
            transfers: self.transfers,
        }
    }
}

impl ProgramMap {
    /// Decodes the whole program in each of `sets`.
    #[must_use]
    pub fn new(program: &Program, sets: &[InstructionSet], stops: Stops) -> Self {
        let mut map = Self::default();
        for &set in sets {
            map.tables[set as usize] = Table::new(program, set, stops);
        }
        map
    }

    /// The instruction at `address`, if code is there and an instruction can be.
    #[inline]
    #[must_use]
    pub fn instruction(&self, set: InstructionSet, address: u64) -> Option<Instruction> {
        let table = self.table(set);
        Some(table.slot(table.locate(set, address)?).instruction())
    }

    /// The block that starts at `address`, if code is there and an instruction can be.
    #[inline]
    #[must_use]
    pub fn block(&self, set: InstructionSet, address: u64) -> Option<Block> {
        let table = self.table(set);
        let at = table.locate(set, address)?;
        let Slot { run, count, .. } = *table.slot(at);
        let bytes = u32::from(run) * set.alignment() as u32;
        let then = table.slot(at + usize::from(run)).instruction();
        Some(Block { instructions: count.into(), bytes, then })
    }

    /// The address after the first `instructions` of the block that starts at `address`; `None` where there are not so
    /// many.
    #[must_use]
    pub fn behind(&self, set: InstructionSet, address: u64, instructions: u32) -> Option<u64> {
        let table = self.table(set);
        let mut at = table.locate(set, address)?;
        let mut bytes = 0;
        if instructions > u32::from(table.slot(at).count) {
            return None;
        }
        if matches!(set, InstructionSet::A32 | InstructionSet::A64) {
            return Some(address.wrapping_add(4 * u64::from(instructions)));
        }
        for _ in 0..instructions {
            let length = table.slot(at).length;
            bytes += u64::from(length);
            at += usize::from(length) / 2;
        }
        Some(address.wrapping_add(bytes))
    }

    #[inline]
    fn table(&self, set: InstructionSet) -> &Table {
        &self.tables[set as usize]
    }
}

/// Passes on each contiguous piece of code, which may span several sections, from the first place on where an
/// instruction of `set` can be: its address, its bytes.
pub(crate) fn contiguous(program: &Program, set: InstructionSet, mut each: impl FnMut(u64, &[u8])) {
    let program = program.seen_in(MemorySpace::ANY);
    let mut sections = program.sections().iter().peekable();
    let mut joined: Vec<u8> = Vec::new();
    while let Some(section) = sections.next() {
        joined.clear();
        joined.extend_from_slice(&section.bytes);
        while let Some(next) = sections.next_if(|next| {
            Some(next.address) == section.address.0.checked_add(joined.len() as u64).map(Address)
        }) {
            joined.extend_from_slice(&next.bytes);
        }
        let skip = section.address.0.wrapping_neg() % set.alignment();
        if let (Some(first), Some(code)) = (section.address.0.checked_add(skip), joined.get(skip as usize..))
        {
            each(first, code);
        }
    }
}

impl Table {
    fn new(program: &Program, set: InstructionSet, stops: Stops) -> Self {
        let mut table = Self::default();
        contiguous(program, set, |first, code| table.add_region(set, stops, first, code));
        table
    }

    fn add_region(&mut self, set: InstructionSet, stops: Stops, first: u64, code: &[u8]) {
        let unit = set.alignment() as usize;
        let units = code.len() / unit;
        if units == 0 {
            return;
        }
        let start = self.slots.len();
        self.regions.push(Region { first, length: (units * unit) as u64, slot: start });
        let code = code.get(..units * unit).unwrap_or_default();
        let mut previous = None;
        for at in (0..code.len()).step_by(unit) {
            let here = code.get(at..).unwrap_or_default();
            self.slots.push(Slot::new(set.decode(here, previous)));
            previous = here.first_chunk().map(|bytes| u16::from_le_bytes(*bytes));
        }
        self.slots.push(Slot::MISSING);
        for at in (start..self.slots.len()).rev() {
            let slot = *self.slot(at);
            if stops.at(&slot.instruction()) {
                continue;
            }
            let length = u16::from(slot.length) / unit as u16;
            let next = *self.slot(at + usize::from(length));
            // A run too long to count is cut; the walk goes on after the cut.
            let (run, count) = match next.run.checked_add(length) {
                Some(run) => (run, next.count + 1),
                None => (length, 1),
            };
            if let Some(place) = self.slots.get_mut(at) {
                (place.run, place.count) = (run, count);
            }
        }
    }

    /// The index of the slot of the instruction at `address`; `None` where no instruction is.
    #[inline]
    fn locate(&self, set: InstructionSet, address: u64) -> Option<usize> {
        let region = match self.regions.as_slice() {
            [only] => only,
            regions => {
                let count = regions.partition_point(|region| region.first <= address);
                regions.get(count.checked_sub(1)?)?
            }
        };
        let offset = address.wrapping_sub(region.first);
        if offset >= region.length || offset % set.alignment() != 0 {
            return None;
        }
        let index = region.slot + (offset / set.alignment()) as usize;
        (self.slot(index).length != 0).then_some(index)
    }

    #[inline]
    fn slot(&self, index: usize) -> &Slot {
        self.slots.get(index).unwrap_or(&Slot::MISSING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_16_bytes() {
        assert_eq!(size_of::<Slot>(), 16);
    }
}
