//! What a processor shows its trace unit: the signal of every step of an execution, by what the generated program has
//! there; and that it refuses steps that no processor takes.

use traceproof_encoder_model::arm_ete::Core;
use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{
    Action, Execute, P0Kind, Parameters, Policy, Signal, State, Step, Stimulus,
};
use traceproof_vectors::{Address, MemorySpace, Program, Section};

use super::execution::{self, Shown};
use super::{Scenario, impossible};

/// Compares every signal, its cycles and its time with the program and the scenario; cycles after the latest signal
/// come as an idle step. Before each step, others are tried that must be refused.
///
/// Spec: ETE-BQTBL-001, ETE-XCJGD-001, ETE-QNLYJ-001, ETE-HYCXR-001, ETE-YJCNT-001, ETE-YMRGB-001, ETE-YKLRM-001.
///
/// # Errors
///
/// The first signal that is another one, the first impossible step that is accepted.
pub(super) fn judge(scenario: &Scenario) -> Result<(), String> {
    let program = scenario.program.code()?;
    let mut core = Core::new(&program, &scenario.parameters, &scenario.policy);
    impossible::not_running(&core)?;
    let shown = execution::of(scenario)?;
    let (mut stimuli, mut cycles, mut in_a_block) = (Vec::new(), 0_u32, None);
    let mut before: Option<&Shown> = None;
    for (index, shown) in shown.iter().enumerate() {
        if let Some(before) = before {
            impossible::refused(&mut core, scenario, before, shown)
                .map_err(|error| format!("after {:x?}: {error}", before.step))?;
        }
        cycles = cycles.saturating_add(shown.step.cycles);
        let timestamp = shown.step.timestamp;
        let expected = shown.signal.map(|signal| {
            signal.map(|signal| Stimulus { cycles: std::mem::take(&mut cycles), timestamp, signal })
        });
        let got = core.step(&shown.step).map_err(|(_, problem)| problem);
        if got != expected {
            return Err(format!("{:x?}: expected {expected:x?}, got {got:x?}", shown.step));
        }
        let Ok(expected) = expected else { continue };
        if core.next() != shown.next {
            return Err(format!("{:x?}: execution goes on at {:x?}", shown.step, core.next()));
        }
        stimuli.extend(expected);
        if cycles > 0 {
            let idle = Stimulus { cycles, timestamp, signal: Signal::Idle };
            in_a_block = Some((index + 1, stimuli.len(), idle));
        }
        before = Some(shown);
    }
    impossible::not_code(&mut core, scenario, &program)?;
    let taken = |count: usize| shown.iter().take(count).filter(|shown| shown.signal.is_ok());
    let mut runs = vec![(shown.len(), stimuli.clone())];
    if let Some((count, signals, idle)) = in_a_block {
        runs.push((count, stimuli.iter().copied().take(signals).chain([idle]).collect()));
    }
    // Whatever ran before on it.
    for (count, expected) in runs {
        let mut got = Vec::new();
        core.run(taken(count).map(|shown| shown.step), &mut |stimulus| got.push(*stimulus))
            .map_err(|error| error.to_string())?;
        if got != expected && !(count == shown.len() && is_followed_by_idle(&got, &expected)) {
            return Err(format!("{count} steps show {} stimuli, not {}", got.len(), expected.len()));
        }
    }
    Ok(())
}

/// Where the execution ends at an impossible step, there may be cycles after the latest signal.
fn is_followed_by_idle(got: &[Stimulus], expected: &[Stimulus]) -> bool {
    matches!(got, [rest @ .., Stimulus { signal: Signal::Idle, .. }] if rest == expected)
}

/// A step of one cycle.
pub(super) const fn step_of(action: Action) -> Step {
    Step { cycles: 1, timestamp: 0, action }
}

/// The instruction is that of the memory of its exception level, security state, Context ID and VMID.
///
/// # Errors
///
/// The context in which another instruction is read.
pub(super) fn code_of_its_space() -> Result<(), String> {
    let nop = Section::new(0x8000_u64, 0xd503_201f_u32.to_le_bytes().to_vec(), "nop");
    let isb = Section::new(0x8000_u64, 0xd503_3fdf_u32.to_le_bytes().to_vec(), "isb");
    let plain = Context::default()
        .with_security(SecurityState::NonSecure)
        .with_exception_level(Some(ExceptionLevel::El1))
        .with_64_bit(true)
        .with_context_id(Some(1))
        .with_vmid(Some(1));
    let (el2, secure) = (Some(ExceptionLevel::El2), SecurityState::Secure);
    for other in [
        plain.with_context_id(Some(2)),
        plain.with_vmid(Some(2)),
        plain.with_exception_level(el2),
        plain.with_security(secure),
    ] {
        let mut program = Program::new();
        for (section, context) in [(&nop, plain), (&isb, other)] {
            let section = section.clone().in_space(MemorySpace::from(context));
            program.insert(section).map_err(|error| error.to_string())?;
        }
        let mut core = Core::new(&program, &Parameters::default(), &Policy::default());
        for (context, is_isb) in [(plain, false), (other, true)] {
            let here = State { address: Address(0x8000), isa: InstructionSet::A64, context };
            let execute = Action::Execute(Execute { address: here.address, ..Execute::default() });
            let mut shows = |action| {
                core.step(&step_of(action)).map_err(|(address, problem)| format!("{problem:?} at {address}"))
            };
            shows(Action::Signal(Signal::Enable(here)))?;
            let signal = shows(execute)?.map(|stimulus| stimulus.signal);
            let shows_isb = matches!(signal, Some(Signal::P0(p0)) if p0.kind == P0Kind::Isb);
            if shows_isb != is_isb {
                return Err(format!("{context:x?} shows {signal:x?}"));
            }
        }
    }
    Ok(())
}
