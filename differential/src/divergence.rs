//! The first difference between two results, as data for reports.

use std::fmt;

use serde::{Deserialize, Serialize};
use traceproof_vectors::Place;

/// The first difference between what was expected and what came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// What was compared, e.g. `events` or `packets, cut into single bytes`.
    pub what: String,
    /// Index of the first element that differs, from 0.
    pub index: usize,
    /// The packet that led to the element, if the subject or the expectation has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// That packet, read by the reference: bytes and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<String>,
    /// The elements around the difference.
    pub rows: Vec<Row>,
}

/// One element of a comparison, both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Whether the two sides agree.
    pub same: bool,
    /// What was expected; `None` after the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was reported; `None` after the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
}

impl Divergence {
    /// A failure that is one sentence, where nothing was compared.
    #[must_use]
    pub fn sentence(what: &str, message: String) -> Self {
        let row = Row { same: false, expected: None, got: Some(message) };
        Self { what: what.to_owned(), index: 0, place: None, packet: None, rows: vec![row] }
    }

    /// The element that was expected at the difference; `None` where nothing more was.
    #[must_use]
    pub fn expected(&self) -> Option<&str> {
        self.first().and_then(|row| row.expected.as_deref())
    }

    /// The element that came at the difference; `None` where nothing more did.
    #[must_use]
    pub fn got(&self) -> Option<&str> {
        self.first().and_then(|row| row.got.as_deref())
    }

    /// What differs, without values: the layer, the first words of both sides, and of two results of one kind the first
    /// field that differs, e.g. `events: retire / fault missing-outcome` or `packets: branch / branch (address)`.
    #[must_use]
    pub fn kind(&self) -> String {
        let words = |text: Option<&str>| {
            let text = text.unwrap_or("nothing more");
            // After the name of a packet or event come flags and values.
            let most = if text.starts_with("fault ") || text == "nothing more" { 2 } else { 1 };
            text.split_whitespace().take(most).collect::<Vec<_>>().join(" ")
        };
        let field = self.field().map(|field| format!(" ({field})")).unwrap_or_default();
        format!("{}: {} / {}{field}", self.what, words(self.expected()), words(self.got()))
    }

    /// The first field that differs, if both sides are results of one kind.
    fn field(&self) -> Option<&str> {
        let (mut expected, mut got) = (self.expected()?.split_whitespace(), self.got()?.split_whitespace());
        if expected.next() != got.next() {
            return None;
        }
        loop {
            let (expected, got) = (expected.next(), got.next());
            if expected != got {
                // A flag that is not set is left out, so either side may have the name.
                let part = expected.or(got)?;
                return Some(part.split('=').next().unwrap_or(part));
            }
            expected?;
        }
    }

    fn first(&self) -> Option<&Row> {
        self.rows.iter().find(|row| !row.same)
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} differ at item {}: expected {}, got {}",
            self.what,
            self.index,
            self.expected().unwrap_or("nothing more"),
            self.got().unwrap_or("nothing more")
        )
    }
}
