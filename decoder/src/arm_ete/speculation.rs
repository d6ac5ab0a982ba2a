//! Elements that are neither committed nor cancelled.

use alloc::collections::VecDeque;

use super::element::{Element, Entry};

/// The held elements: those from the oldest uncommitted P0 element on.
///
/// Every operation takes amortised constant time for each element that it removes or that came since.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// P0 elements, and what a Cancel removes with them. The first one is a P0 element.
    removable: VecDeque<Entry>,
    /// What a Cancel keeps.
    kept: VecDeque<Entry>,
    p0_elements: u64,
    elements: u64,
    youngest: YoungestAtom,
}

/// Where the youngest atom is, as far as it was looked for.
#[derive(Clone, Copy, Debug, Default)]
struct YoungestAtom {
    /// Of so many entries.
    looked_at: usize,
    /// Its index, if one of them is an atom. Those after it are no Target Addresses.
    index: Option<usize>,
}

impl Queue {
    /// Whether nothing is held.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.removable.is_empty()
    }

    /// How many P0 elements are held.
    pub(super) const fn p0_elements(&self) -> u64 {
        self.p0_elements
    }

    /// How many elements are held.
    pub(super) const fn elements(&self) -> u64 {
        self.elements
    }

    /// For how many entries there is memory.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.removable.capacity() + self.kept.capacity()
    }

    /// Holds an element; the first one is a P0 element.
    pub(super) fn push(&mut self, entry: Entry) {
        self.p0_elements += u64::from(entry.element.p0_elements());
        self.elements += u64::from(entry.element.elements());
        if entry.element.survives_cancel() {
            self.kept.push_back(entry);
        } else {
            self.removable.push_back(entry);
        }
    }

    /// Takes the oldest P0 element, or so many atoms at most where it is one of several of a packet.
    pub(super) fn pop_p0(&mut self, most: u64) -> Option<Entry> {
        let first = self.removable.front_mut()?;
        if let Element::Atoms(run) = &mut first.element
            && u64::from(run.count) > most
        {
            let entry = Entry { element: Element::Atoms(run.take(most)), ..*first };
            self.p0_elements = self.p0_elements.saturating_sub(most);
            self.elements = self.elements.saturating_sub(most);
            return Some(entry);
        }
        self.pop_removable()
    }

    /// Takes the oldest element, if no P0 element is before it.
    pub(super) fn pop_resolved(&mut self) -> Option<Entry> {
        match (self.removable.front(), self.kept.front()) {
            (Some(removable), Some(kept)) if kept.place.packet < removable.place.packet => self.pop_kept(),
            (Some(removable), _) if removable.element.p0_elements() == 0 => self.pop_removable(),
            (Some(_), _) => None,
            (None, _) => self.pop_kept(),
        }
    }

    fn pop_removable(&mut self) -> Option<Entry> {
        let entry = self.removable.pop_front()?;
        self.uncount(&entry);
        let YoungestAtom { looked_at, index } = self.youngest;
        let index = index.and_then(|index| index.checked_sub(1));
        self.youngest = YoungestAtom { looked_at: looked_at.saturating_sub(1), index };
        Some(entry)
    }

    fn pop_kept(&mut self) -> Option<Entry> {
        let entry = self.kept.pop_front()?;
        self.uncount(&entry);
        Some(entry)
    }

    fn uncount(&mut self, entry: &Entry) {
        self.p0_elements = self.p0_elements.saturating_sub(entry.element.p0_elements().into());
        self.elements = self.elements.saturating_sub(entry.element.elements().into());
    }

    /// Removes so many P0 elements or all that are held, the youngest first, and what stands after the oldest of them.
    ///
    /// Spec: ETE-SPBCG-001, ETE-DEC-CAN-001, ETE-DEC-ORD-001.
    pub(super) fn cancel(&mut self, mut count: u64) {
        while count > 0 {
            let Some(last) = self.removable.back_mut() else { break };
            if let Element::Atoms(run) = &mut last.element
                && u64::from(run.count) > count
            {
                *run = run.take(u64::from(run.count) - count);
                self.p0_elements = self.p0_elements.saturating_sub(count);
                self.elements = self.elements.saturating_sub(count);
                break;
            }
            if let Some(entry) = self.removable.pop_back() {
                count = count.saturating_sub(entry.element.p0_elements().into());
                self.uncount(&entry);
            }
        }
        let length = self.removable.len();
        let YoungestAtom { looked_at, index } = self.youngest;
        // Where it is removed the one before it is looked for again.
        self.youngest = match index {
            Some(index) if index >= length => YoungestAtom::default(),
            _ => YoungestAtom { looked_at: looked_at.min(length), index },
        };
    }

    /// Changes the status of the youngest held atom, and removes the Target Addresses after it; whether there is one.
    ///
    /// Spec: ETE-HVWCN-001, ETE-XYDNP-001.
    pub(super) fn mispredict(&mut self) -> bool {
        let YoungestAtom { looked_at, index } = self.youngest;
        let is_atom = |entry: &Entry| matches!(entry.element, Element::Atoms(_));
        let newer = self.removable.iter().skip(looked_at).rposition(is_atom).map(|at| at + looked_at);
        let found = newer.or(index);
        if let Some(atom) = found {
            self.remove_addresses(looked_at.max(atom + 1));
            if let Some(Entry { element: Element::Atoms(run), .. }) = self.removable.get_mut(atom) {
                run.flip();
            }
        }
        self.youngest = YoungestAtom { looked_at: self.removable.len(), index: found };
        found.is_some()
    }

    /// Removes the Target Addresses from this index on.
    fn remove_addresses(&mut self, from: usize) {
        let length = self.removable.len();
        let mut to = from;
        for at in from..length {
            if !self.removable.get(at).is_some_and(|entry| entry.element.is_target()) {
                self.removable.swap(at, to);
                to += 1;
            }
        }
        self.removable.truncate(to);
        self.elements = self.elements.saturating_sub((length.saturating_sub(to)) as u64);
    }

    /// Nothing is held any more. Gives those that a Cancel keeps, in order.
    pub(super) fn clear(&mut self) -> VecDeque<Entry> {
        let kept = core::mem::take(&mut self.kept);
        *self = Self { removable: core::mem::take(&mut self.removable), ..Self::default() };
        self.removable.clear();
        kept
    }

    /// Takes the youngest element.
    pub(super) fn pop_youngest(&mut self) -> Option<Entry> {
        let is_kept = match (self.removable.back(), self.kept.back()) {
            (Some(removable), Some(kept)) => removable.place.packet <= kept.place.packet,
            (removable, _) => removable.is_none(),
        };
        let entry = if is_kept { self.kept.pop_back() } else { self.removable.pop_back() }?;
        self.uncount(&entry);
        Some(entry)
    }

    /// The latest held context.
    pub(super) fn latest_context(&self) -> Option<Entry> {
        let is_context = |entry: &&Entry| matches!(entry.element, Element::Context(_));
        self.removable.iter().rev().find(is_context).copied()
    }
}
