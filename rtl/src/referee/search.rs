//! A packet that is due against the packet that came: the same, another one, or one too many or too few.

use traceproof_vectors::riscv_etrace::{Packet, QualStatus, ReportedAddress};

use super::rules::precisely_changed;
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
        let found = (0..AHEAD)
            .take_while(|ahead| self.packet(self.at + ahead).is_some())
            .find(|ahead| self.packet(self.at + ahead).is_some_and(|packet| self.fits(item, wanted, packet)));
        match (found, self.peek()) {
            (Some(0), Some(packet)) => self.compare(item, reason, wanted, packet),
            // A device with outcomes left reports them at another branch: that difference is known.
            _ if matches!(wanted, Wanted::FullMap) && self.device_pending.is_some() => {}
            (_, None) => self.missing(item, reason, wanted),
            // A full map of the outcomes up to a later branch.
            (_, Some(Packet::Branch { address: None, branch_map, .. }))
                if matches!(wanted, Wanted::Address { .. })
                    && found != Some(1)
                    && self.is_later_map(item, *branch_map) =>
            {
                self.missing(item, reason, wanted);
            }
            (_, Some(_))
                if matches!(wanted, Wanted::Address { .. })
                    && found != Some(1)
                    && self.outcomes_in_two(item).is_some() =>
            {
                self.in_two(item, reason);
            }
            // Outcomes with an address are those of a later item, unless the address is what is too much.
            (None, Some(Packet::Branch { address: Some(_), branches: 1..=30, .. }))
                if matches!(wanted, Wanted::FullMap) =>
            {
                self.missing(item, reason, wanted);
            }
            // The right place with another count of outcomes: a field that differs, not another packet.
            (_, Some(packet))
                if self.is_near(item, wanted, packet) && !self.is_rather_later(item, packet) =>
            {
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
            self.kept.predicted = 0;
        }
        if matches!(wanted, Wanted::Start | Wanted::Trap { .. }) {
            self.forget(item);
        }
        if let (Wanted::Address { .. }, Reason::Updiscon, Some(address)) = (wanted, reason, item.address()) {
            self.store_target(address);
        }
        let has_address = !matches!(wanted, Wanted::FullMap | Wanted::Context | Wanted::Support { .. });
        if has_address && let Some(address) = item.address() {
            let sync = matches!(wanted, Wanted::Start | Wanted::Trap { .. });
            let stale = sync && !self.sync_is_base;
            self.stale_base = stale.then(|| self.stale_base.unwrap_or(self.base));
            self.base = address;
        }
    }

    /// The packet and the next one report this item, with too many outcomes or too few.
    fn in_two(&mut self, item: &Item, reason: Reason) {
        let (due, came) = (self.pending.len(), self.outcomes_in_two(item).unwrap_or_default());
        let (due, came) = (due.to_string(), came.to_string());
        self.find(item.row, Some(reason), "branches", "RVET-ENC-028", &due, &came);
        self.device_base = None;
        self.at += 2;
    }

    /// Whether the packet of another count of outcomes is that of a later item at the same place: it has all of the
    /// outcomes up to there, and more of them than a device counts by mistake; or nothing but the end follows it.
    fn is_rather_later(&self, item: &Item, packet: &Packet) -> bool {
        let Packet::Branch { branches, address: Some(_), .. } = packet else { return false };
        let more = usize::from(*branches).saturating_sub(self.pending.len());
        let ends = matches!(self.packet(self.at + 1), Some(Packet::Support { .. }));
        (more > 1 || (more == 1 && ends && !self.is_final(item))) && self.is_about_later(item, packet)
    }

    fn is_final(&self, item: &Item) -> bool {
        self.after(item)
            .next()
            .is_none_or(|next| !next.qualified || !matches!(next.kind, ItemKind::Retire { .. }))
    }

    fn missing(&mut self, item: &Item, reason: Reason, wanted: Wanted) {
        self.keeps_outcomes(wanted);
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
        let change = self.start_follows(item);
        if here && (change || (known && !self.is_about_later(item, packet))) {
            match packet {
                // With outcomes pending it would be due: what is too much is an outcome, not the packet.
                Packet::Branch { branches, .. } if change && self.pending.is_empty() => {
                    let reason = Some(Reason::BeforePrivilege);
                    self.find(item.row, reason, "branches", "RVET-ENC-028", "0", &branches.to_string());
                    self.at += 1;
                }
                _ => self.surplus(item),
            }
            self.pending.clear();
            self.device_pending = None;
            self.base = item.address().unwrap_or(self.base);
            self.latest = Latest::Other;
        }
    }

    /// Whether the packet after the current one is the start packet that the next item asks for by its level or context.
    fn start_follows(&self, item: &Item) -> bool {
        let Some(Packet::Start { address, .. }) = self.packet(self.at + 1) else { return false };
        self.after(item).next().is_some_and(|next| {
            next.qualified
                && next.address() == Some(address.0)
                && !item.is_trap()
                && precisely_changed(item, next)
        })
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
                self.outcomes_of(packet).is_empty() && self.is_here(item, *address)
            }
            (Wanted::Address { .. }, Packet::Branch { address: Some(address), branches, .. }) => {
                self.outcomes_of(packet).len() == usize::from(*branches) && self.is_here(item, *address)
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
        let due = match wanted {
            Wanted::Address { notify, .. } => notify,
            // The level or context that changed is not reported, and the address as if it had not.
            Wanted::Start if precisely_changed_before(self.items, item) => Flag::Any,
            _ => return false,
        };
        match packet {
            Packet::Address { address, notify, .. }
            | Packet::Branch { address: Some(address), notify, .. } => {
                let other = matches!(due, Flag::Is(due) if due != *notify);
                self.is_here(item, *address) && !(other && self.is_about_later(item, packet))
            }
            // All outcomes, and no address.
            Packet::Branch { address: None, branch_map, .. } if matches!(wanted, Wanted::Address { .. }) => {
                self.pending.len() == 31 && *branch_map == fields::map_of(&self.pending)
            }
            _ => false,
        }
    }

    pub(super) fn is_here(&self, item: &Item, address: ReportedAddress) -> bool {
        let bases = [Some(self.base), self.device_base, self.stale_base];
        bases.into_iter().flatten().any(|base| Some(self.resolved(address, base)) == item.address())
    }

    /// The items after this one among which the cause of a packet is looked for.
    pub(super) fn after<'b>(&'b self, item: &Item) -> impl Iterator<Item = &'b Item> + use<'b> {
        let from = self.items.iter().position(|other| core::ptr::eq(other, item)).unwrap_or(self.items.len());
        self.items.iter().skip(from + 1).take(ITEMS_AHEAD)
    }

    /// Whether the packet is what a later item asks for: the same address, and as many outcomes as there are up to it.
    fn is_about_later(&self, item: &Item, packet: &Packet) -> bool {
        let ends =
            matches!(packet, Packet::Support { qual_status, .. } if *qual_status != QualStatus::NoChange);
        let begins = matches!(packet, Packet::Support { qual_status: QualStatus::NoChange, .. });
        let mut outcomes = Vec::new();
        let mut carried = self.pending.clone();
        for item in self.after(item) {
            let is_here = match item.kind {
                ItemKind::Break { .. } => ends,
                ItemKind::Enable { .. } => begins,
                _ if !item.qualified => false,
                _ => {
                    outcomes.extend(item.not_taken());
                    carried.extend(item.not_taken());
                    self.may_ask_for(item, packet, [&outcomes, &carried])
                }
            };
            if is_here {
                return true;
            }
            if !item.qualified || matches!(item.kind, ItemKind::Break { .. } | ItemKind::Enable { .. }) {
                outcomes.clear();
                carried.clear();
            }
        }
        false
    }

    /// Whether the packet may be about `item`, with one of these lists of outcomes.
    fn may_ask_for(&self, item: &Item, packet: &Packet, outcomes: [&Vec<bool>; 2]) -> bool {
        match packet {
            Packet::Start { address, .. } | Packet::Trap { thaddr: true, address: Some(address), .. } => {
                item.address() == Some(address.0)
            }
            Packet::Trap { thaddr: false, ecause, interrupt, .. } => {
                matches!(item.kind, ItemKind::Trap { interrupt: i, cause, .. }
                    if i == *interrupt && cause == *ecause)
            }
            Packet::Address { address, .. } => {
                outcomes.iter().any(|outcomes| outcomes.is_empty()) && self.is_here(item, *address)
            }
            Packet::Branch { address: Some(address), branches, branch_map, .. } => {
                let are_these = |outcomes: &&Vec<bool>| {
                    let significant = (1_u32 << (*branches).min(31)) - 1;
                    outcomes.len() == usize::from(*branches)
                        && fields::map_of(outcomes) == *branch_map & significant
                };
                outcomes.iter().any(are_these) && self.is_here(item, *address)
            }
            _ => false,
        }
    }
}

/// Whether the instruction before has another level, or the context changes here.
fn precisely_changed_before(items: &[Item], item: &Item) -> bool {
    let index = items.iter().position(|other| core::ptr::eq(other, item));
    let before = index.and_then(|index| items.get(index.checked_sub(1)?));
    before.is_some_and(|before| before.qualified && !before.is_trap() && precisely_changed(before, item))
}
