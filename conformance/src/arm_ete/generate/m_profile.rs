//! What a processor of the M profile shows its trace unit: exception returns by branch, its own exception types, and
//! tail-chained exceptions.

use traceproof_encoder_model::arm_ete::{Core, ExecutionProblem};
use traceproof_vectors::arm::{InstructionSet, Profile};
use traceproof_vectors::arm_ete::{
    Action, Exception, Execute, P0, P0Kind, Parameters, Policy, Signal, State, TakenException, Version,
};
use traceproof_vectors::{Address, Program, Section};

use super::shown::step_of;

type Expected = Result<Option<Signal>, ExecutionProblem>;

fn at(address: u64) -> State {
    State { address: Address(address), isa: InstructionSet::T32, ..State::default() }
}

/// BX LR at this address, after so many instructions.
const fn branch(address: u64, kind: P0Kind, next: State, instructions: u32) -> P0 {
    P0 {
        address: Address(address),
        isa: InstructionSet::T32,
        size: 2,
        kind,
        link: false,
        taken: true,
        next,
        instructions,
        broadcast: false,
    }
}

/// NOP at 1000, BX LR at 1002 and 1004: an execution, and what each of its steps shows.
///
/// Spec: ETE-V4-RET-001, ETE-V4-EXC-001.
///
/// # Errors
///
/// The first step that shows something else.
pub(super) fn judge() -> Result<(), String> {
    let mut program = Program::new();
    let code = [0x00, 0xbf, 0x70, 0x47, 0x70, 0x47];
    program.insert(Section::new(0x1000_u64, code.to_vec(), "code")).map_err(|error| error.to_string())?;
    let parameters =
        Parameters { profile: Profile::Microcontroller, maxspec: 8, ..Parameters::etmv4(Version::Etmv4_4) };
    let mut core = Core::new(&program, &parameters, &Policy::default());
    for (action, expected) in execution() {
        let got = core.step(&step_of(action)).map_err(|(_, problem)| problem);
        let got = got.map(|shown| shown.map(|stimulus| stimulus.signal));
        if got != expected {
            return Err(format!("{action:x?} shows {got:x?}, not {expected:x?}"));
        }
    }
    Ok(())
}

fn execution() -> Vec<(Action, Expected)> {
    let execute = |address, exception_return, to| {
        Action::Execute(Execute { address: Address(address), to, exception_return, ..Execute::default() })
    };
    let first = branch(0x1002, P0Kind::ExceptionReturn, at(0x1004), 2);
    let second = branch(0x1004, P0Kind::Indirect, at(0x1000), 1);
    let taken = |number, returns_to: u64, handler| {
        Action::Exception(TakenException {
            number,
            returns_to: Address(returns_to),
            handler,
            fault_pending: false,
        })
    };
    let exception = |number, returns_to, handler, instructions| {
        let returns_to = at(returns_to);
        let shown = Exception { number, returns_to, handler, instructions, fault_pending: false };
        Ok(Some(Signal::Exception(shown)))
    };
    let enable = Signal::Enable(at(0x1000));
    let mut execution = vec![
        (Action::Signal(enable), Ok(Some(enable))),
        (execute(0x1000, true, None), Ok(None)),
        (execute(0x1002, true, first.next.into()), Ok(Some(Signal::P0(first)))),
        (execute(0x1004, false, second.next.into()), Ok(Some(Signal::P0(second)))),
        // The exception return is a P0 element of its own.
        (Action::Resolve(2), Ok(Some(Signal::Commit(2)))),
        (Action::Resolve(1), Ok(Some(Signal::Commit(1)))),
    ];
    let reserved = [0, 7, 8, 9, 0xa, 0xd, 0x1b, 0x207, 0x3f0];
    execution
        .extend(reserved.map(|number| (taken(number, 0x1000, at(0x1000)), Err(ExecutionProblem::Number))));
    let elsewhere = ExecutionProblem::NotNext { next: Address(0x1000) };
    execution.extend([
        (taken(2, 0x1004, at(0x1000)), Err(elsewhere)),
        (taken(2, 0x1000, at(0x1001)), Err(ExecutionProblem::Misaligned)),
        (execute(0x1000, false, None), Ok(None)),
        (taken(2, 0x1002, at(0x1000)), exception(2, 0x1002, at(0x1000), 1)),
        // Tail-chained, and a reset: wherever execution was.
        (taken(0x10, 0xffff_fffe, at(0x1002)), exception(0x10, 0xffff_fffe, at(0x1002), 0)),
        (taken(1, 0x5000, at(0x1000)), exception(1, 0x5000, at(0x1000), 0)),
        // What was open at the reset is lost.
        (Action::Resolve(3), Ok(None)),
        (Action::Resolve(1), Ok(Some(Signal::Commit(1)))),
        (taken(0x18, 0x1000, at(0x1001)), exception(0x18, 0x1000, at(0x1001), 0)),
        (execute(0x1000, false, None), Err(ExecutionProblem::NotRunning)),
    ]);
    execution
}
