//! The oracle accepts the reports of the worked streams (sheet 10.2, 10.3), and nothing else.

use traceproof_vectors::Address;
use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{
    Event, Exception, Outcome, P0, P0Kind, Parameters, Policy, Signal, State, Stimulus, TimestampOf,
};

use super::{Scenario, judge_events, timeline};
use crate::arm_ete::generate::{GeneratedProgram, Instruction, Kind, scenario};
use crate::arm_pft::generate::Reach;
use crate::generate::seeded;

const A64: InstructionSet = InstructionSet::A64;

/// Instructions one after the other.
fn code(address: u64, kinds: &[Kind]) -> Vec<Instruction> {
    let one = |(index, kind): (usize, &Kind)| Instruction {
        address: Address(address + 4 * index as u64),
        isa: A64,
        size: 4,
        opcode: 0,
        kind: *kind,
        conditional: false,
        in_it: false,
    };
    kinds.iter().enumerate().map(one).collect()
}

const fn to(address: u64) -> Kind {
    Kind::Direct { to: Address(address), isa: A64, link: false }
}

const RETURN: Kind = Kind::Indirect { link: false, reach: Reach::Any };

fn level(level: ExceptionLevel) -> Context {
    let context = Context::default().with_security(SecurityState::NonSecure);
    context.with_exception_level(Some(level)).with_64_bit(true).with_context_id(Some(0)).with_vmid(Some(0))
}

fn state(address: u64, el: ExceptionLevel) -> State {
    State { address: Address(address), isa: A64, context: level(el) }
}

fn p0(address: u64, kind: P0Kind, taken: bool, next: State) -> Signal {
    let address = Address(address);
    let (link, broadcast) = (false, false);
    Signal::P0(P0 { address, isa: A64, size: 4, kind, link, taken, next, instructions: 1, broadcast })
}

fn exception(number: u16, from: State, handler: State) -> Signal {
    Signal::Exception(Exception { number, returns_to: from, handler, instructions: 0, fault_pending: false })
}

fn run(first: u64, end: u64, last: Outcome) -> Event {
    let (first, end, count) = (Address(first), Address(end), (end - first) / 4);
    Event::Instructions { first, end, count, isa: A64, last }
}

const fn info(cycle_counting: bool, cycle_threshold: u16) -> Event {
    Event::TraceInfo { cycle_counting, cycle_threshold, speculation: 0, transactional: false }
}

/// Steps of one cycle, at the times 1, 2, 3, ….
fn steps(signals: Vec<Signal>) -> Vec<Stimulus> {
    let step = |(index, signal)| Stimulus { cycles: 1, timestamp: index as u64 + 1, signal };
    signals.into_iter().enumerate().map(step).collect()
}

/// Sheet 10.2.
fn stream_a() -> (Scenario, Vec<Event>) {
    use ExceptionLevel::{El0, El1};
    use P0Kind::{Direct, ExceptionReturn, Indirect, Isb};
    let plain = Kind::Plain;
    let link = Kind::Direct { to: Address(0x40_1020), isa: A64, link: true };
    let main = code(
        0x40_1000,
        &[plain, link, plain, to(0x40_1004), Kind::Call, plain, to(0x40_1018), plain, plain, RETURN],
    );
    let handler = code(0xffff_0000_0808_0400, &[plain, Kind::Isb, Kind::ExceptionReturn]);
    let (h0, h4, h8) = (0xffff_0000_0808_0400, 0xffff_0000_0808_0404, 0xffff_0000_0808_0408);
    let el0 = |address| state(address, El0);
    let signals = vec![
        Signal::Enable(el0(0x40_1000)),
        p0(0x40_1004, Direct, true, el0(0x40_1020)),
        p0(0x40_1024, Indirect, true, el0(0x40_1008)),
        p0(0x40_100c, Direct, true, el0(0x40_1004)),
        p0(0x40_1004, Direct, true, el0(0x40_1020)),
        p0(0x40_1024, Indirect, true, el0(0x40_1008)),
        p0(0x40_100c, Direct, false, el0(0x40_1010)),
        exception(2, el0(0x40_1014), state(h0, El1)),
        p0(h4, Isb, true, state(h8, El1)),
        p0(h8, ExceptionReturn, true, el0(0x40_1014)),
        p0(0x40_1018, Direct, true, el0(0x40_1018)),
        Signal::Disable,
    ];
    let events = vec![
        info(false, 0),
        Event::TraceOn,
        Event::Context(level(El0)),
        run(0x40_1000, 0x40_1008, Outcome::Taken),
        run(0x40_1020, 0x40_1028, Outcome::Taken),
        run(0x40_1008, 0x40_1010, Outcome::Taken),
        run(0x40_1004, 0x40_1008, Outcome::Taken),
        run(0x40_1020, 0x40_1028, Outcome::Taken),
        run(0x40_1008, 0x40_1010, Outcome::NotTaken),
        run(0x40_1010, 0x40_1014, Outcome::Passed),
        Event::Exception { number: 2, returns_to: Some(Address(0x40_1014)), fault_pending: false },
        Event::Context(level(El1)),
        run(h0, h8, Outcome::Taken),
        run(h8, h8 + 4, Outcome::Taken),
        Event::Context(level(El0)),
        run(0x40_1014, 0x40_101c, Outcome::Taken),
    ];
    let parameters = Parameters { return_stack: true, ..Parameters::default() };
    let program = GeneratedProgram::of(vec![main, handler], 1, vec![0, 0]);
    (Scenario { parameters, policy: Policy::default(), program, stimuli: steps(signals) }, events)
}

/// Sheet 10.3, with times of its own.
fn stream_b() -> (Scenario, Vec<Event>) {
    use P0Kind::{Direct, ExceptionReturn, Indirect};
    let at = |address| state(address, ExceptionLevel::El1);
    let plain = Kind::Plain;
    let sections = vec![
        code(0x1000, &[to(0x2000)]),
        code(0x2000, &[plain, plain, plain, to(0x3000), plain]),
        code(0x3000, &[plain, to(0x3000), RETURN]),
        code(0x4000, &[plain, Kind::ExceptionReturn]),
    ];
    let signals = vec![
        Signal::Enable(at(0x1000)),
        p0(0x1000, Direct, true, at(0x2000)),
        p0(0x200c, Direct, false, at(0x2010)),
        Signal::Cancel { count: 1, next: at(0x2000) },
        exception(0xe, at(0x2000), at(0x4000)),
        p0(0x4004, ExceptionReturn, true, at(0x2000)),
        Signal::Commit(2),
        p0(0x200c, Direct, false, at(0x2010)),
        Signal::Mispredict(at(0x3000)),
        p0(0x3004, Direct, true, at(0x3000)),
        p0(0x3004, Direct, false, at(0x3008)),
        p0(0x3008, Indirect, true, at(0x1000)),
        p0(0x1000, Direct, true, at(0x2000)),
        Signal::Commit(4),
        Signal::Event(0),
        Signal::Disable,
    ];
    let events = vec![
        info(true, 1),
        Event::TraceOn,
        Event::Context(level(ExceptionLevel::El1)),
        run(0x1000, 0x1004, Outcome::Taken),
        Event::Exception { number: 0xe, returns_to: Some(Address(0x2000)), fault_pending: false },
        // The commit is at step 6; the next one is implied by the element at step 12.
        Event::Cycles { count: None, total: 0 },
        run(0x4000, 0x4008, Outcome::Taken),
        run(0x2000, 0x2010, Outcome::Taken),
        run(0x3000, 0x3008, Outcome::Taken),
        run(0x3000, 0x3008, Outcome::NotTaken),
        run(0x3008, 0x300c, Outcome::Taken),
        run(0x1000, 0x1004, Outcome::Taken),
        Event::Timestamp { value: Some(13), cycles: Some(6), of: TimestampOf::Latest },
        Event::Cycles { count: Some(7), total: 7 },
        Event::Event { number: 0 },
    ];
    let parameters = Parameters {
        commopt: false,
        maxspec: 4,
        cycle_counting: true,
        timestamps: true,
        ..Parameters::default()
    };
    let program = GeneratedProgram::of(sections, 3, vec![0; 4]);
    (Scenario { parameters, policy: Policy::default(), program, stimuli: steps(signals) }, events)
}

/// The loop of stream B with a Source Address: the branch that is not taken has no element.
fn source_address() -> (Scenario, Vec<Event>) {
    let at = |address| state(address, ExceptionLevel::El1);
    let main = code(0x3000, &[Kind::Plain, to(0x3000), RETURN]);
    let signals = vec![
        Signal::Enable(at(0x3000)),
        p0(0x3004, P0Kind::Direct, true, at(0x3000)),
        p0(0x3004, P0Kind::Direct, false, at(0x3008)),
        p0(0x3008, P0Kind::Indirect, true, at(0x3000)),
        Signal::Disable,
    ];
    let events = vec![
        info(false, 0),
        Event::TraceOn,
        Event::Context(level(ExceptionLevel::El1)),
        run(0x3000, 0x3008, Outcome::Taken),
        run(0x3000, 0x300c, Outcome::Taken),
    ];
    let policy = Policy { source_addresses: true, ..Policy::default() };
    let program = GeneratedProgram::of(vec![main], 0, vec![0]);
    (Scenario { parameters: Parameters::default(), policy, program, stimuli: steps(signals) }, events)
}

/// A transaction that fails, an overflow, and what is uncommitted at the end.
fn losses() -> (Scenario, Vec<Event>) {
    use P0Kind::Direct;
    let at = |address| state(address, ExceptionLevel::El1);
    let jump = to(0x1000);
    let main = code(0x1000, &[Kind::TransactionStart, jump, jump, jump, jump]);
    let signals = vec![
        Signal::Enable(at(0x1000)),
        p0(0x1000, Direct, true, at(0x1004)),
        Signal::TransactionStart,
        p0(0x1004, Direct, true, at(0x1000)),
        Signal::Commit(3),
        Signal::TransactionFailure(at(0x1008)),
        p0(0x1008, Direct, true, at(0x100c)),
        Signal::Commit(1),
        p0(0x100c, Direct, true, at(0x1010)),
        Signal::Overflow(true),
        Signal::Event(2),
        Signal::Overflow(false),
        p0(0x1010, Direct, true, at(0x1004)),
        Signal::Commit(1),
        p0(0x1004, Direct, true, at(0x1008)),
        Signal::Disable,
    ];
    let events = vec![
        info(false, 0),
        Event::TraceOn,
        Event::Context(level(ExceptionLevel::El1)),
        run(0x1000, 0x1004, Outcome::Taken),
        Event::TransactionStart,
        Event::TransactionFailure,
        run(0x1008, 0x100c, Outcome::Taken),
        Event::Event { number: 2 },
        Event::Overflow,
        info(false, 0),
        Event::TraceOn,
        run(0x1010, 0x1014, Outcome::Taken),
        Event::Discard,
    ];
    let parameters = Parameters { maxspec: 8, transactions: true, ..Parameters::default() };
    let program = GeneratedProgram::of(vec![main], 0, vec![0]);
    (Scenario { parameters, policy: Policy::default(), program, stimuli: steps(signals) }, events)
}

fn streams() -> Vec<(Scenario, Vec<Event>)> {
    vec![stream_a(), stream_b(), source_address(), losses()]
}

#[test]
fn right_reports_are_accepted() {
    for (index, (scenario, events)) in streams().into_iter().enumerate() {
        judge_events(&scenario, events).unwrap_or_else(|mismatch| panic!("{index}: {mismatch}"));
    }
}

/// The trace unit chooses which commits have a count, and when it sends a timestamp.
const fn may_be_missing(event: &Event) -> bool {
    matches!(event, Event::Timestamp { .. } | Event::Cycles { count: Some(_), .. })
}

#[test]
fn what_is_missing_or_repeated_is_wrong() {
    for (index, (scenario, events)) in streams().into_iter().enumerate() {
        for (at, event) in events.iter().enumerate() {
            let mut missing = events.clone();
            missing.remove(at);
            let accepted = judge_events(&scenario, missing).is_ok();
            assert_eq!(accepted, may_be_missing(event), "{index}: without {event:x?}");
            let mut repeated = events.clone();
            repeated.insert(at, *event);
            let free = matches!(event, Event::TraceInfo { .. } | Event::Context(_) | Event::Timestamp { .. });
            let accepted = judge_events(&scenario, repeated).is_ok();
            assert_eq!(accepted, free, "{index}: repeated {event:x?}");
        }
    }
}

/// Each thing that an event says, one after the other, changed.
fn changes(event: Event) -> Vec<Event> {
    let flipped = |last| match last {
        Outcome::Taken => [Outcome::NotTaken, Outcome::Passed],
        Outcome::NotTaken => [Outcome::Taken, Outcome::Passed],
        Outcome::Passed => [Outcome::Taken, Outcome::NotTaken],
    };
    match event {
        Event::Instructions { first, end, count, isa, last } => {
            let with = |first: Address, end: Address, count, isa, last| Event::Instructions {
                first,
                end,
                count,
                isa,
                last,
            };
            let mut all = vec![
                with(first.wrapping_add(4), end, count, isa, last),
                with(first, end.wrapping_add(4), count, isa, last),
                with(first, end, count + 1, isa, last),
                with(first, end, count, InstructionSet::T32, last),
            ];
            all.extend(flipped(last).map(|last| with(first, end, count, isa, last)));
            all
        }
        Event::Context(context) => vec![
            Event::Context(context.with_security(SecurityState::Realm)),
            Event::Context(context.with_exception_level(Some(ExceptionLevel::El3))),
            Event::Context(context.with_64_bit(!context.is_64_bit)),
            Event::Context(context.with_context_id(Some(7))),
            Event::Context(context.with_vmid(None)),
        ],
        Event::Exception { number, returns_to, fault_pending } => vec![
            Event::Exception { number: number + 1, returns_to, fault_pending },
            Event::Exception { number, returns_to: None, fault_pending },
            Event::Exception { number, returns_to, fault_pending: true },
        ],
        Event::TraceInfo { cycle_counting, cycle_threshold, transactional, .. } => vec![
            info(!cycle_counting, cycle_threshold),
            info(cycle_counting, cycle_threshold + 1),
            Event::TraceInfo { cycle_counting, cycle_threshold, speculation: 99, transactional },
        ],
        Event::Cycles { count, total } => vec![
            Event::Cycles { count: Some(count.unwrap_or(0) + 1), total: total + 1 },
            Event::Cycles { count, total: total + 1 },
        ],
        Event::Timestamp { value, cycles, of } => vec![
            Event::Timestamp { value: value.map(|value| value + 1), cycles, of },
            Event::Timestamp { value, cycles: cycles.map(|cycles| cycles + 1), of },
            Event::Timestamp { value, cycles, of: TimestampOf::Marker },
        ],
        Event::Event { number } => vec![Event::Event { number: number ^ 1 }],
        Event::TransactionFailure => vec![Event::TransactionCommit],
        Event::Overflow => vec![Event::Discard],
        Event::Discard => vec![Event::Overflow],
        _ => Vec::new(),
    }
}

#[test]
fn what_is_changed_is_wrong() {
    let mut count = 0;
    for (index, (scenario, events)) in streams().into_iter().enumerate() {
        for at in 0..events.len() {
            for change in changes(events[at]) {
                let mut changed = events.clone();
                changed[at] = change;
                assert!(judge_events(&scenario, changed).is_err(), "{index}: {at}: {change:x?}");
                count += 1;
            }
        }
    }
    assert!(count > 190, "{count}");
}

/// Every execution is one that its program can have, by the follower's own rules.
#[test]
fn generated_executions_have_a_timeline() {
    let (mut items, mut committed, mut open) = (0, 0, 0);
    for seed in 0..600 {
        let scenario = scenario(&seeded(seed, 400 << (seed % 5)));
        scenario.parameters.check().unwrap_or_else(|wrong| panic!("seed {seed}: {wrong:?}"));
        scenario.policy.check(&scenario.parameters).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong:?}"));
        scenario.program.code().unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        let timeline = timeline::timeline(&scenario);
        let timeline = timeline.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{scenario}"));
        items += timeline.items.len();
        committed += timeline.elements.iter().filter(|element| element.committed.is_some()).count();
        open += timeline.elements.iter().filter(|element| element.committed.is_none()).count();
    }
    assert!(items > 20_000 && committed > 10_000 && open > 500, "{items} {committed} {open}");
}
