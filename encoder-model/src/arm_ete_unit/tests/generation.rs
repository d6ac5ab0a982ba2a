//! When trace is generated, and what happens to what finds no room: overflow, stall, flush, time.

use traceproof_vectors::arm_ete_unit::{DisabledWhileEnabling, Power};

use super::*;
use ProgrammingState::{Idle, Running, Stable, Unstable};

const BLOCKED: Input = Input::Sink { sink: IF0, state: SinkState::Blocked };
const ACCEPTING: Input = Input::Sink { sink: IF0, state: SinkState::Accepting };
const TA: u64 = 1 << 12;

fn drain(bytes: u32) -> Stimulus {
    Stimulus::Drain { bytes: Some(bytes) }
}

/// With a buffer of 10 bytes that is full after an overflow: 8 bytes and the first 2 of 5.
fn overflowed(policy: Policy) -> Bench {
    let mut bench = Bench::policy(Policy { buffer: 10, ..policy });
    bench.run();
    bench.input(BLOCKED);
    assert_eq!(signals(&bench.generate(8)), []);
    assert_eq!(signals(&bench.generate(5)), [Signal::Overflow(true), Signal::Operative(false)]);
    bench
}

/// Spec: ETE-PQGXB-001, ETE-LDDLP-001, ETE-HRYKY-001, ETE-ZVNKV-001, ETE-RDPSW-002, ETE-BDRKW-002, ETE-MTLFH-002.
#[test]
fn overflow_and_recovery() {
    let mut bench = overflowed(Policy::default());
    // Inoperative: nothing enters, and it is still Running with ViewInst active.
    assert_eq!(bench.generate(4), []);
    assert_eq!(bench.status(), 0);
    bench.input(ACCEPTING);
    // The 2 bytes of the Overflow element are the last ones.
    assert_eq!(bench.step(drain(11)), [Packet::Output { sink: IF0, bytes: 11 }]);
    assert_eq!(bench.generate(4), []);
    let packets = bench.step(drain(9));
    assert_eq!(signals(&packets), [Signal::Overflow(false), Signal::Operative(true)]);
    assert_eq!(outputs(&packets), [(IF0, 1)]);
    bench.generate(3);
    assert_eq!(outputs(&bench.drain()), [(IF0, 3)]);
    // At one stroke, and in buffers without room.
    let mut bench = overflowed(Policy::default());
    bench.input(ACCEPTING);
    assert_eq!(outputs(&bench.drain()), [(IF0, 12)]);
    let mut bench = Bench::policy(Policy { buffer: 0, ..Policy::default() });
    bench.run();
    assert_eq!(signals(&bench.generate(1)), [Signal::Overflow(true), Signal::Operative(false)]);
    assert_eq!(outputs(&bench.drain()), [(IF0, 2)]);
}

/// Spec: ETE-RPSPH-001, ETE-TWBVY-001, ETE-HGYLG-001.
#[test]
fn overflow_before_a_disable_and_before_a_flush() {
    let mut bench = overflowed(Policy::default());
    let mut packets = bench.step(Stimulus::Access(write(X, Register::PRGCTLR, 0)));
    assert_eq!(
        (states(&packets), signals(&packets)),
        (alloc::vec![Unstable], alloc::vec![Signal::Enabled(false), Signal::Resources(Resources::Paused)])
    );
    bench.input(ACCEPTING);
    assert_eq!(states(&bench.go()), [Stable]);
    assert_eq!(outputs(&bench.step(drain(11))), [(IF0, 11)]);
    assert_eq!(states(&bench.go()), []);
    packets = bench.drain();
    assert_eq!(
        (signals(&packets), outputs(&packets)),
        (alloc::vec![Signal::Overflow(false)], alloc::vec![(IF0, 1)])
    );
    assert_eq!(states(&bench.go()), [Idle]);

    let mut bench = overflowed(Policy::default());
    assert_eq!(signals(&bench.input(Input::FlushRequest)), []);
    bench.input(ACCEPTING);
    assert_eq!(signals(&bench.step(drain(10))), []);
    packets = bench.drain();
    assert_eq!(packets.last(), Some(&Packet::Signal(Signal::FlushAcknowledge)));
    assert_eq!(outputs(&packets), [(IF0, 2)]);
}

/// Spec: ETE-NLSSL-001, ETE-NLSSL-002.
#[test]
fn no_overflow_without_an_output() {
    let mut bench = Bench::policy(Policy { buffer: 10, ..Policy::default() });
    bench.enable(1);
    bench.go();
    assert_eq!(bench.generate(1000), []);
    assert_eq!(bench.generate(1000), []);
    assert_eq!(signals(&bench.input(Input::FlushRequest)), []);
    assert_eq!(bench.drain(), [Packet::Signal(Signal::FlushAcknowledge)]);
    bench.generate(5);
    bench.enable(0);
    assert!(!bench.poll(S, StatusBit::Idle, true).timed_out);
}

/// TRCSTALLCTLR: ISTALL is bit 8, NOOVERFLOW bit 13, LEVEL bits 3 to 0.
///
/// Spec: ETE-RWTYJ-001, ETE-SCLVV-001, ETE-MYMKW-001, ETE-JYYLV-001, ETE-STL-001, ETE-STL-002.
#[test]
fn stall_or_overflow() {
    let default = Parameters::default;
    let (istall, no_overflow, level) = (1 << 8, 1 << 13, 0xC);
    for (parameters, control, stalls, expected) in [
        (default(), istall | no_overflow, false, true),
        (default(), istall | no_overflow | level, true, true),
        (default(), istall | level, true, true),
        (default(), istall | level, false, false),
        (default(), istall, true, false),
        (default(), no_overflow, true, false),
        (default(), 0, true, false),
        (Parameters { no_overflow: false, ..default() }, istall | no_overflow, false, false),
        (Parameters { system_stall: false, ..default() }, istall | no_overflow | level, true, false),
        (Parameters { stall_control: false, ..default() }, istall | no_overflow | level, true, false),
        (Parameters { self_hosted: false, ..default() }, istall | no_overflow, false, true),
        (
            Parameters { self_hosted: false, invasive_debug: false, ..default() },
            istall | no_overflow | level,
            true,
            false,
        ),
        (Parameters { invasive_debug: false, ..default() }, istall | no_overflow, false, true),
    ] {
        let mut bench = Bench::with(parameters.clone(), Policy { buffer: 10, stalls, ..Policy::default() });
        bench.write(S, Register::STALLCTLR, control);
        bench.run();
        bench.input(BLOCKED);
        let found = signals(&bench.generate(15));
        let overflow = [Signal::Overflow(true), Signal::Operative(false)];
        let wanted: &[_] = if expected { &[Signal::Stall(true)] } else { &overflow };
        assert_eq!(found, wanted, "{control:#x}, {parameters:?}");
        assert_eq!(bench.status(), 0, "instructions at the unit finish");
        bench.input(ACCEPTING);
        let packets = bench.drain();
        let (wanted, bytes): (&[_], _) = if expected {
            (&[Signal::Stall(false)], 10)
        } else {
            (&[Signal::Overflow(false), Signal::Operative(true)], 12)
        };
        assert_eq!((&signals(&packets)[..], outputs(&packets)), (wanted, alloc::vec![(IF0, bytes)]));
        let rest: &[_] = if expected { &[(IF0, 5)] } else { &[] };
        assert_eq!(outputs(&bench.drain()), rest);
    }
}

/// Spec: ETE-SCLVV-001, ETE-STL-001.
#[test]
fn what_ends_a_stall() {
    let two = Parameters { interfaces: 1, ..Parameters::default() };
    for input in [
        Input::Processor(ProcessorEvent::DebugEntry),
        Input::Processor(ProcessorEvent::ProhibitedEntry),
        Input::Interfaces { enabled: false },
        Input::OsLock { agent: X, locked: true },
        Input::Reset(Reset::TraceUnit),
    ] {
        let mut bench = Bench::with(two.clone(), Policy { buffer: 10, ..Policy::default() });
        bench.write(S, Register::STALLCTLR, 1 << 8 | 1 << 13);
        bench.run();
        bench.input(BLOCKED);
        assert_eq!(signals(&bench.generate(15)), [Signal::Stall(true)]);
        assert!(signals(&bench.input(input)).contains(&Signal::Stall(false)), "{input:?}");
        bench.input(ACCEPTING);
        let left: u64 = outputs(&bench.drain()).iter().map(|(_, bytes)| bytes).sum();
        assert!(left <= 10, "{input:?}");
        assert_eq!(outputs(&bench.drain()), [], "{input:?}");
    }
}

/// Spec: ETE-JLRQH-002, ETE-HGYLG-001, ETE-DKFRL-001.
#[test]
fn a_flush_is_acknowledged_after_its_bytes() {
    let ack = Packet::Signal(Signal::FlushAcknowledge);
    let request = Packet::Input(Input::FlushRequest);
    let mut bench = Bench::new();
    assert_eq!(bench.input(Input::FlushRequest), [request, ack]);
    bench.run();
    bench.generate(6);
    bench.input(BLOCKED);
    assert_eq!(bench.input(Input::FlushRequest), [request]);
    // What is generated after the request is not waited for.
    bench.generate(3);
    assert_eq!(bench.drain(), []);
    bench.input(ACCEPTING);
    assert_eq!(bench.step(drain(5)), [Packet::Output { sink: IF0, bytes: 5 }]);
    assert_eq!(bench.step(drain(1)), [Packet::Output { sink: IF0, bytes: 1 }, ack]);
    assert_eq!(bench.drain(), [Packet::Output { sink: IF0, bytes: 3 }]);
    // Bytes that a reset has lost are not waited for.
    bench.generate(6);
    assert_eq!(bench.input(Input::FlushRequest), [request]);
    assert_eq!(bench.input(Input::Power(Power::Off)).last(), Some(&ack));
    // Without `states` it is shown all the same.
    let mut encoder = Encoder::default();
    encoder.begin(&Parameters::default(), &Policy::default()).unwrap();
    let mut log: Log<ArmEteUnit> = Log::default();
    encoder.step(&Stimulus::Input(Input::FlushRequest), &mut log);
    assert_eq!(log.packets().copied().collect::<Vec<_>>(), [request, ack]);
}

/// Spec: ETE-DPKSC-001, ETE-FFVYM-001, ETE-LBDSM-001, ETE-MTLFH-002, ETE-YMJFJ-001, ETE-XRWPV-001.
#[test]
fn nothing_is_generated_in_between() {
    let process = |event| Stimulus::Input(Input::Processor(event));
    let (debug, run) = (ProcessorEvent::DebugEntry, ProcessorEvent::DebugExit);
    for (entry, exit, seen) in [
        (process(debug), process(run), [&[Signal::ViewInst(false)][..], &[Signal::ViewInst(true)]]),
        (
            process(ProcessorEvent::ProhibitedEntry),
            process(ProcessorEvent::ProhibitedExit),
            [&[Signal::Resources(Resources::Paused)], &[Signal::Resources(Resources::Running)]],
        ),
        (
            process(ProcessorEvent::LowPowerEntry),
            process(ProcessorEvent::LowPowerExit),
            [&[Signal::Resources(Resources::Paused)], &[Signal::Resources(Resources::Running)]],
        ),
        (
            Stimulus::ViewInst(false),
            Stimulus::ViewInst(true),
            [&[Signal::ViewInst(false)], &[Signal::ViewInst(true)]],
        ),
    ] {
        let mut bench = Bench::new();
        bench.run();
        bench.generate(4);
        assert_eq!(signals(&bench.step(entry)), seen[0]);
        assert_eq!(bench.generate(7), []);
        // Bytes from before it leave.
        assert_eq!(outputs(&bench.drain()), [(IF0, 4)]);
        assert_eq!((bench.status(), bench.drain()), (0, Vec::new()));
        assert_eq!(signals(&bench.step(exit)), seen[1]);
        bench.generate(2);
        assert_eq!(outputs(&bench.drain()), [(IF0, 2)]);
        // Enabled inside: no trace until it is left.
        let mut bench = Bench::new();
        bench.step(entry);
        bench.run();
        bench.generate(7);
        assert_eq!(outputs(&bench.drain()), []);
        bench.step(exit);
        bench.generate(2);
        assert_eq!(outputs(&bench.drain()), [(IF0, 2)]);
    }
}

/// Spec: ETE-FBMYZ-001, ETE-LHDSS-001.
#[test]
fn choices_at_low_power_and_debug() {
    let entry = Input::Processor(ProcessorEvent::LowPowerEntry);
    let mut bench = Bench::policy(Policy { low_power: false, ..Policy::default() });
    bench.run();
    assert_eq!(signals(&bench.input(entry)), []);
    bench.generate(3);
    assert_eq!(outputs(&bench.drain()), [(IF0, 3)]);
    for (flushes_on_entry, low_power, bytes) in [(false, true, 0), (true, true, 4), (true, false, 0)] {
        let mut bench = Bench::policy(Policy { flushes_on_entry, low_power, ..Policy::default() });
        bench.run();
        bench.generate(4);
        let expected: &[_] = if bytes > 0 { &[(IF0, bytes)] } else { &[] };
        assert_eq!(outputs(&bench.input(entry)), expected);
    }
    let mut bench = Bench::policy(Policy { flushes_on_entry: true, ..Policy::default() });
    bench.run();
    bench.generate(4);
    assert_eq!(outputs(&bench.input(Input::Processor(ProcessorEvent::DebugEntry))), [(IF0, 4)]);
}

/// TRCRSR.TA. Spec: ETE-BFSWZ-001, ETE-MLTTK-001, ETE-BJQDP-001, ETE-QZPJD-001.
#[test]
fn whether_the_latest_instruction_was_traced() {
    let traced = |bench: &mut Bench| {
        bench.enable(0);
        bench.go();
        bench.read(X, Register::RSR).0.unwrap() & TA != 0
    };
    let acts: [(&[Stimulus], bool); 5] = [
        (&[], false),
        (&[Stimulus::Generate { bytes: 1 }], true),
        (&[Stimulus::Generate { bytes: 1 }, Stimulus::ViewInst(false)], true),
        (
            &[Stimulus::Generate { bytes: 1 }, Stimulus::ViewInst(false), Stimulus::Generate { bytes: 1 }],
            false,
        ),
        (
            &[
                Stimulus::Generate { bytes: 1 },
                Stimulus::ViewInst(false),
                Stimulus::Input(Input::Processor(ProcessorEvent::ProhibitedEntry)),
                Stimulus::Generate { bytes: 1 },
            ],
            true,
        ),
    ];
    for (acts, expected) in acts {
        let mut bench = Bench::new();
        bench.run();
        acts.iter().for_each(|act| drop(bench.step(*act)));
        assert_eq!(traced(&mut bench), expected, "{acts:?}");
    }
    for overflow_keeps_ta in [false, true] {
        let mut bench = overflowed(Policy { overflow_keeps_ta, ..Policy::default() });
        assert_eq!(traced(&mut bench), overflow_keeps_ta);
    }
}

/// TRCRSR.EVENT is bits 11 to 8. Spec: ETE-RES-001, ETE-RES-002, ETE-YFLJT-001, ETE-BPTKT-001, ETE-TMVLW-001.
#[test]
fn events_while_the_resources_are_paused() {
    let (enter, leave) = (ProcessorEvent::ProhibitedEntry, ProcessorEvent::ProhibitedExit);
    let event = |bench: &mut Bench| bench.read(S, Register::RSR).0.unwrap() >> 8 & 0xF;
    let mut bench = Bench::new();
    // Nothing occurs while the unit is disabled.
    assert_eq!(bench.input(Input::Event(0)), []);
    assert_eq!(bench.encoder.refused(), Some(ImpossibleStimulus::EventWhileDisabled));
    bench.write(S, Register::RSR, 0x100);
    bench.input(Input::Processor(enter));
    bench.run();
    // What was set stays while the resources are paused, and an event adds to it.
    bench.input(Input::Event(3));
    assert_eq!(event(&mut bench), 0b1001);
    // It is consumed when they run; then an event is no longer kept.
    bench.input(Input::Processor(leave));
    assert_eq!(event(&mut bench), 0);
    bench.input(Input::Event(1));
    assert_eq!(event(&mut bench), 0);
    bench.input(Input::Processor(enter));
    bench.input(Input::Event(2));
    bench.enable(0);
    bench.go();
    bench.input(Input::Processor(leave));
    assert_eq!(event(&mut bench), 0b0100);
    // A unit of two events has no third one.
    let mut bench = Bench::with(Parameters { events: 2, ..Parameters::default() }, Policy::default());
    bench.run();
    assert_eq!(bench.input(Input::Event(2)), []);
    assert_eq!(bench.encoder.refused(), Some(ImpossibleStimulus::AbsentEvent));
}

/// Spec: ETE-SES-002, ETE-SES-005, ETE-ZDTLK-001.
#[test]
fn choices_in_enabling() {
    for (trace_in_enabling, bytes) in [(false, 0), (true, 4)] {
        let mut bench = Bench::policy(Policy { trace_in_enabling, ..Policy::default() });
        bench.write(S, Register::EVENTCTL1R, 1 << 13);
        bench.enable(1);
        bench.generate(4);
        let expected: &[_] = if bytes > 0 { &[(IF0, bytes)] } else { &[] };
        assert_eq!(outputs(&bench.drain()), expected);
        assert_eq!(bench.status(), 1);
    }
    for overflow_in_enabling in [false, true] {
        let mut bench = Bench::policy(Policy {
            trace_in_enabling: true,
            overflow_in_enabling,
            buffer: 2,
            ..Policy::default()
        });
        bench.write(S, Register::EVENTCTL1R, 1 << 13);
        bench.enable(1);
        assert_eq!(signals(&bench.generate(4)).contains(&Signal::Overflow(true)), overflow_in_enabling);
    }
    // Disabled in Enabling: nothing is generated on the way through Running; what is held leaves before Idle.
    for (disabled_while_enabling, passed) in [
        (DisabledWhileEnabling::AfterRunning, &[Running, Unstable, Stable][..]),
        (DisabledWhileEnabling::Idle, &[Unstable, Stable]),
    ] {
        let mut bench =
            Bench::policy(Policy { trace_in_enabling: true, disabled_while_enabling, ..Policy::default() });
        bench.write(S, Register::EVENTCTL1R, 1 << 13);
        bench.enable(1);
        bench.generate(4);
        let mut found = states(&bench.lock(true));
        bench.generate(4);
        for _ in 0..3 {
            found.extend(states(&bench.go()));
        }
        assert_eq!(found, passed);
        assert_eq!(outputs(&bench.drain()), [(IF0, 4)]);
        assert_eq!(states(&bench.go()), [Idle]);
    }
}

/// Spec: ETE-RWYQD-002.
#[test]
fn an_unpredictable_write_may_corrupt_the_stream() {
    let mut bench = Bench::policy(Policy { corrupts_stream: true, ..Policy::default() });
    bench.run();
    bench.generate(4);
    bench.write(S, Register::CONFIGR, 1);
    bench.write(S, Register::CLAIMSET, 1);
    assert_eq!(outputs(&bench.drain()), [(IF0, 5)]);
}

/// Spec: ETE-ZFPHC-001, ETE-CZHWF-001, ETE-TRZCP-003, ETE-GFMRH-001, ETE-DKFRL-001.
#[test]
fn what_is_finite_happens_within_the_bound() {
    let bounded = Parameters { bound: Some(100), ..Parameters::default() };
    let wait = |bench: &mut Bench, time| bench.input(Input::Wait(time));
    let mut bench = Bench::with(bounded.clone(), Policy::default());
    bench.write(S, Register::EVENTCTL1R, 1 << 13);
    bench.enable(1);
    assert_eq!(wait(&mut bench, 100), [Packet::Input(Input::Wait(100))]);
    let packets = wait(&mut bench, 1);
    assert_eq!(
        (states(&packets), packets.last()),
        (alloc::vec![Running], Some(&Packet::Input(Input::Wait(1))))
    );
    bench.generate(5);
    bench.input(Input::FlushRequest);
    let packets = wait(&mut bench, 101);
    let expected = [
        Packet::Output { sink: IF0, bytes: 5 },
        Packet::Signal(Signal::FlushAcknowledge),
        Packet::Input(Input::Wait(101)),
    ];
    assert_eq!(packets, expected);
    bench.generate(5);
    bench.enable(0);
    let packets = wait(&mut bench, u64::MAX);
    assert_eq!((states(&packets), outputs(&packets)), (alloc::vec![Stable, Idle], alloc::vec![(IF0, 5)]));
    // A blocked sink has no bound, but Stable is reached.
    let mut bench = Bench::with(bounded.clone(), Policy::default());
    bench.run();
    bench.generate(5);
    bench.input(BLOCKED);
    bench.enable(0);
    assert_eq!(states(&wait(&mut bench, 101)), [Stable]);
    assert_eq!(states(&wait(&mut bench, 101)), []);
    bench.input(ACCEPTING);
    assert_eq!(states(&wait(&mut bench, 101)), [Idle]);
    // Time in retention does not count.
    let mut bench = Bench::with(bounded, Policy::default());
    bench.enable(1);
    assert_eq!(states(&wait(&mut bench, 60)), []);
    bench.input(Input::Power(Power::Retention));
    assert_eq!(states(&wait(&mut bench, 60)), []);
    bench.input(Input::Power(Power::On));
    assert_eq!(states(&wait(&mut bench, 40)), []);
    assert_eq!(states(&wait(&mut bench, 1)), [Running]);
    // Without a bound, time does nothing.
    let mut bench = Bench::new();
    bench.enable(1);
    assert_eq!(states(&wait(&mut bench, u64::MAX)), []);
}

/// A poll ends by itself, however many steps the policy allows. Spec: ETE-DHQGM-001.
#[test]
fn polls_end() {
    let mut bench = Bench::policy(Policy { poll_steps: u32::MAX, buffer: 1, ..Policy::default() });
    bench.write(S, Register::STALLCTLR, 1 << 8 | 1 << 13);
    bench.run();
    bench.generate(u32::MAX);
    assert!(bench.poll(X, StatusBit::Idle, true).timed_out);
    assert!(bench.poll(X, StatusBit::Pmstable, true).timed_out);
    assert!(!bench.poll(X, StatusBit::Pmstable, false).timed_out);
    bench.enable(0);
    assert!(!bench.poll(X, StatusBit::Idle, true).timed_out);
    let mut none = Bench::policy(Policy { poll_steps: 0, ..Policy::default() });
    none.enable(1);
    assert!(none.poll(S, StatusBit::Idle, false).timed_out);
    assert_eq!(none.status(), 1);
}
