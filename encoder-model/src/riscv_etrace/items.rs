//! The ingress port as one stream of items, whatever the shape of its blocks.
//!
//! A block is a run of instructions of which only the first and the last can matter; a trap that comes with a block is
//! an item of its own after it. Every rule of the encoder is about items, so the cut into blocks cannot change the
//! packets (RVET-ENC-044, RVET-ENC-045).

use traceproof_vectors::riscv_etrace::{Block, Cycle, Itype, Parameters, Policy, SyncMode, Triggers};

use super::filter::{Filters, TrapSignals};

/// One entry of the item stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// Filters, triggers and enables let it pass.
    pub(super) qualified: bool,
    pub(super) privilege: u8,
    pub(super) context: u64,
    pub(super) time: u64,
    /// The same time for the transport: not cut to the width of the field `time`.
    pub(super) timestamp: u64,
    /// What the resynchronisation timer counts since the item before.
    pub(super) ticks: u64,
}

/// What an item is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A retired instruction.
    Retire(Retired),
    /// A trap was taken.
    Trap(TrapTaken),
    /// Nothing retired, but tracing is interrupted here: disabled, halted, in reset, or the end.
    Gap,
}

/// A retired instruction that is the first or the last of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retired {
    pub(super) address: u64,
    /// Address after the instruction; known only for the last one of a block.
    pub(super) end: u64,
    pub(super) itype: Itype,
    pub(super) sijump: bool,
    pub(super) notify: bool,
    /// The last instruction of its block.
    pub(super) last: bool,
    /// How a context change at this instruction is to be reported.
    pub(super) ctype: u8,
}

/// A trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TrapTaken {
    pub(super) interrupt: bool,
    pub(super) cause: u64,
    pub(super) tval: u64,
    /// Exception program counter; 0 for interrupts, for which the port does not carry it.
    pub(super) epc: u64,
}

impl Item {
    /// An interruption of the trace.
    pub(super) const GAP: Self =
        Self { kind: Kind::Gap, qualified: false, privilege: 0, context: 0, time: 0, timestamp: 0, ticks: 0 };

    pub(super) const fn is_trap(&self) -> bool {
        matches!(self.kind, Kind::Trap(_))
    }

    /// Whether nothing retires between this item and the next one.
    pub(super) const fn ends_block(&self) -> bool {
        match self.kind {
            Kind::Retire(retired) => retired.last,
            Kind::Trap(_) | Kind::Gap => true,
        }
    }

    /// Whether the item is an instruction that ends its block however the blocks are cut (RVET-ING-009).
    pub(super) const fn ends_every_block(&self) -> bool {
        matches!(self.kind, Kind::Retire(Retired { itype, .. }) if !matches!(itype, Itype::Nothing))
    }

    /// Ingress `ctype` of a retired instruction, 0 for everything else.
    pub(super) const fn ctype(&self) -> u8 {
        match self.kind {
            Kind::Retire(retired) => retired.ctype,
            Kind::Trap(_) | Kind::Gap => 0,
        }
    }
}

impl Retired {
    /// Outcome if the instruction is a branch. Spec: RVET-ING-001 (ET 4.2).
    pub(super) const fn taken(&self) -> Option<bool> {
        match self.itype {
            Itype::BranchTaken => Some(true),
            Itype::BranchNotTaken => Some(false),
            _ => None,
        }
    }
}

/// Reads cycles with the widths that the hardware's signals have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ingress {
    /// `retires_p` > 1: `iretire` counts half-words. Spec: RVET-ING-005 (ET 4.2).
    pub(super) block_retirement: bool,
    address_mask: u64,
    /// Of a traced address: without the bits below `iaddress_lsb_p`.
    code_mask: u64,
    cause_mask: u64,
    privilege_mask: u8,
    pub(super) context_mask: u64,
    pub(super) time_mask: u64,
    pub(super) counts: SyncMode,
    triggers: Triggers,
    /// Between trace-on and trace-off.
    pub(super) tracing: bool,
    /// Cycles since the latest item.
    pub(super) cycles: u64,
}

/// Half-words of the last instruction of a block. Spec: RVET-ING-006 (ET 4.2).
#[inline]
pub(super) fn size(block: &Block) -> u64 {
    1 << block.ilastsize.min(63)
}

const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl Ingress {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            block_retirement: parameters.retires_p > 1,
            address_mask: parameters.address_mask(),
            code_mask: parameters.address_mask() & !mask(parameters.iaddress_lsb_p.into()),
            cause_mask: mask(parameters.ecause_width_p.into()),
            privilege_mask: mask(parameters.privilege_width_p.into()) as u8,
            context_mask: mask(parameters.context_width()),
            time_mask: mask(parameters.time_width()),
            counts: policy.sync_mode,
            triggers: policy.triggers,
            tracing: !policy.triggers.wait_for_on,
            cycles: 0,
        }
    }

    /// Switching the trace on starts tracing, whatever trigger came before, unless a trigger is to do so.
    pub(super) const fn enable(&mut self) {
        self.tracing = !self.triggers.wait_for_on;
    }

    /// The level of a cycle.
    #[inline]
    pub(super) const fn privilege(&self, cycle: &Cycle) -> u8 {
        cycle.privilege & self.privilege_mask
    }

    /// Hands the items of one cycle to `push`, oldest first. `enabled` is the state of the control fields.
    pub(super) fn cycle(
        &mut self,
        cycle: &Cycle,
        enabled: bool,
        filters: &mut Filters,
        mut push: impl FnMut(Item),
    ) {
        // Both pulses work on whole cycles. Spec: RVET-ENC-048 to 050 (ET 4.2.4).
        self.tracing |= cycle.trace_on && self.triggers.on_off;
        let running = enabled && self.tracing && !cycle.halted && !cycle.reset;
        self.cycles += 1;
        let mut empty = true;
        // At most one context change per cycle, and it belongs to the oldest instruction (RVET-ING-008).
        let mut ctype = cycle.ctype;
        for block in &cycle.blocks {
            let mut item = Item {
                kind: Kind::Gap,
                qualified: running,
                privilege: self.privilege(cycle),
                context: cycle.context & self.context_mask,
                time: cycle.time & self.time_mask,
                timestamp: cycle.time,
                ticks: 0,
            };
            if let Some((first, last, halfwords)) = self.retired(block, ctype) {
                ctype = 0;
                empty = false;
                let passes =
                    filters.retire(block.iaddr.0 & self.code_mask, last.itype, item.privilege, item.context);
                item.qualified = running && passes;
                if let Some(first) = first {
                    item.kind = Kind::Retire(first);
                    item.ticks = self.ticks(0);
                    push(item);
                }
                item.kind = Kind::Retire(last);
                item.ticks = self.ticks(halfwords);
                push(item);
            }
            if let Some(trap) = self.trap(block, cycle) {
                empty = false;
                let epc = (!trap.interrupt).then_some(trap.epc);
                let signals = TrapSignals { interrupt: trap.interrupt, cause: trap.cause, epc };
                // Filters watch the port while tracing is off, too.
                let passes = filters.trap(signals, item.privilege, item.context);
                item.qualified = running && passes;
                item.kind = Kind::Trap(trap);
                item.ticks = self.ticks(0);
                push(item);
            }
        }
        if empty && enabled && !running {
            push(Item::GAP);
        }
        if cycle.trace_off && self.triggers.on_off {
            self.tracing = false;
        }
    }

    /// What the timer counts for an item of so many half-words.
    #[inline]
    pub(super) fn ticks(&mut self, halfwords: u64) -> u64 {
        match self.counts {
            SyncMode::Off | SyncMode::Packets => 0,
            SyncMode::Cycles => core::mem::take(&mut self.cycles),
            SyncMode::HalfWords => halfwords,
        }
    }

    /// The first instruction of a block if it is not also the last, the last one, and the half-words of all.
    ///
    /// Spec: RVET-ING-003, RVET-ING-005, RVET-ING-006 (ET 4.2).
    fn retired(&self, block: &Block, ctype: u8) -> Option<(Option<Retired>, Retired, u64)> {
        if block.iretire == 0 {
            return None;
        }
        let halfwords = self.halfwords(block);
        let mut last = self.last(block, halfwords, ctype);
        if halfwords == size(block) {
            return Some((None, last, halfwords));
        }
        let first = Retired {
            address: block.iaddr.0 & self.code_mask,
            end: 0,
            itype: Itype::Nothing,
            sijump: false,
            notify: false,
            last: false,
            ctype,
        };
        last.ctype = 0;
        Some((Some(first), last, halfwords))
    }

    /// Half-words of a block. Spec: RVET-ING-005 (ET 4.2).
    #[inline]
    pub(super) fn halfwords(&self, block: &Block) -> u64 {
        let size = size(block);
        if self.block_retirement { u64::from(block.iretire).max(size) } else { size }
    }

    /// The last instruction of a block of so many half-words.
    #[inline]
    pub(super) fn last(&self, block: &Block, halfwords: u64, ctype: u8) -> Retired {
        let end = block.iaddr.wrapping_add(halfwords.wrapping_mul(2));
        let itype = match block.itype {
            // The trap is an item of its own.
            Itype::Exception | Itype::Interrupt => Itype::Nothing,
            itype => itype,
        };
        Retired {
            address: end.0.wrapping_sub(size(block).wrapping_mul(2)) & self.code_mask,
            end: end.0 & self.code_mask,
            itype,
            sijump: block.sijump,
            notify: block.notify && self.triggers.notify,
            last: true,
            ctype,
        }
    }

    /// Spec: RVET-ING-002, RVET-ING-004 (ET 4.2).
    fn trap(&self, block: &Block, cycle: &Cycle) -> Option<TrapTaken> {
        let interrupt = match block.itype {
            Itype::Exception => false,
            Itype::Interrupt => true,
            _ => return None,
        };
        // An exception after instructions of its block is at the end of them (RVET-ENC-045).
        let epc = match self.retired(block, 0) {
            _ if interrupt => 0,
            Some((_, last, _)) => last.end,
            None => block.iaddr.0 & self.code_mask,
        };
        Some(TrapTaken {
            interrupt,
            cause: cycle.cause & self.cause_mask,
            tval: if interrupt { 0 } else { cycle.tval & self.address_mask },
            epc,
        })
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Address;

    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn items(ingress: &mut Ingress, cycle: &Cycle) -> Vec<Item> {
        let mut items = Vec::new();
        ingress.cycle(cycle, true, &mut Filters::default(), |item| items.push(item));
        items
    }

    fn block(itype: Itype, iaddr: u64, iretire: u32, ilastsize: u8) -> Block {
        Block { itype, iaddr: Address(iaddr), iretire, ilastsize, sijump: false, notify: false }
    }

    fn addresses(items: &[Item]) -> Vec<(u64, Itype)> {
        items
            .iter()
            .map(|item| match item.kind {
                Kind::Retire(retired) => (retired.address, retired.itype),
                _ => (0, Itype::Reserved),
            })
            .collect()
    }

    /// The blocks of the example in ET 4.2.5.
    #[test]
    fn last_instructions_follow_from_half_words() {
        let parameters = Parameters { retires_p: 4, ..Parameters::default() };
        let mut ingress = Ingress::new(&parameters, &Policy::default());
        let cycle = Cycle {
            blocks: vec![
                block(Itype::UninferableCall, 0x1000, 7, 0),
                block(Itype::BranchNotTaken, 0x0940, 3, 0),
                block(Itype::BranchTaken, 0x0946, 1, 0),
                block(Itype::Nothing, 0x0988, 4, 1),
            ]
            .into(),
            ..Cycle::default()
        };
        assert_eq!(
            addresses(&items(&mut ingress, &cycle)),
            [
                (0x1000, Itype::Nothing),
                (0x100c, Itype::UninferableCall),
                (0x0940, Itype::Nothing),
                (0x0944, Itype::BranchNotTaken),
                (0x0946, Itype::BranchTaken),
                (0x0988, Itype::Nothing),
                (0x098c, Itype::Nothing),
            ]
        );
    }

    #[test]
    fn a_trap_with_retirement_is_two_items() {
        let parameters = Parameters { retires_p: 4, ..Parameters::default() };
        let mut ingress = Ingress::new(&parameters, &Policy::default());
        let cycle = Cycle {
            blocks: [block(Itype::Exception, 0x1000, 2, 1)].into(),
            cause: 2,
            tval: 0x77,
            ..Cycle::default()
        };
        let items = items(&mut ingress, &cycle);
        assert_eq!(items.len(), 2);
        assert_eq!(addresses(&items)[0], (0x1000, Itype::Nothing));
        assert_eq!(
            items[1].kind,
            Kind::Trap(TrapTaken { interrupt: false, cause: 2, tval: 0x77, epc: 0x1004 })
        );
    }

    #[test]
    fn idle_cycles_give_nothing_and_halted_ones_a_gap() {
        let mut ingress = Ingress::new(&Parameters::default(), &Policy::default());
        assert!(items(&mut ingress, &Cycle::default()).is_empty());
        let empty = block(Itype::Nothing, 0x1000, 0, 1);
        assert!(items(&mut ingress, &Cycle { blocks: [empty].into(), ..Cycle::default() }).is_empty());
        assert_eq!(items(&mut ingress, &Cycle { halted: true, ..Cycle::default() }), [Item::GAP]);
        assert_eq!(items(&mut ingress, &Cycle { reset: true, ..Cycle::default() }), [Item::GAP]);
    }

    #[test]
    fn trigger_pulses_take_their_whole_cycle_along() {
        let mut ingress = Ingress::new(&Parameters::default(), &Policy::default());
        let retire = |trace_on, trace_off| Cycle {
            blocks: [block(Itype::Nothing, 0x1000, 1, 1)].into(),
            trace_on,
            trace_off,
            ..Cycle::default()
        };
        let mut traced = |on, off| items(&mut ingress, &retire(on, off))[0].qualified;
        assert!(traced(false, false));
        assert!(traced(false, true));
        assert!(!traced(false, false));
        assert!(traced(true, true));
        assert!(!traced(false, false));
        assert!(traced(true, false));
    }
}
