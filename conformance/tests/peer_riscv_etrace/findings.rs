//! Random executions with all features, between the reference models and the crate `riscv-etrace`: every failed round
//! trip shrinks to an execution that a row of `docs/findings/riscv-etrace.md` explains.
//!
//! `cargo test --release -p traceproof-conformance --features peer-riscv-etrace --test peer_riscv_etrace findings --
//! --ignored --nocapture` shows how many disagreements fall to each row.

use std::collections::BTreeMap;

use traceproof_conformance::generate::seeded;
use traceproof_conformance::peers::riscv_etrace as peer;
use traceproof_conformance::riscv_etrace::generate::{Kind, Scenario, Scope, oracle, retirement, scenario};
use traceproof_decoder::riscv_etrace as decoder;
use traceproof_encoder_model::riscv_etrace as encoder_model;
use traceproof_encoder_model::riscv_etrace::Hart;
use traceproof_vectors::riscv_etrace::{Packet, Policy, Retire, RiscvEtrace, Step, Stimulus};
use traceproof_vectors::{Decoder, Encoder, Log};

/// The encoding side; the other one decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Reference,
    Peer,
}

/// An execution that fails the round trip.
struct Disagreement {
    scenario: Scenario,
    packets: Vec<Packet>,
    reason: String,
}

fn disagreement(bytes: &[u8], sender: Sender) -> Option<Disagreement> {
    let mut scenario = scenario(bytes, Scope::Core);
    let (mut encoder, mut decoder): (Box<dyn Encoder<RiscvEtrace>>, Box<dyn Decoder<RiscvEtrace>>) =
        match sender {
            Sender::Reference => (Box::<encoder_model::Encoder>::default(), Box::<peer::Decoder>::default()),
            Sender::Peer => {
                // The inputs of the generator.
                scenario.policy = Policy { compression: scenario.policy.compression, ..Policy::default() };
                (Box::<peer::Encoder>::default(), Box::<decoder::Decoder>::default())
            }
        };
    let program = scenario.program.code().expect("generated programs are programs");
    encoder.begin(&scenario.parameters, &scenario.policy).expect("the encoder claims these parameters");
    decoder.begin(&scenario.parameters, &program).expect("the decoder claims these parameters");
    let (mut sent, mut received) = (Log::<RiscvEtrace>::default(), Log::default());
    Hart::new(&program, &scenario.parameters, retirement(&scenario))
        .with_filters(&scenario.policy.filters)
        .run(scenario.steps.iter().cloned(), &mut |stimulus| encoder.step(stimulus, &mut sent))
        .expect("generated executions belong to their programs");
    encoder.finish(&mut sent);
    decoder.push(&sent.wire, &mut received);
    decoder.finish(&mut received);
    let reason = if sent.packets().eq(received.packets()) {
        oracle::judge(&scenario, &received).err()?.to_string()
    } else {
        String::from("the packets differ")
    };
    Some(Disagreement { scenario, packets: sent.packets().copied().collect(), reason })
}

/// The shortest, simplest bytes found that also fail.
fn shrunk(mut bytes: Vec<u8>, sender: Sender) -> Vec<u8> {
    let fails = |bytes: &[u8]| disagreement(bytes, sender).is_some();
    let mut size = bytes.len() / 2;
    while size > 0 {
        let rest = bytes.len().saturating_sub(size);
        if fails(&bytes[..rest]) {
            bytes.truncate(rest);
            size = size.min(rest);
        } else {
            size /= 2;
        }
    }
    size = bytes.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let end = (at + size).min(bytes.len());
            let without: Vec<u8> = [&bytes[..at], &bytes[end..]].concat();
            if fails(&without) {
                bytes = without;
                continue;
            }
            let mut simpler = bytes.clone();
            simpler[at..end].fill(0);
            if simpler != bytes && fails(&simpler) {
                bytes = simpler;
            }
            at = end;
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    bytes
}

impl Disagreement {
    fn retires(&self, of_kind: impl Fn(&Retire) -> bool) -> bool {
        self.scenario.steps.iter().any(|step| matches!(step, Step::Retire(retire) if of_kind(retire)))
    }

    fn sends(&self, of_kind: impl Fn(&Packet) -> bool) -> bool {
        self.packets.iter().any(of_kind)
    }

    fn stimulated(&self, of_kind: impl Fn(&Stimulus) -> bool) -> bool {
        self.scenario.steps.iter().any(|step| matches!(step, Step::Stimulus(stimulus) if of_kind(stimulus)))
    }

    /// The first row whose subject the execution contains.
    fn row(&self, sender: Sender) -> Option<&'static str> {
        let rows = match sender {
            Sender::Reference => self.tracer_rows().to_vec(),
            Sender::Peer => self.generator_rows().to_vec(),
        };
        rows.into_iter().find(|(holds, _)| *holds).map(|(_, row)| row)
    }

    fn tracer_rows(&self) -> [(bool, &'static str); 8] {
        /// A start packet after an address that is not flagged.
        fn restarts(packets: &[Packet]) -> bool {
            let [first, Packet::Start { .. }] = packets else { return false };
            matches!(
                first,
                Packet::Address { updiscon: false, .. }
                    | Packet::Branch { address: Some(_), updiscon: false, .. }
            )
        }
        let Scenario { parameters, program, .. } = &self.scenario;
        let high = program.base >> (parameters.iaddress_width_p - 1) != 0;
        let changes = self.stimulated(|stimulus| matches!(stimulus, Stimulus::Modes(_)));
        let circles = self.retires(|retire| {
            let kind = program.at(retire.address.0).map(|instruction| instruction.kind);
            retire.taken == Some(true) && kind == Some(Kind::Branch(0))
        });
        [
            (self.stimulated(|stimulus| matches!(stimulus, Stimulus::Transport(_))), "RE-07"),
            (self.sends(|packet| matches!(packet, Packet::Trap { thaddr: false, .. })), "RE-02"),
            (circles, "RE-01"),
            (high && (parameters.modes.full_address || changes), "RE-03"),
            (high, "RE-04"),
            (changes || self.sends(|packet| matches!(packet, Packet::Context { .. })), "RE-06"),
            (self.sends(|packet| matches!(packet, Packet::Trap { thaddr: true, .. })), "RE-13"),
            (self.packets.windows(2).any(restarts), "RE-16"),
        ]
    }

    fn generator_rows(&self) -> [(bool, &'static str); 6] {
        /// A trap or not, and whether it is qualified.
        fn item((step, qualified): (&Step, bool)) -> Option<(bool, bool)> {
            match step {
                Step::Retire(_) => Some((false, qualified)),
                Step::Trap(_) => Some((true, qualified)),
                Step::Stimulus(_) => None,
            }
        }
        let qualified = self.scenario.qualified();
        let mut items: Vec<_> = self.scenario.steps.iter().zip(qualified).filter_map(item).collect();
        // Nothing is traced before the first and after the last item.
        items.insert(0, (false, false));
        items.push((false, false));
        let follow = |pair: fn((bool, bool), (bool, bool)) -> bool| {
            items.windows(2).any(|items| matches!(items, [first, second] if pair(*first, *second)))
        };
        [
            (follow(|first, second| !first.1 && second == (true, true)), "RE-42"),
            (follow(|first, second| first.0 && second.0), "RE-43"),
            (follow(|first, second| first.0 && !second.1), "RE-48"),
            (self.scenario.parameters.retires_p > 1, "RE-40"),
            (self.retires(|retire| retire.ctype != 0), "RE-44"),
            (self.scenario.steps.iter().any(|step| matches!(step, Step::Trap(_))), "RE-41"),
        ]
    }
}

/// The number of executions that pass, and of disagreements that each row explains.
///
/// # Panics
///
/// When no row explains one.
fn explained(sender: Sender, seeds: u64) -> (u64, BTreeMap<&'static str, u64>) {
    let (mut agreed, mut rows) = (0, BTreeMap::new());
    for seed in 0..seeds {
        let bytes = seeded(seed, 200 + usize::try_from(seed * 37 % 1200).unwrap_or_default());
        if disagreement(&bytes, sender).is_none() {
            agreed += 1;
            continue;
        }
        let smallest = disagreement(&shrunk(bytes, sender), sender).expect("shrinking keeps disagreements");
        let Disagreement { scenario, packets, reason } = &smallest;
        let row = smallest.row(sender).unwrap_or_else(|| {
            panic!("seed {seed} from {sender:?}: no row explains this: {reason}\n{scenario}{packets:x?}")
        });
        *rows.entry(row).or_default() += 1;
    }
    (agreed, rows)
}

#[test]
#[ignore = "shrinks hundreds of executions: minutes"]
fn rows_explain_what_the_peer_does_not_decode() {
    let (agreed, rows) = explained(Sender::Reference, 200);
    println!("from the reference's encoder to the crate: {agreed} agree, {rows:?}");
    assert!(agreed > 100, "{agreed} {rows:?}");
}

#[test]
#[ignore = "shrinks hundreds of executions: minutes"]
fn rows_explain_what_the_peer_does_not_encode() {
    let (agreed, rows) = explained(Sender::Peer, 400);
    println!("from the crate's generator to the reference: {agreed} agree, {rows:?}");
    assert!(agreed > 200, "{agreed} {rows:?}");
}

/// A few of them, for every run.
#[test]
fn few_executions_are_explained() {
    for sender in [Sender::Reference, Sender::Peer] {
        let (agreed, rows) = explained(sender, 16);
        assert!(agreed > 4 && !rows.is_empty(), "{agreed} {rows:?}");
    }
}
