//! Sweeps of A64, A32 and T32 as executions of ETE.

use std::sync::LazyLock;

use traceproof_encoder_model::arm_ete::Encoder;
use traceproof_vectors::arm::{CodeAddress, Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{
    ArmEte, Event, Exception, Outcome, P0, P0Kind, Parameters, Policy, Signal, State, Stimulus,
};
use traceproof_vectors::case::Expected;
use traceproof_vectors::{Address, Encoder as _, Log};

use crate::arm::opcodes::{Batch, Block, Call, Execution, Kind, Mode, batches};
use crate::family::{Generated, Sweep, Sweeps};

pub(super) const SWEEPS: Sweeps<ArmEte> = Sweeps { names, make };

/// TYPE of a Call exception.
const CALL: u16 = 2;

static BATCHES: LazyLock<Vec<Batch>> = LazyLock::new(|| {
    let modes = [
        ("", Mode::Plain),
        ("return-stack/", Mode::ReturnStack),
        ("wfx-is-p0/", Mode::Waits),
        ("transactions/", Mode::Transactions),
    ];
    let sets = [InstructionSet::A64, InstructionSet::A32, InstructionSet::T32];
    let of = |(prefix, mode)| sets.into_iter().flat_map(move |set| batches(prefix, set, mode, |_| true));
    modes.into_iter().flat_map(of).collect()
});

fn names() -> Vec<String> {
    BATCHES.iter().map(|batch| batch.name.clone()).collect()
}

fn make(name: &str) -> Option<Result<Sweep<ArmEte>, String>> {
    BATCHES.iter().find(|batch| batch.name == name).map(sweep)
}

fn sweep(batch: &Batch) -> Result<Sweep<ArmEte>, String> {
    let parameters = Parameters {
        return_stack: batch.mode == Mode::ReturnStack,
        wfx_is_p0: batch.mode == Mode::Waits,
        transactions: batch.mode == Mode::Transactions,
        ..Parameters::default()
    };
    let policy = Policy { sync_period: 0, ..Policy::default() };
    let Execution { program, start, blocks, rows } = batch.execution()?;
    let context = context(batch);
    let mut signals = vec![Signal::Enable(state(start, context))];
    let mut events = vec![
        Event::TraceInfo { cycle_counting: false, cycle_threshold: 0, speculation: 0, transactional: false },
        Event::TraceOn,
        Event::Context(context),
    ];
    let mut in_transaction = false;
    for block in &blocks {
        pass(block, context, &mut signals, &mut events);
        if in_transaction {
            signals.push(Signal::TransactionCommit);
            events.push(Event::TransactionCommit);
        }
        in_transaction = block.kind == Kind::TransactionStart;
        if in_transaction {
            signals.push(Signal::TransactionStart);
            events.push(Event::TransactionStart);
        }
    }
    signals.push(Signal::Disable);
    let stimulus = |signal| Stimulus { cycles: 0, timestamp: 0, signal };
    let execution: Vec<_> = signals.into_iter().map(stimulus).collect();
    let mut encoder = Encoder::default();
    encoder.begin(&parameters, &policy).map_err(|refusal| refusal.to_string())?;
    let mut log = Log::<ArmEte>::default();
    execution.iter().for_each(|stimulus| encoder.step(stimulus, &mut log));
    encoder.finish(&mut log);
    let packets = log.packets().cloned().collect();
    let events = events.into_iter().map(Expected::Event).collect();
    let readings = match batch.class {
        "tier-exit" => vec!["ete-texit-is-an-exception-return"],
        _ => Vec::new(),
    };
    let generated = Generated { parameters, policy, program, execution, wire: log.wire };
    Ok(Sweep { generated, packets, events, readings, rows })
}

/// Calls lead to the level that they are for; they are executed at that level.
fn context(batch: &Batch) -> Context {
    let (level, security) = match batch.kind {
        Kind::Call(Call::Hypervisor) => (ExceptionLevel::El2, SecurityState::NonSecure),
        Kind::Call(Call::Monitor) => (ExceptionLevel::El3, SecurityState::Secure),
        _ => (ExceptionLevel::El1, SecurityState::NonSecure),
    };
    Context::default()
        .with_security(security)
        .with_exception_level(Some(level))
        .with_64_bit(batch.set == InstructionSet::A64)
        .with_context_id(Some(0))
        .with_vmid(Some(0))
}

const fn state(at: CodeAddress, context: Context) -> State {
    State { address: Address(at.address), isa: at.instruction_set, context }
}

/// What the trace unit sees of a block, and what a decoder reports.
fn pass(block: &Block, context: Context, signals: &mut Vec<Signal>, events: &mut Vec<Event>) {
    let next = state(block.next, context);
    let instructions = block.count() as u32;
    let last = match (block.kind, block.taken) {
        (Kind::Call(_), _) => Outcome::Passed,
        (_, true) => Outcome::Taken,
        (_, false) => Outcome::NotTaken,
    };
    events.push(Event::Instructions {
        first: Address(block.first().address),
        end: Address(block.end().address),
        count: instructions.into(),
        isa: block.set,
        last,
    });
    if let Kind::Call(_) = block.kind {
        let returns_to = state(block.end(), context);
        let (number, handler) = (CALL, next);
        let exception = Exception { number, returns_to, handler, instructions, fault_pending: false };
        signals.push(Signal::Exception(exception));
        let returns_to = Some(Address(block.end().address));
        events.push(Event::Exception { number, returns_to, fault_pending: false });
        return;
    }
    let (kind, link) = match block.kind {
        Kind::Direct { link } => (P0Kind::Direct, link),
        Kind::Indirect { link } => (P0Kind::Indirect, link),
        Kind::ExceptionReturn => (P0Kind::ExceptionReturn, false),
        Kind::Isb => (P0Kind::Isb, false),
        _ => (P0Kind::Direct, false),
    };
    signals.push(Signal::P0(P0 {
        address: Address(block.last().address),
        isa: block.set,
        size: block.size(),
        kind,
        link,
        taken: block.taken,
        next,
        instructions,
        broadcast: false,
    }));
}
