//! What a family has to fuzz.

use traceproof_conformance::suite::Directories;
use traceproof_vectors::case::SuiteError;

use crate::seeds::Seed;

/// One fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the binary and of the corpus directory.
    pub name: &'static str,
    /// What an input is.
    pub input: &'static str,
    /// What must hold for any input.
    pub property: &'static str,
    /// Checks the property; panics when it does not hold.
    pub run: fn(&[u8]),
}

/// The targets of a family.
#[derive(Clone, Copy, Debug)]
pub struct FamilyTargets {
    /// They, in the order of the layers.
    pub targets: &'static [Target],
    /// Their seeds, made from the family's cases and from fixed random numbers. The error is what is wrong with the
    /// cases.
    pub seeds: fn(&Directories) -> Result<Vec<Seed>, Vec<SuiteError>>,
}
