//! Which finding of a baseline a kind of disagreement belongs to.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use traceproof_vectors::case::SuiteError;

use super::{Comparison, Stream, compare, damaged, of_cases, of_seed};
use crate::Subject;
use crate::baseline::{Baseline, Known};
use crate::family::FamilyRules;
use crate::generate::Seed;
use crate::suite::{Directories, Selection};
use crate::verdict::Direction;

/// A finding of a baseline, and the kinds by which it shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KnownFinding {
    /// Where it is written down.
    pub finding: String,
    /// Kinds that the baseline lists for it, and those that the streams of its checks show.
    pub kinds: BTreeSet<String>,
}

/// The findings of a baseline that are about decoding streams of a protocol, in its order.
///
/// # Errors
///
/// Everything that is wrong with the suites.
pub fn known_findings<P: FamilyRules>(
    baseline: &Baseline,
    [first, second]: [&Subject; 2],
    directories: &Directories,
) -> Result<Vec<KnownFinding>, Vec<SuiteError>> {
    let cases = of_cases::<P>(directories, &Selection::default())?;
    let cases: BTreeMap<String, Stream<P>> =
        cases.into_iter().map(|stream| (stream.name.clone(), stream)).collect();
    let stream = |id: &str| match Seed::named::<P>(id) {
        Some(seed) => {
            let stream = of_seed::<P>(seed.number)?;
            Some(if seed.damaged { damaged(&stream, seed.number) } else { stream })
        }
        None => cases.get(id).cloned(),
    };
    let mut findings: Vec<KnownFinding> = Vec::new();
    for Known { finding, checks, kinds, .. } in &baseline.known {
        let of_decoders = checks.iter().filter(|check| is_of_decoders(check.direction));
        let streams: Vec<Stream<P>> = of_decoders.filter_map(|check| stream(&check.id)).collect();
        if streams.is_empty() && kinds.is_empty() {
            continue;
        }
        let shown = streams.iter().filter_map(|stream| match compare(first, second, stream) {
            Comparison::Different(divergence) => Some(divergence.kind()),
            Comparison::Same | Comparison::Skipped => None,
        });
        let kinds = kinds.iter().cloned().chain(shown).collect();
        match findings.iter_mut().find(|known| known.finding == *finding) {
            Some(known) => known.kinds.extend(kinds),
            None => findings.push(KnownFinding { finding: finding.clone(), kinds }),
        }
    }
    Ok(findings)
}

const fn is_of_decoders(direction: Direction) -> bool {
    match direction {
        Direction::Decode | Direction::Chunks | Direction::Join | Direction::Garbage => true,
        Direction::Encode | Direction::Write | Direction::RoundTrip => false,
    }
}

/// The findings that a kind may belong to.
#[must_use]
pub fn findings_of<'a>(known: &'a [KnownFinding], kind: &str) -> Vec<&'a str> {
    known.iter().filter(|known| known.kinds.contains(kind)).map(|known| known.finding.as_str()).collect()
}
