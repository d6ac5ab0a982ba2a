//! What a scenario is about: parameters, choices, registers and values.

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{
    DirectWrite, DisabledWhileEnabling, EnableChange, EnabledWhileDisabling, InFlight, Interpretation,
    Parameters, Policy, Register, Shown, Space, UnpredictableWrite, UnsupportedSize,
};

use crate::generate::Entropy;

/// Registers that scenarios access more often than others: those that decide about states, outputs and findings.
const POPULAR: [Register; 24] = [
    Register::PRGCTLR,
    Register::PRGCTLR,
    Register::STATR,
    Register::STATR,
    Register::CONFIGR,
    Register::EVENTCTL0R,
    Register::EVENTCTL1R,
    Register::EVENTCTL1R,
    Register::RSR,
    Register::RSR,
    Register::STALLCTLR,
    Register::SYNCPR,
    Register::TRACEIDR,
    Register::VICTLR,
    Register::SEQSTR,
    Register::cntvr(0),
    Register::sscsr(0),
    Register::rsctlr(2),
    Register::CLAIMSET,
    Register::CLAIMCLR,
    Register::OSLSR,
    Register::PDSR,
    Register::OSLAR,
    Register::IDR5,
];

/// Bits that mean something: EN, OE, ISTALL and NOOVERFLOW, TA and EVENT, SSSTATUS.
const VALUES: [u64; 8] = [0, 1, 0x2000, 0x2100, 0x1001, 0x201, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF];

pub(super) fn register(entropy: &mut Entropy<'_>) -> Register {
    match entropy.below(16) {
        0..=11 => entropy.pick(&POPULAR),
        12..=14 => {
            let named: Vec<Register> = Register::named().collect();
            entropy.pick(&named)
        }
        _ => Register(u16::from(entropy.byte()) << 2 | u16::from(entropy.byte() & 3) << 10),
    }
}

pub(super) fn value(entropy: &mut Entropy<'_>) -> u64 {
    match entropy.below(4) {
        3 => entropy.word(),
        _ => entropy.pick(&VALUES),
    }
}

/// A time that is often more than the bound.
pub(super) fn time(entropy: &mut Entropy<'_>) -> u64 {
    u64::from(entropy.byte())
}

pub(super) fn space(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Option<Space> {
    let spaces = if parameters.realms { &Space::ALL[..] } else { &Space::ALL[..2] };
    entropy.chance(128).then(|| entropy.pick(spaces))
}

/// Mostly the defaults: every other answer at once would hide what each does.
pub(super) fn parameters(entropy: &mut Entropy<'_>) -> Parameters {
    let default = Parameters::default();
    let mut other = || entropy.chance(24);
    let version = if other() { Version::Etmv4_6 } else { default.version };
    let trace_buffer = !other();
    let mut parameters = Parameters {
        version,
        trace_buffer,
        trace_buffer_external: trace_buffer && other(),
        realms: other(),
        self_hosted: !other(),
        invasive_debug: !other(),
        q_filter: other(),
        instrumentation: other(),
        fixed_sync_period: other(),
        stall_control: !other(),
        system_stall: !other(),
        no_overflow: !other(),
        sequencer: !other(),
        bound: other().then_some(100),
        shown: Shown {
            barriers: !other(),
            system: !other(),
            external: !other(),
            states: other(),
            events: other(),
        },
        interpretation: Interpretation {
            accept_context_switch: !other(),
            disabled_interfaces_are_silent: other(),
        },
        ..default
    };
    parameters.interfaces = entropy.pick(&[1, 1, 1, 0, 2, 3]);
    parameters.output_enable = parameters.interfaces == 0 || !version.is_ete() && !entropy.chance(64);
    parameters.output_enable |= version.is_ete();
    parameters.claim_tags = entropy.pick(&[4, 0, 32]);
    parameters.counters = entropy.pick(&[2, 0, 4]);
    parameters.events = entropy.pick(&[4, 1]);
    parameters.address_pairs = entropy.pick(&[4, 0]);
    parameters
}

/// Every choice, unpredictable ones too.
pub(super) fn policy(entropy: &mut Entropy<'_>) -> Policy {
    Policy {
        direct_write: entropy.pick(DirectWrite::ALL),
        write_outside_idle: entropy.pick(UnpredictableWrite::ALL),
        corrupts_stream: entropy.chance(32),
        enable_change: entropy.pick(EnableChange::ALL),
        disabled_while_enabling: entropy.pick(DisabledWhileEnabling::ALL),
        enabled_while_disabling: entropy.pick(EnabledWhileDisabling::ALL),
        pmstable_while_enabled: entropy.chance(128),
        unknown: if entropy.chance(64) { entropy.word() } else { 0 },
        unknown_resource_state: entropy.chance(128),
        reserved_is_error: entropy.chance(128),
        unsupported_size: entropy.pick(UnsupportedSize::ALL),
        disabled_interfaces_output: entropy.chance(128),
        in_flight: entropy.pick(InFlight::ALL),
        interface_mask: u16::from(entropy.byte()),
        buffer: entropy.pick(&[64, 8, 1, 1000]),
        overflow_in_enabling: entropy.chance(64),
        trace_in_enabling: entropy.chance(64),
        overflow_keeps_ta: entropy.chance(64),
        speculation_cancelled: entropy.chance(64),
        low_power: !entropy.chance(64),
        flushes_on_entry: entropy.chance(64),
        stalls: entropy.chance(64),
        poll_steps: entropy.pick(&[8, 0, 1, 2]),
    }
}
