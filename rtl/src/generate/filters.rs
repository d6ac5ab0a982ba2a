//! Filters for a case.

use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{AddressRange, CauseRange, Filter, TrapFilter};

use super::program::Code;
use super::rng::Rng;
use crate::filters::registers;
use crate::{Device, Signal};

/// Filters that the device has room for; those of the policy if it has some. Every other case has none.
pub(super) fn choose(device: &Device, code: &Code, rng: &mut Rng) -> Vec<Filter> {
    if device.ingress.filters == 0 || !device.policy.filters.is_empty() || rng.chance(96) {
        return device.policy.filters.clone();
    }
    let mut filters = Vec::new();
    for _ in 0..=rng.below(2) {
        filters.push(filter(device, code, rng));
        if registers(&filters, device.room()).is_err() {
            filters.pop();
        }
    }
    filters
}

fn filter(device: &Device, code: &Code, rng: &mut Rng) -> Filter {
    let mut filter = Filter::default();
    match rng.below(4) {
        0 if device.ingress.comparators > 0 => filter.addresses = vec![range(code, rng)],
        1 if device.ingress.comparators > 0
            && device.has(Signal::Ctype)
            && !device.parameters.nocontext_p =>
        {
            filter.contexts = vec![rng.below(2) as u64];
        }
        2 => {
            let interrupt = [None, Some(false), Some(true)];
            let first = rng.below(8) as u64;
            let causes = CauseRange { first, last: first + 7 };
            filter.trap =
                Some(TrapFilter { interrupt: rng.pick(&interrupt).flatten(), causes: vec![causes] });
        }
        _ => {
            let levels: [&[u8]; 3] = [&[0], &[3], &[0, 1]];
            filter.privileges = rng.pick(&levels).unwrap_or_default().to_vec();
        }
    }
    // Two conditions at once.
    if rng.chance(48) && filter.privileges.is_empty() {
        filter.privileges = vec![0, 3];
    }
    filter
}

/// From one branch of the ring to another one.
fn range(code: &Code, rng: &mut Rng) -> AddressRange {
    let ends = [(); 2].map(|()| rng.pick(&code.ring).unwrap_or_default());
    let (first, last) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    AddressRange { first: Address(first), last: Address(last) }
}
