//! The packets do not depend on how the ingress port cuts the execution (RVET-ENC-044, RVET-ENC-045).

use crate::riscv_etrace::{Hart, Retirement, TrapPlacement};
use proptest::prelude::*;
use traceproof_vectors::riscv_etrace::{
    Cycle, InterruptReport, Modes, Parameters, Policy, Retire, Step, Stimulus, Trap, TrapVectors, Version,
};
use traceproof_vectors::{Address, Program};

use super::bench::{C_NOP, MRET, NOP, RET, encode_as, program};

/// What an instruction of the small program does.
#[derive(Clone, Copy)]
enum Kind {
    Plain,
    Branch(u64),
    Jump(u64),
    Indirect,
    TrapReturn,
}

/// Address, machine code and behaviour: a little of everything, with 2-byte and 4-byte instructions.
const CODE: [(u64, u32, Kind); 16] = [
    (0x1000, NOP, Kind::Plain),
    (0x1004, C_NOP, Kind::Plain),
    // beq x0, x0, +10
    (0x1006, 0x0000_0563, Kind::Branch(0x1010)),
    // jal x1, +16
    (0x100a, 0x0100_00ef, Kind::Jump(0x101a)),
    (0x100e, C_NOP, Kind::Plain),
    // c.beqz x8, .
    (0x1010, 0xc001, Kind::Branch(0x1010)),
    // auipc x6; jalr x0, 0(x6)
    (0x1012, 0x0000_0317, Kind::Plain),
    (0x1016, 0x0003_0067, Kind::Jump(0x1012)),
    (0x101a, NOP, Kind::Plain),
    // c.jalr x6
    (0x101e, 0x9302, Kind::Indirect),
    (0x1020, NOP, Kind::Plain),
    (0x1024, RET, Kind::Indirect),
    (0x1028, C_NOP, Kind::Plain),
    (0x102a, MRET, Kind::TrapReturn),
    (0x102e, NOP, Kind::Plain),
    // c.jr x6
    (0x1032, 0x8302, Kind::Indirect),
];

const HANDLER: u64 = 0x1020;

fn code() -> Program {
    program(&CODE.map(|(address, word, _)| (address, word)))
}

fn size(word: u32) -> u64 {
    if word & 0b11 == 0b11 { 4 } else { 2 }
}

/// Walks through the program; each choice is one step.
fn execution(choices: &[(u8, u8)]) -> Vec<Step> {
    let mut steps = vec![Step::Stimulus(Stimulus::Enable(true))];
    let mut at = CODE[0].0;
    let mut privilege = 3;
    let mut context = 0;
    let mut traced = true;
    for &(event, target) in choices {
        let somewhere = CODE[usize::from(target) % CODE.len()].0;
        match event {
            0..=9 => {
                let interrupt = event % 2 == 0;
                let (cause, tval, epc) = (u64::from(event), u64::from(target), at);
                let trap = Trap { interrupt, cause, tval, epc: Address(epc), privilege, context, time: 0 };
                steps.push(Step::Trap(trap));
                privilege = 3;
                at = HANDLER;
                continue;
            }
            10..=12 => {
                traced = !traced;
                let pulse = Cycle { trace_on: traced, trace_off: !traced, ..Cycle::default() };
                steps.push(Step::Stimulus(Stimulus::Cycle(pulse)));
            }
            13 => steps.push(Step::Stimulus(Stimulus::Transport(false))),
            14 | 15 => steps.push(Step::Stimulus(Stimulus::Transport(true))),
            16 => steps.push(Step::Stimulus(Stimulus::Enable(target % 2 == 0))),
            19 => {
                let bit = |bit: u8| target >> bit & 1 == 1;
                steps.push(Step::Stimulus(Stimulus::Modes(Modes {
                    implicit_return: bit(0),
                    implicit_exception: bit(1),
                    full_address: bit(2),
                    jump_target_cache: bit(3),
                    branch_prediction: bit(4),
                    sijump: bit(5),
                })));
            }
            17 | 18 => steps.push(Step::Stimulus(Stimulus::Enable(true))),
            _ => {}
        }
        let Some(&(address, word, kind)) = CODE.iter().find(|(address, ..)| *address == at) else { break };
        let ctype = if event >= 250 { event % 4 } else { 0 };
        context += u64::from(ctype > 0);
        let mut retire = Retire {
            address: Address(address),
            taken: None,
            privilege,
            context,
            time: 0,
            ctype,
            notify: (20..30).contains(&event),
            partial: false,
        };
        at = match kind {
            Kind::Plain => address + size(word),
            Kind::Jump(to) => to,
            Kind::Indirect => somewhere,
            Kind::Branch(to) => {
                let taken = target % 2 == 0;
                retire.taken = Some(taken);
                if taken { to } else { address + size(word) }
            }
            Kind::TrapReturn => {
                privilege = if target % 2 == 0 { 3 } else { 0 };
                somewhere
            }
        };
        steps.push(Step::Retire(retire));
    }
    steps
}

/// Bytes for the same execution in one shape.
fn wire(
    parameters: &Parameters,
    policy: &Policy,
    steps: &[Step],
    shape: (u8, Retirement, TrapPlacement),
) -> Vec<u8> {
    let (retires_p, retirement, traps) = shape;
    let parameters = Parameters { retires_p, ..parameters.clone() };
    let mut hart = Hart::new(&code(), &parameters, retirement).with_traps(traps);
    encode_as(&mut hart, &parameters, policy, steps).wire
}

fn modes() -> impl Strategy<Value = Modes> {
    any::<[bool; 6]>().prop_map(|bits| Modes {
        implicit_return: bits[0],
        implicit_exception: bits[1],
        full_address: bits[2],
        jump_target_cache: bits[3],
        branch_prediction: bits[4],
        sijump: bits[5],
    })
}

fn parameters() -> impl Strategy<Value = Parameters> {
    (modes(), any::<bool>(), any::<bool>()).prop_map(|(modes, stack, context)| Parameters {
        modes,
        return_stack_size_p: if stack { 2 } else { 0 },
        call_counter_size_p: if stack { 0 } else { 2 },
        f0s_width_p: 1,
        bpred_size_p: 3,
        cache_size_p: 2,
        sijump_p: true,
        trap_vectors: Some(TrapVectors { base: Address(HANDLER), vectored: false }),
        nocontext_p: !context,
        context_width_p: 16,
        ..Parameters::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn all_shapes_give_the_same_bytes(
        parameters in parameters(),
        separate in any::<bool>(),
        choices in prop::collection::vec(any::<(u8, u8)>(), 0..200),
    ) {
        let interrupt_report = if separate { InterruptReport::Separate } else { InterruptReport::Handler };
        let policy = Policy { interrupt_report, ..Policy::default() };
        let steps = execution(&choices);
        let expected = wire(&parameters, &policy, &steps, (1, Retirement::Single, TrapPlacement::Alone));
        let blocks = |max_halfwords| Retirement::Blocks { max_halfwords };
        for shape in [
            (1, Retirement::Single, TrapPlacement::Merged),
            (8, Retirement::Single, TrapPlacement::Merged),
            (2, blocks(2), TrapPlacement::Alone),
            (8, blocks(3), TrapPlacement::Merged),
            (8, blocks(64), TrapPlacement::Alone),
            (8, blocks(64), TrapPlacement::Merged),
            (1, Retirement::Groups { groups: 3, max_halfwords: 0 }, TrapPlacement::Merged),
            (8, Retirement::Groups { groups: 2, max_halfwords: 4 }, TrapPlacement::Merged),
            (8, Retirement::Groups { groups: 4, max_halfwords: 64 }, TrapPlacement::Alone),
        ] {
            prop_assert_eq!(&wire(&parameters, &policy, &steps, shape), &expected, "{:?}", shape);
        }
    }

    /// The same stimuli, too, of steps as files of executions have them: without outcomes, and with the accesses of
    /// multi-access instructions.
    #[test]
    fn the_fast_path_of_the_hart_changes_nothing(
        parameters in parameters(),
        (late, itype_width_p, retires_p) in (any::<bool>(), 3_u8..=4, 1_u8..=2),
        choices in prop::collection::vec(any::<(u8, u8)>(), 0..200),
        (undecided, partial) in any::<(u64, u64)>(),
    ) {
        let version = if late { Version::V2_0_5 } else { Version::V2_0 };
        let parameters = Parameters { version, itype_width_p, retires_p, ..parameters };
        let mut steps = execution(&choices);
        for (index, step) in steps.iter_mut().enumerate() {
            if let Step::Retire(retire) = step {
                let bit = |bits: u64| bits >> (index % 61) & 1 == 1;
                retire.taken = retire.taken.filter(|_| !bit(undecided));
                retire.partial = bit(partial) && index % 3 == 0;
                retire.time = index as u64;
            }
        }
        let stimuli = |mut hart: Hart| {
            let mut stimuli = Vec::new();
            let end = hart.run(steps.iter().cloned(), &mut |stimulus| stimuli.push(stimulus.clone()));
            (stimuli, end)
        };
        let groups = Retirement::Groups { groups: 2, max_halfwords: 4 };
        for retirement in [Retirement::Single, Retirement::Blocks { max_halfwords: 4 }, groups] {
            for traps in [TrapPlacement::Merged, TrapPlacement::Alone] {
                let hart = Hart::new(&code(), &parameters, retirement).with_traps(traps);
                prop_assert_eq!(stimuli(hart.clone()), stimuli(hart.without_fast_path()));
            }
        }
    }
}
