//! The encoder with and without its fast path.

use traceproof_vectors::riscv_etrace::{
    AddressRange, Block, Blocks, Cycle, DataAccess, DataParameters, Encapsulation, Filter, Itype,
    MemoryAccess, Modes, NormalEncapsulation, Parameters, Policy, RiscvEtrace, Stimulus, SyncMode,
    Timestamps, TrapFilter, Triggers, Version,
};
use traceproof_vectors::{Address, Encoder as _, Log};

use crate::riscv_etrace::Encoder;
use crate::riscv_etrace::filter::Filters;
use crate::riscv_etrace::items::{Ingress, Item};

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
        MemoryAccess { address: Address(address), size: 2, data, lrid: None, multi: false, filtered: false }
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
            ..Cycle::default()
        })
    }
}

/// Everything around the stimuli that the fast path must handle or leave to the general path.
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
    if seed.is_multiple_of(3) {
        parameters.version = Version::V2_0_5;
        parameters.iret_ext = seed.is_multiple_of(6);
    }
    let mut policy = Policy { sync_mode: modes[(seed / 2 % 4) as usize], sync_max: 3, ..Policy::default() };
    let normal = NormalEncapsulation { timestamp_bytes: 2, type_bits: 1, ..NormalEncapsulation::default() };
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
            policy.timestamps =
                if (seed / 40).is_multiple_of(2) { Timestamps::Always } else { Timestamps::Synchronisation };
        }
        _ => {
            parameters.encapsulation = Encapsulation::Normal(normal);
            parameters.data = Some(DataParameters::default());
        }
    }
    (parameters, policy)
}

/// The same stimuli once with the fast path and once without it, in every setup.
#[test]
fn the_fast_path_changes_nothing() {
    let (mut by_signals, mut by_item) = (0_u64, 0_u64);
    for seed in 0..160_u64 {
        let (parameters, policy) = setup(seed);
        let retires_p = parameters.retires_p;
        let [mut fast, mut slow] = [Encoder::default(), Encoder::default().without_fast_path()];
        fast.begin(&parameters, &policy).expect("possible parameters");
        slow.begin(&parameters, &policy).expect("possible parameters");
        let (mut fast_log, mut slow_log) = (Log::<RiscvEtrace>::default(), Log::<RiscvEtrace>::default());
        let mut numbers = Numbers(seed);
        for step in 0..3000 {
            let stimulus =
                if step == 0 { Stimulus::Enable(true) } else { numbers.stimulus(retires_p.into()) };
            let (signals, item) = shortcut(&fast, &stimulus);
            (by_signals, by_item) = (by_signals + u64::from(signals), by_item + u64::from(item));
            fast.step(&stimulus, &mut fast_log);
            slow.step(&stimulus, &mut slow_log);
            assert_eq!(fast_log.wire, slow_log.wire, "seed {seed}, step {step}: {stimulus:?}");
        }
        fast.finish(&mut fast_log);
        slow.finish(&mut slow_log);
        assert_eq!(fast_log.entries, slow_log.entries, "seed {seed}");
        assert_eq!(fast_log.wire, slow_log.wire, "seed {seed}");
    }
    assert!(by_signals > 10_000 && by_item > 10_000, "only {by_signals} and {by_item} shortcuts");
}

/// Whether this stimulus is taken by its signals, or without a decision about packets.
fn shortcut(encoder: &Encoder, stimulus: &Stimulus) -> (bool, bool) {
    let Encoder { mut model, fast_path } = encoder.clone();
    let (Some(mut fast_path), Stimulus::Cycle(cycle)) = (fast_path, stimulus) else { return (false, false) };
    if fast_path.step_by_signals(&mut model, cycle) {
        return (true, false);
    }
    fast_path.settle(&mut model);
    (false, fast_path.step_unreported(&mut model, cycle))
}

/// The items of a cycle, made without the fast path.
fn items(ingress: &mut Ingress, cycle: &Cycle) -> Vec<Item> {
    let mut items = Vec::new();
    ingress.cycle(cycle, true, &mut Filters::default(), |item| items.push(item));
    items
}

fn block(itype: Itype, iaddr: u64, iretire: u32, ilastsize: u8) -> Block {
    Block { itype, iaddr: Address(iaddr), iretire, ilastsize, sijump: false, notify: false }
}

#[test]
fn plain_cycles_are_one_item_either_way() {
    for (retires_p, counts) in [(1, SyncMode::Cycles), (4, SyncMode::HalfWords), (1, SyncMode::Packets)] {
        let parameters =
            Parameters { retires_p, nocontext_p: false, context_width_p: 4, ..Parameters::default() };
        let policy = Policy { sync_mode: counts, ..Policy::default() };
        let mut ingress = Ingress::new(&parameters, &policy);
        let instruction = block(Itype::BranchTaken, 0x1002, 2, 1);
        let cycle = Cycle {
            blocks: [instruction].into(),
            privilege: 3,
            context: 0x123,
            ctype: 2,
            time: 7,
            ..Cycle::default()
        };
        assert!(ingress.is_plain(&cycle));
        let plain = { ingress }.plain(&cycle, &instruction, false);
        assert_eq!(items(&mut ingress, &cycle), [Item { qualified: true, ..plain }]);
        let more = block(Itype::Nothing, 0x1000, 4, 0);
        assert_eq!(ingress.is_plain(&Cycle { blocks: [more].into(), ..cycle.clone() }), retires_p == 1);
        assert!(!ingress.is_plain(&Cycle { reset: true, ..cycle }));
    }
}
