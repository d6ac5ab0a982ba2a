//! Every state and input of the state table, by hand.

use traceproof_vectors::arm_ete_unit::{
    DisabledWhileEnabling, EnableChange, EnabledWhileDisabling, UnpredictableWrite,
};

use super::*;
use ProgrammingState::{Enabling, Idle, Running, Stable, Unstable};

/// A thing that happens in a state, with barriers after what is direct.
type Act = fn(&mut Bench) -> Vec<Packet>;

fn direct_enable(bench: &mut Bench, value: u64) -> Vec<Packet> {
    let mut packets = bench.step(Stimulus::Access(write(S, Register::PRGCTLR, value)));
    packets.extend(bench.isb());
    packets
}

const SET: Act = |bench| direct_enable(bench, 1);
const CLEAR: Act = |bench| direct_enable(bench, 0);
const LOCK: Act = |bench| bench.lock(true);
const UNLOCK: Act = |bench| bench.lock(false);
const GO: Act = Bench::go;

/// What happens in each of the states, with EN and the OS Lock as the cells have them: the states passed through, and
/// EN afterwards.
fn check(policy: &Policy, before: ProgrammingState, acts: &[Act], passed: &[ProgrammingState], enable: u64) {
    for direct_write in DirectWrite::ALL {
        let mut bench = Bench::policy(Policy { direct_write: *direct_write, ..policy.clone() });
        bench.bring_to(before);
        let found: Vec<_> = acts.iter().flat_map(|act| states(&act(&mut bench))).collect();
        assert_eq!(found, passed, "{before:?}, {direct_write:?}, {policy:?}");
        assert_eq!(bench.read(S, Register::PRGCTLR).0, Some(enable), "{before:?}, {direct_write:?}");
    }
}

#[test]
fn settled_cells() {
    let policy = Policy::default();
    let check = |before, acts: &[Act], passed: &[_], enable| check(&policy, before, acts, passed, enable);
    // EN, OS Lock unlocked.
    check(Idle, &[SET], &[Enabling], 1);
    check(Running, &[CLEAR], &[Unstable], 0);
    // EN, OS Lock locked: Idle stays.
    check(Idle, &[LOCK, SET], &[], 1);
    check(Idle, &[LOCK, SET, CLEAR], &[], 0);
    // EN written unchanged.
    check(Idle, &[CLEAR], &[], 0);
    check(Enabling, &[SET], &[], 1);
    check(Running, &[SET], &[], 1);
    check(Unstable, &[CLEAR], &[], 0);
    check(Stable, &[CLEAR], &[], 0);
    // The OS Lock with EN = 1: EN stays.
    check(Running, &[LOCK], &[Unstable], 1);
    check(Idle, &[LOCK, SET, UNLOCK], &[Enabling], 1);
    // The OS Lock with EN = 0.
    check(Idle, &[LOCK, UNLOCK], &[], 0);
    check(Unstable, &[LOCK, UNLOCK], &[], 0);
    check(Stable, &[LOCK, UNLOCK], &[], 0);
    // Inner progress.
    check(Idle, &[GO], &[], 0);
    check(Enabling, &[GO], &[Running], 1);
    check(Running, &[GO], &[], 1);
    check(Unstable, &[GO], &[Stable], 0);
    check(Stable, &[GO], &[Idle], 0);
    check(Running, &[LOCK, GO, GO, GO], &[Unstable, Stable, Idle], 1);
}

#[test]
fn unpredictable_changes_of_enable() {
    let policy = |enable_change| Policy { enable_change, ..Policy::default() };
    for state in [Unstable, Stable] {
        check(&policy(EnableChange::Ignored), state, &[SET], &[], 0);
        check(&policy(EnableChange::Zero), state, &[SET], &[], 0);
        // EN reads 1 with the OS Lock locked: disabled still.
        check(&policy(EnableChange::One), state, &[LOCK, SET], &[], 1);
        let at_once =
            Policy { enabled_while_disabling: EnabledWhileDisabling::AtOnce, ..policy(EnableChange::One) };
        check(&at_once, state, &[SET], &[Enabling], 1);
    }
    let one = policy(EnableChange::One);
    check(&one, Unstable, &[SET, GO, GO], &[Stable, Idle, Enabling], 1);
    check(&one, Stable, &[SET, GO], &[Idle, Enabling], 1);
    check(&policy(EnableChange::Ignored), Enabling, &[CLEAR, GO], &[Running], 1);
    check(&one, Enabling, &[CLEAR, GO], &[Running], 1);
    // EN = 0 with the OS Lock locked after EN = 1: the register is unpredictable, the state goes on.
    check(&policy(EnableChange::Ignored), Running, &[LOCK, CLEAR, GO], &[Unstable, Stable], 1);
    check(&policy(EnableChange::Zero), Running, &[LOCK, CLEAR, GO], &[Unstable, Stable], 0);
    check(&one, Running, &[LOCK, GO, CLEAR, GO], &[Unstable, Stable, Idle], 1);
}

#[test]
fn cells_that_are_not_settled() {
    let zero = |disabled_while_enabling| Policy {
        enable_change: EnableChange::Zero,
        disabled_while_enabling,
        ..Policy::default()
    };
    let rows: [(_, &[_]); 3] = [
        (DisabledWhileEnabling::AfterRunning, &[Running, Unstable, Stable]),
        (DisabledWhileEnabling::Unstable, &[Unstable, Stable, Idle]),
        (DisabledWhileEnabling::Idle, &[Idle]),
    ];
    for (choice, passed) in rows {
        check(&zero(choice), Enabling, &[CLEAR, GO, GO], passed, 0);
        check(&zero(choice), Enabling, &[LOCK, GO, GO], passed, 1);
    }
    // Unlocked before Running is reached: as if nothing had been.
    check(&Policy::default(), Enabling, &[LOCK, UNLOCK, GO], &[Running], 1);
    let at_once = Policy { enabled_while_disabling: EnabledWhileDisabling::AtOnce, ..Policy::default() };
    check(&Policy::default(), Running, &[LOCK, UNLOCK, GO, GO], &[Unstable, Stable, Idle, Enabling], 1);
    check(&at_once, Running, &[LOCK, UNLOCK], &[Unstable, Enabling], 1);
    check(&at_once, Running, &[LOCK, GO, UNLOCK], &[Unstable, Stable, Enabling], 1);
}

/// TRCSTATR: Idle 3, Enabling and Running with PMSTABLE as the policy has it, Unstable 0, Stable 2.
#[test]
fn status_of_each_state() {
    for (pmstable_while_enabled, expected) in [(false, [3, 1, 0, 0, 2]), (true, [3, 3, 2, 0, 2])] {
        for (state, status) in ProgrammingState::ALL.into_iter().zip(expected) {
            let mut bench = Bench::policy(Policy { pmstable_while_enabled, ..Policy::default() });
            bench.bring_to(state);
            assert_eq!(bench.status(), status, "{state:?}");
        }
    }
}

#[test]
fn writes_in_each_state() {
    for state in ProgrammingState::ALL {
        for (choice, outside) in [
            (UnpredictableWrite::Ignored, 0x11),
            (UnpredictableWrite::Unknown, 0xDEAD),
            (UnpredictableWrite::Written, 0x22),
        ] {
            for agent in [S, X] {
                let policy = Policy { write_outside_idle: choice, unknown: 0xDEAD, ..Policy::default() };
                let mut bench = Bench::policy(policy);
                bench.write(S, Register::CONFIGR, 0x11);
                bench.bring_to(state);
                assert_eq!(bench.write(agent, Register::CONFIGR, 0x22), Outcome::Ok);
                let expected = if state == Idle { 0x22 } else { outside };
                assert_eq!(bench.read(agent, Register::CONFIGR).0, Some(expected), "{state:?}, {choice:?}");
                // Claim tags are taken in every state.
                assert_eq!(bench.write(agent, Register::CLAIMSET, 0xFA), Outcome::Ok);
                assert_eq!(bench.read(agent, Register::CLAIMCLR).0, Some(0xA), "4 tags");
                bench.write(agent, Register::CLAIMCLR, 2);
                assert_eq!(bench.read(agent, Register::CLAIMCLR).0, Some(8));
                assert_eq!(bench.read(agent, Register::CLAIMSET).0, Some(0xF));
            }
        }
    }
}

#[test]
fn resource_state_may_be_unknown_while_it_changes() {
    for state in ProgrammingState::ALL {
        let policy = Policy { unknown: u64::MAX, unknown_resource_state: true, ..Policy::default() };
        let mut bench = Bench::policy(policy);
        bench.write(S, Register::cntvr(0), 0x1234);
        bench.write(S, Register::CONFIGR, 0x5);
        bench.bring_to(state);
        let expected = if matches!(state, Idle | Stable) { 0x1234 } else { 0xFFFF };
        assert_eq!(bench.read(X, Register::cntvr(0)).0, Some(expected), "{state:?}");
        assert_eq!(bench.read(X, Register::CONFIGR).0, Some(5), "{state:?}");
    }
}

/// Debug state, prohibited regions, low power and a Warm reset leave the state as it is; resets and power lead to Idle.
#[test]
fn surroundings_in_each_state() {
    use traceproof_vectors::arm_ete_unit::Power;
    for state in ProgrammingState::ALL {
        for event in [
            Input::Processor(ProcessorEvent::DebugEntry),
            Input::Processor(ProcessorEvent::ProhibitedEntry),
            Input::Processor(ProcessorEvent::LowPowerEntry),
            Input::Reset(Reset::Warm),
            Input::Power(Power::Retention),
            Input::FlushRequest,
        ] {
            let mut bench = Bench::new();
            bench.bring_to(state);
            assert_eq!(states(&bench.input(event)), [], "{state:?}, {event:?}");
        }
        for event in [Input::Reset(Reset::TraceUnit), Input::Reset(Reset::Cold), Input::Power(Power::Off)] {
            let mut bench = Bench::new();
            bench.bring_to(state);
            let expected: &[_] = if state == Idle { &[] } else { &[Idle] };
            assert_eq!(states(&bench.input(event)), expected, "{state:?}, {event:?}");
            bench.input(Input::Power(Power::On));
            assert_eq!(bench.read(S, Register::PRGCTLR).0, Some(0));
            let locked = event == Input::Reset(Reset::Cold);
            assert_eq!(bench.read(X, Register::OSLSR).0, Some(if locked { 0x12 } else { 0x10 }));
        }
    }
}

/// The drain decides about Idle; a blocked sink does not keep the unit from Stable.
#[test]
fn idle_is_drained() {
    let mut bench = Bench::new();
    bench.run();
    bench.generate(5);
    bench.input(Input::Sink { sink: Sink::Interface(0), state: SinkState::Blocked });
    bench.enable(0);
    assert_eq!(states(&bench.go()), [Stable]);
    assert_eq!((states(&bench.go()), outputs(&bench.drain())), (Vec::new(), Vec::new()));
    assert!(bench.poll(S, StatusBit::Idle, true).timed_out);
    bench.input(Input::Sink { sink: Sink::Interface(0), state: SinkState::Accepting });
    assert_eq!(outputs(&bench.drain()), [(Sink::Interface(0), 5)]);
    assert_eq!(states(&bench.go()), [Idle]);
}

/// Writes that wait for one event take effect together: EN = 0 and an unlock never enable.
#[test]
fn pending_writes_take_effect_together() {
    let policy = Policy { direct_write: DirectWrite::AtSynchronisation, ..Policy::default() };
    let mut bench = Bench::policy(policy);
    bench.lock(true);
    bench.enable(1);
    bench.input(Input::OsLock { agent: S, locked: false });
    bench.write(S, Register::PRGCTLR, 0);
    assert_eq!(states(&bench.isb()), []);
    assert_eq!((bench.read(S, Register::PRGCTLR).0, bench.status()), (Some(0), 3));
}

#[test]
fn direct_writes_take_effect_at_the_event() {
    let mut bench =
        Bench::policy(Policy { direct_write: DirectWrite::AtSynchronisation, ..Policy::default() });
    assert_eq!(states(&bench.step(Stimulus::Access(write(S, Register::PRGCTLR, 1)))), []);
    assert_eq!((bench.read(S, Register::PRGCTLR).0, bench.read(X, Register::PRGCTLR).0), (Some(1), Some(0)));
    assert_eq!(states(&bench.input(Input::Barrier(Barrier::Dsb))), []);
    assert_eq!(states(&bench.input(Input::Barrier(Barrier::ExceptionReturn))), [Enabling]);
    let mut at_once = Bench::new();
    assert_eq!(states(&at_once.step(Stimulus::Access(write(S, Register::PRGCTLR, 1)))), [Enabling]);
}
