//! The kill matrix, as `saboteurs --matrix` writes it.

use serde::Deserialize;

use crate::error::Error;

/// Which cases detect which subjects with deliberate bugs.
#[derive(Clone, Debug, Deserialize)]
pub struct Matrices {
    /// One for each protocol.
    pub families: Vec<Matrix>,
}

/// The kill matrix of one protocol.
#[derive(Clone, Debug, Deserialize)]
pub struct Matrix {
    /// The family.
    pub family: String,
    /// The protocol, unless it is the family's main protocol.
    #[serde(default)]
    pub protocol: Option<String>,
    /// The saboteurs.
    pub saboteurs: Vec<Saboteur>,
}

/// A subject with a deliberate bug.
#[derive(Clone, Debug, Deserialize)]
pub struct Saboteur {
    /// Its name.
    pub name: String,
    /// Decoder or encoder.
    pub side: String,
    /// What is wrong with it.
    pub bug: String,
    /// The clause that it violates.
    pub source: String,
    /// The number of cases that judged it.
    pub judged: u64,
    /// The cases that detected it.
    pub killers: Vec<Killer>,
}

/// A case that detected a saboteur.
#[derive(Clone, Debug, Deserialize)]
pub struct Killer {
    /// Its id.
    pub case: String,
}

impl Matrices {
    /// Reads a kill matrix.
    ///
    /// # Errors
    ///
    /// With line and column: no JSON, missing fields.
    pub fn parse(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| Error::json("a kill matrix", &error))
    }
}

impl Matrix {
    /// The protocol.
    #[must_use]
    pub fn protocol(&self) -> &str {
        self.protocol.as_deref().unwrap_or(&self.family)
    }
}
