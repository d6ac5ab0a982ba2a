//! Which packets are legal: a reading of the encoder's rules that shares nothing with the encoder model.
//!
//! It walks through the items with the packets beside them. Where a packet is due it must come, with these fields; where
//! none is due none may come, but for what an encoder is free to do: a resynchronisation of its own, an interrupt at an
//! uninferable target reported by itself, a second support packet after the end.

mod due;
mod fields;
mod modes;
mod outcomes;
mod rules;
mod search;

pub use due::{Due, Finding, Reason};

use std::cell::OnceCell;
use std::collections::BTreeMap;

use modes::Kept;
use traceproof_vectors::riscv_etrace::{Modes, Packet, QualStatus, ReportedAddress};

use crate::{Device, Item, ItemKind};

/// What the referee found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ruling {
    /// Every packet that was due, in order.
    pub dues: Vec<Due>,
    /// For each packet that was taken for a due one: its index, the reason, and whether its address is undefined.
    pub causes: Vec<(usize, Reason, bool)>,
    /// The differences, in order.
    pub findings: Vec<Finding>,
    /// Resynchronisations that the device chose.
    pub resyncs: usize,
    /// Interrupts that the device reported by themselves.
    pub separate_interrupts: usize,
    /// How often optional modes had something to do, by the name of the bin.
    pub used: BTreeMap<&'static str, u64>,
}

/// Judges packets against items. `reported`: for each packet, how many instructions a decoder has reported after it, if
/// it decodes the whole. `overlong`: packets with something after their fields.
#[must_use]
pub(crate) fn referee(
    device: &Device,
    items: &[Item],
    packets: &[Packet],
    reported: Option<&[u64]>,
    overlong: &[usize],
) -> Ruling {
    let rewritten = vec![OnceCell::new(); packets.len()];
    let mut referee = Referee { overlong, ..Referee::new(device, items, (packets, &rewritten), reported) };
    for index in 0..items.len() {
        referee.item(index);
    }
    referee.finish();
    referee.ruling
}

/// A due packet with all that is known of its fields.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// Format 3.0 for the item.
    Start,
    /// Format 3.1 for a trap, with the instruction of its handler or without.
    Trap { trap: usize, handler: bool, address: TrapField },
    /// Format 1 or 2 for the item.
    Address { updiscon: bool, notify: Flag },
    /// Format 1 without address.
    FullMap,
    /// Format 3.2.
    Context,
    /// Format 3.3.
    Support { ienable: Option<bool>, ended: Option<Ending> },
}

/// What the address of a trap packet without handler may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrapField {
    /// This.
    Is(u64),
    /// Anything: the specification defines none.
    Undefined,
    /// That of the instruction.
    Item,
}

/// What a flag may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    Is(bool),
    Any,
}

/// How tracing may end. Spec: RVET-ENC-013, RVET-ENC-014.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Is(QualStatus),
    Either,
}

struct Referee<'a> {
    device: &'a Device,
    items: &'a [Item],
    packets: &'a [Packet],
    /// In place of packets of optional modes: what they mean without.
    rewritten: &'a [OnceCell<Packet>],
    reported: Option<&'a [u64]>,
    overlong: &'a [usize],
    ruling: Ruling,
    /// The next packet.
    at: usize,
    /// Instructions traced so far.
    retired: u64,
    pending: Vec<bool>,
    /// What the device has pending, where a report of it did not come.
    device_pending: Option<Vec<bool>>,
    /// Latest reported address: that of the item, and that of the device where they differ.
    base: u64,
    device_base: Option<u64>,
    /// The base of a device that does not take addresses of synchronisation packets for it.
    stale_base: Option<u64>,
    /// It has been seen that the device does take them.
    sync_is_base: bool,
    kept: Kept,
    /// The trap before was reported without its handler.
    trap_reported: bool,
    /// The latest report of the latest instruction.
    latest: Latest,
    /// Imprecise context changes that may have a packet, and whether one of them must.
    contexts: (usize, bool),
    /// The chain of traps began with an interrupt that may be reported by itself.
    open_interrupt: bool,
    /// The start packet of a resynchronisation must come with the next instruction.
    resync_next: bool,
    /// Something is traced since tracing was switched on.
    traced: bool,
    ended: bool,
}

/// How an instruction was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Latest {
    None,
    Sync,
    /// As target of an uninferable discontinuity, with this flag.
    Updiscon(bool),
    Other,
}

impl<'a> Referee<'a> {
    fn new(
        device: &'a Device,
        items: &'a [Item],
        (packets, rewritten): (&'a [Packet], &'a [OnceCell<Packet>]),
        reported: Option<&'a [u64]>,
    ) -> Self {
        Self {
            device,
            items,
            packets,
            rewritten,
            reported,
            overlong: &[],
            ruling: Ruling::default(),
            at: 0,
            retired: 0,
            pending: Vec::new(),
            device_pending: None,
            base: 0,
            device_base: None,
            stale_base: None,
            sync_is_base: false,
            kept: Kept::default(),
            trap_reported: false,
            latest: Latest::None,
            contexts: (0, false),
            open_interrupt: false,
            resync_next: false,
            traced: false,
            ended: true,
        }
    }

    fn neighbour(&self, index: usize, step: isize) -> Option<&'a Item> {
        self.items.get(index.checked_add_signed(step)?)
    }

    fn item(&mut self, index: usize) {
        let Some(item) = self.items.get(index) else { return };
        match item.kind {
            ItemKind::Enable { modes } => {
                self.kept = Kept::new(modes);
                self.announce(modes);
                self.traced = false;
                self.ended = false;
                self.settle(item, Reason::Enabled, Wanted::Support { ienable: Some(true), ended: None });
            }
            ItemKind::Break { ienable } => self.end(index, Some(ienable)),
            ItemKind::Retire { .. } if item.qualified => {
                self.traced = true;
                self.ended = false;
                self.retired += 1;
                self.retire(index, item);
                if !self.is_traced_next(index) {
                    self.end_unless_break(index);
                }
            }
            ItemKind::Trap { .. } if item.qualified => {
                self.traced = true;
                self.ended = false;
                self.trap(index, item);
                if !self.is_traced_next(index) {
                    self.end_unless_break(index);
                }
            }
            ItemKind::Retire { .. } | ItemKind::Trap { .. } => self.trap_reported = false,
        }
    }

    /// Modes that the case has, for the table of bins.
    fn announce(&mut self, mut modes: Modes) {
        for (_, mode, name) in crate::device::MODES {
            if *crate::device::mode_of(&mut modes, mode) {
                *self.ruling.used.entry(name).or_default() += 1;
            }
        }
    }

    fn is_traced_next(&self, index: usize) -> bool {
        self.neighbour(index, 1)
            .is_some_and(|next| next.qualified && !matches!(next.kind, ItemKind::Break { .. }))
    }

    /// Tracing ends because the next item is not traced; a break says more, and comes next.
    fn end_unless_break(&mut self, index: usize) {
        let is_break =
            self.neighbour(index, 1).is_none_or(|next| matches!(next.kind, ItemKind::Break { .. }));
        if !is_break {
            self.end(index, Some(true));
        }
    }

    /// Spec: RVET-ENC-007, RVET-ENC-013, RVET-ENC-014, RVET-ENC-047.
    fn end(&mut self, index: usize, ienable: Option<bool>) {
        let Some(item) = self.items.get(index) else { return };
        if self.ended && ienable != Some(false) {
            return;
        }
        if !self.traced || self.ended {
            self.optional_support();
            return;
        }
        self.imprecise_context(item);
        self.separate_at_the_end(index, item);
        self.ended = true;
        let ended = match self.latest {
            Latest::Updiscon(false) => Ending::Is(QualStatus::EndedNtr),
            // The specification's tracker allows both after a synchronisation packet.
            Latest::Sync => Ending::Either,
            _ => Ending::Is(QualStatus::EndedRep),
        };
        // Whether halts and triggers change `ienable` is open (ET 7.5); a second packet may say it.
        let ienable = ienable.filter(|ienable| !ienable && !self.second_support_follows());
        self.settle(item, Reason::Ended, Wanted::Support { ienable, ended: Some(ended) });
        self.optional_support();
        self.latest = Latest::None;
        self.trap_reported = false;
        self.open_interrupt = false;
        self.pending.clear();
        self.device_pending = None;
    }

    /// The chain of traps has no handler, and the device reported its interrupts by themselves.
    fn separate_at_the_end(&mut self, index: usize, item: &Item) {
        let is_trap = |index: &usize| self.items.get(*index).is_some_and(Item::is_trap);
        let trap = [Some(index), index.checked_sub(1)].into_iter().flatten().find(is_trap);
        if self.open_interrupt
            && !self.trap_reported
            && let Some(trap) = trap.filter(|trap| self.next_is_separate(*trap))
        {
            let wanted = Wanted::Trap { trap, handler: false, address: TrapField::Undefined };
            self.settle(item, Reason::InterruptAtTarget, wanted);
        }
    }

    fn second_support_follows(&self) -> bool {
        let second = self.packet(self.at + 1);
        matches!(second, Some(Packet::Support { ienable: false, qual_status: QualStatus::NoChange, .. }))
    }

    /// A second support packet, which announces that tracing is off.
    fn optional_support(&mut self) {
        if let Some(Packet::Support { ienable: false, qual_status: QualStatus::NoChange, .. }) = self.peek() {
            self.at += 1;
        }
    }

    /// The packet with this index, as it is judged.
    fn packet(&self, index: usize) -> Option<&'a Packet> {
        self.rewritten.get(index).and_then(OnceCell::get).or_else(|| self.packets.get(index))
    }

    fn peek(&self) -> Option<&'a Packet> {
        self.packet(self.at)
    }

    fn resolved(&self, address: ReportedAddress, base: u64) -> u64 {
        let mask = self.device.parameters.address_mask();
        match address {
            ReportedAddress::Full(address) => address,
            ReportedAddress::Delta(delta) => base.wrapping_add_signed(delta) & mask,
        }
    }

    fn finish(&mut self) {
        let row = self.items.last().map_or(0, |item| item.row);
        if self.contexts.1 {
            self.find(row, Some(Reason::Imprecise), "packet", "RVET-ENC-041", "a context packet", "none");
        }
        while let Some(packet) = self.peek() {
            let got = fields::show(packet);
            self.find(row, None, "packet", fields::clause_of_unexpected(packet), "no packet", &got);
            self.at += 1;
        }
    }

    fn find(
        &mut self,
        row: u32,
        reason: Option<Reason>,
        field: &str,
        clause: &str,
        expected: &str,
        got: &str,
    ) {
        let tail = reason.is_some_and(Reason::is_tail);
        self.ruling.findings.push(Finding {
            row,
            packet: self.at,
            reason,
            field: field.to_owned(),
            clause: clause.to_owned(),
            expected: expected.to_owned(),
            got: got.to_owned(),
            tail,
        });
    }
}
