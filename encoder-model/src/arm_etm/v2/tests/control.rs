//! Begin and end, refusals, switching on and off.

use crate::arm_etm::Encoder;
use traceproof_vectors::arm_etm::{
    Architecture, ArmEtm, FEATURES, Packet, Parameters, Policy, Reason, Stimulus,
};
use traceproof_vectors::{Encoder as _, Log, Refusal};

use crate::arm_etm::tests::{And, encode, encode_plainly, execute, off, records, skip, store, wait};

fn begin(parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
    Encoder::default().begin(parameters, policy)
}

#[test]
fn every_architecture_is_claimed() {
    let claimed = Encoder::default().capabilities().features;
    for architecture in [Architecture::V1, Architecture::V2, Architecture::V3] {
        let parameters = Parameters { architecture, ..Parameters::default() };
        assert_eq!(begin(&parameters, &Policy::default()), Ok(()));
        assert!(claimed.contains(architecture.feature()), "{architecture:?}");
    }
    assert!(traceproof_vectors::Feature::names(&FEATURES).all(|feature| claimed.contains(feature)));
}

#[test]
fn impossible_parameters_are_refused() {
    let plain = Parameters::default();
    for (parameters, name) in [
        (Parameters { minor: 2, ..plain.clone() }, "minor"),
        (Parameters { port_width: 32, ..plain.clone() }, "port_width"),
        (Parameters { context_id_bytes: 3, ..plain.clone() }, "context_id_bytes"),
        (Parameters { fifo_latency: 2, ..plain }, "fifo_latency"),
    ] {
        let refusal = begin(&parameters, &Policy::default()).expect_err(name);
        assert!(matches!(refusal, Refusal::Invalid { parameter, .. } if parameter == name), "{refusal}");
    }
    for fifo_size in [0, 112] {
        let refusal = begin(&plain, &Policy { fifo_size, ..Policy::default() }).expect_err("no such FIFO");
        assert!(matches!(refusal, Refusal::Invalid { parameter: "fifo_size", .. }), "{refusal}");
    }
}

#[test]
fn an_encoder_that_was_not_started_does_nothing() {
    let mut encoder = Encoder::default();
    let mut log = Log::<ArmEtm>::default();
    encoder.step(&execute(0), &mut log);
    encoder.finish(&mut log);
    assert!(log.wire.is_empty() && log.entries.is_empty());
}

#[test]
fn a_first_cycle_that_is_traced_gets_a_tfo_before_it() {
    let expected = "TD 01, IE 20, WT 00, WT 80, WT 00, WT 00";
    for cycles in [&[execute(0x8000)][..], &[off(), execute(0x8000)]] {
        assert_eq!(records(&encode_plainly(cycles), &Parameters::default()).join(", "), expected);
    }
}

fn reasons(cycles: &[Stimulus], policy: &Policy) -> Vec<Reason> {
    encode(&Parameters::default(), policy, cycles)
        .packets()
        .filter_map(|packet| match packet {
            Packet::TraceFifoOffset { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect()
}

#[test]
fn reasons_of_tfo_packets() {
    use Reason::{DebugExit, Overflow, TraceEnabled};
    let debug = || Stimulus { debug: true, ..off() };
    let plain = Policy::default();
    let tight = Policy { fifo_size: 10, ..Policy::default() };
    let many = |cycle: Stimulus, count| std::iter::repeat_n(cycle, count).collect::<Vec<_>>();
    let too_much = || execute(0x8004).and(store(0, 0xffff_ffff));
    let sequence = |parts: &[Vec<Stimulus>]| parts.concat();
    let on = || vec![execute(0x8000)];
    for (cycles, policy, expected) in [
        (sequence(&[on(), many(off(), 9), on()]), plain, [TraceEnabled, TraceEnabled]),
        (sequence(&[on(), many(debug(), 9), on()]), plain, [TraceEnabled, DebugExit]),
        // TraceEnable comes later than the exit from debug state.
        (sequence(&[on(), many(debug(), 9), vec![off()], on()]), plain, [TraceEnabled, TraceEnabled]),
        (sequence(&[on(), vec![too_much()], many(wait(), 9), on()]), tight, [TraceEnabled, Overflow]),
        // Tracing is no longer requested when the FIFO is empty.
        (sequence(&[on(), vec![too_much()], many(off(), 9), on()]), tight, [TraceEnabled, TraceEnabled]),
        (sequence(&[on(), vec![too_much()], many(debug(), 9), on()]), tight, [TraceEnabled, Overflow]),
    ] {
        assert_eq!(reasons(&cycles, &policy), expected);
    }
}

/// ETM2-TFO-014: the eighth cycle is the second expiry; it and the next one, which holds the TFO, are lost.
#[test]
fn no_opportunity_for_a_whole_period() {
    let policy = Policy { sync_period: 4, ..Policy::default() };
    let mut cycles = vec![off()];
    cycles.extend((0..9).map(|index| skip(0x8000 + 4 * index)));
    cycles.extend([execute(0x8024), off()]);
    let log = encode(&Parameters::default(), &policy, &cycles);
    let expected = "TD 01, IN 20, IN 00, IN 80, IN 00, IN 00, IN 00, IN 00, TD 00, TD 01, IE 40, WT 24, WT 80, WT 00, \
                    WT 00";
    assert_eq!(records(&log, &Parameters::default()).join(", "), expected);
}

#[test]
fn an_idle_trigger_replaces_wt() {
    let log = encode_plainly(&[off(), off().trigger(), off()]);
    assert_eq!(records(&log, &Parameters::default()), ["TD 00", "TR 04", "TD 00"]);
}

#[test]
fn a_trigger_delays_the_tfo_value() {
    let log = encode_plainly(&[off().trigger(), execute(0x8000), execute(0x8004)]);
    let expected = "TR 07, IE 01, IE 20, WT 00, WT 80, WT 00, WT 00";
    assert_eq!(records(&log, &Parameters::default()).join(", "), expected);
}

#[test]
fn a_capture_may_begin_late() {
    let cycles = [off(), execute(0x8000), execute(0x8004)];
    let late = Policy { capture_from: 2, ..Policy::default() };
    let log = encode(&Parameters::default(), &late, &cycles);
    assert_eq!(records(&log, &Parameters::default()).join(", "), "IE 00, WT 80, WT 00, WT 00");
    assert_eq!(log.packets().count(), 1);
}
