//! Fast path: instructions of which each has a cycle of its own, one after the other. Without it the stimuli are the
//! same: see [`Hart::without_fast_path`].

use traceproof_vectors::riscv_etrace::{Block, Blocks, Cycle, Retire, Stimulus};

use super::{Hart, OpenBlock};
use crate::riscv_etrace::instruction::{Class, Instruction};

/// The latest instruction: its cycle, which nothing can join.
#[derive(Clone, Debug, Default)]
pub(super) struct Alone {
    /// A cycle with one block. Absent: the latest step was something else.
    stimulus: Option<Stimulus>,
    /// Address after the instruction.
    end: u64,
    /// It is a branch whose outcome follows from the next step.
    undecided: bool,
}

impl Hart {
    /// Takes an instruction after the one that is held, which goes to the sink; `false` if it has to go another way, and
    /// then nothing has happened.
    #[inline]
    pub(super) fn retire_alone(&mut self, retire: &Retire, sink: &mut dyn FnMut(&Stimulus)) -> bool {
        let Self { alone, code, port, upper, .. } = self;
        let Some(Alone { stimulus: Some(stimulus), end, undecided }) = alone else { return false };
        let Some(Instruction { halfwords, class }) = code.at(retire.address.0).filter(|_| !retire.partial)
        else {
            return false;
        };
        if *undecided
            && let Stimulus::Cycle(cycle) = &mut *stimulus
            && let [block] = cycle.blocks.as_mut_slice()
        {
            block.itype = Class::Branch.itype(retire.address.0 != *end, port.itype_width);
        }
        sink(stimulus);
        if let Stimulus::Cycle(cycle) = stimulus
            && let [block] = cycle.blocks.as_mut_slice()
        {
            *block = Block {
                itype: class.itype(retire.taken.unwrap_or(false), port.itype_width),
                iaddr: retire.address,
                iretire: if port.halfwords { halfwords.into() } else { 1 },
                ilastsize: halfwords.trailing_zeros() as u8,
                sijump: port.sijump && port.is_sequentially_inferable(class, *upper),
                notify: retire.notify,
            };
            (cycle.privilege, cycle.ctype) = (retire.privilege, retire.ctype);
            (cycle.context, cycle.time) = (retire.context, retire.time);
        }
        *upper = class.upper();
        *end = retire.address.0.wrapping_add(2 * u64::from(halfwords));
        *undecided = class == Class::Branch && retire.taken.is_none();
        true
    }

    /// Opens the block of the instruction that is held.
    #[inline]
    pub(super) fn settle_alone(&mut self) {
        let Some(alone) = &mut self.alone else { return };
        let Some(Stimulus::Cycle(cycle)) = alone.stimulus.take() else { return };
        let Some(block) = cycle.blocks.first() else { return };
        let halfwords = 1 << block.ilastsize;
        self.open = Some(OpenBlock {
            first: block.iaddr.0,
            end: alone.end,
            halfwords: halfwords.into(),
            instructions: 1,
            last_halfwords: halfwords,
            itype: block.itype,
            sijump: block.sijump,
            notify: block.notify,
            complete: true,
            undecided: alone.undecided,
        });
        self.cycle = Cycle { blocks: Blocks::new(), ..cycle };
    }

    /// Holds the instruction whose block is open, if it has a cycle of its own.
    pub(super) fn hold_alone(&mut self) {
        let Some(alone) = &mut self.alone else { return };
        let nothing_else = self.cycle.blocks.is_empty() && self.waiting.is_empty() && self.begun.is_none();
        if !(self.port.is_single() && nothing_else) {
            return;
        }
        let Some(open) = self.open.take() else { return };
        let blocks = Blocks::from_slice(&[self.port.block(&open)]);
        alone.stimulus = Some(Stimulus::Cycle(Cycle { blocks, ..self.cycle.clone() }));
        (alone.end, alone.undecided) = (open.end, open.undecided);
    }
}
