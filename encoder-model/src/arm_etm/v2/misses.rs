//! Which load misses are outstanding, and which tags they have.

use traceproof_vectors::arm_etm::{Policy, TagChoice};

/// Tags that the TT field can hold.
const TAGS: usize = 4;

/// A load miss whose placeholder was traced and whose data have not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outstanding {
    /// The stimulus's name for it.
    miss: u32,
    /// The tag of its placeholder.
    pub(super) tag: u8,
    /// Two words.
    pub(super) wide: bool,
}

/// Outstanding misses, oldest first. Misses without a traced placeholder are not here: nothing will be output
/// for them (ETM2-LM-013).
#[derive(Clone, Copy, Debug)]
pub(super) struct MissTable {
    entries: [Option<Outstanding>; TAGS],
    choice: TagChoice,
    lowest: u8,
    latest: u8,
}

impl MissTable {
    pub(super) fn new(policy: &Policy) -> Self {
        Self {
            entries: [None; TAGS],
            choice: policy.tags,
            lowest: u8::from(!policy.tag_zero),
            latest: TAGS as u8 - 1,
        }
    }

    /// The processor no longer waits for anything.
    pub(super) const fn clear(&mut self) {
        self.entries = [None; TAGS];
    }

    /// A tag for a new miss. With every tag in use the oldest miss gives up its own, and its data will not be
    /// traced (ETM2-LM-026).
    pub(super) fn allocate(&mut self, miss: u32, wide: bool) -> u8 {
        let tag = self.free_tag().unwrap_or_else(|| {
            let oldest = self.entries[0].map_or(self.lowest, |entry| entry.tag);
            self.remove(0);
            oldest
        });
        self.latest = tag;
        if let Some(slot) = self.entries.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some(Outstanding { miss, tag, wide });
        }
        tag
    }

    /// The data of a miss are there; its tag is free from now on.
    pub(super) fn answer(&mut self, miss: u32) -> Option<Outstanding> {
        let index = self.entries.iter().position(|slot| slot.is_some_and(|entry| entry.miss == miss))?;
        self.remove(index)
    }

    fn free_tag(&self) -> Option<u8> {
        let tags = TAGS as u8 - self.lowest;
        let first = match self.choice {
            TagChoice::Lowest => 0,
            TagChoice::RoundRobin => self.latest + 1 - self.lowest,
        };
        (0..tags)
            .map(|step| self.lowest + (first + step) % tags)
            .find(|&tag| !self.entries.iter().flatten().any(|entry| entry.tag == tag))
    }

    fn remove(&mut self, index: usize) -> Option<Outstanding> {
        let entry = self.entries.get_mut(index)?.take();
        // Keeps the order of age: what was taken moves behind the others.
        if let Some(tail) = self.entries.get_mut(index..) {
            tail.rotate_left(1);
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_tag_is_given() {
        let mut table = MissTable::new(&Policy::default());
        assert_eq!([10, 11, 12].map(|miss| table.allocate(miss, false)), [1, 2, 3]);
        assert_eq!(table.answer(11).map(|entry| entry.tag), Some(2));
        assert_eq!(table.answer(11), None);
        assert_eq!(table.allocate(13, false), 2);
    }

    #[test]
    fn the_oldest_miss_gives_up_its_tag() {
        let mut table = MissTable::new(&Policy::default());
        assert_eq!([10, 11, 12, 13, 14].map(|miss| table.allocate(miss, false)), [1, 2, 3, 1, 2]);
        assert_eq!(table.answer(10), None);
        assert_eq!(table.answer(13).map(|entry| entry.tag), Some(1));
    }

    #[test]
    fn tags_go_round() {
        let policy = Policy { tags: TagChoice::RoundRobin, tag_zero: true, ..Policy::default() };
        let mut table = MissTable::new(&policy);
        let tags = [0, 1, 2, 3, 4, 5].map(|miss| {
            let tag = table.allocate(miss, false);
            table.answer(miss);
            tag
        });
        assert_eq!(tags, [0, 1, 2, 3, 0, 1]);
    }
}
