//! Blocks of pre-decoded programs.

use alloc::vec::Vec;

use traceproof_vectors::arm::{Barrier, InstructionClass, WaitFor};
use traceproof_vectors::{Program, Section};

use super::super::{Destination, InstructionSet, ProgramMap, Stops};
use InstructionSet::{A32, A64, T16, T32};

fn program(sections: &[(u64, &[u8])]) -> Program {
    let mut program = Program::new();
    for &(address, bytes) in sections {
        program.insert(Section::new(address, bytes.to_vec(), "")).expect("no overlap");
    }
    program
}

fn halves(code: &[u16]) -> Vec<u8> {
    code.iter().flat_map(|half| half.to_le_bytes()).collect()
}

fn words(code: &[u32]) -> Vec<u8> {
    code.iter().flat_map(|word| word.to_le_bytes()).collect()
}

const NOP: u32 = 0xe320_f000;
const ISB: u32 = 0xf57f_f06f;
const DMB: u32 = 0xf57f_f05f;
const WFI: u32 = 0xe320_f003;
const BX_LR: u32 = 0xe12f_ff1e;

fn block(map: &ProgramMap, set: InstructionSet, address: u64) -> Option<(u32, u32, Destination)> {
    map.block(set, address).map(|block| (block.instructions, block.bytes, block.then.destination()))
}

fn stop(map: &ProgramMap, address: u64) -> Option<(u32, u32, InstructionClass)> {
    map.block(A32, address).map(|block| (block.instructions, block.bytes, block.then.class))
}

#[test]
fn blocks_end_at_branches_stops_and_the_end_of_the_code() {
    let code = words(&[NOP, ISB, DMB, WFI, NOP, BX_LR, NOP]);
    let program = program(&[(0x1000, &code)]);
    let map = ProgramMap::new(&program, &[A32], Stops::default());
    assert_eq!(block(&map, A32, 0x1000), Some((5, 20, Destination::Elsewhere)));
    assert_eq!(block(&map, A32, 0x1014), Some((0, 0, Destination::Elsewhere)));
    assert_eq!(block(&map, A32, 0x1018), Some((1, 4, Destination::Missing)));
    for outside in [0xffc, 0x1002, 0x101c] {
        assert_eq!(block(&map, A32, outside), None);
        assert_eq!(map.instruction(A32, outside), None);
    }
    let stops = |instruction_barriers, data_barriers, waits| {
        ProgramMap::new(
            &program,
            &[A32],
            Stops { instruction_barriers, data_barriers, waits, ..Stops::default() },
        )
    };
    assert_eq!(stop(&stops(true, true, true), 0x1000), Some((1, 4, InstructionClass::Barrier(Barrier::Isb))));
    assert_eq!(
        stop(&stops(false, true, true), 0x1000),
        Some((2, 8, InstructionClass::Barrier(Barrier::Dmb)))
    );
    assert_eq!(
        stop(&stops(false, false, true), 0x1000),
        Some((3, 12, InstructionClass::Wait(WaitFor::Interrupt)))
    );
    assert_eq!(block(&stops(true, true, true), A32, 0x1010), Some((1, 4, Destination::Elsewhere)));
}

#[test]
fn thumb_blocks_count_instructions_of_both_lengths() {
    // nop; mov.w r0, #1; nop; bl .+4; then the first half of a wide instruction
    let code = halves(&[0xbf00, 0xf04f, 0x0001, 0xbf00, 0xf000, 0xf800, 0xf000]);
    let map = ProgramMap::new(&program(&[(0x2000, &code)]), &[T32], Stops::default());
    assert_eq!(block(&map, T32, 0x2000), Some((3, 8, Destination::Target)));
    assert_eq!(block(&map, T32, 0x2002), Some((2, 6, Destination::Target)));
    // In the middle of an instruction something else starts: 0x0001 is a shift.
    assert_eq!(block(&map, T32, 0x2004), Some((2, 4, Destination::Target)));
    assert_eq!(map.instruction(T32, 0x200c), None);
    assert_eq!(
        [0, 1, 2, 3, 4].map(|count| map.behind(T32, 0x2000, count)),
        [Some(0x2000), Some(0x2002), Some(0x2006), Some(0x2008), None]
    );
    // The other sets were not asked for.
    assert_eq!(block(&map, A32, 0x2000), None);
}

#[test]
fn a_branch_with_link_of_old_thumb_is_two_instructions() {
    let code = halves(&[0x46c0, 0xf7ff, 0xfffe, 0x46c0]);
    let map = ProgramMap::new(&program(&[(0x8000, &code)]), &[T16, T32], Stops::default());
    assert_eq!(block(&map, T16, 0x8000), Some((2, 4, Destination::Target)));
    let branch = map.instruction(T16, 0x8004).expect("code");
    // LR = 0x8002 + 4 - 0x1000; target = LR + 0x7fe * 2.
    assert_eq!((branch.target(0x8004), branch.length, branch.class.has_link()), (0x8002, 2, true));
    let whole = map.instruction(T32, 0x8002).expect("code");
    assert_eq!((whole.target(0x8002), whole.length, whole.class.has_link()), (0x8002, 4, true));
}

#[test]
fn sections_without_a_gap_are_one() {
    let code = words(&[NOP, NOP, BX_LR]);
    let (front, back) = code.split_at(6);
    let map = ProgramMap::new(&program(&[(0x1000, front), (0x1006, back)]), &[A32], Stops::default());
    assert_eq!(block(&map, A32, 0x1000), Some((2, 8, Destination::Elsewhere)));
    // A section that starts inside a word has its first instruction after it.
    let map = ProgramMap::new(&program(&[(0x1002, &code[2..]), (0x3001, &[0])]), &[A32], Stops::default());
    assert_eq!(block(&map, A32, 0x1000), None);
    assert_eq!(block(&map, A32, 0x1004), Some((1, 4, Destination::Elsewhere)));
    assert_eq!(block(&map, A32, 0x3000), None);
}

#[test]
fn the_last_bytes_of_the_address_space_hold_no_instruction_too_many() {
    let map = ProgramMap::new(&program(&[(u64::MAX, &[0x70])]), &[A32, T32], Stops::default());
    assert_eq!(block(&map, T32, u64::MAX), None);
    let map = ProgramMap::new(&program(&[(u64::MAX - 3, &words(&[NOP]))]), &[A32], Stops::default());
    assert_eq!(block(&map, A32, u64::MAX - 3), Some((1, 4, Destination::Missing)));
}

#[test]
fn very_long_straight_code_is_cut_and_goes_on() {
    let code = words(&[&[NOP; 70_000][..], &[BX_LR]].concat());
    let map = ProgramMap::new(&program(&[(0, &code)]), &[A32], Stops::default());
    let (mut address, mut instructions) = (0, 0);
    loop {
        let block = map.block(A32, address).expect("code");
        address += u64::from(block.bytes);
        instructions += block.instructions;
        if block.then.destination() == Destination::Elsewhere {
            break;
        }
        assert!(block.bytes > 0);
    }
    assert_eq!((address, instructions), (280_000, 70_000));
    assert_eq!(map.behind(A32, 0, 4_464), Some(17_856));
}

#[test]
fn loops_and_transactions_end_blocks_if_they_are_asked_for() {
    // nop; le lr, .-2
    let program = program(&[(0x1000, &halves(&[0xbf00, 0xf00f, 0xc803]))]);
    for (no_loops, expected) in [(false, (1, 2, Destination::Target)), (true, (2, 6, Destination::Missing))] {
        let stops = Stops { no_loops, ..Stops::default() };
        assert_eq!(block(&ProgramMap::new(&program, &[T32], stops), T32, 0x1000), Some(expected));
    }
    // nop; tstart x0; bl .
    let words = words(&[0xd503_201f, 0xd523_3060, 0x9400_0000]);
    let mut program = Program::new();
    program.insert(Section::new(0x4_0000_0000, words, "")).expect("no overlap");
    for (transaction_starts, expected) in
        [(false, (2, 8, Destination::Target)), (true, (1, 4, Destination::Next))]
    {
        let stops = Stops { transaction_starts, ..Stops::default() };
        let map = ProgramMap::new(&program, &[A64], stops);
        assert_eq!(block(&map, A64, 0x4_0000_0000), Some(expected));
        assert_eq!(map.behind(A64, 0x4_0000_0000, 1), Some(0x4_0000_0004));
        let branch = map.instruction(A64, 0x4_0000_0008).expect("an instruction");
        assert_eq!(branch.target(0x4_0000_0008), 0x4_0000_0008);
    }
}
