//! Load misses and their data.

use alloc::format;
use alloc::string::String;

/// The transfers that a tag stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outstanding {
    /// The next one to receive data.
    pub(super) transfer: u64,
    /// The other half of a 64-bit item, as long as it has no value.
    pub(super) high: Option<u64>,
    /// An event since then may have lost its data.
    pub(super) excusable: bool,
}

/// What the latest packet was, as far as it matters to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Latest {
    /// The first placeholder of a run; a second one with its tag would make a pair.
    Placeholder(u8),
    /// The first half of a 64-bit item with this tag; this transfer is the second.
    FirstHalf(u8, u64),
    Other,
}

/// A placeholder was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// It is the second half of a 64-bit item.
    pub(super) second_half: bool,
    /// What its tag stood for until now.
    pub(super) superseded: Option<Outstanding>,
}

/// The outstanding items, at most one for each tag.
///
/// [`packet`](Self::packet) is to be called first for every packet of any type.
#[derive(Clone, Copy, Debug)]
pub(super) struct MissTable {
    slots: [Option<Outstanding>; Self::TAGS],
    latest: Latest,
    before: Latest,
}

impl MissTable {
    const TAGS: usize = 4;
    pub(super) const EMPTY: Self =
        Self { slots: [None; Self::TAGS], latest: Latest::Other, before: Latest::Other };

    fn slot(&mut self, tag: u8) -> &mut Option<Outstanding> {
        let [zero, one, two, three] = &mut self.slots;
        match tag & 3 {
            0 => zero,
            1 => one,
            2 => two,
            _ => three,
        }
    }

    /// A packet; `data` is its tag if it is Load Miss Data. Gives the transfer whose value should have been here.
    ///
    /// Spec: ETM2-LM-044, ETM2-LM-047 (6.4.3).
    pub(super) fn packet(&mut self, data: Option<u8>) -> Option<u64> {
        self.before = core::mem::replace(&mut self.latest, Latest::Other);
        match self.before {
            Latest::FirstHalf(tag, high) if data != Some(tag) => Some(high),
            _ => None,
        }
    }

    /// The packet is a placeholder for this transfer.
    ///
    /// Spec: ETM2-LM-024, ETM2-LM-040, ETM2-LM-045 (6.4.3).
    pub(super) fn placeholder(&mut self, tag: u8, transfer: u64) -> Placed {
        if self.before == Latest::Placeholder(tag)
            && let Some(first) = self.slot(tag)
        {
            first.high = Some(transfer);
            return Placed { second_half: true, superseded: None };
        }
        self.latest = Latest::Placeholder(tag);
        let item = Outstanding { transfer, high: None, excusable: false };
        Placed { second_half: false, superseded: self.slot(tag).replace(item) }
    }

    /// The packet is data: for this transfer, if for any.
    ///
    /// Spec: ETM2-LM-017 to 019, ETM2-LM-022, ETM2-LM-023, ETM2-LM-046 (6.4.3).
    pub(super) fn data(&mut self, tag: u8) -> Option<u64> {
        if let Latest::FirstHalf(of, high) = self.before
            && of == tag
        {
            return Some(high);
        }
        let item = self.slot(tag).take()?;
        if let Some(high) = item.high {
            self.latest = Latest::FirstHalf(tag, high);
        }
        Some(item.transfer)
    }

    /// Data of what is outstanding now may never come. Spec: ETM2-LM-027, ETM2-LM-028, ETM2-LM-033 (6.4.3).
    pub(super) fn excuse(&mut self) {
        for item in self.slots.iter_mut().flatten() {
            item.excusable = true;
        }
    }

    /// For people: the tags in use, each with the transfer that waits for its data.
    pub(super) fn shown(&self) -> impl Iterator<Item = String> {
        let waiting = |(tag, item): (usize, &Option<Outstanding>)| {
            item.map(|item| format!("tag {tag}: transfer {}", item.transfer))
        };
        self.slots.iter().enumerate().filter_map(waiting)
    }

    /// Empties the table; gives the transfers without value in their order.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = u64> + use<> {
        let mut transfers = [None; 2 * Self::TAGS + 1];
        let halves = self.slots.iter().flatten().flat_map(|item| [Some(item.transfer), item.high]);
        let half = match self.latest {
            Latest::FirstHalf(_, high) => Some(high),
            _ => None,
        };
        for (to, transfer) in transfers.iter_mut().zip(halves.chain([half])) {
            *to = transfer;
        }
        *self = Self::EMPTY;
        transfers.sort_unstable();
        transfers.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn what_has_no_value_comes_in_order() {
        let mut table = MissTable::EMPTY;
        for (tag, transfer) in [(3, 0), (1, 1), (1, 2), (0, 3)] {
            assert_eq!(table.packet(None), None);
            assert_eq!(table.placeholder(tag, transfer).second_half, transfer == 2);
        }
        assert_eq!(table.packet(Some(1)), None);
        assert_eq!(table.data(1), Some(1));
        assert_eq!(table.clear().collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(table.clear().count(), 0);
        assert_eq!(table.packet(None), None);
    }
}
