//! Where bytes go: the table of sinks, bytes in flight, the trace buffer unit, and that nothing leaves in Idle.

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{Interpretation, Power};

use super::*;
use ProgrammingState::{Idle, Stable};

/// One row of the table of sinks: the values of each column that it stands for, and the sink.
struct Row {
    trace_buffer: &'static [bool],
    interfaces: &'static [u8],
    implemented: &'static [bool],
    enabled: &'static [bool],
    off: &'static [bool],
    sink: Option<Sink>,
}

const ANY: &[bool] = &[false, true];
const NO: &[bool] = &[false];
const YES: &[bool] = &[true];

const TABLE: [Row; 6] = [
    Row {
        trace_buffer: YES,
        interfaces: &[0, 1],
        implemented: ANY,
        enabled: ANY,
        off: ANY,
        sink: Some(Sink::TraceBuffer),
    },
    Row { trace_buffer: NO, interfaces: &[0], implemented: ANY, enabled: ANY, off: ANY, sink: None },
    Row { trace_buffer: NO, interfaces: &[1], implemented: YES, enabled: NO, off: ANY, sink: None },
    Row { trace_buffer: NO, interfaces: &[1], implemented: YES, enabled: YES, off: NO, sink: Some(IF0) },
    Row { trace_buffer: NO, interfaces: &[1], implemented: NO, enabled: ANY, off: NO, sink: Some(IF0) },
    Row { trace_buffer: NO, interfaces: &[1], implemented: NO, enabled: ANY, off: YES, sink: None },
];

/// Spec: ETE-SVDBD-001, ETE-LGVCX-001, ETE-LGVCX-002, ETE-FJFNS-001, ETE-FTSZG-001, ETE-FTSZG-002, ETE-PJYKY-001,
/// ETE-PJYKY-002, ETE-MMCKW-001, ETE-NLSSL-001.
#[test]
fn every_row_of_the_table_of_sinks() {
    let mut sessions = 0;
    for row in TABLE {
        for trace_buffer in row.trace_buffer {
            for interfaces in row.interfaces {
                for implemented in row.implemented {
                    for enabled in row.enabled {
                        for off in row.off {
                            let found = session(*trace_buffer, *interfaces, *implemented, *enabled, *off);
                            let expected: Vec<_> = row.sink.map(|sink| (sink, 7)).into_iter().collect();
                            assert_eq!(
                                found, expected,
                                "{trace_buffer} {interfaces} {implemented} {enabled} {off}"
                            );
                            sessions += 1;
                        }
                    }
                }
            }
        }
    }
    // The 32nd, OE = 1 with the interfaces disabled by their own mechanism, is not settled.
    assert_eq!(sessions, 31);
}

/// The bytes of a session of 7 bytes; Idle is reached.
fn session(
    trace_buffer: bool,
    interfaces: u8,
    implemented: bool,
    enabled: bool,
    off: bool,
) -> Vec<(Sink, u64)> {
    let parameters = Parameters {
        version: Version::Ete1_2,
        interfaces,
        output_enable: implemented,
        ..Parameters::default()
    };
    let mut bench = Bench::with(parameters, Policy::default());
    bench.write(S, Register::EVENTCTL1R, u64::from(enabled) << 13);
    bench.trace_buffer(trace_buffer);
    bench.input(Input::Interfaces { enabled: !off });
    bench.enable(1);
    bench.go();
    bench.generate(7);
    let found = outputs(&bench.drain());
    bench.generate(3);
    bench.enable(0);
    assert!(!bench.poll(S, StatusBit::Idle, true).timed_out);
    assert_eq!(bench.status(), 3);
    found
}

#[test]
fn disabled_interfaces_with_output_enabled() {
    for (disabled_interfaces_output, disabled_interfaces_are_silent, count) in
        [(false, false, 0), (true, false, 1), (true, true, 0)]
    {
        let interpretation = Interpretation { disabled_interfaces_are_silent, ..Interpretation::default() };
        let parameters = Parameters { interpretation, ..Parameters::default() };
        let mut bench = Bench::with(parameters, Policy { disabled_interfaces_output, ..Policy::default() });
        bench.input(Input::Interfaces { enabled: false });
        bench.run();
        bench.generate(7);
        assert_eq!(outputs(&bench.drain()).len(), count);
    }
}

/// Spec: ETE-RT-001.
#[test]
fn several_interfaces() {
    let three = Parameters { interfaces: 3, ..Parameters::default() };
    for (interface_mask, expected) in [(0, &[0, 1, 2][..]), (0b101, &[0, 2]), (0b1000, &[0, 1, 2])] {
        let mut bench = Bench::with(three.clone(), Policy { interface_mask, ..Policy::default() });
        bench.run();
        bench.generate(4);
        let expected: Vec<_> = expected.iter().map(|n| (Sink::Interface(*n), 4)).collect();
        assert_eq!(outputs(&bench.drain()), expected);
    }
    // One that is blocked holds the bytes of all.
    let mut bench = Bench::with(three, Policy::default());
    bench.run();
    bench.generate(4);
    bench.input(Input::Sink { sink: Sink::Interface(2), state: SinkState::Blocked });
    assert_eq!(outputs(&bench.drain()), []);
    let most = Parameters { interfaces: 15, ..Parameters::default() };
    let mut bench = Bench::with(most, Policy { interface_mask: 1 << 14, ..Policy::default() });
    bench.run();
    bench.generate(4);
    assert_eq!(outputs(&bench.drain()), [(Sink::Interface(14), 4)]);
}

/// Spec: ETE-RT-002, ETE-RT-003, ETE-YMVZL-001, ETE-LNTVR-001, ETE-HNTLG-001.
#[test]
fn the_trace_buffer_unit() {
    let hosted = |self_hosted, trace_buffer_external| Parameters {
        self_hosted,
        trace_buffer_external,
        ..Parameters::default()
    };
    let none = Parameters { trace_buffer: false, ..Parameters::default() };
    for (parameters, sink) in [
        (hosted(true, false), Sink::TraceBuffer),
        (hosted(false, false), IF0),
        (hosted(false, true), Sink::TraceBuffer),
        (none, IF0),
    ] {
        let mut bench = Bench::with(parameters, Policy::default());
        bench.trace_buffer(true);
        bench.run();
        bench.generate(4);
        assert_eq!(outputs(&bench.drain()), [(sink, 4)]);
    }
    let state = |state| Input::Sink { sink: Sink::TraceBuffer, state };
    let mut bench = Bench::policy(Policy { buffer: 4, ..Policy::default() });
    bench.trace_buffer(true);
    bench.run();
    // Rejected trace is kept, then sent.
    bench.input(state(SinkState::Blocked));
    bench.generate(4);
    assert_eq!(outputs(&bench.drain()), []);
    bench.input(state(SinkState::Accepting));
    assert_eq!(outputs(&bench.drain()), [(Sink::TraceBuffer, 4)]);
    // A stopped one discards: no byte anywhere, no overflow, and Idle is reached.
    bench.input(state(SinkState::Stopped));
    assert_eq!(signals(&bench.generate(400)), []);
    bench.enable(0);
    assert_eq!(outputs(&bench.drain()), []);
    assert!(!bench.poll(X, StatusBit::Idle, true).timed_out);
}

/// Spec: ETE-OE-RST-001.
#[test]
fn nothing_reaches_the_interface_after_a_reset() {
    let mut bench = Bench::policy(Policy { unknown: u64::MAX, ..Policy::default() });
    bench.write(S, Register::EVENTCTL1R, 1 << 13);
    bench.input(Input::Reset(Reset::TraceUnit));
    bench.enable(1);
    bench.go();
    bench.generate(5);
    assert_eq!(outputs(&bench.drain()), []);
}

/// TRBLIMITR_EL1.E changes with 6 bytes in the buffers; 3 come after it.
#[test]
fn bytes_in_flight() {
    let trbu = Sink::TraceBuffer;
    let rows: [(_, &[_], &[_]); 4] = [
        // Disabled, enabled.
        (InFlight::New, &[(IF0, 9)], &[(trbu, 9)]),
        (InFlight::Old, &[(trbu, 6), (IF0, 3)], &[(trbu, 3), (IF0, 6)]),
        (InFlight::Both, &[(trbu, 6), (IF0, 9)], &[(trbu, 9), (IF0, 6)]),
        (InFlight::Discarded, &[(IF0, 3)], &[(trbu, 3)]),
    ];
    for direct_write in DirectWrite::ALL {
        for (in_flight, disabled, enabled) in rows {
            for (to, expected) in [(false, disabled), (true, enabled)] {
                let policy = Policy { in_flight, direct_write: *direct_write, ..Policy::default() };
                let mut bench = Bench::policy(policy);
                bench.trace_buffer(!to);
                bench.run();
                bench.generate(6);
                bench.trace_buffer(to);
                bench.generate(3);
                assert_eq!(outputs(&bench.drain()), expected, "{in_flight:?} to {to}");
                bench.generate(2);
                let sink = if to { trbu } else { IF0 };
                assert_eq!(outputs(&bench.drain()), [(sink, 2)], "{in_flight:?} to {to}");
            }
        }
    }
}

/// Spec: ETE-FTSZG-002, ETE-RT-003.
#[test]
fn bytes_in_flight_do_not_reach_what_is_disabled() {
    let older = Parameters { version: Version::Ete1_2, output_enable: false, ..Parameters::default() };
    let mut bench = Bench::with(older, Policy { in_flight: InFlight::Old, ..Policy::default() });
    bench.run();
    bench.generate(6);
    bench.trace_buffer(true);
    bench.input(Input::Interfaces { enabled: false });
    assert_eq!(outputs(&bench.drain()), []);
    // Without a change nothing is in flight; after one, a TSB CSYNC that does not flush ends nothing.
    let mut bench = Bench::policy(Policy { in_flight: InFlight::Old, ..Policy::default() });
    bench.trace_buffer(true);
    bench.run();
    bench.generate(6);
    bench.trace_buffer(true);
    bench.generate(1);
    bench.input(Input::TraceBuffer { enabled: false });
    bench.input(Input::Barrier(Barrier::Tsb));
    bench.isb();
    assert_eq!(outputs(&bench.drain()), [(Sink::TraceBuffer, 7)]);
}

/// The procedure of software leaves nothing in flight. Spec: ETE-JLRQH-003, ETE-XLVQM-001, ETE-FCBLJ-001.
#[test]
fn a_barrier_in_a_prohibited_region_flushes() {
    for direct_write in DirectWrite::ALL {
        let policy = Policy { in_flight: InFlight::Old, direct_write: *direct_write, ..Policy::default() };
        let mut bench = Bench::policy(policy);
        let tsb = Input::Barrier(Barrier::Tsb);
        bench.trace_buffer(true);
        bench.run();
        bench.generate(6);
        // Neither outside of a prohibited region, nor before TRFCR_ELx is in effect.
        assert_eq!(bench.input(tsb), [Packet::Input(tsb)]);
        bench.input(Input::TraceFilter { prohibited: true });
        assert_eq!(bench.input(tsb), [Packet::Input(tsb)]);
        assert_eq!(signals(&bench.isb()), [Signal::Resources(Resources::Paused)]);
        // It waits for the sink, and has no effect before.
        bench.input(Input::Sink { sink: Sink::TraceBuffer, state: SinkState::Blocked });
        assert_eq!(bench.input(tsb), []);
        assert_eq!(bench.encoder.refused(), Some(ImpossibleStimulus::BarrierWaits));
        bench.input(Input::Sink { sink: Sink::TraceBuffer, state: SinkState::Accepting });
        let flushed = Packet::Output { sink: Sink::TraceBuffer, bytes: 6 };
        assert_eq!(bench.input(tsb), [flushed, Packet::Input(tsb)]);
        assert_eq!(bench.encoder.refused(), None);
        assert_eq!(bench.generate(5), []);
        assert_eq!(bench.drain(), []);
        bench.trace_buffer(false);
        bench.input(Input::TraceFilter { prohibited: false });
        assert_eq!(signals(&bench.isb()), [Signal::Resources(Resources::Running)]);
        bench.generate(2);
        assert_eq!(outputs(&bench.drain()), [(IF0, 2)]);
    }
}

/// A TSB CSYNC that has to wait for the second of two sinks leaves the first one's bytes where they are.
#[test]
fn a_barrier_that_waits_has_no_effect() {
    let mut bench = Bench::policy(Policy { in_flight: InFlight::Old, ..Policy::default() });
    bench.run();
    bench.generate(6);
    bench.trace_buffer(true);
    bench.generate(3);
    bench.input(Input::Sink { sink: Sink::TraceBuffer, state: SinkState::Blocked });
    bench.input(Input::Processor(ProcessorEvent::ProhibitedEntry));
    assert_eq!(bench.input(Input::Barrier(Barrier::Tsb)), []);
    assert_eq!(bench.encoder.refused(), Some(ImpossibleStimulus::BarrierWaits));
    assert_eq!(outputs(&bench.step(Stimulus::Drain { bytes: Some(1) })), [(IF0, 1)]);
    assert_eq!(outputs(&bench.drain()), [(IF0, 5)]);
    assert_eq!(outputs(&bench.drain()), []);
}

/// A TSB CSYNC waits only for the sinks of what is held: here all of it is in flight to the other one.
#[test]
fn a_barrier_waits_for_no_other_sink() {
    let mut bench = Bench::policy(Policy { in_flight: InFlight::Old, ..Policy::default() });
    bench.run();
    bench.generate(6);
    bench.trace_buffer(true);
    bench.input(Input::Sink { sink: Sink::TraceBuffer, state: SinkState::Blocked });
    bench.input(Input::Processor(ProcessorEvent::ProhibitedEntry));
    assert_eq!(outputs(&bench.input(Input::Barrier(Barrier::Tsb))), [(IF0, 6)]);
    assert_eq!(bench.encoder.refused(), None);
}

/// An Overflow element without room is not in flight with what fills the buffers; with room it is.
#[test]
fn an_overflow_element_enters_when_there_is_room() {
    for (leave, expected) in [(0, [(Sink::TraceBuffer, 2), (IF0, 10)]), (2, [(IF0, 10), (IF0, 0)])] {
        let mut bench = Bench::policy(Policy { in_flight: InFlight::Old, buffer: 10, ..Policy::default() });
        bench.run();
        bench.generate(12);
        assert_eq!(
            outputs(&bench.step(Stimulus::Drain { bytes: Some(leave) })).len(),
            usize::from(leave > 0)
        );
        bench.trace_buffer(true);
        let expected: Vec<_> = expected.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
        assert_eq!(outputs(&bench.drain()), expected);
    }
}

/// Without the trace buffer unit a TSB CSYNC finishes without a flush, and what comes after it still leaves.
#[test]
fn a_barrier_without_the_trace_buffer_unit() {
    let mut bench = Bench::new();
    bench.run();
    bench.generate(6);
    bench.input(Input::Processor(ProcessorEvent::ProhibitedEntry));
    bench.input(Input::Sink { sink: IF0, state: SinkState::Blocked });
    let tsb = Input::Barrier(Barrier::Tsb);
    assert_eq!(bench.input(tsb), [Packet::Input(tsb)]);
    bench.input(Input::Sink { sink: IF0, state: SinkState::Accepting });
    assert_eq!(outputs(&bench.drain()), [(IF0, 6)]);
}

/// Spec: ETE-YYHBF-001, ETE-QJKVW-001, ETE-SES-001.
#[test]
fn resets_and_bytes() {
    // A Warm reset keeps the bytes and the path of the interface, and disables the trace buffer unit.
    for trace_buffer in [false, true] {
        let mut bench = Bench::new();
        bench.trace_buffer(trace_buffer);
        bench.run();
        bench.generate(5);
        let packets = bench.input(Input::Reset(Reset::Warm));
        assert_eq!((states(&packets), outputs(&packets)), (Vec::new(), Vec::new()));
        assert_eq!(outputs(&bench.drain()), [(IF0, 5)]);
        // TRFCR_ELx prohibits after it.
        bench.generate(4);
        assert_eq!(outputs(&bench.drain()), []);
        bench.input(Input::TraceFilter { prohibited: false });
        bench.isb();
        bench.generate(4);
        assert_eq!(outputs(&bench.drain()), [(IF0, 4)]);
    }
    // Bytes in flight to the trace buffer go where the choice says; nothing is in flight after TSB CSYNC.
    for (prohibited, sink) in [(false, Sink::TraceBuffer), (true, IF0)] {
        let mut bench = Bench::policy(Policy { in_flight: InFlight::Old, ..Policy::default() });
        bench.run();
        bench.generate(5);
        bench.filter(prohibited);
        if prohibited {
            bench.input(Input::Barrier(Barrier::Tsb));
        }
        bench.trace_buffer(true);
        bench.input(Input::Reset(Reset::Warm));
        assert_eq!(outputs(&bench.drain()), [(sink, 5)], "{prohibited}");
    }
    for input in [Input::Reset(Reset::TraceUnit), Input::Reset(Reset::Cold), Input::Power(Power::Off)] {
        let mut bench = Bench::new();
        bench.run();
        bench.generate(5);
        assert_eq!(states(&bench.input(input)), [Idle]);
        bench.input(Input::Power(Power::On));
        assert_eq!(outputs(&bench.drain()), []);
    }
    // In retention no byte leaves, and nothing moves on.
    let mut bench = Bench::new();
    bench.run();
    bench.generate(5);
    bench.enable(0);
    bench.go();
    bench.input(Input::Power(Power::Retention));
    assert_eq!((bench.drain(), bench.go()), (Vec::new(), Vec::new()));
    bench.input(Input::Power(Power::On));
    assert_eq!(bench.status(), 2);
    assert_eq!(outputs(&bench.drain()), [(IF0, 5)]);
    assert_eq!(states(&bench.go()), [Idle]);
}

/// Spec: ETE-TNYDD-001, ETE-TRZCP-001, ETE-SES-001.
#[test]
fn drained_in_parts() {
    let mut bench = Bench::new();
    bench.run();
    bench.generate(5);
    bench.enable(0);
    assert_eq!(outputs(&bench.step(Stimulus::Drain { bytes: Some(2) })), [(IF0, 2)]);
    assert_eq!((states(&bench.go()), states(&bench.go())), (alloc::vec![Stable], Vec::new()));
    assert_eq!(bench.generate(9), []);
    assert_eq!(outputs(&bench.step(Stimulus::Drain { bytes: Some(0) })), []);
    assert_eq!(outputs(&bench.step(Stimulus::Drain { bytes: Some(9) })), [(IF0, 3)]);
    assert_eq!(states(&bench.go()), [Idle]);
    assert_eq!(outputs(&bench.drain()), []);
}
