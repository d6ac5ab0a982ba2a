//! When pending writes take effect, what resets and power do to the surroundings, what polls and logs show.

use traceproof_vectors::arm_ete_unit::{Power, Space, Visible};

use super::*;
use ProgrammingState::{Enabling, Idle, Running};

fn late() -> Policy {
    Policy { direct_write: DirectWrite::AtSynchronisation, ..Policy::default() }
}

/// Spec: ETE-JQTMC-001, ETE-KNQWS-001.
#[test]
fn context_synchronisation_events() {
    let level = ProcessorEvent::Level { level: 1, space: Space::NonSecure };
    for (input, is_event) in [
        (Input::Barrier(Barrier::Isb), true),
        (Input::Barrier(Barrier::ExceptionEntry), true),
        (Input::Barrier(Barrier::ExceptionReturn), true),
        (Input::Processor(ProcessorEvent::DebugEntry), true),
        (Input::Processor(ProcessorEvent::DebugExit), true),
        (Input::Reset(Reset::Warm), true),
        (Input::Barrier(Barrier::Dsb), false),
        (Input::Barrier(Barrier::Tsb), false),
        (Input::Processor(level), false),
        (Input::Processor(ProcessorEvent::ProhibitedEntry), false),
        (Input::FlushRequest, false),
        (Input::Wait(5), false),
    ] {
        let mut bench = Bench::policy(late());
        bench.write(S, Register::PRGCTLR, 1);
        let expected: &[_] = if is_event { &[Enabling] } else { &[] };
        assert_eq!(states(&bench.input(input)), expected, "{input:?}");
        assert_eq!(bench.read(X, Register::PRGCTLR).0, Some(u64::from(is_event)), "{input:?}");
    }
    // The OS Lock by a System instruction waits as well, by the debug component it does not.
    let mut bench = Bench::policy(late());
    bench.input(Input::OsLock { agent: S, locked: true });
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x10));
    bench.input(Input::OsLock { agent: X, locked: true });
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x12));
}

/// A trace unit reset leaves the OS Lock as it was written; a pending EN is gone. Spec: ETE-ST-005, ETE-PCXJC-001.
#[test]
fn resets_and_pending_writes() {
    let mut bench = Bench::policy(late());
    bench.input(Input::OsLock { agent: S, locked: true });
    bench.write(S, Register::PRGCTLR, 1);
    bench.input(Input::Reset(Reset::TraceUnit));
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x12));
    bench.isb();
    assert_eq!((bench.read(S, Register::PRGCTLR).0, bench.status()), (Some(0), 3));
    bench.lock(false);
    assert_eq!(bench.status(), 3);
    // A Warm reset disables the trace buffer unit for good, and TRFCR_ELx prohibits whatever was pending.
    bench.input(Input::TraceBuffer { enabled: true });
    bench.input(Input::TraceFilter { prohibited: false });
    bench.input(Input::Reset(Reset::Warm));
    bench.isb();
    bench.run();
    assert_eq!((bench.generate(4), bench.drain()), (Vec::new(), Vec::new()));
    bench.input(Input::TraceFilter { prohibited: false });
    bench.isb();
    bench.generate(4);
    assert_eq!(outputs(&bench.drain()), [(IF0, 4)]);
}

/// After a reset the processor is above EL0. Spec: ETE-SGPQB-001.
#[test]
fn the_level_after_a_reset() {
    for (reset, expected) in
        [(Reset::TraceUnit, Outcome::Undefined), (Reset::Warm, Outcome::Ok), (Reset::Cold, Outcome::Ok)]
    {
        let mut bench = Bench::new();
        bench.input(Input::Processor(ProcessorEvent::Level { level: 0, space: Space::Secure }));
        bench.input(Input::Reset(reset));
        assert_eq!(bench.read(S, Register::CONFIGR).1, expected, "{reset:?}");
    }
}

/// What is lost without power is not back in retention. Spec: ETE-PTZDH-001, ETE-TWQJT-001.
#[test]
fn retention_after_a_loss_of_power() {
    let mut bench = Bench::policy(Policy { unknown: 0x77, ..Policy::default() });
    bench.write(S, Register::CONFIGR, 5);
    bench.read(X, Register::PDSR);
    bench.input(Input::Power(Power::Off));
    bench.input(Input::Power(Power::Retention));
    bench.input(Input::Power(Power::On));
    assert_eq!(bench.read(S, Register::CONFIGR).0, Some(0x77));
    assert_eq!(bench.read(X, Register::PDSR).0, Some(3));
    // A Cold reset is a power-up.
    bench.input(Input::Power(Power::Off));
    bench.input(Input::Reset(Reset::Cold));
    assert_eq!(bench.read(X, Register::PDSR).0, Some(0x23));
    assert_eq!(bench.read(S, Register::PRGCTLR), (Some(0), Outcome::Ok));
}

/// A TSB CSYNC counts in the prohibited region in which it was executed, and in no later one.
#[test]
fn a_barrier_counts_in_its_region() {
    let policy = Policy { in_flight: InFlight::Discarded, ..Policy::default() };
    // By TRFCR_ELx or for another reason.
    let region = |bench: &mut Bench, by_filter: bool, prohibited: bool| match (by_filter, prohibited) {
        (true, _) => bench.filter(prohibited),
        (false, true) => drop(bench.input(Input::Processor(ProcessorEvent::ProhibitedEntry))),
        (false, false) => drop(bench.input(Input::Processor(ProcessorEvent::ProhibitedExit))),
    };
    for (first, second) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut bench = Bench::policy(policy.clone());
        bench.run();
        region(&mut bench, first, true);
        bench.input(Input::Barrier(Barrier::Tsb));
        region(&mut bench, first, false);
        bench.generate(4);
        region(&mut bench, second, true);
        bench.trace_buffer(true);
        region(&mut bench, second, false);
        bench.generate(3);
        // Four bytes were in flight, and are discarded.
        assert_eq!(outputs(&bench.drain()), [(Sink::TraceBuffer, 3)], "{first} {second}");
    }
    // Held through a TSB CSYNC that did not flush, they are not in flight.
    let mut bench = Bench::policy(policy);
    bench.run();
    bench.generate(4);
    bench.filter(true);
    bench.input(Input::Barrier(Barrier::Tsb));
    bench.trace_buffer(true);
    assert_eq!(outputs(&bench.drain()), [(Sink::TraceBuffer, 4)]);
}

/// No byte enters after a TSB CSYNC in a prohibited region, corrupt ones neither. Spec: ETE-XLVQM-001.
#[test]
fn an_unpredictable_write_in_a_prohibited_region() {
    for (tsb, expected) in [(false, &[(Sink::TraceBuffer, 1)][..]), (true, &[])] {
        let mut bench = Bench::policy(Policy { corrupts_stream: true, ..Policy::default() });
        bench.trace_buffer(true);
        bench.run();
        bench.filter(true);
        if tsb {
            bench.input(Input::Barrier(Barrier::Tsb));
        }
        bench.write(S, Register::CONFIGR, 1);
        assert_eq!(outputs(&bench.drain()), expected);
    }
}

/// TRCRSR.TA with ViewInst inactive, also while the unit recovers. Spec: ETE-MLTTK-001.
#[test]
fn untraced_instructions_during_recovery() {
    let policy = Policy { overflow_keeps_ta: true, buffer: 2, ..Policy::default() };
    for (view_inst, expected) in [(true, 1), (false, 0)] {
        let mut bench = Bench::policy(policy.clone());
        bench.run();
        bench.generate(9);
        bench.step(Stimulus::ViewInst(view_inst));
        bench.generate(9);
        assert_eq!(bench.read(X, Register::RSR).0.unwrap() >> 12 & 1, expected);
    }
}

/// Reads by System instructions synchronise between them, external ones do not.
#[test]
fn polls_and_pending_writes() {
    let mut bench = Bench::policy(late());
    bench.write(S, Register::PRGCTLR, 1);
    assert!(bench.poll(X, StatusBit::Idle, false).timed_out);
    assert!(!bench.poll(S, StatusBit::Idle, true).timed_out);
    assert_eq!(bench.read(X, Register::PRGCTLR).0, Some(0));
    let packets = bench.step(Stimulus::Poll { agent: S, bit: StatusBit::Idle, value: false });
    assert_eq!(states(&packets), [Enabling, Running]);
    let poll = Poll { agent: S, bit: StatusBit::Idle, value: false, timed_out: false };
    assert_eq!(packets.last(), Some(&Packet::Poll(poll)));
    // Bytes that leave during a poll come before it.
    let mut bench = Bench::new();
    bench.run();
    bench.generate(4);
    bench.enable(0);
    let packets = bench.step(Stimulus::Poll { agent: X, bit: StatusBit::Idle, value: true });
    assert_eq!((outputs(&packets), states(&packets).last()), (alloc::vec![(IF0, 4)], Some(&Idle)));
    assert!(matches!(packets.last(), Some(Packet::Poll(Poll { timed_out: false, .. }))));
    // At EL0 there is one read, which is UNDEFINED.
    bench.input(Input::Processor(ProcessorEvent::Level { level: 0, space: Space::Secure }));
    let packets = bench.step(Stimulus::Poll { agent: S, bit: StatusBit::Idle, value: true });
    let expected = Access { outcome: Outcome::Undefined, ..read(S, Register::STATR) };
    assert_eq!(packets, [Packet::Access(expected)]);
}

#[test]
fn states_are_shown_or_not() {
    let mut bench = Bench::new();
    let show =
        |bench: &mut Bench, shown| drop(bench.input(Input::Visibility { what: Visible::States, shown }));
    show(&mut bench, false);
    bench.write(S, Register::EVENTCTL1R, 1 << 13);
    for packets in [bench.step(Stimulus::Access(write(S, Register::PRGCTLR, 1))), bench.go()] {
        assert_eq!((states(&packets), signals(&packets)), (Vec::new(), Vec::new()));
    }
    bench.generate(4);
    assert_eq!(outputs(&bench.drain()), [(IF0, 4)]);
    // What others show changes nothing.
    bench.input(Input::Visibility { what: Visible::Events, shown: true });
    assert_eq!(bench.step(Stimulus::ViewInst(false)), []);
    show(&mut bench, true);
    assert_eq!(bench.step(Stimulus::ViewInst(true)), [Packet::Signal(Signal::ViewInst(true))]);
    // The end of a log ends nothing of the unit.
    assert_eq!((bench.input(Input::Gap).len(), bench.input(Input::End).len(), bench.status()), (1, 1, 0));
}
