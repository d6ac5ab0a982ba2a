//! Two decoders on the same streams: their disagreements, grouped by kind and shrunk.
//!
//! Neither side is the oracle: the specification decides. Streams come from the cases' wires, from generated scenarios,
//! from damaging both, from one followed by another one (which also shows state that survives a reset), and, if there is
//! time for it, from mutating those that exercise something new.

mod compare;
mod known;
mod streams;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde::Serialize;
use traceproof_differential::mutation::{Random, mutate};
use traceproof_vectors::notation::show_bytes;

use crate::ProtocolName;
use crate::Subject;
use crate::baseline::Baseline;
use crate::family::FamilyRules;
use crate::suite::{Directories, Selection};
use crate::verdict::Divergence;

pub use compare::{Comparison, compare, examine};
pub use known::{KnownFinding, findings_of, known_findings};
pub use streams::{damaged, followed, of_cases, of_seed};
pub use traceproof_differential::fuzz::file_name;
pub use traceproof_differential::novelty::features;
pub use traceproof_differential::{Stream, shrink};

/// Which streams to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the cases are.
    pub directories: Directories,
    /// Which of them.
    pub selection: Selection,
    /// Seeds of generated streams, as many as there are.
    pub seeds: std::ops::Range<u64>,
    /// Whether every stream is compared damaged, too: one byte of it changed.
    pub damage: bool,
    /// For how long to compare; when all streams are compared, mutated ones follow. `None`: until they are.
    pub time: Option<Duration>,
    /// Known failures of the second subject, to name the finding of a kind.
    pub baseline: Option<Baseline>,
}

/// What two subjects disagree about in one family.
#[derive(Clone, Debug, Serialize)]
pub struct Differences {
    /// The protocol.
    #[serde(flatten)]
    pub protocol: ProtocolName,
    /// Streams that both took.
    pub compared: usize,
    /// Streams that one of them does not claim, or refused.
    pub skipped: usize,
    /// Disagreements by kind, the most frequent first.
    pub clusters: Vec<Cluster>,
    /// With a baseline: its findings about this protocol's decoder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownFinding>,
}

impl Differences {
    /// Whether every kind may belong to a finding that is known.
    #[must_use]
    pub fn are_known(&self) -> bool {
        self.clusters.iter().all(|cluster| !findings_of(&self.known, &cluster.kind).is_empty())
    }
}

/// Disagreements of one kind: the same layer, and the same words first on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Cluster {
    /// What differs, without values: `events: retire / fault missing-outcome`.
    pub kind: String,
    /// On how many streams.
    pub streams: usize,
    /// The names of the first of them.
    pub examples: Vec<String>,
    /// Bytes of the smallest stream that was found to show it, in pairs of digits.
    pub wire: String,
    /// The same in the notation of cases.
    pub units: Vec<String>,
    /// The parameters that are not the default, as TOML.
    pub parameters: String,
    /// The first difference on it. Expected is the result of the first subject.
    pub divergence: Divergence,
    /// The file of that stream ([`Stream::file`]).
    #[serde(skip)]
    pub file: Vec<u8>,
}

/// How many names of streams a cluster keeps.
const EXAMPLES: usize = 5;

/// Compares two subjects over the streams of one family.
///
/// # Errors
///
/// Everything that is wrong with the suites.
pub fn differences<P: FamilyRules>(
    first: &Subject,
    second: &Subject,
    options: &Options,
    progress: &dyn Fn(usize),
) -> Result<Differences, Vec<traceproof_vectors::case::SuiteError>> {
    let known = options
        .baseline
        .as_ref()
        .map(|baseline| known_findings::<P>(baseline, [first, second], &options.directories));
    let known = known.transpose()?.unwrap_or_default();
    let mut found = Found::<P> { first, second, compared: 0, skipped: 0, clusters: BTreeMap::new() };
    let end = options.time.and_then(|time| Instant::now().checked_add(time));
    let in_time = || end.is_none_or(|end| Instant::now() < end);
    let mut pool = Pool { streams: Vec::new(), features: BTreeSet::new(), random: Random::new(0) };
    let cases = of_cases::<P>(&options.directories, &options.selection)?;
    let generated = options.seeds.clone().filter_map(of_seed::<P>);
    let mut number = 0;
    let mut before: Option<Stream<P>> = None;
    for stream in cases.into_iter().chain(generated).take_while(|_| in_time()) {
        progress(number + 1);
        if options.damage {
            found.look_at(damaged(&stream, number as u64));
        }
        if let Some(before) = before.filter(|before| before.parameters == stream.parameters) {
            found.look_at(followed(&stream, &before));
        }
        if end.is_some() {
            pool.add(stream.clone(), true);
        }
        before = Some(stream.clone());
        found.look_at(stream);
        number += 1;
    }
    while end.is_some() && in_time() {
        let Some(stream) = pool.mutated() else { break };
        number += 1;
        progress(number);
        pool.add(stream.clone(), false);
        found.look_at(stream);
    }
    Ok(Differences { known, ..found.into_differences() })
}

/// Streams to mutate.
struct Pool<P: FamilyRules> {
    streams: Vec<Stream<P>>,
    /// What they exercise.
    features: BTreeSet<u64>,
    random: Random,
}

impl<P: FamilyRules> Pool<P> {
    /// Keeps a stream that exercises something new, or any with `always`.
    fn add(&mut self, stream: Stream<P>, always: bool) {
        let before = self.features.len();
        self.features.append(&mut features(&stream));
        if always || self.features.len() > before {
            self.streams.push(stream);
        }
    }

    /// Another stream; `None` if there is nothing to begin with.
    fn mutated(&mut self) -> Option<Stream<P>> {
        let donor = self.streams.get(self.random.below(self.streams.len()))?.wire.clone();
        let mut stream = self.streams.get(self.random.below(self.streams.len()))?.clone();
        mutate(&mut stream, &donor, &mut self.random);
        if !stream.name.ends_with(" mutated") {
            stream.name.push_str(" mutated");
        }
        Some(stream)
    }
}

struct Found<'a, P: FamilyRules> {
    first: &'a Subject,
    second: &'a Subject,
    compared: usize,
    skipped: usize,
    clusters: BTreeMap<String, (Vec<String>, usize, Stream<P>)>,
}

impl<P: FamilyRules> Found<'_, P> {
    fn look_at(&mut self, stream: Stream<P>) {
        let divergence = match examine(self.first, self.second, &stream) {
            Comparison::Skipped => {
                self.skipped += 1;
                return;
            }
            Comparison::Same => {
                self.compared += 1;
                return;
            }
            Comparison::Different(divergence) => divergence,
        };
        self.compared += 1;
        let name = stream.name.clone();
        let (names, count, smallest) =
            self.clusters.entry(divergence.kind()).or_insert_with(|| (Vec::new(), 0, stream.clone()));
        *count += 1;
        if names.len() < EXAMPLES {
            names.push(name);
        }
        if stream.wire.len() < smallest.wire.len() {
            *smallest = stream;
        }
    }

    fn into_differences(self) -> Differences {
        let Self { first, second, compared, skipped, clusters } = self;
        let mut clusters: Vec<Cluster> = clusters
            .into_iter()
            .filter_map(|(kind, (examples, streams, stream))| {
                let stream = shrink(stream, |smaller| {
                    matches!(examine(first, second, smaller),
                        Comparison::Different(divergence) if divergence.kind() == kind)
                });
                let Comparison::Different(divergence) = examine(first, second, &stream) else { return None };
                Some(Cluster {
                    kind,
                    streams,
                    examples,
                    wire: show_bytes(&stream.wire),
                    units: P::show_wire(&stream.wire, &stream.parameters),
                    parameters: stream.deviations().to_string(),
                    divergence: *divergence,
                    file: stream.file(),
                })
            })
            .collect();
        clusters.sort_by(|a, b| b.streams.cmp(&a.streams).then_with(|| a.kind.cmp(&b.kind)));
        Differences { protocol: ProtocolName(P::ID), compared, skipped, clusters, known: Vec::new() }
    }
}
