//! The short way for what most instructions are: nothing to report, and nothing special behind them.
//!
//! There are two of them. The shorter one, for a port with one instruction in a cycle whose cycles and half-words nobody
//! counts, does not even make an item of the instruction; the other one does. Both give what the way over items,
//! decisions and packets gives, and leave their way whenever they are not sure.

use traceproof_vectors::riscv_etrace::{Block, Cycle, Itype, RiscvEtrace, Stimulus};
use traceproof_vectors::{Address, EncoderSink};

use super::encoder::Encoder;
use super::items::{Kind, Retired, is_inferable};
use super::tracer::{Flow, Tracer};

/// The instruction that waits, as the shorter way needs it.
#[derive(Clone, Copy, Debug)]
pub(in crate::riscv_etrace) struct Waiting {
    /// The next instruction may be dealt with the shorter way.
    shortest: bool,
    /// It came the shorter way, so that its signals are here, and not yet in the window.
    here: bool,
    block: Block,
    context: u64,
    time: u64,
}

impl Waiting {
    /// Nothing may be dealt with the shorter way.
    pub(in crate::riscv_etrace) const NOTHING: Self = Self {
        shortest: false,
        here: false,
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
}

impl Encoder {
    /// Takes a cycle the shorter way; `false` if it has to go another way, and then nothing has happened.
    #[inline]
    pub(in crate::riscv_etrace) fn step_shortly(&mut self, cycle: &Cycle) -> bool {
        let [block] = cycle.blocks.as_slice() else { return false };
        let ordinary = self.waiting.shortest
            & (cycle.ctype == 0)
            & (self.ingress.privilege(cycle) == self.window.current.privilege)
            & cycle.qualified
            & !(cycle.trace_off | cycle.halted | cycle.reset | block.notify)
            & !matches!(block.itype, Itype::Exception | Itype::Interrupt)
            & (block.iretire > 0);
        if !ordinary {
            return false;
        }
        let passed = match self.waiting.block.itype {
            Itype::BranchTaken => self.tracer.branches.record_quietly(true),
            Itype::BranchNotTaken => self.tracer.branches.record_quietly(false),
            itype => is_inferable(itype),
        };
        if passed {
            let (context, time) = (cycle.context, cycle.time);
            self.waiting = Waiting { shortest: true, here: true, block: *block, context, time };
        }
        passed
    }

    /// Takes a stimulus the other way, or none of the short ones.
    #[inline(never)]
    pub(in crate::riscv_etrace) fn step_longer(
        &mut self,
        stimulus: &Stimulus,
        sink: &mut dyn EncoderSink<RiscvEtrace>,
    ) {
        self.settle();
        match stimulus {
            Stimulus::Cycle(cycle) if self.quiet && self.step_quietly(cycle) => {}
            _ => self.step_fully(stimulus, sink),
        }
        let Kind::Retire(retired) = self.window.current.kind else {
            self.waiting = Waiting::NOTHING;
            return;
        };
        self.waiting.block.itype = retired.itype;
        self.waiting.shortest = self.quiet
            && self.ingress.counts_nothing()
            && self.ingress.is_tracing()
            && self.tracer.resync.keeps_counting(0);
    }

    /// Makes an item of the instruction that waits.
    pub(in crate::riscv_etrace) fn settle(&mut self) {
        let Waiting { here, block, context, time, .. } = self.waiting;
        if here {
            self.ingress.replace(&mut self.window.current, context, time, &block);
        }
        self.waiting = Waiting::NOTHING;
    }

    /// Whether the item that waits may get no packet if an ordinary instruction follows.
    pub(in crate::riscv_etrace) fn may_be_quiet(&self) -> bool {
        let current = &self.window.current;
        let plain = matches!(current.kind, Kind::Retire(Retired { notify: false, ctype: 0, .. }));
        plain
            && current.qualified
            && self.window.controls.is_empty()
            && self.filters.is_empty()
            && self.data.is_none()
            && self.tracer.goes_on(current.privilege)
            && self.tracer.flow() == Flow::Inferable
    }

    /// Takes a cycle if it has just one block of ordinary instructions and the item that waits gets no packet; `false` if
    /// not, and then nothing has happened. Only where it [may be quiet](Self::may_be_quiet).
    #[inline]
    pub(in crate::riscv_etrace) fn step_quietly(&mut self, cycle: &Cycle) -> bool {
        let [block] = cycle.blocks.as_slice() else { return false };
        let current = &mut self.window.current;
        let Kind::Retire(retired) = &mut current.kind else { return false };
        // Without a jump for each of them.
        let ordinary = (cycle.ctype == 0)
            & (self.ingress.privilege(cycle) == current.privilege)
            & cycle.qualified
            & !(cycle.trace_off | cycle.halted | cycle.reset | block.notify)
            & !matches!(block.itype, Itype::Exception | Itype::Interrupt)
            & (block.iretire > 0);
        // If a block has two items that matter, both are behind an instruction that a decoder can follow.
        let followed =
            self.ingress.is_alone(block) || retired.is_inferable() && self.ingress.counts_no_cycles();
        if !ordinary || !followed || !self.ingress.is_tracing() || !self.tracer.pass(retired, current.ticks) {
            return false;
        }
        self.ingress.replace(current, cycle.context, cycle.time, block);
        self.quiet = self.tracer.flow() == Flow::Inferable;
        true
    }
}

impl Tracer {
    /// Whether an instruction at this level just continues the trace, and nobody counts calls.
    fn goes_on(&self, privilege: u8) -> bool {
        let previous = self.previous();
        let continues = previous.qualified && !previous.is_trap() && previous.privilege == privilege;
        continues && !self.starts_anew() && self.returns.is_none()
    }

    /// Deals with an ordinary instruction between others as [`item`](Self::item) does, if it gets no packet; `false` if it
    /// may get one, and then nothing has happened.
    #[inline]
    fn pass(&mut self, retired: &Retired, ticks: u64) -> bool {
        if !self.resync.keeps_counting(ticks) {
            return false;
        }
        if let Some(taken) = retired.taken() {
            if !self.branches.record_quietly(taken) {
                return false;
            }
        } else if !retired.is_inferable() {
            self.leave_quietly(retired);
        }
        self.resync.count(ticks);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::boxed::Box;
    use alloc::vec;
    use traceproof_vectors::riscv_etrace::{
        AddressRange, Block, Blocks, DataAccess, DataParameters, Encapsulation, Filter, MemoryAccess, Modes,
        NormalEncapsulation, Parameters, Policy, RiscvEtrace, Stimulus, SyncMode, Timestamps, TrapFilter,
        Triggers,
    };
    use traceproof_vectors::{Encoder as _, Log};

    /// A small generator of numbers; the same ones every time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }

        fn one_in(&mut self, many: u64) -> bool {
            self.below(many) == 0
        }

        fn block(&mut self, retires: u16) -> Block {
            let itype = match self.below(40) {
                0 => Itype::Exception,
                1 => Itype::Interrupt,
                2 => Itype::TrapReturn,
                3 => Itype::Return,
                4 => Itype::UninferableJump,
                5 => Itype::UninferableCall,
                6 => Itype::InferableCall,
                7 => Itype::InferableJump,
                8..=14 => Itype::BranchTaken,
                15..=20 => Itype::BranchNotTaken,
                _ => Itype::Nothing,
            };
            let most = if retires > 1 { 6 } else { 1 };
            Block {
                itype,
                iaddr: Address(0x1000 + 2 * self.below(0x400)),
                iretire: if self.one_in(30) { 0 } else { 1 + self.below(most) as u32 },
                ilastsize: self.below(2) as u8,
                sijump: self.one_in(3),
                notify: self.one_in(50),
            }
        }

        fn store(&mut self) -> MemoryAccess {
            let (address, data) = (0x8000 + 4 * self.below(0x100), self.below(1 << 31).into());
            MemoryAccess {
                address: Address(address),
                size: 2,
                data,
                lrid: None,
                multi: false,
                filtered: false,
            }
        }

        fn stimulus(&mut self, retires: u16) -> Stimulus {
            match self.below(300) {
                0 => return Stimulus::Enable(false),
                1..=3 => return Stimulus::Enable(true),
                4 => return Stimulus::Transport(false),
                5..=8 => return Stimulus::Transport(true),
                9 => return Stimulus::Modes(Modes { full_address: self.one_in(2), ..Modes::default() }),
                10 => return Stimulus::Modes(Modes { branch_prediction: true, ..Modes::default() }),
                11 => return Stimulus::Modes(Modes { implicit_return: true, ..Modes::default() }),
                12 => return Stimulus::Modes(Modes { sijump: true, ..Modes::default() }),
                13 => return Stimulus::Modes(Modes::default()),
                14 => return Stimulus::DataEnable(!self.one_in(4)),
                15..=30 => return Stimulus::Data(Box::new(DataAccess::Store(self.store()))),
                _ => {}
            }
            let blocks = match self.below(12) {
                0 => Blocks::new(),
                1 => vec![self.block(retires), self.block(retires)].into(),
                _ => [self.block(retires)].into(),
            };
            Stimulus::Cycle(Cycle {
                blocks,
                cause: 3,
                privilege: if self.one_in(60) { 0 } else { 3 },
                context: self.below(4),
                time: self.below(1000),
                ctype: if self.one_in(60) { self.below(4) as u8 } else { 0 },
                trace_on: self.one_in(80),
                trace_off: self.one_in(200),
                halted: self.one_in(200),
                reset: self.one_in(300),
                qualified: !self.one_in(100),
                ..Cycle::default()
            })
        }
    }

    /// Everything around the stimuli that the short way must get along with, or keep away from.
    fn setup(seed: u64) -> (Parameters, Policy) {
        let modes = [SyncMode::Off, SyncMode::Packets, SyncMode::Cycles, SyncMode::HalfWords];
        let mut parameters = Parameters {
            retires_p: if seed.is_multiple_of(2) { 1 } else { 4 },
            nocontext_p: false,
            notime_p: false,
            context_width_p: 8,
            time_width_p: 16,
            bpred_size_p: 4,
            f0s_width_p: 1,
            return_stack_size_p: 2,
            sijump_p: true,
            ..Parameters::default()
        };
        let mut policy =
            Policy { sync_mode: modes[(seed / 2 % 4) as usize], sync_max: 3, ..Policy::default() };
        let normal =
            NormalEncapsulation { timestamp_bytes: 2, type_bits: 1, ..NormalEncapsulation::default() };
        match seed / 8 % 5 {
            0 => {}
            1 => {
                policy.triggers =
                    Triggers { on_off: seed / 40 != 1, notify: seed / 40 == 1, wait_for_on: seed / 40 != 1 };
            }
            2 => {
                let addresses = vec![AddressRange { first: Address(0x1100), last: Address(0x1500) }];
                let trap = Filter { trap: Some(TrapFilter::default()), ..Filter::default() };
                policy.filters = vec![Filter { addresses, ..Filter::default() }, trap];
            }
            3 => {
                parameters.encapsulation = Encapsulation::Normal(normal);
                policy.timestamps = if (seed / 40).is_multiple_of(2) {
                    Timestamps::Always
                } else {
                    Timestamps::Synchronisation
                };
            }
            _ => {
                parameters.encapsulation = Encapsulation::Normal(normal);
                parameters.data = Some(DataParameters::default());
            }
        }
        (parameters, policy)
    }

    /// The same stimuli once with the short way and once without it.
    #[test]
    fn the_short_way_changes_nothing() {
        let (mut short, mut shorter) = (0_u64, 0_u64);
        for seed in 0..160_u64 {
            let (parameters, policy) = setup(seed);
            let retires_p = parameters.retires_p;
            let (mut fast, mut slow) = (Encoder::default(), Encoder::default());
            fast.begin(&parameters, &policy).expect("possible parameters");
            slow.begin(&parameters, &policy).expect("possible parameters");
            let (mut fast_log, mut slow_log) = (Log::<RiscvEtrace>::default(), Log::<RiscvEtrace>::default());
            let mut numbers = Numbers(seed);
            for step in 0..3000 {
                let stimulus =
                    if step == 0 { Stimulus::Enable(true) } else { numbers.stimulus(retires_p.into()) };
                short += u64::from(
                    matches!(&stimulus, Stimulus::Cycle(cycle) if fast.quiet && fast.clone().step_quietly(cycle)),
                );
                shorter += u64::from(
                    matches!(&stimulus, Stimulus::Cycle(cycle) if fast.clone().step_shortly(cycle)),
                );
                fast.step(&stimulus, &mut fast_log);
                slow.step_fully(&stimulus, &mut slow_log);
                assert_eq!(fast_log.wire, slow_log.wire, "seed {seed}, step {step}: {stimulus:?}");
            }
            fast.finish(&mut fast_log);
            slow.finish(&mut slow_log);
            assert_eq!(fast_log.entries, slow_log.entries, "seed {seed}");
            assert_eq!(fast_log.wire, slow_log.wire, "seed {seed}");
        }
        assert!(short > 10_000 && shorter > 10_000, "only {short} short steps and {shorter} shorter ones");
    }
}
