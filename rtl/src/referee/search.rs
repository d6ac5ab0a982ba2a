//! A packet that is due against the packet that came: the same, another one, or one too many or too few.

use traceproof_vectors::riscv_etrace::{Packet, QualStatus, ReportedAddress};

use super::{Due, Flag, Latest, Reason, Referee, Wanted, fields};
use crate::{Item, ItemKind};

/// Packets after the current one among which a due packet is looked for.
const AHEAD: usize = 48;

/// Items after the current one among which the cause of a packet is looked for.
const ITEMS_AHEAD: usize = 400;

impl Referee<'_> {
    /// A packet is due for `item`.
    pub(super) fn settle(&mut self, item: &Item, reason: Reason, wanted: Wanted) {
        if !matches!(wanted, Wanted::Context) {
            self.imprecise_context(item);
        }
        let pending = u32::try_from(self.pending.len()).unwrap_or(u32::MAX);
        self.ruling.dues.push(Due { row: item.row, reason, pending });
        let found =
            (0..AHEAD).take_while(|ahead| self.packets.get(self.at + ahead).is_some()).find(|ahead| {
                self.packets.get(self.at + ahead).is_some_and(|packet| self.fits(item, wanted, packet))
            });
        match (found, self.peek()) {
            (Some(0), Some(packet)) => self.compare(item, reason, wanted, packet),
            (_, None) => self.missing(item, reason, wanted),
            // A full map of the outcomes up to a later branch.
            (None, Some(Packet::Branch { address: None, branch_map, .. }))
                if matches!(wanted, Wanted::Address { .. }) && self.is_later_map(item, *branch_map) =>
            {
                self.missing(item, reason, wanted);
            }
            // Outcomes with an address are those of a later item, unless the address is what is too much.
            (None, Some(Packet::Branch { address: Some(_), branches: 1..=30, .. }))
                if matches!(wanted, Wanted::FullMap) =>
            {
                self.missing(item, reason, wanted);
            }
            // The right place with another count of outcomes: a field that differs, not another packet.
            (_, Some(packet)) if self.is_near(item, wanted, packet) => {
                self.compare(item, reason, wanted, packet);
            }
            // It is a later packet that fits: the others before it are too many, unless they are about later items.
            (Some(ahead), Some(packet)) if !self.is_about_later(item, packet) => {
                for _ in 0..ahead {
                    self.surplus(item);
                }
                if let Some(packet) = self.peek() {
                    self.compare(item, reason, wanted, packet);
                }
            }
            (_, Some(packet)) if self.is_about_later(item, packet) => self.missing(item, reason, wanted),
            (_, Some(packet)) => self.compare(item, reason, wanted, packet),
        }
        self.settled(item, reason, wanted);
    }

    /// What the packet changes, whether it came or not.
    fn settled(&mut self, item: &Item, reason: Reason, wanted: Wanted) {
        match wanted {
            Wanted::Start | Wanted::Trap { handler: true, .. } => {
                self.latest = Latest::Sync;
                // The packet has the context.
                self.contexts.1 = false;
            }
            Wanted::Address { updiscon, .. } if reason == Reason::Updiscon => {
                self.latest = Latest::Updiscon(updiscon);
            }
            Wanted::Address { .. } => self.latest = Latest::Other,
            Wanted::Trap { .. } | Wanted::FullMap | Wanted::Context | Wanted::Support { .. } => {}
        }
        if !matches!(wanted, Wanted::Context | Wanted::Support { .. }) {
            self.pending.clear();
        }
        let has_address = !matches!(wanted, Wanted::FullMap | Wanted::Context | Wanted::Support { .. });
        if has_address && let Some(address) = item.address() {
            let sync = matches!(wanted, Wanted::Start | Wanted::Trap { .. });
            self.stale_base = sync.then(|| self.stale_base.unwrap_or(self.base));
            self.base = address;
        }
    }

    fn missing(&mut self, item: &Item, reason: Reason, wanted: Wanted) {
        let got = self.peek().map_or_else(|| String::from("the end"), fields::show);
        self.find(item.row, Some(reason), "packet", reason.clause(), wanted.name(), &got);
    }

    /// The current packet is one that nothing asks for.
    fn surplus(&mut self, item: &Item) {
        let Some(packet) = self.peek() else { return };
        let got = fields::show(packet);
        self.find(item.row, None, "packet", fields::clause_of_unexpected(packet), "no packet", &got);
        self.at += 1;
    }

    /// Nothing is due for `item`; a packet that the decoder knows to be about it is one too many.
    pub(super) fn unexpected_here(&mut self, item: &Item) {
        let Some(packet) = self.peek() else { return };
        let address = match packet {
            Packet::Address { address, .. } => *address,
            Packet::Branch { address: Some(address), .. } => *address,
            _ => return,
        };
        let here = item.address() == Some(self.resolved(address, self.base));
        // Where the decoder stops provisionally it cannot tell two arrivals at one place apart.
        let known = self.reported.is_some() && self.is_about_now(self.at);
        if here && known && !self.is_about_later(item, packet) {
            self.surplus(item);
            self.pending.clear();
            self.base = item.address().unwrap_or(self.base);
            self.latest = Latest::Other;
        }
    }

    /// Whether a packet has the kind that is due, and its address or cause.
    fn fits(&self, item: &Item, wanted: Wanted, packet: &Packet) -> bool {
        match (wanted, packet) {
            (Wanted::Start, Packet::Start { address, .. }) => Some(address.0) == item.address(),
            (Wanted::Trap { trap, handler, .. }, Packet::Trap { thaddr, ecause, interrupt, .. }) => {
                let kind = self.items.get(trap).map(|item| item.kind);
                handler == *thaddr
                    && matches!(kind, Some(ItemKind::Trap { interrupt: i, cause, .. })
                        if i == *interrupt && cause == *ecause)
            }
            (Wanted::Address { .. }, Packet::Address { address, .. }) => {
                self.pending.is_empty() && self.is_here(item, *address)
            }
            (Wanted::Address { .. }, Packet::Branch { address: Some(address), branches, .. }) => {
                self.pending.len() == usize::from(*branches) && self.is_here(item, *address)
            }
            (Wanted::FullMap, Packet::Branch { address: None, branch_map, .. }) => {
                *branch_map == fields::map_of(&self.pending)
            }
            (Wanted::Context, Packet::Context { .. }) => true,
            (Wanted::Support { ended, .. }, Packet::Support { qual_status, .. }) => {
                ended.is_some() == (*qual_status != QualStatus::NoChange)
            }
            _ => false,
        }
    }

    /// Whether an address packet that is due came with the right address. One that a trigger asked for is about another
    /// item if there is one, where no trigger asks for this one, and the other way round.
    fn is_near(&self, item: &Item, wanted: Wanted, packet: &Packet) -> bool {
        let Wanted::Address { notify: due, .. } = wanted else { return false };
        match packet {
            Packet::Address { address, notify, .. }
            | Packet::Branch { address: Some(address), notify, .. } => {
                let other = matches!(due, Flag::Is(due) if due != *notify);
                self.is_here(item, *address) && !(other && self.is_about_later(item, packet))
            }
            _ => false,
        }
    }

    fn is_here(&self, item: &Item, address: ReportedAddress) -> bool {
        let bases = [Some(self.base), self.device_base, self.stale_base];
        bases.into_iter().flatten().any(|base| Some(self.resolved(address, base)) == item.address())
    }

    /// Whether these are the pending outcomes and those of the items after `item`.
    fn is_later_map(&self, item: &Item, map: u32) -> bool {
        let from = self.items.iter().position(|other| core::ptr::eq(other, item)).unwrap_or(self.items.len());
        let later = self.items.iter().skip(from + 1).take(ITEMS_AHEAD).take_while(|item| item.qualified);
        let mut outcomes = self.pending.clone();
        outcomes.extend(later.filter_map(|item| item.taken()).map(|taken| !taken));
        outcomes.truncate(31);
        self.pending.len() < 31 && outcomes.len() == 31 && fields::map_of(&outcomes) == map
    }

    /// Whether the packet is what a later item asks for: the same address, and as many outcomes as there are up to it.
    fn is_about_later(&self, item: &Item, packet: &Packet) -> bool {
        let from = self.items.iter().position(|other| core::ptr::eq(other, item)).unwrap_or(self.items.len());
        let ends =
            matches!(packet, Packet::Support { qual_status, .. } if *qual_status != QualStatus::NoChange);
        let begins = matches!(packet, Packet::Support { qual_status: QualStatus::NoChange, .. });
        let mut outcomes = 0_usize;
        let mut carried = self.pending.len();
        for item in self.items.iter().skip(from + 1).take(ITEMS_AHEAD) {
            let is_here = match item.kind {
                ItemKind::Break { .. } => ends,
                ItemKind::Enable { .. } => begins,
                _ if !item.qualified => false,
                _ => {
                    outcomes += usize::from(item.taken().is_some());
                    self.may_ask_for(item, packet, [outcomes, outcomes + carried])
                }
            };
            if is_here {
                return true;
            }
            if !item.qualified || matches!(item.kind, ItemKind::Break { .. } | ItemKind::Enable { .. }) {
                (outcomes, carried) = (0, 0);
            }
        }
        false
    }

    /// Whether the packet may be about `item`, with one of these counts of outcomes.
    fn may_ask_for(&self, item: &Item, packet: &Packet, outcomes: [usize; 2]) -> bool {
        match packet {
            Packet::Start { address, .. } | Packet::Trap { thaddr: true, address: Some(address), .. } => {
                item.address() == Some(address.0)
            }
            Packet::Trap { thaddr: false, ecause, interrupt, .. } => {
                matches!(item.kind, ItemKind::Trap { interrupt: i, cause, .. }
                    if i == *interrupt && cause == *ecause)
            }
            Packet::Address { address, .. } => outcomes.contains(&0) && self.is_here(item, *address),
            Packet::Branch { address: Some(address), branches, .. } => {
                outcomes.contains(&usize::from(*branches)) && self.is_here(item, *address)
            }
            _ => false,
        }
    }
}
