//! How a check comes out, in a line that changes when the defect does.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::verdict::{Direction, Kind, Verdict};

/// A check and how it comes out: `etr-0042 decode: fail events 3 at 2/12.0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Signature {
    /// Id of the case.
    pub id: String,
    /// Which way it is used.
    pub direction: Direction,
    /// The verdict, and of a failure where the first difference is. No values: they are in the finding.
    pub outcome: String,
}

impl Signature {
    /// The line of a check.
    #[must_use]
    pub fn new(id: &str, direction: Direction, verdict: &Verdict) -> Self {
        Self { id: id.to_owned(), direction, outcome: outcome(verdict) }
    }
}

/// The verdict, and of a failure where the first difference is.
pub(crate) fn outcome(verdict: &Verdict) -> String {
    let Verdict::Fail(divergence) = verdict else { return verdict.kind().name().to_owned() };
    let mut text = format!("{} {} {}", Kind::Fail, divergence.what, divergence.index);
    if let Some(place) = divergence.place {
        text.push_str(&format!(" at {}/{}.{}", place.packet, place.byte, place.bit));
    }
    text
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.id, self.direction, self.outcome)
    }
}

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        signature.to_string()
    }
}

impl FromStr for Signature {
    type Err = UnknownSignature;

    fn from_str(text: &str) -> Result<Self, UnknownSignature> {
        let (check, outcome) = text.split_once(": ").ok_or(UnknownSignature)?;
        let (id, direction) = check.rsplit_once(' ').ok_or(UnknownSignature)?;
        let direction = direction.parse().map_err(|_| UnknownSignature)?;
        let kind = outcome.split(' ').next().unwrap_or_default();
        // What is not the same each time is never known.
        let lasts = |known: &Kind| known.is_failure() && *known != Kind::Flaky;
        let known = Kind::ALL.into_iter().any(|known| known.name() == kind && lasts(&known));
        if id.is_empty() || !known {
            return Err(UnknownSignature);
        }
        Ok(Self { id: id.to_owned(), direction, outcome: outcome.to_owned() })
    }
}

impl TryFrom<String> for Signature {
    type Error = UnknownSignature;

    fn try_from(text: String) -> Result<Self, UnknownSignature> {
        text.parse()
    }
}

/// The text is no line of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSignature;

impl fmt::Display for UnknownSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a check and its verdict, such as `etr-0042 decode: fail events 3 at 2/12.0`")
    }
}

impl std::error::Error for UnknownSignature {}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Place;

    use super::*;
    use crate::verdict::Divergence;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let mut divergence = Divergence::sentence("events", String::from("retire"));
        divergence.index = 3;
        divergence.place = Some(Place { packet: 2, byte: 12, bit: 0 });
        let signature = Signature::new("etr-0042", Direction::Decode, &Verdict::Fail(divergence));
        assert_eq!(signature.to_string(), "etr-0042 decode: fail events 3 at 2/12.0");
        assert_eq!(signature.to_string().parse(), Ok(signature));
        let crash = Verdict::Crash { message: String::from("gone"), stderr: None };
        assert_eq!(Signature::new("a b", Direction::Chunks, &crash).to_string(), "a b chunks: crash");
        for wrong in [
            "",
            "etr-0042",
            "etr-0042: fail",
            "etr-0042 sideways: fail",
            "etr-0042 decode: pass",
            "etr-0042 decode: flaky",
            " decode: fail",
        ] {
            assert_eq!(wrong.parse::<Signature>(), Err(UnknownSignature), "{wrong}");
        }
    }
}
