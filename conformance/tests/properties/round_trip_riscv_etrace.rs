//! Random executions pass the round trip through encoder model and decoder.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test properties round_trip`
//! runs more of them.

use proptest::prelude::*;
use traceproof_conformance::generate::seeded;
use traceproof_conformance::riscv_etrace::generate::{
    Scenario, Scope, encode, retirement, round_trip, scenario,
};
use traceproof_vectors::riscv_etrace::{
    AtomicOperation, DataPacket, Modes, Packet, ReportedAddress, ReportedData, StandardSupport, Step,
    Stimulus, SyncMode, Transfer,
};

fn comes_back(bytes: &[u8], scope: Scope) -> Result<(), TestCaseError> {
    let scenario = scenario(bytes, scope);
    match round_trip(&scenario) {
        Ok(_) => Ok(()),
        Err(failure) => Err(TestCaseError::fail(format!("{failure}\n{scenario}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn executions_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        comes_back(&bytes, Scope::Core)?;
    }

    #[test]
    fn executions_with_modes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        comes_back(&bytes, Scope::Modes)?;
    }

    #[test]
    fn data_accesses_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        comes_back(&bytes, Scope::Data)?;
    }
}

/// The generator is only worth something if what it makes is rich.
#[test]
fn scenarios_contain_what_they_are_for() {
    let (mut traps, mut unqualified, mut notified, mut wide, mut retired, mut longest) = (0, 0, 0, 0, 0, 0);
    for seed in 0..400 {
        let scenario = scenario(&seeded(seed, 1200), Scope::Core);
        longest = longest.max(scenario.steps.len());
        wide += usize::from(scenario.parameters.iaddress_width_p > 32);
        for (step, qualified) in scenario.steps.iter().zip(scenario.qualified()) {
            match step {
                Step::Retire(retire) => {
                    retired += 1;
                    unqualified += usize::from(!qualified);
                    notified += usize::from(retire.notify);
                }
                Step::Trap(_) => traps += 1,
                Step::Stimulus(_) => {}
            }
        }
    }
    assert!(retired > 40_000, "{retired} retirements");
    assert!(traps > 4_000, "{traps} traps");
    assert!(unqualified > 1_000, "{unqualified} filtered retirements");
    assert!(notified > 500, "{notified} notify requests");
    assert!(wide > 80, "{wide} scenarios with wide addresses");
    assert!(longest > 1_000, "longest execution has {longest} steps");
}

/// How often the packets of many scenarios show each mode at work.
#[derive(Debug, Default)]
struct Traffic {
    counts: usize,
    counts_with_address: usize,
    failing_addresses: usize,
    indices: usize,
    indices_with_branches: usize,
    depths: usize,
    depths_of_indices: usize,
    /// Handlers whose address is left out.
    handlers: usize,
    /// Reports that implicit returns save.
    returns: usize,
    /// Reports that sequentially inferable jumps save.
    jumps: usize,
    mode_changes: usize,
}

impl Traffic {
    fn add(&mut self, packet: &Packet) {
        match *packet {
            Packet::BranchCount { branch_fmt, .. } => {
                self.counts += 1;
                self.counts_with_address += usize::from(branch_fmt != 0);
                self.failing_addresses += usize::from(branch_fmt == 3);
            }
            Packet::JumpTargetIndex { branches, irreport, .. } => {
                self.indices += 1;
                self.indices_with_branches += usize::from(branches > 0);
                self.depths_of_indices += usize::from(irreport);
            }
            Packet::Address { irreport, .. } | Packet::Branch { irreport, .. } => {
                self.depths += usize::from(irreport);
            }
            Packet::Trap { thaddr: true, address: None, .. } => self.handlers += 1,
            _ => {}
        }
    }

    fn covers(&self, least: &Self) -> bool {
        let numbers = |traffic: &Self| {
            [
                traffic.counts,
                traffic.counts_with_address,
                traffic.failing_addresses,
                traffic.indices,
                traffic.indices_with_branches,
                traffic.depths,
                traffic.depths_of_indices,
                traffic.handlers,
                traffic.returns,
                traffic.jumps,
                traffic.mode_changes,
            ]
        };
        numbers(self).iter().zip(numbers(least)).all(|(&is, least)| is >= least)
    }
}

/// How many packets fewer an execution takes because of a mode, which `without` switches off.
fn packets_saved(scenario: &Scenario, without: impl FnOnce(&mut Modes)) -> usize {
    let mut scenario = scenario.clone();
    scenario.policy.sync_mode = SyncMode::Off;
    scenario.steps.retain(|step| !matches!(step, Step::Stimulus(Stimulus::Modes(_))));
    let with = packets(&scenario).len();
    without(&mut scenario.parameters.modes);
    packets(&scenario).len().saturating_sub(with)
}

fn packets(scenario: &Scenario) -> Vec<Packet> {
    let sent = encode(scenario, retirement(scenario)).expect("generated scenarios can be encoded");
    sent.packets().copied().collect()
}

#[test]
fn scenarios_with_modes_contain_what_they_are_for() {
    let mut traffic = Traffic::default();
    for seed in 0..1500 {
        let scenario = scenario(&seeded(seed, 2400), Scope::Modes);
        packets(&scenario).iter().for_each(|packet| traffic.add(packet));
        let changes = scenario.steps.iter().filter(|step| matches!(step, Step::Stimulus(Stimulus::Modes(_))));
        traffic.mode_changes += changes.count();
        // Packets do not show that a return or a jump was inferred.
        traffic.returns += packets_saved(&scenario, |modes| modes.implicit_return = false);
        traffic.jumps += packets_saved(&scenario, |modes| modes.sijump = false);
    }
    let least = Traffic {
        counts: 60,
        counts_with_address: 30,
        failing_addresses: 1,
        indices: 1000,
        indices_with_branches: 1000,
        depths: 500,
        depths_of_indices: 100,
        handlers: 1000,
        returns: 500,
        jumps: 1000,
        mode_changes: 500,
    };
    assert!(traffic.covers(&least), "{traffic:?}");
}

/// What version 2.0.5 adds to instruction trace, each with how often it comes in many scenarios.
#[test]
fn scenarios_of_version_205_contain_what_they_are_for() {
    let mut seen = std::collections::BTreeMap::new();
    let mut count = |what: &'static str, there: bool| *seen.entry(what).or_insert(0) += usize::from(there);
    for seed in 0..3000 {
        let scenario = scenario(&seeded(seed, 2400), Scope::Modes);
        if !scenario.parameters.has_standard_support() {
            continue;
        }
        count(
            "irets without the mode",
            scenario.parameters.iret_ext && !scenario.parameters.modes.implicit_return,
        );
        let mut kept = scenario.parameters.resync_disabled_keeps_state;
        let mut implicit_return = None;
        for packet in packets(&scenario) {
            match packet {
                Packet::StandardSupport(support) => {
                    kept &= support.resync_disabled;
                    let before = implicit_return.replace(support.implicit_return);
                    let switched = before.is_some_and(|before| before != support.implicit_return);
                    count("modes switched while state is kept", kept && switched);
                    count("standard support packets", true);
                    count("vendor bits", support.other > 0);
                    count("resynchronisation disabled", support.resync_disabled);
                    count("sequentially inferable jumps", support.sijump);
                }
                Packet::Address { irreport, irdepth, irets, .. }
                | Packet::Branch { irreport, irdepth, irets, .. }
                | Packet::BranchCount { irreport, irdepth, irets, .. }
                | Packet::JumpTargetIndex { irreport, irdepth, irets, .. } => {
                    count("irdepth", irreport && irdepth > 0);
                    count("irets of none", irreport && irets == 0 && scenario.parameters.iret_ext);
                    count("irets", irets > 0);
                    count("irets of more than one", irets > 1);
                }
                Packet::Start { .. } | Packet::Trap { .. } => count("synchronisations that keep state", kept),
                _ => {}
            }
        }
    }
    let rare: Vec<_> = seen.iter().filter(|&(_, &times)| times < 10).collect();
    assert!(seen.len() == 11 && rare.is_empty(), "{seen:?}");
}

/// What data packets of many scenarios there are, each with how many there must be.
#[test]
fn scenarios_with_data_contain_what_they_are_for() {
    let mut seen = std::collections::BTreeMap::new();
    let mut count = |what: &'static str, there: bool| *seen.entry(what).or_insert(0) += usize::from(there);
    for seed in 0..600 {
        let scenario = scenario(&seeded(seed, 2400), Scope::Data);
        let mut in_flight = 0_i32;
        for packet in packets(&scenario) {
            let data = match packet {
                Packet::Data(data) => data,
                Packet::Support { dloss, .. } | Packet::StandardSupport(StandardSupport { dloss, .. }) => {
                    count("losses", dloss);
                    continue;
                }
                _ => continue,
            };
            let (address, value) = match data {
                DataPacket::Load(Transfer { address, data, multi, unaligned, .. })
                | DataPacket::Store(Transfer { address, data, multi, unaligned, .. }) => {
                    count("unaligned", unaligned);
                    count("multi", multi);
                    count("without address", address.is_none());
                    count("without data", data.is_none());
                    (address, data)
                }
                DataPacket::LoadRequest(request) => {
                    in_flight += 1;
                    count("load requests", true);
                    count("two in flight", in_flight > 1);
                    (Some(request.address), None)
                }
                DataPacket::LoadData(response) => {
                    in_flight -= 1;
                    count("load errors", response.data.is_none());
                    (None, response.data)
                }
                DataPacket::Atomic(atomic) => {
                    count("atomics", true);
                    count("failed comparisons", atomic.op == AtomicOperation::CompareAndSwapFailure);
                    (atomic.address, atomic.data)
                }
                DataPacket::AtomicRequest(request) => {
                    in_flight += 1;
                    count("atomic requests without address", request.address.is_none());
                    (request.address, None)
                }
                DataPacket::AtomicData(response) => {
                    in_flight -= 1;
                    count("atomic responses", response.data.is_some());
                    count("atomic errors", response.data.is_none());
                    (None, response.data)
                }
                DataPacket::Csr(csr) => {
                    count("CSRs", true);
                    (None, csr.data)
                }
            };
            count("full addresses", matches!(address, Some(ReportedAddress::Full(_))));
            count("address differences", matches!(address, Some(ReportedAddress::Delta(_))));
            count("full data", matches!(value, Some(ReportedData::Full(_))));
            count("exclusive ors", matches!(value, Some(ReportedData::Xor(_))));
            count("data differences", matches!(value, Some(ReportedData::Delta(_))));
        }
    }
    let rare: Vec<_> = seen.iter().filter(|&(_, &times)| times < 20).collect();
    assert!(seen.len() == 19 && rare.is_empty(), "{seen:?}");
}
