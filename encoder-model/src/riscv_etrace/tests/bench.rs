//! A test bench: small programs, executions, and the output of the encoder.

use crate::riscv_etrace::{Encoder, Hart, Retirement};
use traceproof_vectors::riscv_etrace::{
    Cycle, Packet, Parameters, Policy, Retire, RiscvEtrace, Step, Stimulus, Trap,
};
use traceproof_vectors::{Address, Encoder as _, Log, Program, Section};

pub(crate) const NOP: u32 = 0x0000_0013;
/// `jalr x0, 0(x5)`
pub(crate) const JALR: u32 = 0x0002_8067;
/// `jalr x0, 0(x1)`
pub(crate) const RET: u32 = 0x0000_8067;
/// `beq x0, x0, .`
pub(crate) const BRANCH: u32 = 0x0000_0063;
pub(crate) const MRET: u32 = 0x3020_0073;
pub(crate) const C_NOP: u32 = 0x0001;

/// Bytes from pairs of hexadecimal digits.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace().map(|pair| u8::from_str_radix(pair, 16).expect("two digits")).collect()
}

/// Instructions, each at its own address.
pub(crate) fn program(code: &[(u64, u32)]) -> Program {
    let mut program = Program::new();
    for &(address, word) in code {
        let length = if word & 0b11 == 0b11 { 4 } else { 2 };
        let bytes = word.to_le_bytes().into_iter().take(length).collect();
        program.insert(Section::new(address, bytes, "")).expect("no overlap");
    }
    program
}

/// The program of most sequences: `A B C J` from 0x1000 on, `nop` at 0x2000 and 0x2004, and a handler at 0x3000.
pub(crate) fn small_program() -> Program {
    program(&[
        (0x1000, NOP),
        (0x1004, NOP),
        (0x1008, NOP),
        (0x100c, JALR),
        (0x2000, NOP),
        (0x2004, NOP),
        (0x3000, NOP),
        (0x3004, NOP),
    ])
}

/// An instruction that retires at level 3.
pub(crate) fn instruction(address: u64) -> Retire {
    Retire { address: Address(address), privilege: 3, ..Retire::default() }
}

pub(crate) fn retire(address: u64) -> Step {
    Step::Retire(instruction(address))
}

pub(crate) fn branch(address: u64, taken: bool) -> Step {
    Step::Retire(Retire { taken: Some(taken), ..instruction(address) })
}

pub(crate) fn exception(cause: u64, epc: u64) -> Step {
    Step::Trap(Trap { cause, epc: Address(epc), privilege: 3, ..Trap::default() })
}

pub(crate) fn interrupt(cause: u64) -> Step {
    Step::Trap(Trap { interrupt: true, cause, privilege: 3, ..Trap::default() })
}

pub(crate) fn enable(on: bool) -> Step {
    Step::Stimulus(Stimulus::Enable(on))
}

pub(crate) fn transport(takes: bool) -> Step {
    Step::Stimulus(Stimulus::Transport(takes))
}

/// A cycle in which nothing retires.
pub(crate) fn idle(cycle: Cycle) -> Step {
    Step::Stimulus(Stimulus::Cycle(cycle))
}

/// A step between a trace-off and a trace-on pulse.
pub(crate) fn untraced(step: Step) -> Vec<Step> {
    let off = Cycle { trace_off: true, ..Cycle::default() };
    let on = Cycle { trace_on: true, ..Cycle::default() };
    vec![idle(off), step, idle(on)]
}

/// Addresses that retire one after the other.
pub(crate) fn path(addresses: &[u64]) -> Vec<Step> {
    addresses.iter().copied().map(retire).collect()
}

/// Everything the encoder sends for an execution, in the given shape, and for the halt after it. `finish` adds nothing.
pub(crate) fn encode_as(
    hart: &mut Hart,
    parameters: &Parameters,
    policy: &Policy,
    steps: &[Step],
) -> Log<RiscvEtrace> {
    let mut encoder = Encoder::default();
    encoder.begin(parameters, policy).expect("the parameters are supported");
    let mut log = Log::default();
    let halt = idle(Cycle { halted: true, ..Cycle::default() });
    let steps = steps.iter().cloned().chain([halt]);
    hart.run(steps, &mut |stimulus| encoder.step(stimulus, &mut log)).expect("there is code");
    let sent = (log.entries.len(), log.wire.len());
    encoder.finish(&mut log);
    assert_eq!((log.entries.len(), log.wire.len()), sent, "`finish` sends something");
    log
}

/// Everything the encoder sends for an execution with single retirement.
pub(crate) fn encode(
    program: &Program,
    parameters: &Parameters,
    policy: &Policy,
    steps: &[Step],
) -> Log<RiscvEtrace> {
    encode_as(&mut Hart::new(program, parameters, Retirement::Single), parameters, policy, steps)
}

/// The packets for an execution of `small_program` that starts with enabling the trace; the support packet of
/// that is left out.
pub(crate) fn packets(policy: &Policy, steps: &[Step]) -> Vec<Packet> {
    let steps: Vec<Step> = [enable(true)].iter().chain(steps).cloned().collect();
    let log = encode(&small_program(), &Parameters::default(), policy, &steps);
    log.packets().skip(1).copied().collect()
}

/// Takes the framed wire apart: header byte = length, then the payload.
pub(crate) fn payloads(wire: &[u8]) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    let mut rest = wire;
    while let Some((&length, tail)) = rest.split_first() {
        let (payload, tail) = tail.split_at(usize::from(length));
        payloads.push(payload.to_vec());
        rest = tail;
    }
    payloads
}
