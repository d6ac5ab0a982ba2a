//! The model of the trace unit and its checker agree: on every pair of a state and an input, and on random histories
//! with every unpredictable choice; and metamorphic relations of the model.
//!
//! `UNIT_RECORDS=10000000 cargo test --release -p traceproof-conformance --test properties agreement_arm_ete_unit`
//! compares more of them, from the history `UNIT_SEED` on (0 if absent). The properties are about other histories in each
//! run; `PROPTEST_CASES=100000` makes more of them, `PROPTEST_RNG_SEED=1` always the same ones.

use std::time::Instant;

use proptest::prelude::*;
use traceproof_conformance::arm_ete_unit::generate::{Agreement, Scenario, Written, agree, log, scenario};
use traceproof_conformance::family::JudgedProtocol;
use traceproof_conformance::generate::seeded;
use traceproof_decoder::arm_ete_unit::Decoder;
use traceproof_vectors::arm_ete_unit::wire::RECORD;
use traceproof_vectors::arm_ete_unit::{
    ArmEteUnit, DirectWrite, DisabledWhileEnabling, EnableChange, EnabledWhileDisabling, Event, Packet,
    Parameters, Policy, ProgrammingState, Shown, StateSet, Stimulus,
};
use traceproof_vectors::case::arm_ete_unit::StimulusEntry;
use traceproof_vectors::case::{Assembly, CaseProtocol};
use traceproof_vectors::{Log, Program};

fn agreed(bytes: &[u8]) -> Result<Agreement, TestCaseError> {
    let scenario = scenario(bytes);
    agree(&scenario).map_err(|disagreement| TestCaseError::fail(format!("{disagreement}\n{scenario}")))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 4000,
        cases: u32::try_from(number("PROPTEST_CASES", 64)).expect("a number of cases"),
        ..ProptestConfig::default()
    })]

    #[test]
    fn model_and_checker_agree(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        agreed(&bytes)?;
    }

    #[test]
    fn an_ignored_access_changes_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let plain = scenario(&bytes);
        let mut padded = plain.clone();
        let ignored = steps("xw TRCIDR5=FFFFFFFF; sw TRCIDR0=1; xr TRCDEVTYPE; xw 0x300=1");
        padded.stimulus = plain.stimulus.iter().flat_map(|step| [&ignored[..], &[*step]].concat()).collect();
        // ETMv4 has a register at 0x300.
        if plain.parameters.version.is_ete() {
            let kept = written(&padded).packets.into_iter().filter(|packet| !is_ignored(packet));
            let expected = written(&plain).packets.into_iter().filter(|packet| !is_ignored(packet));
            prop_assert_eq!(kept.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_warm_reset_keeps_the_unit(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let mut before = scenario(&bytes);
        before.parameters.shown.states = false;
        // Reads by the debug component, with nothing pending, from a space that is always allowed.
        before.stimulus.extend(steps("pw 1; isb; etad 0"));
        let reads = steps(
            "xr TRCPRGCTLR @secure; xr TRCSTATR @secure; xr TRCOSLSR @secure; xr TRCCONFIGR @secure; \
             xr TRCVICTLR @secure; xr TRCRSR @secure; xr TRCEVENTCTL1R @secure; xr TRCCLAIMCLR @secure",
        );
        let start = written(&before).packets.len();
        let read = |reset: &str| {
            let mut scenario = before.clone();
            scenario.stimulus.extend(steps(reset));
            scenario.stimulus.extend_from_slice(&reads);
            let packets = written(&scenario).packets;
            packets[start..].iter().filter(|packet| matches!(packet, Packet::Access(_))).copied().collect::<Vec<_>>()
        };
        let kept = read("isb");
        prop_assert_eq!(kept.len(), reads.len());
        prop_assert_eq!(read("warm"), kept);
    }

    #[test]
    fn a_session_does_not_depend_on_what_was_before(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let history = scenario(&bytes);
        let first = Scenario { stimulus: Vec::new(), ..history.clone() };
        prop_assert_eq!(session_after(&history), session_after(&first));
    }
}

/// Steps in the notation of cases.
fn steps(text: &str) -> Vec<Stimulus> {
    let entries: Vec<StimulusEntry> = serde_json::from_value(serde_json::json!([text])).expect(text);
    ArmEteUnit::execution(&entries, &Assembly::default()).expect(text)
}

fn written(scenario: &Scenario) -> Written {
    log(scenario).expect("parameters of a trace unit")
}

/// One of the accesses of the relation, or one like it.
fn is_ignored(packet: &Packet) -> bool {
    let Packet::Access(access) = packet else { return false };
    [0x1F4, 0x1E0, 0xFCC, 0x300].contains(&access.register.offset())
}

/// The records of one session that programs all that matters to it, after what comes before it has ended.
fn session_after(history: &Scenario) -> Vec<Packet> {
    let mut scenario = history.clone();
    scenario.parameters.shown.states = true;
    scenario.stimulus.extend(steps(
        "pw 1; isb; pe el1 non-secure; pe run; pe allowed; pe awake; trf A; isb; etad 0; xoslk 0; ifc 1; tb 0; isb; \
         tsb; \
         sink trbu 1; sink if0 1; sink if1 1; sink if2 1; vi 1",
    ));
    // Whatever the choices about unpredictable writes are, the third EN = 0 is written in Idle or Running.
    scenario
        .stimulus
        .extend(steps("go x 4; drain; go x 4; xw TRCPRGCTLR=0 @secure; go x 4; drain; go x 4").repeat(3));
    let start = written(&scenario).packets.len();
    scenario.stimulus.extend(steps(
        "xr TRCSTATR @secure; xw TRCCONFIGR=1 @secure; xw TRCEVENTCTL1R=2000 @secure; xw TRCRSR=1000 @secure; \
         xw TRCSTALLCTLR=0 @secure; xw TRCVICTLR=201 @secure; xw TRCPRGCTLR=1 @secure; go; xr TRCSTATR @secure; \
         gen 40; drain 5; gen 3; flush; drain; xw TRCPRGCTLR=0 @secure; go; xr TRCRSR @secure; go; xr TRCSTATR @secure",
    ));
    written(&scenario).packets.split_off(start)
}

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |number| number.parse().expect(name))
}

#[test]
fn model_and_checker_agree_on_many_records() {
    let (wanted, first) = (number("UNIT_RECORDS", 100_000), number("UNIT_SEED", 0));
    let mut sum = Agreement::default();
    for seed in first.. {
        let length = 400 + 400 * usize::try_from(seed % 16).unwrap_or(0);
        sum += agreed(&seeded(seed, length)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if sum.records >= wanted {
            break;
        }
    }
    println!("{sum:?}");
    // The generator is only worth something if every state is reached, and the checker knows something of most.
    let part = |part: u64| part as f64 / sum.records as f64;
    assert!(sum.states.iter().all(|records| part(*records) > 0.02), "{sum:?}");
    assert!(part(sum.known) > 0.1 && part(sum.unpredictable) > 0.05, "{sum:?}");
    assert!(part(sum.software) > 0.01 && part(sum.sessions) > 0.001 && sum.outputs > 10, "{sum:?}");
}

#[test]
#[ignore = "measures (docs/performance.md)"]
fn checker_on_a_gibibyte() {
    const MIB: usize = 1 << 20;
    let mut log = Vec::new();
    for seed in 0.. {
        let scenario = Scenario { parameters: shown(), ..scenario(&seeded(seed, 4000)) };
        log.extend_from_slice(&written(&scenario).wire);
        if log.len() >= 16 * MIB {
            break;
        }
    }
    let mut checker = Decoder::new(&shown());
    let (start, mut bytes) = (Instant::now(), 0);
    while bytes < 1024 * MIB {
        checker.push_into(&log, &mut ());
        bytes += log.len();
    }
    let speed = (bytes / RECORD) as f64 / start.elapsed().as_secs_f64();
    println!("{:.2} million records per second", speed / 1e6);
}

/// What comes first: nothing of the unit is unknown, and it may trace.
const BEGIN: &str = "cold; xoslk 0; trf A; isb";

/// A configuration: its state, EN and OS Lock, and how the unit comes there.
const CONFIGURATIONS: [(&str, &str); 11] = [
    ("Idle 00", ""),
    ("Idle 01", "xoslk 1"),
    ("Idle 11", "xoslk 1; sw TRCPRGCTLR=1; isb"),
    ("Enabling 10", "xw TRCPRGCTLR=1"),
    ("Running 10", "xw TRCPRGCTLR=1; go"),
    ("Unstable 00", "xw TRCPRGCTLR=1; go; xw TRCPRGCTLR=0"),
    ("Unstable 01", "xw TRCPRGCTLR=1; go; xw TRCPRGCTLR=0; xoslk 1"),
    ("Unstable 11", "xw TRCPRGCTLR=1; go; xoslk 1"),
    ("Stable 00", "xw TRCPRGCTLR=1; go; gen 8; xw TRCPRGCTLR=0; go"),
    ("Stable 01", "xw TRCPRGCTLR=1; go; gen 8; xw TRCPRGCTLR=0; go; xoslk 1"),
    ("Stable 11", "xw TRCPRGCTLR=1; go; gen 8; xoslk 1; go"),
];

/// What an input makes of configurations, as the state table of the specification has it: EN, OS Lock after the state;
/// every other configuration keeps its state. A row of the table that settles nothing has every outcome.
const CHANGES: [(&str, &[(&str, &str)]); 11] = [
    (
        "xw TRCPRGCTLR=1",
        &[
            ("Idle 00", "Enabling"),
            ("Unstable 00", "Enabling Unstable unpredictable"),
            ("Stable 00", "Enabling Stable unpredictable"),
        ],
    ),
    (
        "sw TRCPRGCTLR=1; isb",
        &[
            ("Idle 00", "Enabling"),
            ("Unstable 00", "Enabling Unstable unpredictable"),
            ("Unstable 01", "Unstable unpredictable"),
            ("Stable 00", "Enabling Stable unpredictable"),
            ("Stable 01", "Stable unpredictable"),
        ],
    ),
    (
        "xw TRCPRGCTLR=0",
        &[("Enabling 10", "Idle Enabling Unstable unpredictable"), ("Running 10", "Unstable")],
    ),
    (
        "sw TRCPRGCTLR=0; isb",
        &[
            ("Enabling 10", "Idle Enabling Unstable unpredictable"),
            ("Running 10", "Unstable"),
            ("Unstable 11", "Unstable unpredictable"),
            ("Stable 11", "Stable unpredictable"),
        ],
    ),
    ("oslk 1; isb", &[("Enabling 10", "Idle Enabling Unstable unpredictable"), ("Running 10", "Unstable")]),
    ("xoslk 1", &[("Enabling 10", "Idle Enabling Unstable unpredictable"), ("Running 10", "Unstable")]),
    (
        "oslk 0; isb",
        &[
            ("Idle 11", "Enabling"),
            ("Unstable 11", "Enabling Unstable unpredictable"),
            ("Stable 11", "Enabling Stable unpredictable"),
        ],
    ),
    (
        "xoslk 0",
        &[
            ("Idle 11", "Enabling"),
            ("Unstable 11", "Enabling Unstable unpredictable"),
            ("Stable 11", "Enabling Stable unpredictable"),
        ],
    ),
    ("rst", RESET),
    ("cold", RESET),
    ("pw 0", RESET),
];

const RESET: &[(&str, &str)] = &[
    ("Enabling 10", "Idle"),
    ("Running 10", "Idle"),
    ("Unstable 00", "Idle"),
    ("Unstable 01", "Idle"),
    ("Unstable 11", "Idle"),
    ("Stable 00", "Idle"),
    ("Stable 01", "Idle"),
    ("Stable 11", "Idle"),
];

/// Inputs that keep every state.
const KEEPING: [&str; 27] = [
    "sw TRCCONFIGR=1",
    "xw TRCCONFIGR=1",
    "sw TRCCLAIMSET=1",
    "xw TRCCLAIMCLR=1",
    "sw TRCIDR5=1",
    "xw TRCIDR5=1",
    "xw 0x300=1",
    "sr TRCSEQSTR",
    "xr TRCIDR5",
    "sr TRCPRGCTLR",
    "sink if0 0",
    "ifc 0",
    "flush",
    "gen 1000",
    "ev 0",
    "pe debug",
    "pe run",
    "pe prohibited",
    "pe prohibited; tsb",
    "trf P; isb; tsb",
    "pe low-power",
    "tb 1; isb",
    "dsb",
    "exc; eret",
    "warm",
    "pw ret",
    "pw ret; pw 1",
];

/// Every combination of the choices that decide about states.
fn choices() -> Vec<Policy> {
    let mut all = Vec::new();
    for &direct_write in DirectWrite::ALL {
        for &enable_change in EnableChange::ALL {
            for &disabled_while_enabling in DisabledWhileEnabling::ALL {
                for &enabled_while_disabling in EnabledWhileDisabling::ALL {
                    all.push(Policy {
                        direct_write,
                        enable_change,
                        disabled_while_enabling,
                        enabled_while_disabling,
                        ..Policy::default()
                    });
                }
            }
        }
    }
    all
}

fn shown() -> Parameters {
    Parameters { shown: Shown { states: true, ..Shown::default() }, ..Parameters::default() }
}

/// The model's log, and the number of its records before the last `steps` steps.
fn logged(policy: &Policy, stimulus: &[Stimulus], last: usize) -> (Written, usize) {
    let (before, _) = stimulus.split_at(stimulus.len() - last);
    let scenario = |stimulus: &[Stimulus]| Scenario {
        parameters: shown(),
        policy: policy.clone(),
        stimulus: stimulus.to_vec(),
    };
    let start = written(&scenario(before)).packets.len();
    (written(&scenario(stimulus)), start)
}

/// The state that the model ends in.
fn ends_in(written: &Written) -> ProgrammingState {
    let states = written.packets.iter().rev().find_map(|packet| match packet {
        Packet::State(state) => Some(*state),
        _ => None,
    });
    states.unwrap_or(ProgrammingState::Idle)
}

/// The states that the checker reports after the records before `start` and after those from there on that come from
/// outside.
fn believed(written: &Written, start: usize) -> StateSet {
    let records = written.packets.iter().zip(written.wire.chunks(RECORD)).enumerate();
    let wire: Vec<u8> = records
        .filter(|(index, (packet, _))| {
            *index < start || !matches!(packet, Packet::State(_) | Packet::Signal(_) | Packet::Output { .. })
        })
        .flat_map(|(_, (_, record))| record.to_vec())
        .collect();
    let mut checker = ArmEteUnit::reference_decoder();
    checker.begin(&shown(), &Program::new()).expect("parameters of a trace unit");
    let mut log = Log::<ArmEteUnit>::default();
    checker.push(&wire, &mut log);
    let latest = log.events().filter_map(|event| match event {
        Event::State(states) => Some(*states),
        _ => None,
    });
    latest.last().expect("the states after the first record are reported")
}

/// Spec: the state table as a whole; `expected` is its cell.
fn check_cell(configuration: &str, prefix: &str, input: &str, expected: StateSet) {
    let input_steps = steps(input);
    let stimulus = [steps(BEGIN), steps(prefix), input_steps.clone()].concat();
    let mut reached = StateSet::EMPTY;
    for policy in choices() {
        let (written, start) = logged(&policy, &stimulus, input_steps.len());
        reached = reached.with(ends_in(&written));
        let believed = believed(&written, start);
        assert_eq!(believed, expected, "checker: {configuration}, {input}, {policy:?}");
    }
    let wanted: StateSet = expected.states().collect();
    assert_eq!(reached, wanted, "model: {configuration}, {input}");
}

#[test]
fn model_and_checker_agree_on_every_cell_of_the_state_table() {
    for (configuration, prefix) in CONFIGURATIONS {
        let state = configuration.split(' ').next().expect("a state");
        let keeps: StateSet = state.parse().expect("a state");
        for (input, changes) in CHANGES {
            let change = changes.iter().find(|(of, _)| *of == configuration);
            let expected = change.map_or(keeps, |(_, to)| to.parse().expect("states"));
            check_cell(configuration, prefix, input, expected);
        }
        for input in KEEPING {
            check_cell(configuration, prefix, input, keeps);
        }
    }
}
