//! What a processor shows its PTM: the signal of every step, by what the generated program has there.

use traceproof_encoder_model::arm_pft::Core;
use traceproof_vectors::arm::{ExceptionLevel, InstructionSet};
use traceproof_vectors::arm_pft::{
    Action, Exception, Execute, Parameters, Signal, State, Step, Stimulus, Waypoint, WaypointKind,
};
use traceproof_vectors::{Address32, ExceptionLevels, MemorySpace, Program, Section};

use super::{Kind, Scenario};

/// Of a reset it is not known where execution was (5.3.1).
const RESET: u16 = 8;

/// Compares every signal, its cycles and its time with the program and the steps; cycles after the latest signal come
/// as an idle step.
///
/// Spec: PFT-ENC-010 to 018, PFT-ENC-049, PFT-WPT-022, PFT-WPT-024.
///
/// # Errors
///
/// The first signal that is another one.
pub(super) fn judge(scenario: &Scenario) -> Result<(), String> {
    let Scenario { steps, parameters, .. } = scenario;
    let program = scenario.program.code()?;
    let mut core = Core::new(&program, parameters);
    let (mut last, mut cycles, mut shown) = (None, 0, Vec::new());
    let mut in_a_block = None;
    for (index, step) in steps.iter().enumerate() {
        cycles = step.cycles.saturating_add(cycles);
        let timestamp = step.timestamp;
        let here = core.next().unwrap_or_default();
        let signal = signal(scenario, &step.action, here, &mut last)?;
        let expected =
            signal.map(|signal| Stimulus { cycles: std::mem::take(&mut cycles), timestamp, signal });
        let got = core.step(step).map_err(|(address, problem)| format!("{problem:?} at {address}"))?;
        if got != expected {
            return Err(format!("{step:x?}: expected {expected:x?}, got {got:x?}"));
        }
        shown.extend(expected);
        if cycles > 0 {
            let idle = Stimulus { cycles, timestamp, signal: Signal::Idle };
            in_a_block = Some((index + 1, shown.len(), idle));
        }
    }
    let cut = in_a_block.map(|(count, before, idle)| {
        (count, shown.iter().copied().take(before).chain([idle]).collect::<Vec<_>>())
    });
    for (count, expected) in cut.into_iter().chain([(steps.len(), shown)]) {
        let mut got = Vec::new();
        Core::new(&program, parameters)
            .run(steps.iter().take(count).copied(), &mut |stimulus| got.push(*stimulus))
            .map_err(|error| error.to_string())?;
        if got != expected {
            return Err(format!("{count} steps end with {:x?}, not {:x?}", got.last(), expected.last()));
        }
    }
    code_of_its_space(parameters)?;
    code_of_hyp_mode(parameters)?;
    direct_branches(parameters)
}

/// The signal of an action, if it has one. `last`: the latest instruction since the latest waypoint.
fn signal(
    scenario: &Scenario,
    action: &Action,
    here: State,
    last: &mut Option<Address32>,
) -> Result<Option<Signal>, String> {
    Ok(match *action {
        Action::Execute(execute) => instruction(scenario, &execute, here, last)?,
        Action::Exception(taken) => {
            let last = last.take().filter(|_| taken.number != RESET);
            Some(Signal::Exception(Exception { number: taken.number, last, handler: taken.handler }))
        }
        Action::DebugEntry => Some(Signal::DebugEntry(last.take())),
        Action::Signal(signal) => {
            let arrives = matches!(
                signal,
                Signal::Enable(_) | Signal::DebugExit(_) | Signal::ProhibitedExit(_) | Signal::JazelleExit(_)
            );
            *last = last.filter(|_| !arrives);
            Some(signal)
        }
        _ => None,
    })
}

fn instruction(
    scenario: &Scenario,
    execute: &Execute,
    here: State,
    last: &mut Option<Address32>,
) -> Result<Option<Signal>, String> {
    let Scenario { program, parameters, .. } = scenario;
    let item = program.find(execute.address, here.isa).ok_or("no instruction of the program")?;
    let (kind, link) = match item.kind {
        Kind::Plain | Kind::Call(_) | Kind::Breakpoint => {
            *last = Some(item.address);
            return Ok(None);
        }
        Kind::Wait => {
            *last = Some(item.address);
            return Ok((!execute.skipped).then_some(Signal::Wait));
        }
        Kind::Branch { link, .. } => (WaypointKind::Direct, link),
        Kind::Exchange { .. } => (WaypointKind::Direct, true),
        Kind::Switch(_) => (WaypointKind::Direct, false),
        Kind::Indirect { link, .. } => (WaypointKind::Indirect, link),
        Kind::ExceptionReturn => (WaypointKind::Indirect, false),
        Kind::Isb => (WaypointKind::Isb, false),
        Kind::Barrier => (WaypointKind::Barrier, false),
    };
    let (address, isa) = if execute.skipped { (item.end(), item.isa) } else { program.destination(item) };
    let known = State { address, isa, ..here };
    let waypoint = Waypoint {
        address: item.address,
        isa: item.isa,
        size: item.size,
        kind,
        link,
        exception_return: execute.exception_return || item.kind == Kind::ExceptionReturn,
        executed: !execute.skipped,
        next: execute.to.filter(|_| !execute.skipped).unwrap_or(known),
        previous: last.take(),
    };
    *last = (kind == WaypointKind::Barrier && !parameters.barrier_waypoints).then_some(item.address);
    Ok(Some(Signal::Waypoint(waypoint)))
}

/// The instruction is that of the Context ID and VMID which the latest waypoint brought into force.
///
/// Spec: PFT-WPT-012, PFT-DEC-061.
fn code_of_its_space(parameters: &Parameters) -> Result<(), String> {
    let here = State {
        address: Address32(0x8000),
        isa: if parameters.m_profile { InstructionSet::T32 } else { InstructionSet::A32 },
        ..State::default()
    };
    // ISB: as T32 and as A32. NOP.
    let isb: u32 = if parameters.m_profile { 0x8f6f_f3bf } else { 0xf57f_f06f };
    let nop: u32 = if parameters.m_profile { 0x8000_f3af } else { 0xe320_f000 };
    type Register = (fn(u32) -> MemorySpace, fn(u32) -> Signal);
    let registers: [Register; 2] = [
        (|value| MemorySpace::ANY.with_context_id(value), Signal::ContextId),
        (|value| MemorySpace::ANY.with_vmid(value), |value| Signal::Vmid(value as u8)),
    ];
    for (space, write) in registers {
        let mut program = Program::new();
        for (value, opcode) in [(1, nop), (2, isb)] {
            let section = Section::new(0x8000_u64, opcode.to_le_bytes().to_vec(), "code");
            program.insert(section.in_space(space(value))).map_err(|error| error.to_string())?;
        }
        let mut core = Core::new(&program, parameters);
        let mut shows = |action| {
            let shown = core.step(&Step { cycles: 0, timestamp: 0, action });
            shown.map_err(|(address, problem)| format!("{problem:?} at {address}"))
        };
        let execute = Action::Execute(Execute { address: here.address, ..Execute::default() });
        for (value, is_waypoint) in [(1, false), (2, true), (1, false)] {
            shows(Action::Signal(write(value)))?;
            shows(Action::Signal(Signal::Enable(here)))?;
            // Not in force before the next waypoint.
            shows(Action::Signal(write(3 - value)))?;
            if shows(execute)?.is_some() != is_waypoint {
                return Err(format!("the code of another space than {value}: {:x?}", write(value)));
            }
        }
    }
    Ok(())
}

/// In Hyp mode the instruction is that of exception level 2, whatever other levels have there. Processors of the M
/// profile have no Hyp mode.
///
/// Spec: PFT-DEC-061.
fn code_of_hyp_mode(parameters: &Parameters) -> Result<(), String> {
    if parameters.m_profile {
        return Ok(());
    }
    let mut program = Program::new();
    // NOP, ISB.
    for (level, opcode) in [(ExceptionLevel::El1, 0xe320_f000_u32), (ExceptionLevel::El2, 0xf57f_f06f)] {
        let section = Section::new(0x8000_u64, opcode.to_le_bytes().to_vec(), "code");
        let space = MemorySpace::ANY.with_exception_levels(ExceptionLevels::only(level));
        program.insert(section.in_space(space)).map_err(|error| error.to_string())?;
    }
    let start = State { address: Address32(0x8000), isa: InstructionSet::A32, non_secure: true, hyp: true };
    let execute = Execute { address: start.address, ..Execute::default() };
    let mut core = Core::new(&program, parameters);
    let mut shown = None;
    for action in [Action::Signal(Signal::Enable(start)), Action::Execute(execute)] {
        let step = Step { cycles: 0, timestamp: 0, action };
        shown = core.step(&step).map_err(|(address, problem)| format!("{problem:?} at {address}"))?;
    }
    match shown {
        Some(Stimulus { signal: Signal::Waypoint(_), .. }) => Ok(()),
        other => Err(format!("the code of another exception level: {other:x?}")),
    }
}

/// Direct branches with each part of their offset, in both directions. Processors of the M profile have no ARM state.
///
/// Spec: PFT-WPT-001, PFT-WPT-002, PFT-WPT-013, PFT-WPT-016, PFT-WPT-017.
fn direct_branches(parameters: &Parameters) -> Result<(), String> {
    use InstructionSet::{A32, T32};

    // Half-words or word, the distance from the PC, and the instruction set of the target: B<c> and B of two bytes, CBZ
    // and CBNZ (i:imm5:0), B<c>.W (S:J2:J1), B.W, BL and BLX (S:I1:I2, where I is NOT(J XOR S)); B, BL and BLX (H) of A32.
    const NOP: u16 = 0xbf00;
    const THUMB: [(u16, u16, i32, InstructionSet); 24] = [
        (0xd07f, NOP, 0xfe, T32),
        (0xd080, NOP, -0x100, T32),
        (0xe3ff, NOP, 0x7fe, T32),
        (0xe400, NOP, -0x800, T32),
        (0xb1f8, NOP, 0x3e, T32),
        (0xb300, NOP, 0x40, T32),
        (0xbb00, NOP, 0x40, T32),
        (0xb908, NOP, 2, T32),
        (0xf000, 0xa000, 0x4_0000, T32),
        (0xf000, 0x8800, 0x8_0000, T32),
        (0xf400, 0xa000, -0xc_0000, T32),
        (0xf400, 0x8800, -0x8_0000, T32),
        (0xf000, 0xb000, 0x40_0000, T32),
        (0xf000, 0x9800, 0x80_0000, T32),
        (0xf400, 0xb000, -0x80_0000, T32),
        (0xf400, 0x9800, -0xc0_0000, T32),
        (0xf000, 0xf000, 0x40_0000, T32),
        (0xf000, 0xd800, 0x80_0000, T32),
        (0xf400, 0xf000, -0x80_0000, T32),
        (0xf400, 0xd800, -0xc0_0000, T32),
        (0xf000, 0xe000, 0x40_0000, A32),
        (0xf000, 0xc800, 0x80_0000, A32),
        (0xf400, 0xe000, -0x80_0000, A32),
        (0xf400, 0xc800, -0xc0_0000, A32),
    ];
    const ARM: [(u32, i32, InstructionSet); 6] = [
        (0xea7f_ffff, 0x1ff_fffc, A32),
        (0xea80_0000, -0x200_0000, A32),
        (0xeb7f_ffff, 0x1ff_fffc, A32),
        (0xeb80_0000, -0x200_0000, A32),
        (0xfa80_0000, -0x200_0000, T32),
        (0xfb7f_ffff, 0x1ff_fffe, T32),
    ];
    let thumb = THUMB.map(|(first, second, distance, isa)| {
        (T32, u32::from(second) << 16 | u32::from(first), 4 + distance, isa)
    });
    let arm = ARM.map(|(opcode, distance, isa)| (A32, opcode, 8 + distance, isa));
    for (from, opcode, distance, isa) in thumb.into_iter().chain(arm) {
        if parameters.m_profile && (from, isa) != (T32, T32) {
            continue;
        }
        let start = State { address: Address32(0x200_0000), isa: from, ..State::default() };
        let execute = Execute { address: start.address, ..Execute::default() };
        let mut program = Program::new();
        let section = Section::new(0x200_0000_u64, opcode.to_le_bytes().to_vec(), "code");
        program.insert(section).map_err(|error| error.to_string())?;
        let mut core = Core::new(&program, parameters);
        let mut shown = None;
        for action in [Action::Signal(Signal::Enable(start)), Action::Execute(execute)] {
            let step = Step { cycles: 0, timestamp: 0, action };
            shown = core.step(&step).map_err(|(address, problem)| format!("{problem:?} at {address}"))?;
        }
        let target = State { address: Address32(0x200_0000_u32.wrapping_add_signed(distance)), isa, ..start };
        match shown {
            Some(Stimulus { signal: Signal::Waypoint(Waypoint { next, .. }), .. }) if next == target => {}
            other => return Err(format!("{opcode:x} of {from:?} leads to another place: {other:x?}")),
        }
    }
    Ok(())
}
