//! Random runs of ARM and Thumb programs pass the round trip through ETM macrocell models and decoders.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test properties round_trip_arm_etm`
//! runs more of them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use traceproof_conformance::arm_etm::generate::oracle::Returned;
use traceproof_conformance::arm_etm::generate::{encode, round_trip, scenario};
use traceproof_conformance::generate::seeded;
use traceproof_vectors::arm_etm::{Architecture, Packet, Parameters};

fn comes_back(bytes: &[u8], architecture: Architecture) -> Result<Returned, TestCaseError> {
    let scenario = scenario(bytes, architecture);
    match round_trip(&scenario) {
        Ok(success) => Ok(success.returned),
        Err(failure) => Err(TestCaseError::fail(format!("{failure}\n{scenario}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn runs_come_back_through_etmv2(bytes in proptest::collection::vec(any::<u8>(), 0..8000)) {
        comes_back(&bytes, Architecture::V2)?;
    }

    #[test]
    fn runs_come_back_through_etmv3(bytes in proptest::collection::vec(any::<u8>(), 0..8000)) {
        comes_back(&bytes, Architecture::V3)?;
    }
}

/// The generator must produce a rich set of events.
fn rich(architecture: Architecture) {
    let mut sum = Returned::default();
    let mut wide = 0;
    for seed in 0..200 {
        let bytes = seeded(seed, 6000);
        let one = comes_back(&bytes, architecture).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        sum.instructions += one.instructions;
        sum.transfers += one.transfers;
        sum.answered += one.answered;
        sum.unanswered += one.unanswered;
        sum.starts += one.starts;
        sum.overflows += one.overflows;
        sum.exceptions += one.exceptions;
        sum.ignored += one.ignored;
        sum.possible_exceptions += one.possible_exceptions;
        let sent = encode(&scenario(&bytes, architecture)).expect("generated scenarios can be encoded");
        let packets: Vec<_> = sent.log.packets().collect();
        let tag = |packet: &Packet| match packet {
            Packet::LoadMissData { tag, .. } => Some(*tag),
            _ => None,
        };
        wide +=
            packets.windows(2).filter(|pair| tag(pair[0]).is_some() && tag(pair[0]) == tag(pair[1])).count();
    }
    assert!(sum.instructions > 15_000, "{sum:?}");
    assert!(sum.transfers > 5_000, "{sum:?}");
    assert!(sum.answered > 300, "{sum:?}");
    assert!(sum.unanswered > 40, "{sum:?}");
    assert!(sum.starts > 600, "{sum:?}");
    assert!(sum.overflows > 60, "{sum:?}");
    assert!(wide > 5, "{wide} data of 64 bits");
    if architecture == Architecture::V2 {
        assert!(sum.exceptions > 200, "{sum:?}");
        assert!(sum.ignored > 50, "{sum:?}");
        assert!(sum.possible_exceptions > 50, "{sum:?}");
    }
}

#[test]
fn runs_through_etmv2_contain_what_they_are_for() {
    rich(Architecture::V2);
}

#[test]
fn runs_through_etmv3_contain_what_they_are_for() {
    rich(Architecture::V3);
}

/// Starts that came back through ports and modes that few macrocells have.
#[test]
fn rare_configurations_come_back() {
    let mut starts = BTreeMap::new();
    let mut stackings = 0;
    for (seed, architecture) in (0..400).flat_map(|seed| [(seed, Architecture::V2), (seed, Architecture::V3)])
    {
        let bytes = seeded(seed, 3000);
        let Parameters { port_width, bare_port, data_only, m_profile, .. } =
            scenario(&bytes, architecture).parameters;
        let one = comes_back(&bytes, architecture).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        stackings += one.stackings;
        for (is, name) in [
            (architecture == Architecture::V2 && port_width == 4, "4-bit port"),
            (bare_port, "bare port"),
            (data_only, "data-only mode"),
            (m_profile, "M profile"),
        ] {
            *starts.entry(name).or_insert(0) += if is { one.starts } else { 0 };
        }
    }
    assert!(starts.values().all(|count| *count > 100), "{starts:?}");
    assert!(stackings > 50, "{stackings}");
}
