//! The rows of a case as a list of items: what retired, what trapped, and where tracing began and ended.
//!
//! Every rule of the specification is about items, so the shape of blocks cannot matter (RVET-ENC-044).

use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::{Modes, Parameters};

use crate::device::{mode_of, mode_of_field};
use crate::filters::Registers;
use crate::{Control, Op, Row, Slot};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// An instruction retired.
    Retire {
        /// Its address.
        address: u64,
        /// `itype` if it ends a block, else 0.
        itype: u8,
        /// A trigger asks for a report of it.
        notify: bool,
    },
    /// A trap was taken.
    Trap {
        /// Interrupt, not exception.
        interrupt: bool,
        /// `cause`.
        cause: u64,
        /// `tval`.
        tval: u64,
        /// Where, if it is an exception.
        epc: Option<u64>,
    },
    /// Tracing is switched on.
    Enable {
        /// The modes from here on.
        modes: Modes,
    },
    /// Tracing ends, if it was on: it is switched off (`ienable` becomes false), or the hart is halted or in reset.
    Break {
        /// Tracing stays enabled.
        ienable: bool,
    },
}

/// One item of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The row that has it.
    pub row: u32,
    /// What happened.
    pub kind: ItemKind,
    /// `priv`; of a trap, the level before it.
    pub privilege: u8,
    /// `context`.
    pub context: u64,
    /// `time`.
    pub time: u64,
    /// `ctype`, on the first instruction of its cycle.
    pub ctype: u8,
    /// It is traced.
    pub qualified: bool,
    /// Clocks with an empty port directly before its row.
    pub idle: u64,
    /// Nothing retired in the block of this trap, or this instruction ends its block.
    pub ends_block: bool,
    /// `sijump` of a jump.
    pub sijump: bool,
    /// The address after an instruction.
    pub end: u64,
    /// Only filters keep it from being traced.
    pub filtered: bool,
}

impl Item {
    /// Whether it is an uninferable discontinuity. Spec: RVET-ENC-015, RVET-ENC-017.
    #[must_use]
    pub const fn is_updiscon(&self) -> bool {
        matches!(self.kind, ItemKind::Retire { itype: 3 | 6 | 8 | 10 | 12 | 13 | 14, .. })
    }

    /// The outcome if it is a conditional branch.
    #[must_use]
    pub const fn taken(&self) -> Option<bool> {
        match self.kind {
            ItemKind::Retire { itype: 4, .. } => Some(false),
            ItemKind::Retire { itype: 5, .. } => Some(true),
            _ => None,
        }
    }

    /// The outcome as a bit of a branch map. Spec: RVET-PKT-033.
    #[must_use]
    pub fn not_taken(&self) -> Option<bool> {
        self.taken().map(|taken| !taken)
    }

    /// Whether it is a trap.
    #[must_use]
    pub const fn is_trap(&self) -> bool {
        matches!(self.kind, ItemKind::Trap { .. })
    }

    /// Its address if it is an instruction.
    #[must_use]
    pub const fn address(&self) -> Option<u64> {
        match self.kind {
            ItemKind::Retire { address, .. } => Some(address),
            _ => None,
        }
    }
}

/// The items of a case.
#[must_use]
pub fn items(rows: &[Row], program: &Program, parameters: &Parameters) -> Vec<Item> {
    let mut reader = Reader::new(program, parameters);
    for row in rows {
        reader.row(row);
    }
    reader.items
}

struct Reader<'a> {
    program: &'a Program,
    /// `iretire` counts half-words, not instructions.
    half_words: bool,
    items: Vec<Item>,
    enabled: bool,
    /// Between a trace-on and a trace-off pulse.
    triggered: bool,
    /// The hart is halted or in reset.
    stopped: bool,
    modes: Modes,
    filters: Registers,
    idle: u64,
}

/// What all items of a block have in common.
#[derive(Clone, Copy)]
struct Common {
    /// Filters let it pass.
    passes: bool,
    ctype: u8,
    ends_block: bool,
    sijump: bool,
    end: u64,
}

impl Common {
    const MARKER: Self = Self { passes: true, ctype: 0, ends_block: true, sijump: false, end: 0 };
}

impl<'a> Reader<'a> {
    fn new(program: &'a Program, parameters: &Parameters) -> Self {
        Self {
            program,
            half_words: parameters.retires_p > 1,
            items: Vec::new(),
            enabled: false,
            triggered: true,
            stopped: false,
            modes: parameters.modes,
            filters: Registers::default(),
            idle: 0,
        }
    }

    fn row(&mut self, row: &Row) {
        match row.op {
            Op::Idle => {
                self.idle += row.cause;
                self.status(row);
            }
            Op::Field => self.field(row),
            Op::Cycle => self.cycle(row),
            Op::End | Op::Case | Op::Ready | Op::Drain => {}
        }
    }

    fn field(&mut self, row: &Row) {
        match mode_of_field(row.cause) {
            Some(mode) => *mode_of(&mut self.modes, mode) = row.tval != 0,
            None => self.filters.write(row.cause, row.tval),
        }
        if row.cause == Control::InstTracing as u64 {
            let enabled = row.tval != 0;
            match (self.enabled, enabled) {
                (false, true) => {
                    self.push(row, ItemKind::Enable { modes: self.modes }, Common::MARKER);
                }
                (true, false) => self.push(row, ItemKind::Break { ienable: false }, Common::MARKER),
                _ => {}
            }
            self.enabled = enabled;
        }
    }

    fn status(&mut self, row: &Row) {
        let stopped = row.status & 3 != 0;
        if stopped && !self.stopped && self.enabled {
            self.push(row, ItemKind::Break { ienable: true }, Common::MARKER);
        }
        self.stopped = stopped;
    }

    fn cycle(&mut self, row: &Row) {
        self.status(row);
        if row.trigger & 1 != 0 {
            self.triggered = true;
        }
        let mut ctype = row.ctype;
        for slot in row.blocks.iter().filter(|slot| !slot.is_empty()) {
            self.block(row, slot, &mut ctype);
            self.idle = 0;
        }
        if row.blocks.iter().all(Slot::is_empty) {
            self.idle += 1;
        }
        if row.trigger & 2 != 0 {
            self.triggered = false;
        }
    }

    fn block(&mut self, row: &Row, slot: &Slot, ctype: &mut u8) {
        let mut address = slot.iaddr;
        let mut left = u32::from(slot.iretire);
        let traps = matches!(slot.itype, 1 | 2);
        let itype = if traps { 0 } else { slot.itype };
        let passes = left == 0 || self.filters.retire(slot.iaddr, itype, row.privilege, row.context);
        while left > 0 {
            let last = if self.half_words { 1 << slot.ilastsize } else { left };
            let half_words = if left <= last { 1 << slot.ilastsize } else { self.half_words_at(address) };
            left = if self.half_words { left.saturating_sub(half_words) } else { left - 1 };
            let itype = if left == 0 { itype } else { 0 };
            let notify = left == 0 && slot.flags & Slot::NOTIFY != 0;
            let end = address.wrapping_add(2 * u64::from(half_words));
            let common = Common {
                passes,
                ctype: core::mem::take(ctype),
                ends_block: left == 0,
                sijump: left == 0 && slot.flags & Slot::SIJUMP != 0,
                end,
            };
            self.push(row, ItemKind::Retire { address, itype, notify }, common);
            self.idle = 0;
            address = end;
        }
        if traps {
            let interrupt = slot.itype == 2;
            let kind = ItemKind::Trap {
                interrupt,
                cause: row.cause,
                tval: if interrupt { 0 } else { row.tval },
                epc: (!interrupt).then_some(address),
            };
            let epc = (!interrupt).then_some(address);
            let passes = self.filters.trap(epc, row.cause, row.privilege, row.context);
            self.push(row, kind, Common { passes, ends_block: slot.iretire == 0, ..Common::MARKER });
        }
    }

    fn half_words_at(&self, address: u64) -> u32 {
        let long =
            self.program.bytes_at(address).and_then(|bytes| bytes.first()).is_none_or(|byte| byte & 3 == 3);
        if long { 2 } else { 1 }
    }

    fn push(&mut self, row: &Row, kind: ItemKind, common: Common) {
        let Common { passes, ctype, ends_block, sijump, end } = common;
        let running = self.enabled && self.triggered && !self.stopped;
        self.items.push(Item {
            row: row.number,
            kind,
            privilege: row.privilege,
            context: row.context,
            time: row.time,
            ctype,
            qualified: running && passes,
            idle: self.idle,
            ends_block,
            sijump,
            end,
            filtered: running && !passes,
        });
    }
}
