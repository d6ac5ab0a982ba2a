//! Addresses, encodings and register values that have something to do with each other.

use traceproof_vectors::itanium_pmu::events::{EVENTS, Qualifier, is_derived};
use traceproof_vectors::itanium_pmu::{Register, RegisterClass, SyllableType};

use crate::generate::Entropy;

/// What a scenario is about: a few addresses and encodings that recur with single bits changed.
#[derive(Clone, Debug)]
pub(super) struct World {
    addresses: [u64; 4],
    encodings: [u64; 3],
    /// What the counters mostly count.
    events: [(u8, u8); 3],
}

/// Encodings of 41 bits, and the key bits of 27 that opcode matching compares.
const ENCODING: u64 = (1 << 41) - 1;

/// Events that a counter is set to: the ones that follow from the rest, and one or two of each qualifier.
const POPULAR: [(u8, u8); 16] = [
    (0x08, 3),
    (0x08, 2),
    (0x08, 0),
    (0x12, 0),
    (0x23, 0),
    (0x67, 0),
    (0x30, 0),
    (0x31, 0),
    (0x6c, 0),
    (0x63, 0),
    (0x24, 0),
    (0x2d, 0),
    (0x00, 0),
    (0x0d, 1),
    (0x7c, 0),
    (0x08, 1),
];

impl World {
    pub(super) fn new(entropy: &mut Entropy<'_>) -> Self {
        let first = canonical(entropy.word());
        let near = first ^ (1 << (4 + entropy.below(20)));
        let far = canonical(entropy.word());
        // The same place in the other half of the region.
        let mirrored = canonical(first ^ (1 << 50));
        Self {
            addresses: [first & !0xf, near & !0xf, far & !0xf, mirrored & !0xf],
            encodings: std::array::from_fn(|_| entropy.word() & ENCODING),
            events: std::array::from_fn(|_| entropy.pick(&POPULAR)),
        }
    }

    /// An address of the world, often with one or two bits changed, of those that are compared in unusual ways more
    /// often.
    pub(super) fn address(&self, entropy: &mut Entropy<'_>) -> u64 {
        let mut address = entropy.pick(&self.addresses);
        if entropy.chance(150) {
            address ^= 1 << bit(entropy);
        }
        if entropy.chance(40) {
            address ^= 1 << bit(entropy);
        }
        address
    }

    /// An address of code: mostly that of a bundle.
    pub(super) fn ip(&self, entropy: &mut Entropy<'_>) -> u64 {
        let address = self.address(entropy);
        if entropy.chance(16) { address } else { address & !0xf }
    }

    /// A syllable, often with one bit changed.
    pub(super) fn encoding(&self, entropy: &mut Entropy<'_>) -> u64 {
        let encoding = entropy.pick(&self.encodings);
        if entropy.chance(128) { encoding ^ (1 << entropy.below(41)) } else { encoding }
    }

    pub(super) fn syllable_type(entropy: &mut Entropy<'_>) -> SyllableType {
        if entropy.chance(30) {
            entropy.pick(&[SyllableType::X, SyllableType::Ia32])
        } else {
            entropy.pick(&[SyllableType::M, SyllableType::I, SyllableType::F, SyllableType::B])
        }
    }

    /// A named event whose occurrences are stated, with its qualifier.
    pub(super) fn event(&self, entropy: &mut Entropy<'_>) -> (u8, u8, Qualifier) {
        let (es, umask) = match entropy.below(8) {
            0 => {
                let row = EVENTS[entropy.below(EVENTS.len())];
                (row.es, row.umask)
            }
            1 => entropy.pick(&POPULAR),
            _ => entropy.pick(&self.events),
        };
        match EVENTS.iter().find(|row| (row.es, row.umask) == (es, umask)) {
            Some(row) if !is_derived(es) => (es, umask, row.qualifier),
            _ => (0, 0, Qualifier::None),
        }
    }

    /// What software writes into a register.
    pub(super) fn value(&self, register: Register, entropy: &mut Entropy<'_>) -> u64 {
        if entropy.chance(8) {
            return entropy.word();
        }
        match (register.class, register.index) {
            (RegisterClass::Pmc, 0) => u64::from(entropy.pick(&[0u8, 0, 0, 1, 0x10, 0xf0, 0x31])),
            (RegisterClass::Pmc, 4..=7) => self.counter_configuration(entropy),
            (RegisterClass::Pmc, 8 | 9) => self.opcode_match(entropy),
            (RegisterClass::Pmc, 10 | 11) => ear_configuration(entropy),
            (RegisterClass::Pmc, 13) => u64::from(entropy.chance(80)),
            (RegisterClass::Pmd, 4..=7) => {
                let short = entropy.pick(&[0u8, 1, 2, 3, 5, 9, 30, 200]);
                if entropy.chance(128) { short.into() } else { u64::from(u32::MAX - u32::from(short)) }
            }
            (RegisterClass::Ibr | RegisterClass::Dbr, index) if index % 2 == 0 => self.address(entropy),
            (RegisterClass::Ibr | RegisterClass::Dbr, _) => breakpoint_mask(entropy),
            (RegisterClass::Psr, _) => processor_status(entropy),
            (RegisterClass::Pmv, _) => u64::from(entropy.chance(60)) << 16 | 0x30,
            _ => entropy.word(),
        }
    }

    /// A pattern that one of the encodings meets, but for what is masked.
    fn opcode_match(&self, entropy: &mut Entropy<'_>) -> u64 {
        let encoding = self.encoding(entropy);
        let key = encoding >> 27 << 13 | encoding & 0x1fff;
        let mask = match entropy.below(5) {
            0 => 0x7ff_ffff,
            1 => 0,
            2 => 1 << entropy.below(27),
            3 => (1 << entropy.below(28)) - 1,
            _ => entropy.word() & 0x7ff_ffff,
        };
        let types = if entropy.chance(100) { 0xf } else { u64::from(entropy.byte() & 0xf) };
        types << 60 | key << 33 | mask << 3
    }

    fn counter_configuration(&self, entropy: &mut Entropy<'_>) -> u64 {
        let any = entropy.chance(40);
        let (es, umask) = if any { entropy.pick(&POPULAR) } else { entropy.pick(&self.events) };
        let plm = levels(entropy);
        let flags = u64::from(entropy.chance(100)) << 5 | u64::from(entropy.byte() & 5) << 4;
        let threshold = if entropy.chance(60) { u64::from(entropy.byte() & 7) } else { 0 };
        u64::from(umask) << 16
            | u64::from(es) << 8
            | threshold << 20
            | instruction_sets(entropy)
            | flags
            | plm
    }
}

/// Bits {60:51} copies of bit 50.
fn canonical(address: u64) -> u64 {
    const UNIMPLEMENTED: u64 = 0x1ff8_0000_0000_0000;
    if address >> 50 & 1 == 1 { address | UNIMPLEMENTED } else { address & !UNIMPLEMENTED }
}

/// A bit of an address: of those around the unimplemented ones as often as of the others.
fn bit(entropy: &mut Entropy<'_>) -> usize {
    if entropy.chance(128) { 49 + entropy.below(15) } else { entropy.below(49) }
}

fn ear_configuration(entropy: &mut Entropy<'_>) -> u64 {
    let flags = u64::from(entropy.byte() & 3) << 6;
    let umask = u64::from(entropy.byte() & 0xf) << 16;
    levels(entropy) | flags | umask | instruction_sets(entropy) | u64::from(entropy.chance(128)) << 28
}

fn levels(entropy: &mut Entropy<'_>) -> u64 {
    if entropy.chance(180) { 0xf } else { u64::from(entropy.byte() & 0xf) }
}

fn instruction_sets(entropy: &mut Entropy<'_>) -> u64 {
    if entropy.chance(180) { 0 } else { u64::from(entropy.byte() & 3) << 24 }
}

fn breakpoint_mask(entropy: &mut Entropy<'_>) -> u64 {
    let all = (1u64 << 56) - 1;
    let mut mask = match entropy.below(4) {
        0 => all,
        1 => 0,
        _ => all & !((1 << entropy.below(57)) - 1),
    };
    if entropy.chance(80) {
        mask ^= 1 << entropy.below(56);
    }
    let breakpoint = if entropy.chance(12) { u64::from(entropy.byte() & 3) << 62 } else { 0 };
    mask | levels(entropy) << 56 | breakpoint
}

fn processor_status(entropy: &mut Entropy<'_>) -> u64 {
    let level = u64::from(entropy.byte() & 3) << 32;
    let started = if entropy.chance(200) { 1 << 2 | 1 << 21 } else { u64::from(entropy.byte() & 1) << 2 };
    let rare = u64::from(entropy.chance(20)) << 24 | u64::from(entropy.chance(25)) << 34;
    level | started | rare | u64::from(entropy.chance(30)) << 20
}
