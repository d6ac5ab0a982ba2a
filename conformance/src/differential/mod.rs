//! Two decoders on the same streams: their disagreements, grouped by kind and shrunk.
//!
//! Neither side is the oracle: the specification decides. Streams come from the cases' wires, from generated scenarios,
//! from damaging both, from one followed by another one (which also shows state that survives a reset), and, if there is
//! time for it, from mutating those that exercise something new.

mod compare;
mod known;
mod pool;
mod streams;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use traceproof_differential::shrink_while;
use traceproof_vectors::notation::show_bytes;

use crate::ProtocolName;
use crate::Subject;
use crate::baseline::Baseline;
use crate::family::FamilyRules;
use crate::suite::{Directories, Selection};
use crate::verdict::Divergence;

use pool::Pool;

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
    /// How long it takes: four fifths of it to compare, mutated streams when all others are compared, and the rest to
    /// shrink what was found, in equal parts. Only a comparison that has begun ends later. `None`: until all streams
    /// are compared, and what was found is shrunk.
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
    let begin = Instant::now();
    let end = options.time.and_then(|time| begin.checked_add(time));
    let in_time = || options.time.is_none_or(|time| begin.elapsed() < time / 5 * 4);
    let mut pool = Pool::new();
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
            pool.add(&stream, true);
        }
        before = Some(stream.clone());
        found.look_at(stream);
        number += 1;
    }
    while end.is_some() && in_time() {
        let Some(stream) = pool.mutated() else { break };
        number += 1;
        progress(number);
        pool.add(&stream, false);
        found.look_at(stream);
    }
    let time_left = || end.map(|end| end.saturating_duration_since(Instant::now()));
    Ok(Differences { known, ..found.into_differences(&time_left) })
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

    /// Shrinks one stream of each kind in an equal part of the time that is left; `None`: as long as it takes.
    fn into_differences(self, time_left: &dyn Fn() -> Option<Duration>) -> Differences {
        let Self { first, second, compared, skipped, clusters } = self;
        let mut kinds = clusters.len();
        let mut clusters: Vec<Cluster> = clusters
            .into_iter()
            .filter_map(|(kind, (examples, streams, stream))| {
                // What must be left when it is the next one's turn.
                let rest = time_left().map(|left| left - left / u32::try_from(kinds).unwrap_or(u32::MAX));
                kinds -= 1;
                let in_time = || time_left() > rest || rest.is_none();
                let shows = |smaller: &Stream<P>| {
                    matches!(examine(first, second, smaller),
                        Comparison::Different(divergence) if divergence.kind() == kind)
                };
                let stream = shrink_while(stream, in_time, shows);
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use traceproof_vectors::riscv_etrace::{FEATURES, Parameters, RiscvEtrace};
    use traceproof_vectors::{Capabilities, Decoder, Layer, Program, Refusal, Sink};

    /// Reads nothing, and counts the streams that begin.
    struct Deaf(Arc<AtomicUsize>);

    impl Decoder<RiscvEtrace> for Deaf {
        fn capabilities(&self) -> Capabilities {
            let features = FEATURES.iter().map(|feature| feature.name);
            Capabilities::new([Layer::Packets]).with_features(features)
        }

        fn begin(&mut self, _: &Parameters, _: &Program) -> Result<(), Refusal> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn push(&mut self, _: &[u8], _: &mut dyn Sink<RiscvEtrace>) {}

        fn finish(&mut self, _: &mut dyn Sink<RiscvEtrace>) {}

        fn reset(&mut self) {}
    }

    /// How many comparisons follow when so many looks at the clock are left for two kinds, and the bytes of the
    /// streams that are shown then.
    fn shrunk(looks: Option<u32>) -> (usize, Vec<usize>) {
        let begun = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&begun);
        let deaf = Subject::new("deaf", "0")
            .with_decoder::<RiscvEtrace>(move || Box::new(Deaf(Arc::clone(&counted))));
        let reference = Subject::reference();
        let mut found = Found::<RiscvEtrace> {
            first: &reference,
            second: &deaf,
            compared: 0,
            skipped: 0,
            clusters: BTreeMap::new(),
        };
        // Units of a support packet, and of three bytes of null packets.
        let wire = [[3, 0x73, 0, 0].as_slice(), &[0; 60]].concat();
        let (name, program, readings) = (String::from("long"), Program::new(), Vec::new());
        let stream = Stream { name, parameters: Parameters::default(), program, readings, wire };
        found.look_at(stream.clone());
        let kind = found.clusters.keys().next().expect("deaf").clone();
        found.clusters.insert(format!("{kind} also"), (Vec::new(), 1, stream));
        begun.store(0, Ordering::Relaxed);
        let left = Cell::new(looks.unwrap_or_default());
        let differences = found.into_differences(&|| {
            looks?;
            left.set(left.get().saturating_sub(1));
            Some(Duration::from_secs(left.get().into()))
        });
        let bytes = |cluster: &Cluster| cluster.wire.split(' ').count();
        (begun.load(Ordering::Relaxed), differences.clusters.iter().map(bytes).collect())
    }

    #[test]
    fn shrinking_ends_with_the_time() {
        let (all, bytes) = shrunk(None);
        assert!(all > 10 && bytes.iter().any(|bytes| *bytes < 10), "{all} {bytes:?}");
        let (none, bytes) = shrunk(Some(0));
        assert_eq!((none, bytes), (2, vec![64, 64]), "each kind is examined once more, to be shown");
        let (some, _) = shrunk(Some(12));
        assert!(none < some && some < all, "{some}");
    }
}
