//! How the range check of data is made wrong: what is reported of accesses.

use traceproof_vectors::Entry;
use traceproof_vectors::itanium_pmu::{
    AccessKind, Contents, Event, ItaniumPmu, Packet, Parameters, RegisterClass,
};

use super::decoding::contents;
use crate::saboteurs::decoders::Results;

/// Address and mask of a pair of data breakpoint registers.
type Pair = (u64, u64);

/// Whether a pair matches an address: {60:51} of the address are copies of bit 50, {63:56} are always compared.
const fn is_match((compared, mask): Pair, address: u64) -> bool {
    let copies = 0x3ff << 51;
    let address = if address >> 50 & 1 == 0 { address & !copies } else { address | copies };
    (compared ^ address) & (mask | 0xff << 56) == 0
}

pub(super) fn zeroed_pairs_match_nothing(_: &Parameters) -> Results<ItaniumPmu> {
    let (mut pairs, mut passes, mut address) = ([(0, 0); 4], true, 0);
    Box::new(move |mut entry| {
        match contents(&entry) {
            Some(Contents::BreakpointAddress { register, addr }) if register.class == RegisterClass::Dbr => {
                pairs[usize::from((register.index / 2) & 3)].0 = addr.0;
            }
            Some(Contents::DataBreakpointMask { register, mask, .. }) => {
                pairs[usize::from((register.index / 2) & 3)].1 = mask;
            }
            Some(Contents::DataEarConfiguration { pt, .. }) => passes = pt,
            _ => {}
        }
        match &mut entry {
            Entry::Packet(Packet::Reset) => (pairs, passes) = ([(0, 0); 4], true),
            Entry::Packet(Packet::Access(access)) => address = access.address.0,
            Entry::Event(Event::DataTag { matched, tag }) => {
                let is_hit = pairs.iter().any(|pair| *pair != (0, 0) && is_match(*pair, address));
                *matched &= is_hit;
                *tag &= passes || is_hit;
            }
            _ => {}
        }
        Some(entry)
    })
}

pub(super) fn prefetches_are_not_tagged(_: &Parameters) -> Results<ItaniumPmu> {
    let mut is_prefetch = false;
    Box::new(move |mut entry| {
        match &mut entry {
            Entry::Packet(Packet::Access(access)) => is_prefetch = access.kind == AccessKind::Lfetch,
            Entry::Event(Event::DataTag { tag, .. }) => *tag &= !is_prefetch,
            _ => {}
        }
        Some(entry)
    })
}

pub(super) fn walks_pass_with_pt(_: &Parameters) -> Results<ItaniumPmu> {
    let (mut is_walk, mut passes) = (false, true);
    Box::new(move |mut entry| {
        if let Some(Contents::DataEarConfiguration { pt, .. }) = contents(&entry) {
            passes = pt;
        }
        match &mut entry {
            Entry::Packet(Packet::Reset) => passes = true,
            Entry::Packet(Packet::Access(access)) => {
                is_walk = matches!(access.kind, AccessKind::Rse | AccessKind::Vhpt);
            }
            Entry::Event(Event::DataTag { tag, .. }) => *tag |= is_walk && passes,
            _ => {}
        }
        Some(entry)
    })
}
