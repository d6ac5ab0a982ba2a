//! Relations of RISC-V E-Trace that hold whatever the execution is; none of them needs an expected value.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test properties relations`
//! tries more executions.

use proptest::prelude::*;
use proptest::sample::Index;
use traceproof_conformance::Subject;
use traceproof_conformance::relations::Stream;
use traceproof_conformance::riscv_etrace::generate::{
    Failure, Scenario, Scope, decode, encode, retirement, scenario,
};
use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_encoder_model::riscv_etrace::{Retirement, write_packets};
use traceproof_vectors::riscv_etrace::{
    Compression, Event, Modes, Packet, QualStatus, RiscvEtrace, Step, Stimulus, SyncMode,
};
use traceproof_vectors::{Decoder as _, DecoderLimits, Entry, Log, Protocol};

/// What a generator decides by.
fn entropy() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..2000)
}

fn failed(failure: Failure, scenario: &Scenario) -> TestCaseError {
    TestCaseError::fail(format!("{failure}\n{scenario}"))
}

fn sent(scenario: &Scenario, retirement: Retirement) -> Result<Log<RiscvEtrace>, TestCaseError> {
    encode(scenario, retirement).map_err(|failure| failed(failure, scenario))
}

/// What the decoder reports, which must not contain a fault.
fn received(scenario: &Scenario, wire: &[u8]) -> Result<Log<RiscvEtrace>, TestCaseError> {
    let log = decode(scenario, wire).map_err(|failure| failed(failure, scenario))?;
    let fault = log.faults().next().copied();
    prop_assert_eq!(fault, None, "{}", scenario);
    Ok(log)
}

/// The execution that the decoder reports, without what is irrelevant to it: how often the time is reported.
fn execution(log: &Log<RiscvEtrace>) -> Vec<Event> {
    RiscvEtrace::canonical(
        log.events().copied().filter(|event| !matches!(event, Event::Time { .. })).collect(),
    )
}

/// Where each packet begins on the wire.
fn borders(sent: &Log<RiscvEtrace>) -> Vec<(usize, Packet)> {
    let packets = sent.entries.iter().filter_map(|(place, entry)| match entry {
        Entry::Packet(packet) => Some((usize::try_from(place.byte).ok()?, *packet)),
        _ => None,
    });
    packets.collect()
}

const fn synchronises(packet: &Packet) -> bool {
    matches!(packet, Packet::Start { .. } | Packet::Trap { .. })
}

/// Modes do not change during the trace: a late decoder would miss the change.
fn keep_modes(scenario: &mut Scenario) {
    scenario.steps.retain(|step| !matches!(step, Step::Stimulus(Stimulus::Modes(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// RVET-ENC-044 (ET 9). The resynchronisation timer may act only between blocks, so it is off.
    #[test]
    fn the_cut_into_blocks_does_not_show(bytes in entropy()) {
        let mut scenario = scenario(&bytes, Scope::Modes);
        scenario.policy.sync_mode = SyncMode::Off;
        scenario.parameters.retires_p = 8;
        let wire = sent(&scenario, Retirement::Single)?.wire;
        for other in [
            Retirement::Blocks { max_halfwords: 3 },
            Retirement::Blocks { max_halfwords: 16 },
            Retirement::Groups { groups: 2, max_halfwords: 2 },
            Retirement::Groups { groups: 3, max_halfwords: 16 },
        ] {
            let cut = sent(&scenario, other)?.wire;
            prop_assert_eq!(&wire, &cut, "{:?}\n{}", other, scenario);
        }
    }

    /// RVET-DEC-050 (ET 9.2): a decoder may begin with any packet of format 3 subformat 0 or 1.
    #[test]
    fn a_late_decoder_reports_the_rest(bytes in entropy()) {
        let mut scenario = scenario(&bytes, Scope::Modes);
        keep_modes(&mut scenario);
        // A late decoder would lack what is kept; there is no place to join then.
        scenario.parameters.resync_disabled_keeps_state = false;
        let sent = sent(&scenario, retirement(&scenario))?;
        received(&scenario, &sent.wire)?;
        let joints = borders(&sent).iter().filter(|(_, packet)| synchronises(packet)).count();
        let (subject, parameters) = (&Subject::reference(), &scenario.parameters);
        let program = scenario.program.code().expect("it fits");
        let stream = Stream::<RiscvEtrace> { subject, parameters, program: &program, wire: &sent.wire };
        let tried = stream.joins(4);
        prop_assert!(tried.is_ok(), "{}\n{}", tried.err().map(|broken| broken.to_string()).unwrap_or_default(), scenario);
        // Not without trying: every synchronising packet is a place to join.
        let points = tried.map(|tried| tried.points).unwrap_or_default();
        prop_assert_eq!(points, joints.div_ceil(joints.div_ceil(4).max(1)), "of {}\n{}", joints, scenario);
    }

    /// The modes that only change the encoding of packets do not affect the execution (ET 3.2.1, 3.2.2, 3.2.6, 3.2.7).
    #[test]
    fn modes_do_not_change_the_execution(bytes in entropy(), flip in 1_u8..8) {
        let mut scenario = scenario(&bytes, Scope::Modes);
        keep_modes(&mut scenario);
        // What is lost depends on the number of packets, and so does the timer.
        scenario.steps.retain(|step| !matches!(step, Step::Stimulus(Stimulus::Transport(_))));
        scenario.policy.sync_mode = SyncMode::Off;
        let parameters = &mut scenario.parameters;
        (parameters.bpred_size_p, parameters.cache_size_p, parameters.f0s_width_p) = (4, 5, 1);
        let one = execution(&received(&scenario, &sent(&scenario, retirement(&scenario))?.wire)?);
        let modes = scenario.parameters.modes;
        scenario.parameters.modes = Modes {
            full_address: modes.full_address ^ (flip & 1 != 0),
            branch_prediction: modes.branch_prediction ^ (flip & 2 != 0),
            jump_target_cache: modes.jump_target_cache ^ (flip & 4 != 0),
            ..modes
        };
        let other = execution(&received(&scenario, &sent(&scenario, retirement(&scenario))?.wire)?);
        prop_assert_eq!(one, other, "{:?} and\n{}", modes, scenario);
    }

    /// RVET-DEC-052 (ET 7).
    #[test]
    fn compression_does_not_change_the_execution(bytes in entropy()) {
        let mut scenario = scenario(&bytes, Scope::Modes);
        let mut executions = Vec::new();
        for compression in [Compression::Minimal, Compression::Mandatory] {
            scenario.policy.compression = compression;
            let wire = sent(&scenario, retirement(&scenario))?.wire;
            executions.push(received(&scenario, &wire)?.canonical_events());
        }
        prop_assert_eq!(&executions[0], &executions[1], "{}", scenario);
    }

    /// RVET-DEC-021 (ET 11): a context packet has no position in the flow, and a support packet without changes has no
    /// effect.
    #[test]
    fn packets_without_news_change_nothing(bytes in entropy(), at in any::<Index>(), support in any::<bool>()) {
        let scenario = scenario(&bytes, Scope::Modes);
        let sent = sent(&scenario, retirement(&scenario))?;
        let packets = borders(&sent);
        let first = packets.iter().position(|(_, packet)| synchronises(packet));
        prop_assume!(first.is_some());
        // After one of the packets from the first synchronisation on.
        let before = first.unwrap_or(0) + at.index(packets.len() - first.unwrap_or(0));
        let news = news(&scenario, &packets[..=before], support);
        let extra = write_packets(&[news], &scenario.parameters, &scenario.policy).expect("it fits");
        let place = packets.get(before + 1).map_or(sent.wire.len(), |&(byte, _)| byte);
        let mut wire = sent.wire.clone();
        wire.splice(place..place, extra);
        let plain = execution(&received(&scenario, &sent.wire)?);
        let mut richer = execution(&received(&scenario, &wire)?);
        richer.retain(|event| !matches!(event, Event::Context { precise: false, .. }));
        prop_assert_eq!(plain, RiscvEtrace::canonical(richer), "{:?} behind packet {}\n{}", news, before, scenario);
    }

    /// RVET-DEC-046, RVET-DEC-048: whatever comes, the work of each packet is bounded.
    #[test]
    fn damage_costs_bounded_work(bytes in entropy(), damage in proptest::collection::vec(any::<(Index, u8)>(), 1..12)) {
        let scenario = scenario(&bytes, Scope::Modes);
        let mut wire = sent(&scenario, retirement(&scenario))?.wire;
        for (at, value) in damage {
            let at = at.index(wire.len());
            wire[at] ^= value;
        }
        let limits = DecoderLimits::default().with_steps(256).with_repeats(256);
        let mut decoder = Decoder::default();
        decoder.set_limits(&limits);
        decoder.begin(&scenario.parameters, &scenario.program.code().expect("it fits")).expect("it is supported");
        let mut log: Log<RiscvEtrace> = Log::default();
        decoder.push(&wire, &mut log);
        decoder.finish(&mut log);
        let retired = log.events().fold(0_u64, |sum, event| match event {
            Event::Retire { count, .. } => sum.saturating_add(*count),
            _ => sum,
        });
        // A packet may cause two walks. Each has its outcomes, and between two of them at most the steps allowed and
        // one straight run.
        let outcomes = limits.repeats + 2 * 31;
        let stretch = limits.steps + scenario.program.instructions.len() as u64;
        let most = 2 * outcomes * stretch * (wire.len() as u64 + 1);
        prop_assert!(retired <= most, "{} instructions from {} bytes\n{}", retired, wire.len(), scenario);
    }
}

/// A packet without new information after `packets`: the options that are in force, or a context.
fn news(scenario: &Scenario, packets: &[(usize, Packet)], support: bool) -> Packet {
    let latest = |wanted: fn(&Packet) -> bool| packets.iter().rev().map(|(_, packet)| *packet).find(&wanted);
    if let Some(Packet::Support { ienable, encoder_mode, ioptions, denable, dloss, doptions, .. }) =
        latest(|packet| matches!(packet, Packet::Support { .. })).filter(|_| support)
    {
        let qual_status = QualStatus::NoChange;
        return Packet::Support { ienable, encoder_mode, qual_status, ioptions, denable, dloss, doptions };
    }
    let privilege = match latest(synchronises) {
        Some(Packet::Start { privilege, .. } | Packet::Trap { privilege, .. }) => privilege,
        _ => 3,
    };
    let present = |width: u32| (width > 0).then_some(1);
    Packet::Context {
        privilege,
        time: present(scenario.parameters.time_width()),
        context: present(scenario.parameters.context_width()),
    }
}
