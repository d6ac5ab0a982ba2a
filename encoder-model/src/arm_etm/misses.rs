//! Which load misses are outstanding, and which tags they have.

use traceproof_vectors::arm_etm::{Policy, TagChoice};

/// Tags that the TT field can hold.
const TAGS: usize = 4;

/// A load miss whose placeholder was traced and whose data have not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::arm_etm) struct Outstanding {
    /// The stimulus's name for it.
    miss: u32,
    /// The tag of its placeholder.
    pub(in crate::arm_etm) tag: u8,
    /// Two words.
    pub(in crate::arm_etm) wide: bool,
}

/// Outstanding misses, oldest first. Misses without a traced placeholder are not here: nothing will be output
/// for them (ETM2-LM-013).
#[derive(Clone, Copy, Debug)]
pub(in crate::arm_etm) struct MissTable {
    entries: [Option<Outstanding>; TAGS],
    choice: TagChoice,
    lowest: u8,
    latest: u8,
}

impl MissTable {
    pub(in crate::arm_etm) fn new(policy: &Policy) -> Self {
        Self {
            entries: [None; TAGS],
            choice: policy.tags,
            lowest: u8::from(!policy.tag_zero),
            latest: TAGS as u8 - 1,
        }
    }

    /// The processor no longer waits for anything.
    pub(in crate::arm_etm) const fn clear(&mut self) {
        self.entries = [None; TAGS];
    }

    /// A tag for a new miss. With every tag in use the oldest miss loses its tag, and its data will not be traced
    /// (ETM2-LM-026). The tag is not `avoided`.
    pub(in crate::arm_etm) fn allocate(&mut self, miss: u32, wide: bool, avoided: Option<u8>) -> u8 {
        let tag = self.free_tag(avoided).unwrap_or_else(|| {
            let mut entries = self.entries.iter().flatten().enumerate();
            let oldest = entries.find(|(_, entry)| Some(entry.tag) != avoided);
            let (index, tag) = oldest.map_or((0, self.lowest), |(index, entry)| (index, entry.tag));
            self.remove(index);
            tag
        });
        self.latest = tag;
        if let Some(slot) = self.entries.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some(Outstanding { miss, tag, wide });
        }
        tag
    }

    /// The data of a miss are there; its tag is free from now on.
    pub(in crate::arm_etm) fn answer(&mut self, miss: u32) -> Option<Outstanding> {
        let index = self.entries.iter().position(|slot| slot.is_some_and(|entry| entry.miss == miss))?;
        self.remove(index)
    }

    fn free_tag(&self, avoided: Option<u8>) -> Option<u8> {
        let tags = TAGS as u8 - self.lowest;
        let first = match self.choice {
            TagChoice::Lowest => 0,
            TagChoice::RoundRobin => self.latest + 1 - self.lowest,
        };
        (0..tags)
            .map(|step| self.lowest + (first + step) % tags)
            .filter(|&tag| Some(tag) != avoided)
            .find(|&tag| !self.entries.iter().flatten().any(|entry| entry.tag == tag))
    }

    fn remove(&mut self, index: usize) -> Option<Outstanding> {
        let entry = self.entries.get_mut(index)?.take();
        // Keeps the order of age: what was taken moves after the others.
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
        assert_eq!([10, 11, 12].map(|miss| table.allocate(miss, false, None)), [1, 2, 3]);
        assert_eq!(table.answer(11).map(|entry| entry.tag), Some(2));
        assert_eq!(table.answer(11), None);
        assert_eq!(table.allocate(13, false, None), 2);
    }

    #[test]
    fn the_oldest_miss_gives_up_its_tag() {
        let mut table = MissTable::new(&Policy::default());
        assert_eq!([10, 11, 12, 13, 14].map(|miss| table.allocate(miss, false, None)), [1, 2, 3, 1, 2]);
        assert_eq!(table.answer(10), None);
        assert_eq!(table.answer(13).map(|entry| entry.tag), Some(1));
    }

    #[test]
    fn a_tag_can_be_avoided() {
        let mut table = MissTable::new(&Policy::default());
        assert_eq!(table.allocate(10, false, Some(1)), 2);
        assert_eq!(table.allocate(11, false, None), 1);
        assert_eq!(table.allocate(12, false, None), 3);
        assert_eq!(table.allocate(13, false, Some(2)), 1, "of the two oldest the one that is not avoided");
        assert_eq!(table.answer(11), None);
    }

    #[test]
    fn tags_go_round() {
        let policy = Policy { tags: TagChoice::RoundRobin, tag_zero: true, ..Policy::default() };
        let mut table = MissTable::new(&policy);
        let tags = [0, 1, 2, 3, 4, 5].map(|miss| {
            let tag = table.allocate(miss, false, None);
            table.answer(miss);
            tag
        });
        assert_eq!(tags, [0, 1, 2, 3, 0, 1]);
    }
}
