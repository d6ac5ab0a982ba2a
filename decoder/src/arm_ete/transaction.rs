//! What an open transaction keeps back.

use alloc::vec::Vec;

use super::element::{Element, Entry};

/// Whether a transaction is open, and the released elements since (sheet 8.3).
#[derive(Clone, Debug, Default)]
pub(super) struct Transaction {
    is_open: bool,
    entries: Vec<Entry>,
    elements: u64,
    /// Index of the latest atoms.
    latest_atoms: Option<usize>,
    /// A P0 element came after them, or a P0 element came and there are none.
    p0_since: bool,
    /// A Target Address came after them.
    addresses_since: bool,
    /// Up to this index there is nothing that a Cancel of P0 elements from before the start would remove.
    settled: usize,
    /// Its Start came while P0 elements from before the start were uncommitted: a Cancel of them takes it, too.
    start_is_young: bool,
}

/// What a Mispredict meets in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// An atom that is kept back.
    Atom,
    /// No atom, but another P0 element.
    OtherP0,
    /// No P0 element.
    Nothing,
}

impl Transaction {
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// `start_is_young`: a Cancel of P0 elements from before the start of the trace would take its Start, too.
    pub(super) fn open(&mut self, start_is_young: bool) {
        *self = Self { is_open: true, start_is_young, ..Self::default() };
    }

    /// How many elements are kept back.
    pub(super) const fn elements(&self) -> u64 {
        self.elements
    }

    /// For how many entries there is memory.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    pub(super) fn keep_back(&mut self, entry: Entry) {
        self.elements += u64::from(entry.element.elements());
        match entry.element {
            Element::Atoms(_) => {
                self.latest_atoms = Some(self.entries.len());
                (self.p0_since, self.addresses_since) = (false, false);
            }
            element if element.is_target() => self.addresses_since = true,
            element if element.p0_elements() > 0 => self.p0_since = true,
            _ => {}
        }
        self.entries.push(entry);
        if entry.element.p0_elements() > 0 {
            self.settled = self.entries.len();
        }
    }

    /// The transaction ends. Gives what was kept back.
    pub(super) fn close(&mut self) -> Vec<Entry> {
        core::mem::take(self).entries
    }

    /// Gives what was kept back; a transaction that is open stays so.
    pub(super) fn drain(&mut self) -> Vec<Entry> {
        let is_open = self.is_open;
        let entries = self.close();
        self.is_open = is_open;
        entries
    }

    /// P0 elements from before the start are cancelled, and so is what was kept back since the latest P0 element,
    /// except for what a Cancel keeps. Whether its Start is among it, so that the transaction ends.
    ///
    /// Spec: ETE-SPBCG-001, ETE-DEC-CAN-001, ETE-DEC-CAN-002, ETE-DEC-TRX-005.
    pub(super) fn cancel(&mut self) -> bool {
        let from = self.settled.min(self.entries.len());
        let tail = self.entries.split_off(from);
        let before = tail.len();
        self.entries.extend(
            tail.into_iter().filter(|entry| {
                entry.element.survives_cancel() || matches!(entry.element, Element::Cycles(_))
            }),
        );
        let removed = before.saturating_sub(self.entries.len().saturating_sub(from));
        self.elements = self.elements.saturating_sub(removed as u64);
        self.settled = self.entries.len();
        self.addresses_since = false;
        self.start_is_young
    }

    /// The youngest atom that is kept back changes its status. Target Addresses since the latest P0 element are
    /// forgotten, unless it is no atom.
    ///
    /// Spec: ETE-MDSCN-001, ETE-HVWCN-001.
    pub(super) fn mispredict(&mut self) -> Met {
        if self.addresses_since && !self.p0_since {
            self.forget_addresses();
        }
        match self.latest_atoms.and_then(|at| self.entries.get_mut(at)) {
            Some(Entry { element: Element::Atoms(run), .. }) => {
                run.flip();
                Met::Atom
            }
            _ if self.p0_since => Met::OtherP0,
            _ => Met::Nothing,
        }
    }

    fn forget_addresses(&mut self) {
        self.addresses_since = false;
        let from = self.latest_atoms.map_or(0, |at| at + 1);
        let tail = self.entries.split_off(from.min(self.entries.len()));
        let before = tail.len();
        self.entries.extend(tail.into_iter().filter(|entry| !entry.element.is_target()));
        let removed = before.saturating_sub(self.entries.len().saturating_sub(from));
        self.elements = self.elements.saturating_sub(removed as u64);
    }
}
