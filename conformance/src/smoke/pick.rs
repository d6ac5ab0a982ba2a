//! Selects shipped cases for probes: small, simple, and with claimed features only.

use std::collections::BTreeSet;

use traceproof_vectors::case::{CaseFile, Expected, Level, Polarity};
use traceproof_vectors::{Capabilities, Layer, Reading};

use crate::family::FamilyRules;

/// A stream has so many results at least, if there is one, so that something can get lost.
const RESULTS: usize = 3;

/// So many small cases are tried at most: a tool may be unable to state the results of the first ones.
const SMALL: usize = 40;

/// The smallest cases that a decoder with these capabilities must get right, the smallest first.
pub(super) fn small<'a, P: FamilyRules>(
    files: &'a [CaseFile<P>],
    capabilities: &Capabilities,
) -> Vec<&'a CaseFile<P>> {
    let claimed = |file: &&CaseFile<P>| {
        is_plain(file, capabilities)
            && missing(&needs(file), capabilities) == 0
            && results(file, capabilities) > 0
    };
    // Few results are better than none.
    let order = |file: &&CaseFile<P>| {
        (results(file, capabilities) < RESULTS, file.resolved.wire.len(), file.case.id.clone())
    };
    let mut small: Vec<_> = files.iter().filter(claimed).collect();
    small.sort_by_cached_key(order);
    small.truncate(SMALL);
    small
}

/// The smallest case that needs a feature which is claimed, and nothing that is not.
pub(super) fn claimed<'a, P: FamilyRules>(
    files: &'a [CaseFile<P>],
    feature: &str,
    capabilities: &Capabilities,
) -> Option<&'a CaseFile<P>> {
    files
        .iter()
        .filter(|file| is_plain(file, capabilities))
        .filter(|file| needs(file).contains(feature) && missing(&needs(file), capabilities) == 0)
        .min_by_key(|file| (file.resolved.wire.len(), file.case.id.clone()))
}

/// The case whose parameters need a feature which is not claimed, and as little else that is not; the smallest of them.
pub(super) fn unclaimed<'a, P: FamilyRules>(
    files: &'a [CaseFile<P>],
    feature: &str,
    capabilities: &Capabilities,
) -> Option<&'a CaseFile<P>> {
    let needed = |file: &CaseFile<P>| -> BTreeSet<&str> {
        // What the wire alone shows cannot be refused when the decoder begins.
        P::required_features(&file.case.parameters, &[]).into_iter().collect()
    };
    files
        .iter()
        .filter(|file| is_plain(file, capabilities) && results(file, capabilities) > 0)
        .filter(|file| needed(file).contains(feature))
        .min_by_key(|file| {
            (missing(&needs(file), capabilities), file.resolved.wire.len(), file.case.id.clone())
        })
}

/// The smallest case whose stimulus an encoder with these capabilities must turn into its stream.
pub(super) fn stimulus<'a, P: FamilyRules>(
    files: &'a [CaseFile<P>],
    capabilities: &Capabilities,
) -> Option<&'a CaseFile<P>> {
    files
        .iter()
        .filter(|file| file.resolved.execution.is_some() && is_must(file))
        .filter(|file| claims_readings(file, capabilities, Reading::binds_encoders))
        .filter(|file| missing(&needs(file), capabilities) == 0 && !file.resolved.wire.is_empty())
        .min_by_key(|file| (file.resolved.wire.len(), file.case.id.clone()))
}

/// A rule that must be kept and is, without faults and without readings that are not claimed.
fn is_plain<P: FamilyRules>(file: &CaseFile<P>, capabilities: &Capabilities) -> bool {
    let faults = file.resolved.events.iter().flatten().any(|event| matches!(event, Expected::Fault(_)));
    is_must(file) && !faults && claims_readings(file, capabilities, Reading::binds_decoders)
}

fn is_must<P: FamilyRules>(file: &CaseFile<P>) -> bool {
    file.case.level == Level::Must && file.case.polarity == Polarity::Positive
}

fn claims_readings<P: FamilyRules>(
    file: &CaseFile<P>,
    capabilities: &Capabilities,
    binds: fn(&Reading) -> bool,
) -> bool {
    let bound = |name: &&String| P::READINGS.iter().any(|reading| reading.name == **name && binds(reading));
    file.case.readings.iter().filter(bound).all(|name| capabilities.readings.contains(name))
}

fn needs<P: FamilyRules>(file: &CaseFile<P>) -> BTreeSet<&'static str> {
    P::required_features(&file.case.parameters, &file.resolved.wire).into_iter().collect()
}

fn missing(needs: &BTreeSet<&str>, capabilities: &Capabilities) -> usize {
    needs.iter().filter(|feature| !capabilities.features.contains(**feature)).count()
}

/// How many results are judged.
fn results<P: FamilyRules>(file: &CaseFile<P>, capabilities: &Capabilities) -> usize {
    let packets = file.resolved.packets.as_ref().filter(|_| capabilities.layers.contains(&Layer::Packets));
    let events = file.resolved.events.as_ref().filter(|_| capabilities.layers.contains(&Layer::Events));
    packets.map_or(0, Vec::len) + events.map_or(0, Vec::len)
}
