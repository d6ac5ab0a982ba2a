//! Streams to compare decoders over.

use traceproof_differential::Stream;
use traceproof_vectors::case::{self, SuiteError};

use crate::family::{FamilyRules, Generated};
use crate::generate::{self, Seed};
use crate::suite::{Directories, Selection, Suite};

/// The wires of the selected cases.
///
/// # Errors
///
/// Everything that is wrong with the suites.
pub fn of_cases<P: FamilyRules>(
    directories: &Directories,
    selection: &Selection,
) -> Result<Vec<Stream<P>>, Vec<SuiteError>> {
    if !selection.takes_protocol(P::ID) {
        return Ok(Vec::new());
    }
    let files = Suite::<P>::load(directories)?.files;
    let taken = files.into_iter().filter(|file| selection.takes(file));
    Ok(taken.map(of_case).collect())
}

fn of_case<P: FamilyRules>(file: case::CaseFile<P>) -> Stream<P> {
    let case::CaseFile { case, resolved, .. } = file;
    Stream {
        name: case.id,
        parameters: case.parameters,
        program: resolved.program,
        readings: case.readings,
        wire: resolved.wire,
    }
}

/// The stream of the reference encoder model for the scenario of a seed; `None` where the family generates none.
#[must_use]
pub fn of_seed<P: FamilyRules>(seed: u64) -> Option<Stream<P>> {
    let generated = Seed { number: seed, damaged: false }.generated::<P>()?;
    let Generated { parameters, program, wire, .. } = generated;
    let readings = P::readings_of_executions(&parameters).into_iter().map(str::to_owned).collect();
    Some(Stream { name: format!("seed {seed}"), parameters, program, readings, wire })
}

/// The stream with one byte changed, which one and how by `seed`.
#[must_use]
pub fn damaged<P: FamilyRules>(stream: &Stream<P>, seed: u64) -> Stream<P> {
    let (at, _) = generate::case::damage(&stream.wire, seed);
    let wire = generate::case::damaged(&stream.wire, seed);
    Stream { name: format!("{}, byte {at} changed", stream.name), wire, ..stream.clone() }
}

/// The stream with the bytes of another one after it. What those leave in spite of a reset shows when the stream
/// is decoded again.
#[must_use]
pub fn followed<P: FamilyRules>(stream: &Stream<P>, by: &Stream<P>) -> Stream<P> {
    let name = format!("{}, then {}", stream.name, by.name);
    Stream { name, wire: [stream.wire.as_slice(), &by.wire].concat(), ..stream.clone() }
}
