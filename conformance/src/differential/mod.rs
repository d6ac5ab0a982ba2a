//! Two decoders on the same streams: their disagreements, grouped by kind and shrunk.
//!
//! Neither side is the oracle: the specification decides. Streams come from the cases' wires, from generated scenarios,
//! and from damaging both.

mod compare;
mod shrink;
mod streams;

use std::collections::BTreeMap;

use serde::Serialize;
use traceproof_vectors::notation::show_bytes;

use crate::ProtocolName;
use crate::Subject;
use crate::family::FamilyRules;
use crate::suite::{Directories, Selection};
use crate::verdict::Divergence;

pub use compare::{Comparison, compare};
pub use shrink::shrink;
pub use streams::{Stream, damaged, of_cases, of_seed};

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
    let mut found = Found::<P> { first, second, compared: 0, skipped: 0, clusters: BTreeMap::new() };
    let cases = of_cases::<P>(&options.directories, &options.selection)?;
    let generated = options.seeds.clone().filter_map(of_seed::<P>);
    for (number, stream) in cases.into_iter().chain(generated).enumerate() {
        progress(number + 1);
        if options.damage {
            found.look_at(damaged(&stream, number as u64));
        }
        found.look_at(stream);
    }
    Ok(found.into_differences())
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
        let divergence = match compare(self.first, self.second, &stream) {
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
                    matches!(compare(first, second, smaller),
                        Comparison::Different(divergence) if divergence.kind() == kind)
                });
                let Comparison::Different(divergence) = compare(first, second, &stream) else { return None };
                Some(Cluster {
                    kind,
                    streams,
                    examples,
                    wire: show_bytes(&stream.wire),
                    units: P::show_wire(&stream.wire, &stream.parameters),
                    parameters: streams::deviations::<P>(&stream.parameters),
                    divergence: *divergence,
                })
            })
            .collect();
        clusters.sort_by(|a, b| b.streams.cmp(&a.streams).then_with(|| a.kind.cmp(&b.kind)));
        Differences { protocol: ProtocolName(P::ID), compared, skipped, clusters }
    }
}
