//! Fast path: instructions that need no packet, between others like them. Without it an encoder sends the same: see
//! [`Encoder::without_fast_path`](super::Encoder::without_fast_path).
//!
//! It has three parts, each of which is left where it does not apply:
//!
//! | shortcut | where |
//! |---|---|
//! | the signals of the instruction are kept, and no item is made of it | one instruction in a cycle, and the resynchronisation timer counts no cycles and half-words |
//! | an item is made, but no decision about packets | one block in a cycle |
//! | an item is made, without a check of filters, triggers and traps | one instruction in a cycle |

use traceproof_vectors::riscv_etrace::{Block, Cycle, Itype, RiscvEtrace, Stimulus};
use traceproof_vectors::{Address, EncoderSink};

use super::items::{Kind, Retired};
use super::model::Model;
use unreported::is_inferable;

mod signals;
mod unreported;

/// What the shortcuts need between two stimuli.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastPath {
    /// The item that waits may get no packet if an ordinary instruction follows.
    unreported: bool,
    /// The next instruction may be dealt with by its signals.
    by_signals: bool,
    /// The instruction that waits came by its signals: they are here, and not yet in the window.
    held: bool,
    block: Block,
    context: u64,
    time: u64,
}

impl FastPath {
    /// Before the first stimulus.
    pub(super) const NEW: Self = Self {
        unreported: false,
        by_signals: false,
        held: false,
        block: Block {
            itype: Itype::Nothing,
            iaddr: Address(0),
            iretire: 0,
            ilastsize: 0,
            sijump: false,
            notify: false,
        },
        context: 0,
        time: 0,
    };

    /// [`Model::step`].
    #[inline]
    pub(super) fn step(
        &mut self,
        model: &mut Model,
        stimulus: &Stimulus,
        sink: &mut dyn EncoderSink<RiscvEtrace>,
    ) {
        match stimulus {
            Stimulus::Cycle(cycle) if self.step_by_signals(model, cycle) => {}
            _ => self.step_by_item(model, stimulus, sink),
        }
    }

    /// Takes a cycle by its signals; `false` if it has to go another way, and then nothing has happened.
    #[inline]
    pub(super) fn step_by_signals(&mut self, model: &mut Model, cycle: &Cycle) -> bool {
        let [block] = cycle.blocks.as_slice() else { return false };
        let ordinary = self.by_signals
            & (model.ingress.privilege(cycle) == model.window.current.privilege)
            & is_ordinary(cycle, block);
        if !ordinary {
            return false;
        }
        let passed = match self.block.itype {
            Itype::BranchTaken => model.tracer.branches.record_unreported(true),
            Itype::BranchNotTaken => model.tracer.branches.record_unreported(false),
            itype => is_inferable(itype),
        };
        if passed {
            let (context, time) = (cycle.context, cycle.time);
            *self = Self { held: true, block: *block, context, time, ..*self };
        }
        passed
    }

    /// Takes a stimulus another way.
    #[inline(never)]
    fn step_by_item(
        &mut self,
        model: &mut Model,
        stimulus: &Stimulus,
        sink: &mut dyn EncoderSink<RiscvEtrace>,
    ) {
        self.settle(model);
        let passed = matches!(stimulus, Stimulus::Cycle(cycle) if self.step_unreported(model, cycle));
        if !passed {
            step_reported(model, stimulus, sink);
            self.unreported = may_be_unreported(model);
        }
        if let Kind::Retire(retired) = model.window.current.kind {
            self.block.itype = retired.itype;
            self.by_signals = self.unreported
                && model.ingress.counts_nothing()
                && model.ingress.is_tracing()
                && model.tracer.resync.keeps_counting(0);
        }
    }

    /// Makes an item of the instruction that waits.
    pub(super) fn settle(&mut self, model: &mut Model) {
        if self.held {
            model.ingress.replace(&mut model.window.current, self.context, self.time, &self.block);
        }
        (self.held, self.by_signals) = (false, false);
    }

    /// Takes a cycle if it has just one block of ordinary instructions and the item that waits gets no packet; `false`
    /// if not, and then nothing has happened.
    #[inline]
    pub(super) fn step_unreported(&mut self, model: &mut Model, cycle: &Cycle) -> bool {
        let [block] = cycle.blocks.as_slice() else { return false };
        let Model { ingress, window, tracer, .. } = model;
        let current = &mut window.current;
        let Kind::Retire(retired) = &current.kind else { return false };
        let ordinary = (ingress.privilege(cycle) == current.privilege) & is_ordinary(cycle, block);
        // If a block has two items that matter, both come after an instruction that a decoder can follow.
        let followed = ingress.is_alone(block) || retired.is_inferable() && ingress.counts_no_cycles();
        if !self.unreported
            || !ordinary
            || !followed
            || !ingress.is_tracing()
            || !tracer.pass(retired, current.ticks)
        {
            return false;
        }
        ingress.replace(current, cycle.context, cycle.time, block);
        self.unreported = tracer.is_followed();
        true
    }
}

/// Whether nothing but instructions is in a cycle, apart from its level. Without a jump for each condition.
#[inline]
fn is_ordinary(cycle: &Cycle, block: &Block) -> bool {
    (cycle.ctype == 0)
        & !(cycle.trace_off | cycle.halted | cycle.reset | block.notify)
        & !matches!(block.itype, Itype::Exception | Itype::Interrupt)
        & (block.iretire > 0)
}

/// Takes a stimulus, and makes no detours for a plain cycle.
fn step_reported(model: &mut Model, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
    if let Stimulus::Cycle(cycle) = stimulus
        && model.filters.is_empty()
        && model.ingress.is_plain(cycle)
        && let [block] = cycle.blocks.as_slice()
    {
        let item = model.ingress.plain(cycle, block, model.options.enabled);
        model.push(&item, sink);
    } else {
        model.step(stimulus, sink);
    }
}

/// Whether the item that waits may get no packet if an ordinary instruction follows.
fn may_be_unreported(model: &Model) -> bool {
    let current = &model.window.current;
    let plain = matches!(current.kind, Kind::Retire(Retired { notify: false, ctype: 0, .. }));
    plain
        && current.qualified
        && model.window.controls.is_empty()
        && model.filters.is_empty()
        && model.data.is_none()
        && model.tracer.goes_on(current.privilege)
        && model.tracer.is_followed()
}
