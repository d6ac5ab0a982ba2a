//! Which signals an execution shows at the ingress port.

use crate::riscv_etrace::{Hart, HartError, Retirement, TrapPlacement};
use traceproof_vectors::riscv_etrace::{Cycle, Itype, Parameters, Retire, Step, Stimulus};
use traceproof_vectors::{Program, Section};

use super::bench::{
    C_NOP, JALR, NOP, enable, exception, instruction, interrupt, path, program, retire, small_program,
};

fn cycles(hart: &mut Hart, steps: &[Step]) -> Vec<Cycle> {
    let mut cycles = Vec::new();
    hart.run(steps.iter().cloned(), &mut |stimulus| {
        if let Stimulus::Cycle(cycle) = stimulus {
            cycles.push(cycle.clone());
        }
    })
    .expect("there is code");
    cycles
}

/// `(iretire, iaddr, itype, ilastsize)` of each block of each cycle.
fn blocks(cycles: &[Cycle]) -> Vec<Vec<(u32, u64, Itype, u8)>> {
    let signals = |cycle: &Cycle| {
        cycle
            .blocks
            .iter()
            .map(|block| (block.iretire, block.iaddr.0, block.itype, block.ilastsize))
            .collect()
    };
    cycles.iter().map(signals).collect()
}

/// The code of the example in ET 4.2.5: `c.jalr x6` at 0x100c, `c.beqz` at 0x944, `c.bnez` at 0x946.
fn block_example() -> (Program, Vec<Step>) {
    let program = program(&[
        (0x1000, NOP),
        (0x1004, NOP),
        (0x1008, NOP),
        (0x100c, 0x9302),
        (0x0940, NOP),
        (0x0944, 0xc001),
        (0x0946, 0xe001),
        (0x0988, NOP),
        (0x098c, NOP),
    ]);
    (program, path(&[0x1000, 0x1004, 0x1008, 0x100c, 0x0940, 0x0944, 0x0946, 0x0988, 0x098c]))
}

#[test]
fn the_specifications_block_example() {
    use Itype::{BranchNotTaken, BranchTaken, Nothing, UninferableCall};
    let (program, steps) = block_example();
    let parameters = Parameters { retires_p: 8, ..Parameters::default() };
    let mut hart = Hart::new(&program, &parameters, Retirement::Blocks { max_halfwords: 64 });
    let expected = [
        (7, 0x1000, UninferableCall, 0),
        (3, 0x0940, BranchNotTaken, 0),
        (1, 0x0946, BranchTaken, 0),
        (4, 0x0988, Nothing, 1),
    ];
    assert_eq!(blocks(&cycles(&mut hart, &steps)), expected.map(|block| vec![block]));
    let mut hart = Hart::new(&program, &parameters, Retirement::Groups { groups: 3, max_halfwords: 64 });
    assert_eq!(blocks(&cycles(&mut hart, &steps)), [expected[..3].to_vec(), expected[3..].to_vec()]);
    // At most four half-words, so the second `nop` of a pair ends a block.
    let mut hart = Hart::new(&program, &parameters, Retirement::Blocks { max_halfwords: 4 });
    assert_eq!(
        blocks(&cycles(&mut hart, &steps)[..2]),
        [vec![(4, 0x1000, Nothing, 1)], vec![(3, 0x1008, UninferableCall, 0)]]
    );
    // At most two instructions.
    let parameters = Parameters { retires_p: 2, ..parameters };
    let mut hart = Hart::new(&program, &parameters, Retirement::Blocks { max_halfwords: 64 });
    assert_eq!(blocks(&cycles(&mut hart, &steps)[..1]), [vec![(4, 0x1000, Nothing, 1)]]);
}

#[test]
fn single_retirement_counts_instructions() {
    let (program, steps) = block_example();
    let mut hart = Hart::new(&program, &Parameters::default(), Retirement::Single);
    let cycles = cycles(&mut hart, &steps);
    assert_eq!(cycles.len(), 9);
    assert_eq!(
        blocks(&cycles)[2..4],
        [vec![(1, 0x1008, Itype::Nothing, 1)], vec![(1, 0x100c, Itype::UninferableCall, 0)]]
    );
    assert!(cycles.iter().all(|cycle| cycle.privilege == 3));
}

#[test]
fn traps_come_with_the_instruction_before_or_alone() {
    let steps = [retire(0x1000), exception(2, 0x1004), retire(0x3000), interrupt(7), exception(5, 0x3004)];
    let parameters = Parameters { retires_p: 4, ..Parameters::default() };
    let shape = Retirement::Blocks { max_halfwords: 8 };
    let mut hart = Hart::new(&small_program(), &parameters, shape);
    let merged = cycles(&mut hart, &steps);
    assert_eq!(
        blocks(&merged),
        [
            vec![(2, 0x1000, Itype::Exception, 1)],
            vec![(2, 0x3000, Itype::Interrupt, 1)],
            vec![(0, 0x3004, Itype::Exception, 0)],
        ]
    );
    assert_eq!(merged.iter().map(|cycle| cycle.cause).collect::<Vec<_>>(), [2, 7, 5]);
    let mut hart = Hart::new(&small_program(), &parameters, shape).with_traps(TrapPlacement::Alone);
    assert_eq!(
        blocks(&cycles(&mut hart, &steps)),
        [
            vec![(2, 0x1000, Itype::Nothing, 1)],
            vec![(0, 0x1004, Itype::Exception, 0)],
            vec![(2, 0x3000, Itype::Nothing, 1)],
            vec![(0, 0, Itype::Interrupt, 0)],
            vec![(0, 0x3004, Itype::Exception, 0)],
        ]
    );
}

#[test]
fn traps_stay_alone_where_the_port_cannot_merge_them() {
    let parameters = Parameters { retires_p: 4, ..Parameters::default() };
    let mut hart = Hart::new(&small_program(), &parameters, Retirement::Blocks { max_halfwords: 8 });
    // After a jump, and an exception elsewhere than after the block.
    for (at, trap) in [(0x100c, interrupt(7)), (0x1000, exception(2, 0x2000))] {
        let cycles = cycles(&mut hart, &[retire(at), trap]);
        assert_eq!(cycles.len(), 2, "{at:#x}");
        assert_eq!(cycles[1].blocks[0].iretire, 0);
    }
}

#[test]
fn outcomes_follow_from_the_next_address() {
    // Two branches of 4 bytes, then code.
    let program = program(&[(0x1000, 0x0000_0463), (0x1004, NOP), (0x1008, C_NOP)]);
    let mut hart = Hart::new(&program, &Parameters::default(), Retirement::Single);
    let mut outcome = |steps: &[Step]| cycles(&mut hart, steps)[0].blocks[0].itype;
    assert_eq!(outcome(&path(&[0x1000, 0x1004])), Itype::BranchNotTaken);
    assert_eq!(outcome(&path(&[0x1000, 0x1008])), Itype::BranchTaken);
    assert_eq!(outcome(&path(&[0x1000])), Itype::BranchNotTaken);
    assert_eq!(outcome(&[retire(0x1000), exception(2, 0x1008)]), Itype::BranchTaken);
    assert_eq!(outcome(&[retire(0x1000), exception(2, 0x1004)]), Itype::BranchNotTaken);
    assert_eq!(outcome(&[retire(0x1000), interrupt(2)]), Itype::BranchNotTaken);
    assert_eq!(outcome(&[retire(0x1000), enable(true), enable(false), retire(0x1008)]), Itype::BranchTaken);
    let stated = Step::Retire(Retire { taken: Some(true), ..instruction(0x1000) });
    assert_eq!(outcome(&[stated, retire(0x1004)]), Itype::BranchTaken);
}

#[test]
fn stimuli_keep_their_place() {
    let program = program(&[(0x1000, 0x0000_0463), (0x1008, C_NOP), (0x100a, C_NOP)]);
    let parameters = Parameters { retires_p: 4, ..Parameters::default() };
    let mut hart = Hart::new(&program, &parameters, Retirement::Blocks { max_halfwords: 8 });
    let mut seen = Vec::new();
    let steps = [retire(0x1000), enable(true), retire(0x1008), enable(false), retire(0x100a)];
    hart.run(steps, &mut |stimulus| {
        seen.push(match stimulus {
            Stimulus::Cycle(cycle) => cycle.blocks[0].iaddr.0,
            Stimulus::Enable(on) => u64::from(*on),
            _ => 99,
        });
    })
    .expect("there is code");
    assert_eq!(seen, [0x1000, 1, 0x1008, 0, 0x100a]);
}

#[test]
fn changes_of_level_context_and_time_start_a_cycle() {
    let parameters = Parameters {
        retires_p: 4,
        nocontext_p: false,
        context_width_p: 8,
        notime_p: false,
        time_width_p: 8,
        ..Parameters::default()
    };
    let shape = Retirement::Groups { groups: 2, max_halfwords: 8 };
    let second = instruction(0x1004);
    let count = |parameters: &Parameters, second| {
        let mut hart = Hart::new(&small_program(), parameters, shape);
        cycles(&mut hart, &[retire(0x1000), Step::Retire(second)]).len()
    };
    assert_eq!(count(&parameters, second), 1);
    assert_eq!(count(&parameters, Retire { privilege: 0, ..second }), 2);
    assert_eq!(count(&parameters, Retire { context: 1, ..second }), 2);
    assert_eq!(count(&parameters, Retire { time: 1, ..second }), 2);
    assert_eq!(count(&parameters, Retire { ctype: 2, ..second }), 2);
    // Signals that no packet carries do not count.
    let plain = Parameters { retires_p: 4, ..Parameters::default() };
    assert_eq!(count(&plain, Retire { context: 1, time: 1, ..second }), 1);
}

#[test]
fn sequentially_inferable_jumps_follow_their_upper_immediate() {
    // auipc x5; jalr x0, 0(x5); auipc x6; jalr x0, 0(x6); nop
    let program = program(&[
        (0x1000, 0x0000_0297),
        (0x1004, JALR),
        (0x1008, 0x0000_0317),
        (0x100c, 0x0003_0067),
        (0x1010, NOP),
    ]);
    let signal = |itype_width_p, sijump_p, steps: &[Step]| {
        let parameters = Parameters { itype_width_p, sijump_p, ..Parameters::default() };
        let mut hart = Hart::new(&program, &parameters, Retirement::Single);
        cycles(&mut hart, steps).last().map(|cycle| cycle.blocks[0].sijump)
    };
    assert_eq!(signal(4, true, &path(&[0x1008, 0x100c])), Some(true));
    assert_eq!(signal(4, false, &path(&[0x1008, 0x100c])), Some(false));
    // A return is one only where the port cannot distinguish it (3-bit itype).
    assert_eq!(signal(4, true, &path(&[0x1000, 0x1004])), Some(false));
    assert_eq!(signal(3, true, &path(&[0x1000, 0x1004])), Some(true));
    // Not directly before; other register; a trap in between.
    assert_eq!(signal(4, true, &path(&[0x1008, 0x1010, 0x100c])), Some(false));
    assert_eq!(signal(4, true, &path(&[0x1000, 0x100c])), Some(false));
    assert_eq!(signal(4, true, &[retire(0x1008), interrupt(7), retire(0x100c)]), Some(false));
}

#[test]
fn missing_code_is_an_error_with_its_step() {
    let mut hart = Hart::new(&small_program(), &Parameters::default(), Retirement::Single);
    let result = hart.run(path(&[0x1000, 0x1004, 0x5000]), &mut |_| {});
    assert_eq!(result, Err(HartError::NoCode { step: 2, address: 0x5000 }));
    let mut program = Program::new();
    let long = Section::new(0x1000, vec![0x1f, 0, 0, 0, 0, 0], "");
    program.insert(long).expect("it is alone");
    let mut hart = Hart::new(&program, &Parameters::default(), Retirement::Single);
    let result = hart.run(path(&[0x1000]), &mut |_| {});
    assert_eq!(result, Err(HartError::NoCode { step: 0, address: 0x1000 }));
}
