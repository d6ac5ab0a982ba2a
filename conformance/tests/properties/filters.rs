//! Filters of the encoder model against trigger pulses: what a filter rejects is as if it lay between trace-off and
//! trace-on.
//!
//! Where the pulses belong is worked out from the words of the filters, without the model.

use traceproof_conformance::generate::seeded;
use traceproof_conformance::riscv_etrace::generate::{Scenario, Scope, encode, retirement, scenario};
use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{
    AddressRange, CauseRange, Cycle, Filter, Step, Stimulus, SyncMode, TrapFilter,
};

/// A filter of each kind, and some mixtures, for a program that starts at `base`.
fn filters(seed: u64, base: u64) -> Vec<Filter> {
    let range = |from: u64, to: u64| AddressRange { first: Address(base + from), last: Address(base + to) };
    let addresses = Filter { addresses: vec![range(8, 40), range(60, 60)], ..Filter::default() };
    let levels = Filter { privileges: vec![0, 3], ..Filter::default() };
    let causes = TrapFilter { interrupt: None, causes: vec![CauseRange { first: 2, last: 7 }] };
    let traps = Filter { trap: Some(causes), ..Filter::default() };
    let interrupts = Filter {
        trap: Some(TrapFilter { interrupt: Some(true), ..TrapFilter::default() }),
        ..levels.clone()
    };
    match seed % 5 {
        0 => vec![addresses],
        1 => vec![levels],
        2 => vec![traps],
        3 => vec![interrupts, addresses],
        _ => vec![Filter { trap: traps.trap, ..addresses }],
    }
}

/// The same execution with trigger pulses in place of the filters; how many steps lie between off and on.
fn pulsed(filtered: &Scenario) -> (Scenario, usize) {
    let mut pulsed = filtered.clone();
    pulsed.policy.filters.clear();
    pulsed.steps.clear();
    let (mut on, mut rejected) = (true, 0);
    for (step, passes) in filtered.steps.iter().zip(filtered.qualified()) {
        if !matches!(step, Step::Stimulus(_)) {
            if passes != on {
                let pulse = Cycle { trace_on: passes, trace_off: !passes, ..Cycle::default() };
                pulsed.steps.push(Step::Stimulus(Stimulus::Cycle(pulse)));
            }
            on = passes;
            rejected += usize::from(!passes);
        }
        pulsed.steps.push(step.clone());
    }
    (pulsed, rejected)
}

#[test]
fn filters_are_trigger_pulses() {
    let (mut rejected, mut packets) = (0, 0);
    for seed in 0..400 {
        let mut filtered = scenario(&seeded(seed, 900), Scope::Modes);
        // Cycles in which only a pulse comes would count.
        if filtered.policy.sync_mode == SyncMode::Cycles {
            filtered.policy.sync_mode = SyncMode::HalfWords;
        }
        filtered.steps.retain(|step| !matches!(step, Step::Stimulus(Stimulus::Cycle(_))));
        filtered.policy.filters = filters(seed, filtered.program.base);
        let (pulsed, outside) = pulsed(&filtered);
        rejected += outside;
        let sent = |scenario: &Scenario| encode(scenario, retirement(scenario)).expect("can be encoded");
        let (expected, got) = (sent(&pulsed), sent(&filtered));
        packets += got.packets().count();
        assert!(
            expected.packets().eq(got.packets()),
            "seed {seed}: {:?}\n{filtered}",
            filtered.policy.filters
        );
        assert_eq!(expected.wire, got.wire, "seed {seed}");
    }
    assert!(rejected > 10_000 && packets > 10_000, "{rejected} rejected, {packets} packets");
}
