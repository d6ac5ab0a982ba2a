//! Walks that were made before: programs repeat themselves, so most walks need not be made again.

use alloc::vec::Vec;

use crate::riscv_etrace::goal::Until;

/// What a walk by blocks depends on besides the program, where it ends with an uninferable discontinuity and modes need
/// nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Where it begins.
    pub(super) pc: u64,
    /// The reported address.
    pub(super) address: u64,
    /// Explicit outcomes, oldest in bit 0, below a 1.
    pub(super) outcomes: u64,
    pub(super) until: Until,
}

/// Contiguous instructions.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    /// Half-words from the base to the first of them.
    start: u32,
    halfwords: u16,
    count: u16,
}

/// What a walk passes, in order, the reported instruction included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// The address that half-words are counted from.
    base: u64,
    stretches: [Stretch; LONGEST],
    /// How many of them; more than there can be if they are too many or too long.
    length: u8,
    /// Outcomes that are left (0 or 1), and the oldest of them in bit 0.
    pub(super) left: (u32, u64),
}

/// Most stretches of a walk that is kept.
const LONGEST: usize = 8;

impl Passage {
    pub(super) const fn new(base: u64) -> Self {
        let none = Stretch { start: 0, halfwords: 0, count: 0 };
        Self { base, stretches: [none; LONGEST], length: 0, left: (0, 0) }
    }

    /// `count` instructions from the address `first` up to the address `end` come next.
    #[inline(always)]
    pub(super) fn add(&mut self, first: u64, end: u64, count: u64) {
        let (start, halfwords) = (first.wrapping_sub(self.base) / 2, end.wrapping_sub(first) / 2);
        let fits = start <= u64::from(u32::MAX) && halfwords.max(count) <= u64::from(u16::MAX);
        match self.stretches.get_mut(usize::from(self.length)) {
            Some(next) if fits => {
                *next = Stretch { start: start as u32, halfwords: halfwords as u16, count: count as u16 };
                self.length += 1;
            }
            _ => self.length = LONGEST as u8 + 1,
        }
    }

    /// First address, address after the last instruction and number of instructions of each stretch.
    #[inline(always)]
    pub(super) fn stretches(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.stretches.iter().take(self.length.into()).map(|stretch| {
            let first = self.base.wrapping_add(2 * u64::from(stretch.start));
            (first, first.wrapping_add(2 * u64::from(stretch.halfwords)), stretch.count.into())
        })
    }
}

/// The latest of the walks for each remainder of their tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownWalks(Vec<Option<(Task, Passage)>>);

/// Binary logarithm of how many walks are kept.
const BITS: u32 = 9;

impl KnownWalks {
    pub(super) fn new() -> Self {
        Self(alloc::vec![None; 1 << BITS])
    }

    #[inline(always)]
    const fn place(task: &Task) -> usize {
        let mixed = task.pc ^ task.address.rotate_left(24) ^ task.outcomes.rotate_left(44);
        // The golden ratio spreads what is mixed over the top bits.
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS)) as usize
    }

    /// The passage of this task, if it is known.
    #[inline(always)]
    pub(super) fn get(&self, task: &Task) -> Option<&Passage> {
        match self.0.get(Self::place(task)) {
            Some(Some((known, passage))) if known == task => Some(passage),
            _ => None,
        }
    }

    /// Keeps the passage of this task, if it is short.
    pub(super) fn insert(&mut self, task: Task, passage: &Passage) {
        if usize::from(passage.length) <= LONGEST
            && let Some(place) = self.0.get_mut(Self::place(&task))
        {
            *place = Some((task, *passage));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Task = Task { pc: 0x1000, address: 0x2000, outcomes: 5, until: Until::Arrival };

    fn passage(lengths: &[u64]) -> Passage {
        let mut passage = Passage::new(0x800);
        lengths.iter().for_each(|&count| passage.add(0x1000, 0x1000 + 2 * count, count));
        passage
    }

    #[test]
    fn a_walk_is_known_after_it_was_made_and_only_for_its_task() {
        let mut walks = KnownWalks::new();
        assert!(walks.get(&TASK).is_none());
        walks.insert(TASK, &passage(&[3, 1]));
        let found: Vec<_> = walks.get(&TASK).expect("kept").stretches().collect();
        assert_eq!(found, [(0x1000, 0x1006, 3), (0x1000, 0x1002, 1)]);
        assert!(walks.get(&Task { until: Until::Discontinuity, ..TASK }).is_none());
        assert!(walks.get(&Task { outcomes: 4, ..TASK }).is_none());
        assert!(walks.get(&Task { pc: 0x1002, ..TASK }).is_none());
        assert!(walks.get(&Task { address: 0x2002, ..TASK }).is_none());
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let mut walks = KnownWalks::new();
        walks.insert(TASK, &passage(&[1; LONGEST + 1]));
        walks.insert(TASK, &passage(&[1; LONGEST + 2]));
        walks.insert(TASK, &passage(&[1, 0x1_0000, 1]));
        assert!(walks.get(&TASK).is_none());
        walks.insert(TASK, &passage(&[1; LONGEST]));
        assert_eq!(walks.get(&TASK).map(|passage| passage.stretches().count()), Some(LONGEST));
    }
}
