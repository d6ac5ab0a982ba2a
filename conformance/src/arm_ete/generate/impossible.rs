//! Executions that no processor has: the model of a processor must refuse each of them, with the right problem, and
//! stay where it is.

use traceproof_encoder_model::arm_ete::{Core, ExecutionProblem};
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::{Action, Execute, P0, P0Kind, Signal, State, TakenException};
use traceproof_vectors::{Address, Program};

use super::Scenario;
use super::execution::{DEBUG_HALT, RESET, Shown};
use super::shown::step_of;

type Wrong = (Action, ExecutionProblem);

/// Tries the step that follows `before` with one thing changed that makes it impossible, and resolutions of steps that
/// there are not.
///
/// # Errors
///
/// The first impossible step that is accepted, or refused for another reason.
pub(super) fn refused(
    core: &mut Core<'_>,
    scenario: &Scenario,
    before: &Shown,
    step: &Shown,
) -> Result<(), String> {
    let mut wrong = match (step.step.action, &step.signal) {
        (Action::Execute(execute), Ok(signal)) => instructions(scenario, &execute, step, *signal),
        (Action::Exception(taken), _) => exceptions(&taken),
        (Action::Squash { steps, next }, Ok(_)) => squashes(steps, next),
        (Action::Correct { taken, next }, Ok(Some(_))) => corrections(before, taken, next),
        _ => Vec::new(),
    };
    wrong.extend(resolutions(scenario, before));
    wrong.into_iter().try_for_each(|(action, problem)| refuses(core, action, problem))
}

/// States that are misaligned, or in an instruction set that the execution state does not have.
fn bad_states(state: State) -> Vec<(State, ExecutionProblem)> {
    let one_more = if state.isa == InstructionSet::T32 { 1 } else { 2 };
    let aarch32 = if state.context.is_64_bit { InstructionSet::A32 } else { InstructionSet::A64 };
    let mut bad =
        vec![(State { address: Address(state.address.0 | one_more), ..state }, ExecutionProblem::Misaligned)];
    bad.extend(
        [aarch32, InstructionSet::Jazelle, InstructionSet::T32Ee]
            .map(|isa| (State { isa, ..state }, ExecutionProblem::InstructionSet)),
    );
    bad
}

/// What an instruction cannot do instead.
fn instructions(scenario: &Scenario, execute: &Execute, step: &Shown, signal: Option<Signal>) -> Vec<Wrong> {
    let elsewhere = Execute { address: Address(execute.address.0 ^ 8), ..*execute };
    let mut wrong = vec![(Action::Execute(elsewhere), ExecutionProblem::NotNext { next: execute.address })];
    let (Some(next), to) = (step.next, |to: State| Action::Execute(Execute { to: Some(to), ..*execute }))
    else {
        return wrong;
    };
    let far = State { address: Address(next.address.0 ^ 8), ..next };
    let leads_elsewhere = (to(far), ExecutionProblem::WrongTarget { target: next.address });
    match signal {
        Some(Signal::P0(P0 { taken: false, .. })) => {}
        Some(Signal::P0(P0 { kind: P0Kind::Indirect | P0Kind::ExceptionReturn, .. })) => {
            wrong.push((Action::Execute(Execute { to: None, ..*execute }), ExecutionProblem::NoTarget));
            wrong.extend(bad_states(next).into_iter().map(|(state, problem)| (to(state), problem)));
        }
        Some(_) => {
            wrong.push(leads_elsewhere);
            wrong.push((to(State { isa: InstructionSet::Jazelle, ..next }), leads_elsewhere.1));
        }
        None => {
            let not_taken = Execute { not_taken: true, ..*execute };
            wrong.extend([leads_elsewhere, (Action::Execute(not_taken), ExecutionProblem::NotP0)]);
        }
    }
    let item = scenario.program.place(execute.address).map(|place| scenario.program.at(place));
    let unconditional = item.is_some_and(|item| item.isa == InstructionSet::A64 && !item.conditional);
    if unconditional && signal.is_some() && scenario.parameters.maxspec == 0 {
        let not_taken = Execute { not_taken: true, to: None, ..*execute };
        wrong.push((Action::Execute(not_taken), ExecutionProblem::Unconditional));
    }
    wrong
}

/// Reserved types, that of Transaction Failure, and places where execution is not.
fn exceptions(taken: &TakenException) -> Vec<Wrong> {
    let numbered = |number| Action::Exception(TakenException { number, ..*taken });
    let mut wrong: Vec<_> = [5, 8, 9, 0xd, 0x18, 0x19, 0x1f, 0x20, 0x208]
        .map(|number| (numbered(number), ExecutionProblem::Number))
        .into();
    if taken.number != RESET {
        let returns_to = Address(taken.returns_to.0 ^ 8);
        let problem = ExecutionProblem::NotNext { next: taken.returns_to };
        wrong.push((Action::Exception(TakenException { returns_to, ..*taken }), problem));
    }
    if taken.number != DEBUG_HALT {
        let handlers = bad_states(taken.handler).into_iter();
        wrong
            .extend(handlers.map(|(handler, problem)| {
                (Action::Exception(TakenException { handler, ..*taken }), problem)
            }));
    }
    wrong
}

fn squashes(steps: u32, next: State) -> Vec<Wrong> {
    let to = |next| Action::Squash { steps, next };
    let elsewhere = State { address: Address(next.address.0 ^ 8), ..next };
    let mut wrong = vec![(to(elsewhere), ExecutionProblem::NotNext { next: next.address })];
    wrong.extend(bad_states(next).into_iter().map(|(state, problem)| (to(state), problem)));
    wrong
}

/// A correction to what was there, and of a target that the instruction does not have.
fn corrections(before: &Shown, taken: bool, next: State) -> Vec<Wrong> {
    let Some(p0) = before.youngest else { return Vec::new() };
    let is_indirect = matches!(p0.kind, P0Kind::Indirect | P0Kind::ExceptionReturn);
    let same = Action::Correct { taken: p0.taken, next: p0.next };
    let far = State { address: Address(next.address.0 ^ 8), ..next };
    let elsewhere = Action::Correct { taken, next: far };
    let mut wrong = vec![(same, ExecutionProblem::NothingToCorrect)];
    if taken && is_indirect {
        let to = |next| Action::Correct { taken, next };
        wrong.extend(bad_states(next).into_iter().map(|(state, problem)| (to(state), problem)));
    } else {
        wrong.push((elsewhere, ExecutionProblem::WrongTarget { target: next.address }));
    }
    wrong
}

/// More steps than are unresolved, or none; anything without speculation.
fn resolutions(scenario: &Scenario, before: &Shown) -> Vec<Wrong> {
    let Some(next) = before.next else { return Vec::new() };
    let unresolved = before.unresolved;
    let problem = match scenario.parameters.maxspec {
        0 => ExecutionProblem::NotSpeculative,
        _ => ExecutionProblem::TooFew { unresolved },
    };
    let mut wrong: Vec<_> = [0, unresolved + 1, u32::MAX]
        .into_iter()
        .flat_map(|steps| [Action::Resolve(steps), Action::Squash { steps, next }])
        .map(|action| (action, problem))
        .collect();
    let taken = before.youngest.is_some_and(|p0| p0.taken);
    if scenario.parameters.maxspec == 0 {
        wrong.push((Action::Correct { taken: !taken, next }, ExecutionProblem::NotSpeculative));
    } else if before.youngest.is_none() {
        wrong.push((Action::Correct { taken, next }, ExecutionProblem::NotP0));
    }
    wrong
}

/// Before the start and in Debug state no instruction executes.
///
/// # Errors
///
/// As [`refused`].
pub(super) fn not_running(fresh: &Core<'_>) -> Result<(), String> {
    let core = &mut fresh.clone();
    let execute = Action::Execute(Execute::default());
    let taken = TakenException {
        number: DEBUG_HALT,
        returns_to: Address(0),
        handler: State::default(),
        fault_pending: false,
    };
    refuses(core, execute, ExecutionProblem::NotRunning)?;
    refuses(core, Action::Exception(taken), ExecutionProblem::NotRunning)?;
    done(core, Action::Signal(Signal::Enable(State::default())))?;
    done(core, Action::Exception(taken))?;
    refuses(core, execute, ExecutionProblem::NotRunning)
}

/// Nothing executes where no instruction can lie, and where there is no code.
///
/// # Errors
///
/// As [`refused`].
pub(super) fn not_code(core: &mut Core<'_>, scenario: &Scenario, program: &Program) -> Result<(), String> {
    let items = || scenario.program.sections.iter().flatten();
    let mut places = Vec::new();
    for item in items() {
        let is_last = items().all(|other| other.address != item.end());
        let context = State::default().context.with_64_bit(item.isa == InstructionSet::A64);
        let at = |address: u64| State { address: Address(address), isa: item.isa, context };
        if is_last && program.bytes_at(item.end().0).is_none() {
            places.push((at(item.end().0), ExecutionProblem::NoCode));
        }
        let one_more = if item.isa == InstructionSet::T32 { 1 } else { 2 };
        places.push((at(item.address.0 | one_more), ExecutionProblem::Misaligned));
        if item.isa != InstructionSet::A64 {
            places.push((at(item.address.0 | 1 << 32), ExecutionProblem::Misaligned));
        }
        let other = State { isa: InstructionSet::Jazelle, ..at(item.address.0) };
        places.push((other, ExecutionProblem::InstructionSet));
    }
    for (here, problem) in places {
        done(core, Action::Signal(Signal::Enable(here)))?;
        let execute = Execute { address: here.address, ..Execute::default() };
        refuses(core, Action::Execute(execute), problem)?;
    }
    Ok(())
}

fn done(core: &mut Core<'_>, action: Action) -> Result<(), String> {
    let problem = |problem| format!("{action:x?}: {problem:x?}");
    core.step(&step_of(action)).map(drop).map_err(problem)
}

fn refuses(core: &mut Core<'_>, action: Action, expected: ExecutionProblem) -> Result<(), String> {
    match core.step(&step_of(action)) {
        Err((_, problem)) if problem == expected => Ok(()),
        other => Err(format!("expected {expected:x?} at {action:x?}, got {other:x?}")),
    }
}
