//! What inputs that move no state do in each of the states: the rest of the state table, by hand.

use traceproof_vectors::arm_ete_unit::Power;

use super::*;
use ProgrammingState::{Enabling, Idle, Running, Stable, Unstable};

/// Something for each state, in their order.
type ByState<T> = [(ProgrammingState, T); 5];

/// A model that was brought to the state holding 6 bytes, except in Idle.
fn holding(state: ProgrammingState, trace_buffer: bool) -> Bench {
    let mut bench = Bench::policy(Policy { trace_in_enabling: true, ..Policy::default() });
    bench.write(S, Register::EVENTCTL1R, 1 << 13);
    bench.trace_buffer(trace_buffer);
    if state == Idle {
        return bench;
    }
    bench.enable(1);
    bench.generate(6);
    let steps = match state {
        Idle | Enabling => 0,
        Running | Unstable => 1,
        Stable => 2,
    };
    for step in 0..steps {
        bench.go();
        if step == 0 && state != Running {
            bench.enable(0);
        }
    }
    bench
}

/// Whether bytes may leave, and whether trace is generated. Spec: ETE-SES-001 to ETE-SES-003, ETE-ZDTLK-001.
#[test]
fn bytes_in_each_state() {
    let rows: ByState<(&[u64], u64)> = [
        // Bytes that leave, TRCSTATR after that; 4 more were generated where the unit is enabled.
        (Idle, (&[], 3)),
        (Enabling, (&[10], 1)),
        (Running, (&[10], 0)),
        (Unstable, (&[6], 0)),
        (Stable, (&[6], 2)),
    ];
    for (state, (bytes, status)) in rows {
        let mut bench = holding(state, false);
        bench.generate(4);
        let found: Vec<_> = outputs(&bench.drain()).into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!((&found[..], bench.status()), (bytes, status), "{state:?}");
    }
}

/// With a sink that is blocked for ever, and with every output disabled: the states that are passed through.
///
/// Spec: ETE-CZHWF-001, ETE-TRZCP-002, ETE-NLSSL-001.
#[test]
fn progress_without_a_sink() {
    let rows: ByState<[&[ProgrammingState]; 2]> = [
        (Idle, [&[], &[]]),
        (Enabling, [&[Running], &[Running]]),
        (Running, [&[], &[]]),
        (Unstable, [&[Stable], &[Stable, Idle]]),
        (Stable, [&[], &[Idle]]),
    ];
    for (state, [blocked, disabled]) in rows {
        for (input, expected) in [
            (Input::Sink { sink: IF0, state: SinkState::Blocked }, blocked),
            (Input::Interfaces { enabled: false }, disabled),
        ] {
            let mut bench = holding(state, false);
            assert_eq!(states(&bench.input(input)), []);
            let mut found = Vec::new();
            for _ in 0..3 {
                found.extend(states(&bench.go()));
                assert_eq!(bench.drain(), [], "{state:?}, {input:?}");
            }
            assert_eq!(found, expected, "{state:?}, {input:?}");
        }
    }
}

/// A flush request is answered in every state, after the bytes that the unit holds. Spec: ETE-JLRQH-002, ETE-DKFRL-001.
#[test]
fn flush_requests_in_each_state() {
    for state in ProgrammingState::ALL {
        let mut bench = holding(state, false);
        let status = bench.status();
        let mut found = bench.input(Input::FlushRequest);
        found.extend(bench.drain());
        let mut expected = alloc::vec![Packet::Input(Input::FlushRequest)];
        if state != Idle {
            expected.push(Packet::Output { sink: IF0, bytes: 6 });
        }
        expected.push(Packet::Signal(Signal::FlushAcknowledge));
        assert_eq!((found, bench.status()), (expected, status), "{state:?}");
    }
}

/// TSB CSYNC in a prohibited region. Spec: ETE-FCBLJ-001, ETE-JLRQH-003, ETE-XLVQM-001.
#[test]
fn a_trace_synchronisation_barrier_in_each_state() {
    let tsb = Input::Barrier(Barrier::Tsb);
    for state in ProgrammingState::ALL {
        let mut bench = holding(state, true);
        let status = bench.status();
        bench.input(Input::Processor(ProcessorEvent::ProhibitedEntry));
        let flushed = Packet::Output { sink: Sink::TraceBuffer, bytes: 6 };
        let expected: &[_] =
            if state == Idle { &[Packet::Input(tsb)] } else { &[flushed, Packet::Input(tsb)] };
        assert_eq!(bench.input(tsb), expected, "{state:?}");
        bench.generate(4);
        assert_eq!((bench.drain(), bench.status()), (Vec::new(), status), "{state:?}");
    }
}

/// Writes of what is only read or absent, and of System registers of the processor.
///
/// Spec: ETE-WCXDT-001, ETE-SVSNR-001, ETE-KQMKX-001, ETE-ST-008, ETE-PRG-008.
#[test]
fn writes_without_effect_in_each_state() {
    for state in ProgrammingState::ALL {
        let mut bench = Bench::new();
        bench.bring_to(state);
        let status = bench.status();
        for name in ["TRCSTATR", "TRCIDR0", "TRCQCTLR", "0x0f0"] {
            let register: Register = name.parse().unwrap();
            assert_eq!(bench.write(S, register, 0xFFFF), Outcome::Undefined, "{name}");
            assert_eq!(bench.write(X, register, 0xFFFF), Outcome::Ok, "{name}");
        }
        for name in ["OSLAR_EL1", "TRFCR_EL1", "TRCITECR_EL1", "TRBLIMITR_EL1", "MDCR_EL2", "CPTR_EL3"] {
            assert_eq!(bench.write(S, name.parse().unwrap(), 1), Outcome::Ok, "{name}");
            bench.isb();
        }
        assert_eq!((bench.status(), states(&bench.isb())), (status, Vec::new()), "{state:?}");
        assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x10));
    }
}

/// With the OS Lock locked an external write is an error, and changes nothing in any state that it finds.
///
/// Spec: ETE-ACC-001, ETE-ACC-002.
#[test]
fn external_writes_under_the_lock() {
    for (steps, state, enable) in [(0, Idle, 0), (0, Unstable, 1), (1, Stable, 1), (2, Idle, 1)] {
        let mut bench = Bench::new();
        bench.write(S, Register::CONFIGR, 5);
        bench.write(S, Register::CLAIMSET, 2);
        if enable == 1 {
            bench.run();
            bench.lock(true);
        } else {
            bench.lock(true);
        }
        (0..steps).for_each(|_| drop(bench.go()));
        let status = bench.status();
        assert_eq!(status, [3, 1, 0, 0, 2][state as usize], "{state:?}");
        for (register, value) in [
            (Register::PRGCTLR, 1 - enable),
            (Register::CONFIGR, 7),
            (Register::CLAIMSET, 1),
            (Register::CLAIMCLR, 2),
        ] {
            assert_eq!(bench.write(X, register, value), Outcome::Error, "{register}, {state:?}");
        }
        assert_eq!(bench.status(), status);
        for (register, value) in
            [(Register::PRGCTLR, enable), (Register::CONFIGR, 5), (Register::CLAIMCLR, 2)]
        {
            assert_eq!(bench.read(S, register).0, Some(value), "{register}, {state:?}");
        }
    }
}

/// Leaving Debug state, prohibited regions and low power moves no state either. Spec: ETE-FMXFM-001, ETE-DNKDV-001.
#[test]
fn exits_in_each_state() {
    for state in ProgrammingState::ALL {
        for (entry, exit) in [
            (ProcessorEvent::DebugEntry, ProcessorEvent::DebugExit),
            (ProcessorEvent::ProhibitedEntry, ProcessorEvent::ProhibitedExit),
            (ProcessorEvent::LowPowerEntry, ProcessorEvent::LowPowerExit),
        ] {
            let mut bench = Bench::new();
            bench.bring_to(state);
            let status = bench.status();
            let mut found = bench.input(Input::Processor(entry));
            assert_eq!(bench.status(), status);
            found.extend(bench.input(Input::Processor(exit)));
            assert_eq!((states(&found), bench.status()), (Vec::new(), status), "{state:?}, {entry:?}");
        }
    }
    // The state machine goes on in them.
    let mut bench = Bench::new();
    bench.input(Input::Processor(ProcessorEvent::LowPowerEntry));
    bench.enable(1);
    assert_eq!(states(&bench.go()), [Running]);
    bench.enable(0);
    assert_eq!((states(&bench.go()), states(&bench.go())), (alloc::vec![Stable], alloc::vec![Idle]));
}

/// Without Core power every external access is an error, no byte leaves, and no instruction is executed.
#[test]
fn without_power_in_each_state() {
    for state in ProgrammingState::ALL {
        for power in [Power::Off, Power::Retention] {
            let mut bench = holding(state, false);
            bench.input(Input::Power(power));
            assert_eq!(bench.read(X, Register::PDSR), (None, Outcome::Error));
            assert_eq!(bench.write(X, Register::PRGCTLR, 0), Outcome::Error);
            assert_eq!((bench.drain(), bench.go(), bench.generate(3)), (Vec::new(), Vec::new(), Vec::new()));
            for input in [
                Input::Barrier(Barrier::Isb),
                Input::OsLock { agent: S, locked: true },
                Input::OsLock { agent: X, locked: true },
                Input::TraceFilter { prohibited: true },
                Input::TraceBuffer { enabled: true },
                Input::Processor(ProcessorEvent::DebugEntry),
                Input::ExternalAccess { etad: 1 },
                Input::Event(0),
                Input::FlushRequest,
            ] {
                assert_eq!(bench.input(input), [], "{input:?}");
                assert_eq!(bench.encoder.refused(), Some(ImpossibleStimulus::WithoutPower), "{input:?}");
            }
            assert_eq!(bench.step(Stimulus::Access(read(S, Register::STATR))), []);
            assert_eq!(bench.encoder.refused(), Some(ImpossibleStimulus::WithoutPower));
            bench.input(Input::Power(Power::On));
            let kept = power == Power::Retention;
            let status = [3, 1, 0, 0, 2][state as usize];
            assert_eq!(bench.status(), if kept { status } else { 3 }, "{state:?}, {power:?}");
            assert_eq!(
                outputs(&bench.drain()).len(),
                usize::from(kept && state != Idle),
                "{state:?}, {power:?}"
            );
        }
    }
}
