//! Generated scenarios as cases: what a run judges besides the shipped ones.

use std::path::PathBuf;

use traceproof_vectors::Log;
use traceproof_vectors::case::{Case, CaseFile, Labels, Level, Polarity, Provenance, Resolved, SCHEMA};

use super::{Entropy, seeded};
use crate::family::{FamilyRules, Generated};
use crate::judge::expected;
use crate::relations::push_all;

/// Default number of generated executions of each family in a run, from number 0 on; baselines rely on it.
pub const DEFAULT_GENERATED_PER_FAMILY: u64 = 100;

/// A scenario by its number, whole or with one byte of its wire changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seed {
    /// The number.
    pub number: u64,
    /// One byte of the wire is changed; which one and how follows from the number.
    pub damaged: bool,
}

impl Seed {
    /// The seeds of these numbers, each whole and damaged.
    pub fn of(numbers: std::ops::Range<u64>) -> impl Iterator<Item = Self> {
        numbers.flat_map(|number| [false, true].map(|damaged| Self { number, damaged }))
    }

    /// The id of its case: `etr-seed-17`, `etr-seed-17-damaged`.
    #[must_use]
    pub fn id<P: FamilyRules>(self) -> String {
        let damaged = if self.damaged { "-damaged" } else { "" };
        format!("{}seed-{}{damaged}", P::ID.case_prefix(), self.number)
    }

    /// The seed of this id, if it is one of the protocol.
    #[must_use]
    pub fn named<P: FamilyRules>(id: &str) -> Option<Self> {
        let rest = id.strip_prefix(P::ID.case_prefix())?.strip_prefix("seed-")?;
        let (number, damaged) = rest.strip_suffix("-damaged").map_or((rest, false), |number| (number, true));
        let seed = Self { number: number.parse().ok()?, damaged };
        (seed.id::<P>() == id).then_some(seed)
    }

    /// Where its case would lie if it were a file: `riscv_etrace/generated/17`.
    #[must_use]
    pub fn path<P: FamilyRules>(self) -> PathBuf {
        let damaged = if self.damaged { "-damaged" } else { "" };
        PathBuf::from(format!("{}/generated/{}{damaged}", P::ID.name(), self.number))
    }

    /// The behaviour in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        if self.damaged { "A generated execution, one byte changed" } else { "A generated execution" }
    }

    /// The level of its case: the result for a damaged stream is undefined, but it must be repeatable.
    #[must_use]
    pub const fn level(self) -> Level {
        if self.damaged { Level::Robust } else { Level::Must }
    }

    /// Short and long ones, so that most are easy to read.
    fn entropy(self) -> Vec<u8> {
        seeded(self.number, 200 << (self.number % 5))
    }

    /// The scenario and its wire, not damaged; `None` where the family generates none.
    #[must_use]
    pub fn generated<P: FamilyRules>(self) -> Option<Generated<P>> {
        (P::GENERATOR?.generate)(&self.entropy())
    }

    /// The case: a stream that the reference encoder model made of an execution, and what a decoder reports of it. That
    /// is confirmed by an oracle that follows the execution and knows nothing of packets; what the oracle or a
    /// reference model has against it comes beside, and then the case expects nothing. Of a damaged stream nothing is
    /// expected either, but relations hold.
    ///
    /// `None` where the family generates none.
    #[must_use]
    pub fn case<P: FamilyRules>(self) -> Option<(CaseFile<P>, Result<(), String>)> {
        let generated = self.generated::<P>()?;
        if self.damaged {
            let wire = damaged(&generated.wire, self.number);
            return Some((self.file(Generated { wire, ..generated }, None), Ok(())));
        }
        let log = (P::GENERATOR?.confirm)(&self.entropy()).and_then(|()| {
            let mut decoder = P::reference_decoder();
            decoder
                .begin(&generated.parameters, &generated.program)
                .map_err(|refusal| format!("the reference decoder refuses: {refusal}"))?;
            Ok(push_all(decoder.as_mut(), [generated.wire.as_slice()]))
        });
        let (log, confirmed) = match log {
            Ok(log) => (Some(log), Ok(())),
            Err(message) => (None, Err(message)),
        };
        Some((self.file(generated, log), confirmed))
    }

    /// What only the reference models show for this execution ([`Generator::examine`](crate::family::Generator)).
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub(crate) fn examine<P: FamilyRules>(self) -> Result<(), String> {
        match P::GENERATOR {
            Some(generator) if !self.damaged => {
                (generator.examine)(&self.entropy())?;
                if self.number == 0 { (generator.examine_once)() } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    fn file<P: FamilyRules>(self, generated: Generated<P>, log: Option<Log<P>>) -> CaseFile<P> {
        let Generated { parameters, policy, program, execution, wire } = generated;
        let confirmed = if self.damaged { "" } else { "by an oracle that follows the execution" };
        let catches = if self.damaged {
            "results of damaged streams that depend on chunks or on what was before"
        } else {
            "whatever mixtures no case has that was written by hand"
        };
        let case = Case {
            schema: SCHEMA,
            id: self.id::<P>(),
            rev: 1,
            family: P::FAMILY,
            protocol: (!P::ID.is_main()).then_some(P::ID),
            title: self.title().to_owned(),
            level: self.level(),
            clauses: Vec::new(),
            polarity: Polarity::Positive,
            catches: catches.to_owned(),
            provenance: Provenance::Generated { seed: self.number, confirmed: confirmed.to_owned() },
            readings: P::readings_of_executions(&parameters).into_iter().map(str::to_owned).collect(),
            canonical: false,
            parameters,
            policy,
            program: String::new(),
            stimulus: Vec::new(),
            wire: Vec::new(),
            packets: None,
            events: None,
        };
        let resolved = Resolved {
            program,
            labels: Labels::default(),
            execution: log.is_some().then_some(execution),
            wire,
            packets: log.as_ref().map(|log| log.packets().cloned().collect()),
            events: log.as_ref().map(expected),
        };
        CaseFile { path: self.path::<P>(), text: String::new(), case, resolved, earlier: None }
    }
}

/// The bytes with one changed, which one and how by `seed`.
#[must_use]
pub(crate) fn damaged(wire: &[u8], seed: u64) -> Vec<u8> {
    let (at, mask) = damage(wire, seed);
    let mut wire = wire.to_vec();
    if let Some(byte) = wire.get_mut(at) {
        *byte ^= mask;
    }
    wire
}

/// The byte that damage changes, and the bits of it.
#[must_use]
pub(crate) fn damage(wire: &[u8], seed: u64) -> (usize, u8) {
    let bytes = seeded(seed, 4);
    let mut entropy = Entropy::new(&bytes);
    (entropy.below(wire.len()), entropy.byte().max(1))
}
