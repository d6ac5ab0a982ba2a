//! Sweeps of A32, T32 and ThumbEE as executions of PFT.

use std::sync::LazyLock;

use traceproof_encoder_model::arm_pft::Encoder;
use traceproof_vectors::arm::{CodeAddress, InstructionSet};
use traceproof_vectors::arm_etm::Reason;
use traceproof_vectors::arm_pft::{
    ArmPft, Event, Exception, Outcome, Parameters, Policy, Signal, State, Stimulus, Waypoint, WaypointKind,
};
use traceproof_vectors::case::Expected;
use traceproof_vectors::{Address32, Encoder as _, Log};

use crate::arm::opcodes::{Batch, Block, Call, Execution, Kind, Mode, batches};
use crate::family::{Generated, Sweep, Sweeps};

pub(super) const SWEEPS: Sweeps<ArmPft> = Sweeps { names, make };

/// Exceptions: Secure Monitor Call, Supervisor Call (4.5.4).
const MONITOR_CALL: u16 = 2;
const SUPERVISOR_CALL: u16 = 10;

static BATCHES: LazyLock<Vec<Batch>> = LazyLock::new(|| {
    let modes =
        [("", Mode::Plain), ("return-stack/", Mode::ReturnStack), ("barrier-waypoints/", Mode::Barriers)];
    let sets = [InstructionSet::A32, InstructionSet::T32, InstructionSet::T32Ee];
    // HVC needs Hyp mode, and what it does there is an exception of another number.
    let of = |(prefix, mode)| {
        sets.into_iter().flat_map(move |set| batches(prefix, set, mode, |row| row.class != "hypervisor-call"))
    };
    modes.into_iter().flat_map(of).collect()
});

fn names() -> Vec<String> {
    BATCHES.iter().map(|batch| batch.name.clone()).collect()
}

fn make(name: &str) -> Option<Result<Sweep<ArmPft>, String>> {
    BATCHES.iter().find(|batch| batch.name == name).map(sweep)
}

fn sweep(batch: &Batch) -> Result<Sweep<ArmPft>, String> {
    let parameters = Parameters {
        return_stack: batch.mode == Mode::ReturnStack,
        barrier_waypoints: batch.mode == Mode::Barriers,
        thumbee: batch.set == InstructionSet::T32Ee,
        ..Parameters::default()
    };
    let policy = Policy { sync_period: 0, ..Policy::default() };
    let Execution { program, start, blocks, rows } = batch.execution()?;
    let signals =
        [Signal::Enable(state(start))].into_iter().chain(blocks.iter().map(signal)).chain([Signal::Disable]);
    let execution: Vec<_> = signals.map(|signal| Stimulus { cycles: 0, timestamp: 0, signal }).collect();
    let beginning = Event::TraceOn {
        reason: Reason::TraceEnabled,
        address: address(start.address),
        isa: start.instruction_set,
        non_secure: false,
        hyp: false,
        context_id: None,
    };
    let events = [beginning].into_iter().chain(blocks.iter().flat_map(events)).map(Expected::Event).collect();
    let mut encoder = Encoder::default();
    encoder.begin(&parameters, &policy).map_err(|refusal| refusal.to_string())?;
    let mut log = Log::<ArmPft>::default();
    execution.iter().for_each(|stimulus| encoder.step(stimulus, &mut log));
    encoder.finish(&mut log);
    let packets = log.packets().cloned().collect();
    let mut readings = Vec::new();
    if parameters.barrier_waypoints {
        readings.extend(["pft-barrier-waypoint-bit", "pft-barrier-atom"]);
    }
    if parameters.thumbee {
        readings.push("pft-thumb-without-information");
    }
    let generated = Generated { parameters, policy, program, execution, wire: log.wire };
    Ok(Sweep { generated, packets, events, readings, rows })
}

const fn address(address: u64) -> Address32 {
    Address32(address as u32)
}

const fn state(at: CodeAddress) -> State {
    State { address: address(at.address), isa: at.instruction_set, non_secure: false, hyp: false }
}

/// The number of an exception that the last instruction of a block makes.
const fn exception_number(kind: Kind) -> Option<u16> {
    match kind {
        Kind::Call(Call::Monitor) => Some(MONITOR_CALL),
        Kind::Call(_) => Some(SUPERVISOR_CALL),
        _ => None,
    }
}

/// What the PTM sees of a block.
fn signal(block: &Block) -> Signal {
    let last = block.last();
    let next = state(block.next);
    if let Some(number) = exception_number(block.kind).filter(|_| block.taken) {
        return Signal::Exception(Exception { number, last: Some(address(last.address)), handler: next });
    }
    let (kind, link) = match block.kind {
        Kind::Indirect { link } => (WaypointKind::Indirect, link),
        Kind::ExceptionReturn => (WaypointKind::Indirect, false),
        Kind::Isb => (WaypointKind::Isb, false),
        Kind::Barrier => (WaypointKind::Barrier, false),
        Kind::Direct { link } => (WaypointKind::Direct, link),
        _ => (WaypointKind::Direct, false),
    };
    Signal::Waypoint(Waypoint {
        address: address(last.address),
        isa: block.set,
        size: block.size(),
        kind,
        link,
        exception_return: block.kind == Kind::ExceptionReturn,
        executed: block.taken,
        next,
        previous: block.previous().map(address),
    })
}

/// What a decoder reports of a block.
fn events(block: &Block) -> Vec<Event> {
    let exception = exception_number(block.kind);
    let last = match (exception, block.taken) {
        (Some(_), _) => Outcome::Unknown,
        (None, true) => Outcome::Executed,
        (None, false) => Outcome::NotExecuted,
    };
    let instructions = Event::Instructions {
        first: address(block.first().address),
        end: address(block.end().address),
        count: block.count() as u64,
        isa: block.set,
        non_secure: false,
        hyp: false,
        last,
    };
    let more = match (exception, block.kind) {
        (Some(number), _) => Some(Event::Exception {
            number,
            returns_to: Some(address(block.end().address)),
            address: address(block.next.address),
            isa: block.next.instruction_set,
            non_secure: false,
            hyp: false,
        }),
        (None, Kind::ExceptionReturn) if block.taken => Some(Event::ExceptionReturn),
        _ => None,
    };
    [Some(instructions), more].into_iter().flatten().collect()
}
