//! Filters of the encoder model against flags at the ingress port: what a filter rejects is as if the port had said so.
//!
//! The flags are worked out here, step by step, from the words of the filters.

use traceproof_conformance::generate::seeded;
use traceproof_conformance::riscv_etrace::generate::{Kind, Scenario, Scope, encode, retirement, scenario};
use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{AddressRange, CauseRange, Filter, Step, SyncMode, TrapFilter};

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

/// Writes into every step whether `filters` let it pass.
fn flag(scenario: &mut Scenario, filters: &[Filter]) -> usize {
    let returns: Vec<u64> = scenario
        .program
        .instructions
        .iter()
        .filter(|(_, instruction)| instruction.kind == Kind::TrapReturn)
        .map(|(address, _)| *address)
        .collect();
    let mut nested = vec![0_u32; filters.len()];
    let mut place = 0;
    let mut rejected = 0;
    let passes = |filter: &Filter, address: u64, privilege: u8, nested: u32| {
        (filter.addresses.is_empty()
            || filter
                .addresses
                .iter()
                .any(|range| range.first <= Address(address) && address <= range.last.0))
            && (filter.privileges.is_empty() || filter.privileges.contains(&privilege))
            && (filter.trap.is_none() || nested > 0)
    };
    for step in &mut scenario.steps {
        match step {
            Step::Retire(retire) => {
                place = retire.address.0;
                let each = filters.iter().zip(&nested);
                retire.qualified =
                    each.into_iter().any(|(filter, &n)| passes(filter, place, retire.privilege, n));
                rejected += usize::from(!retire.qualified);
                if returns.contains(&place) {
                    nested.iter_mut().for_each(|nested| *nested = nested.saturating_sub(1));
                }
            }
            Step::Trap(trap) => {
                place = if trap.interrupt { place } else { trap.epc.0 };
                for (filter, nested) in filters.iter().zip(&mut nested) {
                    let awaited = filter.trap.as_ref().is_some_and(|awaited| {
                        awaited.interrupt.is_none_or(|interrupt| interrupt == trap.interrupt)
                            && (awaited.causes.is_empty()
                                || awaited
                                    .causes
                                    .iter()
                                    .any(|range| (range.first..=range.last).contains(&trap.cause)))
                    });
                    *nested += u32::from(*nested > 0 || awaited);
                }
                let each = filters.iter().zip(&nested);
                trap.qualified =
                    each.into_iter().any(|(filter, &n)| passes(filter, place, trap.privilege, n));
            }
            Step::Stimulus(_) => {}
        }
    }
    rejected
}

#[test]
fn filters_are_flags_at_the_port() {
    let (mut rejected, mut packets) = (0, 0);
    for seed in 0..400 {
        let mut plain = scenario(&seeded(seed, 900), Scope::Modes);
        // Blocks are traced whole or not at all, and the shape of the port may not count.
        plain.parameters.retires_p = 1;
        if plain.policy.sync_mode == SyncMode::Cycles {
            plain.policy.sync_mode = SyncMode::HalfWords;
        }
        plain.steps.retain(|step| {
            !matches!(step, Step::Stimulus(traceproof_vectors::riscv_etrace::Stimulus::Cycle(_)))
        });
        let mut flagged = plain.clone();
        let filters = filters(seed, plain.program.base);
        rejected += flag(&mut flagged, &filters);
        for step in &mut plain.steps {
            match step {
                Step::Retire(retire) => retire.qualified = true,
                Step::Trap(trap) => trap.qualified = true,
                Step::Stimulus(_) => {}
            }
        }
        plain.policy.filters = filters;
        let sent = |scenario: &Scenario| encode(scenario, retirement(scenario)).expect("can be encoded");
        let (expected, got) = (sent(&flagged), sent(&plain));
        packets += got.packets().count();
        assert!(expected.packets().eq(got.packets()), "seed {seed}: {:?}\n{plain}", plain.policy.filters);
        assert_eq!(expected.wire, got.wire, "seed {seed}");
    }
    assert!(rejected > 10_000 && packets > 10_000, "{rejected} rejected, {packets} packets");
}
