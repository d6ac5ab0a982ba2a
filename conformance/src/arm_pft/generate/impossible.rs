//! Executions that no processor has: the model of a processor must refuse each of them, with the right problem.

use traceproof_encoder_model::arm_pft::{Core, ExecutionProblem};
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{Action, Execute, Signal, State, Step, TakenException};
use traceproof_vectors::{Address32, Program};

use super::Scenario;

/// A reset has no return address that could be wrong.
const RESET: u16 = 8;

/// Tries every step of the scenario with one thing changed that makes it impossible, and a few states in which nothing
/// can execute.
///
/// # Errors
///
/// The first impossible step that is accepted, or refused for another reason.
pub(super) fn refused(scenario: &Scenario) -> Result<(), String> {
    let program = scenario.program.code()?;
    let mut core = Core::new(&program, &scenario.parameters);
    never_running(&core)?;
    for step in &scenario.steps {
        let mut right = core.clone();
        right.step(step).map_err(|(address, problem)| format!("{step:x?}: {problem:?} at {address}"))?;
        let arrived = right.next().map_or(Address32(0), |state| state.address);
        for (action, problem) in wrong_actions(&step.action, arrived) {
            refuses(&core, action, problem)?;
        }
        // An execution may say where an instruction leads although its opcode does, too.
        if let Action::Execute(execute @ Execute { to: None, skipped: false, .. }) = step.action {
            done(&mut core.clone(), Action::Execute(Execute { to: right.next(), ..execute }))?;
        }
        core = right;
    }
    not_code(&core, scenario, &program)
}

/// What the action cannot be instead, and why; a right one leads to `arrived`.
fn wrong_actions(action: &Action, arrived: Address32) -> Vec<(Action, ExecutionProblem)> {
    match *action {
        Action::Execute(execute) => {
            let elsewhere = Execute { address: Address32(execute.address.0 ^ 8), ..execute };
            let mut wrong =
                vec![(Action::Execute(elsewhere), ExecutionProblem::NotNext { next: execute.address })];
            // Only where the opcode does not say it do executions say where a branch leads.
            if execute.to.is_some() {
                wrong.push((Action::Execute(Execute { to: None, ..execute }), ExecutionProblem::NoTarget));
            } else if !execute.skipped {
                let to = Some(State { address: Address32(arrived.0 ^ 8), ..State::default() });
                let problem = ExecutionProblem::WrongTarget { target: arrived };
                wrong.push((Action::Execute(Execute { to, ..execute }), problem));
            }
            wrong
        }
        Action::Exception(taken) => {
            let numbered = |number| Action::Exception(TakenException { number, ..taken });
            let mut wrong: Vec<_> =
                [0, 1, 0x200].map(|number| (numbered(number), ExecutionProblem::Number)).into();
            if taken.number != RESET {
                let returns_to = Address32(taken.returns_to.0 ^ 8);
                let problem = ExecutionProblem::NotNext { next: taken.returns_to };
                wrong.push((Action::Exception(TakenException { returns_to, ..taken }), problem));
            }
            wrong
        }
        _ => Vec::new(),
    }
}

/// Before the start, in Debug state and in Jazelle state no instruction executes.
fn never_running(fresh: &Core<'_>) -> Result<(), String> {
    let here = State::default();
    let execute = Action::Execute(Execute { address: here.address, ..Execute::default() });
    refuses(fresh, execute, ExecutionProblem::NotRunning)?;
    for last in [
        Action::DebugEntry,
        Action::Signal(Signal::DebugEntry(None)),
        Action::Signal(Signal::Enable(State { isa: InstructionSet::Jazelle, ..here })),
    ] {
        let mut core = fresh.clone();
        done(&mut core, Action::Signal(Signal::Enable(here)))?;
        done(&mut core, last)?;
        refuses(&core, execute, ExecutionProblem::NotRunning)?;
    }
    Ok(())
}

/// Nothing executes where no instruction can lie, and where there is no code.
fn not_code(core: &Core<'_>, scenario: &Scenario, program: &Program) -> Result<(), String> {
    let first = scenario.program.sections.iter().flatten().find(|item| item.isa == InstructionSet::A32);
    let misaligned = first.map(|item| (item.address.0 | 2, ExecutionProblem::Misaligned));
    let is_free = |address: &u32| program.bytes_at(u64::from(*address)).is_none();
    let free = [0xdead_0000, 0x7abc_0000, 0x3000_0000].into_iter().find(is_free);
    for (address, problem) in misaligned.into_iter().chain(free.map(|at| (at, ExecutionProblem::NoCode))) {
        let here = State { address: Address32(address), ..State::default() };
        let mut core = core.clone();
        done(&mut core, Action::Signal(Signal::Enable(here)))?;
        let execute = Execute { address: here.address, ..Execute::default() };
        refuses(&core, Action::Execute(execute), problem)?;
    }
    Ok(())
}

const fn step_of(action: Action) -> Step {
    Step { cycles: 1, timestamp: 0, action }
}

fn done(core: &mut Core<'_>, action: Action) -> Result<(), String> {
    let problem = |problem| format!("{action:x?}: {problem:x?}");
    core.step(&step_of(action)).map(drop).map_err(problem)
}

fn refuses(core: &Core<'_>, action: Action, expected: ExecutionProblem) -> Result<(), String> {
    match core.clone().step(&step_of(action)) {
        Err((_, problem)) if problem == expected => Ok(()),
        other => Err(format!("expected {expected:x?} at {action:x?}, got {other:x?}")),
    }
}
