//! P0 elements of signals that no step stands for: they belong to the latest step.

use traceproof_encoder_model::arm_ete::Core;
use traceproof_vectors::arm::{Context, InstructionSet};
use traceproof_vectors::arm_ete::{
    Action, Exception, Execute, P0, P0Kind, Packet, Parameters, Policy, Signal, State, Version,
};
use traceproof_vectors::{Address, Program, Section};

use super::shown::step_of;

/// An action and how many P0 elements it commits.
type Counted = (Action, Option<u32>);

/// A branch to itself at 1000, executed and signalled in turn: how many P0 elements each resolution commits.
///
/// Spec: ETE-QNLYJ-001, ETE-YKLRM-001, ETE-RKGLY-001, ETE-CTLXL-001, ETE-TZZRH-001, ETE-V4-DSM-001.
///
/// # Errors
///
/// The first resolution with another number of elements.
pub(super) fn judge() -> Result<(), String> {
    let ete = Parameters { maxspec: 16, transactions: true, ..Parameters::default() };
    let v4 = Parameters { maxspec: 16, data_trace: true, ..Parameters::etmv4(Version::Etmv4_2) };
    let sources = Policy { source_addresses: true, ..Policy::default() };
    let commtrans = Parameters { commtrans: true, ..ete };
    for (parameters, policy, counted) in [
        (&ete, Policy::default(), signals()),
        (&ete, sources, vec![(signal(branch(false)), None), (signal(branch(true)), None), resolve(1)]),
        (&ete, Policy::default(), transactions(1)),
        (&commtrans, Policy::default(), transactions(0)),
        (&ete, Policy::default(), losses()),
        (&v4, Policy::default(), insertions()),
        (&Parameters { maxspec: 2, ..ete.clone() }, Policy::default(), implied()),
    ] {
        follow(parameters, &policy, &counted)?;
    }
    Ok(())
}

fn follow(parameters: &Parameters, policy: &Policy, counted: &[Counted]) -> Result<(), String> {
    let mut program = Program::new();
    let code = 0x1400_0000_u32.to_le_bytes();
    program.insert(Section::new(0x1000_u64, code.to_vec(), "code")).map_err(|error| error.to_string())?;
    let mut core = Core::new(&program, parameters, policy);
    core.step(&step_of(signal(Signal::Enable(here())))).map_err(|error| format!("{error:?}"))?;
    for (action, commits) in counted {
        let shown = core.step(&step_of(*action)).map_err(|error| format!("{action:x?}: {error:?}"))?;
        let committed = match (action, shown.map(|shown| shown.signal)) {
            (Action::Resolve(_), Some(Signal::Commit(count))) => Some(count),
            _ => None,
        };
        if committed != *commits {
            return Err(format!("{action:x?} commits {committed:?} of {counted:x?}"));
        }
    }
    Ok(())
}

fn here() -> State {
    let context = Context::default().with_64_bit(true);
    State { address: Address(0x1000), isa: InstructionSet::A64, context }
}

const fn signal(signal: Signal) -> Action {
    Action::Signal(signal)
}

fn branch(taken: bool) -> Signal {
    Signal::P0(P0 {
        address: Address(0x1000),
        isa: InstructionSet::A64,
        size: 4,
        kind: P0Kind::Direct,
        link: false,
        taken,
        next: here(),
        instructions: 1,
        broadcast: false,
    })
}

fn exception() -> Signal {
    Signal::Exception(Exception {
        number: 0xe,
        returns_to: here(),
        handler: here(),
        instructions: 0,
        fault_pending: false,
    })
}

/// The branch as a step.
fn step() -> Counted {
    (Action::Execute(Execute { address: Address(0x1000), ..Execute::default() }), None)
}

/// The oldest step, with so many P0 elements.
const fn resolve(elements: u32) -> Counted {
    (Action::Resolve(1), Some(elements))
}

/// With the signals after it, a step has more P0 elements; signals alone are one, too.
fn signals() -> Vec<Counted> {
    let count =
        |signals: &[Signal]| -> Vec<Counted> { signals.iter().map(|it| (signal(*it), None)).collect() };
    let mut counted = count(&[branch(true), branch(false), exception()]);
    counted.extend([resolve(3), step()]);
    counted.extend(count(&[branch(true), Signal::ViewInst(false), branch(true), exception()]));
    counted.extend(count(&[Signal::ViewInst(true), Signal::TimestampRequest, branch(true)]));
    counted.extend([step(), resolve(3)]);
    // Signals commit and cancel P0 elements, and the steps that have no others.
    counted.extend([step(), step()]);
    counted.extend(count(&[Signal::Commit(2), Signal::Cancel { count: 1, next: here() }, branch(true)]));
    counted.extend([step(), resolve(1), resolve(1)]);
    counted.extend(count(&[branch(true), branch(true), Signal::Cancel { count: 1, next: here() }]));
    counted.push(resolve(1));
    counted
}

/// A Start that is a P0 element where it is signalled, and before the first P0 element after an interruption.
fn transactions(start: u32) -> Vec<Counted> {
    let pass = |it: Signal| (signal(it), None);
    let mut counted = vec![
        step(),
        pass(Signal::TransactionStart),
        pass(Signal::TransactionStart),
        step(),
        resolve(1 + start),
        resolve(1),
        pass(Signal::ProhibitedEntry),
        step(),
        pass(Signal::ProhibitedExit(here())),
        step(),
        step(),
        (Action::Resolve(1), None),
        resolve(1 + start),
        resolve(1),
        pass(Signal::Overflow(true)),
        pass(Signal::Overflow(false)),
        pass(exception()),
        pass(Signal::TransactionCommit),
        pass(branch(true)),
        resolve(2 + start),
        pass(Signal::ViewInst(false)),
        pass(Signal::TransactionStart),
        pass(Signal::ViewInst(true)),
        pass(branch(true)),
        pass(branch(true)),
        resolve(2 + start),
        pass(Signal::TransactionFailure(here())),
        step(),
        resolve(1),
        // A cancelled Start is made again with the next P0 element.
        pass(Signal::ViewInst(false)),
        pass(Signal::TransactionStart),
        pass(Signal::ViewInst(true)),
        step(),
        pass(Signal::Cancel { count: 1 + start, next: here() }),
        step(),
        resolve(1 + start),
        pass(Signal::Disable),
        pass(Signal::Enable(here())),
        step(),
        resolve(1),
    ];
    if start == 1 {
        // One that is committed is not made again, though the P0 element after it is cancelled.
        counted.extend([
            pass(Signal::ViewInst(false)),
            pass(Signal::TransactionStart),
            pass(Signal::ViewInst(true)),
            step(),
            pass(Signal::Commit(1)),
            pass(Signal::Cancel { count: 1, next: here() }),
            step(),
            resolve(1),
        ]);
    }
    counted
}

/// Steps whose P0 elements are lost are unresolved all the same.
fn losses() -> Vec<Counted> {
    let mut counted = Vec::new();
    for signals in [
        &[Signal::Overflow(true), Signal::Overflow(false)][..],
        &[Signal::Disable, Signal::Enable(here())],
        &[Signal::Enable(here())],
    ] {
        counted.push(step());
        counted.extend(signals.iter().map(|it| (signal(*it), None)));
        counted.extend([step(), (Action::Resolve(1), None), resolve(1)]);
    }
    counted.extend([(signal(Signal::Overflow(true)), None), step(), (Action::Resolve(1), None)]);
    counted
}

/// Packets that the processor inserts, as far as they are P0 elements.
fn insertions() -> Vec<Counted> {
    let insert = |packet| (signal(Signal::Insert(packet)), None);
    vec![
        step(),
        insert(Packet::UnnumberedDataSyncMarker(3)),
        insert(Packet::NumberedDataSyncMarker(3)),
        insert(Packet::FunctionReturn),
        insert(Packet::ConditionalFlush),
        resolve(5),
        (signal(Signal::ViewInst(false)), None),
        step(),
        insert(Packet::FunctionReturn),
        (Action::Resolve(1), None),
    ]
}

/// More P0 elements than MAXSPEC commit the oldest.
fn implied() -> Vec<Counted> {
    vec![
        step(),
        step(),
        step(),
        (signal(branch(true)), None),
        (signal(branch(true)), None),
        resolve(2),
        step(),
        resolve(1),
    ]
}
