//! The program, decoded once, so that the flow can step from one control-flow instruction to the next.

use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::Parameters;
use traceproof_vectors::{Address, MemorySpace, Program};

use super::instruction::{Class, Instruction, InstructionSet};
use super::slot::Slot;
use super::starts::Starts;

/// A program, pre-decoded at every half-word.
///
/// Its size is a fixed multiple of the program's (at most 14 bytes for each byte of code). Building it takes time
/// linear in that size.
#[derive(Clone, Debug, Default)]
pub struct ProgramMap {
    /// Contiguous code, in address order.
    regions: Vec<Region>,
    /// The half-words of all regions; after those of each region lies one that is `Missing`.
    slots: Vec<Slot>,
    /// Where the instructions of each region start.
    starts: Vec<Starts>,
    /// `address_mask` of the parameters.
    mask: u64,
}

/// Contiguous code: one section, or several without a gap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Region {
    /// Even address of the first half-word.
    pub(super) first: u64,
    /// How many half-words.
    pub(super) halfwords: u64,
    /// Index of the first half-word's slot.
    pub(super) slot: usize,
    /// The address of the half-word that would have the index 0.
    base: u64,
}

impl Region {
    /// The index of the half-word at `address`; `None` where the region has none.
    #[inline(always)]
    pub(super) const fn halfword(&self, address: u64) -> Option<usize> {
        // Rotated, an odd distance is beyond any length.
        let index = address.wrapping_sub(self.first).rotate_right(1);
        if index >= self.halfwords {
            return None;
        }
        Some(self.slot + index as usize)
    }

    /// The address of the half-word that would have the index 0. Where blocks are, the address of every other half-word
    /// lies as far after it as the index says.
    #[inline(always)]
    pub(super) const fn base(&self) -> u64 {
        self.base
    }
}

impl ProgramMap {
    /// Decodes the whole program for the hart with these parameters.
    #[must_use]
    pub fn new(program: &Program, parameters: &Parameters) -> Self {
        let set = InstructionSet::new(parameters);
        let mut map = Self { mask: parameters.address_mask(), ..Self::default() };
        let mut parcels = Vec::new();
        let program = program.seen_in(MemorySpace::ANY);
        let mut sections = program.sections().iter().peekable();
        while let Some(section) = sections.next() {
            let first = section.address;
            let mut bytes: Vec<u8> = Vec::new();
            bytes.extend_from_slice(&section.bytes);
            while let Some(next) = sections
                .next_if(|next| Some(next.address) == first.0.checked_add(bytes.len() as u64).map(Address))
            {
                bytes.extend_from_slice(&next.bytes);
            }
            // Instructions are half-word aligned.
            let skip = (first.0 & 1) as usize;
            parcels.clear();
            let whole = bytes.get(skip..).unwrap_or_default().chunks_exact(2);
            parcels.extend(whole.filter_map(|pair| Some(u16::from_le_bytes(pair.try_into().ok()?))));
            // Where the last byte of the address space stands alone there is no half-word, and no overflow.
            if !parcels.is_empty() {
                map.add_region(first.wrapping_add(skip as u64).0, &parcels, set);
            }
        }
        map.find_endless_jumps();
        map.starts = map.regions.iter().map(|region| map.find_starts(region)).collect();
        map
    }

    /// The instruction at `address`, if code is there.
    #[must_use]
    pub fn instruction(&self, address: u64) -> Option<Instruction> {
        let slot = self.slot(self.locate(address)?);
        Some(Instruction {
            class: slot.class,
            length: slot.length,
            register: slot.register,
            absolute: slot.absolute,
            immediate: slot.immediate,
        })
    }

    /// The address after `instruction` at `address`.
    #[must_use]
    pub const fn behind(&self, address: u64, instruction: Instruction) -> u64 {
        address.wrapping_add(instruction.length as u64) & self.mask
    }

    /// The index of the slot of the instruction at `address`; `None` where no instruction is.
    #[inline]
    pub(super) fn locate(&self, address: u64) -> Option<usize> {
        self.halfword(address).filter(|&index| self.slot(index).class != Class::Missing)
    }

    /// The index of the half-word at `address`; `None` where no code is.
    #[inline]
    pub(super) fn halfword(&self, address: u64) -> Option<usize> {
        self.region(address)?.halfword(address)
    }

    /// The contiguous code that has `address` in it if there is any.
    #[inline]
    pub(super) fn region(&self, address: u64) -> Option<&Region> {
        match self.regions.as_slice() {
            [only] => Some(only),
            regions => {
                let count = regions.partition_point(|region| region.first <= address);
                regions.get(count.checked_sub(1)?)
            }
        }
    }

    /// The slot with this index; `Missing` where none is.
    #[inline]
    pub(super) fn slot(&self, index: usize) -> &Slot {
        self.slots.get(index).unwrap_or(&Slot::MISSING)
    }

    /// Contiguous code, in address order.
    pub(super) fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Where the instructions start in the contiguous code that has `address` in it.
    pub(super) fn starts(&self, address: u64) -> Option<&Starts> {
        let count = self.regions.partition_point(|region| region.first <= address);
        self.starts.get(count.checked_sub(1)?)
    }

    /// The bits that an address has.
    #[inline]
    pub(super) const fn mask(&self) -> u64 {
        self.mask
    }

    /// Whether straight code from the slot `from` meets the half-word `distance` slots on as the start of an
    /// instruction, given that it comes at least that far.
    ///
    /// Code skips a half-word exactly when it executes a 4-byte instruction right before it; this is evaluated
    /// backwards until the answer no longer depends on the path.
    #[inline]
    pub(super) fn passes(&self, from: usize, distance: usize) -> bool {
        let (mut here, mut met) = (from + distance, true);
        while here > from && self.slot(here - 1).length == 4 {
            here -= 1;
            met = !met;
        }
        met
    }

    fn add_region(&mut self, first: u64, parcels: &[u16], set: InstructionSet) {
        let start = self.slots.len();
        let base = first.wrapping_sub(2 * start as u64);
        self.regions.push(Region { first, halfwords: parcels.len() as u64, slot: start, base });
        for (at, &parcel) in parcels.iter().enumerate() {
            self.slots.push(Slot::new(set.decode(parcel, parcels.get(at + 1).copied())));
        }
        self.slots.push(Slot::MISSING);
        for at in (start..self.slots.len()).rev() {
            let mut slot = *self.slot(at);
            if !slot.class.is_straight() {
                continue;
            }
            let next = *self.slot(at + usize::from(slot.length) / 2);
            let (run, count) = (u32::from(slot.length) / 2, 1);
            // A run too long to count is cut; the walk goes on after the cut.
            (slot.run, slot.count) = match next.run.checked_add(run) {
                Some(whole) => (whole, next.count() + count),
                None => (run, count),
            };
            if let Some(place) = self.slots.get_mut(at) {
                *place = slot;
            }
        }
    }

    /// Where the instructions of `region` start, and where they end.
    fn find_starts(&self, region: &Region) -> Starts {
        let slots = self.slots.iter().skip(region.slot).take(region.halfwords as usize + 1);
        Starts::new(region.first, slots.map(|slot| slot.length / 2))
    }

    /// Fills in [`Slot::laps`]: the inferable jumps form a graph in which each has at most one successor.
    fn find_endless_jumps(&mut self) {
        /// Marks a jump on the path that is being followed.
        const OPEN: u32 = u32::MAX;
        let mut done = alloc::vec![false; self.slots.len()];
        let mut way: Vec<usize> = Vec::new();
        for region in 0..self.regions.len() {
            let Some(&Region { first, halfwords, slot, .. }) = self.regions.get(region) else { continue };
            for offset in 0..halfwords as usize {
                let mut next = Some((slot + offset, first.wrapping_add(2 * offset as u64)));
                way.clear();
                let mut laps = 0;
                while let Some((at, address)) = next {
                    let jump = *self.slot(at);
                    if !jump.class.is_inferable_jump() {
                        break;
                    }
                    if jump.count == OPEN {
                        // The loop closes: everything on the path from `at` on belongs to it.
                        let length = way.iter().rev().take_while(|&&other| other != at).count() + 1;
                        laps = length as u32;
                        for _ in 0..length {
                            if let Some(slot) = way.pop().and_then(|member| self.slots.get_mut(member)) {
                                slot.count = laps;
                            }
                        }
                        break;
                    }
                    if done.get(at).copied().unwrap_or(true) {
                        laps = jump.count;
                        break;
                    }
                    self.mark(at, OPEN);
                    if let Some(done) = done.get_mut(at) {
                        *done = true;
                    }
                    way.push(at);
                    next = self.run_from(jump.target(address) & self.mask);
                }
                while let Some(member) = way.pop() {
                    laps = if laps == 0 { 0 } else { laps + 1 };
                    self.mark(member, laps);
                }
            }
        }
    }

    fn mark(&mut self, at: usize, count: u32) {
        if let Some(slot) = self.slots.get_mut(at) {
            slot.count = count;
        }
    }

    /// Slot and address of the first instruction from `address` on that is not straight.
    fn run_from(&self, address: u64) -> Option<(usize, u64)> {
        let (mut at, mut address) = (self.locate(address)?, address);
        while self.slot(at).run > 0 {
            let run = self.slot(at).run;
            at += run as usize;
            address = address.wrapping_add(2 * u64::from(run));
        }
        Some((at, address))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use traceproof_vectors::Section;

    /// A program with the given parcels at each address.
    pub(in super::super) fn program(sections: &[(u64, &[u16])]) -> Program {
        let mut program = Program::new();
        for (address, parcels) in sections {
            let bytes = parcels.iter().flat_map(|parcel| parcel.to_le_bytes()).collect();
            program.insert(Section::new(*address, bytes, "")).expect("no overlap");
        }
        program
    }

    fn map(sections: &[(u64, &[u16])]) -> ProgramMap {
        ProgramMap::new(&program(sections), &Parameters::default())
    }

    const C_NOP: u16 = 0x0001;
    const NOP: [u16; 2] = [0x0013, 0x0000];
    /// `c.j .`
    const STAY: u16 = 0xa001;
    /// `c.j .-2`
    const BACK: u16 = 0xbffd;
    /// `c.beqz x8, .+0x20`
    const BRANCH: u16 = 0xc005;

    #[test]
    fn runs_lead_to_the_next_control_flow_instruction() {
        let map = map(&[(0x1000, &[NOP[0], NOP[1], C_NOP, BRANCH, C_NOP])]);
        let at = |address| map.slot(map.locate(address).expect("code"));
        assert_eq!((at(0x1000).run, at(0x1000).count()), (3, 2));
        assert_eq!((at(0x1004).run, at(0x1004).count()), (1, 1));
        assert_eq!((at(0x1006).run, at(0x1006).class), (0, Class::Branch));
        // The last run ends where the code does.
        assert_eq!((at(0x1008).run, map.locate(0x100a)), (1, None));
        assert_eq!((map.locate(0x1001), map.locate(0xffe)), (None, None));
    }

    #[test]
    fn sections_without_a_gap_are_one_region() {
        let map = map(&[(0x1000, &[C_NOP, NOP[0]]), (0x1004, &[NOP[1], BRANCH]), (0x2000, &[C_NOP])]);
        let at = |address| map.slot(map.locate(address).expect("code"));
        assert_eq!((at(0x1000).run, at(0x1000).count()), (3, 2));
        assert_eq!(at(0x2000).length, 2);
        assert_eq!(map.instruction(0x1006).map(|i| i.class), Some(Class::Branch));
    }

    #[test]
    fn an_instruction_cut_off_by_the_end_of_code_is_missing() {
        let map = map(&[(0x1000, &[C_NOP, NOP[0]])]);
        assert_eq!(map.locate(0x1002), None);
        let program = {
            let mut program = Program::new();
            let bytes = alloc::vec![0, 1, 0, 1];
            program.insert(Section::new(0x1001, bytes, "")).expect("free");
            program
        };
        let odd = ProgramMap::new(&program, &Parameters::default());
        assert_eq!((odd.locate(0x1000), odd.locate(0x1001), odd.locate(0x1002)), (None, None, Some(0)));
    }

    /// Every run is also walked instruction by instruction.
    #[test]
    fn what_a_run_passes_is_what_a_walk_meets() {
        // 0x0013 and 0x0003 start 4-byte instructions, 0x0001 is one; every mix of them.
        for pattern in 0_u32..512 {
            let parcels: Vec<u16> = (0..9)
                .map(|bit| if pattern >> bit & 1 != 0 { 0x0013 } else { C_NOP })
                .chain([BRANCH; 2])
                .collect();
            let map = map(&[(0x1000, &parcels)]);
            for from in 0..9 {
                let Some(start) = map.locate(0x1000 + 2 * from as u64) else { continue };
                let run = map.slot(start).run as usize;
                let mut met = alloc::vec![false; run + 1];
                let mut at = 0;
                while at <= run {
                    met[at] = true;
                    if at == run {
                        break;
                    }
                    at += usize::from(map.slot(start + at).length) / 2;
                }
                for (distance, &met) in met.iter().enumerate() {
                    assert_eq!(map.passes(start, distance), met, "{pattern:#b} {from} {distance}");
                }
            }
        }
    }

    #[test]
    fn endless_jumps_know_how_many_they_are() {
        let map = map(&[
            (0x1000, &[STAY]),
            // c.nop; c.j .-2; c.j .-4 leads into it; c.j .+4 leads to a branch
            (0x2000, &[C_NOP, BACK, 0xbff5, 0xa011, C_NOP, BRANCH, C_NOP]),
            // c.j .+2, c.j .-2: two that lead to each other
            (0x3000, &[0xa009, BACK]),
        ]);
        let laps = |address| map.slot(map.locate(address).expect("code")).laps();
        assert_eq!(laps(0x1000), 1);
        assert_eq!((laps(0x2000), laps(0x2002)), (0, 1));
        assert_eq!(laps(0x2004), 2);
        assert_eq!(laps(0x2006), 0);
        assert_eq!((laps(0x3000), laps(0x3002)), (2, 2));
    }

    #[test]
    fn no_code_is_no_problem() {
        let map = ProgramMap::new(&Program::new(), &Parameters::default());
        assert_eq!(map.locate(0), None);
        assert_eq!(ProgramMap::default().instruction(0), None);
    }
}
