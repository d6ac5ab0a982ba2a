//! Streams to compare decoders over.

use traceproof_vectors::Program;
use traceproof_vectors::case::{self, SuiteError};

use crate::family::{FamilyRules, Generated};
use crate::generate::{self, Seed};
use crate::suite::{Directories, Selection, Suite};

/// A stream with everything that a decoder needs for it.
#[derive(Clone, Debug)]
pub struct Stream<P: FamilyRules> {
    /// Where it comes from.
    pub name: String,
    /// What a decoder must know.
    pub parameters: P::Parameters,
    /// The code.
    pub program: Program,
    /// The bytes.
    pub wire: Vec<u8>,
}

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
    Stream { name: case.id, parameters: case.parameters, program: resolved.program, wire: resolved.wire }
}

/// The stream of the reference encoder model for the scenario of a seed; `None` where the family generates none.
#[must_use]
pub fn of_seed<P: FamilyRules>(seed: u64) -> Option<Stream<P>> {
    let generated = Seed { number: seed, damaged: false }.generated::<P>()?;
    let Generated { parameters, program, wire, .. } = generated;
    Some(Stream { name: format!("seed {seed}"), parameters, program, wire })
}

/// The stream with one byte changed, which one and how by `seed`.
#[must_use]
pub fn damaged<P: FamilyRules>(stream: &Stream<P>, seed: u64) -> Stream<P> {
    let (at, _) = generate::case::damage(&stream.wire, seed);
    let wire = generate::case::damaged(&stream.wire, seed);
    Stream { name: format!("{}, byte {at} changed", stream.name), wire, ..stream.clone() }
}

/// The parameters that are not the default, as TOML.
pub(super) fn deviations<P: FamilyRules>(parameters: &P::Parameters) -> String {
    let table = |parameters: &P::Parameters| toml::Table::try_from(parameters).unwrap_or_default();
    let usual = table(&P::Parameters::default());
    let mut table = table(parameters);
    table.retain(|name, value| usual.get(name) != Some(value));
    table.to_string()
}
