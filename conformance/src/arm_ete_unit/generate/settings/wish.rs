//! Any trace unit, and anything that is asked of it: numbers at their limits, and sometimes beyond.

use traceproof_encoder_model::arm_ete_unit::settings::{AddressRange, Levels, Output, Stall, TraceRequest};
use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::Parameters;

use crate::generate::Entropy;

/// Ends of the virtual addresses, and places inside of an instruction.
const PLACES: [u64; 14] = [
    0,
    2,
    4,
    1,
    0x40_0000,
    0x40_0002,
    0x00FF_FFFF_FFFF_FFFC,
    0x0100_0000_0000_0000,
    0x0100_0000_0000_0004,
    0x7F00_0000_0000_0000,
    0xFEFF_FFFF_FFFF_FFFC,
    0xFF00_0000_0000_0000,
    0xFFFF_FFFF_FFFF_FFFC,
    u64::MAX,
];

/// One of the numbers that there are, seldom one that there is not.
fn number(entropy: &mut Entropy<'_>, usual: &[u8], beyond: u8) -> u8 {
    if entropy.chance(2) { beyond } else { entropy.pick(usual) }
}

/// A trace unit with any number of each resource.
pub(super) fn unit(entropy: &mut Entropy<'_>) -> Parameters {
    let version = entropy.pick(&[
        Version::Ete1_3,
        Version::Etmv4_6,
        Version::Ete1_2,
        Version::Etmv4_0,
        Version::Ete1_0,
    ]);
    let interfaces = number(entropy, &[1, 1, 1, 0, 2, 15], 16);
    let mandatory = version >= Version::Ete1_3 && interfaces > 0;
    let atb = entropy.chance(128);
    Parameters {
        version,
        interfaces,
        atb,
        trace_buffer: !entropy.chance(48),
        trace_buffer_external: entropy.chance(128),
        realms: entropy.chance(128),
        self_hosted: !entropy.chance(64),
        output_enable: if mandatory { !entropy.chance(4) } else { entropy.chance(128) },
        trace_id: if atb && interfaces > 0 { !entropy.chance(4) } else { entropy.chance(128) },
        events: number(entropy, &[4, 1], 5),
        q_filter: entropy.chance(80),
        instrumentation: entropy.chance(80),
        fixed_sync_period: entropy.chance(64),
        stall_control: !entropy.chance(64),
        system_stall: !entropy.chance(64),
        no_overflow: !entropy.chance(64),
        address_pairs: number(entropy, &[4, 8, 0, 1, 7, 2], 9),
        pe_comparators: number(entropy, &[0, 1, 8], 9),
        resource_pairs: number(entropy, &[8, 0, 1, 2, 16], 17),
        single_shot: number(entropy, &[1, 0, 8], 9),
        context_ids: number(entropy, &[1, 0, 4, 5, 8], 9),
        vmids: number(entropy, &[1, 0, 4, 5, 8], 9),
        external_inputs: number(entropy, &[4, 0, 1], 5),
        sequencer: entropy.chance(128),
        counters: number(entropy, &[2, 0, 1, 4], 5),
        claim_tags: number(entropy, &[4, 0, 1, 2, 32], 33),
        ..Parameters::default()
    }
}

/// What is asked of it.
pub(super) fn request(entropy: &mut Entropy<'_>, unit: &Parameters) -> TraceRequest {
    let thumb = entropy.chance(128);
    let pairs = usize::from(unit.address_pairs);
    let count = if entropy.chance(12) { pairs + 1 } else { entropy.below(pairs + 1) };
    let least_threshold = entropy.pick(&[4, 1, 0, 0x100, 0xFFF, 0x1000, u16::MAX]);
    TraceRequest {
        ranges: (0..count).map(|_| range(entropy, if thumb { 2 } else { 4 })).collect(),
        thumb,
        levels: levels(entropy),
        cycle_counts: entropy.chance(128).then(|| threshold(entropy, least_threshold)),
        least_threshold,
        context_id: entropy.chance(128),
        virtual_context_id: entropy.chance(128),
        timestamps: entropy.chance(128),
        return_stack: entropy.chance(128),
        branch_broadcast: entropy.chance(128),
        system_errors: entropy.chance(128),
        resets: entropy.chance(128),
        sync_period: entropy.pick(&[12, 8, 20, 0, 8, 20, 13, 8, 20, 0, 12, 7, 21, 1, 28, u8::MAX]),
        trace_id: entropy.pick(&[0x10, 1, 0x6F, 1, 0x6F, 0x55, 0x10, 1, 0x6F, 0x10, 0, 0x70, u8::MAX]),
        stall: entropy.chance(80).then(|| Stall {
            level: entropy.pick(&[4, 0, 15, 1, 15, 12, 16, u8::MAX]),
            no_overflow: entropy.chance(128),
        }),
        output: if entropy.chance(100) { Output::TraceBuffer } else { Output::Interfaces },
    }
}

/// The same with one range, which ends or begins at a limit or beyond it: nothing else can be wrong.
pub(super) fn at_limits(request: &TraceRequest) -> Vec<TraceRequest> {
    const PLACE: u64 = 0x40_0000;
    let size = if request.thumb { 2 } else { 4 };
    let inside = PLACE + size / 2;
    let (low, high) = (0x0100_0000_0000_0000, 0xFF00_0000_0000_0000);
    let ranges = [
        (PLACE, PLACE + size),
        (PLACE, PLACE),
        (PLACE + size, PLACE),
        (inside, PLACE + size),
        (PLACE, inside),
        (inside, inside + size),
        (0, low),
        (0, low + size),
        (high - size, high + size),
        (low, high + size),
        (high, u64::MAX - size + 1),
    ];
    let of = |(start, end)| TraceRequest { ranges: vec![AddressRange { start, end }], ..request.clone() };
    Vec::from(ranges.map(of))
}

/// A range of virtual addresses in either half; sometimes one that has none, or of half an instruction.
fn range(entropy: &mut Entropy<'_>, granule: u64) -> AddressRange {
    if entropy.chance(6) {
        let start = entropy.pick(&PLACES);
        let end = if entropy.chance(128) { entropy.pick(&PLACES) } else { start.wrapping_add(granule) };
        return AddressRange { start, end };
    }
    let upper = if entropy.chance(128) { 0xFF << 56 } else { 0 };
    let place = (entropy.word() >> 8) >> entropy.below(50);
    let start = upper | (place & !(granule - 1));
    let end = start.saturating_add(granule << entropy.below(20)) & !(granule - 1);
    AddressRange { start, end }
}

fn levels(entropy: &mut Entropy<'_>) -> Levels {
    let mut one = |bits: u32| {
        let some = entropy.byte() & ((1 << bits) - 1);
        if entropy.chance(4) { some | 1 << bits } else { some }
    };
    let (secure, non_secure, realm) = (one(4), one(3), one(3));
    if entropy.chance(24) {
        return Levels { secure: 0, non_secure: 0, realm: entropy.pick(&[0, realm]) };
    }
    Levels { secure, non_secure, realm }
}

fn threshold(entropy: &mut Entropy<'_>, least: u16) -> u16 {
    let usual = [least, least.saturating_add(1), 0xFFF, 0x123];
    if entropy.chance(24) { entropy.pick(&[least.wrapping_sub(1), 0, 0x1000]) } else { entropy.pick(&usual) }
}
