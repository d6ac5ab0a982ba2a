//! Pending outcomes: those that are due, and those that a device has left after a difference.

use traceproof_vectors::riscv_etrace::Packet;

use super::rules::is_marker;
use super::{Referee, Wanted, fields};
use crate::Item;

impl Referee<'_> {
    /// Adds the outcome of a branch to what is pending.
    pub(super) fn outcome(&mut self, taken: bool) {
        self.pending.push(!taken);
        if let Some(left) = &mut self.device_pending {
            left.push(!taken);
        }
    }

    /// A report did not come. A device that does not know of it keeps its outcomes for the next one.
    pub(super) fn keeps_outcomes(&mut self, wanted: Wanted) {
        if matches!(wanted, Wanted::Address { .. } | Wanted::FullMap) {
            self.device_pending.get_or_insert_with(|| self.pending.clone());
        }
    }

    /// What the device has pending, if it is what this packet reports; else what is due.
    pub(super) fn outcomes_of(&self, packet: &Packet) -> &[bool] {
        let reported = match packet {
            Packet::Address { .. } => Some((0, 0)),
            Packet::Branch { branches, branch_map, address: Some(_), .. } => {
                Some((usize::from(*branches), *branch_map))
            }
            Packet::Branch { branch_map, .. } => Some((31, *branch_map)),
            _ => None,
        };
        let is_left = |left: &&Vec<bool>| {
            reported.is_some_and(|(count, map)| {
                let significant = (1_u64 << count.min(31)) - 1;
                left.len() == count && u64::from(fields::map_of(left)) == u64::from(map) & significant
            })
        };
        self.device_pending.as_ref().filter(is_left).map_or(&self.pending, |left| left)
    }

    /// A device with outcomes left reports 31 of them where no report is due: the difference is known.
    pub(super) fn full_map_of_device(&mut self) {
        let Some(left) = self.device_pending.as_ref().filter(|left| left.len() >= 31) else { return };
        match self.peek() {
            Some(Packet::Branch { address: None, branch_map, .. })
                if left.len() == 31 && *branch_map == fields::map_of(left) =>
            {
                self.at += 1;
                self.device_pending = Some(Vec::new());
            }
            _ => self.device_pending = None,
        }
    }

    /// A full map, and after it a packet for this item: together they report so many outcomes, other than are pending.
    pub(super) fn outcomes_in_two(&self, item: &Item) -> Option<usize> {
        if !matches!(self.peek(), Some(Packet::Branch { address: None, .. })) {
            return None;
        }
        let (address, more) = match self.packet(self.at + 1)? {
            Packet::Address { address, .. } => (*address, 0),
            Packet::Branch { address: Some(address), branches, .. } => (*address, usize::from(*branches)),
            _ => return None,
        };
        Some(31 + more).filter(|sum| self.is_here(item, address) && *sum != self.pending.len())
    }

    /// Whether the current packet, 31 outcomes without address, has the pending ones and others between them: it is the
    /// full map of a device that counts more, and no report of the pending ones with a count of 0. That would have an
    /// address after its map, which shows unless it is a difference of 0; its map would have the same width only for 16
    /// outcomes or more, and nothing after the pending ones unless one is missing.
    pub(super) fn is_map_of_more(&self, item: &Item, map: u32) -> bool {
        let mut pending = self.pending.iter().peekable();
        for bit in 0..31 {
            pending.next_if(|not_taken| **not_taken == (map >> bit & 1 == 1));
        }
        (16..31).contains(&self.pending.len())
            && pending.peek().is_none()
            && (self.pending.len() == 30 || map != fields::map_of(&self.pending))
            && !self.overlong.contains(&self.at)
            && item.address() != Some(self.base)
    }

    /// Whether the packet has the pending outcomes and those of the items after `item`, and nothing after them.
    pub(super) fn is_later_map(&self, item: &Item, map: u32) -> bool {
        let pending = self.device_pending.as_ref().unwrap_or(&self.pending);
        let mut outcomes = pending.clone();
        // The packets of a trap end what is pending, and so does the end of tracing.
        let later = self.after(item).take_while(|item| item.qualified && !item.is_trap() && !is_marker(item));
        outcomes.extend(later.filter_map(Item::not_taken));
        outcomes.truncate(31);
        pending.len() < 31
            && !self.overlong.contains(&self.at)
            && outcomes.len() == 31
            && fields::map_of(&outcomes) == map
    }
}
