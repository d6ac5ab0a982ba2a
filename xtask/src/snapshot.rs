//! OpenCSD snapshot directories: selection of their sources for a verb.

use std::path::Path;

use traceproof_conformance::family::protocol_of;
use traceproof_conformance::snapshot::{Snapshot, Stream};
use traceproof_vectors::notation::parse_u64;
use traceproof_vectors::{Family, ProtocolId};

use crate::exit::Failure;

/// Whether a path is a snapshot: a directory with a `snapshot.ini`.
pub(crate) fn is_snapshot(path: &Path) -> bool {
    path.join("snapshot.ini").is_file()
}

pub(crate) fn read(directory: &Path) -> Result<Snapshot, Failure> {
    Snapshot::read(directory).map_err(|error| Failure::usage(error.to_string()))
}

/// The streams of the sources and families that are wanted; all, where nothing is.
///
/// `sources` are names or trace IDs.
pub(crate) fn select<'a>(
    snapshot: &'a Snapshot,
    sources: &[String],
    families: &[Family],
) -> Result<Vec<Stream<'a>>, Failure> {
    let streams: Vec<Stream<'a>> = snapshot.streams().collect();
    let named = |stream: &Stream<'_>, wanted: &str| {
        let id = || stream.trace_id().ok().map(|id| u64::from(id.value()));
        stream.source.name == wanted || (parse_u64(wanted).is_some() && parse_u64(wanted) == id())
    };
    if let Some(unknown) = sources.iter().find(|wanted| !streams.iter().any(|stream| named(stream, wanted))) {
        let known: Vec<&str> = streams.iter().map(|stream| stream.source.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "no source is called `{unknown}`; known are {}",
            known.join(", ")
        )));
    }
    let wanted = |stream: &Stream<'_>| {
        let family = protocol_of(stream.protocol).map(ProtocolId::family);
        (sources.is_empty() || sources.iter().any(|wanted| named(stream, wanted)))
            && (families.is_empty() || family.is_some_and(|family| families.contains(&family)))
    };
    let selected: Vec<Stream<'a>> = streams.into_iter().filter(wanted).collect();
    if selected.is_empty() {
        return Err(Failure::usage(format!("{}: no such source", snapshot.directory.display())));
    }
    Ok(selected)
}
